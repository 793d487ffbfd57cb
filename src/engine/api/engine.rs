//! The engine: the data and services that requests use, built once at startup.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, OnceLock};

use bytes::Bytes;

use super::bodies::Bodies;
use super::response::{Envelope, RequestId};
use crate::base::clock::{Clock, Monotonic, Timestamp};
use crate::base::random::Random;
use crate::engine::access::access_tokens::AccessTokens;
use crate::engine::access::idempotency::InFlight;
use crate::engine::access::jwt::Tokens;
use crate::engine::access::keys::ApiKeyCache;
use crate::engine::access::links::Links;
use crate::engine::access::session_cache::{SessionCache, UserSession};
use crate::engine::access::throttle::Throttle;
use crate::engine::access::visit_buffer::VisitBuffer;
use crate::engine::backup::ContinuousBackup;
use crate::engine::backup::restored_copy::CopySlot;
use crate::engine::fetch::{Fetch, FetchCache, LinkProbes, Paces, PlatformTokens};
use crate::engine::hold::Hold;
use crate::engine::key_locks::KeyLocks;
use crate::engine::language_model::Models;
use crate::engine::mail::dns::Dns;
use crate::engine::mail::inbound::listener::Listener;
use crate::engine::render::inspect::InspectionCache;
use crate::engine::render::pixels::Pixels;
use crate::engine::search::Index;
use crate::engine::spelling::dictionaries::Dictionaries;
use crate::engine::store::Store;
use crate::engine::store::cluster::Member;
use crate::engine::store::seal::{KeyError, Seal};
use crate::engine::tasks::status::WorkerBoard;
use crate::vocab::environment::Environment;
use crate::vocab::ids::{BlobId, SessionId};
use crate::vocab::limits;
use crate::vocab::settings::Settings;

/// The store and the derived data of one environment.
pub struct EnvironmentData {
    pub environment: Environment,
    pub store: Arc<Store>,
    pub search: Arc<Index>,
    pub index_turn: IndexTurn,
    /// The visits to message links that are not stored yet.
    pub visits: VisitBuffer,
}

/// Locks for updating and replacing the search index.
#[derive(Default)]
pub struct IndexTurn {
    /// Held while the active index follows the change feed, so that only one thread updates it.
    pub moving: Mutex<()>,
    /// Held while a replacement index is built.
    pub rebuilding: Mutex<()>,
    /// The replacement index needs the change feed from this position on; 0 if no replacement is being built.
    pub needed_from: AtomicU64,
}

/// The parts that [`Engine::new`] assembles.
pub struct Parts {
    pub settings: Arc<Settings>,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    pub control: Arc<Store>,
    pub test: Arc<EnvironmentData>,
    pub live: Arc<EnvironmentData>,
    pub seal: Seal,
    pub hold: Hold,
    pub backup: Option<Arc<ContinuousBackup>>,
    pub cluster: Option<Arc<Member>>,
    pub links: Links,
    pub pixels: Pixels,
    pub openapi: fn() -> Bytes,
}

pub struct Engine {
    pub settings: Arc<Settings>,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    pub control: Arc<Store>,
    pub keys: ApiKeyCache,
    /// The access tokens of programs that users have connected.
    pub access_tokens: AccessTokens,
    pub sessions: SessionCache,
    /// Signs and reads the access tokens of users' programs.
    pub tokens: Tokens,
    pub throttle: Throttle,
    pub seal: Seal,
    pub hold: Hold,
    /// The continuous backup, if the settings have a backup target.
    pub backup: Option<Arc<ContinuousBackup>>,
    /// The cluster member that this process runs as; `None` outside a cluster.
    pub cluster: Option<Arc<Member>>,
    /// The restored backup state from which a brand can be copied.
    pub restored: CopySlot,
    pub links: Links,
    pub fetch: Arc<Fetch>,
    /// Images recently fetched for screenshots of emails.
    pub recent_images: FetchCache,
    /// The certificates that verify Amazon SNS notifications; rarely more than one.
    pub sns_certificates: FetchCache,
    /// The limits and the recent results of link checks.
    pub link_probes: LinkProbes,
    /// The pauses that platforms request between calls.
    pub paces: Paces,
    /// The short-lived access tokens that platforms issue for connected accounts.
    pub platform_tokens: PlatformTokens,
    /// Lets only one task at a time change a connected account.
    pub key_locks: KeyLocks,
    pub models: Models,
    pub dns: Dns,
    pub pixels: Pixels,
    pub dictionaries: Dictionaries,
    /// The inspections of recently checked emails.
    pub inspections: InspectionCache,
    pub bodies: Bodies,
    /// The OpenAPI document. Its server URL is `/`, so the document is the same for every listener.
    pub openapi: LazyLock<Bytes, fn() -> Bytes>,
    /// The time when the engine was built, which is when the process started.
    pub started_at: Timestamp,
    started: Monotonic,
    pub workers: WorkerBoard,
    pub(super) running: Arc<InFlight>,
    test: Arc<EnvironmentData>,
    live: Arc<EnvironmentData>,
    base_url: OnceLock<String>,
    listening: OnceLock<Vec<SocketAddr>>,
    inbound: OnceLock<Arc<Listener>>,
    boot: u32,
    requests: AtomicU64,
}

impl Engine {
    pub fn new(parts: Parts) -> Self {
        let Parts { settings, clock, random, control, test, live, seal, hold, backup, cluster, links, pixels, openapi } = parts;
        let boot = u32::from_be_bytes(random.bytes());
        let (started_at, started) = (clock.now(), clock.monotonic());
        let fetch = Arc::new(Fetch::new(&settings));
        let models = Models::new(&settings, &fetch, &random);
        let dns = Dns::new(&settings.mail);
        let dictionaries = Dictionaries::new(settings.validation.dictionaries.clone(), limits::DICTIONARY_IDLE_MINUTES);
        Self {
            settings,
            clock,
            random,
            control,
            keys: ApiKeyCache::default(),
            access_tokens: AccessTokens::default(),
            sessions: SessionCache::default(),
            tokens: Tokens::new(seal.derive("mailmill access tokens v1"), "at+jwt", "mailmill-api"),
            throttle: Throttle::default(),
            seal,
            hold,
            backup,
            cluster,
            restored: CopySlot::default(),
            links,
            fetch,
            recent_images: FetchCache::default(),
            sns_certificates: FetchCache::default(),
            link_probes: LinkProbes::default(),
            paces: Paces::default(),
            platform_tokens: PlatformTokens::default(),
            key_locks: KeyLocks::default(),
            models,
            dns,
            pixels,
            dictionaries,
            inspections: InspectionCache::default(),
            bodies: Bodies::default(),
            openapi: LazyLock::new(openapi),
            started_at,
            started,
            workers: WorkerBoard::default(),
            running: Arc::default(),
            test,
            live,
            base_url: OnceLock::new(),
            listening: OnceLock::new(),
            inbound: OnceLock::new(),
            boot,
            requests: AtomicU64::new(1),
        }
    }

    /// Checks that the master key file still contains the key that this process uses. Without this key, the next start fails.
    pub fn check_key(&self) -> Result<(), KeyError> {
        self.seal.check_file()
    }

    pub fn data(&self, environment: Environment) -> &Arc<EnvironmentData> {
        match environment {
            Environment::Test => &self.test,
            Environment::Live => &self.live,
        }
    }

    /// Returns the base URL of links in responses; empty until the service listens.
    pub fn base_url(&self) -> &str {
        self.base_url.get().map_or("", String::as_str)
    }

    /// Sets the base URL of links. Only the first call has an effect, because an engine listens only once.
    pub fn set_base_url(&self, url: String) {
        let _ = self.base_url.set(url);
    }

    /// Returns the addresses that the service listens on; empty in a process that only runs administration commands.
    pub fn listening(&self) -> &[SocketAddr] {
        self.listening.get().map_or(&[], Vec::as_slice)
    }

    pub fn set_listening(&self, addresses: Vec<SocketAddr>) {
        let _ = self.listening.set(addresses);
    }

    /// Returns the listener for inbound mail; `None` in a process without one.
    pub fn inbound(&self) -> Option<&Arc<Listener>> {
        self.inbound.get()
    }

    /// Sets the listener for inbound mail after it is bound.
    pub fn set_inbound(&self, listener: Arc<Listener>) {
        let _ = self.inbound.set(listener);
    }

    /// Returns a link to a stored file, and the time when the link expires: at least [`limits::FILE_LINK_MS`] from now. Anyone who has the
    /// link can open the file.
    ///
    /// The expiry is rounded up, so that the link stays the same for a while and browsers do not need to fetch the file again.
    pub fn file_link(&self, file: BlobId) -> (String, Timestamp) {
        let step = limits::FILE_LINK_MS;
        let expires_at = Timestamp((self.clock.now().0.div_euclid(step) + 2) * step);
        let path = Self::file_path(file);
        let token = self.links.sign(&path, expires_at);
        (format!("{}{path}?token={token}", self.base_url()), expires_at)
    }

    /// Returns whether `token` gives access to this file now.
    pub fn opens_file(&self, file: BlobId, token: &str) -> bool {
        self.links.check(&Self::file_path(file), token, self.clock.now())
    }

    fn file_path(file: BlobId) -> String {
        format!("/v1/files/{file}")
    }

    /// Returns the session that this access token refers to, if the token is valid.
    pub fn signed_in(&self, token: &str, now: Timestamp) -> Option<UserSession> {
        let claims = self.tokens.read(self.base_url(), token).filter(|claims| !claims.is_over(now))?;
        self.sessions.by_id(SessionId::parse(&claims.sub)?, claims.env?.parse().ok()?, now)
    }

    /// Returns the number of seconds since this process started. Changes to the wall clock do not affect the result.
    pub fn uptime_seconds(&self) -> i64 {
        self.clock.monotonic().ms_since(self.started) / 1000
    }

    pub fn environments(&self) -> [&Arc<EnvironmentData>; 2] {
        [&self.test, &self.live]
    }

    pub fn stores(&self) -> [&Arc<Store>; 3] {
        [&self.control, &self.test.store, &self.live.store]
    }

    /// Creates the envelope of a request that starts now.
    pub fn envelope(&self) -> Envelope {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        Envelope { timestamp: self.clock.now(), request: RequestId { boot: self.boot, number }, keeps_nulls: false }
    }
}
