//! Starts a session for a browser. The dashboard's sign-in form calls this operation, which is not reachable over the network.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::secret::Secret;
use crate::engine::access::session_cache::SessionKind;
use crate::engine::api::response::WireTime;
use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, operator};
use crate::features::accounts::authenticate::{self, Credentials};
use crate::features::accounts::sessions;
use crate::vocab::codes::Code;

pub struct SignIn;

/// The user's credentials, and the browser's user agent.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SignInRequest {
    pub email: String,
    pub password: Secret,
    pub code: Option<String>,
    /// The user agent of the browser.
    pub agent: String,
}

/// The cookie that the browser stores.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cookie {
    pub token: String,
    pub expires_at: WireTime,
}

impl Operation for SignIn {
    const SPEC: Spec = Spec::post("accounts.sign_in", "/admin/sign-in", operator()).summary("Start a browser session").fails(&[
        Code::SignInFailed,
        Code::SecondFactorRequired,
        Code::RateLimitExceeded,
    ]);
    type Input = SignInRequest;
    type Output = Done<Cookie>;

    fn example() -> (Value, Self::Output) {
        let input = json!({ "email": "ada@example.com", "password": "correct horse battery", "agent": "Mozilla/5.0" });
        (input, Done(Cookie { token: "…".into(), expires_at: WireTime::sample() }))
    }
}

impl Async for SignIn {
    async fn run(context: Context, input: SignInRequest) -> Result<Self::Output, Failure> {
        let SignInRequest { email, password, code, agent } = input;
        let user = authenticate::verify(&context, &email, Credentials { password, code }).await?;
        let new = sessions::begin(&context, &user, SessionKind::Browser, &agent, Self::SPEC.id).await?;
        Ok(Done(Cookie { token: new.token.expose().clone(), expires_at: WireTime(new.session.expires_at) }))
    }
}
