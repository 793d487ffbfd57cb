//! Functions shared by the operations on members. They check whether a member can be changed and whether an email address is available, set
//! passwords, and create links.

use std::sync::Arc;

use super::model::{LINK_TOKEN_CHARACTERS, Password, ResetLink, User};
use super::user_views::LinkView;
use super::{api_keys, password_hash, sessions, store};
use crate::base::clock::Timestamp;
use crate::base::email::EmailAddress;
use crate::base::secret::{random_base62, sha256};
use crate::engine::api::response::WireTime;
use crate::engine::api::{Context, Engine, Failure};
use crate::engine::store::{Read, WriteTx};
use crate::features::accounts::store::sign_in;
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, SessionId, UserId};
use crate::vocab::limits;
use crate::vocab::roles::Role;

/// Returns the member with this ID; fails unless the user `own` may change that member.
pub fn changeable(tx: &impl Read, account: AccountId, own: UserId, id: UserId) -> Result<User, Failure> {
    let user = store::user(tx, id)?.filter(|user| user.account == account).ok_or(Code::NotFound)?;
    if user.role == Role::Owner {
        return Err(Failure::because(
            Code::WrongState,
            "The owner's role cannot be changed, and the owner cannot be removed. Choose another member.",
        ));
    }
    if user.id == own {
        return Err(Failure::because(
            Code::WrongState,
            "You cannot change or remove your own membership. Ask the owner or another admin.",
        ));
    }
    Ok(user)
}

/// Returns the normalized form of `email`; fails if a user already has this email. `remedy` completes the error message.
pub fn free_email(tx: &impl Read, email: &str, remedy: &str) -> Result<String, Failure> {
    let normalized = EmailAddress::parse(email).map_err(Failure::internal)?.normalized();
    if store::user_by_email(tx, &normalized)?.is_some() {
        return Err(Failure::because(Code::NameTaken, format!("A user with this email already exists; {remedy}.")));
    }
    Ok(normalized)
}

/// Fails if the account already has the maximum number of members.
pub fn require_room(tx: &impl Read, account: AccountId) -> Result<(), Failure> {
    let members = store::users(tx)?.iter().filter(|user| user.account == account).count();
    if members >= limits::MEMBERS_MAX {
        let detail = format!(
            "This account already has the maximum of {} members. The owner or an admin must remove a member first.",
            limits::MEMBERS_MAX
        );
        return Err(Failure::because(Code::LimitReached, detail));
    }
    Ok(())
}

/// Updates the cache after a member is added or changed. The caller must hold `CACHE_LOCK`.
pub fn update_cache(engine: &Engine, user: &User) -> Result<(), Failure> {
    let account = store::account_of(&engine.control.read(), user.account)?.ok_or(Code::NotFound)?;
    engine.sessions.set_user(api_keys::cached_user(user, api_keys::account_limits(engine, &account)));
    Ok(())
}

/// Returns the failure for a link that does not work. The failure is the same for every reason.
pub fn link_not_found() -> Failure {
    Failure::because(
        Code::NotFound,
        "This link does not work. It may have been used, replaced by a newer link, canceled or copied incompletely, or may have \
         expired. Open the newest link, or ask for a new one.",
    )
}

/// Creates the token of a new link; returns the token and the token's hash.
pub fn new_link(engine: &Engine) -> (String, [u8; 32]) {
    let token = random_base62(engine.random.as_ref(), LINK_TOKEN_CHARACTERS);
    let digest = sha256(token.as_bytes());
    (token, digest)
}

/// Saves a password-reset link and invalidates earlier links; returns when the new link expires.
pub fn save_reset(tx: &mut WriteTx<'_>, user: UserId, digest: [u8; 32]) -> Result<Timestamp, Failure> {
    sign_in::delete_reset_links(tx, user)?;
    let expires_at = tx.now().plus_ms(limits::RESET_LINK_MS);
    sign_in::save_reset_link(tx, digest, &ResetLink { user, expires_at });
    Ok(expires_at)
}

/// Returns the view of a password-reset link. No mail is sent: the person who requested the link must forward it to the user.
pub fn reset_view(engine: &Engine, token: &str, user: User, expires_at: Timestamp) -> LinkView {
    let link = format!("{}/reset/{token}", engine.base_url());
    LinkView { link, email: user.email, expires_at: WireTime(expires_at) }
}

/// Sets a user's password and ends all of the user's sessions except `kept`. `by_link` is the hash of the reset link to use up, if the user
/// followed a link.
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
            // Check again inside the transaction: of two concurrent uses of the link, only the first still finds it.
            sign_in::reset_link(tx, digest, tx.now())?.ok_or_else(link_not_found)?;
        }
        let user = store::user(tx, user)?.ok_or(Code::NotFound)?;
        sign_in::delete_reset_links(tx, user.id)?;
        sessions::end(tx, &inside, user.id, |session| Some(session.id) != kept);
        api_keys::note_audit(tx, operation, Some(&user), envelope);
        store::update_user(tx, &User { password, ..user });
        Ok::<_, Failure>(())
    };
    engine.control.write(write).await??;
    sessions::forget(engine, user, |session| Some(session.id) != kept);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::accounts::model::PasswordHash;
    use crate::testing::{START, TestApp};

    #[test]
    fn the_maximum_number_of_members_applies_to_each_account() {
        let (app, full) = (TestApp::new(), AccountId::from_bytes([9; 12]));
        let control = app.engine().control.clone();
        let written = control.write(move |tx| {
            for number in 0..limits::MEMBERS_MAX {
                let password = PasswordHash { memory_kib: 8, passes: 1, lanes: 1, salt: [0; 16], hash: [0; 32] };
                let (id, email) = (UserId::make(tx.now(), tx.random()), format!("user{number}@example.com"));
                let user = User {
                    id,
                    account: full,
                    email: email.clone(),
                    name: String::new(),
                    role: Role::Viewer,
                    password,
                    created_at: START,
                };
                store::save_user(tx, &user, &email);
            }
            Ok::<_, Failure>(())
        });
        app.wait(written).expect("the store works").expect("the write succeeds");
        let tx = control.read();
        assert!(require_room(&tx, app.account()).is_ok(), "another account has room");
        assert_eq!(
            free_email(&tx, "New@example.com", "use a different email").expect("no user has this email"),
            "new@example.com"
        );
        assert_eq!(require_room(&tx, full).expect_err("the account is full").code, Code::LimitReached);
        assert_eq!(
            free_email(&tx, "user1@example.com", "use a different email").expect_err("a user has this email").code,
            Code::NameTaken
        );
    }
}
