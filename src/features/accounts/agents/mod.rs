//! Agents that request an API key from a user: the registration, the user's decision, and the key, which is handed out once.
//!
//! Invariants: the transaction that ends the request also creates the key, so that only one of many concurrent polls gets it. The token,
//! the code and the key are stored only as hashes. Only the user whose email the agent named can decide, and they can grant only
//! permissions that they have themselves, both when granting and when the agent fetches the key. This module does not know how users sign
//! in.

pub mod model;
pub mod oauth;
pub mod store;
pub mod views;

use std::sync::Arc;

use serde_json::{Value, json};

use self::model::{Claim, Decision, KeyTerms, PollResult, State};
use super::model::NewKey;
use super::{api_keys, sessions, store as accounts};
use crate::base::email::EmailAddress;
use crate::base::secret::{Secret, random_code, sha256, typed_code};
use crate::engine::access::audit::{self, AuditRecord};
use crate::engine::access::jwt::Tokens;
use crate::engine::access::session_cache::UserSession;
use crate::engine::access::throttle::{Rule, ThrottleKey};
use crate::engine::access::token;
use crate::engine::api::{Context, Engine, Failure, attempts};
use crate::engine::store::{Read, WriteTx};
use crate::vocab::codes::Code;
use crate::vocab::ids::ClaimId;
use crate::vocab::limits;

/// Two groups of four characters: 34 random bits, with few attempts allowed.
const CODE_GROUPS: usize = 2;
const HOUR_MS: i64 = 60 * 60 * 1000;
const MINUTE_MS: i64 = 60 * 1000;

/// Limits registrations from one address.
pub const BY_ADDRESS: Rule = Rule { name: "agent by address", free: limits::CLAIMS_PER_HOUR, window_ms: HOUR_MS, wait_max_ms: 0 };
/// Limits registrations from all addresses of one site.
pub const BY_SITE: Rule = Rule { name: "agent by site", free: limits::CLAIMS_PER_SITE_HOUR, window_ms: HOUR_MS, wait_max_ms: 0 };
/// Limits registrations that name one user.
pub const BY_PERSON: Rule = Rule { name: "agent by person", free: limits::CLAIMS_PER_HOUR, window_ms: HOUR_MS, wait_max_ms: 0 };
/// Limits polls from one address.
pub const POLLS: Rule = Rule { name: "agent polls", free: limits::CLAIM_POLLS_PER_MINUTE, window_ms: MINUTE_MS, wait_max_ms: 0 };
/// Limits wrong codes.
const GUESSES: Rule =
    Rule { name: "agent codes", free: limits::CLAIM_GUESSES_FREE, window_ms: limits::CLAIM_GUESS_WINDOW_MS, wait_max_ms: 0 };

/// The grant type that agents poll with.
pub fn grant_type(engine: &Engine) -> String {
    format!("urn:{}:{GRANT_SUFFIX}", engine.settings.accounts.agent_vendor)
}

/// The vendor part before it can be anything: agents that know the protocol from another service mean the same.
const GRANT_SUFFIX: &str = "agent-auth:grant-type:claim";

/// Returns whether this is the grant type of the protocol.
pub fn is_grant_type(given: &str) -> bool {
    let vendor =
        given.strip_prefix("urn:").and_then(|rest| rest.strip_suffix(GRANT_SUFFIX)).and_then(|rest| rest.strip_suffix(':'));
    vendor.is_some_and(|vendor| !vendor.is_empty() && !vendor.contains(':'))
}

/// Returns the signer and reader of the tokens that agents poll with.
pub fn tokens(engine: &Engine) -> Tokens {
    Tokens::new(engine.seal.derive("mailmill claim tokens v1"), "claim+jwt", "mailmill-claims")
}

/// An agent's registration.
pub struct Registration {
    pub agent_name: String,
    pub login_hint: EmailAddress,
    pub requested: crate::vocab::permissions::PermissionSet,
}

/// A new claim, with the token and the code that only its agent gets.
pub struct NewClaim {
    pub claim: Claim,
    pub token: String,
    pub code: String,
}

/// Stores an agent's request; `None` if too many are pending.
pub async fn register(context: &Context, registration: Registration) -> Result<Option<NewClaim>, Failure> {
    let engine = &context.engine;
    let (now, random) = (context.now(), engine.random.as_ref());
    let id = ClaimId::make(now, random);
    let token = tokens(engine).sign(engine.base_url(), id.to_string(), None, (now, limits::CLAIM_MS));
    let code = random_code(random, CODE_GROUPS);
    let claim = Claim {
        id,
        agent_name: registration.agent_name,
        login_hint: registration.login_hint.normalised(),
        requested: registration.requested,
        token: sha256(token.as_bytes()),
        code: digest(&code),
        code_expires_at: now.plus_ms(limits::CLAIM_CODE_MS),
        codes: 1,
        created_at: now,
        expires_at: now.plus_ms(limits::CLAIM_MS),
        state: State::Waiting,
    };
    let row = claim.clone();
    let write = move |tx: &mut WriteTx<'_>| {
        let has_room = store::has_room(tx)?;
        if has_room {
            store::save(tx, &row)?;
        }
        Ok::<_, Failure>(has_room)
    };
    let written = engine.control.write(write).await??;
    Ok(written.then_some(NewClaim { claim, token, code }))
}

/// Issues another code for a pending request; `None` if it is not pending.
pub async fn renew(context: &Context, token: &str) -> Result<Option<(Claim, String)>, Failure> {
    let engine = &context.engine;
    let Some(id) = claim_of(context, token) else { return Ok(None) };
    let code = random_code(engine.random.as_ref(), CODE_GROUPS);
    let (token, digest) = (sha256(token.as_bytes()), digest(&code));
    let write = move |tx: &mut WriteTx<'_>| {
        let claim = store::find(tx, id)?.filter(|claim| claim.is_of(&token));
        let renewed = claim.and_then(|claim| claim.with_code(digest, tx.now()));
        if let Some(claim) = &renewed {
            store::save(tx, claim)?;
        }
        Ok::<_, Failure>(renewed)
    };
    Ok(engine.control.write(write).await??.map(|claim| (claim, code)))
}

/// Returns the request that a token belongs to, if we issued it and its hour has not passed.
fn claim_of(context: &Context, token: &str) -> Option<ClaimId> {
    let claims = tokens(&context.engine).read(context.engine.base_url(), token)?;
    if claims.is_over(context.now()) { None } else { ClaimId::parse(&claims.sub) }
}

/// The result of a poll.
pub enum PollAnswer {
    Pending,
    Expired,
    Over,
    /// The key, returned this one time.
    Key {
        text: Secret,
        granted: KeyTerms,
    },
}

/// Answers a poll. Writes only if there is a key to hand out.
pub async fn poll(context: &Context, token: &str) -> Result<PollAnswer, Failure> {
    let Some(id) = claim_of(context, token) else { return Ok(PollAnswer::Over) };
    let digest = sha256(token.as_bytes());
    let look = |tx: &_| Ok::<_, Failure>(find_own(tx, id, &digest)?.map_or(PollResult::Over, |claim| claim.poll(context.now())));
    match look(&context.engine.control.read())? {
        PollResult::Pending => Ok(PollAnswer::Pending),
        PollResult::Expired => Ok(PollAnswer::Expired),
        PollResult::Over => Ok(PollAnswer::Over),
        PollResult::Grant(..) => issue_key(context, id, digest).await,
    }
}

fn find_own(tx: &impl Read, id: ClaimId, token: &[u8; 32]) -> Result<Option<Claim>, Failure> {
    Ok(store::find(tx, id)?.filter(|claim| claim.is_of(token)))
}

/// Creates the key and ends the request, in one transaction.
async fn issue_key(context: &Context, id: ClaimId, digest: [u8; 32]) -> Result<PollAnswer, Failure> {
    let engine: &Arc<Engine> = &context.engine;
    let _turn = api_keys::CACHE_LOCK.lock().await;
    let Some(PollResult::Grant(_, granted)) =
        find_own(&engine.control.read(), id, &digest)?.map(|claim| claim.poll(context.now()))
    else {
        return Ok(PollAnswer::Over);
    };
    let text = token::create(granted.environment, engine.random.as_ref());
    let (hash, envelope) = (sha256(text.expose().as_bytes()), context.envelope);
    let write = move |tx: &mut WriteTx<'_>| {
        // Checked again inside the transaction: of concurrent polls, only one still finds it.
        let Some(claim) = find_own(tx, id, &digest)? else { return Ok(None) };
        let PollResult::Grant(decision, granted) = claim.poll(tx.now()) else { return Ok(None) };
        if !is_still_allowed(tx, &decision, &granted)? {
            // Final: the request stays denied even if the user returns or regains the permissions.
            store::save(tx, &Claim { state: State::Denied(decision), ..claim })?;
            return Ok(None);
        }
        let new = NewKey { name: granted.key_name.clone(), environment: granted.environment, permissions: granted.permissions };
        let key = api_keys::add_key(tx, decision.account, new, hash)?;
        let (account, user) = (Some(decision.account), Some(decision.user));
        let act = AuditRecord {
            operation: "accounts.token".into(),
            key: Some(key.id),
            user,
            account,
            request: envelope.request.to_string(),
        };
        audit::note(tx, envelope.request.number, &act);
        store::save(tx, &Claim { state: State::KeyIssued(decision, granted, key.id), ..claim })?;
        Ok::<_, Failure>(Some(key))
    };
    let Some(key) = engine.control.write(write).await?? else { return Ok(PollAnswer::Over) };
    if let Some(holder) = engine.keys.account_limits(key.account) {
        engine.keys.add(api_keys::cached_key(&key, holder));
    }
    Ok(PollAnswer::Key { text, granted })
}

/// Returns whether the user who granted this is still a member and still has the granted permissions.
fn is_still_allowed(tx: &impl Read, decision: &Decision, granted: &KeyTerms) -> Result<bool, Failure> {
    let user = accounts::user(tx, decision.user)?.filter(|user| user.account == decision.account);
    Ok(user.is_some_and(|user| {
        let own = user.role.permissions();
        granted.permissions.iter().all(|permission| own.contains(permission))
    }))
}

/// Returns the code and where to enter it, as the agent gets them.
pub fn code_answer(context: &Context, claim: &Claim, code: &str) -> Value {
    let page = format!("{}/agent", context.engine.base_url());
    json!({
        "user_code": code,
        "verification_uri": page,
        "verification_uri_complete": format!("{page}?code={code}"),
        "expires_in": claim.code_expires_at.ms_since(context.now()) / 1000,
        "interval": limits::CLAIM_POLL_SECONDS,
    })
}

/// Returns the hash of a code, however it was typed.
pub fn digest(code: &str) -> [u8; 32] {
    sha256(typed_code(code).as_bytes())
}

/// Returns the open request with this code, if it is for this user. Counts wrong codes, by user and by address.
pub async fn open(context: &Context, who: &UserSession, code: &str) -> Result<Claim, Failure> {
    let now = context.now();
    let mut names: Vec<ThrottleKey> = vec![(&GUESSES, format!("user {}", who.user.id))];
    names.extend(sessions::throttle_name(context.caller.peer).map(|address| (&GUESSES, format!("address {address}"))));
    attempts::count(&context.engine, &names).await?;
    let digest = digest(code);
    let claim = store::by_code(&context.engine.control.read(), digest)?;
    let claim = claim.filter(|claim| claim.is_open(&digest, now) && is_for(claim, who));
    let claim = claim.ok_or_else(|| {
        let detail =
            "There is no open request with this code for you; ask the agent for a new code. Only the user it named can see it.";
        Failure::because(Code::NotFound, detail)
    })?;
    attempts::forgive(&context.engine, &[], &names).await?;
    Ok(claim)
}

/// Returns whether this is the user that the agent named.
pub fn is_for(claim: &Claim, who: &UserSession) -> bool {
    EmailAddress::stored(&who.user.email).is_some_and(|email| email.normalised() == claim.login_hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grant_type_is_recognized_by_its_suffix() {
        for right in ["urn:mailmill:agent-auth:grant-type:claim", "urn:other:agent-auth:grant-type:claim"] {
            assert!(is_grant_type(right), "{right}");
        }
        for wrong in
            ["", "claim", "urn::agent-auth:grant-type:claim", "urn:a:b:agent-auth:grant-type:claim", "authorization_code"]
        {
            assert!(!is_grant_type(wrong), "{wrong}");
        }
    }
}
