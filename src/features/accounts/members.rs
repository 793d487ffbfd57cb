//! Shared helpers of the operations on members: who may be changed, unused emails, new passwords, links.

use std::sync::Arc;

use super::model::{LINK_TOKEN_CHARACTERS, Password, ResetLink, User};
use super::user_views::LinkView;
use super::{api_keys, password_hash, sessions, store, user_store};
use crate::base::clock::Timestamp;
use crate::base::email::EmailAddress;
use crate::base::secret::{random_base62, sha256};
use crate::engine::api::response::WireTime;
use crate::engine::api::{Context, Engine, Failure};
use crate::engine::store::{Read, WriteTx};
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, SessionId, UserId};
use crate::vocab::limits;
use crate::vocab::roles::Role;

/// Returns the member with this id, if `own` may change them.
pub fn changeable(tx: &impl Read, account: AccountId, own: UserId, id: UserId) -> Result<User, Failure> {
    let user = store::user(tx, id)?.filter(|user| user.account == account).ok_or(Code::NotFound)?;
    if user.role == Role::Owner {
        return Err(Failure::because(Code::WrongState, "The owner's role cannot be changed, and the owner cannot be removed."));
    }
    if user.id == own {
        return Err(Failure::because(Code::WrongState, "You cannot do this for yourself; ask the owner or another admin."));
    }
    Ok(user)
}

/// Returns the normalized form of an email that no user signs in with yet.
pub fn free_email(tx: &impl Read, email: &str) -> Result<String, Failure> {
    let normalised = EmailAddress::parse(email).map_err(Failure::internal)?.normalised();
    if store::user_by_email(tx, &normalised)?.is_some() {
        return Err(Failure::because(Code::NameTaken, "A user already signs in with this email."));
    }
    if store::users(tx)?.len() >= limits::MEMBERS_MAX {
        return Err(Failure::because(Code::NameTaken, "The maximum number of users is reached; remove one first."));
    }
    Ok(normalised)
}

/// Updates the cache after a member changed. The caller holds `CACHE_LOCK`.
pub fn update_cache(engine: &Engine, user: &User) -> Result<(), Failure> {
    let account = store::account_of(&engine.control.read(), user.account)?.ok_or(Code::NotFound)?;
    engine.sessions.set_user(api_keys::cached_user(user, api_keys::account_limits(engine, &account)));
    Ok(())
}

/// The failure for a link that does not work, whatever the reason.
pub fn link_not_found() -> Failure {
    Failure::because(
        Code::NotFound,
        "The link does not work: it was already used, it has expired, or it was not copied completely.",
    )
}

/// Returns the token of a new link and its hash.
pub fn new_link(engine: &Engine) -> (String, [u8; 32]) {
    let token = random_base62(engine.random.as_ref(), LINK_TOKEN_CHARACTERS);
    let digest = sha256(token.as_bytes());
    (token, digest)
}

/// Saves a password-reset link and invalidates earlier ones; returns when it expires.
pub fn save_reset(tx: &mut WriteTx<'_>, user: UserId, digest: [u8; 32]) -> Result<Timestamp, Failure> {
    user_store::delete_reset_links(tx, user)?;
    let expires_at = tx.now().plus_ms(limits::RESET_LINK_MS);
    user_store::save_reset_link(tx, digest, &ResetLink { user, expires_at });
    Ok(expires_at)
}

/// Returns a password-reset link to pass on.
pub fn reset_view(engine: &Engine, token: &str, user: User, expires_at: Timestamp) -> LinkView {
    let link = format!("{}/reset/{token}", engine.base_url());
    LinkView { link, email: user.email, expires_at: WireTime(expires_at) }
}

/// Sets a user's password and ends all their sessions except `kept`. `by_link` is the hash of the link that this uses up.
pub async fn set_password(
    context: &Context,
    user: UserId,
    password: Password,
    kept: Option<SessionId>,
    operation: &'static str,
    by_link: Option<[u8; 32]>,
) -> Result<(), Failure> {
    let engine: &Arc<Engine> = &context.engine;
    let email = store::user(&engine.control.read(), user)?.ok_or(Code::NotFound)?.email;
    let password = password_hash::hash(password, &email, engine.random.as_ref()).await?;
    let _turn = api_keys::CACHE_LOCK.lock().await;
    let (inside, envelope) = (engine.clone(), context.envelope);
    let write = move |tx: &mut WriteTx<'_>| {
        if let Some(digest) = by_link {
            // Checked again inside the transaction: of two concurrent uses, only one still finds the link.
            user_store::reset_link(tx, digest, tx.now())?.ok_or_else(link_not_found)?;
        }
        let user = store::user(tx, user)?.ok_or(Code::NotFound)?;
        user_store::delete_reset_links(tx, user.id)?;
        sessions::end(tx, &inside, user.id, |session| Some(session.id) != kept);
        api_keys::note_audit(tx, operation, Some(&user), envelope);
        store::update_user(tx, &User { password, ..user });
        Ok::<_, Failure>(())
    };
    engine.control.write(write).await??;
    sessions::forget(engine, user, |session| Some(session.id) != kept);
    Ok(())
}
