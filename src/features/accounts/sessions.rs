//! Sessions: the table and the in-memory cache, changed together.

use std::net::IpAddr;
use std::sync::Arc;

use super::model::{Session, User};
use super::{api_keys, user_store};
use crate::base::clock::Timestamp;
use crate::base::network::counted_as;
use crate::base::secret::{Secret, random_base62, sha256};
use crate::engine::access::session_cache::{CachedSession, SessionKind};
use crate::engine::api::http_types::Peer;
use crate::engine::api::{Context, Engine, Failure};
use crate::engine::store::WriteTx;
use crate::vocab::ids::{SessionId, UserId};
use crate::vocab::limits;

/// 43 × log2 62 = 256 random bits.
const TOKEN_CHARACTERS: usize = 43;
const MS_PER_HOUR: i64 = 60 * 60 * 1000;

/// A session that has just started.
pub struct NewSession {
    pub session: Arc<CachedSession>,
    /// The content of the browser's cookie; unused for a program's session.
    pub token: Secret,
}

/// Starts a session of `user`, who has authenticated, and records `operation`. It is always a new session with a new token; the browser's
/// previous token becomes useless.
pub async fn begin(
    context: &Context,
    user: &User,
    kind: SessionKind,
    agent: &str,
    operation: &'static str,
) -> Result<NewSession, Failure> {
    let engine = &context.engine;
    let token = Secret::new(random_base62(engine.random.as_ref(), TOKEN_CHARACTERS));
    let session = new_session(context, user.id, kind, agent, &token);
    let _turn = api_keys::CACHE_LOCK.lock().await;
    let surplus = surplus(engine, user.id, kind);
    let (row, envelope, user) = (session.clone(), context.envelope, user.clone());
    let gone = surplus.clone();
    let write = move |tx: &mut WriteTx<'_>| {
        user_store::delete_sessions(tx, &gone);
        user_store::save_session(tx, &row);
        api_keys::note_audit(tx, operation, Some(&user), envelope);
        Ok::<_, Failure>(())
    };
    // Essential, because users must be able to sign in to see what is wrong.
    engine.control.write_essential(write).await??;
    engine.sessions.end(|session| surplus.contains(&session.id));
    let session = Arc::new(api_keys::cached_session(&session));
    engine.sessions.add(session.clone());
    Ok(NewSession { session, token })
}

fn new_session(context: &Context, user: UserId, kind: SessionKind, agent: &str, token: &Secret) -> Session {
    let settings = &context.engine.settings.accounts;
    let now = context.now();
    let hours = |hours: u64| i64::try_from(hours).unwrap_or(i64::MAX / MS_PER_HOUR).saturating_mul(MS_PER_HOUR);
    let (life_ms, idle_ms, digest) = match kind {
        SessionKind::Browser => {
            let idle = hours(settings.session_idle_hours.get());
            (hours(24 * settings.session_days.get()), idle, sha256(token.expose().as_bytes()))
        }
        SessionKind::Program => (token_life_ms(&context.engine), i64::MAX, [0; 32]),
    };
    Session {
        id: SessionId::make(now, context.engine.random.as_ref()),
        user,
        kind,
        digest,
        created_at: now,
        expires_at: now.plus_ms(life_ms),
        idle_ms,
        seen_at: now,
        proven_at: now,
        address: address(context.caller.peer).map(|address| address.to_string()).unwrap_or_default(),
        agent: agent.chars().filter(|character| !character.is_control()).take(limits::AGENT_CHARACTERS_MAX).collect(),
    }
}

/// Returns the lifetime of a program's token.
pub fn token_life_ms(engine: &Engine) -> i64 {
    i64::try_from(engine.settings.accounts.token_minutes.get()).unwrap_or(1).saturating_mul(60_000)
}

/// Returns the address that a call comes from, if it comes from the network.
pub fn address(peer: Peer) -> Option<IpAddr> {
    match peer {
        Peer::Network { address, .. } => Some(address),
        Peer::Operator => None,
    }
}

/// Returns the name under which a call's attempts are counted, if it comes from the network. An IPv6 network counts as one, because its
/// owner has a new address for every attempt.
pub fn throttle_name(peer: Peer) -> Option<String> {
    address(peer).map(|address| counted_as(address).to_string())
}

/// Returns the sessions of this kind that must end to admit one more.
fn surplus(engine: &Engine, user: UserId, kind: SessionKind) -> Vec<SessionId> {
    let sessions = engine.sessions.sessions();
    let mut own: Vec<&Arc<CachedSession>> =
        sessions.iter().filter(|session| session.user == user && session.kind == kind).collect();
    own.sort_by_key(|session| std::cmp::Reverse(session.seen_at.get()));
    own.into_iter().skip(limits::SESSIONS_PER_USER_MAX - 1).map(|session| session.id).collect()
}

/// Deletes the sessions of `user` that `is_over` selects from the table. [`forget`] follows after the commit.
pub fn end(tx: &mut WriteTx<'_>, engine: &Engine, user: UserId, is_over: impl Fn(&CachedSession) -> bool) {
    let sessions = engine.sessions.sessions();
    let gone: Vec<SessionId> =
        sessions.iter().filter(|session| session.user == user && is_over(session)).map(|session| session.id).collect();
    user_store::delete_sessions(tx, &gone);
}

/// Removes the same sessions from the cache.
pub fn forget(engine: &Engine, user: UserId, is_over: impl Fn(&CachedSession) -> bool) {
    engine.sessions.end(|session| session.user == user && is_over(session));
}

/// Writes when sessions were last used, if that moves their expiry, and removes expired ones from the cache.
pub async fn flush(engine: &Arc<Engine>) -> Result<(), Failure> {
    let now = engine.clock.now();
    engine.sessions.end(|session| !session.works(now));
    let sessions: Vec<(SessionId, Timestamp, Timestamp)> =
        engine.sessions.sessions().iter().map(|session| (session.id, session.seen_at.get(), session.proven_at.get())).collect();
    let tx = engine.control.read();
    let mut moved = Vec::new();
    for (id, seen_at, proven_at) in sessions {
        let Some(session) = user_store::session(&tx, id)? else { continue };
        if seen_at.ms_since(session.seen_at) >= limits::SESSION_SEEN_STEP_MS || proven_at > session.proven_at {
            moved.push((id, seen_at, proven_at));
        }
    }
    drop(tx);
    if moved.is_empty() {
        return Ok(());
    }
    let write = move |tx: &mut WriteTx<'_>| {
        for (id, seen_at, proven_at) in moved {
            // A session that was ended meanwhile stays ended.
            if let Some(session) = user_store::session(tx, id)? {
                user_store::save_session(tx, &Session { seen_at, proven_at, ..session });
            }
        }
        Ok::<_, Failure>(())
    };
    engine.control.write(write).await?
}
