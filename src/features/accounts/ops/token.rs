//! The token endpoint: returns an API key to an agent that polls for it (`assets/docs/authentication.md`, step 3), and tokens to a
//! client that a user has connected (OAuth 2.1 §4.1.3 and §4.3).

use http::StatusCode;
use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::http_types::Reply;
use crate::engine::api::{Bare, Context, Failure, Media, Operation, Raw, RawRequest, Spec, public};
use crate::features::accounts::agents::oauth::{self, ErrorCode};
use crate::features::accounts::agents::{self, PollAnswer};
use crate::features::accounts::authorization::{self, Exchange, Refusal, Renewal, Tokens};
use crate::features::accounts::sessions;
use crate::vocab::codes::Code;
use crate::vocab::limits;

pub struct Token;

/// The parameters of an agent's poll, or of a client's request for tokens.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(transform = describe)]
pub struct TokenRequest {
    /// The grant type, such as `urn:mailmill:agent-auth:grant-type:claim`. The server's metadata lists the grant types.
    pub grant_type: String,
    /// The token that the registration returned.
    pub claim_token: String,
    /// The authorization code that the client received after the user's decision, for the grant type `authorization_code`.
    pub code: String,
    /// The redirect URI of the authorization request, for the grant type `authorization_code`.
    pub redirect_uri: String,
    /// The ID of the client, for the grant types `authorization_code` and `refresh_token`.
    pub client_id: String,
    /// The PKCE code verifier, whose hash was in the authorization request (RFC 7636).
    pub code_verifier: String,
    /// The refresh token, for the grant type `refresh_token`.
    pub refresh_token: String,
    /// The permissions of the new access token, separated by spaces, for the grant type `refresh_token`. They must be among the
    /// permissions that the user granted, which are also the default.
    pub scope: Option<String>,
    /// The URL of the resource to access (RFC 8707), which must be the URL of the MCP server. Optional.
    pub resource: Option<String>,
}

/// Adds the rules for the fields to the schema. The Rust type accepts any string, so that invalid values get OAuth errors.
fn describe(schema: &mut Schema) {
    oauth::require(
        schema,
        &[("grant_type", json!({ "pattern": "^(authorization_code|refresh_token|urn:[^:]+:agent-auth:grant-type:claim)$" }))],
    );
    let claim = schema.get_mut("properties").and_then(|fields| fields.get_mut("claim_token")).expect("the type has this field");
    claim["pattern"] = oauth::TOKEN_PATTERN.into();
}

impl Operation for Token {
    const SPEC: Spec = Spec::post("accounts.token", "/oauth2/token", public())
        .summary("Get a granted key or OAuth tokens")
        .about(
            "Accepts JSON or a form. The response has no envelope. With grant_type authorization_code or refresh_token (OAuth 2.1 with \
             PKCE), returns access_token, token_type, expires_in, refresh_token and scope. A code works once; a second use ends the \
             client's access. A refresh token is replaced at every use. The replaced token still works for 30 seconds, for concurrent \
             requests; a later use ends the client's access. With the grant type of agent registration, returns access_token (the key, \
             shown exactly once), token_type, scope and key_name; or 400 with error: authorization_pending (keep polling), expired_token \
             (get a new code, then keep polling), or invalid_grant (the registration is unknown, denied, expired, already fetched, or \
             granted by a user who no longer has the permissions).",
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
        match input.grant_type.as_str() {
            "authorization_code" => return exchanged(&context, input).await,
            "refresh_token" => return refreshed(&context, input).await,
            claim if agents::is_grant_type(claim) => {}
            _ => {
                let known = agents::grant_type(&context.engine);
                let description = format!("grant_type: not supported; use authorization_code, refresh_token or {known}");
                return Ok(oauth::refusal(ErrorCode::UnsupportedGrantType, description));
            }
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

async fn exchanged(context: &Context, input: TokenRequest) -> Result<Reply, Failure> {
    let TokenRequest { code, client_id, redirect_uri, code_verifier: verifier, resource, .. } = input;
    let exchange = Exchange { code, client_id, redirect_uri, verifier, resource: some(resource) };
    let tokens = match authorization::exchange(context, exchange).await {
        Ok(tokens) => tokens,
        // The user can fix an exceeded limit, so return an OAuth error whose text the client can show.
        Err(failure) if failure.code == Code::LimitReached => {
            return Ok(oauth::refusal(ErrorCode::InvalidGrant, failure.text()));
        }
        Err(failure) => return Err(failure),
    };
    let refused = "The code is unknown, expired or used, a parameter does not match its request, or the user no longer has the \
                   permissions. Request access again.";
    Ok(answer(tokens, refused))
}

async fn refreshed(context: &Context, input: TokenRequest) -> Result<Reply, Failure> {
    let TokenRequest { refresh_token, client_id, scope, resource, .. } = input;
    let renewal = Renewal { refresh_token, client_id, scope: some(scope), resource: some(resource) };
    Ok(answer(
        authorization::refresh(context, renewal).await?,
        "The refresh token is unknown, expired, used or revoked, is for another client or resource, or the user no longer has the \
         permissions. Request access again.",
    ))
}

/// Returns `None` for a blank value, because a parameter without a value counts as absent (RFC 6749 §3.2).
fn some(value: Option<String>) -> Option<String> {
    value.filter(|value| !value.trim().is_empty())
}

fn answer(tokens: Result<Tokens, Refusal>, refused: &str) -> Reply {
    let Tokens { access, refresh, permissions } = match tokens {
        Ok(tokens) => tokens,
        Err(Refusal::Grant) => return oauth::refusal(ErrorCode::InvalidGrant, refused),
        Err(Refusal::Scope(reason)) => return oauth::refusal(ErrorCode::InvalidScope, format!("scope: {reason}")),
    };
    let answer = json!({
        "access_token": access.expose(),
        "token_type": "Bearer",
        "expires_in": limits::ACCESS_TOKEN_MS / 1000,
        "refresh_token": refresh.expose(),
        "scope": permissions.to_string(),
    });
    oauth::reply(StatusCode::OK, &answer)
}

/// Fails if requests to the token endpoint, or for new codes, come from one network address at a high rate. An agent that polls slightly
/// too fast still gets a normal response.
pub fn brake(context: &Context) -> Result<(), Failure> {
    let Some(address) = sessions::throttle_name(context.caller.peer) else { return Ok(()) };
    let taken = context.engine.throttle.take(&agents::POLLS, &address, context.engine.clock.monotonic());
    taken.map_err(|seconds| Failure::new(Code::RateLimitExceeded).after_seconds(seconds))
}
