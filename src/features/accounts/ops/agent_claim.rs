//! Issue a new code to an agent whose code has expired (`assets/docs/authentication.md`, step 4).

use http::StatusCode;
use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::wire::Reply;
use crate::engine::api::{Bare, Context, Failure, Media, Operation, Raw, RawRequest, Spec, public};
use crate::features::accounts::agents;
use crate::features::accounts::agents::wire::{self, Word};
use crate::features::accounts::ops::token::brake;
use crate::vocab::codes::Code;

/// `accounts.agent_claim`
pub struct AgentClaim;

/// Which registration.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
#[serde(default)]
#[schemars(rename = "AgentRenewal", transform = describe)]
pub struct Asked {
    /// The token that the registration was answered with.
    pub claim_token: String,
}

/// What is refused in OAuth's own words, and so is read as any text.
fn describe(schema: &mut Schema) {
    wire::require(schema, &[("claim_token", json!({ "pattern": wire::TOKEN_PATTERN }))]);
}

impl Operation for AgentClaim {
    const SPEC: Spec = Spec::post("accounts.agent_claim", "/agent/identity/claim", public())
        .summary("Get a new code")
        .about(
            "Answers, without an envelope, with claim as at the registration; the code before it does not work any more. The whole \
                registration ends an hour after it began: then, as after a decision, 400 with error invalid_grant.",
        )
        .speaks_oauth()
        .fails(&[Code::RateLimitExceeded, Code::PayloadTooLarge]);
    type Input = Asked;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        (json!({ "claim_token": "eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl" }), Bare)
    }
}

impl Raw for AgentClaim {
    const MEDIA: Media = Media::JSON;

    async fn run(context: Context, _: Asked, request: RawRequest) -> Result<Reply, Failure> {
        brake(&context)?;
        let asked: Asked = match wire::fields(request).await? {
            Ok(asked) => asked,
            Err(reply) => return Ok(reply),
        };
        let Some((claim, code)) = agents::renew(&context, &asked.claim_token).await? else {
            return Ok(wire::refusal(Word::InvalidGrant, "This registration is over; begin anew."));
        };
        Ok(wire::reply(StatusCode::OK, &json!({ "claim": agents::told(&context, &claim, &code) })))
    }
}
