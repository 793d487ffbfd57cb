//! Returns what the consent page shows: the client that asks for access, and the permissions that it requests.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, signed_in};
use crate::features::accounts::agents::views::{self, ScopeView};
use crate::features::accounts::authorization::request::AuthorizationRequest;

pub struct AuthorizationGet;

/// A client's request for access.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthorizationDetails {
    /// The name that the client chose. It is not verified.
    pub program: String,
    /// The verified host that published the client's metadata; absent for a registered client.
    pub host: Option<String>,
    /// The host that the browser returns to, or the URI scheme if the redirect URI has a custom scheme.
    pub returns_to: String,
    pub scopes: Vec<ScopeView>,
}

impl Operation for AuthorizationGet {
    const SPEC: Spec = Spec::post("accounts.authorization_get", "/v1/account/authorizations/lookup", signed_in())
        .summary("Get an OAuth client's request for access")
        .about(
            "Checks the parameters of the consent page (OAuth 2.1). A client whose client_id is a URL is described by the document there.",
        );
    type Input = AuthorizationRequest;
    type Output = Done<AuthorizationDetails>;

    fn example() -> (Value, Self::Output) {
        let details = AuthorizationDetails {
            program: "Assistant".into(),
            host: Some("assistant.example".into()),
            returns_to: "assistant.example".into(),
            scopes: Vec::new(),
        };
        (example(), Done(details))
    }
}

/// Returns the example parameters of an authorization request.
pub fn example() -> Value {
    json!({
        "response_type": "code",
        "client_id": "https://assistant.example/oauth/client.json",
        "redirect_uri": "https://assistant.example/callback",
        "scope": "audience:read",
        "state": "af0ifjsldkj",
        "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
        "code_challenge_method": "S256",
    })
}

impl Async for AuthorizationGet {
    async fn run(context: Context, input: AuthorizationRequest) -> Result<Self::Output, Failure> {
        let who = context.caller.user_session()?.clone();
        let request = input.check(&context.engine).await?;
        let returns_to = match request.redirect_uri.scheme() {
            "http" | "https" => request.redirect_uri.host_str().unwrap_or_default().to_owned(),
            scheme => scheme.to_owned(),
        };
        Ok(Done(AuthorizationDetails {
            program: request.client.name,
            host: request.client.host,
            returns_to,
            scopes: views::scopes(request.requested, &who),
        }))
    }
}
