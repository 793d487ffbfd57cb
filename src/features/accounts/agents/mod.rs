//! Agents that request an API key from a user: the registration, the user's decision, and the key, which is returned once.
//!
//! Invariants: a granted request ends in the transaction that creates its key, so that only one of several concurrent polls receives the
//! key. The token, the code and the key are stored only as hashes. Only the user whose email the agent named can decide. They can grant
//! only permissions that they have themselves: this is checked when they grant and again when the agent fetches the key.

pub mod model;
pub mod oauth;
pub mod views;

use std::sync::Arc;

use serde_json::{Value, json};

use self::model::{Claim, Decision, KeyTerms, PollResult, SENSITIVE, State};
use super::model::NewKey;
use super::store::{self as accounts, claims};
use super::{api_keys, sessions};
use crate::base::email::EmailAddress;
use crate::base::secret::{Secret, random_code, sha256, typed_code};
use crate::engine::access::jwt::Tokens;
use crate::engine::access::session_cache::UserSession;
use crate::engine::access::throttle::{Rule, ThrottleKey};
use crate::engine::access::token;
use crate::engine::api::{Context, Engine, Failure, attempts};
use crate::engine::store::{Read, WriteTx};
use crate::vocab::codes::Code;
use crate::vocab::ids::ClaimId;
use crate::vocab::limits;
use crate::vocab::permissions::PermissionSet;

/// The number of groups of four characters in a code. Two groups have 34 random bits, which is enough because few attempts are allowed.
const CODE_GROUPS: usize = 2;
const HOUR_MS: i64 = 60 * 60 * 1000;
const MINUTE_MS: i64 = 60 * 1000;

/// Limits agent registrations from one network address.
pub const BY_ADDRESS: Rule = Rule { name: "agent by address", free: limits::CLAIMS_PER_HOUR, window_ms: HOUR_MS, wait_max_ms: 0 };
/// Limits agent registrations from all addresses of one IPv6 /48 network.
pub const BY_SITE: Rule = Rule { name: "agent by site", free: limits::CLAIMS_PER_SITE_HOUR, window_ms: HOUR_MS, wait_max_ms: 0 };
/// Limits agent registrations that name the same user.
pub const BY_PERSON: Rule = Rule { name: "agent by person", free: limits::CLAIMS_PER_HOUR, window_ms: HOUR_MS, wait_max_ms: 0 };
/// Limits how often agents poll from one network address.
pub const POLLS: Rule = Rule { name: "agent polls", free: limits::CLAIM_POLLS_PER_MINUTE, window_ms: MINUTE_MS, wait_max_ms: 0 };
/// Limits how often wrong codes can be entered by one user, or from one network address.
const GUESSES: Rule =
    Rule { name: "agent codes", free: limits::CLAIM_GUESSES_FREE, window_ms: limits::CLAIM_GUESS_WINDOW_MS, wait_max_ms: 0 };

/// Returns the grant type that agents send when they poll.
pub fn grant_type(engine: &Engine) -> String {
    format!("urn:{}:{GRANT_SUFFIX}", engine.settings.accounts.agent_vendor)
}

/// The end of the grant type. Any vendor prefix is accepted, because agents that were written for another service with this protocol send
/// the prefix of that service.
const GRANT_SUFFIX: &str = "agent-auth:grant-type:claim";

/// Returns whether `given` is the grant type for agents' polls, with any vendor prefix.
pub fn is_grant_type(given: &str) -> bool {
    let vendor =
        given.strip_prefix("urn:").and_then(|rest| rest.strip_suffix(GRANT_SUFFIX)).and_then(|rest| rest.strip_suffix(':'));
    vendor.is_some_and(|vendor| !vendor.is_empty() && !vendor.contains(':'))
}

/// Returns the signer and verifier of the tokens that agents poll with.
pub fn tokens(engine: &Engine) -> Tokens {
    Tokens::new(engine.seal.derive("mailmill claim tokens v1"), "claim+jwt", "mailmill-claims")
}

pub struct Registration {
    pub agent_name: String,
    pub login_hint: EmailAddress,
    pub requested: PermissionSet,
}

/// An agent's new request for a key (a claim), with the token and the code that only the agent receives.
pub struct NewClaim {
    pub claim: Claim,
    pub token: String,
    pub code: String,
}

/// Stores an agent's request for a key; returns `None` if too many requests are pending.
pub async fn register(context: &Context, registration: Registration) -> Result<Option<NewClaim>, Failure> {
    let engine = &context.engine;
    let (now, random) = (context.now(), engine.random.as_ref());
    let id = ClaimId::make(now, random);
    let token = tokens(engine).sign(engine.base_url(), id.to_string(), None, (now, limits::CLAIM_MS));
    let code = random_code(random, CODE_GROUPS);
    let claim = Claim {
        id,
        agent_name: registration.agent_name,
        login_hint: registration.login_hint.normalized(),
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
        let has_room = claims::has_room(tx)?;
        if has_room {
            claims::save(tx, &row)?;
        }
        Ok::<_, Failure>(has_room)
    };
    let written = engine.control.write(write).await??;
    Ok(written.then_some(NewClaim { claim, token, code }))
}

/// Issues another code for a pending request; returns `None` if the request is not pending, or if the maximum number of codes was already
/// issued for it.
pub async fn renew(context: &Context, token: &str) -> Result<Option<(Claim, String)>, Failure> {
    let engine = &context.engine;
    let Some(id) = claim_of(context, token) else { return Ok(None) };
    let code = random_code(engine.random.as_ref(), CODE_GROUPS);
    let (token, digest) = (sha256(token.as_bytes()), digest(&code));
    let write = move |tx: &mut WriteTx<'_>| {
        let claim = claims::find(tx, id)?.filter(|claim| claim.is_of(&token));
        let renewed = claim.and_then(|claim| claim.with_code(digest, tx.now()));
        if let Some(claim) = &renewed {
            claims::save(tx, claim)?;
        }
        Ok::<_, Failure>(renewed)
    };
    Ok(engine.control.write(write).await??.map(|claim| (claim, code)))
}

/// Returns the ID of the request that `token` belongs to, if this server issued the token and the token has not expired. Tokens expire
/// after an hour.
fn claim_of(context: &Context, token: &str) -> Option<ClaimId> {
    let claims = tokens(&context.engine).read(context.engine.base_url(), token)?;
    if claims.is_over(context.now()) { None } else { ClaimId::parse(&claims.sub) }
}

pub enum PollAnswer {
    Pending,
    Expired,
    Over,
    /// The request was granted. The key is returned only this one time.
    Key {
        text: Secret,
        granted: KeyTerms,
    },
}

/// Returns the result of a poll. Writes to the store only if the user has granted the request.
pub async fn poll(context: &Context, token: &str) -> Result<PollAnswer, Failure> {
    let Some(id) = claim_of(context, token) else { return Ok(PollAnswer::Over) };
    let digest = sha256(token.as_bytes());
    let poll = |tx: &_| Ok::<_, Failure>(find_own(tx, id, &digest)?.map_or(PollResult::Over, |claim| claim.poll(context.now())));
    match poll(&context.engine.control.read())? {
        PollResult::Pending => Ok(PollAnswer::Pending),
        PollResult::Expired => Ok(PollAnswer::Expired),
        PollResult::Over => Ok(PollAnswer::Over),
        PollResult::Grant(..) => issue_key(context, id, digest).await,
    }
}

fn find_own(tx: &impl Read, id: ClaimId, token: &[u8; 32]) -> Result<Option<Claim>, Failure> {
    Ok(claims::find(tx, id)?.filter(|claim| claim.is_of(token)))
}

/// Creates the key and ends the request, in one transaction. If the user may no longer grant the permissions, the request is denied
/// instead.
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
        // Check again inside the transaction: of several concurrent polls, only the first may create the key.
        let Some(claim) = find_own(tx, id, &digest)? else { return Ok(None) };
        let PollResult::Grant(decision, granted) = claim.poll(tx.now()) else { return Ok(None) };
        if !is_still_allowed(tx, &decision, &granted)? {
            // Denying is final: the request stays denied even if the user becomes a member again or regains the permissions.
            claims::save(tx, &Claim { state: State::Denied(decision), ..claim })?;
            return Ok(None);
        }
        let new = NewKey { name: granted.key_name.clone(), environment: granted.environment, permissions: granted.permissions };
        let key = api_keys::add_key(tx, decision.account, new, hash)?;
        api_keys::note_token(tx, &decision, key.id, envelope);
        claims::save(tx, &Claim { state: State::KeyIssued(decision, granted, key.id), ..claim })?;
        Ok::<_, Failure>(Some(key))
    };
    let Some(key) = engine.control.write(write).await?? else { return Ok(PollAnswer::Over) };
    if let Some(holder) = engine.keys.account_limits(key.account) {
        engine.keys.add(api_keys::cached_key(&key, holder));
    }
    Ok(PollAnswer::Key { text, granted })
}

/// Checks whether the signed-in user may grant the permissions `wanted` to an agent or client that requested `requested`. Sensitive
/// permissions require a recent sign-in.
pub fn check_terms(context: &Context, requested: PermissionSet, wanted: PermissionSet) -> Result<(), Failure> {
    let own = context.caller.principal.permissions();
    if wanted.is_empty() {
        return Err(Failure::field("permissions", "select at least one permission, or deny the request"));
    }
    if let Some(more) = wanted.iter().find(|permission| !requested.contains(*permission)) {
        return Err(Failure::field("permissions", format_args!("{more} was not requested; remove this permission")));
    }
    if let Some(more) = wanted.iter().find(|permission| !own.contains(*permission)) {
        return Err(Failure::field(
            "permissions",
            format_args!("you do not have the permission {more} yourself, so you cannot grant it; remove this permission"),
        ));
    }
    if SENSITIVE.iter().any(|permission| wanted.contains(*permission)) {
        context.caller.proven(context.now())?;
    }
    Ok(())
}

/// Returns whether the user who granted the request is still a member and still has the granted permissions.
pub fn is_still_allowed(tx: &impl Read, decision: &Decision, granted: &KeyTerms) -> Result<bool, Failure> {
    let user = accounts::user(tx, decision.user)?.filter(|user| user.account == decision.account);
    Ok(user.is_some_and(|user| {
        let own = user.role.permissions();
        granted.permissions.iter().all(|permission| own.contains(permission))
    }))
}

/// Returns the part of the response that contains the agent's code and the address of the page where the user must enter the code.
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

/// Returns the hash of a code, ignoring differences in how the user typed it.
pub fn digest(code: &str) -> [u8; 32] {
    sha256(typed_code(code).as_bytes())
}

/// Returns the open request with this code. Fails if there is none, or if the agent named an email other than that of `who`. Counts wrong
/// codes per user and per network address.
pub async fn open(context: &Context, who: &UserSession, code: &str) -> Result<Claim, Failure> {
    let now = context.now();
    let mut names: Vec<ThrottleKey> = vec![(&GUESSES, format!("user {}", who.user.id))];
    names.extend(sessions::throttle_name(context.caller.peer).map(|address| (&GUESSES, format!("address {address}"))));
    attempts::count(&context.engine, &names).await?;
    let digest = digest(code);
    let claim = claims::by_code(&context.engine.control.read(), digest)?;
    let claim = claim.filter(|claim| claim.is_open(&digest, now) && is_for(claim, who));
    let claim = claim.ok_or_else(|| {
        let detail =
            "None of your open requests has this code. Ask the agent for a new code. Only the user whose email address the agent entered \
             can see the request.";
        Failure::because(Code::NotFound, detail)
    })?;
    attempts::forgive(&context.engine, &[], &names).await?;
    Ok(claim)
}

/// Returns whether `who` is the user whose email the agent named.
pub fn is_for(claim: &Claim, who: &UserSession) -> bool {
    EmailAddress::stored(&who.user.email).is_some_and(|email| email.normalized() == claim.login_hint)
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
