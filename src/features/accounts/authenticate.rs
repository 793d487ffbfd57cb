//! Authentication: password, second factor, and limits on guessing. Every refusal looks the same and takes the same time.

use super::model::User;
use super::{password_hash, second_factor, sessions, store, user_store};
use crate::base::email::EmailAddress;
use crate::base::secret::Secret;
use crate::engine::access::throttle::{Rule, ThrottleKey};
use crate::engine::api::{Context, Failure, attempts};
use crate::engine::store::WriteTx;
use crate::vocab::codes::Code;
use crate::vocab::limits;

/// Limits attempts from one address, for any account.
pub const BY_ADDRESS: Rule = rule("sign-in by address");
/// Limits attempts for one account, from any address.
pub const BY_ACCOUNT: Rule = rule("sign-in by account");

const fn rule(name: &'static str) -> Rule {
    Rule {
        name,
        free: limits::SIGN_IN_TRIES_FREE,
        window_ms: limits::SIGN_IN_WINDOW_MS,
        wait_max_ms: limits::SIGN_IN_WAIT_MAX_MS,
    }
}

/// The credentials of a user.
pub struct Credentials {
    pub password: Secret,
    /// The code of the authenticator app, or a recovery code.
    pub code: Option<String>,
}

/// Returns the user with this email if the credentials are right.
pub async fn verify(context: &Context, email: &str, credentials: Credentials) -> Result<User, Failure> {
    let normalised = EmailAddress::parse(email).ok().map(|email| email.normalised());
    let name = normalised.clone().unwrap_or_else(|| email.chars().take(limits::AGENT_CHARACTERS_MAX).collect());
    let by_account: [ThrottleKey; 1] = [(&BY_ACCOUNT, name)];
    let by_address: Vec<ThrottleKey> =
        sessions::throttle_name(context.caller.peer).map(|address| (&BY_ADDRESS, address)).into_iter().collect();
    attempts::count(&context.engine, &[by_address.as_slice(), &by_account].concat()).await?;
    let tx = context.engine.control.read();
    let user = match &normalised {
        Some(normalised) => store::user_by_email(&tx, normalised)?,
        None => None,
    };
    drop(tx);
    // Without a user, the same work is done on a hash that no password matches.
    let is_right = password_hash::verify(credentials.password, user.as_ref().map(|user| user.password.clone())).await?;
    let user = user.filter(|_| is_right).ok_or_else(|| refused(context))?;
    let tx = context.engine.control.read();
    if user_store::second_factor(&tx, user.id)?.is_some_and(|factor| factor.is_confirmed) {
        let code = credentials.code.filter(|code| !code.trim().is_empty()).ok_or(Code::SecondFactorRequired)?;
        let (seal_context, id) = (context.engine.clone(), user.id);
        let write = move |tx: &mut WriteTx<'_>| second_factor::accept(tx, &seal_context.seal, id, &code);
        if !context.engine.control.write_essential(write).await?? {
            return Err(refused(context));
        }
    }
    // Only this attempt is forgiven for the address: otherwise the owner of one account could guess at others for free.
    attempts::forgive(&context.engine, &by_account, &by_address).await?;
    Ok(user)
}

fn refused(context: &Context) -> Failure {
    tracing::warn!(request = %context.envelope.request, address = ?sessions::address(context.caller.peer), "a sign-in was refused");
    Code::SignInFailed.into()
}
