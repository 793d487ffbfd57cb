//! Receives a contact or a customer event from another system.

use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, LOCATION};
use http::{HeaderMap, StatusCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::secret::Secret;
use crate::engine::access::throttle::Rule;
use crate::engine::api::call::body_failure;
use crate::engine::api::http_types::{Reply, ReplyBody};
use crate::engine::api::input::idempotency_key;
use crate::engine::api::operation::Takes;
use crate::engine::api::{Context, Done, Failure, Media, Operation, Raw, RawRequest, Spec, SuccessResponse, public};
use crate::engine::store::WriteTx;
use crate::features::hooks::model::{Hook, RequestOutcome};
use crate::features::hooks::receiving::{self, Incoming};
use crate::features::hooks::{Token, mapping, signature};
use crate::vocab::codes::Code;
use crate::vocab::limits;

pub struct Receive;

/// The secret part of the URL.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HookUrl {
    /// The token in the URL.
    pub token: Secret<String>,
}

/// The result of a request to an incoming webhook.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HookReceived {
    /// `created`, `updated`, `unchanged` or `recorded`.
    pub result: &'static str,
}

impl Operation for Receive {
    const SPEC: Spec = Spec::post("hooks.receive", "/v1/hooks/{token}", public())
        .summary("Send a contact or an event to an incoming webhook")
        .about(
            "Accepts a JSON object or a form with the values that the webhook's mapping names. The token is the last part of the webhook's \
             URL. Adds the contact with the email address in the request, or updates the existing contact; repeating the request changes \
             nothing. An event with a dedupeKey is recorded once. Within 24 hours, a second request with the same Idempotency-Key changes \
             nothing.",
        )
        .fails(&[Code::InvalidSignature, Code::IdempotencyKeyInvalid, Code::IdempotencyConflict, Code::NotFound]);
    type Input = HookUrl;
    type Output = Done<HookReceived>;

    fn example() -> (Value, Self::Output) {
        (
            json!({ "token": "AWbxorMAAAABehssPWbxorMAAAAKehssPcsHq1ZyM8lD3kVvW0nQ2tY5eR7u" }),
            Done(HookReceived { result: "created" }),
        )
    }
}

impl Raw for Receive {
    const MEDIA: Media = Media { takes: Takes::Nothing, gives: Media::JSON_TYPE, documented: false };

    async fn run(context: Context, input: HookUrl, request: RawRequest) -> Result<Reply, Failure> {
        let absent = || Failure::because(Code::NotFound, NO_ACTIVE_WEBHOOK);
        let token = Token::parse(input.token.expose()).ok_or_else(absent)?;
        let engine = &context.engine;
        let data = engine.data(token.environment).clone();
        let hook = receiving::active(&data.store.read(), &token)?.ok_or_else(absent)?;
        let take = |rule| engine.throttle.take(rule, &token.id.to_string(), engine.clock.monotonic());
        take(&REQUESTS).map_err(too_many)?;
        let idempotency_key = idempotency_key(&request.headers)?.map(str::to_owned);
        let limit = limits::HOOK_BODY_BYTES_MAX;
        // The memory for the body stays reserved until the request has been handled.
        let _room = engine.bodies.room(&request.body, limit).await?;
        let bytes = request.body.collect(limit).await.map_err(|error| body_failure(error, limit))?;
        if let Err(refused) = signature::check(&engine.seal, &hook, &request.headers, &bytes)
            && take(&FORGERIES).is_err()
        {
            return Err(Failure { code: Code::InvalidSignature, ..Failure::field(&refused.field, refused.reason) });
        }
        let content_type = request.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let is_form = mapping::is_form(content_type);
        let body = mapping::body(is_form, &bytes);
        let incoming = Incoming { headers: request.headers, bytes, body, idempotency_key };
        let shared = engine.clone();
        let write = move |tx: &mut WriteTx<'_>| -> Result<Option<Handled>, Failure> {
            // Read the webhook again inside the transaction, so that its current settings apply.
            let Some(hook) = receiving::active(tx, &token)? else { return Ok(None) };
            let outcome = receiving::handle(tx, &shared, &hook, incoming)?;
            Ok(Some((hook, outcome)))
        };
        let (hook, outcome) = data.store.write(write).await??.ok_or_else(absent)?;
        Ok(reply(&context, &hook, &outcome?, is_form))
    }
}

const NO_ACTIVE_WEBHOOK: &str = "No active incoming webhook has this URL. Check the URL, or turn the webhook on. If it was \
    deleted, create a new webhook.";

/// A webhook and the outcome of a request to it.
type Handled = (Hook, Result<RequestOutcome, Failure>);

/// The limit on requests to one webhook.
pub(crate) const REQUESTS: Rule = Rule {
    name: "incoming webhook",
    free: limits::HOOK_REQUESTS_PER_MINUTE,
    window_ms: limits::BUDGET_WINDOW_MS,
    wait_max_ms: 0,
};

/// The limit on requests with an invalid signature that are recorded for one webhook.
pub(crate) const FORGERIES: Rule = Rule {
    name: "forged incoming webhook",
    free: limits::HOOK_FORGERIES_RECORDED_PER_MINUTE,
    window_ms: limits::BUDGET_WINDOW_MS,
    wait_max_ms: 0,
};

fn too_many(seconds: u64) -> Failure {
    let max = limits::HOOK_REQUESTS_PER_MINUTE;
    let unit = if seconds == 1 { "second" } else { "seconds" };
    let detail = format!("This URL accepts at most {max} requests per minute; wait {seconds} {unit} and send the request again.");
    Failure::because(Code::RateLimitExceeded, detail).after_seconds(seconds)
}

/// Returns the result as JSON. If the request is a form and the webhook has a page to redirect to, the reply redirects the browser to this
/// page.
fn reply(context: &Context, hook: &Hook, outcome: &RequestOutcome, is_form: bool) -> Reply {
    let encoded = Done(HookReceived { result: outcome.word() }).encode(&context.envelope);
    let mut headers = HeaderMap::with_capacity(3);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(Media::JSON_TYPE));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(encoded.body.len()));
    let target = hook.redirect_url.as_deref().filter(|_| is_form).and_then(|url| HeaderValue::from_str(url).ok());
    let status = if target.is_some() { StatusCode::SEE_OTHER } else { StatusCode::OK };
    headers.extend(target.map(|target| (LOCATION, target)));
    Reply { status, headers, body: ReplyBody::Whole(encoded.body.into()) }
}
