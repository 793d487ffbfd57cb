//! The people who may sign in and the sessions they have, as requests see them: in memory and complete, like the ring of keys.
//!
//! It does not know how anybody signs in, nor where people and sessions are kept; `features/accounts` fills it at the start and tells
//! it of every change. A role that changed, a member who left and a session that was ended count from the next request on.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::keys::Holder;
use crate::base::clock::Timestamp;
use crate::base::secret::{same, sha256};
use crate::vocab::environment::Environment;
use crate::vocab::ids::{SessionId, UserId};
use crate::vocab::limits;
use crate::vocab::roles::Role;

/// Somebody who may sign in.
#[derive(Debug)]
pub struct Person {
    pub id: UserId,
    pub email: String,
    pub name: String,
    pub account: Arc<Holder>,
    pub role: Role,
}

/// Where a session's token is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum SessionKind {
    /// In a browser's cookie.
    Browser,
    /// In a program, as a signed token with a short life.
    Program,
}

/// One sign-in.
#[derive(Debug)]
pub struct Seat {
    pub id: SessionId,
    pub user: UserId,
    pub kind: SessionKind,
    /// SHA-256 of the cookie's token.
    pub digest: [u8; 32],
    /// Whatever happens, it is over then.
    pub expires_at: Timestamp,
    /// Without a request for so long it is over, too.
    pub idle_ms: i64,
    pub seen_at: Moving,
    /// When its holder last proved who they are.
    pub proven_at: Moving,
}

/// A time that moves on.
#[derive(Debug)]
pub struct Moving(AtomicI64);

impl Moving {
    /// This time.
    pub fn at(time: Timestamp) -> Self {
        Self(AtomicI64::new(time.0))
    }

    /// The time now.
    pub fn get(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::Relaxed))
    }

    /// Move it on; it never goes back.
    pub fn to(&self, time: Timestamp) {
        self.0.fetch_max(time.0, Ordering::Relaxed);
    }
}

impl Seat {
    /// Whether it can still be used.
    pub fn works(&self, now: Timestamp) -> bool {
        now < self.expires_at && now.ms_since(self.seen_at.get()) < self.idle_ms
    }

    /// Whether its holder proved who they are a moment ago.
    pub fn is_fresh(&self, now: Timestamp) -> bool {
        now.ms_since(self.proven_at.get()) < limits::FRESH_SIGN_IN_MS
    }
}

/// Somebody who is signed in, in one of the two worlds.
#[derive(Clone, Debug)]
pub struct SignedIn {
    pub person: Arc<Person>,
    pub seat: Arc<Seat>,
    pub environment: Environment,
}

/// Everybody, and every session.
#[derive(Default)]
pub struct People(RwLock<Inside>);

#[derive(Default)]
struct Inside {
    people: HashMap<UserId, Arc<Person>>,
    seats: HashMap<SessionId, Arc<Seat>>,
    by_digest: HashMap<[u8; 32], SessionId>,
}

impl People {
    /// Add somebody, or what changed of them.
    pub fn set_person(&self, person: Person) {
        self.write().people.insert(person.id, Arc::new(person));
    }

    /// Somebody who may sign in.
    pub fn person(&self, user: UserId) -> Option<Arc<Person>> {
        self.read().people.get(&user).cloned()
    }

    /// Take somebody out, with all their sessions.
    pub fn remove_person(&self, user: UserId) {
        let mut inside = self.write();
        inside.people.remove(&user);
        inside.end(|seat| seat.user == user);
    }

    /// Add a session.
    pub fn add(&self, seat: Arc<Seat>) {
        let mut inside = self.write();
        if seat.kind == SessionKind::Browser {
            inside.by_digest.insert(seat.digest, seat.id);
        }
        inside.seats.insert(seat.id, seat);
    }

    /// End those sessions that `is_over` says: the next request with one is refused.
    pub fn end(&self, is_over: impl Fn(&Seat) -> bool) {
        self.write().end(is_over);
    }

    /// Every session.
    pub fn seats(&self) -> Vec<Arc<Seat>> {
        self.read().seats.values().cloned().collect()
    }

    /// Who has this cookie.
    pub fn by_cookie(&self, token: &str, environment: Environment, now: Timestamp) -> Option<SignedIn> {
        let digest = sha256(token.as_bytes());
        let inside = self.read();
        let seat = inside.seats.get(inside.by_digest.get(&digest)?)?;
        same(&seat.digest, &digest).then(|| inside.sit(seat, environment, now)).flatten()
    }

    /// Who has the program's session with this id. That the asker has its token was found out before.
    pub fn by_id(&self, id: SessionId, environment: Environment, now: Timestamp) -> Option<SignedIn> {
        let inside = self.read();
        let seat = inside.seats.get(&id).filter(|seat| seat.kind == SessionKind::Program)?;
        inside.sit(seat, environment, now)
    }

    // What is inside is changed by single inserts and removals: a holder that panicked has left nothing half done.
    fn read(&self) -> RwLockReadGuard<'_, Inside> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Inside> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inside {
    fn sit(&self, seat: &Arc<Seat>, environment: Environment, now: Timestamp) -> Option<SignedIn> {
        if !seat.works(now) {
            return None;
        }
        let person = self.people.get(&seat.user)?.clone();
        seat.seen_at.to(now);
        Some(SignedIn { person, seat: seat.clone(), environment })
    }

    fn end(&mut self, is_over: impl Fn(&Seat) -> bool) {
        self.seats.retain(|_, seat| !is_over(seat));
        let seats = &self.seats;
        self.by_digest.retain(|_, id| seats.contains_key(id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::ids::AccountId;

    const NOW: Timestamp = Timestamp(1_767_225_600_000);
    const USER: UserId = UserId::from_bytes([1; 12]);

    fn people() -> People {
        let people = People::default();
        let id = AccountId::from_bytes([9; 12]);
        let (budgets, by_people) = Default::default();
        let account = Arc::new(Holder { id, is_installations: true, plan: Default::default(), budgets, by_people });
        people.set_person(Person { id: USER, email: "ada@example.com".into(), name: "Ada".into(), account, role: Role::Viewer });
        people
    }

    fn seat(number: u8, kind: SessionKind) -> Arc<Seat> {
        Arc::new(Seat {
            id: SessionId::from_bytes([number; 12]),
            user: USER,
            kind,
            digest: sha256(&[number]),
            expires_at: NOW.plus_ms(10_000),
            idle_ms: 4_000,
            seen_at: Moving::at(NOW),
            proven_at: Moving::at(NOW),
        })
    }

    #[test]
    fn a_session_ends_by_being_idle_and_by_being_old_whatever_is_done_with_it() {
        let people = people();
        people.add(seat(1, SessionKind::Browser));
        let works = |ms| people.by_cookie("\u{1}", Environment::Live, NOW.plus_ms(ms)).is_some();
        assert!(works(3_999) && works(7_998), "each request keeps it");
        assert!(!works(10_000), "but not for ever");
        people.add(seat(2, SessionKind::Browser));
        assert!(people.by_cookie("\u{2}", Environment::Live, NOW.plus_ms(4_000)).is_none());
        assert!(people.by_cookie("\u{3}", Environment::Live, NOW).is_none());
    }

    #[test]
    fn a_programs_session_is_no_cookie_and_a_cookie_no_programs_session() {
        let people = people();
        people.add(seat(1, SessionKind::Browser));
        people.add(seat(2, SessionKind::Program));
        assert!(people.by_id(SessionId::from_bytes([1; 12]), Environment::Test, NOW).is_none());
        assert!(people.by_cookie("\u{2}", Environment::Test, NOW).is_none());
        assert!(people.by_id(SessionId::from_bytes([2; 12]), Environment::Test, NOW).is_some());
    }

    #[test]
    fn who_leaves_is_out_with_the_next_request() {
        let people = people();
        people.add(seat(1, SessionKind::Browser));
        people.remove_person(USER);
        assert!(people.by_cookie("\u{1}", Environment::Test, NOW).is_none() && people.seats().is_empty());
    }
}
