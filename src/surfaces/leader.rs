//! Requests on a node of a cluster: the node answers reads itself, and the leader handles everything else.
//!
//! The response to a write contains the positions of the leader's logs in `X-Mailmill-Position`. If a client sends this header with a
//! later read, any node returns data that includes the write. Dashboard pages and the MCP server keep state and write while they read,
//! so the leader serves them.

use http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use http::{Method, StatusCode};

use crate::engine::api::call::Api;
use crate::engine::api::http_types::{Body, Incoming, Reply, ReplyBody, Service};
use crate::engine::api::{Failure, response};
use crate::surfaces::http::{NodeClient, is_forwarded};
use crate::vocab::codes::Code;
use crate::vocab::limits;

/// The header with the positions of the control, test and live logs after a write, separated by hyphens.
pub const POSITION: HeaderName = HeaderName::from_static("x-mailmill-position");
/// The header with the age of a follower's data, in milliseconds.
pub const LAG: HeaderName = HeaderName::from_static("x-mailmill-lag-ms");
/// The header with the name of the node that answered the request.
pub const NODE: HeaderName = HeaderName::from_static("x-mailmill-node");

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// A service that answers a request on this node or forwards it to the leader.
pub struct WithLeader<S> {
    inner: S,
    api: Api,
    /// The client for requests to the leader; `None` outside of a cluster.
    client: Option<NodeClient>,
}

impl<S> WithLeader<S> {
    pub fn new(api: Api, inner: S, client: Option<NodeClient>) -> Self {
        Self { inner, api, client }
    }
}

impl<S: Service> Service for WithLeader<S> {
    async fn call(&self, request: Incoming) -> Reply {
        let engine = &self.api.0;
        let Some(member) = &engine.cluster else { return self.inner.call(request).await };
        let Incoming { method, uri, headers, peer, .. } = &request;
        let is_read = matches!(*method, Method::GET | Method::HEAD);
        if member.leads() {
            let writes = !is_read;
            let mut reply = self.inner.call(request).await;
            if writes {
                reply.headers.insert(POSITION, position_text(member.positions()));
            }
            return reply;
        }
        let is_local =
            is_about_node(uri.path()) || (self.api.runs_on_any_node(method, uri.path(), *peer) && self.is_recent(headers).await);
        if !is_local {
            return self.forward(request).await;
        }
        // A read has an empty body, so the same request can be forwarded to the leader later.
        let again = is_read.then(|| Incoming {
            method: method.clone(),
            uri: uri.clone(),
            headers: headers.clone(),
            body: Body::Empty,
            peer: *peer,
        });
        let mut reply = self.inner.call(request).await;
        // This node may not know a key yet that was created a moment ago, so the leader decides.
        if let Some(again) =
            again.filter(|again| reply.status == StatusCode::UNAUTHORIZED && again.headers.contains_key(AUTHORIZATION))
            && member.leader().is_some()
        {
            return self.forward(again).await;
        }
        reply.headers.insert(LAG, HeaderValue::from(member.lag_ms()));
        reply.headers.extend(HeaderValue::from_str(member.node()).ok().map(|name| (NODE, name)));
        reply
    }
}

impl<S: Service> WithLeader<S> {
    /// Returns whether this node's data is recent enough for a read: it includes the position that the client sent or, without a
    /// position, lags by at most [`limits::CLUSTER_LAG_MS_MAX`] or there is no leader.
    async fn is_recent(&self, headers: &HeaderMap) -> bool {
        let Some(member) = &self.api.0.cluster else { return true };
        if let Some(positions) = headers.get(POSITION).and_then(positions) {
            return tokio::time::timeout(limits::CLUSTER_POSITION_TIME, member.reached(positions)).await.is_ok();
        }
        member.lag_ms() <= limits::CLUSTER_LAG_MS_MAX || member.leader().is_none()
    }

    async fn forward(&self, request: Incoming) -> Reply {
        let engine = &self.api.0;
        let came_from_node = is_forwarded(&request.headers);
        let leader = engine.cluster.as_ref().and_then(|member| member.leader()).filter(|_| !came_from_node);
        let (Some(leader), Some(client)) = (leader, &self.client) else {
            return self.unavailable(match came_from_node {
                true => "The lead of the cluster has just moved; try again.",
                false => "No node leads the cluster at the moment; try again.",
            });
        };
        match client.send(&leader.address, request).await {
            Ok(reply) => reply,
            Err(error) => {
                tracing::debug!(leader = leader.node, error, "a request was not forwarded");
                self.unavailable(
                    "The connection to the node that leads the cluster failed. If the request changes data, check first \
                     whether it took effect; then try again.",
                )
            }
        }
    }

    fn unavailable(&self, reason: &'static str) -> Reply {
        let failure = Failure::because(Code::Unavailable, reason).after_seconds(1);
        let envelope = self.api.0.envelope();
        let encoded = response::failure(&failure, &envelope);
        let mut headers = HeaderMap::with_capacity(8);
        headers.extend(HeaderValue::from_bytes(&envelope.request.text()).ok().map(|id| (REQUEST_ID, id)));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(CONTENT_LENGTH, HeaderValue::from(encoded.body.len()));
        headers.insert(RETRY_AFTER, HeaderValue::from(1));
        Reply { status: encoded.status, headers, body: ReplyBody::Whole(encoded.body.into()) }
    }
}

/// Returns whether every node answers this path itself, regardless of the age of its data: health, metrics, the node's own commands,
/// and the documentation.
fn is_about_node(path: &str) -> bool {
    let is_under = |root: &str| path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    ["/health", "/metrics", "/docs", "/llms.txt", "/admin/cluster"].into_iter().any(is_under)
}

fn position_text(positions: [u64; 3]) -> HeaderValue {
    let [control, test, live] = positions;
    HeaderValue::from_str(&format!("{control}-{test}-{live}")).expect("numbers are ASCII")
}

fn positions(value: &HeaderValue) -> Option<[u64; 3]> {
    let mut numbers = value.to_str().ok()?.split('-').map(str::parse);
    let positions = [numbers.next()?.ok()?, numbers.next()?.ok()?, numbers.next()?.ok()?];
    numbers.next().is_none().then_some(positions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_read_as_they_were_written_and_nothing_else_is() {
        assert_eq!(positions(&position_text([1, 0, u64::MAX])), Some([1, 0, u64::MAX]));
        for text in ["", "1", "1-2", "1-2-3-4", "1-2-x", "1--2"] {
            assert_eq!(positions(&HeaderValue::from_static(text)), None, "{text}");
        }
    }
}
