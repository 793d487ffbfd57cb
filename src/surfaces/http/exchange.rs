//! Handles a request: checks the requirements for all requests, calls the service with a deadline and a guard against panics, and adds
//! headers to the reply.
//!
//! This module does not depend on connections or protocols: it handles requests over HTTP/1.1, HTTP/2, TLS and the administration socket.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderMap, HeaderValue};
use http::request::Parts;
use http::{Method, Request, Response};
use http_body::Body as HttpBody;
use hyper::body::Incoming as HyperBody;
use tokio::time::{Instant, Sleep};

use super::activity::{ConnectionActivity, RunningRequest, UploadState};
use super::answer::{Answers, Refusal, harden};
use super::body::{ResponseBody, Upload};
use super::node_peer;
use super::options::Limits;
use super::proxy::ProxyTrust;
use crate::engine::api::http_types::{Body, Incoming, Peer, Reply, ReplyBody, Service};

pub struct Shared<S> {
    pub service: Arc<S>,
    pub limits: Limits,
    pub proxy: ProxyTrust,
    pub answers: Arc<Answers>,
}

pub struct Line<S> {
    pub shared: Arc<Shared<S>>,
    pub activity: Arc<ConnectionActivity>,
    pub peer: Peer,
    /// Whether the peer is a node of the cluster, which names the client of each request in a header.
    pub from_nodes: bool,
}

/// Checks a request, passes it to the service, and returns the response.
pub async fn answer<S: Service>(line: Arc<Line<S>>, request: Request<HyperBody>) -> Result<Response<ResponseBody>, Infallible> {
    let turn = RunningRequest::begin(&line.activity);
    let (parts, body) = request.into_parts();
    let peer = match line.from_nodes {
        true => node_peer::read(&parts.headers, line.peer),
        false => line.shared.proxy.client(line.peer, &parts.headers),
    };
    let mut response = match refusal(&line.shared.limits, &parts, &body) {
        Some(refusal) => {
            if !body.is_end_stream() {
                line.activity.leave_unread();
            }
            line.shared.answers.response(refusal)
        }
        None => run(&line, peer, parts, body).await,
    };
    harden(response.headers_mut(), matches!(peer, Peer::Network { tls: true, .. }));
    response.body_mut().hold(turn);
    Ok(response)
}

/// Returns why this request must be rejected before its operation is known; `None` if it is acceptable.
fn refusal(limits: &Limits, parts: &Parts, body: &HyperBody) -> Option<Refusal> {
    let uri_bytes = parts.uri.path_and_query().map_or(0, |path| path.as_str().len());
    if uri_bytes > limits.uri_bytes {
        return Some(Refusal::UriTooLong);
    }
    if parts.headers.len() > limits.header_count || header_bytes(&parts.headers) > limits.header_bytes {
        return Some(Refusal::HeadersTooLarge);
    }
    // Encoded bodies are rejected, because decompression can turn a small request into a large one. A request without a body may
    // have a `Content-Encoding` header, because there is nothing to decompress.
    if !body.is_end_stream() && parts.headers.get_all(CONTENT_ENCODING).iter().any(|value| !is_identity(value)) {
        return Some(Refusal::EncodedBody);
    }
    None
}

fn header_bytes(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum()
}

fn is_identity(value: &HeaderValue) -> bool {
    value.as_bytes().eq_ignore_ascii_case(b"identity")
}

async fn run<S: Service>(line: &Line<S>, peer: Peer, parts: Parts, body: HyperBody) -> Response<ResponseBody> {
    let Parts { method, uri, headers, .. } = parts;
    // The pipeline routes a HEAD request like a GET request, but the body of the response is not sent.
    let head = method == Method::HEAD;
    let (body, upload) = convert(line, body);
    let request = Incoming { method, uri, headers, body, peer };

    let shared = &*line.shared;
    let mut call = pin!(AssertUnwindSafe(shared.service.call(request)).catch_unwind());
    let mut deadline = pin!(tokio::time::sleep(shared.limits.reply_time));
    let reply = loop {
        tokio::select! {
            biased;
            result = &mut call => break result.map_err(|_| Refusal::Panicked),
            // The operator's requests have no time limit: a full backup may take minutes.
            () = &mut deadline, if peer != Peer::Operator => match extension(line, upload.as_deref()) {
                Some(later) => Sleep::reset(deadline.as_mut(), later),
                None => break Err(Refusal::TooSlow),
            },
        }
    };
    match reply {
        Ok(reply) => dress(reply, head),
        Err(refusal) => {
            if refusal == Refusal::Panicked {
                tracing::error!("handling a request panicked");
            }
            shared.answers.response(refusal)
        }
    }
}

fn convert<S>(line: &Line<S>, body: HyperBody) -> (Body, Option<Arc<UploadState>>) {
    if body.is_end_stream() {
        return (Body::Empty, None);
    }
    let state = Arc::new(UploadState::default());
    let declared_bytes = body.size_hint().exact();
    let limits = &line.shared.limits;
    let upload = Upload::new(body, Arc::clone(&line.activity), Arc::clone(&state), limits.body_time, limits.body_rate_min);
    (Body::Stream { declared_bytes, chunks: Box::pin(upload) }, Some(state))
}

/// Returns a later deadline if the client is still sending the body, or sent its last chunk less than `reply_time` ago.
fn extension<S>(line: &Line<S>, upload: Option<&UploadState>) -> Option<Instant> {
    let upload = upload?;
    let now = Instant::now();
    let reply_time = line.shared.limits.reply_time;
    if upload.waiting() {
        return Some(now + reply_time);
    }
    let later = upload.moved(&line.activity) + reply_time;
    (later > now).then_some(later)
}

fn dress(reply: Reply, head: bool) -> Response<ResponseBody> {
    let Reply { status, mut headers, body } = reply;
    let body = match body {
        body if !head => ResponseBody::from(body),
        ReplyBody::Whole(bytes) => without_body(&mut headers, &bytes),
        ReplyBody::Stream(_) => ResponseBody::empty(),
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

fn without_body(headers: &mut HeaderMap, bytes: &Bytes) -> ResponseBody {
    if !bytes.is_empty() {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(bytes.len()));
    }
    ResponseBody::empty()
}
