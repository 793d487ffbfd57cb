//! Erases a deleted contact from all features that store data about it, in stages of bounded steps that a crash can interrupt.
//!
//! What stays: anonymous counts, the contact's number in sets, where it has no effect, and, if the contact had unsubscribed, bounced or
//! complained, a keyed hash of its address, so that it is not mailed again by mistake. The event that reports the deletion to other systems
//! stays until it is delivered, for at most a week.

use std::ops::ControlFlow;

use super::bounces::SuppressionList;
use crate::base::email::EmailAddress;
use crate::engine::access::idempotency;
use crate::engine::api::{Engine, Failure};
use crate::engine::outbox;
use crate::engine::store::key::Key;
use crate::engine::store::{Result, WriteTx};
use crate::features::contacts::erasure::{self, Erasure};
use crate::features::contacts::{Status, activity, customer_events, external_ids, jobs, noncontact_clicks};
use crate::features::sending::{self, Audience, Mailing, Skip};
use crate::features::sending::{engagement, inbox, orders};
use crate::features::suppressions;
use crate::vocab::environment::Environment;
use crate::vocab::ids::{MailingId, ProjectId};
use crate::vocab::limits::{ERASURE_MESSAGES_PER_STEP, ERASURE_ROWS_PER_STEP as ROWS};

/// A contact and the progress of its erasure.
struct ErasureWork {
    project: ProjectId,
    number: u32,
    erasure: Erasure,
    normalised: Option<String>,
    list: SuppressionList,
}

/// TABLE: the stages, in order. Each returns whether it has more to do, and each can be repeated.
const STAGES: [fn(&mut WriteTx<'_>, &mut ErasureWork) -> Result<bool>; 9] =
    [suppressed, recipient_rows, messages, activities, events, idempotent_answers, rows_of_jobs, reported_events, external_ids];

/// Erases a bounded part of a contact's data; returns whether there may be more.
pub async fn step(engine: &Engine, environment: Environment) -> Result<bool, Failure> {
    let store = &engine.data(environment).store;
    if erasure::waiting(&store.read(), 1)?.is_empty() {
        return Ok(false);
    }
    let list = SuppressionList::new(engine);
    Ok(store.write(move |tx| one(tx, list)).await??)
}

fn one(tx: &mut WriteTx<'_>, list: SuppressionList) -> Result<bool> {
    let Some(((project, number), erasure)) = erasure::waiting(tx, 1)?.pop() else { return Ok(false) };
    let normalised = EmailAddress::stored(&erasure.email).map(|email| email.normalised());
    let mut work = ErasureWork { project, number, erasure, normalised, list };
    let stage = STAGES.get(usize::from(work.erasure.stage));
    let more = stage.map(|stage| stage(tx, &mut work)).transpose()?.unwrap_or(false);
    if !more {
        work.erasure.stage += 1;
        work.erasure.after.clear();
    }
    if usize::from(work.erasure.stage) < STAGES.len() {
        erasure::save(tx, (project, number), &work.erasure);
    } else {
        erasure::finish(tx, (project, number));
    }
    Ok(true)
}

/// Keeps addresses that must not be mailed on the list, as a hash only.
fn suppressed(tx: &mut WriteTx<'_>, work: &mut ErasureWork) -> Result<bool> {
    let Some(email) = &work.normalised else { return Ok(false) };
    let (digester, account) = (&work.list.0, work.erasure.account);
    let had_left = matches!(work.erasure.status, Status::Unsubscribed | Status::Bounced);
    if had_left || suppressions::reason(tx, digester, account, email)?.is_some() {
        suppressions::erase(tx, digester, account, email)?;
    }
    Ok(false)
}

/// Recipient rows of mailings: addresses, server responses, recorded actions.
fn recipient_rows(tx: &mut WriteTx<'_>, work: &mut ErasureWork) -> Result<bool> {
    let after = MailingId::read(&mut work.erasure.after.as_slice());
    let mailings = sending::mailings_after(tx, after, ROWS)?;
    for mailing in mailings.iter().filter(|mailing| mailing.account == work.erasure.account) {
        one_mailing(tx, work, mailing)?;
    }
    if let Some(last) = mailings.last() {
        work.erasure.after = last.id.to_bytes();
    }
    Ok(mailings.len() == ROWS)
}

fn one_mailing(tx: &mut WriteTx<'_>, work: &ErasureWork, mailing: &Mailing) -> Result<()> {
    if mailing.audience != Audience::Addresses {
        if mailing.project == Some(work.project) && sending::recipient(tx, mailing.id, work.number)?.is_some() {
            row(tx, mailing, work.number)?;
        }
        return Ok(());
    }
    // Also in mailings of other projects: the request concerns the whole account, and the address is the same.
    let Some(email) = &work.normalised else { return Ok(()) };
    while let Some((number, _)) = sending::row_of(tx, mailing, work.number, email)? {
        row(tx, mailing, number)?;
        // Clicks from before the recipient became a contact.
        if let (Some(project), Some(email)) = (mailing.project, EmailAddress::stored(email)) {
            noncontact_clicks::forget(tx, project, &email, mailing.id)?;
        }
    }
    Ok(())
}

fn row(tx: &mut WriteTx<'_>, mailing: &Mailing, number: u32) -> Result<()> {
    // Skip the message if it is still queued.
    sending::skip(tx, mailing.id, &[number], &Skip::Erased)?;
    sending::erase(tx, mailing.id, number)?;
    engagement::forget(tx, mailing.id, number);
    Ok(())
}

/// The times of sent messages and recorded actions.
fn activities(tx: &mut WriteTx<'_>, work: &mut ErasureWork) -> Result<bool> {
    super::bounces::forget(tx, work.project, work.number);
    activity::forget(tx, work.project, work.number, ROWS)
}

/// Messages in the built-in inbox.
fn messages(tx: &mut WriteTx<'_>, work: &mut ErasureWork) -> Result<bool> {
    let (account, mut messages_of_contact) = (work.erasure.account, Vec::new());
    inbox::all(tx, account, |head| {
        let to = EmailAddress::stored(&head.to).map(|email| email.normalised());
        if to.is_some() && to == work.normalised {
            messages_of_contact.push(head.id);
        }
        if messages_of_contact.len() < ERASURE_MESSAGES_PER_STEP { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    for id in &messages_of_contact {
        inbox::delete(tx, account, *id)?;
    }
    Ok(messages_of_contact.len() == ERASURE_MESSAGES_PER_STEP)
}

/// Queued webhook events, except the one that reports the deletion.
fn events(tx: &mut WriteTx<'_>, work: &mut ErasureWork) -> Result<bool> {
    let contact = work.erasure.contact.to_string();
    let about = |data: &serde_json::Value| data["subscriberId"] == contact.as_str() && data["action"] != "deleted";
    outbox::erase(tx, work.erasure.account, &mut work.erasure.after, ROWS, about)
}

/// Responses kept for idempotent retries: the fact that the request ran stays, its response does not.
fn idempotent_answers(tx: &mut WriteTx<'_>, work: &mut ErasureWork) -> Result<bool> {
    let needles = [work.erasure.contact.to_string(), work.erasure.email.clone()];
    idempotency::redact(tx, &mut work.erasure.after, ROWS, &needles)
}

/// Notes on rows of bulk writes and imports.
fn rows_of_jobs(tx: &mut WriteTx<'_>, work: &mut ErasureWork) -> Result<bool> {
    jobs::erase(tx, &mut work.erasure.after, ROWS, &work.erasure.email)
}

/// Customer events.
fn reported_events(tx: &mut WriteTx<'_>, work: &mut ErasureWork) -> Result<bool> {
    customer_events::forget(tx, work.project, work.number, ROWS)
}

/// External ids of the contact; orders no longer refer to it.
fn external_ids(tx: &mut WriteTx<'_>, work: &mut ErasureWork) -> Result<bool> {
    let (orders, more) = external_ids::forget(tx, work.project, work.number, ROWS)?;
    for order in orders {
        orders::forget(tx, work.project, order, work.number)?;
    }
    Ok(more)
}
