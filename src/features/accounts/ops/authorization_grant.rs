//! Allows a client to act for the signed-in user.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::authorization_get::example;
use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, signed_in};
use crate::features::accounts::agents;
use crate::features::accounts::agents::model::{Decision, KeyTerms};
use crate::features::accounts::authorization::{self, request::AuthorizationRequest};
use crate::vocab::codes::Code;
use crate::vocab::environment::Environment;
use crate::vocab::permissions::PermissionSet;

pub struct AuthorizationGrant;

/// A client's request, and what the user allows.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrantAuthorization {
    /// The authorization request that the consent page showed.
    pub request: AuthorizationRequest,
    /// The permissions to grant: all or some of the requested permissions.
    pub permissions: PermissionSet,
    /// The environment in which the client works.
    pub environment: Environment,
}

/// The result of the user's decision.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthorizationResult {
    /// The redirect URI of the client, with the decision in its query parameters.
    pub redirect_to: String,
    pub program: String,
}

impl Operation for AuthorizationGrant {
    const SPEC: Spec = Spec::post("accounts.authorization_grant", "/v1/account/authorizations", signed_in())
        .summary("Allow an OAuth client to act for you")
        .about(
            "You can grant only requested permissions that you have yourself. Granting email:send or campaign:write requires a recent \
             sign-in. The client gets a code that works once, for a minute, and exchanges it for tokens at /oauth2/token.",
        )
        .fails(&[Code::FreshSignInRequired]);
    type Input = GrantAuthorization;
    type Output = Done<AuthorizationResult>;

    fn example() -> (Value, Self::Output) {
        let result = AuthorizationResult {
            redirect_to: "https://assistant.example/callback?code=mm_code_a".into(),
            program: "Assistant".into(),
        };
        (json!({ "request": example(), "permissions": ["audience:read"], "environment": "test" }), Done(result))
    }
}

impl Async for AuthorizationGrant {
    async fn run(context: Context, input: GrantAuthorization) -> Result<Self::Output, Failure> {
        let who = context.caller.user_session()?.clone();
        let request = input.request.check(&context.engine).await?;
        agents::check_terms(&context, request.requested, input.permissions)?;
        let terms =
            KeyTerms { permissions: input.permissions, environment: input.environment, key_name: request.client.name.clone() };
        let decision = Decision { account: who.user.account.id, user: who.user.id, at: context.now() };
        let code = authorization::consent(&context, &Self::SPEC, &request, (decision, terms)).await?;
        let redirect_to = request.back(&context.engine, &[("code", code.expose())]);
        Ok(Done(AuthorizationResult { redirect_to, program: request.client.name }))
    }
}
