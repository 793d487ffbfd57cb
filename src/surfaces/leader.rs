//! Requests on a node of a cluster: the node answers reads itself, and the leader handles everything else.
//!
//! The response to a write contains the positions of the leader's logs in `X-Mailmill-Position`. If a client sends this header with a later
//! read, the response of any node includes the write, unless the read fails. Dashboard pages and the MCP server keep state, and their reads
//! can write, so the leader handles their requests.
//!
//! While no leader can be reached, a node still answers reads without a position, and serves the links in messages. For other requests,
//! browsers receive an error page instead of JSON. Visits to the links, and visits that a former leader could not store, are sent to the
//! next leader.

use std::sync::atomic::{AtomicI64, Ordering};

use bytes::Bytes;
use data_encoding::HEXLOWER;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use http::{Method, StatusCode, Uri};
use serde_json::json;
use tokio::sync::Mutex;

use crate::engine::api::call::Api;
use crate::engine::api::http_types::{Body, Incoming, Peer, Reply, ReplyBody, Service};
use crate::engine::api::{Failure, response};
use crate::engine::mail::inbound::Envelope;
use crate::engine::mail::inbound::listener::{HandlerResult, ReceivedMessage};
use crate::surfaces::dashboard::headers::headers as page_headers;
use crate::surfaces::http::{NodeClient, is_forwarded};
use crate::vocab::codes::Code;
use crate::vocab::environment::Environment;
use crate::vocab::limits;

/// The header with the positions of the control, test and live logs after a write, separated by hyphens.
pub const POSITION: HeaderName = HeaderName::from_static("x-mailmill-position");
/// The header with the age of a follower's data, in milliseconds.
pub const LAG: HeaderName = HeaderName::from_static("x-mailmill-lag-ms");
/// The header with the name of the node that answered the request.
pub const NODE: HeaderName = HeaderName::from_static("x-mailmill-node");

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The path of the operation that stores visits, `tracking.report`.
const VISITS: &str = "/admin/cluster/visits";
/// The path at which the leader receives inbound mail from other nodes, with the envelope in two headers.
const MAIL: &str = "/admin/cluster/mail";
const MAIL_SENDER: HeaderName = HeaderName::from_static("x-mailmill-mail-sender");
const MAIL_RECIPIENT: HeaderName = HeaderName::from_static("x-mailmill-mail-recipient");

/// The page that a browser shows while no leader can be reached. It reloads after two seconds; a handover has usually ended by then.
const RELOADING: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"2\">\
                         <title>One moment</title><h1>One moment</h1><p>The service is not available at the moment. This page reloads \
                         automatically.</p></html>";
/// The page that a browser shows after submitting a form that may not have been processed. The page does not reload, because a reload would
/// not submit the form again.
const NOT_SENT: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Try again</title><h1>Try again</h1>\
                        <p>The service is not available at the moment, so your change may not be saved. Go back, reload the page, \
                        and if the change is missing, make it again.</p></html>";

/// A service that answers a request on this node or forwards it to the leader.
pub struct WithLeader<S> {
    inner: S,
    api: Api,
    /// The client for requests to the leader; `None` outside of a cluster.
    client: Option<NodeClient>,
    /// When a failure to reach the leader was last logged, in milliseconds on the monotonic clock.
    warned_at: AtomicI64,
    /// When the last attempt to reach the leader failed, in milliseconds on the monotonic clock.
    failed_at: AtomicI64,
    /// The last report of visits, as JSON, kept until a leader has stored it.
    report: Mutex<Option<Bytes>>,
}

impl<S> WithLeader<S> {
    pub fn new(api: Api, inner: S, client: Option<NodeClient>) -> Self {
        let never = || AtomicI64::new(i64::MIN);
        Self { inner, api, client, warned_at: never(), failed_at: never(), report: Mutex::default() }
    }
}

impl<S: Service> Service for WithLeader<S> {
    async fn call(&self, request: Incoming) -> Reply {
        let engine = &self.api.0;
        let Some(member) = &engine.cluster else { return self.inner.call(request).await };
        let Incoming { method, uri, headers, peer, .. } = &request;
        let is_read = matches!(*method, Method::GET | Method::HEAD);
        if let Some(epoch) = member.leading_epoch() {
            if uri.path() == MAIL && *peer == Peer::Operator {
                return self.receive_mail(request).await;
            }
            let (path, page) = (uri.path(), page(method, headers));
            let is_query = self.api.runs_on_any_node(method, path, *peer) && !needs_leader(path);
            let again = (is_read && !is_about_node(path) && !is_in_message(path)).then(|| without_body(&request));
            let mut reply = self.inner.call(request).await;
            if !is_read {
                reply.headers.insert(POSITION, position_text(member.positions()));
            }
            // If this node lost the leadership during the read, for example because the process was suspended, another node may have
            // acknowledged writes that the read does not include.
            let Some(again) = again.filter(|_| member.leading_epoch() != Some(epoch)) else { return reply };
            if is_query && self.is_recent(&again.headers).await {
                return self.answer(again).await;
            }
            return self.unavailable("The leader of the cluster has just changed; try again.", page);
        }
        let is_query = self.api.runs_on_any_node(method, uri.path(), *peer) && !needs_leader(uri.path());
        let is_local = is_about_node(uri.path()) || (is_query && self.is_recent(headers).await);
        let page = page(method, headers);
        // A read has an empty body, so the same request can be handled a second time.
        let again = is_read.then(|| without_body(&request));
        if !is_local {
            // If forwarding fails, this node answers the read itself, except if the client sent a position, because the client must not
            // receive older data.
            let again =
                again.filter(|again| (is_query || is_in_message(again.uri.path())) && !again.headers.contains_key(POSITION));
            return match (self.forward(request).await, again) {
                (Ok(reply), _) => reply,
                (Err(_), Some(again)) => self.answer(again).await,
                (Err(reason), None) => self.unavailable(reason, page),
            };
        }
        let reply = self.answer(request).await;
        // This node may not know a key that was created a moment ago, so the leader decides.
        match again.filter(|again| reply.status == StatusCode::UNAUTHORIZED && again.headers.contains_key(AUTHORIZATION)) {
            Some(again) if member.leader().is_some() => {
                self.forward(again).await.unwrap_or_else(|reason| self.unavailable(reason, page))
            }
            _ => reply,
        }
    }
}

impl<S: Service> WithLeader<S> {
    /// Answers a request on this follower, and adds the headers that name the node and the age of its data.
    async fn answer(&self, request: Incoming) -> Reply {
        let mut reply = self.inner.call(request).await;
        if let Some(member) = &self.api.0.cluster {
            reply.headers.insert(LAG, HeaderValue::from(member.lag_ms()));
            reply.headers.extend(HeaderValue::from_str(member.node()).ok().map(|name| (NODE, name)));
        }
        reply
    }

    /// Sends the visits in this node's memory to the leader: visits that arrived while no leader could be reached, and visits that the node
    /// could not store before it lost the leadership. Runs until the task is aborted.
    pub async fn report_visits(&self) {
        loop {
            tokio::time::sleep(limits::CLUSTER_REPORT_PAUSE).await;
            while self.report_some().await == Some(true) {}
        }
    }

    /// Sends all visits in this node's memory to the leader, because the node is stopping. Gives up after a while.
    pub async fn report_rest(&self) {
        let sending = async {
            loop {
                match self.report_some().await {
                    Some(true) => {}
                    Some(false) => break,
                    None => tokio::time::sleep(limits::CLUSTER_RETRY_PAUSE).await,
                }
            }
        };
        let _ = tokio::time::timeout(limits::CLUSTER_RESIGN_TIME, sending).await;
    }

    /// Sends one report of visits to the leader or, if this node now leads, stores it. Returns whether there may be more visits; `None` if
    /// the report could not be sent. A report is repeated until it is stored, and the leader recognizes the repetition.
    async fn report_some(&self) -> Option<bool> {
        let engine = &self.api.0;
        let Some(member) = &engine.cluster else { return Some(false) };
        let mut kept = self.report.lock().await;
        // If this node leads, its own worker stores the visits that are not in a report yet.
        if kept.is_none() && !member.leads() {
            let visits = Environment::ALL.map(|environment| engine.data(environment).visits.take(limits::VISITS_PER_WRITE));
            let id = HEXLOWER.encode(&engine.random.bytes::<16>());
            let is_empty = visits.iter().all(Vec::is_empty);
            let report = json!({ "node": member.node(), "id": id, "test": visits[0], "live": visits[1] });
            *kept = (!is_empty).then(|| report.to_string().into());
        }
        let Some(report) = kept.clone() else { return Some(false) };
        let json = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        let request = of_node(VISITS, json, report);
        let status = match member.leads() {
            true => self.inner.call(request).await.status,
            false => self.forward(request).await.ok()?.status,
        };
        // Sending an invalid report again does not help, unless the leader runs another version.
        if status.is_success() || (member.leads() && status.is_client_error()) {
            *kept = None;
            return Some(true);
        }
        if self.may_warn() {
            tracing::warn!(%status, "the leader did not store opens and clicks from this node; they are sent again");
        }
        None
    }

    /// Forwards an incoming message to the leader, which handles it. The message's effects are on disk when this function returns `Ok`.
    pub async fn forward_mail(&self, raw: Bytes, envelope: &Envelope<'_>) -> Result<(), Failure> {
        let mut headers = HeaderMap::new();
        for (name, address) in [(MAIL_SENDER, envelope.sender), (MAIL_RECIPIENT, envelope.recipient)] {
            headers.insert(name, HeaderValue::from_bytes(address.as_bytes()).map_err(Failure::internal)?);
        }
        match self.forward(of_node(MAIL, headers, raw)).await {
            Ok(reply) if reply.status == StatusCode::NO_CONTENT => Ok(()),
            Ok(_) => Err(Failure::because(Code::Unavailable, "The cluster's leader did not handle the message; try again.")),
            Err(reason) => Err(Failure::because(Code::Unavailable, reason)),
        }
    }

    /// Handles a message that another node received.
    async fn receive_mail(&self, request: Incoming) -> Reply {
        let Incoming { headers, body, .. } = request;
        let Ok(raw) = body.collect(limits::INBOUND_BYTES_MAX).await else { return empty(StatusCode::BAD_REQUEST) };
        let address = |name: HeaderName| {
            let value = headers.get(name).and_then(|value| std::str::from_utf8(value.as_bytes()).ok());
            value.unwrap_or_default().to_owned()
        };
        let (sender, recipients) = (address(MAIL_SENDER), vec![address(MAIL_RECIPIENT)]);
        let mail = ReceivedMessage { sender, recipients, bytes: raw.into(), peer: None };
        let handled = match self.api.0.inbound() {
            Some(inbound) => inbound.take(mail).await,
            None => HandlerResult::Later,
        };
        empty(match handled {
            HandlerResult::Durable => StatusCode::NO_CONTENT,
            HandlerResult::Later | HandlerResult::Refused => StatusCode::SERVICE_UNAVAILABLE,
        })
    }

    /// Returns whether this node's data is recent enough for a read. If the client sent a position, the data must include it. Otherwise,
    /// the data must lag by at most [`limits::CLUSTER_LAG_MS_MAX`], unless no leader can be reached.
    async fn is_recent(&self, headers: &HeaderMap) -> bool {
        let Some(member) = &self.api.0.cluster else { return true };
        if let Some(positions) = headers.get(POSITION).and_then(positions) {
            return tokio::time::timeout(limits::CLUSTER_POSITION_TIME, member.reached(positions)).await.is_ok();
        }
        // While the cluster's database is unreachable, the last known leader may have stopped. If an attempt to reach that leader has just
        // failed, reads use this node's data instead of waiting for another connection attempt.
        let since_failure = self.api.0.clock.monotonic().0.saturating_sub(self.failed_at.load(Ordering::Relaxed));
        let is_gone = !member.has_leader() && since_failure < limits::CLUSTER_LAG_MS_MAX;
        member.lag_ms() <= limits::CLUSTER_LAG_MS_MAX || member.leader().is_none() || is_gone
    }

    /// Forwards a request to the leader. Fails with the reason if there is no response.
    async fn forward(&self, request: Incoming) -> Result<Reply, &'static str> {
        let engine = &self.api.0;
        let came_from_node = is_forwarded(&request.headers);
        let leader = engine.cluster.as_ref().and_then(|member| member.leader()).filter(|_| !came_from_node);
        let (Some(leader), Some(client)) = (leader, &self.client) else {
            return Err(match came_from_node {
                true => "The leader of the cluster has just changed; try again.",
                false => "No node leads the cluster at the moment; try again.",
            });
        };
        client.send(&leader.address, request).await.map_err(|error| {
            self.failed_at.store(self.api.0.clock.monotonic().0, Ordering::Relaxed);
            if self.may_warn() {
                let (leader, address) = (leader.node, leader.address);
                tracing::warn!(leader, address, error, "requests cannot be forwarded to the node that leads the cluster");
            }
            "The connection to the node that leads the cluster failed. If the request changes data, check first whether it took \
             effect; then try again."
        })
    }

    /// Returns whether enough time has passed since the last warning. If so, stores the current time as the time of the last warning.
    fn may_warn(&self) -> bool {
        let now = self.api.0.clock.monotonic().0;
        let pause = limits::CLUSTER_WARN_PAUSE.as_millis() as i64;
        let is_due = now >= self.warned_at.load(Ordering::Relaxed).saturating_add(pause);
        if is_due {
            self.warned_at.store(now, Ordering::Relaxed);
        }
        is_due
    }

    /// Returns the response for a request that no leader can handle: `page`, or JSON if `page` is `None`.
    fn unavailable(&self, reason: &'static str, page: Option<&'static str>) -> Reply {
        if let Some(page) = page {
            let mut headers = page_headers();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
            headers.insert(CONTENT_LENGTH, HeaderValue::from(page.len()));
            headers.insert(RETRY_AFTER, HeaderValue::from(1));
            return Reply { status: StatusCode::SERVICE_UNAVAILABLE, headers, body: ReplyBody::Whole(page.into()) };
        }
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

/// Returns a request to the leader that comes from this node itself, not from a client.
fn of_node(path: &'static str, headers: HeaderMap, body: Bytes) -> Incoming {
    let uri = Uri::from_static(path);
    Incoming { method: Method::POST, uri, headers, body: Body::Whole(body), peer: Peer::Operator }
}

fn empty(status: StatusCode) -> Reply {
    Reply { status, headers: HeaderMap::new(), body: ReplyBody::Whole(Bytes::new()) }
}

/// Returns a copy of a request without its body.
fn without_body(request: &Incoming) -> Incoming {
    let Incoming { method, uri, headers, peer, .. } = request;
    Incoming { method: method.clone(), uri: uri.clone(), headers: headers.clone(), body: Body::Empty, peer: *peer }
}

/// Returns the page for a browser if no leader can be reached; `None` for other clients, which receive JSON.
fn page(method: &Method, headers: &HeaderMap) -> Option<&'static str> {
    let is_browser = headers.get(ACCEPT).is_some_and(|accept| accept.as_bytes().windows(9).any(|part| part == b"text/html"));
    is_browser.then_some(if matches!(*method, Method::GET | Method::HEAD) { RELOADING } else { NOT_SENT })
}

/// Returns whether this is the path of a link or an image in a message. A recipient must get a response even without a leader.
fn is_in_message(path: &str) -> bool {
    ["/t/", "/u/", "/v/"].into_iter().any(|root| path.starts_with(root))
}

/// Returns whether a read at this path needs the earlier state of the data that a restore prepares. Only the leader has this state.
fn needs_leader(path: &str) -> bool {
    path.strip_prefix("/v1/system/restores").is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns whether every node answers this path itself, regardless of the age of its data: health, metrics, the documentation, and the
/// commands about a node and its machine.
fn is_about_node(path: &str) -> bool {
    let is_under = |root: &str| path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let own = ["/admin/cluster", "/admin/doctor", "/admin/backups", "/admin/reindex"];
    ["/health", "/metrics", "/docs", "/llms.txt"].into_iter().chain(own).any(is_under)
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
    fn without_a_leader_browsers_get_a_page_and_only_reads_reload_it() {
        let headers = |accept: &'static str| HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(accept))]);
        let browser = headers("text/html,application/xhtml+xml,*/*;q=0.8");
        assert!(page(&Method::GET, &browser).is_some_and(|page| page.contains("http-equiv=\"refresh\"")));
        assert!(page(&Method::POST, &browser).is_some_and(|page| !page.contains("http-equiv=\"refresh\"")));
        assert_eq!(page(&Method::GET, &headers("*/*")), None);
        assert_eq!(page(&Method::GET, &HeaderMap::new()), None);
    }

    #[test]
    fn links_in_messages_and_commands_about_the_machine_need_no_leader() {
        for path in ["/t/c/x", "/t/o/x.gif", "/u/x", "/u/x/preferences", "/v/x"] {
            assert!(is_in_message(path), "{path}");
        }
        assert!(!is_in_message("/v1/contacts") && !is_in_message("/test/contacts"));
        for path in ["/admin/doctor", "/admin/backups", "/admin/reindex", "/admin/cluster/drain", "/health/ready"] {
            assert!(is_about_node(path), "{path}");
        }
        assert!(!is_about_node("/admin/keys") && !is_about_node("/admin/restores"));
        assert!(needs_leader("/v1/system/restores/preview") && !needs_leader("/v1/system/status"));
    }

    #[test]
    fn positions_are_read_as_they_were_written_and_nothing_else_is() {
        assert_eq!(positions(&position_text([1, 0, u64::MAX])), Some([1, 0, u64::MAX]));
        for text in ["", "1", "1-2", "1-2-3-4", "1-2-x", "1--2"] {
            assert_eq!(positions(&HeaderValue::from_static(text)), None, "{text}");
        }
    }
}
