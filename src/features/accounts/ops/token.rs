//! An agent polls for its API key (`assets/docs/authentication.md`, step 3).

use http::StatusCode;
use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::wire::Reply;
use crate::engine::api::{Bare, Context, Failure, Media, Operation, Raw, RawRequest, Spec, public};
use crate::features::accounts::agents::wire::{self, Word};
use crate::features::accounts::agents::{self, Polled};
use crate::features::accounts::sessions;
use crate::vocab::codes::Code;

/// `accounts.token`
pub struct Token;

/// The poll.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
#[serde(default)]
#[schemars(rename = "AgentPoll", transform = describe)]
pub struct Asked {
    /// `urn:mailmill:agent-auth:grant-type:claim`; the metadata say it.
    pub grant_type: String,
    /// The token that the registration was answered with.
    pub claim_token: String,
}

/// What is refused in OAuth's own words, and so is read as any text.
fn describe(schema: &mut Schema) {
    wire::require(
        schema,
        &[
            ("grant_type", json!({ "pattern": "^urn:[^:]+:agent-auth:grant-type:claim$" })),
            ("claim_token", json!({ "pattern": wire::TOKEN_PATTERN })),
        ],
    );
}

impl Operation for Token {
    const SPEC: Spec = Spec::post("accounts.token", "/oauth2/token", public())
        .summary("Fetch the key")
        .about(
            "Takes JSON or a form. Answers without an envelope: access_token (the key, told exactly once), token_type, scope and \
                key_name; or 400 with error: authorization_pending (poll on), expired_token (get a new code, then poll on), or \
                invalid_grant (over: denied, fetched, too old, never ours, or granted by \
                somebody who may not do it any more themselves).",
        )
        .speaks_oauth()
        .fails(&[Code::RateLimitExceeded, Code::PayloadTooLarge]);
    type Input = Asked;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        let token = "eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl";
        (json!({ "grant_type": "urn:mailmill:agent-auth:grant-type:claim", "claim_token": token }), Bare)
    }
}

impl Raw for Token {
    const MEDIA: Media = Media::JSON;

    async fn run(context: Context, _: Asked, request: RawRequest) -> Result<Reply, Failure> {
        brake(&context)?;
        let asked: Asked = match wire::fields(request).await? {
            Ok(asked) => asked,
            Err(reply) => return Ok(reply),
        };
        if !agents::is_grant_type(&asked.grant_type) {
            let known = agents::grant_type(&context.engine);
            return Ok(wire::refusal(Word::UnsupportedGrantType, format!("grant_type: only {known} is supported")));
        }
        Ok(match agents::poll(&context, &asked.claim_token).await? {
            Polled::Pending => wire::refusal(Word::AuthorizationPending, "The person has not decided yet; poll on."),
            Polled::Expired => wire::refusal(Word::ExpiredToken, "The code is over; get a new one, then poll on."),
            Polled::Over => wire::refusal(Word::InvalidGrant, "This registration is over; begin anew."),
            Polled::Key { text, granted } => {
                let scope = granted.permissions.to_string();
                let key = json!({
                    "access_token": text.expose(), "token_type": "bearer", "scope": scope, "key_name": granted.key_name,
                });
                wire::reply(StatusCode::OK, &key)
            }
        })
    }
}

/// Polling too fast is answered as if it were not; this is for floods.
pub fn brake(context: &Context) -> Result<(), Failure> {
    let Some(address) = sessions::counted(context.caller.peer) else { return Ok(()) };
    let taken = context.engine.throttle.take(&agents::POLLS, &address, context.engine.clock.monotonic());
    taken.map_err(|seconds| Failure::new(Code::RateLimitExceeded).after_seconds(seconds))
}
