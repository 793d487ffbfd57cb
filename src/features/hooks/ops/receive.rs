//! Receives a contact or a customer event from another system.

use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, LOCATION};
use http::{HeaderMap, StatusCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::secret::Secret;
use crate::engine::access::url_token::UrlToken;
use crate::engine::api::call::body_failure;
use crate::engine::api::http_types::{Reply, ReplyBody};
use crate::engine::api::operation::Takes;
use crate::engine::api::{Answer, Context, Done, Failure, Media, Operation, Raw, RawRequest, Spec, public};
use crate::engine::store::{Read, WriteTx};
use crate::features::hooks::model::{Hook, Verdict};
use crate::features::hooks::{intake, mapping, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::kinds;
use crate::vocab::limits;

pub struct Receive;

/// The secret part of the URL.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HookUrl {
    /// The token in the URL.
    pub token: Secret<String>,
}

/// The result of a request.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HookReceived {
    /// `created`, `updated`, `unchanged` or `recorded`.
    pub verdict: &'static str,
}

impl Operation for Receive {
    const SPEC: Spec = Spec::post("hooks.receive", "/v1/hooks/{token}", public())
        .summary("Send a contact or an event to an incoming webhook")
        .about(
            "The path contains the token of the URL. Accepts a JSON object or a form, with the values that the webhook's mapping names. A \
             contact is added or updated by its email; a repeat changes nothing. Events with a dedupeKey are recorded once.",
        )
        .fails(&[Code::NotFound]);
    type Input = HookUrl;
    type Output = Done<HookReceived>;

    fn example() -> (Value, Self::Output) {
        (
            json!({ "token": "AWbxorMAAAABehssPWbxorMAAAAKehssPcsHq1ZyM8lD3kVvW0nQ2tY5eR7u" }),
            Done(HookReceived { verdict: "created" }),
        )
    }
}

impl Raw for Receive {
    const MEDIA: Media = Media { takes: Takes::Nothing, gives: Media::JSON_TYPE, documented: false };

    async fn run(context: Context, input: HookUrl, request: RawRequest) -> Result<Reply, Failure> {
        let absent = || Failure::because(Code::NotFound, "This URL is not valid. Copy the URL of the webhook again.");
        let token = UrlToken::parse(input.token.expose()).ok_or_else(absent)?;
        find(&context, &token)?.ok_or_else(absent)?;
        let limit = limits::HOOK_BODY_BYTES_MAX;
        // The memory stays reserved until the request has been handled.
        let _room = context.engine.bodies.room(&request.body, limit).await?;
        let bytes = request.body.collect(limit).await.map_err(|error| body_failure(error, limit))?;
        let content_type = request.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let is_form = content_type.to_ascii_lowercase().starts_with("application/x-www-form-urlencoded");
        let body = mapping::body(content_type, &bytes);
        let environment = token.environment;
        let write = move |tx: &mut WriteTx<'_>| -> Result<Option<(Hook, Verdict)>, Failure> {
            // The webhook is read again inside the transaction, so that the current settings apply.
            let Some(hook) = read(tx, &token)? else { return Ok(None) };
            let verdict = intake::handle(tx, &hook, body)?;
            Ok(Some((hook, verdict)))
        };
        let (hook, verdict) = context.engine.data(environment).store.write(write).await??.ok_or_else(absent)?;
        match verdict {
            Verdict::Rejected { field, reason } => Err(Failure::field(&field, reason)),
            verdict => Ok(reply(&context, &hook, &verdict, is_form)),
        }
    }
}

/// Returns the active webhook whose URL has this token.
fn find(context: &Context, token: &UrlToken<kinds::Hook>) -> Result<Option<Hook>, Failure> {
    read(&context.engine.data(token.environment).store.read(), token)
}

fn read(tx: &impl Read, token: &UrlToken<kinds::Hook>) -> Result<Option<Hook>, Failure> {
    let hook = store::find(tx, token.account, token.id)?;
    Ok(hook.filter(|hook| hook.active && token.matches(&hook.url_hash)))
}

/// Returns the verdict as JSON, or redirects the browser that sent a form.
fn reply(context: &Context, hook: &Hook, verdict: &Verdict, is_form: bool) -> Reply {
    let encoded = Done(HookReceived { verdict: verdict.word() }).encode(&context.envelope);
    let mut headers = HeaderMap::with_capacity(3);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(Media::JSON_TYPE));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(encoded.body.len()));
    let target = hook.redirect_url.as_deref().filter(|_| is_form).and_then(|url| HeaderValue::from_str(url).ok());
    let status = if target.is_some() { StatusCode::SEE_OTHER } else { StatusCode::OK };
    headers.extend(target.map(|target| (LOCATION, target)));
    Reply { status, headers, body: ReplyBody::Whole(encoded.body.into()) }
}
