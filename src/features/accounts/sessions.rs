//! Starts and ends sessions, and keeps the sessions table and the in-memory cache consistent.

use std::net::IpAddr;
use std::sync::Arc;

use super::api_keys;
use super::model::{Session, User};
use crate::base::clock::Timestamp;
use crate::base::network::counted_as;
use crate::base::secret::{Secret, random_base62, sha256};
use crate::engine::access::session_cache::{CachedSession, SessionKind};
use crate::engine::api::http_types::Peer;
use crate::engine::api::{Context, Engine, Failure};
use crate::engine::store::WriteTx;
use crate::features::accounts::store::sign_in;
use crate::vocab::ids::{SessionId, UserId};
use crate::vocab::limits;

/// The length of a session's token: 43 × log2 62 = 256 random bits.
const TOKEN_CHARACTERS: usize = 43;
const MS_PER_HOUR: i64 = 60 * 60 * 1000;

pub struct NewSession {
    pub session: Arc<CachedSession>,
    /// The token to store in the browser's cookie; unused for a program's session.
    pub token: Secret,
}

/// Starts a session with a new token for `user`, who has authenticated, and records `operation` in the audit log. If the user has too
/// many sessions of this kind, ends the least recently used sessions.
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
        sign_in::delete_sessions(tx, &gone);
        sign_in::save_session(tx, &row);
        api_keys::note_audit(tx, operation, Some(&user), envelope);
        Ok::<_, Failure>(())
    };
    // Use an essential write, because users must be able to sign in, and to see why other writes are refused.
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

/// Returns the lifetime of a program's token in milliseconds.
pub fn token_life_ms(engine: &Engine) -> i64 {
    i64::try_from(engine.settings.accounts.token_minutes.get()).unwrap_or(1).saturating_mul(60_000)
}

/// Returns the network address that a call comes from; `None` if the call does not come from the network.
pub fn address(peer: Peer) -> Option<IpAddr> {
    match peer {
        Peer::Network { address, .. } => Some(address),
        Peer::Operator => None,
    }
}

/// Returns the name under which a caller's attempts are counted; `None` if the call does not come from the network. All addresses of an
/// IPv6 /64 network share a name, because the owner of the network could use a new address for every attempt.
pub fn throttle_name(peer: Peer) -> Option<String> {
    address(peer).map(|address| counted_as(address).to_string())
}

/// Returns the user's least recently used sessions of this kind, which must end to make room for one more.
fn surplus(engine: &Engine, user: UserId, kind: SessionKind) -> Vec<SessionId> {
    let sessions = engine.sessions.sessions();
    let mut own: Vec<&Arc<CachedSession>> =
        sessions.iter().filter(|session| session.user == user && session.kind == kind).collect();
    own.sort_by_key(|session| std::cmp::Reverse(session.seen_at.get()));
    own.into_iter().skip(limits::SESSIONS_PER_USER_MAX - 1).map(|session| session.id).collect()
}

/// Deletes from the table the sessions of `user` that `is_over` selects. After the commit, the caller must call [`forget`].
pub fn end(tx: &mut WriteTx<'_>, engine: &Engine, user: UserId, is_over: impl Fn(&CachedSession) -> bool) {
    let sessions = engine.sessions.sessions();
    let gone: Vec<SessionId> =
        sessions.iter().filter(|session| session.user == user && is_over(session)).map(|session| session.id).collect();
    sign_in::delete_sessions(tx, &gone);
}

/// Removes from the cache the sessions of `user` that `is_over` selects, after [`end`] has removed them from the table.
pub fn forget(engine: &Engine, user: UserId, is_over: impl Fn(&CachedSession) -> bool) {
    engine.sessions.end(|session| session.user == user && is_over(session));
}

/// For each session, stores when the session was last used and when its user last authenticated. Skips a session if the user has not
/// authenticated again and the last use is only slightly later than the stored one. Removes expired sessions from the cache.
pub async fn flush(engine: &Arc<Engine>) -> Result<(), Failure> {
    let now = engine.clock.now();
    engine.sessions.end(|session| !session.works(now));
    let sessions: Vec<(SessionId, Timestamp, Timestamp)> =
        engine.sessions.sessions().iter().map(|session| (session.id, session.seen_at.get(), session.proven_at.get())).collect();
    let tx = engine.control.read();
    let mut moved = Vec::new();
    for (id, seen_at, proven_at) in sessions {
        let Some(session) = sign_in::session(&tx, id)? else { continue };
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
            // Skip a session that ended after it was read.
            if let Some(session) = sign_in::session(tx, id)? {
                sign_in::save_session(tx, &Session { seen_at, proven_at, ..session });
            }
        }
        Ok::<_, Failure>(())
    };
    engine.control.write(write).await?
}
