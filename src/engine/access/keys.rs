//! The ring of API keys: every key that works now, found by the hash of its text.
//!
//! The ring is in memory and complete, so that a look-up is one hash and one probe, and a key revoked is a key gone with the next
//! request. It does not know where keys are kept; `features/accounts` fills it at the start and tells it of every change.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use arc_swap::ArcSwap;

use super::budgets::Budgets;
use super::token::PresentedKey;
use crate::base::clock::Timestamp;
use crate::base::secret::same;
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, KeyId};
use crate::vocab::permissions::PermissionSet;
use crate::vocab::rates::RouteGroup;

/// An account as far as requests go.
#[derive(Debug)]
pub struct Holder {
    pub id: AccountId,
    /// Whether it is the installation's own account, and not one that a stranger has signed up for.
    pub is_installations: bool,
    /// Of its plan, which can be changed at any time.
    pub plan: ArcSwap<PlanLimits>,
    /// What its keys use up.
    pub budgets: Budgets,
    /// What its people use up: they shut out no program, and no program shuts them out.
    pub by_people: Budgets,
}

/// What the plan of an account allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlanLimits {
    /// Requests per window, by group; `None` when the account's plan is not in the configuration.
    pub requests: Option<[u32; RouteGroup::ALL.len()]>,
    pub sending: SendingLimits,
}

/// How much mail an account may send. Nothing, when the account's plan is not in the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendingLimits {
    /// None: as fast as the transport delivers.
    pub recipients_per_second: Option<u64>,
    /// None: unlimited.
    pub daily: Option<u64>,
    /// None: unlimited.
    pub monthly: Option<u64>,
}

impl Default for SendingLimits {
    fn default() -> Self {
        Self { recipients_per_second: Some(0), daily: Some(0), monthly: Some(0) }
    }
}

/// What a key allows.
#[derive(Debug)]
pub struct Grant {
    pub id: KeyId,
    pub account: Arc<Holder>,
    pub environment: Environment,
    pub permissions: PermissionSet,
    /// SHA-256 of the key's text.
    pub hash: [u8; 32],
    pub usage: Usage,
}

/// How much a key was used, since the counts were last written down.
#[derive(Debug, Default)]
pub struct Usage {
    requests: AtomicU64,
    last_used_ms: AtomicI64,
}

impl Usage {
    /// Note one request.
    pub fn note(&self, now: Timestamp) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.last_used_ms.store(now.0, Ordering::Relaxed);
    }

    /// Take the requests that are not written down yet, and when the last one was; `None` if there were none.
    pub fn take(&self) -> Option<(u64, Timestamp)> {
        let requests = self.requests.swap(0, Ordering::Relaxed);
        (requests > 0).then(|| (requests, Timestamp(self.last_used_ms.load(Ordering::Relaxed))))
    }

    /// Give back what was taken and could not be written down.
    pub fn give_back(&self, requests: u64, last: Timestamp) {
        self.requests.fetch_add(requests, Ordering::Relaxed);
        self.last_used_ms.fetch_max(last.0, Ordering::Relaxed);
    }
}

/// Every key that works now.
#[derive(Default)]
pub struct KeyRing {
    by_hash: ArcSwap<HashMap<[u8; 32], Arc<Grant>>>,
    /// Invariant: one holder for each account as long as the process lives, so that all its keys, also later ones, share budgets.
    holders: Mutex<HashMap<AccountId, Arc<Holder>>>,
}

impl KeyRing {
    /// Replace the whole ring.
    pub fn fill(&self, grants: impl IntoIterator<Item = Arc<Grant>>) {
        self.by_hash.store(Arc::new(grants.into_iter().map(|grant| (grant.hash, grant)).collect()));
    }

    /// The account, if it was seen before.
    pub fn holder(&self, account: AccountId) -> Option<Arc<Holder>> {
        self.holders.lock().expect("no holder of this lock panics").get(&account).cloned()
    }

    /// The account, made by `make` the first time.
    pub fn ensure_holder(&self, account: AccountId, make: impl FnOnce() -> Holder) -> Arc<Holder> {
        self.holders.lock().expect("no holder of this lock panics").entry(account).or_insert_with(|| Arc::new(make())).clone()
    }

    /// Add a key.
    pub fn add(&self, grant: Arc<Grant>) {
        self.by_hash.rcu(|ring| {
            let mut ring = HashMap::clone(ring);
            ring.insert(grant.hash, grant.clone());
            ring
        });
    }

    /// Take a key off: the next request with it is refused.
    pub fn remove(&self, id: KeyId) {
        self.by_hash.rcu(|ring| {
            let mut ring = HashMap::clone(ring);
            ring.retain(|_, grant| grant.id != id);
            ring
        });
    }

    /// What this key allows, if it is one of ours and works.
    pub fn find(&self, presented: &PresentedKey<'_>) -> Option<Arc<Grant>> {
        let hash = presented.hash();
        let ring = self.by_hash.load();
        let grant = ring.get(&hash)?;
        // The map compares hashes byte by byte; the verdict itself is taken in constant time.
        (same(&grant.hash, &hash) && grant.environment == presented.environment).then(|| grant.clone())
    }

    /// Every key on the ring.
    pub fn all(&self) -> Vec<Arc<Grant>> {
        self.by_hash.load().values().cloned().collect()
    }
}
