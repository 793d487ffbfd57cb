//! The MCP server (Model Context Protocol) for agents, at `/mcp` over Streamable HTTP.
//!
//! `assets/docs/mcp.md` documents it for users. This module authenticates requests, checks their origin, and limits sessions; the `rmcp`
//! library implements the protocol. Tools call operations through the pipeline with the key of the request, so permissions, request budgets
//! and idempotency apply as over HTTP. `tools.rs` lists the tools.
//!
//! Clients that use a protocol version from 2025 open a session, which only the key that opened it can use. Clients that use a newer
//! version send independent requests.

mod call;
mod caller;
mod calling;
mod capabilities;
mod confirmation;
mod messages;
mod outcome;
mod prompts;
mod resources;
mod schemas;
mod server;
pub mod stdio;
mod tools;

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::TryStreamExt;
use http::header::{
    AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, ORIGIN, RETRY_AFTER, WWW_AUTHENTICATE,
};
use http::{Method, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyDataStream, BodyExt, Full};
use rmcp::transport::streamable_http_server::session::SessionId;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use self::caller::ToolCaller;
use self::server::ToolServer;
use crate::engine::access::access_tokens::RESOURCE_PATH;
use crate::engine::api::call::{Api, body_failure};
use crate::engine::api::http_types::{Incoming, Peer, Reply, ReplyBody, Service};
use crate::engine::api::{Engine, Failure, response};
use crate::engine::tasks::Tasks;
use crate::vocab::codes::Code;
use crate::vocab::ids::KeyId;
use crate::vocab::limits;

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

/// A service that handles requests to `/mcp` and passes all others to `inner`.
pub struct WithTools<S> {
    inner: S,
    api: Api,
    protocol: StreamableHttpService<ToolServer, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
    /// The key that opened each session. The lock is held while a session is opened, so that concurrent requests cannot exceed the limits
    /// on open sessions.
    owners: Mutex<Owners>,
}

/// The open sessions with their owners.
#[derive(Default)]
struct Owners {
    by_session: HashMap<SessionId, Owner>,
    /// The number of sessions opened so far. It numbers each new session, so that a key's oldest session can be found.
    started: u64,
}

#[derive(Clone, Copy)]
struct Owner {
    key: KeyId,
    number: u64,
}

impl<S> WithTools<S> {
    /// Adds the MCP server in front of `inner`. Open sessions end when `tasks` starts to drain.
    pub fn new(api: Api, inner: S, tasks: &Tasks) -> Self {
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(limits::TOOL_SESSION_IDLE);
        let sessions = Arc::new(sessions);
        let end = CancellationToken::new();
        let config = StreamableHttpServerConfig::default()
            .with_cancellation_token(end.clone())
            .with_max_request_body_bytes(limits::TOOL_REQUEST_BYTES_MAX)
            // The library's own check of host names is disabled. This module checks the origin instead, because the allowed origin is known
            // only once the service listens.
            .disable_allowed_hosts();
        let server = ToolServer::new(api.clone());
        let protocol = StreamableHttpService::new(move || Ok(server.clone()), sessions.clone(), config);
        let mut shutdown = tasks.shutdown();
        tasks.attend("tool sessions", async move {
            shutdown.draining().await;
            end.cancel();
        });
        Self { inner, api, protocol, sessions, owners: Mutex::default() }
    }
}

impl<S: Service> Service for WithTools<S> {
    async fn call(&self, request: Incoming) -> Reply {
        if request.uri.path() != RESOURCE_PATH || request.peer == Peer::Operator {
            return self.inner.call(request).await;
        }
        self.tools(request).await.unwrap_or_else(|failure| refused(&self.api.0, &failure))
    }
}

impl<S> WithTools<S> {
    async fn tools(&self, request: Incoming) -> Result<Reply, Failure> {
        let Incoming { method, uri, headers, body, peer } = request;
        let engine = &self.api.0;
        check_origin(engine, &headers)?;
        let Some(key) = self.api.tool_key(&headers) else { return Ok(unauthorized(engine, &headers)) };
        let session: Option<SessionId> = headers.get(SESSION_ID).and_then(|id| id.to_str().ok()).map(SessionId::from);
        if let Some(session) = &session {
            self.check_owner(session, key.id).await?;
        }
        let limit = limits::TOOL_REQUEST_BYTES_MAX;
        // `_room` reserves memory for the body until the request is handled.
        let _room = engine.bodies.room(&body, limit).await?;
        let body = body.collect(limit).await.map_err(|error| body_failure(error, limit))?;
        let is_json = headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
        if method == Method::POST
            && is_json
            && let Some(fault) = messages::fault(&body)
        {
            return Ok(invalid(&fault));
        }
        let opens_session = session.is_none() && method == Method::POST && is_initialize(&body);
        let mut wanted = Request::new(Full::new(body));
        (*wanted.method_mut(), *wanted.uri_mut(), *wanted.headers_mut()) = (method, uri, headers);
        let key_id = key.id;
        wanted.extensions_mut().insert(ToolCaller { key, peer });
        let response = match opens_session {
            true => self.open(key_id, wanted).await?,
            false => self.protocol.handle(wanted).await,
        };
        Ok(reply(response).await)
    }

    /// Returns an error unless this key opened the session. To other keys, the session does not exist.
    async fn check_owner(&self, session: &SessionId, key: KeyId) -> Result<(), Failure> {
        let owner = self.owners.lock().await.by_session.get(session).copied();
        match owner {
            Some(owner) if owner.key == key => Ok(()),
            _ => Err(Failure::because(Code::NotFound, "This session does not exist or has ended; initialize a new one.")),
        }
    }

    /// Opens a session. If the key already has the maximum number of sessions, closes its oldest one.
    async fn open(
        &self,
        key: KeyId,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<BoxBody<Bytes, std::convert::Infallible>>, Failure> {
        use rmcp::transport::streamable_http_server::SessionManager;

        let mut owners = self.owners.lock().await;
        let open = self.sessions.sessions.read().await.keys().cloned().collect::<std::collections::HashSet<_>>();
        owners.by_session.retain(|session, _| open.contains(session));
        let mut own: Vec<(u64, SessionId)> = owners
            .by_session
            .iter()
            .filter(|(_, owner)| owner.key == key)
            .map(|(session, owner)| (owner.number, session.clone()))
            .collect();
        own.sort_unstable();
        if own.len() >= limits::TOOL_SESSIONS_PER_KEY_MAX {
            let (_, oldest) = &own[0];
            // The session may have ended already, so an error is ignored.
            let _ = self.sessions.close_session(oldest).await;
            owners.by_session.remove(oldest);
        } else if open.len() >= limits::TOOL_SESSIONS_MAX {
            return Err(
                Failure::because(Code::Unavailable, "Too many tool sessions are open; try again later.").after_seconds(60)
            );
        }
        let response = self.protocol.handle(request).await;
        if let Some(session) = response.headers().get(SESSION_ID).and_then(|id| id.to_str().ok()) {
            owners.started += 1;
            let owner = Owner { key, number: owners.started };
            owners.by_session.insert(session.into(), owner);
        }
        Ok(response)
    }
}

/// Returns whether the body is an `initialize` request, which opens a session.
fn is_initialize(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow)]
        method: std::borrow::Cow<'a, str>,
    }
    serde_json::from_slice::<Message<'_>>(body).is_ok_and(|message| message.method == "initialize")
}

/// Returns an error if a page of another site made a browser send the request, according to the `Origin` header, which pages cannot forge.
/// This also rejects DNS rebinding, where a site points its own name at this server.
fn check_origin(engine: &Engine, headers: &HeaderMap) -> Result<(), Failure> {
    let Some(origin) = headers.get(ORIGIN) else { return Ok(()) };
    let own = url::Url::parse(engine.base_url()).map(|url| url.origin().ascii_serialization()).unwrap_or_default();
    if origin.to_str().is_ok_and(|origin| origin.eq_ignore_ascii_case(&own)) {
        return Ok(());
    }
    let detail = format!(
        "The Origin header does not match this server's URL ({own}). Web pages on other sites cannot use the MCP server; other clients \
         must omit the header."
    );
    Err(Failure::because(Code::InsufficientPermissions, detail))
}

/// Returns the error response to a request that is rejected before the protocol library handles it.
fn refused(engine: &Engine, failure: &Failure) -> Reply {
    if let Some(cause) = &failure.cause {
        tracing::error!(code = failure.code.info().wire, cause, "a request to the MCP server failed");
    }
    let encoded = response::failure(failure, &engine.envelope());
    let mut headers = HeaderMap::with_capacity(8);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(encoded.body.len()));
    if let Some(seconds) = failure.retry_after {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    Reply { status: encoded.status, headers, body: ReplyBody::Whole(encoded.body.into()) }
}

/// Returns the response to a body that is not a message of the protocol.
fn invalid(fault: &serde_json::Value) -> Reply {
    let body = fault.to_string();
    let mut headers = HeaderMap::with_capacity(2);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
    Reply { status: StatusCode::BAD_REQUEST, headers, body: ReplyBody::Whole(body.into()) }
}

/// Returns the response to a request without valid credentials, with a challenge that tells clients where to get a token (RFC 9728
/// §5.1).
fn unauthorized(engine: &Engine, given: &HeaderMap) -> Reply {
    let mut reply = refused(engine, &Code::InvalidApiKey.into());
    let metadata = format!("{}/.well-known/oauth-protected-resource{RESOURCE_PATH}", engine.base_url());
    let error = if given.contains_key(AUTHORIZATION) { r#", error="invalid_token""# } else { "" };
    let challenge = format!(r#"Bearer realm="mailmill"{error}, resource_metadata="{metadata}""#);
    reply.headers.extend(HeaderValue::from_str(&challenge).ok().map(|challenge| (WWW_AUTHENTICATE, challenge)));
    reply
}

/// Converts the protocol library's response. Event streams are forwarded as events arrive.
async fn reply(response: Response<BoxBody<Bytes, std::convert::Infallible>>) -> Reply {
    let (parts, body) = response.into_parts();
    let is_stream = parts.headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
    let body = match is_stream {
        true => ReplyBody::Stream(Box::pin(BodyDataStream::new(body).map_err(|never| match never {}))),
        false => ReplyBody::Whole(body.collect().await.map(|body| body.to_bytes()).unwrap_or_default()),
    };
    Reply { status: parts.status, headers: parts.headers, body }
}
