//! Issues a token to a program that acts for a user. The program signs in with the user's credentials instead of using an API key.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::secret::Secret;
use crate::engine::access::session_cache::{SessionKind, UserSession};
use crate::engine::api::response::WireTime;
use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, public};
use crate::features::accounts::authenticate::{self, Credentials};
use crate::features::accounts::second_factor;
use crate::features::accounts::sessions;
use crate::features::accounts::user_views::SessionState;
use crate::vocab::codes::Code;
use crate::vocab::environment::Environment;

pub struct Login;

/// The user's credentials, and the environment of the token.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LoginRequest {
    pub email: String,
    pub password: Secret,
    /// The code from the authenticator app, or a recovery code. Required if the user has set up an app.
    pub code: Option<String>,
    /// The environment that the token works in. The default is `live`.
    pub environment: Option<Environment>,
}

/// A token, with details of its session.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoginToken {
    pub token: String,
    /// The type of the token; always `bearer`.
    pub token_type: String,
    pub expires_at: WireTime,
    pub session: SessionState,
}

impl Operation for Login {
    const SPEC: Spec = Spec::post("accounts.login", "/v1/auth/login", public())
        .summary("Sign in to get a token")
        .about(
            "The token is a JWT for the header Authorization: Bearer. The description of each operation says whether it accepts the \
             token. The token has the permissions of the user's role and stops working as soon as the user is removed or signs out. A \
             wrong email, password or code returns the same error. After several failed attempts, each further attempt requires a longer \
             wait, up to 60 seconds.",
        )
        .fails(&[Code::SignInFailed, Code::SecondFactorRequired, Code::RateLimitExceeded]);
    type Input = LoginRequest;
    type Output = Done<LoginToken>;

    fn example() -> (Value, Self::Output) {
        let token = LoginToken {
            token: "eyJhbGciOiJIUzI1NiIsInR5cCI6ImF0K2p3dCJ9.e30.c2lnbmF0dXJl".into(),
            token_type: "bearer".into(),
            expires_at: WireTime::sample(),
            session: SessionState::sample(),
        };
        (json!({ "email": "ada@example.com", "password": "correct horse battery", "environment": "live" }), Done(token))
    }
}

impl Async for Login {
    async fn run(context: Context, input: LoginRequest) -> Result<Self::Output, Failure> {
        let LoginRequest { email, password, code, environment } = input;
        let environment = environment.unwrap_or(Environment::Live);
        let user = authenticate::verify(&context, &email, Credentials { password, code }).await?;
        let new = sessions::begin(&context, &user, SessionKind::Program, "", Self::SPEC.id).await?;
        let (engine, now) = (&context.engine, context.now());
        let life = (now, sessions::token_life_ms(engine));
        let token = engine.tokens.sign(engine.base_url(), new.session.id.to_string(), Some(environment.word()), life);
        let person = engine.sessions.user(user.id).ok_or(Code::SignInFailed)?;
        let expires_at = WireTime(new.session.expires_at);
        let recovery_left = second_factor::recovery_left(&engine.control.read(), user.id)?;
        let session = SessionState::new(&UserSession { user: person, session: new.session, environment }, recovery_left, now);
        Ok(Done(LoginToken { token, token_type: "bearer".into(), expires_at, session }))
    }
}
