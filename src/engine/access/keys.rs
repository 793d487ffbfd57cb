//! The cache of API keys: every valid key, found by the hash of its text.
//!
//! The cache is in memory and complete, so that a look-up is one hash and one probe, and a revoked key fails with the next request. It does
//! not know where keys are stored; `features/accounts` fills it at startup and updates it with every change.

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

/// An account's limits, as requests see them.
#[derive(Debug)]
pub struct AccountLimits {
    pub id: AccountId,
    /// Whether it is the installation's own account, not one from a public sign-up.
    pub is_installations: bool,
    /// The limits of its plan, which can change at any time.
    pub plan: ArcSwap<PlanLimits>,
    /// The rate limits of its API keys.
    pub rate_limits: RateLimits,
    /// The rate limits of its users, so that users and programs do not block each other.
    pub user_rate_limits: RateLimits,
}

/// The limits of an account's plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlanLimits {
    /// Requests per window, by group; `None` if the account's plan is not in the configuration.
    pub requests: Option<[u32; RouteGroup::ALL.len()]>,
    pub sending: SendingLimits,
}

/// How much mail an account may send. Zero if the account's plan is not in the configuration.
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

/// A valid API key.
#[derive(Debug)]
pub struct ApiKey {
    pub id: KeyId,
    pub account: Arc<AccountLimits>,
    pub environment: Environment,
    pub permissions: PermissionSet,
    /// SHA-256 of the key's text.
    pub hash: [u8; 32],
    pub usage: Usage,
    pub last_writes: LastWrites,
}

/// The usage of a key that is not stored yet.
#[derive(Debug, Default)]
pub struct Usage {
    requests: AtomicU64,
    last_used_ms: AtomicI64,
}

impl Usage {
    /// Counts one request.
    pub fn note(&self, now: Timestamp) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.last_used_ms.store(now.0, Ordering::Relaxed);
    }

    /// Takes the requests that are not stored yet, and the time of the last one; `None` if there are none.
    pub fn take(&self) -> Option<(u64, Timestamp)> {
        let requests = self.requests.swap(0, Ordering::Relaxed);
        (requests > 0).then(|| (requests, Timestamp(self.last_used_ms.load(Ordering::Relaxed))))
    }

    /// Returns requests that could not be stored.
    pub fn give_back(&self, requests: u64, last: Timestamp) {
        self.requests.fetch_add(requests, Ordering::Relaxed);
        self.last_used_ms.fetch_max(last.0, Ordering::Relaxed);
    }
}

/// Every valid key.
#[derive(Default)]
pub struct ApiKeyCache {
    by_hash: ArcSwap<HashMap<[u8; 32], Arc<ApiKey>>>,
    /// Invariant: one entry per account for the life of the process, so that all its keys, including later ones, share rate limits.
    accounts: Mutex<HashMap<AccountId, Arc<AccountLimits>>>,
}

impl ApiKeyCache {
    /// Replaces the whole cache.
    pub fn fill(&self, keys: impl IntoIterator<Item = Arc<ApiKey>>) {
        self.by_hash.store(Arc::new(keys.into_iter().map(|key| (key.hash, key)).collect()));
    }

    /// The account's limits, if it is in the cache.
    pub fn account_limits(&self, account: AccountId) -> Option<Arc<AccountLimits>> {
        self.accounts.lock().expect("no holder of this lock panics").get(&account).cloned()
    }

    /// The account's limits, created by `make` the first time.
    pub fn ensure_account_limits(&self, account: AccountId, make: impl FnOnce() -> AccountLimits) -> Arc<AccountLimits> {
        self.accounts.lock().expect("no holder of this lock panics").entry(account).or_insert_with(|| Arc::new(make())).clone()
    }

    /// Adds a key.
    pub fn add(&self, key: Arc<ApiKey>) {
        self.by_hash.rcu(|keys| {
            let mut keys = HashMap::clone(keys);
            keys.insert(key.hash, key.clone());
            keys
        });
    }

    /// Removes a key: the next request with it is rejected.
    pub fn remove(&self, id: KeyId) {
        self.by_hash.rcu(|keys| {
            let mut keys = HashMap::clone(keys);
            keys.retain(|_, key| key.id != id);
            keys
        });
    }

    /// The API key of a presented text, if it is valid.
    pub fn find(&self, presented: &PresentedKey<'_>) -> Option<Arc<ApiKey>> {
        let hash = presented.hash();
        let keys = self.by_hash.load();
        let key = keys.get(&hash)?;
        // The map compares hashes byte by byte; the decision itself takes constant time.
        (same(&key.hash, &hash) && key.environment == presented.environment).then(|| key.clone())
    }

    /// Every key in the cache.
    pub fn all(&self) -> Vec<Arc<ApiKey>> {
        self.by_hash.load().values().cloned().collect()
    }
}
