//! Returns the result of an agent's poll for its API key (`assets/docs/authentication.md`, step 3).

use http::StatusCode;
use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::http_types::Reply;
use crate::engine::api::{Bare, Context, Failure, Media, Operation, Raw, RawRequest, Spec, public};
use crate::features::accounts::agents::oauth::{self, ErrorCode};
use crate::features::accounts::agents::{self, PollAnswer};
use crate::features::accounts::sessions;
use crate::vocab::codes::Code;

pub struct Token;

/// The parameters of an agent's poll.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(transform = describe)]
pub struct TokenRequest {
    /// The grant type from the metadata, such as `urn:mailmill:agent-auth:grant-type:claim`.
    pub grant_type: String,
    /// The token that the registration returned.
    pub claim_token: String,
}

/// Adds the rules for the fields. The type accepts any string, so that invalid values get OAuth errors.
fn describe(schema: &mut Schema) {
    oauth::require(
        schema,
        &[
            ("grant_type", json!({ "pattern": "^urn:[^:]+:agent-auth:grant-type:claim$" })),
            ("claim_token", json!({ "pattern": oauth::TOKEN_PATTERN })),
        ],
    );
}

impl Operation for Token {
    const SPEC: Spec = Spec::post("accounts.token", "/oauth2/token", public())
        .summary("Poll for a granted key")
        .about(
            "Accepts JSON or a form. Returns, without an envelope, access_token (the key, shown exactly once), token_type, scope and \
                key_name; or 400 with error: authorization_pending (keep polling), expired_token (get a new code, then keep polling), or \
                invalid_grant (the registration is unknown, denied, expired, already fetched, or granted by a \
                user who no longer has the permissions).",
        )
        .speaks_oauth()
        .fails(&[Code::RateLimitExceeded, Code::PayloadTooLarge]);
    type Input = TokenRequest;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        let token = "eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl";
        (json!({ "grant_type": "urn:mailmill:agent-auth:grant-type:claim", "claim_token": token }), Bare)
    }
}

impl Raw for Token {
    const MEDIA: Media = Media::JSON;

    async fn run(context: Context, _: TokenRequest, request: RawRequest) -> Result<Reply, Failure> {
        brake(&context)?;
        let input: TokenRequest = match oauth::fields(request).await? {
            Ok(input) => input,
            Err(reply) => return Ok(reply),
        };
        if !agents::is_grant_type(&input.grant_type) {
            let known = agents::grant_type(&context.engine);
            return Ok(oauth::refusal(ErrorCode::UnsupportedGrantType, format!("grant_type: not supported; use {known}")));
        }
        Ok(match agents::poll(&context, &input.claim_token).await? {
            PollAnswer::Pending => oauth::refusal(ErrorCode::AuthorizationPending, "The user has not decided yet; keep polling."),
            PollAnswer::Expired => {
                oauth::refusal(ErrorCode::ExpiredToken, "The code has expired; get a new code, then keep polling.")
            }
            PollAnswer::Over => oauth::refusal(ErrorCode::InvalidGrant, "This registration is no longer valid. Register again."),
            PollAnswer::Key { text, granted } => {
                let scope = granted.permissions.to_string();
                let key = json!({
                    "access_token": text.expose(), "token_type": "bearer", "scope": scope, "key_name": granted.key_name,
                });
                oauth::reply(StatusCode::OK, &key)
            }
        })
    }
}

/// Fails if one network address polls at a high rate; an agent that polls slightly too fast still gets a normal response.
pub fn brake(context: &Context) -> Result<(), Failure> {
    let Some(address) = sessions::throttle_name(context.caller.peer) else { return Ok(()) };
    let taken = context.engine.throttle.take(&agents::POLLS, &address, context.engine.clock.monotonic());
    taken.map_err(|seconds| Failure::new(Code::RateLimitExceeded).after_seconds(seconds))
}
