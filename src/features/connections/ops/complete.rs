//! Completes a sign-in to a platform: exchanges the code for tokens, and connects or reconnects the account.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::create::{Access, NewAccount, connect, untested};
use crate::base::secret::Secret;
use crate::engine::api::{Async, Context, Created, Failure, Operation, Spec, needs};
use crate::engine::store::ReadTx;
use crate::features::connections::credentials::Credentials;
use crate::features::connections::oauth::{self, Granted, SignIn};
use crate::features::connections::store;
use crate::features::connections::views::{ConnectionView, connection_view};
use crate::vocab::codes::Code;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::providers::Provider;

pub struct Complete;

/// The parameters of the platform's redirect to the callback page.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CompleteSignIn {
    pub provider: Provider,
    /// The authorization code, which works once.
    #[schemars(length(min = 1, max = limits::PROVIDER_SIGN_IN_CHARACTERS_MAX))]
    pub code: Secret,
    /// The `state` parameter, unchanged.
    #[schemars(length(min = 1, max = limits::PROVIDER_SIGN_IN_CHARACTERS_MAX))]
    pub state: Secret,
}

impl Operation for Complete {
    const SPEC: Spec = Spec::post("connections.complete", "/v1/connections/{provider}/complete", needs(Permission::ProjectWrite))
        .summary("Complete a sign-in to another platform")
        .about(
            "Connects the account that the user signed in to, or reconnects it, and resumes imports that are waiting for it. Only the \
             session that started the sign-in can complete it, within ten minutes. A second call returns the connection and changes \
             nothing. The dashboard calls this operation when the user returns.",
        )
        .fails(&[Code::NotFound, Code::LimitReached, Code::ProviderUnavailable]);
    type Input = CompleteSignIn;
    type Output = Created<ConnectionView>;

    fn example() -> (Value, Self::Output) {
        let connection = ConnectionView { method: "oauth", ..ConnectionView::sample() };
        (json!({ "provider": "platform_a", "code": "8f3d6c1e", "state": "test.5d41402abc4b2a76" }), Created(connection))
    }
}

impl Async for Complete {
    async fn run(context: Context, input: CompleteSignIn) -> Result<Self::Output, Failure> {
        let session = oauth::session(&context.caller, oauth::CONNECT_WITH_KEY)?;
        let CompleteSignIn { provider, code, state } = input;
        let (engine, environment) = (&context.engine, context.caller.environment());
        let unusable = || {
            let reason = "this sign-in expired, or was not started in this session; connect the account again";
            Failure::field("state", reason)
        };
        let started = SignIn::of_state(engine, environment, state.expose());
        let started = started.filter(|started| started.session == session && started.provider == provider);
        let (sign_in, digest) = (started.ok_or_else(unusable)?, oauth::digest(state.expose()));
        // A platform accepts a code only once, so a second request with the same code waits for the first one and gets the same result.
        let mut key = [b'c'; 13];
        key[1..].copy_from_slice(&digest[..12]);
        let _turn = engine.key_locks.take(key).await;
        if let Some(made) = completed(&context, digest).await? {
            return Ok(Created(made));
        }
        if sign_in.has_expired(context.now()) {
            return Err(unusable());
        }
        let code = code.expose();
        if code.is_empty() || code.len() > limits::PROVIDER_SIGN_IN_CHARACTERS_MAX {
            return Err(Failure::field("code", "must be the code that the platform added to the redirect URL"));
        }
        let granted = oauth::exchange(engine, &sign_in, code).await.map_err(|error| untested(provider, "code", error))?;
        let SignIn { project, connection, name, .. } = sign_in;
        let account = NewAccount { provider, project, connection, name }.checked(&context).await?;
        let Granted { tokens, uses } = granted;
        let access = Access { credentials: Credentials::Tokens(tokens), uses, sign_in: Some(digest) };
        connect(&context, &Self::SPEC, account, access).await.map(Created)
    }
}

/// Returns the connection if the sign-in with this digest has already been completed, for example if the user reloads the callback page.
async fn completed(context: &Context, digest: [u8; 16]) -> Result<Option<ConnectionView>, Failure> {
    let (account, now) = (context.caller.account(), context.now());
    let reading = move |tx: &ReadTx| {
        let made = store::all(tx, account)?.into_iter().find(|known| known.sign_in == Some(digest));
        Ok::<_, Failure>(made.map(|made| connection_view(&made, now)))
    };
    context.read(reading).await
}
