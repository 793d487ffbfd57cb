//! API keys: their table and their in-memory cache, which change together.

use std::sync::Arc;

use arc_swap::ArcSwap;
use tokio::sync::Mutex;

use super::agents::model::Decision;
use super::model::{Account, Key, NewKey, Session, User};
use super::store;
use crate::base::random::Random;
use crate::base::secret::{Secret, sha256};
use crate::engine::access::audit::{self, AuditRecord};
use crate::engine::access::keys::{AccountLimits, ApiKey, PlanLimits, SendingLimits};
use crate::engine::access::rate_limit::RateLimits;
use crate::engine::access::session_cache::{AtomicTimestamp, CachedSession, CachedUser};
use crate::engine::access::token;
use crate::engine::api::{Engine, Envelope, Failure};
use crate::engine::store as engine_store;
use crate::features::accounts::store::sign_in;
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, KeyId};
use crate::vocab::limits;
use crate::vocab::rates::RouteGroup;
use crate::vocab::settings::Settings;

/// The lock that a request holds while it changes a key, a user or a session, so that the cache changes in the order of the commits. Such
/// changes are rare, so one lock per process is enough.
pub static CACHE_LOCK: Mutex<()> = Mutex::const_new(());

/// Loads into memory the data that authentication checks: working keys, users, their sessions, and the attempts counted by rate limits.
pub fn load_caches(engine: &Engine) -> engine_store::Result<()> {
    let tx = engine.control.read();
    engine.throttle.load(&tx, engine.clock.now(), engine.clock.monotonic())?;
    for account in store::accounts(&tx)? {
        // The plan may have changed on another node of the cluster.
        account_limits(engine, &account).plan.store(Arc::new(plan_limits(&engine.settings, &account.plan)));
    }
    let users = store::users(&tx)?;
    let users = users.iter().filter_map(|user| Some(cached_user(user, engine.keys.account_limits(user.account)?)));
    engine.sessions.fill(users, sign_in::sessions(&tx)?.iter().map(cached_session));
    let working = store::keys(&tx)?.into_iter().filter(|key| key.revoked_at.is_none());
    // A key that is already in the cache keeps its count of requests. A key whose account does not exist is a sign of damaged data. Skip
    // this key, so that it grants no access.
    let cached = |key: Key| match engine.keys.by_hash(&key.hash) {
        Some(known) => Some(known),
        None => Some(cached_key(&key, engine.keys.account_limits(key.account)?)),
    };
    engine.keys.fill(working.filter_map(cached));
    Ok(())
}

pub fn cached_user(user: &User, account: Arc<AccountLimits>) -> CachedUser {
    CachedUser { id: user.id, email: user.email.clone(), name: user.name.clone(), account, role: user.role }
}

pub fn cached_session(session: &Session) -> CachedSession {
    let Session { id, user, kind, digest, expires_at, idle_ms, seen_at, proven_at, .. } = *session;
    let (seen_at, proven_at) = (AtomicTimestamp::at(seen_at), AtomicTimestamp::at(proven_at));
    CachedSession { id, user, kind, digest, expires_at, idle_ms, seen_at, proven_at, last_writes: Default::default() }
}

pub fn account_limits(engine: &Engine, account: &Account) -> Arc<AccountLimits> {
    let limits = plan_limits(&engine.settings, &account.plan);
    if limits.requests.is_none() {
        tracing::error!(
            account = %account.id,
            plan = account.plan,
            "the settings do not contain this account's plan, so its requests get status 503; add the plan or change the account's plan"
        );
    }
    let (rate_limits, user_rate_limits) = <(RateLimits, RateLimits)>::default();
    engine.keys.ensure_account_limits(account.id, || {
        let first = store::account(&engine.control.read()).ok().flatten();
        let is_installations = first.is_none_or(|first| first.id == account.id);
        AccountLimits { id: account.id, is_installations, plan: ArcSwap::from_pointee(limits), rate_limits, user_rate_limits }
    })
}

/// Returns the limits of a plan. A plan that the settings do not contain allows no requests and no mail.
pub fn plan_limits(settings: &Settings, plan: &str) -> PlanLimits {
    let Some(plan) = settings.plans.get(plan) else { return PlanLimits::default() };
    let sending = SendingLimits {
        recipients_per_second: plan.recipients_per_second.get(),
        daily: plan.daily_emails.get(),
        monthly: plan.monthly_emails.get(),
    };
    let requests = RouteGroup::ALL.map(|group| u32::try_from(plan.budgets.of(group).get()).unwrap_or(u32::MAX));
    PlanLimits { requests: Some(requests), sending }
}

pub fn cached_key(key: &Key, account: Arc<AccountLimits>) -> Arc<ApiKey> {
    let Key { id, environment, permissions, hash, .. } = *key;
    Arc::new(ApiKey { id, account, environment, permissions, hash, usage: Default::default(), last_writes: Default::default() })
}

pub struct CreatedKey {
    pub key: Key,
    /// The key itself, which is shown once.
    pub token: Secret,
}

/// Creates a key for `account`, or for the installation's own account if `account` is `None`. The key already works when this function
/// returns. `record` goes to the audit log; it is `None` only for the key that the first start creates.
pub async fn create_key(
    engine: &Arc<Engine>,
    account: Option<AccountId>,
    new: NewKey,
    record: Option<(AuditRecord, Envelope)>,
) -> Result<CreatedKey, Failure> {
    let _turn = CACHE_LOCK.lock().await;
    let token = token::create(new.environment, engine.random.as_ref());
    let hash = sha256(token.expose().as_bytes());
    let plan = engine.settings.accounts.owner_plan.clone();
    let is_first = record.is_none();
    let write = move |tx: &mut engine_store::WriteTx<'_>| {
        let account = match account {
            Some(id) => store::account_of(tx, id)?.ok_or(Code::NotFound)?,
            None => store::ensure_account(tx, &plan)?,
        };
        let key = add_key(tx, account.id, new, hash)?;
        if let Some((record, envelope)) = record {
            audit::note(tx, envelope.request.number, &record);
        }
        Ok::<_, Failure>((account, key))
    };
    let written = match is_first {
        // The first start creates this key, and must succeed even if the disk is almost full.
        true => engine.control.write_essential(write).await,
        false => engine.control.write(write).await,
    };
    let (account, key) = written??;
    engine.keys.add(cached_key(&key, account_limits(engine, &account)));
    Ok(CreatedKey { key, token })
}

/// Saves a new key with the hash of its text; fails if the account already has the maximum number of keys.
pub fn add_key(tx: &mut engine_store::WriteTx<'_>, account: AccountId, new: NewKey, hash: [u8; 32]) -> Result<Key, Failure> {
    let keys = store::keys(tx)?;
    let working = keys.iter().filter(|key| key.account == account && key.revoked_at.is_none()).count();
    if working >= limits::KEYS_PER_ACCOUNT_MAX {
        let detail = format!("An account can have at most {} API keys; revoke a key first.", limits::KEYS_PER_ACCOUNT_MAX);
        return Err(Failure::because(Code::LimitReached, detail));
    }
    let NewKey { name, environment, permissions } = new;
    let id = free_id(&keys, tx.random());
    let key = Key { id, account, name, environment, permissions, hash, created_at: tx.now(), revoked_at: None };
    store::save_key(tx, &key);
    Ok(key)
}

/// Returns a key ID whose first characters differ from those of every other key's ID, because lists show only these characters, and users
/// enter them to revoke a key. The whole ID is therefore random, unlike other IDs, which start with the time.
fn free_id(keys: &[Key], random: &dyn Random) -> KeyId {
    loop {
        let id = KeyId::from_bytes(random.bytes());
        if !keys.iter().any(|key| short_id(key.id) == short_id(id)) {
            return id;
        }
    }
}

/// Returns the first characters of a key's ID, which lists show.
pub fn short_id(id: KeyId) -> String {
    id.to_string()[..limits::KEY_ID_CHARACTERS_SHOWN].to_owned()
}

/// Revokes the one key whose ID starts with `prefix`. Searches the keys of `account`, or of all accounts if `account` is `None`. The next
/// request with that key fails. A key that is already revoked stays as it is, so a second call after a lost response succeeds.
pub async fn revoke_key(
    engine: &Arc<Engine>,
    account: Option<AccountId>,
    prefix: String,
    (record, envelope): (AuditRecord, Envelope),
) -> Result<Key, Failure> {
    let _turn = CACHE_LOCK.lock().await;
    let counted = engine.keys.all();
    let write = move |tx: &mut engine_store::WriteTx<'_>| {
        let mut keys = store::keys(tx)?;
        keys.retain(|key| account.is_none_or(|account| key.account == account));
        let found = find_by_prefix(keys, &prefix)?;
        let key = if found.revoked_at.is_some() { found } else { mark_revoked(tx, found, &counted)? };
        audit::note(tx, envelope.request.number, &record);
        Ok::<_, Failure>(key)
    };
    let key = engine.control.write(write).await??;
    engine.keys.remove(key.id);
    Ok(key)
}

/// Saves `key` as revoked. Also stores the count of the key's requests that is still only in the cache. `counted` contains the cached keys
/// with their counts. The caller must hold `CACHE_LOCK`, and remove the key from the cache after the commit.
pub fn mark_revoked(tx: &mut engine_store::WriteTx<'_>, key: Key, counted: &[Arc<ApiKey>]) -> Result<Key, Failure> {
    let key = Key { revoked_at: Some(tx.now()), ..key };
    store::save_key(tx, &key);
    let taken = counted.iter().find(|cached| cached.id == key.id).and_then(|cached| cached.usage.take());
    if let Some((requests, last)) = taken {
        store::add_usage(tx, key.id, requests, last)?;
    }
    Ok(key)
}

fn find_by_prefix(keys: Vec<Key>, prefix: &str) -> Result<Key, Failure> {
    let prefix = prefix.to_ascii_lowercase();
    let mut found = keys.into_iter().filter(|key| key.id.to_string().starts_with(&prefix));
    let key = found.next().ok_or_else(|| {
        Failure::because(Code::NotFound, "No API key ID starts with these characters; copy the ID from the list of keys.")
    })?;
    if found.next().is_some() {
        return Err(Failure::field("id", "more than one key ID starts with these characters; enter more characters"));
    }
    Ok(key)
}

/// Adds an audit record to the transaction that creates a key after a user's decision.
pub fn note_token(tx: &mut engine_store::WriteTx<'_>, decision: &Decision, key: KeyId, envelope: Envelope) {
    let record = AuditRecord {
        operation: "accounts.token".into(),
        key: Some(key),
        user: Some(decision.user),
        account: Some(decision.account),
        request: envelope.request.to_string(),
    };
    audit::note(tx, envelope.request.number, &record);
}

/// Adds an audit record to the transaction that makes the change. The actor is `user`, who has just authenticated, or the operator if
/// `user` is `None`.
pub fn note_audit(tx: &mut engine_store::WriteTx<'_>, operation: &str, user: Option<&User>, envelope: Envelope) {
    let (account, user) = (user.map(|user| user.account), user.map(|user| user.id));
    let record = AuditRecord { operation: operation.into(), key: None, user, account, request: envelope.request.to_string() };
    audit::note(tx, envelope.request.number, &record);
}
