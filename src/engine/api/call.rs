//! The one pipeline of every operation: route, authenticate, count, authorize, replay, decode, run, commit, encode.
//!
//! The order is that of `assets/docs/api-conventions.md`: a request that reaches the limiter counts even if its key lacks a permission, its
//! input is invalid, or a stored response answers it. A request that the limiter rejects leaves no replay record.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{ALLOW, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, Method, StatusCode};

use super::bodies::Room;
use super::caller::{Caller, Context, Principal};
use super::engine::{Engine, EnvironmentData};
use super::failure::Failure;
use super::http_types::{Body, BodyError, Incoming, Peer, Reply, ReplyBody, Service};
use super::input::Arguments;
use super::operation::{Entry, Freshness, Pending, PreparedCommand, PreparedQuery, RawRequest, Run, View};
use super::response::{self, Encoded, Envelope};
use super::router::Route;
use super::spec::{Access, BodySize, Replay, Spec, Weight};
use crate::engine::access::audit;
use crate::engine::access::idempotency::{Guard, IdempotentRequest, Lookup, StoredAnswer};
use crate::engine::access::rate_limit::Allowance;
use crate::engine::access::token;
use crate::engine::store::{Store, WriteTx};
use crate::vocab::codes::Code;
use crate::vocab::limits;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const API_KEY: HeaderName = HeaderName::from_static("x-api-key");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// The engine as a service: shared, so that an operation that waits can keep it alive.
pub struct Api(pub Arc<Engine>);

impl Service for Api {
    async fn call(&self, request: Incoming) -> Reply {
        self.answer(request, None).await
    }
}

impl Api {
    /// Whether some operation has this path, with any method.
    pub fn knows(&self, path: &str) -> bool {
        !matches!(self.0.router.find(&Method::GET, path, false), Route::Unknown)
    }

    /// Handles a request from a caller that the surface has already authenticated: a user by their cookie, or the operator of this process
    /// on behalf of an anonymous visitor who signs in. Response fields without a value are `null` instead of omitted; everything else is as
    /// with any request.
    pub async fn call_as(&self, principal: Principal, request: Incoming) -> Reply {
        self.answer(request, Some(principal)).await
    }

    async fn answer(&self, request: Incoming, known: Option<Principal>) -> Reply {
        let envelope = Envelope { keeps_nulls: known.is_some(), ..self.0.envelope() };
        let started = self.0.clock.monotonic();
        let mut call = Call { engine: &self.0, envelope, operation: None, by: None, allowance: None, replayed: false };
        let (mut code, mut field) = (None, None);
        let reply = match call.run(request, known).await {
            Ok(Outcome::Encoded(encoded)) => call.reply(encoded),
            Ok(Outcome::Raw(mut reply)) => {
                call.head(&mut reply.headers);
                reply
            }
            Err(refusal) => {
                let data = refusal.failure.data.as_ref();
                field = data.and_then(|data| data["field"].as_str()).map(str::to_owned);
                code = Some(refusal.failure.code.info().wire);
                call.refuse(refusal)
            }
        };
        let ms = self.0.clock.monotonic().ms_since(started);
        let Call { operation, by, replayed, .. } = call;
        tracing::debug!(request = %envelope.request, operation, by, status = reply.status.as_u16(), code, field, replayed, ms, "request");
        reply
    }
}

/// A failure, and its headers.
struct Refusal {
    failure: Failure,
    header: Option<Box<(HeaderName, HeaderValue)>>,
}

impl<F: Into<Failure>> From<F> for Refusal {
    fn from(failure: F) -> Self {
        Self { failure: failure.into(), header: None }
    }
}

enum Outcome {
    Encoded(Encoded),
    Raw(Reply),
}

struct Call<'e> {
    engine: &'e Arc<Engine>,
    envelope: Envelope,
    /// The called operation, once it is known; for the log.
    operation: Option<&'static str>,
    /// The caller, once known; for the log.
    by: Option<String>,
    allowance: Option<Allowance>,
    replayed: bool,
}

impl<'e> Call<'e> {
    async fn run(&mut self, request: Incoming, known: Option<Principal>) -> Result<Outcome, Refusal> {
        let Incoming { method, uri, headers, body, peer } = request;
        let operator = peer == Peer::Operator || matches!(known, Some(Principal::Operator));
        let (entry, path) = match self.engine.router.find(&method, uri.path(), operator) {
            Route::Found { entry, path } => (entry, path),
            Route::OtherMethods(allowed) => return Err(method_not_allowed(&allowed)),
            Route::Unknown => return Err(Failure::because(Code::NotFound, "This path does not exist; see /openapi.json.").into()),
        };
        let spec = entry.spec;
        self.operation = Some(spec.id);
        let principal = self.authenticate(spec, &headers, known)?;
        if tracing::enabled!(tracing::Level::DEBUG) {
            self.by = Some(principal.to_string());
        }
        self.count(spec, &principal)?;
        authorise(spec, &principal)?;
        let caller = Caller { principal, request: self.envelope.request, peer, engine: self.engine.clone() };
        let query = uri.query().unwrap_or_default();
        if let Run::Raw(run) = entry.run {
            let arguments = Arguments { spec, path, query, body: b"{}" };
            let context = self.context(caller);
            return Ok(Outcome::Raw(
                run(context, &arguments, RawRequest { headers, body, peer, is_head: method == Method::HEAD }).await?,
            ));
        }
        // The memory is released when the operation has ended: until then the body and its parsed form are in memory.
        let (body, _room) = match spec.verb.has_body() {
            true => self.body(spec, &headers, body).await.map(|(body, room)| (body, Some(room)))?,
            false => (Bytes::new(), None),
        };
        let ticket = ticket(spec, &caller, &headers, &path, &body)?;
        let arguments = Arguments { spec, path, query, body: &body };
        if let Run::Query { .. } = entry.run {
            return Ok(Outcome::Encoded(self.dispatch(entry, caller, &arguments, ticket).await?));
        }
        let (writer, environment_data) = (caller.principal.clone(), self.engine.data(caller.environment()));
        let before = environment_data.store.feed_position();
        let answered = self.dispatch(entry, caller, &arguments, ticket).await;
        self.note_write(&writer, environment_data, before);
        Ok(Outcome::Encoded(answered?))
    }

    fn context(&self, caller: Caller) -> Context {
        Context { engine: self.engine.clone(), caller, envelope: self.envelope }
    }

    fn authenticate(&self, spec: &Spec, headers: &HeaderMap, known: Option<Principal>) -> Result<Principal, Refusal> {
        match spec.access {
            Access::Public => Ok(Principal::Anonymous),
            Access::Operator => Ok(Principal::Operator),
            Access::Needs(_) | Access::NeedsOne(_) | Access::Person | Access::Manager => {
                if let Some(Principal::User(who)) = known {
                    return Ok(Principal::User(who));
                }
                let presented = presented(headers);
                let found = presented.and_then(|text| self.find(spec, text));
                found.ok_or_else(|| self.unauthorized(spec, presented.is_some()))
            }
        }
    }

    /// The principal of this key or token, if the operation accepts it.
    fn find(&self, spec: &Spec, presented: &str) -> Option<Principal> {
        match token::parse(presented) {
            Ok(_) if spec.access.is_personal() => None,
            Ok(key) => self.engine.keys.find(&key).map(Principal::Key),
            Err(_) if spec.takes_tokens => self.engine.signed_in(presented, self.envelope.timestamp).map(Principal::User),
            Err(_) => None,
        }
    }

    fn unauthorized(&self, spec: &Spec, presented: bool) -> Refusal {
        let code = if spec.access.is_personal() { Code::NotSignedIn } else { Code::InvalidApiKey };
        let header = Box::new((WWW_AUTHENTICATE, self.challenge(if presented { r#", error="invalid_token""# } else { "" })));
        Refusal { failure: code.into(), header: Some(header) }
    }

    /// The authentication challenge. RFC 6750 §3.1: no error code if no credentials were sent. RFC 9728 §5.1: where agents find the rest.
    fn challenge(&self, error: &str) -> HeaderValue {
        let metadata = format!("{}/.well-known/oauth-protected-resource", self.engine.base_url());
        let challenge = format!(r#"Bearer realm="mailmill"{error}, resource_metadata="{metadata}""#);
        HeaderValue::from_str(&challenge).unwrap_or(HeaderValue::from_static(r#"Bearer realm="mailmill""#))
    }

    fn count(&mut self, spec: &Spec, principal: &Principal) -> Result<(), Refusal> {
        if let Principal::Key(key) = principal {
            key.usage.note(self.envelope.timestamp);
        }
        let Some(account_limits) = principal.account_limits() else { return Ok(()) };
        let Some(allowed) = account_limits.plan.load().requests else {
            return Err(Failure::new(Code::LimiterUnavailable).after_seconds(1).into());
        };
        let limit = allowed[spec.rate as usize];
        let (rate_limits, limit) = match principal {
            Principal::User(_) => (&account_limits.user_rate_limits, limit.saturating_mul(limits::OPERATIONS_PER_PAGE)),
            _ => (&account_limits.rate_limits, limit),
        };
        let allowance = rate_limits.take(spec.rate, limit, (self.envelope.timestamp, self.engine.clock.monotonic()));
        self.allowance = Some(allowance);
        if allowance.granted {
            return Ok(());
        }
        Err(Failure::new(Code::RateLimitExceeded).after_seconds(allowance.retry_after).into())
    }

    async fn body(&self, spec: &Spec, headers: &HeaderMap, body: Body) -> Result<(Bytes, Room<'e>), Refusal> {
        let engine: &'e Engine = self.engine;
        let limits = &engine.settings.limits;
        let limit = match spec.body {
            BodySize::Default => limits.body_bytes_default.count(),
            BodySize::Bulk => limits.body_bytes_bulk.count(),
            BodySize::Upload => limits.upload_bytes_max.count(),
        };
        let room = engine.bodies.room(&body, limit).await?;
        let bytes = body.collect(limit).await.map_err(|error| body_failure(error, limit))?;
        if !bytes.is_empty() && !is_json(headers) {
            return Err(Code::UnsupportedMediaType.into());
        }
        Ok((bytes, room))
    }

    async fn dispatch(
        &mut self,
        entry: &'static Entry,
        caller: Caller,
        arguments: &Arguments<'_>,
        ticket: Option<IdempotentRequest>,
    ) -> Result<Encoded, Failure> {
        match entry.run {
            Run::Query { run, .. } if entry.spec.weight == Weight::Light => {
                let environment_data = self.engine.data(caller.environment());
                let tx = self.store(entry.spec, &caller).read();
                let view = View { tx: &tx, caller: &caller, search: &environment_data.search, now: self.envelope.timestamp };
                run(&view, arguments, &self.envelope)
            }
            Run::Query { prepare, .. } => self.blocking(prepare(arguments)?, caller, entry.spec).await,
            Run::Command(prepare) => self.command(prepare, entry.spec, caller, arguments, ticket).await,
            Run::Async(run) => self.asynchronous(run, entry.spec, caller, arguments, ticket).await,
            Run::Raw(_) => unreachable!("raw operations are dispatched before their body is read"),
        }
    }

    fn store(&self, spec: &Spec, caller: &Caller) -> &Arc<Store> {
        match spec.access {
            Access::Operator | Access::Person | Access::Manager => &self.engine.control,
            Access::Public | Access::Needs(_) | Access::NeedsOne(_) => &self.engine.data(caller.environment()).store,
        }
    }

    /// Runs a query that may read many rows: on a separate thread and, if requested, after the index has caught up.
    async fn blocking(
        &self,
        (freshness, asked): (Freshness, PreparedQuery),
        caller: Caller,
        spec: &'static Spec,
    ) -> Result<Encoded, Failure> {
        let environment_data: Arc<EnvironmentData> = self.engine.data(caller.environment()).clone();
        let store = self.store(spec, &caller).clone();
        // On an almost full disk the index stands still, and so do nearly all writes that it would follow.
        if !store.space().is_low() {
            self.wait_for_index(freshness, &environment_data, &caller.principal).await?;
        }
        let envelope = self.envelope;
        let work = move || {
            let tx = store.read();
            let view = View { tx: &tx, caller: &caller, search: &environment_data.search, now: envelope.timestamp };
            asked(&view, &envelope)
        };
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|panic| Err(Failure::internal(panic)))
    }

    async fn wait_for_index(
        &self,
        freshness: Freshness,
        environment_data: &EnvironmentData,
        caller: &Principal,
    ) -> Result<(), Failure> {
        match freshness {
            Freshness::Indexed => {}
            Freshness::OwnWrites => {
                let now = self.engine.clock.monotonic();
                let own = caller.last_writes().and_then(|writes| writes.recent(environment_data.environment, now));
                if let Some(position) = own {
                    // After the timeout the search uses the index as it is.
                    environment_data.search.caught_up(position, limits::SEARCH_OWN_WRITES_TIMEOUT).await;
                }
            }
            Freshness::AllWrites => {
                let position = environment_data.store.feed_position();
                if !environment_data.search.caught_up(position, limits::SEARCH_REFRESH_TIMEOUT).await {
                    return Err(Failure::because(Code::Unavailable, "The search index has not caught up yet.").after_seconds(1));
                }
            }
        }
        Ok(())
    }

    /// Records the feed position after a write, if it has moved.
    fn note_write(&self, writer: &Principal, environment_data: &EnvironmentData, before: u64) {
        let position = environment_data.store.feed_position();
        if let Some(writes) = writer.last_writes().filter(|_| position > before) {
            writes.note(environment_data.environment, position, self.engine.clock.monotonic());
        }
    }

    async fn command(
        &mut self,
        prepare: fn(&Arguments<'_>) -> Result<PreparedCommand, Failure>,
        spec: &'static Spec,
        caller: Caller,
        arguments: &Arguments<'_>,
        ticket: Option<IdempotentRequest>,
    ) -> Result<Encoded, Failure> {
        let guard = match &ticket {
            None => None,
            Some(ticket) => Some(
                self.engine.running.begin(ticket).ok_or_else(|| Failure::new(Code::IdempotencyInProgress).after_seconds(1))?,
            ),
        };
        let envelope = self.envelope;
        let prepared = prepare(arguments);
        if ticket.is_none() && prepared.is_err() {
            // There is nothing to write or record.
            return Err(prepared.err().expect("checked above to be an error"));
        }
        let store = self.store(spec, &caller);
        let wrote = store.write(move |tx| write(tx, prepared, spec, &caller, ticket, guard, &envelope)).await??;
        match wrote {
            Wrote::Fresh(encoded) => Ok(encoded),
            Wrote::Stored(stored) => self.again(stored),
        }
    }

    /// Runs an operation that may wait. Its effect is not one transaction, so its record is stored right after it: a repeat after a crash
    /// in between runs it again.
    async fn asynchronous(
        &mut self,
        run: fn(Context, &Arguments<'_>, Envelope) -> Pending<Encoded>,
        spec: &'static Spec,
        caller: Caller,
        arguments: &Arguments<'_>,
        ticket: Option<IdempotentRequest>,
    ) -> Result<Encoded, Failure> {
        let Some(ticket) = ticket else { return run(self.context(caller), arguments, self.envelope).await };
        let guard = self.engine.running.begin(&ticket);
        let _guard = guard.ok_or_else(|| Failure::new(Code::IdempotencyInProgress).after_seconds(1))?;
        let store = self.store(spec, &caller).clone();
        let known = ticket.look_up(&store.read(), self.envelope.timestamp)?;
        match known {
            Lookup::New => {}
            Lookup::Answered(stored) => return self.again(opened(self.engine, spec, &ticket, stored)?),
            Lookup::Conflict => return Err(Code::IdempotencyConflict.into()),
            Lookup::Erased => return Err(Code::AnswerErased.into()),
        }
        let encoded = match run(self.context(caller), arguments, self.envelope).await {
            Ok(encoded) => encoded,
            Err(failure) if !is_kept(&failure) => return Err(failure),
            Err(failure) => response::failure(&failure, &self.envelope),
        };
        let (status, body) = (encoded.status.as_u16(), to_keep(self.engine, spec, &ticket, &encoded));
        let keep = move |tx: &mut WriteTx<'_>| -> Result<(), Failure> {
            ticket.store(tx, status, &body);
            Ok(())
        };
        store.write(keep).await??;
        Ok(encoded)
    }

    /// Replays a stored response.
    fn again(&mut self, stored: StoredAnswer) -> Result<Encoded, Failure> {
        self.replayed = true;
        let status = StatusCode::from_u16(stored.status).map_err(Failure::internal)?;
        Ok(Encoded { status, body: stored.body })
    }

    fn reply(&self, encoded: Encoded) -> Reply {
        let mut headers = HeaderMap::with_capacity(16);
        headers.insert(CONTENT_TYPE, JSON);
        headers.insert(CONTENT_LENGTH, HeaderValue::from(encoded.body.len()));
        self.head(&mut headers);
        Reply { status: encoded.status, headers, body: ReplyBody::Whole(encoded.body.into()) }
    }

    /// Adds the headers that every response has.
    fn head(&self, headers: &mut HeaderMap) {
        let id = HeaderValue::from_bytes(&self.envelope.request.text()).expect("an id is ASCII");
        headers.insert(REQUEST_ID, id);
        if let Some(allowance) = &self.allowance {
            headers.insert(LIMIT, HeaderValue::from(allowance.limit));
            headers.insert(REMAINING, HeaderValue::from(allowance.remaining));
            headers.insert(RESET, HeaderValue::from(allowance.reset));
        }
        if self.replayed {
            headers.insert(REPLAYED, HeaderValue::from_static("true"));
        }
    }

    fn refuse(&self, Refusal { failure, header }: Refusal) -> Reply {
        if let Some(cause) = &failure.cause {
            tracing::error!(request = %self.envelope.request, code = failure.code.info().wire, cause, "a request failed");
        }
        let mut reply = self.reply(response::failure(&failure, &self.envelope));
        if let Some(seconds) = failure.retry_after {
            reply.headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        match header.map(|header| *header) {
            Some((name, value)) => {
                reply.headers.insert(name, value);
            }
            None if reply.status == StatusCode::UNAUTHORIZED => {
                reply.headers.insert(WWW_AUTHENTICATE, self.challenge(""));
            }
            None => {}
        }
        reply
    }
}

/// The result of a command's transaction.
enum Wrote {
    Fresh(Encoded),
    Stored(StoredAnswer),
}

/// The body of a command's transaction: the effect, the audit row and the replay record, or the failure and its record.
fn write(
    tx: &mut WriteTx<'_>,
    prepared: Result<PreparedCommand, Failure>,
    spec: &'static Spec,
    caller: &Caller,
    ticket: Option<IdempotentRequest>,
    _guard: Option<Guard>,
    envelope: &Envelope,
) -> Result<Wrote, Failure> {
    if let Some(ticket) = &ticket {
        match ticket.look_up(tx, tx.now())? {
            Lookup::New => {}
            Lookup::Answered(stored) => return Ok(Wrote::Stored(opened(&caller.engine, spec, ticket, stored)?)),
            Lookup::Conflict => return Err(Code::IdempotencyConflict.into()),
            Lookup::Erased => return Err(Code::AnswerErased.into()),
        }
    }
    let encoded = match prepared.and_then(|run| run(tx, caller, envelope)) {
        Ok(encoded) => {
            audit::note(tx, envelope.request.number, &caller.act(spec.id));
            encoded
        }
        Err(failure) => {
            if ticket.is_none() || !is_kept(&failure) {
                return Err(failure);
            }
            tx.roll_back();
            response::failure(&failure, envelope)
        }
    };
    if let Some(ticket) = &ticket {
        ticket.store(tx, encoded.status.as_u16(), &to_keep(&caller.engine, spec, ticket, &encoded));
    }
    Ok(Wrote::Fresh(encoded))
}

/// A response as stored for repeats: sealed, if it contains a secret.
fn to_keep(engine: &Engine, spec: &Spec, ticket: &IdempotentRequest, encoded: &Encoded) -> Vec<u8> {
    match spec.answers_secret {
        true => engine.seal.seal(&ticket.place(), &encoded.body, engine.random.as_ref()),
        false => encoded.body.clone(),
    }
}

/// The response stored by [`to_keep`].
fn opened(engine: &Engine, spec: &Spec, ticket: &IdempotentRequest, mut stored: StoredAnswer) -> Result<StoredAnswer, Failure> {
    if !spec.answers_secret {
        return Ok(stored);
    }
    let body = engine.seal.open(&ticket.place(), &stored.body);
    let body = body.ok_or_else(|| Failure::internal("a stored response cannot be opened: has the master key changed?"))?;
    stored.body = body;
    Ok(stored)
}

/// Whether a failure is stored for repeats: 429 and 5xx never are, so the same key may try again.
fn is_kept(failure: &Failure) -> bool {
    let status = failure.code.info().status;
    status != 429 && status < 500
}

/// The key in the request, in any of the three forms that clients use.
fn presented(headers: &HeaderMap) -> Option<&str> {
    if let Some(value) = headers.get(AUTHORIZATION) {
        let (scheme, key) = value.to_str().ok()?.split_once(' ')?;
        let known = scheme.eq_ignore_ascii_case("bearer") || scheme.eq_ignore_ascii_case("apikey");
        return known.then(|| key.trim());
    }
    headers.get(API_KEY)?.to_str().ok()
}

fn authorise(spec: &Spec, principal: &Principal) -> Result<(), Refusal> {
    let granted = principal.permissions();
    let (allowed, scope) = match spec.access {
        Access::Needs(permission) => (granted.contains(permission), permission.word()),
        Access::NeedsOne(permissions) => {
            (permissions.iter().any(|permission| granted.contains(*permission)), permissions[0].word())
        }
        Access::Manager => return manages(principal),
        Access::Public | Access::Person | Access::Operator => (true, ""),
    };
    if allowed {
        return Ok(());
    }
    let challenge = format!(r#"Bearer realm="mailmill", error="insufficient_scope", scope="{scope}""#);
    let header = HeaderValue::from_str(&challenge).expect("permission names are ASCII");
    let failure = Failure::new(Code::InsufficientPermissions).with(serde_json::json!({ "permission": scope }));
    Err(Refusal { failure, header: Some(Box::new((WWW_AUTHENTICATE, header))) })
}

fn manages(principal: &Principal) -> Result<(), Refusal> {
    match principal {
        Principal::User(who) if who.user.role.manages() => Ok(()),
        _ => Err(Failure::because(Code::InsufficientPermissions, "Only the owner and admins of the account can do this.").into()),
    }
}

fn method_not_allowed(allowed: &str) -> Refusal {
    let header = HeaderValue::from_str(allowed).expect("method names are ASCII");
    Refusal { failure: Code::MethodNotAllowed.into(), header: Some(Box::new((ALLOW, header))) }
}

/// The caller's error for a body that could not be read.
pub fn body_failure(error: BodyError, limit: usize) -> Failure {
    match error {
        BodyError::TooLarge => Failure::because(
            Code::PayloadTooLarge,
            format!("The body is larger than the {limit} bytes that this operation accepts; send it in parts."),
        )
        .with(serde_json::json!({ "maxBytes": limit })),
        BodyError::TooSlow => Code::RequestTimeout.into(),
        BodyError::Broken => Failure::because(Code::InvalidRequest, "The body ended before it was complete."),
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let Some(value) = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()) else { return false };
    let essence = value.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json")
}

/// The idempotent request of a call with an idempotency key, if the operation honors one.
fn ticket(
    spec: &Spec,
    caller: &Caller,
    headers: &HeaderMap,
    path: &[(&str, Cow<'_, str>)],
    body: &[u8],
) -> Result<Option<IdempotentRequest>, Failure> {
    if let (Replay::Refused(why), true) = (spec.replay, headers.contains_key(IDEMPOTENCY_KEY)) {
        return Err(Failure::because(Code::InvalidRequest, why));
    }
    let (Replay::Keyed, Some(value), Some(key)) = (spec.replay, headers.get(IDEMPOTENCY_KEY), caller.key()) else {
        return Ok(None);
    };
    // `to_str` accepts tabs.
    let text = value.to_str().ok().filter(|text| !text.contains('\t'));
    let text = text.ok_or_else(|| {
        Failure::because(Code::IdempotencyKeyInvalid, "Idempotency-Key must have visible ASCII characters and spaces only.")
    })?;
    if text.is_empty() || text.chars().count() > limits::IDEMPOTENCY_KEY_CHARACTERS_MAX {
        return Err(Code::IdempotencyKeyInvalid.into());
    }
    // Uses the operation and its path values, not the path: an operation can have several paths.
    let about = path.iter().map(|(_, value)| value.as_ref()).collect::<Vec<_>>().join("/");
    Ok(Some(IdempotentRequest::new(key, text.as_bytes(), spec.id, &about, body)))
}
