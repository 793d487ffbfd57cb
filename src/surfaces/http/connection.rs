//! One connection from its first byte to its last: the handshake, protocol detection, and a keeper that closes it when it idles, stalls, or
//! the server drains.
//!
//! Does not know the requests: each goes to [`exchange::answer`].

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
use crate::engine::jobs::{Group, Tasks};

/// What an HTTP/2 client sends first.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The bytes of one HTTP/2 reply that are buffered for a slow client. Multiplied by streams and connections, this is memory that clients
/// can claim, so it is far below the library's default.
const H2_SEND_BUFFER_BYTES: usize = 64 * 1024;

/// How long an idle HTTP/2 connection stays open when it makes room for another. Each stream is a separate task, so a new one counts as a
/// request only when its task first runs.
/// counts as a request only when that task first runs.
const H2_CLOSING_TIME: Duration = Duration::from_millis(20);

/// What a connection needs from the server.
pub struct Context<S> {
    pub shared: Arc<Shared<S>>,
    pub tasks: Tasks,
    /// True once the server drains.
    pub draining: watch::Receiver<bool>,
}

impl<S> Clone for Context<S> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), tasks: self.tasks.clone(), draining: self.draining.clone() }
    }
}

/// Serves a TLS connection.
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
        Err(_) => return tracing::debug!("TLS handshake too slow"),
    };
    match tls.get_ref().1.alpn_protocol() {
        Some(b"h2") => serve_http2(tls, Bytes::new(), peer, activity, context).await,
        _ => serve_http1(tls, Bytes::new(), peer, activity, context).await,
    }
}

/// Serves a connection without TLS: TCP, or the administration socket.
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
        Ok(Err(error)) => tracing::debug!(%error, "connection broke before the first request"),
        Err(_) if read.is_empty() => {}
        Err(_) => refuse(io, Refusal::SlowHeaders, &activity, &context.shared).await,
    }
}

/// Sends the reason for a refusal and closes the connection.
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

/// Reads until the protocol is known. The bytes read stay in `read`.
async fn detect<I: AsyncRead + Unpin>(io: &mut I, read: &mut BytesMut) -> std::io::Result<Protocol> {
    loop {
        let common = read.len().min(PREFACE.len());
        if read[..common] != PREFACE[..common] {
            return Ok(Protocol::Http1);
        }
        if common == PREFACE.len() {
            return Ok(Protocol::Http2);
        }
        // At the end of the input, the HTTP/1.1 code handles a partial or empty line.
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
    let Context { shared, mut draining, .. } = context;
    let line = Arc::new(Line { shared, activity: ConnectionActivity::new(activity), peer });
    let (activity, limits) = (&line.activity, &line.shared.limits);
    let channel = GuardedStream::http1(io, read, Arc::clone(activity), Arc::clone(&line.shared.answers), limits.header_time);
    let service = service_fn(|request| exchange::answer(Arc::clone(&line), request));
    // Not `pipeline_flush`: it holds back a response while any byte of the next request is in the buffer, forever if it is the error
    // response to garbage.
    let mut connection = http1::Builder::new()
        // `GuardedStream` limits the time of headers.
        .header_read_timeout(None)
        // A larger head does not even fit the read buffer; `exchange` refuses most of them before.
        .max_buf_size((limits.header_bytes + limits.uri_bytes + 8 * 1024).max(16 * 1024))
        .serve_connection(TokioIo::new(channel), service);
    // Its requests run within this task, so that the keeper sees one in progress.
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
    let Context { shared, tasks, mut draining } = context;
    let line = Arc::new(Line { shared, activity: ConnectionActivity::new(activity), peer });
    let (activity, limits) = (Arc::clone(&line.activity), line.shared.limits.clone());
    let streams = Streams(Arc::new(tasks.group("http streams")));
    let _end = EndStreams(Arc::clone(&streams.0));
    let service = service_fn(move |request| exchange::answer(Arc::clone(&line), request));
    let mut connection = http2::Builder::new(streams)
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits.h2_streams)
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

/// The task group for the streams of one HTTP/2 connection.
#[derive(Clone)]
struct Streams(Arc<Group>);

impl<F> hyper::rt::Executor<F> for Streams
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, stream: F) {
        self.0.spawn(stream);
    }
}

/// The streams hold their group through the library's copy of the executor, so they must be ended with the connection.
struct EndStreams(Arc<Group>);

impl Drop for EndStreams {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Drives `connection` to its end; returns its result, or `None` if it was cut. Takes the function that stops it gracefully, and how long
/// it may take to close when it is idle and makes room for another.
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
    // One timer for both idling and stalling, moved only when it fires, so requests cost nothing extra.
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
            () = &mut timer => match look(activity, limits, stopping, making_room) {
                SniffedProtocol::Later(due) => {
                    timer.as_mut().reset(due);
                    continue;
                }
                SniffedProtocol::Cut => return None,
                SniffedProtocol::Stop => {}
            },
        }
        stopping = true;
        stop(Pin::new(&mut *connection));
        timer.as_mut().reset(Instant::now() + limits.linger_time);
    }
}

enum SniffedProtocol {
    /// Nothing to do; check again then.
    Later(Instant),
    /// Idle: close gracefully.
    Stop,
    /// Stalled: drop it.
    Cut,
}

fn look(activity: &ConnectionActivity, limits: &Limits, stopping: bool, making_room: bool) -> SniffedProtocol {
    let now = Instant::now();
    if making_room && activity.is_idle() {
        return SniffedProtocol::Cut;
    }
    let busy = activity.is_busy();
    let patience = match (busy, stopping) {
        (true, _) => limits.stall_time,
        (false, true) => limits.linger_time,
        (false, false) => limits.idle_time,
    };
    let due = activity.moved() + patience;
    if due > now {
        // If the request ends meanwhile, the connection becomes idle, which may be due earlier than this request's stall limit.
        return SniffedProtocol::Later(due.min(now + quarter(limits.idle_time)));
    }
    if busy || stopping { SniffedProtocol::Cut } else { SniffedProtocol::Stop }
}

fn quarter(time: Duration) -> Duration {
    (time / 4).max(Duration::from_millis(1))
}
