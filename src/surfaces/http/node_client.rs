//! Forwards requests to the leader of the cluster over one HTTP/2 connection.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt};
use http::header::{CONNECTION, HOST, HeaderName, TE, TRANSFER_ENCODING, UPGRADE};
use http::{HeaderMap, Request, Uri};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyDataStream, BodyExt, Empty, Full, StreamBody};
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::ClientConfig;
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::TlsConnector;

use super::connection::Streams;
use super::node_peer;
use super::tls::nodes::{NodeIdentity, server_name};
use crate::engine::api::http_types::{Body, Incoming, Reply, ReplyBody};
use crate::engine::tasks::Tasks;

/// The time limit for connecting to another node, which is in the same data center or a nearby one.
const CONNECT_TIME: Duration = Duration::from_secs(2);
/// The pause after a failed attempt to connect to a node, in which requests to the node fail immediately.
const CONNECT_PAUSE: Duration = Duration::from_secs(1);
/// The interval of HTTP/2 pings, and the time limit for a response to one. Pings detect a node that has stopped without closing its
/// connections.
const PING: Duration = Duration::from_secs(1);
/// The HTTP/2 flow-control windows, in bytes, of a stream and of the whole connection, which the responses to many clients share.
const STREAM_WINDOW: u32 = 1024 * 1024;
const CONNECTION_WINDOW: u32 = 16 * 1024 * 1024;

/// The hop-by-hop headers, which are not forwarded.
const HOP_HEADERS: [HeaderName; 7] = [
    CONNECTION,
    TE,
    TRANSFER_ENCODING,
    UPGRADE,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    HeaderName::from_static("http2-settings"),
];

type NodeBody = UnsyncBoxBody<Bytes, io::Error>;

/// The connection to one node. The first request opens it.
struct Connection {
    address: String,
    state: tokio::sync::Mutex<ConnectionState>,
}

#[derive(Default)]
struct ConnectionState {
    sender: Option<SendRequest<NodeBody>>,
    /// When the last attempt to connect failed, and why.
    failure: Option<(Instant, String)>,
}

/// The client for requests to the leader.
pub struct NodeClient {
    tls: Arc<ClientConfig>,
    streams: Streams,
    /// The connection to the latest leader. Requests to the next leader do not wait for a connection to the former one.
    latest: Mutex<Arc<Connection>>,
}

impl Connection {
    fn to(address: &str) -> Arc<Self> {
        Arc::new(Self { address: address.to_owned(), state: Default::default() })
    }
}

impl NodeClient {
    pub fn new(secret: &str, tasks: &Tasks) -> Result<Self, String> {
        let tls = NodeIdentity::of(secret)?.client().map_err(|error| error.to_string())?;
        let streams = Streams::new(tasks.group("node connections"));
        Ok(Self { tls: Arc::new(tls), streams, latest: Mutex::new(Connection::to("")) })
    }

    /// Sends a request to the node at `address`. After an error, it is unknown whether the node has processed the request.
    pub async fn send(&self, address: &str, request: Incoming) -> Result<Reply, String> {
        let mut sender = self.sender(address).await?;
        let sent = sender.send_request(outgoing(address, request)?).await;
        let (mut parts, body) = sent.map_err(|error| error.to_string())?.into_parts();
        remove_hop_headers(&mut parts.headers);
        let chunks = BodyDataStream::new(body).map_err(io::Error::other);
        Ok(Reply { status: parts.status, headers: parts.headers, body: ReplyBody::Stream(Box::pin(chunks)) })
    }

    async fn sender(&self, address: &str) -> Result<SendRequest<NodeBody>, String> {
        let connection = self.connection(address);
        let mut state = connection.state.lock().await;
        if let Some(sender) = state.sender.as_ref().filter(|sender| !sender.is_closed()) {
            return Ok(sender.clone());
        }
        // Requests that waited for an attempt that failed fail too. Otherwise, they would repeat the attempt one after the other.
        if let Some((_, reason)) = state.failure.as_ref().filter(|(at, _)| at.elapsed() < CONNECT_PAUSE) {
            return Err(reason.clone());
        }
        let connecting = tokio::time::timeout(CONNECT_TIME, self.connect(address)).await;
        let connected = connecting.unwrap_or_else(|_| Err("the connection was not established in time".to_owned()));
        state.failure = connected.as_ref().err().map(|reason| (Instant::now(), reason.clone()));
        state.sender = connected.as_ref().ok().cloned();
        connected
    }

    /// Returns the connection to this node, which becomes the latest one.
    fn connection(&self, address: &str) -> Arc<Connection> {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if latest.address != address {
            *latest = Connection::to(address);
        }
        latest.clone()
    }

    async fn connect(&self, address: &str) -> Result<SendRequest<NodeBody>, String> {
        let tcp = TcpStream::connect(address).await.map_err(|error| error.to_string())?;
        // `TCP_NODELAY` only makes requests faster, so a failure to set it is ignored.
        let _ = tcp.set_nodelay(true);
        let tls = TlsConnector::from(self.tls.clone()).connect(server_name(), tcp).await.map_err(|error| error.to_string())?;
        let handshake = http2::Builder::new(self.streams.clone())
            .timer(TokioTimer::new())
            .keep_alive_interval(PING)
            .keep_alive_timeout(PING)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .handshake(TokioIo::new(tls));
        let (sender, connection) = handshake.await.map_err(|error| error.to_string())?;
        self.streams.spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "the connection to the leader ended");
            }
        });
        Ok(sender)
    }
}

fn outgoing(address: &str, request: Incoming) -> Result<Request<NodeBody>, String> {
    let Incoming { method, uri, mut headers, body, peer } = request;
    remove_hop_headers(&mut headers);
    headers.remove(HOST);
    node_peer::write(&mut headers, peer);
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let uri: Uri = format!("https://{address}{path}").parse().map_err(|error: http::uri::InvalidUri| error.to_string())?;
    let body = match body {
        Body::Empty => Empty::new().map_err(|never| match never {}).boxed_unsync(),
        Body::Whole(bytes) => Full::new(bytes).map_err(|never| match never {}).boxed_unsync(),
        Body::Stream { chunks, .. } => {
            let frames = chunks.map(|chunk| chunk.map(Frame::data).map_err(|error| io::Error::other(format!("{error:?}"))));
            StreamBody::new(frames).boxed_unsync()
        }
    };
    let mut outgoing = Request::new(body);
    (*outgoing.method_mut(), *outgoing.uri_mut(), *outgoing.headers_mut()) = (method, uri, headers);
    Ok(outgoing)
}

fn remove_hop_headers(headers: &mut HeaderMap) {
    for name in HOP_HEADERS {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression test: requests waited for a connection one after the other, two seconds each, even if they were for the next leader.
    #[tokio::test]
    async fn requests_do_not_queue_for_a_node_that_does_not_respond() {
        let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let closed =
            tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port").local_addr().expect("bound").to_string();
        let tasks = Tasks::new(tokio::runtime::Handle::current());
        let client = NodeClient::new("0123456789abcdef0123456789abcdef", &tasks).expect("a client");
        let former = silent.local_addr().expect("bound").to_string();
        let started = Instant::now();
        let waiting = futures_util::future::join_all((0..20).map(|_| client.sender(&former)));
        let next = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            let refused = client.sender(&closed).await;
            (refused.is_err(), started.elapsed())
        };
        let (waited, (is_refused, next_took)) = tokio::join!(waiting, next);
        assert!(waited.iter().all(Result::is_err) && started.elapsed() < 2 * CONNECT_TIME, "{:?}", started.elapsed());
        assert!(is_refused && next_took < CONNECT_TIME, "{next_took:?}");
    }
}
