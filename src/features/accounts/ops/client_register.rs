//! Registers a client that wants to ask users for access (RFC 7591).

use http::StatusCode;
use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::http_types::Reply;
use crate::engine::api::{Bare, Context, Failure, Media, Operation, Raw, RawRequest, Spec, attempts, public};
use crate::features::accounts::agents::oauth::{self, ErrorCode};
use crate::features::accounts::authorization::{self, clients::Client};
use crate::features::accounts::sessions;
use crate::vocab::codes::Code;
use crate::vocab::limits;

pub struct ClientRegister;

/// The metadata of a client. Other fields are ignored.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(transform = describe)]
pub struct ClientMetadata {
    /// The name that the client chose. The consent page shows it.
    pub client_name: Option<String>,
    /// The URIs to which the browser may return: `https`, `http` on a loopback address with any port, or a custom scheme such as
    /// `com.example.app`.
    pub redirect_uris: Vec<String>,
}

/// Adds the rules for the fields to the schema. The Rust type accepts any string, so that invalid values get OAuth errors.
fn describe(schema: &mut Schema) {
    let uri = json!({ "type": "string", "pattern": r"^[A-Za-z][A-Za-z0-9+.-]*:[^\s\x00-\x1f\x7f-\x9f#]*$" });
    oauth::require(schema, &[("redirect_uris", json!({ "minItems": 1, "maxItems": limits::REDIRECT_URIS_MAX, "items": uri }))]);
}

impl Operation for ClientRegister {
    const SPEC: Spec = Spec::post("accounts.client_register", "/oauth2/register", public())
        .summary("Register an OAuth client")
        .about(
            "Dynamic Client Registration (RFC 7591), for public clients: they have no secret, and use PKCE. The client_id contains the \
             registration data, so it does not expire. The response has no envelope.",
        )
        .speaks_oauth()
        .fails(&[Code::RateLimitExceeded, Code::PayloadTooLarge]);
    type Input = ClientMetadata;
    type Output = Bare<201>;

    fn example() -> (Value, Self::Output) {
        (json!({ "client_name": "Assistant", "redirect_uris": ["http://127.0.0.1:33418/callback"] }), Bare)
    }
}

impl Raw for ClientRegister {
    const MEDIA: Media = Media::JSON;

    async fn run(context: Context, _: ClientMetadata, request: RawRequest) -> Result<Reply, Failure> {
        if let Some(address) = sessions::throttle_name(context.caller.peer) {
            let taken = context.engine.throttle.take(&authorization::REGISTRATIONS, &address, context.engine.clock.monotonic());
            taken.map_err(attempts::too_many)?;
        }
        let input: ClientMetadata = match oauth::fields(request).await? {
            Ok(input) => input,
            Err(reply) => return Ok(reply),
        };
        let client = match Client::new(input.client_name.as_deref(), input.redirect_uris) {
            Ok(client) => client,
            Err(invalid) => return Ok(oauth::refusal(ErrorCode::InvalidClientMetadata, invalid.to_string())),
        };
        let registered = json!({
            "client_id": client.id(&context.engine),
            "client_id_issued_at": context.now().seconds(),
            "client_name": client.name,
            "redirect_uris": client.redirect_uris,
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        });
        Ok(oauth::reply(StatusCode::CREATED, &registered))
    }
}
