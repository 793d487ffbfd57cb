//! Ends a client's access (RFC 7009).

use http::StatusCode;
use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use serde_json::{Value, json};

use super::token;
use crate::engine::api::http_types::Reply;
use crate::engine::api::{Bare, Context, Failure, Media, Operation, Raw, RawRequest, Spec, public};
use crate::features::accounts::agents::oauth::{self, ErrorCode};
use crate::features::accounts::authorization;
use crate::vocab::codes::Code;

pub struct TokenRevoke;

/// A token, and the client that it belongs to.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(transform = describe)]
pub struct RevokeToken {
    /// An access token or a refresh token.
    pub token: String,
    pub client_id: String,
}

fn describe(schema: &mut Schema) {
    oauth::require(schema, &[("token", json!({ "minLength": 1 })), ("client_id", json!({ "minLength": 1 }))]);
}

impl Operation for TokenRevoke {
    const SPEC: Spec = Spec::post("accounts.token_revoke", "/oauth2/revoke", public())
        .summary("End an OAuth client's access")
        .about(
            "OAuth 2.0 Token Revocation (RFC 7009). Both tokens of the client stop working, and its key is revoked. The response is the \
             same for an unknown token.",
        )
        .speaks_oauth()
        .fails(&[Code::RateLimitExceeded, Code::PayloadTooLarge]);
    type Input = RevokeToken;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        (json!({ "token": "mm_rt_example", "client_id": "mm_client_example" }), Bare)
    }
}

impl Raw for TokenRevoke {
    const MEDIA: Media = Media::JSON;

    async fn run(context: Context, _: RevokeToken, request: RawRequest) -> Result<Reply, Failure> {
        token::brake(&context)?;
        let input: RevokeToken = match oauth::fields(request).await? {
            Ok(input) => input,
            Err(reply) => return Ok(reply),
        };
        for (name, value) in [("token", &input.token), ("client_id", &input.client_id)] {
            if value.is_empty() {
                return Ok(oauth::refusal(ErrorCode::InvalidRequest, format!("{name} is missing; add it")));
            }
        }
        authorization::revoke(&context, &input.token, &input.client_id).await?;
        Ok(oauth::reply(StatusCode::OK, &json!({})))
    }
}
