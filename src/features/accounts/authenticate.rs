//! Authentication: password, second factor, and limits on attempts to guess them. An unknown email and a wrong password get the same error
//! after about the same time.

use super::model::User;
use super::{password_hash, second_factor, sessions, store};
use crate::base::email::EmailAddress;
use crate::base::secret::Secret;
use crate::engine::access::throttle::{Rule, ThrottleKey};
use crate::engine::api::{Context, Failure, attempts};
use crate::engine::store::WriteTx;
use crate::features::accounts::store::sign_in;
use crate::vocab::codes::Code;
use crate::vocab::limits;

/// Limits sign-in attempts from one network address, for any user.
pub const BY_ADDRESS: Rule = rule("sign-in by address");
/// Limits sign-in attempts for one user, from any network address.
pub const BY_ACCOUNT: Rule = rule("sign-in by account");

const fn rule(name: &'static str) -> Rule {
    Rule {
        name,
        free: limits::SIGN_IN_TRIES_FREE,
        window_ms: limits::SIGN_IN_WINDOW_MS,
        wait_max_ms: limits::SIGN_IN_WAIT_MAX_MS,
    }
}

pub struct Credentials {
    pub password: Secret,
    /// The code from the authenticator app, or a recovery code.
    pub code: Option<String>,
}

/// Returns the user with this email; fails unless the credentials are correct.
pub async fn verify(context: &Context, email: &str, credentials: Credentials) -> Result<User, Failure> {
    let normalized = EmailAddress::parse(email).ok().map(|email| email.normalized());
    let name = normalized.clone().unwrap_or_else(|| email.chars().take(limits::AGENT_CHARACTERS_MAX).collect());
    let by_account: [ThrottleKey; 1] = [(&BY_ACCOUNT, name)];
    let by_address: Vec<ThrottleKey> =
        sessions::throttle_name(context.caller.peer).map(|address| (&BY_ADDRESS, address)).into_iter().collect();
    attempts::count(&context.engine, &[by_address.as_slice(), &by_account].concat()).await?;
    let tx = context.engine.control.read();
    let user = match &normalized {
        Some(normalized) => store::user_by_email(&tx, normalized)?,
        None => None,
    };
    drop(tx);
    // If no user has this email, verify the password against a hash that no password matches, which takes about as long.
    let is_right = password_hash::verify(credentials.password, user.as_ref().map(|user| user.password.clone())).await?;
    let user = user.filter(|_| is_right).ok_or_else(|| refused(context))?;
    let tx = context.engine.control.read();
    if sign_in::second_factor(&tx, user.id)?.is_some_and(|factor| factor.is_confirmed) {
        let code = credentials.code.filter(|code| !code.trim().is_empty()).ok_or(Code::SecondFactorRequired)?;
        let (seal_context, id) = (context.engine.clone(), user.id);
        let write = move |tx: &mut WriteTx<'_>| second_factor::accept(tx, &seal_context.seal, id, &code);
        if !context.engine.control.write_essential(write).await?? {
            return Err(refused(context));
        }
    }
    // In the count for the address, undo only this attempt. If a success reset that count, a user could guess the passwords of
    // other users without limit.
    attempts::forgive(&context.engine, &by_account, &by_address).await?;
    Ok(user)
}

fn refused(context: &Context) -> Failure {
    tracing::warn!(request = %context.envelope.request, address = ?sessions::address(context.caller.peer), "a sign-in attempt was refused");
    Code::SignInFailed.into()
}
