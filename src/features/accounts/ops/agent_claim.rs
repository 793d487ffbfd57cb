//! Issues a new code to an agent whose code has expired (`assets/docs/authentication.md`, step 4).

use http::StatusCode;
use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::http_types::Reply;
use crate::engine::api::{Bare, Context, Failure, Media, Operation, Raw, RawRequest, Spec, public};
use crate::features::accounts::agents;
use crate::features::accounts::agents::oauth::{self, ErrorCode};
use crate::features::accounts::ops::token::brake;
use crate::vocab::codes::Code;

pub struct AgentClaim;

/// Selects an agent's registration.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(transform = describe)]
pub struct RenewClaim {
    /// The token that the registration returned.
    pub claim_token: String,
}

/// Adds the rules for the fields to the schema. The Rust type accepts any string, so that invalid values get OAuth errors.
fn describe(schema: &mut Schema) {
    oauth::require(schema, &[("claim_token", json!({ "pattern": oauth::TOKEN_PATTERN }))]);
}

impl Operation for AgentClaim {
    const SPEC: Spec = Spec::post("accounts.agent_claim", "/agent/identity/claim", public())
        .summary("Get a new agent code")
        .about(
            "Returns the same claim object as the registration, without an envelope. The previous code stops working. A registration \
             ends after one hour. After that, or after the user's decision, the response is 400 with the error invalid_grant.",
        )
        .speaks_oauth()
        .fails(&[Code::RateLimitExceeded, Code::PayloadTooLarge]);
    type Input = RenewClaim;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        (json!({ "claim_token": "eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl" }), Bare)
    }
}

impl Raw for AgentClaim {
    const MEDIA: Media = Media::JSON;

    async fn run(context: Context, _: RenewClaim, request: RawRequest) -> Result<Reply, Failure> {
        brake(&context)?;
        let input: RenewClaim = match oauth::fields(request).await? {
            Ok(input) => input,
            Err(reply) => return Ok(reply),
        };
        let Some((claim, code)) = agents::renew(&context, &input.claim_token).await? else {
            return Ok(oauth::refusal(
                ErrorCode::InvalidGrant,
                "This registration has ended or used up its codes. Register again.",
            ));
        };
        Ok(oauth::reply(StatusCode::OK, &json!({ "claim": agents::code_answer(&context, &claim, &code) })))
    }
}
