//! The cache of all users and their sessions, which the pipeline uses to authenticate requests. Like the cache of API keys, it is
//! in memory and complete.
//!
//! The cache neither signs users in nor reads the store; `features/accounts` fills the cache at startup and updates it on every change.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::keys::AccountLimits;
use super::last_writes::LastWrites;
use crate::base::clock::Timestamp;
use crate::base::secret::{same, sha256};
use crate::vocab::environment::Environment;
use crate::vocab::ids::{SessionId, UserId};
use crate::vocab::limits;
use crate::vocab::roles::Role;

#[derive(Debug)]
pub struct CachedUser {
    pub id: UserId,
    pub email: String,
    pub name: String,
    pub account: Arc<AccountLimits>,
    pub role: Role,
}

/// Where a session's token is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum SessionKind {
    Browser,
    /// A program holds the token, which is signed and short-lived.
    Program,
}

/// A session, which starts when a user signs in.
#[derive(Debug)]
pub struct CachedSession {
    pub id: SessionId,
    pub user: UserId,
    pub kind: SessionKind,
    /// SHA-256 of the cookie's token; zeros for a program's session.
    pub digest: [u8; 32],
    /// The latest time at which the session ends.
    pub expires_at: Timestamp,
    /// The session ends after this many milliseconds without a request.
    pub idle_ms: i64,
    pub seen_at: AtomicTimestamp,
    /// When the user last entered their password.
    pub proven_at: AtomicTimestamp,
    pub last_writes: LastWrites,
}

/// A timestamp that only moves forward.
#[derive(Debug)]
pub struct AtomicTimestamp(AtomicI64);

impl AtomicTimestamp {
    pub fn at(time: Timestamp) -> Self {
        Self(AtomicI64::new(time.0))
    }

    pub fn get(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::Relaxed))
    }

    /// Moves the timestamp forward to `time`; an earlier `time` has no effect.
    pub fn to(&self, time: Timestamp) {
        self.0.fetch_max(time.0, Ordering::Relaxed);
    }
}

impl CachedSession {
    /// Returns whether the session has neither expired nor been idle for too long at `now`.
    pub fn works(&self, now: Timestamp) -> bool {
        now < self.expires_at && now.ms_since(self.seen_at.get()) < self.idle_ms
    }

    /// Returns whether the user entered their password recently.
    pub fn is_fresh(&self, now: Timestamp) -> bool {
        now.ms_since(self.proven_at.get()) < limits::FRESH_SIGN_IN_MS
    }
}

/// A signed-in user with their session and the environment they work in.
#[derive(Clone, Debug)]
pub struct UserSession {
    pub user: Arc<CachedUser>,
    pub session: Arc<CachedSession>,
    pub environment: Environment,
}

#[derive(Default)]
pub struct SessionCache(RwLock<Inner>);

#[derive(Default)]
struct Inner {
    users: HashMap<UserId, Arc<CachedUser>>,
    sessions: HashMap<SessionId, Arc<CachedSession>>,
    by_digest: HashMap<[u8; 32], SessionId>,
}

impl SessionCache {
    pub fn set_user(&self, user: CachedUser) {
        self.write().users.insert(user.id, Arc::new(user));
    }

    /// Replaces all users and sessions. If a given session is already in the cache, the cached session is kept, because its last use might
    /// not be stored yet; only later times are taken from the given session.
    pub fn fill(&self, users: impl IntoIterator<Item = CachedUser>, sessions: impl IntoIterator<Item = CachedSession>) {
        let mut inner = self.write();
        let mut new = Inner::default();
        new.users.extend(users.into_iter().map(|user| (user.id, Arc::new(user))));
        for session in sessions {
            let session = match inner.sessions.remove(&session.id) {
                Some(known) => {
                    known.seen_at.to(session.seen_at.get());
                    known.proven_at.to(session.proven_at.get());
                    known
                }
                None => Arc::new(session),
            };
            if session.kind == SessionKind::Browser {
                new.by_digest.insert(session.digest, session.id);
            }
            new.sessions.insert(session.id, session);
        }
        *inner = new;
    }

    pub fn user(&self, id: UserId) -> Option<Arc<CachedUser>> {
        self.read().users.get(&id).cloned()
    }

    pub fn remove_user(&self, user: UserId) {
        let mut inner = self.write();
        inner.users.remove(&user);
        inner.end(|session| session.user == user);
    }

    pub fn add(&self, session: Arc<CachedSession>) {
        let mut inner = self.write();
        if session.kind == SessionKind::Browser {
            inner.by_digest.insert(session.digest, session.id);
        }
        inner.sessions.insert(session.id, session);
    }

    /// Ends the sessions that `is_over` selects: the next request with such a session is rejected.
    pub fn end(&self, is_over: impl Fn(&CachedSession) -> bool) {
        self.write().end(is_over);
    }

    pub fn sessions(&self) -> Vec<Arc<CachedSession>> {
        self.read().sessions.values().cloned().collect()
    }

    /// Returns the valid session that a browser's cookie refers to.
    pub fn by_cookie(&self, token: &str, environment: Environment, now: Timestamp) -> Option<UserSession> {
        let digest = sha256(token.as_bytes());
        let inner = self.read();
        let session = inner.sessions.get(inner.by_digest.get(&digest)?)?;
        same(&session.digest, &digest).then(|| inner.touch(session, environment, now)).flatten()
    }

    /// Returns the valid session of a program by its ID. The caller has verified the program's token.
    pub fn by_id(&self, id: SessionId, environment: Environment, now: Timestamp) -> Option<UserSession> {
        let inner = self.read();
        let session = inner.sessions.get(&id).filter(|session| session.kind == SessionKind::Program)?;
        inner.touch(session, environment, now)
    }

    // A poisoned lock is used anyway: a change that was interrupted is harmless, because a session without its user is rejected.
    fn read(&self) -> RwLockReadGuard<'_, Inner> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Inner> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn touch(&self, session: &Arc<CachedSession>, environment: Environment, now: Timestamp) -> Option<UserSession> {
        if !session.works(now) {
            return None;
        }
        let user = self.users.get(&session.user)?.clone();
        session.seen_at.to(now);
        Some(UserSession { user, session: session.clone(), environment })
    }

    fn end(&mut self, is_over: impl Fn(&CachedSession) -> bool) {
        self.sessions.retain(|_, session| !is_over(session));
        let sessions = &self.sessions;
        self.by_digest.retain(|_, id| sessions.contains_key(id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::ids::AccountId;

    const NOW: Timestamp = Timestamp(1_767_225_600_000);
    const USER: UserId = UserId::from_bytes([1; 12]);

    fn users() -> SessionCache {
        let users = SessionCache::default();
        let id = AccountId::from_bytes([9; 12]);
        let (rate_limits, user_rate_limits) = Default::default();
        let account =
            Arc::new(AccountLimits { id, is_installations: true, plan: Default::default(), rate_limits, user_rate_limits });
        users.set_user(CachedUser { id: USER, email: "ada@example.com".into(), name: "Ada".into(), account, role: Role::Viewer });
        users
    }

    fn session(number: u8, kind: SessionKind) -> Arc<CachedSession> {
        Arc::new(CachedSession {
            id: SessionId::from_bytes([number; 12]),
            user: USER,
            kind,
            digest: sha256(&[number]),
            expires_at: NOW.plus_ms(10_000),
            idle_ms: 4_000,
            seen_at: AtomicTimestamp::at(NOW),
            proven_at: AtomicTimestamp::at(NOW),
            last_writes: LastWrites::default(),
        })
    }

    #[test]
    fn a_session_ends_when_idle_and_at_its_maximum_age() {
        let users = users();
        users.add(session(1, SessionKind::Browser));
        let works = |ms| users.by_cookie("\u{1}", Environment::Live, NOW.plus_ms(ms)).is_some();
        assert!(works(3_999) && works(7_998), "each request extends the session");
        assert!(!works(10_000), "the session still ends at its maximum age");
        users.add(session(2, SessionKind::Browser));
        assert!(users.by_cookie("\u{2}", Environment::Live, NOW.plus_ms(4_000)).is_none());
        assert!(users.by_cookie("\u{3}", Environment::Live, NOW).is_none());
    }

    #[test]
    fn program_and_cookie_sessions_are_not_interchangeable() {
        let users = users();
        users.add(session(1, SessionKind::Browser));
        users.add(session(2, SessionKind::Program));
        assert!(users.by_id(SessionId::from_bytes([1; 12]), Environment::Test, NOW).is_none());
        assert!(users.by_cookie("\u{2}", Environment::Test, NOW).is_none());
        assert!(users.by_id(SessionId::from_bytes([2; 12]), Environment::Test, NOW).is_some());
    }

    #[test]
    fn a_removed_user_is_signed_out_with_the_next_request() {
        let users = users();
        users.add(session(1, SessionKind::Browser));
        users.remove_user(USER);
        assert!(users.by_cookie("\u{1}", Environment::Test, NOW).is_none() && users.sessions().is_empty());
    }
}
