//! The ring of keys in memory and its table, changed together.

use std::sync::Arc;

use arc_swap::ArcSwap;
use tokio::sync::Mutex;

use super::model::{Account, Key, NewKey, Session, User};
use super::{people_store, store};
use crate::base::random::Random;
use crate::base::secret::{Secret, sha256};
use crate::engine::access::audit::{self, Act};
use crate::engine::access::budgets::Budgets;
use crate::engine::access::keys::{Grant, Holder, PlanLimits, SendingLimits, Usage};
use crate::engine::access::people::{Moving, Person, Seat};
use crate::engine::access::token;
use crate::engine::api::{Engine, Envelope, Failure};
use crate::engine::store as engine_store;
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, KeyId};
use crate::vocab::limits;
use crate::vocab::rates::RouteGroup;
use crate::vocab::settings::Settings;

/// Held while a key is made or revoked: the commit and the change of the ring stay together, so that the ring never goes back to
/// an older state. Keys are changed by people, so one lock for all engines of a process costs nobody anything.
pub static CHANGING: Mutex<()> = Mutex::const_new(());

/// Take into memory what requests check there: the keys that work, the people and their sessions, and the tries counted against limits
/// on guessing.
pub fn fill_ring(engine: &Engine) -> engine_store::Result<()> {
    let tx = engine.control.read();
    engine.throttle.load(&tx, engine.clock.now(), engine.clock.monotonic())?;
    for account in store::accounts(&tx)? {
        holder(engine, &account);
    }
    for user in store::users(&tx)? {
        if let Some(holder) = engine.keys.holder(user.account) {
            engine.people.set_person(person(&user, holder));
        }
    }
    for session in people_store::sessions(&tx)? {
        engine.people.add(Arc::new(seat(&session)));
    }
    let working = store::keys(&tx)?.into_iter().filter(|key| key.revoked_at.is_none());
    // A key without its account would be damage; it opens nothing.
    engine.keys.fill(working.filter_map(|key| Some(grant(&key, engine.keys.holder(key.account)?))));
    Ok(())
}

/// Somebody as requests see them.
pub fn person(user: &User, account: Arc<Holder>) -> Person {
    Person { id: user.id, email: user.email.clone(), name: user.name.clone(), account, role: user.role }
}

/// A session as requests see it.
pub fn seat(session: &Session) -> Seat {
    let Session { id, user, kind, digest, expires_at, idle_ms, seen_at, proven_at, .. } = *session;
    Seat { id, user, kind, digest, expires_at, idle_ms, seen_at: Moving::at(seen_at), proven_at: Moving::at(proven_at) }
}

/// The account as requests see it.
pub fn holder(engine: &Engine, account: &Account) -> Arc<Holder> {
    let limits = plan_limits(&engine.settings, &account.plan);
    if limits.requests.is_none() {
        tracing::error!(account = %account.id, plan = account.plan, "the account's plan is not in the settings; its requests get 503");
    }
    let (budgets, by_people) = <(Budgets, Budgets)>::default();
    engine.keys.ensure_holder(account.id, || {
        let first = store::account(&engine.control.read()).ok().flatten();
        let is_installations = first.is_none_or(|first| first.id == account.id);
        Holder { id: account.id, is_installations, plan: ArcSwap::from_pointee(limits), budgets, by_people }
    })
}

/// What a plan allows: nothing, if the settings do not have it.
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

/// A key as requests see it.
pub fn grant(key: &Key, account: Arc<Holder>) -> Arc<Grant> {
    let Key { id, environment, permissions, hash, .. } = *key;
    Arc::new(Grant { id, account, environment, permissions, hash, usage: Usage::default() })
}

/// A key that was just made.
pub struct Made {
    pub key: Key,
    /// The key's text, to be shown once.
    pub token: Secret,
}

/// Make a key of `account`, or of the installation's own; it works when this returns. `act` is what is noted of it.
pub async fn create_key(
    engine: &Arc<Engine>,
    account: Option<AccountId>,
    new: NewKey,
    act: Option<(Act, Envelope)>,
) -> Result<Made, Failure> {
    let _turn = CHANGING.lock().await;
    let token = token::create(new.environment, engine.random.as_ref());
    let hash = sha256(token.expose().as_bytes());
    let plan = engine.settings.accounts.owner_plan.clone();
    let write = move |tx: &mut engine_store::WriteTx<'_>| {
        let account = match account {
            Some(id) => store::account_of(tx, id)?.ok_or(Code::NotFound)?,
            None => store::ensure_account(tx, &plan)?,
        };
        let key = add_key(tx, account.id, new, hash)?;
        if let Some((act, envelope)) = act {
            audit::note(tx, envelope.request.number, &act);
        }
        Ok::<_, Failure>((account, key))
    };
    let (account, key) = engine.control.write(write).await??;
    engine.keys.add(grant(&key, holder(engine, &account)));
    Ok(Made { key, token })
}

/// Write a new key.
pub fn add_key(tx: &mut engine_store::WriteTx<'_>, account: AccountId, new: NewKey, hash: [u8; 32]) -> Result<Key, Failure> {
    let keys = store::keys(tx)?;
    let working = keys.iter().filter(|key| key.account == account && key.revoked_at.is_none()).count();
    if working >= limits::KEYS_PER_ACCOUNT_MAX {
        let detail = format!("An account has at most {} keys; revoke one first.", limits::KEYS_PER_ACCOUNT_MAX);
        return Err(Failure::because(Code::LimitReached, detail));
    }
    let NewKey { name, environment, permissions } = new;
    let id = free_id(&keys, tx.random());
    let key = Key { id, account, name, environment, permissions, hash, created_at: tx.now(), revoked_at: None };
    store::save_key(tx, &key);
    Ok(key)
}

/// An id whose first characters no other key's id has: they are all that people see of it, and what they revoke by. So it is
/// wholly random, unlike other ids, which begin with the time.
fn free_id(keys: &[Key], random: &dyn Random) -> KeyId {
    loop {
        let id = KeyId::from_bytes(random.bytes());
        if !keys.iter().any(|key| shown(key.id) == shown(id)) {
            return id;
        }
    }
}

/// The first characters of a key's id.
pub fn shown(id: KeyId) -> String {
    id.to_string()[..limits::KEY_ID_CHARACTERS_SHOWN].to_owned()
}

/// Revoke the one working key whose id begins with `prefix`, of `account` or of any; the next request with it fails.
pub async fn revoke_key(
    engine: &Arc<Engine>,
    account: Option<AccountId>,
    prefix: String,
    (act, envelope): (Act, Envelope),
) -> Result<Key, Failure> {
    let _turn = CHANGING.lock().await;
    let counted = engine.keys.all();
    let write = move |tx: &mut engine_store::WriteTx<'_>| {
        let mut keys = store::keys(tx)?;
        keys.retain(|key| account.is_none_or(|account| key.account == account));
        let mut key = find_by_prefix(keys, &prefix)?;
        key.revoked_at = Some(tx.now());
        store::save_key(tx, &key);
        let taken = counted.iter().find(|grant| grant.id == key.id).and_then(|grant| grant.usage.take());
        if let Some((requests, last)) = taken {
            store::add_usage(tx, key.id, requests, last)?;
        }
        audit::note(tx, envelope.request.number, &act);
        Ok::<_, Failure>(key)
    };
    let key = engine.control.write(write).await??;
    engine.keys.remove(key.id);
    Ok(key)
}

fn find_by_prefix(keys: Vec<Key>, prefix: &str) -> Result<Key, Failure> {
    let prefix = prefix.to_ascii_lowercase();
    let mut found = keys.into_iter().filter(|key| key.id.to_string().starts_with(&prefix));
    let key = found.next().ok_or_else(|| Failure::because(Code::NotFound, "No key has an id that begins so; list the keys."))?;
    if found.next().is_some() {
        return Err(Failure::field("id", "several keys have an id that begins so; give more of it"));
    }
    if key.revoked_at.is_some() {
        return Err(Failure::because(Code::NotFound, "This key is revoked already."));
    }
    Ok(key)
}

/// Note an act in the transaction of its effect: the operator's, or that of `user`, who has just shown who they are.
pub fn note(tx: &mut engine_store::WriteTx<'_>, operation: &str, user: Option<&User>, envelope: Envelope) {
    let (account, user) = (user.map(|user| user.account), user.map(|user| user.id));
    let act = Act { operation: operation.into(), key: None, user, account, request: envelope.request.to_string() };
    audit::note(tx, envelope.request.number, &act);
}
