//! A connection from its first to its last byte: the TLS handshake, protocol detection, and the keeper, which closes the connection
//! when it idles or stalls, or when the server drains.
//!
//! This module does not interpret requests; it passes each request to [`exchange::answer`].

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;

use super::activity::ConnectionActivity;
use super::answer::Refusal;
use super::exchange::{self, Line, Shared};
use super::options::Limits;
use super::stream::GuardedStream;
use crate::engine::admission::Activity;
use crate::engine::api::http_types::{Peer, Service};
use crate::engine::tasks::{Group, Tasks};

/// The connection preface: the first bytes that an HTTP/2 client sends (RFC 9113 §3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The maximum number of bytes of an HTTP/2 reply that are buffered for a slow client. Clients can claim this memory for each stream of
/// each connection, so the value is far below hyper's default.
const H2_SEND_BUFFER_BYTES: usize = 64 * 1024;

/// The maximum number of concurrent requests on a connection from another node. That node limits the requests of its own clients.
const NODE_STREAMS: u32 = 4_096;

/// The time that an idle HTTP/2 connection has to close when another connection needs its slot. A request that has just arrived is recorded
/// only when its task first runs, so an immediate close could interrupt it.
const H2_CLOSING_TIME: Duration = Duration::from_millis(20);

pub struct Context<S> {
    pub shared: Arc<Shared<S>>,
    pub tasks: Tasks,
    /// Signals that the server is draining.
    pub draining: watch::Receiver<bool>,
    /// Whether the connections come from other nodes of the cluster, which forward their clients' requests.
    pub from_nodes: bool,
}

impl<S> Clone for Context<S> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            tasks: self.tasks.clone(),
            draining: self.draining.clone(),
            from_nodes: self.from_nodes,
        }
    }
}

pub async fn serve_tls<S: Service>(
    tcp: TcpStream,
    acceptor: TlsAcceptor,
    peer: Peer,
    activity: Arc<Activity>,
    context: Context<S>,
) {
    let handshake = tokio::time::timeout(context.shared.limits.handshake_time, acceptor.accept(tcp));
    let handshake = tokio::select! {
        biased;
        handshake = handshake => handshake,
        () = activity.asked_to_close() => return,
    };
    let tls = match handshake {
        Ok(Ok(tls)) => tls,
        Ok(Err(error)) => return tracing::debug!(%error, "TLS handshake failed"),
        Err(_) => return tracing::debug!("the TLS handshake took too long"),
    };
    match tls.get_ref().1.alpn_protocol() {
        Some(b"h2") => serve_http2(tls, Bytes::new(), peer, activity, context).await,
        _ => serve_http1(tls, Bytes::new(), peer, activity, context).await,
    }
}

/// Serves a connection without TLS, over TCP or the administration socket.
pub async fn serve_plain<S, I>(mut io: I, peer: Peer, activity: Arc<Activity>, mut context: Context<S>)
where
    S: Service,
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut read = BytesMut::new();
    let limits = &context.shared.limits;
    let found = tokio::select! {
        biased;
        found = tokio::time::timeout(limits.header_time, detect(&mut io, &mut read)) => found,
        _ = context.draining.wait_for(|draining| *draining) => return,
        () = activity.asked_to_close() => return,
    };
    match found {
        Ok(Ok(Protocol::Http1)) => serve_http1(io, read.freeze(), peer, activity, context).await,
        Ok(Ok(Protocol::Http2)) => serve_http2(io, read.freeze(), peer, activity, context).await,
        Ok(Err(error)) => tracing::debug!(%error, "the connection failed before the first request"),
        Err(_) if read.is_empty() => {}
        Err(_) => refuse(io, Refusal::SlowHeaders, &activity, &context.shared).await,
    }
}

/// Sends the error response for `refusal` and closes the connection.
pub async fn refuse<S, I>(mut io: I, refusal: Refusal, activity: &Activity, shared: &Shared<S>)
where
    I: AsyncRead + AsyncWrite + Unpin,
{
    activity.begin_to_close();
    let message = shared.answers.message(refusal);
    let write = tokio::io::AsyncWriteExt::write_all(&mut io, &message);
    let written = tokio::select! {
        biased;
        written = tokio::time::timeout(shared.limits.linger_time, write) => written,
        () = activity.asked_to_close() => return,
    };
    if let Ok(Ok(())) = written {
        GuardedStream::http2(io, Bytes::new()).finish(&shared.limits, activity).await;
    }
}

enum Protocol {
    Http1,
    Http2,
}

/// Reads until the protocol is known, and keeps the bytes in `read`.
async fn detect<I: AsyncRead + Unpin>(io: &mut I, read: &mut BytesMut) -> std::io::Result<Protocol> {
    loop {
        let common = read.len().min(PREFACE.len());
        if read[..common] != PREFACE[..common] {
            return Ok(Protocol::Http1);
        }
        if common == PREFACE.len() {
            return Ok(Protocol::Http2);
        }
        // The input has ended. The HTTP/1.1 code handles a partial or empty request line.
        if io.read_buf(read).await? == 0 {
            return Ok(Protocol::Http1);
        }
    }
}

async fn serve_http1<S, I>(io: I, read: Bytes, peer: Peer, activity: Arc<Activity>, context: Context<S>)
where
    S: Service,
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let Context { shared, mut draining, from_nodes, .. } = context;
    let line = Arc::new(Line { shared, activity: ConnectionActivity::new(activity), peer, from_nodes });
    let (activity, limits) = (&line.activity, &line.shared.limits);
    let channel = GuardedStream::http1(io, read, Arc::clone(activity), Arc::clone(&line.shared.answers), limits.header_time);
    let service = service_fn(|request| exchange::answer(Arc::clone(&line), request));
    // `pipeline_flush` stays disabled, because it would delay a response while the buffer contains any byte of the next request, and would
    // never send the error response to invalid input.
    let mut connection = http1::Builder::new()
        // hyper's own time limit for headers is disabled, because `GuardedStream` limits the time.
        .header_read_timeout(None)
        // The read buffer limits the size of a head. `exchange` has lower limits, so the buffer rejects only heads that far exceed them.
        .max_buf_size((limits.header_bytes + limits.uri_bytes + 8 * 1024).max(16 * 1024))
        .serve_connection(TokioIo::new(channel), service);
    // The connection's requests run within this task, so the keeper sees every request that is in progress.
    let closing = (http1::Connection::graceful_shutdown, Duration::ZERO);
    let end = keep(&mut connection, closing, activity, limits, &mut draining).await;
    let Some(result) = end else { return };
    if let Err(error) = &result {
        tracing::debug!(%error, "HTTP/1.1 connection ended");
    }
    if result.is_err() || activity.left_unread() {
        connection.into_parts().io.into_inner().finish(limits, activity.activity()).await;
    }
}

async fn serve_http2<S, I>(io: I, read: Bytes, peer: Peer, activity: Arc<Activity>, context: Context<S>)
where
    S: Service,
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let Context { shared, tasks, mut draining, from_nodes } = context;
    let line = Arc::new(Line { shared, activity: ConnectionActivity::new(activity), peer, from_nodes });
    let (activity, limits) = (Arc::clone(&line.activity), line.shared.limits.clone());
    let streams = Streams::new(tasks.group("http streams"));
    let _end = EndStreams(Arc::clone(&streams.0));
    let service = service_fn(move |request| exchange::answer(Arc::clone(&line), request));
    let mut connection = http2::Builder::new(streams)
        .timer(TokioTimer::new())
        .max_concurrent_streams(if from_nodes { NODE_STREAMS } else { limits.h2_streams })
        .max_header_list_size(u32::try_from(limits.header_bytes).unwrap_or(u32::MAX))
        .max_pending_accept_reset_streams(limits.h2_pending_resets)
        .max_local_error_reset_streams(limits.h2_error_resets)
        .max_send_buf_size(H2_SEND_BUFFER_BYTES)
        .keep_alive_interval(limits.h2_ping)
        .keep_alive_timeout(limits.h2_ping)
        .serve_connection(TokioIo::new(GuardedStream::http2(io, read)), service);
    let closing = (http2::Connection::graceful_shutdown, H2_CLOSING_TIME);
    let end = keep(&mut connection, closing, &activity, &limits, &mut draining).await;
    if let Some(Err(error)) = end {
        tracing::debug!(%error, "HTTP/2 connection ended");
    }
}

/// The group of tasks that run the streams of one HTTP/2 connection.
#[derive(Clone)]
pub struct Streams(Arc<Group>);

impl Streams {
    pub fn new(group: Group) -> Self {
        Self(Arc::new(group))
    }

    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.0.spawn(task);
    }
}

impl<F> hyper::rt::Executor<F> for Streams
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, stream: F) {
        self.0.spawn(stream);
    }
}

/// Ends the streams when the connection ends. The streams hold a reference to their group in hyper's copy of the executor, so the group
/// would otherwise never be dropped.
struct EndStreams(Arc<Group>);

impl Drop for EndStreams {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Drives `connection` to its end. Returns its result, or `None` if the keeper aborted the connection. `closing` contains the function that
/// stops the connection gracefully, and the time that an idle connection has to close when another connection needs its slot.
async fn keep<C>(
    connection: &mut C,
    (stop, closing_time): (impl Fn(Pin<&mut C>), Duration),
    activity: &ConnectionActivity,
    limits: &Limits,
    draining: &mut watch::Receiver<bool>,
) -> Option<hyper::Result<()>>
where
    C: Future<Output = hyper::Result<()>> + Unpin,
{
    // A single timer detects idle and stalled connections. Requests do not reset the timer, so it costs them no time.
    let mut timer = pin!(tokio::time::sleep(limits.idle_time));
    let (mut stopping, mut making_room) = (false, false);
    loop {
        tokio::select! {
            biased;
            result = &mut *connection => return Some(result),
            () = activity.asked_to_close(), if !making_room => {
                if activity.is_idle() && closing_time.is_zero() {
                    return None;
                }
                making_room = true;
                stop(Pin::new(&mut *connection));
                stopping = true;
                timer.as_mut().reset(Instant::now() + closing_time);
                continue;
            }
            _ = draining.wait_for(|draining| *draining), if !stopping => {}
            () = &mut timer => match next_action(activity, limits, stopping, making_room) {
                KeeperAction::Later(due) => {
                    timer.as_mut().reset(due);
                    continue;
                }
                KeeperAction::Cut => return None,
                KeeperAction::Stop => {}
            },
        }
        stopping = true;
        stop(Pin::new(&mut *connection));
        timer.as_mut().reset(Instant::now() + limits.linger_time);
    }
}

enum KeeperAction {
    /// Do nothing, and check again at this time.
    Later(Instant),
    /// Close the connection gracefully, because it is idle.
    Stop,
    /// Abort the connection, because it is stalled, did not close in time, or is idle while another connection needs its slot.
    Cut,
}

fn next_action(activity: &ConnectionActivity, limits: &Limits, stopping: bool, making_room: bool) -> KeeperAction {
    let now = Instant::now();
    if making_room && activity.is_idle() {
        return KeeperAction::Cut;
    }
    let busy = activity.is_busy();
    let patience = match (busy, stopping) {
        (true, _) => limits.stall_time,
        (false, true) => limits.linger_time,
        (false, false) => limits.idle_time,
    };
    let due = activity.moved() + patience;
    if due > now {
        // Check again before the stall limit, because the request may have ended by then. The connection is then idle, and idle connections
        // have a shorter limit.
        return KeeperAction::Later(due.min(now + quarter(limits.idle_time)));
    }
    if busy || stopping { KeeperAction::Cut } else { KeeperAction::Stop }
}

fn quarter(time: Duration) -> Duration {
    (time / 4).max(Duration::from_millis(1))
}
