//! The tables of sessions, second factors, invitations and password-reset links, and all access to them.

use std::ops::ControlFlow;

use crate::base::clock::Timestamp;
use crate::base::secret::same;
use crate::engine::store::{Order, Read, Result, RowCheck, Span, Table, WriteTx};
use crate::features::accounts::model::{Invitation, ResetLink, SecondFactor, Session};
use crate::vocab::ids::{InvitationId, SessionId, UserId};
use crate::vocab::tables;

const SESSIONS: Table<SessionId, Session> = Table::new(tables::SESSIONS);
const SECOND_FACTORS: Table<UserId, SecondFactor> = Table::new(tables::SECOND_FACTORS);
const INVITATIONS: Table<InvitationId, Invitation> = Table::new(tables::INVITATIONS);
const RESET_LINKS: Table<[u8; 32], ResetLink> = Table::new(tables::RESET_LINKS);

/// The checks that decode every row of these tables.
pub const ROW_CHECKS: &[RowCheck] =
    &[RowCheck::of(SESSIONS), RowCheck::of(SECOND_FACTORS), RowCheck::of(INVITATIONS), RowCheck::of(RESET_LINKS)];

/// Returns every session. All sessions fit into memory: the cache contains them too.
pub fn sessions(tx: &impl Read) -> Result<Vec<Session>> {
    Ok(tx.list(SESSIONS, &Span::default(), Order::Forward, usize::MAX)?.into_iter().map(|(_, session)| session).collect())
}

pub fn session(tx: &impl Read, id: SessionId) -> Result<Option<Session>> {
    tx.get(SESSIONS, &id)
}

pub fn save_session(tx: &mut WriteTx<'_>, session: &Session) {
    tx.put(SESSIONS, &session.id, session);
}

pub fn delete_sessions(tx: &mut WriteTx<'_>, ids: &[SessionId]) {
    ids.iter().for_each(|id| tx.delete(SESSIONS, id));
}

/// Returns a user's authenticator app and recovery codes, if the user has set up an app.
pub fn second_factor(tx: &impl Read, user: UserId) -> Result<Option<SecondFactor>> {
    tx.get(SECOND_FACTORS, &user)
}

pub fn second_factors(tx: &impl Read) -> Result<Vec<(UserId, SecondFactor)>> {
    tx.list(SECOND_FACTORS, &Span::default(), Order::Forward, usize::MAX)
}

pub fn save_second_factor(tx: &mut WriteTx<'_>, user: UserId, factor: &SecondFactor) {
    tx.put(SECOND_FACTORS, &user, factor);
}

pub fn delete_second_factor(tx: &mut WriteTx<'_>, user: UserId) {
    tx.delete(SECOND_FACTORS, &user);
}

/// Returns every invitation that is still valid. An account can have at most [`crate::vocab::limits::MEMBERS_MAX`] invitations.
pub fn invitations(tx: &impl Read, now: Timestamp) -> Result<Vec<Invitation>> {
    let all = tx.list(INVITATIONS, &Span::default(), Order::Forward, usize::MAX)?.into_iter().map(|(_, invitation)| invitation);
    Ok(all.filter(|invitation| now < invitation.expires_at).collect())
}

/// Returns the invitation whose link has this hash, if the invitation is still valid.
pub fn invitation_by_digest(tx: &impl Read, digest: [u8; 32], now: Timestamp) -> Result<Option<Invitation>> {
    Ok(invitations(tx, now)?.into_iter().find(|invitation| same(&invitation.digest, &digest)))
}

pub fn save_invitation(tx: &mut WriteTx<'_>, invitation: &Invitation) {
    tx.put(INVITATIONS, &invitation.id, invitation);
}

pub fn delete_invitation(tx: &mut WriteTx<'_>, id: InvitationId) {
    tx.delete(INVITATIONS, &id);
}

pub fn save_reset_link(tx: &mut WriteTx<'_>, digest: [u8; 32], link: &ResetLink) {
    tx.put(RESET_LINKS, &digest, link);
}

/// Returns the password-reset link with this hash, if the link is still valid.
pub fn reset_link(tx: &impl Read, digest: [u8; 32], now: Timestamp) -> Result<Option<ResetLink>> {
    Ok(tx.get(RESET_LINKS, &digest)?.filter(|link| now < link.expires_at))
}

pub fn delete_reset_links(tx: &mut WriteTx<'_>, user: UserId) -> Result<()> {
    let mut gone = Vec::new();
    tx.visit(RESET_LINKS, &Span::default(), Order::Forward, |digest, link| {
        if link.user == user {
            gone.push(digest);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    gone.iter().for_each(|digest| tx.delete(RESET_LINKS, digest));
    Ok(())
}

/// Deletes expired rows, up to `limit` of each kind; returns whether there may be more expired rows.
pub fn sweep(tx: &mut WriteTx<'_>, limit: usize) -> Result<bool> {
    let now = tx.now();
    let mut sessions: Vec<SessionId> = Vec::new();
    tx.visit(SESSIONS, &Span::default(), Order::Forward, |id, session| {
        let idle = now.ms_since(session.seen_at) >= session.idle_ms.saturating_add(crate::vocab::limits::SESSION_SEEN_STEP_MS);
        if session.expires_at <= now || idle {
            sessions.push(id);
        }
        Ok(if sessions.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    let mut invitations: Vec<InvitationId> = Vec::new();
    tx.visit(INVITATIONS, &Span::default(), Order::Forward, |id, invitation| {
        if invitation.expires_at <= now {
            invitations.push(id);
        }
        Ok(if invitations.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    let mut links = Vec::new();
    tx.visit(RESET_LINKS, &Span::default(), Order::Forward, |digest, link| {
        if link.expires_at <= now {
            links.push(digest);
        }
        Ok(if links.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    delete_sessions(tx, &sessions);
    invitations.iter().for_each(|id| tx.delete(INVITATIONS, id));
    links.iter().for_each(|digest| tx.delete(RESET_LINKS, digest));
    Ok([sessions.len(), invitations.len(), links.len()].contains(&limit))
}
