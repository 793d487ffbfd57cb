//! The cache of API keys: every valid key, looked up by the hash of its text.
//!
//! The cache is in memory and complete, so a lookup needs one hash and one probe. The cache does not read the store; `features/accounts`
//! fills the cache at startup and updates it with every change.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use arc_swap::ArcSwap;

use super::last_writes::LastWrites;
use super::rate_limit::RateLimits;
use super::token::PresentedKey;
use crate::base::clock::Timestamp;
use crate::base::secret::same;
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, KeyId};
use crate::vocab::permissions::PermissionSet;
use crate::vocab::rates::RouteGroup;

/// The limits of an account, which the pipeline checks for each request.
#[derive(Debug)]
pub struct AccountLimits {
    pub id: AccountId,
    /// Whether the account is the installation's own account rather than one from a public sign-up.
    pub is_installations: bool,
    /// The limits of the account's plan, which can change at any time.
    pub plan: ArcSwap<PlanLimits>,
    /// The request budgets that all API keys of the account share.
    pub rate_limits: RateLimits,
    /// The request budgets of the account's users, separate from those of API keys so that users and programs do not block each other.
    pub user_rate_limits: RateLimits,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlanLimits {
    /// The requests allowed per window, by route group; `None` if the account's plan is not in the configuration.
    pub requests: Option<[u32; RouteGroup::ALL.len()]>,
    pub sending: SendingLimits,
}

/// How much mail an account may send. All limits are zero if the account's plan is not in the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendingLimits {
    /// The maximum number of recipients per second; `None` if only the transport limits the speed.
    pub recipients_per_second: Option<u64>,
    /// The maximum number of emails per day; `None` if unlimited.
    pub daily: Option<u64>,
    /// The maximum number of emails per month; `None` if unlimited.
    pub monthly: Option<u64>,
}

impl Default for SendingLimits {
    fn default() -> Self {
        Self { recipients_per_second: Some(0), daily: Some(0), monthly: Some(0) }
    }
}

#[derive(Clone, Debug)]
pub struct ApiKey {
    pub id: KeyId,
    pub account: Arc<AccountLimits>,
    pub environment: Environment,
    pub permissions: PermissionSet,
    /// SHA-256 of the key's text.
    pub hash: [u8; 32],
    pub usage: Arc<Usage>,
    pub last_writes: Arc<LastWrites>,
}

impl ApiKey {
    /// Returns the key, limited to the permissions in `permissions`. The result shares the usage counter of the original key.
    pub fn limited_to(self: Arc<Self>, permissions: PermissionSet) -> Arc<Self> {
        if self.permissions.iter().all(|permission| permissions.contains(permission)) {
            return self;
        }
        let common: Vec<_> = self.permissions.iter().filter(|permission| permissions.contains(*permission)).collect();
        Arc::new(Self { permissions: PermissionSet::of(&common), ..Self::clone(&self) })
    }
}

/// The part of an API key's usage that is not stored yet.
#[derive(Debug, Default)]
pub struct Usage {
    requests: AtomicU64,
    last_used_ms: AtomicI64,
}

impl Usage {
    pub fn note(&self, now: Timestamp) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.last_used_ms.store(now.0, Ordering::Relaxed);
    }

    /// Removes and returns the number of requests that are not stored yet, with the time of the last one; `None` if there are none.
    pub fn take(&self) -> Option<(u64, Timestamp)> {
        let requests = self.requests.swap(0, Ordering::Relaxed);
        (requests > 0).then(|| (requests, Timestamp(self.last_used_ms.load(Ordering::Relaxed))))
    }

    /// Adds back the requests that [`take`](Self::take) returned, because they could not be stored.
    pub fn give_back(&self, requests: u64, last: Timestamp) {
        self.requests.fetch_add(requests, Ordering::Relaxed);
        self.last_used_ms.fetch_max(last.0, Ordering::Relaxed);
    }
}

#[derive(Default)]
pub struct ApiKeyCache {
    by_hash: ArcSwap<HashMap<[u8; 32], Arc<ApiKey>>>,
    /// Invariant: an account has one entry for the life of the process, so that all its keys, including later ones, share rate limits.
    accounts: Mutex<HashMap<AccountId, Arc<AccountLimits>>>,
}

impl ApiKeyCache {
    pub fn fill(&self, keys: impl IntoIterator<Item = Arc<ApiKey>>) {
        self.by_hash.store(Arc::new(keys.into_iter().map(|key| (key.hash, key)).collect()));
    }

    /// Returns the limits of the account, if the cache has them.
    pub fn account_limits(&self, account: AccountId) -> Option<Arc<AccountLimits>> {
        self.accounts.lock().expect("no holder of this lock panics").get(&account).cloned()
    }

    /// Returns the limits of the account; `make` creates them the first time.
    pub fn ensure_account_limits(&self, account: AccountId, make: impl FnOnce() -> AccountLimits) -> Arc<AccountLimits> {
        self.accounts.lock().expect("no holder of this lock panics").entry(account).or_insert_with(|| Arc::new(make())).clone()
    }

    pub fn add(&self, key: Arc<ApiKey>) {
        self.by_hash.rcu(|keys| {
            let mut keys = HashMap::clone(keys);
            keys.insert(key.hash, key.clone());
            keys
        });
    }

    /// Removes an API key from the cache, so that later requests with this key are rejected.
    pub fn remove(&self, id: KeyId) {
        self.by_hash.rcu(|keys| {
            let mut keys = HashMap::clone(keys);
            keys.retain(|_, key| key.id != id);
            keys
        });
    }

    pub fn find(&self, presented: &PresentedKey<'_>) -> Option<Arc<ApiKey>> {
        let hash = presented.hash();
        let keys = self.by_hash.load();
        let key = keys.get(&hash)?;
        // The map compares hashes byte by byte, and the time of that comparison may show where they differ. The comparison that grants
        // access takes constant time.
        (same(&key.hash, &hash) && key.environment == presented.environment).then(|| key.clone())
    }

    pub fn by_hash(&self, hash: &[u8; 32]) -> Option<Arc<ApiKey>> {
        self.by_hash.load().get(hash).cloned()
    }

    pub fn all(&self) -> Vec<Arc<ApiKey>> {
        self.by_hash.load().values().cloned().collect()
    }
}
