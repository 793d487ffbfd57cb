//! Clients that act for a user, such as AI assistants: OAuth 2.1 with PKCE, from the user's consent to the end of the access.
//!
//! A user's consent creates a code, the code is exchanged for a grant, and the grant has an API key whose text is discarded. In place of
//! this key, the client gets an access token, which only the MCP server accepts, and a refresh token for the next access token. The key
//! appears in the list of keys, and revoking it ends the grant.
//!
//! Invariants: codes and tokens are stored only as hashes. A code works once; its second use revokes the key. A refresh token is replaced
//! at every use, but the replaced token still works for a short grace period, because clients refresh from several processes at once and
//! repeat requests whose response was lost. A use after the grace period revokes the key, because the token may have been stolen. The
//! user's permissions are checked at the consent, at the exchange of the code, and at each refresh.

pub mod clients;
pub mod model;
pub mod request;

use self::model::{Binding, Code, Grant, RefreshRow};
use super::agents::model::{Decision, KeyTerms};
use super::model::NewKey;
use super::store::{self as accounts, grants};
use super::{agents, api_keys};
use crate::base::secret::{Secret, random_base62, same, sha256};
use crate::engine::access::access_tokens;
use crate::engine::access::audit::AuditRecord;
use crate::engine::access::throttle::Rule;
use crate::engine::api::{Context, Engine, Failure, Spec};
use crate::engine::store::{self as engine_store, Read, WriteTx};
use crate::vocab::ids::{AccountId, KeyId, UserId};
use crate::vocab::limits;
use crate::vocab::permissions::{PermissionError, PermissionSet};
use request::CheckedRequest;

const HOUR_MS: i64 = 60 * 60 * 1000;
/// Limits registrations of clients from one network address.
pub const REGISTRATIONS: Rule =
    Rule { name: "client registrations", free: limits::CLIENTS_PER_HOUR, window_ms: HOUR_MS, wait_max_ms: 0 };

const REFRESH_PREFIX: &str = "mm_rt_";
/// The number of random characters in codes and tokens, which together have 256 random bits.
const RANDOM_CHARACTERS: usize = 43;

fn secret(engine: &Engine, prefix: &str) -> Secret {
    Secret::new(format!("{prefix}{}", random_base62(engine.random.as_ref(), RANDOM_CHARACTERS)))
}

/// Stores the user's consent, and returns the code. The audit log records the operation `spec`.
pub async fn consent(
    context: &Context,
    spec: &'static Spec,
    request: &CheckedRequest,
    (decision, terms): (Decision, KeyTerms),
) -> Result<Secret, Failure> {
    let code = secret(&context.engine, "mm_code_");
    let hash = sha256(code.expose().as_bytes());
    let row = Code {
        binding: request.binding.clone(),
        redirect_uri: request.given_redirect_uri.clone(),
        challenge: request.challenge,
        decision,
        terms,
        expires_at: context.now().plus_ms(limits::OAUTH_CODE_MS),
        key: None,
    };
    let write = move |tx: &mut WriteTx<'_>| {
        grants::save_code(tx, hash, &row);
        Ok::<_, Failure>(())
    };
    context.write(spec, write).await?;
    Ok(code)
}

/// New tokens of a grant, which are returned once.
pub struct Tokens {
    pub access: Secret,
    pub refresh: Secret,
    pub permissions: PermissionSet,
}

/// Why a client receives no tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The code or the refresh token is not valid.
    Grant,
    /// The requested scope is not valid, for this reason.
    Scope(String),
}

/// The parameters with which a client exchanges its code at the token endpoint.
pub struct Exchange {
    pub code: String,
    pub client_id: String,
    pub redirect_uri: String,
    pub verifier: String,
    /// The URL of the resource that the client wants to access (RFC 8707), if the request contains it.
    pub resource: Option<String>,
}

/// The parameters with which a client exchanges its refresh token.
pub struct Renewal {
    pub refresh_token: String,
    pub client_id: String,
    /// The new access token's permissions; by default, all permissions of the grant (RFC 6749 §6).
    pub scope: Option<String>,
    /// The URL of the resource that the client wants to access (RFC 8707), if the request contains it.
    pub resource: Option<String>,
}

/// The result of exchanging a code or a refresh token. `Done` contains the grant with a new access token, the permissions of this token,
/// and the hashes of the access tokens that no longer work. `UsedTwice` contains the key to revoke, because the code or refresh token was
/// used twice.
enum Step {
    Done { grant: Box<Grant>, permissions: PermissionSet, ended: Vec<[u8; 32]> },
    Refused(Refusal),
    UsedTwice(KeyId),
}

/// Exchanges a code for tokens. The inner error is the refusal to report to the client.
pub async fn exchange(context: &Context, given: Exchange) -> Result<Result<Tokens, Refusal>, Failure> {
    let engine = &context.engine;
    let turn = api_keys::CACHE_LOCK.lock().await;
    let (access, refresh) = (secret(engine, access_tokens::PREFIX), secret(engine, REFRESH_PREFIX));
    let (access_hash, refresh_hash) = (hash(&access), hash(&refresh));
    // The text of this key is discarded, so requests can use the key only through a token.
    let key_hash: [u8; 32] = sha256(secret(engine, "").expose().as_bytes());
    let envelope = context.envelope;
    let write = move |tx: &mut WriteTx<'_>| {
        let code_hash = sha256(given.code.as_bytes());
        let Some(code) = grants::code(tx, code_hash)? else { return Ok(Step::Refused(Refusal::Grant)) };
        if !code.is_of(&given.client_id, &given.redirect_uri, &given.verifier)
            || !is_for(&code.binding, given.resource.as_deref())
        {
            return Ok(Step::Refused(Refusal::Grant));
        }
        if let Some(key) = code.key {
            return Ok(Step::UsedTwice(key));
        }
        if code.expires_at <= tx.now() || !agents::is_still_allowed(tx, &code.decision, &code.terms)? {
            return Ok(Step::Refused(Refusal::Grant));
        }
        let KeyTerms { permissions, environment, key_name } = code.terms.clone();
        let key = api_keys::add_key(tx, code.decision.account, NewKey { name: key_name, environment, permissions }, key_hash)?;
        let mut grant = Grant {
            binding: code.binding.clone(),
            key: key.id,
            key_hash,
            decision: code.decision.clone(),
            terms: code.terms.clone(),
            access: Vec::new(),
            refresh_expires_at: tx.now(),
        };
        let ended = grant.renew(access_hash, permissions, tx.now());
        api_keys::note_token(tx, &code.decision, key.id, envelope);
        grants::save(tx, &grant);
        grants::save_refresh(tx, refresh_hash, &RefreshRow::new(key.id, tx.now()));
        grants::save_code(tx, code_hash, &Code { key: Some(key.id), ..code });
        Ok::<_, Failure>(Step::Done { grant: Box::new(grant), permissions, ended })
    };
    let step = engine.control.write(write).await??;
    if let Step::Done { grant, .. } = &step
        && let Some(account_limits) = engine.keys.account_limits(grant.decision.account)
        && let Some(key) = accounts::key(&engine.control.read(), grant.key)?
    {
        engine.keys.add(api_keys::cached_key(&key, account_limits));
    }
    drop(turn);
    finish(context, step, access, refresh).await
}

/// Exchanges a refresh token for new tokens. The inner error is the refusal to report to the client.
pub async fn refresh(context: &Context, given: Renewal) -> Result<Result<Tokens, Refusal>, Failure> {
    let engine = &context.engine;
    let (access, refresh) = (secret(engine, access_tokens::PREFIX), secret(engine, REFRESH_PREFIX));
    let (access_hash, refresh_hash) = (hash(&access), hash(&refresh));
    let (old, client) = (sha256(given.refresh_token.as_bytes()), sha256(given.client_id.as_bytes()));
    // Refuse a grant that was made for an earlier URL of this server. New tokens of such a grant would not be accepted, so the client must
    // request access again.
    let own = access_tokens::resource(engine.base_url());
    let write = move |tx: &mut WriteTx<'_>| {
        let (refused, now) = (Step::Refused(Refusal::Grant), tx.now());
        let Some((row, mut grant)) = grants::by_refresh(tx, old)? else { return Ok(refused) };
        let is_own = same(&grant.binding.client, &client) && grant.binding.resource == own;
        if !is_own || !is_for(&grant.binding, given.resource.as_deref()) {
            return Ok(refused);
        }
        if row.is_used_up(now) {
            return Ok(Step::UsedTwice(grant.key));
        }
        let works = accounts::key(tx, grant.key)?.is_some_and(|key| key.revoked_at.is_none());
        if !works || row.expires_at <= now || !agents::is_still_allowed(tx, &grant.decision, &grant.terms)? {
            return Ok(refused);
        }
        let permissions = match requested(given.scope.as_deref(), grant.terms.permissions) {
            Ok(permissions) => permissions,
            Err(reason) => return Ok(Step::Refused(Refusal::Scope(reason))),
        };
        let ended = grant.renew(access_hash, permissions, now);
        grants::save(tx, &grant);
        grants::save_refresh(tx, old, &row.replaced(now));
        grants::save_refresh(tx, refresh_hash, &RefreshRow::new(grant.key, now));
        Ok::<_, Failure>(Step::Done { grant: Box::new(grant), permissions, ended })
    };
    let step = engine.control.write(write).await??;
    finish(context, step, access, refresh).await
}

/// Returns the permissions that a scope requests, all of which must have been granted. Without a scope, or with an empty one, returns
/// all granted permissions.
fn requested(scope: Option<&str>, granted: PermissionSet) -> Result<PermissionSet, String> {
    let Some(scope) = scope else { return Ok(granted) };
    let wanted: PermissionSet = scope.parse().map_err(|error: PermissionError| error.to_string())?;
    match wanted.iter().find(|permission| !granted.contains(*permission)) {
        Some(permission) => Err(format!("the user has not granted {permission}; request access again to get more permissions")),
        None if wanted.is_empty() => Ok(granted),
        None => Ok(wanted),
    }
}

/// Completes an exchange after its commit: updates the cache, or revokes the key if the code or token was used twice. Returns the tokens or
/// the refusal.
async fn finish(context: &Context, step: Step, access: Secret, refresh: Secret) -> Result<Result<Tokens, Refusal>, Failure> {
    let engine = &context.engine;
    match step {
        Step::Refused(refusal) => Ok(Err(refusal)),
        Step::UsedTwice(key) => {
            tracing::warn!(request = %context.envelope.request, %key, "a code or refresh token was used twice; the key is revoked");
            end(context, key).await?;
            Ok(Err(Refusal::Grant))
        }
        Step::Done { grant, permissions, ended } => {
            ended.iter().for_each(|hash| engine.access_tokens.remove(hash));
            let new = grant.access_tokens().find(|(hash, _)| *hash == self::hash(&access));
            let (hash, token) = new.expect("the grant has the new token");
            engine.access_tokens.add(hash, token, context.now());
            Ok(Ok(Tokens { access, refresh, permissions }))
        }
    }
}

/// Ends the grant of `token` (RFC 7009). Does nothing if the token is unknown, or if the grant does not belong to this client.
pub async fn revoke(context: &Context, token: &str, client_id: &str) -> Result<(), Failure> {
    let engine = &context.engine;
    let resource = access_tokens::resource(engine.base_url());
    let access = engine.access_tokens.find(token, &resource, context.now());
    let key = access.and_then(|access| engine.keys.by_hash(&access.key));
    let tx = engine.control.read();
    let grant = match key {
        Some(key) => grants::find(&tx, key.id)?,
        None => grants::by_refresh(&tx, sha256(token.as_bytes()))?.map(|(_, grant)| grant),
    };
    drop(tx);
    match grant.filter(|grant| same(&grant.binding.client, &sha256(client_id.as_bytes()))) {
        Some(grant) => end(context, grant.key).await,
        None => Ok(()),
    }
}

/// Revokes the key of a grant, if it is not revoked yet. The grant's tokens then no longer work.
async fn end(context: &Context, key: KeyId) -> Result<(), Failure> {
    let engine = &context.engine;
    let row = accounts::key(&engine.control.read(), key)?;
    if let Some(row) = row.filter(|row| row.revoked_at.is_none()) {
        let act = AuditRecord {
            operation: "accounts.token_revoke".into(),
            key: Some(key),
            user: None,
            account: Some(row.account),
            request: context.envelope.request.to_string(),
        };
        api_keys::revoke_key(engine, Some(row.account), key.to_string(), (act, context.envelope)).await?;
    }
    Ok(())
}

/// Revokes the keys of all grants that a user made in the account, in the transaction that removes the user. Returns these grants, for
/// [`forget`]. The caller must hold `CACHE_LOCK`.
pub fn end_all_of_user(tx: &mut WriteTx<'_>, engine: &Engine, account: AccountId, user: UserId) -> Result<Vec<Grant>, Failure> {
    let counted = engine.keys.all();
    let mut own = grants::all(tx)?;
    own.retain(|grant| grant.decision.account == account && grant.decision.user == user);
    for grant in &own {
        if let Some(key) = accounts::key(tx, grant.key)?.filter(|key| key.revoked_at.is_none()) {
            api_keys::mark_revoked(tx, key, &counted)?;
        }
    }
    Ok(own)
}

/// Removes ended grants from the caches, after the commit, so that their tokens no longer work.
pub fn forget(engine: &Engine, ended: &[Grant]) {
    for grant in ended {
        grant.access_tokens().for_each(|(hash, _)| engine.access_tokens.remove(&hash));
        engine.keys.remove(grant.key);
    }
}

fn hash(secret: &Secret) -> [u8; 32] {
    sha256(secret.expose().as_bytes())
}

/// Returns whether the binding is for this resource. Also returns true if no resource is given.
fn is_for(binding: &Binding, resource: Option<&str>) -> bool {
    resource.is_none_or(|resource| request::is_same_url(resource, &binding.resource))
}

pub fn load(engine: &Engine, tx: &impl Read) -> engine_store::Result<()> {
    engine.access_tokens.fill(grants::all(tx)?.iter().flat_map(|grant| grant.access_tokens().collect::<Vec<_>>()));
    Ok(())
}

/// Deletes expired codes and refresh tokens, and ends grants whose client has not used them for a long time. Returns whether there may be
/// more.
pub fn sweep(engine: &Engine, tx: &mut WriteTx<'_>, limit: usize) -> engine_store::Result<bool> {
    let (more, ended) = grants::sweep(tx, limit)?;
    for key in ended {
        if let Some(mut row) = accounts::key(tx, key)?.filter(|row| row.revoked_at.is_none()) {
            row.revoked_at = Some(tx.now());
            accounts::save_key(tx, &row);
            engine.keys.remove(key);
        }
    }
    Ok(more)
}
