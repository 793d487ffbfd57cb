//! Denies an OAuth client's request for access.

use serde_json::Value;

use super::authorization_get::example;
use super::authorization_grant::AuthorizationResult;
use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, signed_in};
use crate::features::accounts::authorization::request::AuthorizationRequest;

pub struct AuthorizationDeny;

impl Operation for AuthorizationDeny {
    const SPEC: Spec = Spec::post("accounts.authorization_deny", "/v1/account/authorizations/deny", signed_in())
        .summary("Deny an OAuth client's request for access")
        .about("Returns the URL that reports your decision to the client. Nothing is stored.");
    type Input = AuthorizationRequest;
    type Output = Done<AuthorizationResult>;

    fn example() -> (Value, Self::Output) {
        let redirect_to = "https://assistant.example/callback?error=access_denied".into();
        (example(), Done(AuthorizationResult { redirect_to, program: "Assistant".into() }))
    }
}

impl Async for AuthorizationDeny {
    async fn run(context: Context, input: AuthorizationRequest) -> Result<Self::Output, Failure> {
        let request = input.check(&context.engine).await?;
        let redirect_to = request.back(&context.engine, &[("error", "access_denied")]);
        Ok(Done(AuthorizationResult { redirect_to, program: request.client.name }))
    }
}
