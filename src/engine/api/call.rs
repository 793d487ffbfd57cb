//! The pipeline of operations: route, authenticate, count, authorize, replay, decode, run, commit, encode. Raw operations decode their own
//! bodies and have no replay.
//!
//! `assets/docs/api-conventions.md` documents the order: a request that reaches the limiter counts against its budget even if its key lacks
//! a permission, its input is invalid, or the response is a stored one. A request that the limiter rejects leaves no replay record.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, Method, StatusCode};

use super::authentication::{authenticate, authorize, challenge, tool_key};
use super::bodies::Room;
use super::caller::{Caller, Context, Principal};
use super::engine::{Engine, EnvironmentData};
use super::failure::{Failure, Refusal};
use super::http_types::{Body, BodyError, Incoming, Peer, Reply, ReplyBody, Service};
use super::input::{Arguments, GivenInput, IDEMPOTENCY_KEY, idempotency_key};
use super::operation::{Entry, Freshness, Operation, Pending, PreparedCommand, PreparedQuery, RawRequest, Run, View};
use super::response::{self, Encoded, Envelope};
use super::router::{Route, Router};
use super::spec::{Access, BodySize, Replay, Spec, Weight};
use crate::engine::access::audit;
use crate::engine::access::idempotency::{Guard, IdempotentRequest, Lookup, StoredAnswer};
use crate::engine::access::keys::ApiKey;
use crate::engine::access::rate_limit::Allowance;
use crate::engine::store::{Store, WriteTx};
use crate::vocab::codes::Code;
use crate::vocab::limits;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A service that runs the engine's operations. All clones share one engine.
#[derive(Clone)]
pub struct Api(pub Arc<Engine>, Arc<Router>);

impl Service for Api {
    async fn call(&self, request: Incoming) -> Reply {
        self.answer(request, None).await
    }
}

impl Api {
    pub fn new(engine: Arc<Engine>, operations: &'static [Entry]) -> Self {
        Self(engine, Arc::new(Router::new(operations)))
    }

    pub fn operations(&self) -> &'static [Entry] {
        self.1.operations
    }

    /// Returns the API key of a request to the MCP server, if its credentials are valid.
    pub fn tool_key(&self, headers: &HeaderMap) -> Option<Arc<ApiKey>> {
        tool_key(&self.0, headers)
    }

    /// Returns whether every node of a cluster can run this request: its operation is a query, or is declared to run anywhere.
    pub fn runs_on_any_node(&self, method: &Method, path: &str, peer: Peer) -> bool {
        let Route::Found { entry, .. } = self.1.find(method, path, peer == Peer::Operator) else { return false };
        matches!(entry.run, Run::Query { .. }) || entry.spec.on_any_node
    }

    /// Returns whether an operation has this path, with any HTTP method. Operations of the operator are ignored.
    pub fn knows(&self, path: &str) -> bool {
        !matches!(self.1.find(&Method::GET, path, false), Route::Unknown)
    }

    /// Calls an operation from within the process. The surface has already determined the caller, such as a signed-in user. Input and
    /// output are values; otherwise the pipeline is the same. `input` runs after the check of permissions.
    pub async fn ask<T: Operation>(
        &self,
        principal: Principal,
        peer: Peer,
        input: impl FnOnce() -> Result<T::Input, Failure>,
    ) -> Result<T::Output, Failure> {
        let encoded = self.log(async |call| call.ask::<T>(principal, peer, input).await).await?;
        let output = encoded.output.and_then(|output| output.downcast::<T::Output>().ok());
        output
            .map(|output| *output)
            .ok_or_else(|| Failure::internal(format_args!("the operation {} returned no output; report this bug", T::SPEC.id)))
    }

    /// Like [`Api::ask`], but takes a request, for input that is a stream or output that is not JSON. Absent fields in JSON are `null`.
    pub async fn call_as(&self, principal: Principal, request: Incoming) -> Result<Reply, Failure> {
        self.log(async |call| {
            call.envelope.keeps_nulls = true;
            let outcome = call.run(request, Some(principal)).await?;
            Ok(call.outcome(outcome))
        })
        .await
    }

    /// Calls an operation with a request, for a caller that the surface has already authenticated, and returns the reply to send.
    pub async fn answer(&self, request: Incoming, known: Option<Principal>) -> Reply {
        let mut call = self.start();
        let started = self.0.clock.monotonic();
        let mut failed = None;
        let reply = match call.run(request, known).await {
            Ok(outcome) => call.outcome(outcome),
            Err(refusal) => {
                failed = Some((refusal.failure.code, refusal.failure.field.clone()));
                call.refuse(refusal)
            }
        };
        call.log(reply.status.as_u16(), failed, self.0.clock.monotonic().ms_since(started));
        reply
    }

    async fn log<R>(&self, run: impl AsyncFnOnce(&mut Call<'_>) -> Result<R, Refusal>) -> Result<R, Failure> {
        let mut call = self.start();
        let started = self.0.clock.monotonic();
        let result = run(&mut call).await.map_err(|refusal| refusal.failure.of_request(&call.envelope.request));
        let failed = result.as_ref().err().map(|failure| (failure.code, failure.field.clone()));
        if let Err(failure) = &result {
            call.log_cause(failure);
        }
        call.log(failed.as_ref().map_or(200, |(code, _)| code.info().status), failed, self.0.clock.monotonic().ms_since(started));
        result
    }

    fn start(&self) -> Call<'_> {
        let envelope = self.0.envelope();
        Call { engine: &self.0, router: &self.1, envelope, operation: None, by: None, allowance: None, replayed: false }
    }
}

enum CallOutcome {
    Encoded(Encoded),
    Raw(Reply),
}

struct Call<'e> {
    engine: &'e Arc<Engine>,
    router: &'e Router,
    envelope: Envelope,
    /// The ID of the called operation, when it is known; for the log.
    operation: Option<&'static str>,
    /// The caller, when the caller is known; for the log.
    by: Option<String>,
    allowance: Option<Allowance>,
    replayed: bool,
}

impl<'e> Call<'e> {
    async fn ask<T: Operation>(
        &mut self,
        principal: Principal,
        peer: Peer,
        input: impl FnOnce() -> Result<T::Input, Failure>,
    ) -> Result<Encoded, Refusal> {
        let entry = self.router.operations.iter().find(|entry| entry.spec.id == T::SPEC.id);
        let entry = entry.ok_or_else(|| {
            Failure::internal(format_args!("the operation {} is not in the table of operations; report this bug", T::SPEC.id))
        })?;
        let spec = entry.spec;
        self.operation = Some(spec.id);
        if spec.access == Access::Operator && !matches!(principal, Principal::Operator) {
            return Err(Code::NotFound.into());
        }
        let principal = authenticate(self.engine, self.envelope.timestamp, spec, &HeaderMap::new(), Some(principal))?;
        let caller = self.admit(spec, principal, peer)?;
        let given = GivenInput::new(input()?);
        let arguments = Arguments { spec, path: Vec::new(), query: "", body: b"{}", given: Some(&given) };
        Ok(self.perform(entry, caller, &arguments, None).await?)
    }

    /// Counts the call against the caller's limits, and checks the caller's permissions.
    fn admit(&mut self, spec: &Spec, principal: Principal, peer: Peer) -> Result<Caller, Refusal> {
        if tracing::enabled!(tracing::Level::DEBUG) {
            self.by = Some(principal.to_string());
        }
        self.count(spec, &principal)?;
        authorize(spec, &principal)?;
        Ok(Caller { principal, request: self.envelope.request, peer, engine: self.engine.clone() })
    }

    /// Runs the operation, and records the position of the caller's writes in the change feed.
    async fn perform(
        &mut self,
        entry: &'static Entry,
        caller: Caller,
        arguments: &Arguments<'_>,
        ticket: Option<IdempotentRequest>,
    ) -> Result<Encoded, Failure> {
        if let Run::Query { .. } = entry.run {
            return self.dispatch(entry, caller, arguments, ticket).await;
        }
        let (writer, environment_data) = (caller.principal.clone(), self.engine.data(caller.environment()));
        let before = environment_data.store.feed_position();
        let answered = self.dispatch(entry, caller, arguments, ticket).await;
        self.note_write(&writer, environment_data, before);
        answered
    }

    fn log(&self, status: u16, failed: Option<(Code, Option<Box<str>>)>, ms: i64) {
        let (code, field) = failed.map_or((None, None), |(code, field)| (Some(code.info().wire), field));
        let Self { operation, by, replayed, .. } = self;
        tracing::debug!(request = %self.envelope.request, operation, by, status, code, field, replayed, ms, "request");
    }

    fn log_cause(&self, failure: &Failure) {
        if let Some(cause) = &failure.cause {
            tracing::error!(request = %self.envelope.request, code = failure.code.info().wire, cause, "a request failed");
        }
    }

    fn outcome(&self, outcome: CallOutcome) -> Reply {
        match outcome {
            CallOutcome::Encoded(encoded) => self.reply(encoded),
            CallOutcome::Raw(mut reply) => {
                self.head(&mut reply.headers);
                reply
            }
        }
    }

    async fn run(&mut self, request: Incoming, known: Option<Principal>) -> Result<CallOutcome, Refusal> {
        let Incoming { method, uri, headers, body, peer } = request;
        let operator = peer == Peer::Operator || matches!(known, Some(Principal::Operator));
        let (entry, path) = match self.router.find(&method, uri.path(), operator) {
            Route::Found { entry, path } => (entry, path),
            Route::OtherMethods(allowed) => return Err(method_not_allowed(&allowed)),
            Route::Unknown => return Err(self.router.unknown(uri.path()).into()),
        };
        let spec = entry.spec;
        self.operation = Some(spec.id);
        let principal = authenticate(self.engine, self.envelope.timestamp, spec, &headers, known)?;
        let caller = self.admit(spec, principal, peer)?;
        let query = uri.query().unwrap_or_default();
        if let Run::Raw(run) = entry.run {
            let arguments = Arguments { spec, path, query, body: b"{}", given: None };
            let context = self.context(caller);
            return Ok(CallOutcome::Raw(
                run(context, &arguments, RawRequest { headers, body, peer, is_head: method == Method::HEAD }).await?,
            ));
        }
        // `_room` keeps the memory reserved until the operation ends, because the body and its parsed form stay in memory until
        // then.
        let (body, _room) = match spec.verb.has_body() {
            true => self.body(spec, &headers, body).await.map(|(body, room)| (body, Some(room)))?,
            false => (Bytes::new(), None),
        };
        let ticket = ticket(spec, &caller, &headers, &path, &body)?;
        let arguments = Arguments { spec, path, query, body: &body, given: None };
        Ok(CallOutcome::Encoded(self.perform(entry, caller, &arguments, ticket).await?))
    }

    fn context(&self, caller: Caller) -> Context {
        Context { engine: self.engine.clone(), caller, envelope: self.envelope }
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

    /// Runs a query that may read many rows, on a separate thread. If the query needs recent writes, waits until they are indexed.
    async fn blocking(
        &self,
        (freshness, asked): (Freshness, PreparedQuery),
        caller: Caller,
        spec: &'static Spec,
    ) -> Result<Encoded, Failure> {
        let environment_data: Arc<EnvironmentData> = self.engine.data(caller.environment()).clone();
        let store = self.store(spec, &caller).clone();
        // On an almost full disk, the index does not advance; nearly all writes fail too, so there is almost nothing new to index.
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
                    // If the wait times out, the search uses the index in its current state.
                    environment_data.search.caught_up(position, limits::SEARCH_OWN_WRITES_TIMEOUT).await;
                }
            }
            Freshness::AllWrites => {
                let position = environment_data.store.feed_position();
                if !environment_data.search.caught_up(position, limits::SEARCH_REFRESH_TIMEOUT).await {
                    return Err(Failure::because(Code::Unavailable, "The search index is updating; try again.").after_seconds(1));
                }
            }
        }
        Ok(())
    }

    /// Records the feed position after a write, if the write has moved the position.
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
            // The input could not be decoded, so there is nothing to write or record.
            return Err(prepared.err().expect("the result was checked above to be an error"));
        }
        let store = self.store(spec, &caller);
        let wrote = store.write(move |tx| write(tx, prepared, spec, &caller, ticket, guard, &envelope)).await??;
        match wrote {
            Wrote::Fresh(encoded) => Ok(encoded),
            Wrote::Stored(stored) => self.again(stored),
        }
    }

    /// Runs an operation that may wait. Its effect can consist of several transactions, so its replay record is stored after the effect: if
    /// the process crashes in between, a repeated request runs the operation again.
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

    fn again(&mut self, stored: StoredAnswer) -> Result<Encoded, Failure> {
        self.replayed = true;
        let status = StatusCode::from_u16(stored.status).map_err(Failure::internal)?;
        Ok(Encoded { status, body: stored.body, output: None })
    }

    fn reply(&self, encoded: Encoded) -> Reply {
        let mut headers = HeaderMap::with_capacity(16);
        headers.insert(CONTENT_TYPE, JSON);
        headers.insert(CONTENT_LENGTH, HeaderValue::from(encoded.body.len()));
        self.head(&mut headers);
        Reply { status: encoded.status, headers, body: ReplyBody::Whole(encoded.body.into()) }
    }

    /// Adds the request ID, and the rate-limit and replay headers if they apply.
    fn head(&self, headers: &mut HeaderMap) {
        let id = HeaderValue::from_bytes(&self.envelope.request.text()).expect("a request ID is ASCII");
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
        self.log_cause(&failure);
        let mut reply = self.reply(response::failure(&failure, &self.envelope));
        if let Some(seconds) = failure.retry_after {
            reply.headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        match header.map(|header| *header) {
            Some((name, value)) => {
                reply.headers.insert(name, value);
            }
            None if reply.status == StatusCode::UNAUTHORIZED => {
                reply.headers.insert(WWW_AUTHENTICATE, challenge(self.engine, ""));
            }
            None => {}
        }
        reply
    }
}

enum Wrote {
    Fresh(Encoded),
    Stored(StoredAnswer),
}

/// Runs inside a command's transaction: writes the effect, the audit row and any replay record. A failed command writes only the latter.
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

/// Returns the response bytes to store for repeats of the request. The bytes are encrypted if the response contains a secret.
fn to_keep(engine: &Engine, spec: &Spec, ticket: &IdempotentRequest, encoded: &Encoded) -> Vec<u8> {
    match spec.answers_secret {
        true => engine.seal.seal(&ticket.place(), &encoded.body, engine.random.as_ref()),
        false => encoded.body.clone(),
    }
}

fn opened(engine: &Engine, spec: &Spec, ticket: &IdempotentRequest, mut stored: StoredAnswer) -> Result<StoredAnswer, Failure> {
    if !spec.answers_secret {
        return Ok(stored);
    }
    let body = engine.seal.open(&ticket.place(), &stored.body);
    let body = body.ok_or_else(|| {
        Failure::internal(
            "the response stored for an idempotency key cannot be decrypted; check whether the master key has changed",
        )
    })?;
    stored.body = body;
    Ok(stored)
}

/// Returns whether a failure is stored for repeated requests. After a failure with status 429 or 5xx, a repeated request runs again.
fn is_kept(failure: &Failure) -> bool {
    let status = failure.code.info().status;
    status != 429 && status < 500
}

fn method_not_allowed(allowed: &str) -> Refusal {
    let header = HeaderValue::from_str(allowed).expect("method names are ASCII");
    Refusal { failure: Code::MethodNotAllowed.into(), header: Some(Box::new((ALLOW, header))) }
}

/// Returns the failure for a request whose body could not be read.
pub fn body_failure(error: BodyError, limit: usize) -> Failure {
    match error {
        BodyError::TooLarge => Failure::because(
            Code::PayloadTooLarge,
            format!("The body is larger than {limit} bytes, the limit of this operation; shorten or split the request."),
        )
        .with(serde_json::json!({ "maxBytes": limit })),
        BodyError::TooSlow => Code::RequestTimeout.into(),
        BodyError::Broken => Failure::because(Code::InvalidRequest, "The body is incomplete; send the request again."),
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let Some(value) = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()) else { return false };
    let essence = value.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json")
}

/// Returns the idempotent request if the call has an idempotency key, the operation supports such keys, and the caller uses an API key.
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
    let (Replay::Keyed, Some(key)) = (spec.replay, caller.key()) else { return Ok(None) };
    let Some(text) = idempotency_key(headers)? else { return Ok(None) };
    // The request is identified by the operation and its path parameters instead of the path, because an operation can have several paths.
    let about = path.iter().map(|(_, value)| value.as_ref()).collect::<Vec<_>>().join("/");
    Ok(Some(IdempotentRequest::new(key, text.as_bytes(), spec.id, &about, body)))
}
