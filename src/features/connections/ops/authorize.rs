//! Starts a sign-in to a platform with OAuth 2, which connects or reconnects an account.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::create::NewAccount;
use crate::base::text::Name;
use crate::engine::api::response::WireTime;
use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, needs};
use crate::features::connections::oauth::{self, SignIn};
use crate::vocab::codes::Code;
use crate::vocab::ids::{ConnectionId, ProjectId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::providers::{ConnectionUse, Provider};

pub struct Authorize;

/// The account to connect by signing in to the platform.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BeginSignIn {
    pub provider: Provider,
    /// A name for the connection. If absent, a connection to reconnect keeps its name, and a new connection gets the account's name on the
    /// platform.
    pub name: Option<Name<{ limits::CONNECTION_NAME_CHARACTERS_MAX }>>,
    /// The only project that can use the connection. If absent, every project of the account can.
    pub project_id: Option<ProjectId>,
    /// The connection to reconnect. The user must sign in to the same account on the platform.
    pub connection_id: Option<ConnectionId>,
    /// What the connection may do. The user is asked only for the scopes of these uses. If absent, a connection to reconnect keeps its
    /// uses, and a new connection gets `imports`.
    #[schemars(length(min = 1, max = 2))]
    pub uses: Option<Vec<ConnectionUse>>,
}

/// The page on which the user signs in.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignInPage {
    /// The URL of the platform's page. Open it in the signed-in user's browser.
    pub authorize_url: String,
    /// The deadline for completing the sign-in.
    pub expires_at: WireTime,
    /// The permissions that the user is asked to grant. Empty for Mailchimp, whose tokens have all of the user's permissions.
    pub scopes: Vec<GrantedScope>,
}

/// A permission on a platform.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GrantedScope {
    pub scope: &'static str,
    pub purpose: &'static str,
}

impl Operation for Authorize {
    const SPEC: Spec = Spec::post(
        "connections.authorize",
        "/v1/connections/{provider}/authorize",
        needs(Permission::ProjectWrite),
    )
    .summary("Start a sign-in to another platform")
    .about(
        "Returns the URL of the platform's page on which the signed-in user allows access (OAuth 2). The platform then sends the \
         user back to Mailmill, which connects the account. Needs a client ID and secret in the settings; without them, \
         connect the account with an API key.",
    )
    .fails(&[Code::NotFound]);
    type Input = BeginSignIn;
    type Output = Done<SignInPage>;

    fn example() -> (Value, Self::Output) {
        let page = SignInPage {
            authorize_url: "https://www.klaviyo.com/oauth/authorize?response_type=code&client_id=0b8c2f64".into(),
            expires_at: WireTime::sample(),
            scopes: vec![GrantedScope { scope: "accounts:read", purpose: "Show which account is connected." }],
        };
        (json!({ "provider": "platform_a", "uses": ["imports"] }), Done(page))
    }
}

impl Async for Authorize {
    async fn run(context: Context, input: BeginSignIn) -> Result<Self::Output, Failure> {
        let session = oauth::session(&context.caller, oauth::CONNECT_WITH_KEY)?;
        let BeginSignIn { provider, name, project_id: project, connection_id: connection, uses } = input;
        let name = name.map(|name| name.to_string());
        let (engine, environment) = (&context.engine, context.caller.environment());
        let Some(app) = oauth::app(&engine.settings.connections, provider) else {
            let alias = provider.alias();
            let reason = format!(
                "sign-in to {provider} is not set up; ask the operator to set connections.{alias}_client_id and \
                 connections.{alias}_client_secret, or connect the account with an API key"
            );
            return Err(Failure::field("provider", reason));
        };
        let account = NewAccount { provider, project, connection, name: name.clone() }.checked(&context).await?;
        let uses = uses.unwrap_or_else(|| account.known.map_or(vec![ConnectionUse::Imports], |known| known.uses));
        if uses.is_empty() || uses.len() > ConnectionUse::ALL.len() {
            return Err(Failure::field("uses", "must contain imports, exports, or both"));
        }
        let expires_at = context.now().plus_ms(limits::PROVIDER_SIGN_IN_MS);
        let verifier = SignIn::verifier(engine);
        let scopes = oauth::scopes(provider, &uses).into_iter().map(|(scope, purpose)| GrantedScope { scope, purpose }).collect();
        let sign_in = SignIn { session, provider, project, connection, name, uses, verifier, expires_at };
        let state = sign_in.to_state(engine, environment);
        let authorize_url = oauth::consent_url(engine, &app, &sign_in, &state).map_err(Failure::internal)?;
        Ok(Done(SignInPage { authorize_url, expires_at: WireTime(expires_at), scopes }))
    }
}
