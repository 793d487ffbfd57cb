//! Erasing a deleted contact from everything that others keep: in stages, each in bounded steps that a crash can interrupt.
//!
//! What stays: counts without names, its number in sets where it means nothing, and, if it had left, bounced or complained, a keyed
//! hash of its address, so that nobody mails it again by mistake. The event that tells other systems of the deletion stays until it
//! is delivered, for at most a week.

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

/// One person and how far their erasure is.
struct ErasureWork {
    project: ProjectId,
    number: u32,
    erasure: Erasure,
    normalised: Option<String>,
    list: SuppressionList,
}

/// TABLE: the stages, in their order. Each says whether it has more to do; each can be repeated.
const STAGES: [fn(&mut WriteTx<'_>, &mut ErasureWork) -> Result<bool>; 9] =
    [suppressed, recipient_rows, messages, activities, events, idempotent_answers, rows_of_jobs, reported_events, external_ids];

/// Erase a little of somebody; true if there may be more.
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

/// Whoever must not be mailed stays on the list, by a hash alone.
fn suppressed(tx: &mut WriteTx<'_>, work: &mut ErasureWork) -> Result<bool> {
    let Some(email) = &work.normalised else { return Ok(false) };
    let (digester, account) = (&work.list.0, work.erasure.account);
    let had_left = matches!(work.erasure.status, Status::Unsubscribed | Status::Bounced);
    if had_left || suppressions::reason(tx, digester, account, email)?.is_some() {
        suppressions::erase(tx, digester, account, email)?;
    }
    Ok(false)
}

/// Rows of mailings: addresses, what servers said, what was done.
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
    // Also in mailings of other projects: the person asked the account, and the address is the same.
    let Some(email) = &work.normalised else { return Ok(()) };
    while let Some((number, _)) = sending::row_of(tx, mailing, work.number, email)? {
        row(tx, mailing, number)?;
        // What they clicked in it before they were a contact.
        if let (Some(project), Some(email)) = (mailing.project, EmailAddress::stored(email)) {
            noncontact_clicks::forget(tx, project, &email, mailing.id)?;
        }
    }
    Ok(())
}

fn row(tx: &mut WriteTx<'_>, mailing: &Mailing, number: u32) -> Result<()> {
    // Whoever still waits is not sent to.
    sending::skip(tx, mailing.id, &[number], &Skip::Erased)?;
    sending::erase(tx, mailing.id, number)?;
    engagement::forget(tx, mailing.id, number);
    Ok(())
}

/// When what was sent and done.
fn activities(tx: &mut WriteTx<'_>, work: &mut ErasureWork) -> Result<bool> {
    super::bounces::forget(tx, work.project, work.number);
    activity::forget(tx, work.project, work.number, ROWS)
}

/// Messages of the built-in inbox.
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

/// Events that wait for delivery, but not the one that tells of the deletion.
fn events(tx: &mut WriteTx<'_>, work: &mut ErasureWork) -> Result<bool> {
    let contact = work.erasure.contact.to_string();
    let about = |data: &serde_json::Value| data["subscriberId"] == contact.as_str() && data["action"] != "deleted";
    outbox::erase(tx, work.erasure.account, &mut work.erasure.after, ROWS, about)
}

/// Answers kept for repeats: what was done is still known, what it said is not.
fn idempotent_answers(tx: &mut WriteTx<'_>, work: &mut ErasureWork) -> Result<bool> {
    let needles = [work.erasure.contact.to_string(), work.erasure.email.clone()];
    idempotency::redact(tx, &mut work.erasure.after, ROWS, &needles)
}

/// What was told of rows of bulk writes and files.
fn rows_of_jobs(tx: &mut WriteTx<'_>, work: &mut ErasureWork) -> Result<bool> {
    jobs::erase(tx, &mut work.erasure.after, ROWS, &work.erasure.email)
}

/// Events that a customer's system has reported.
fn reported_events(tx: &mut WriteTx<'_>, work: &mut ErasureWork) -> Result<bool> {
    customer_events::forget(tx, work.project, work.number, ROWS)
}

/// What other systems call the person; orders do not name it any more.
fn external_ids(tx: &mut WriteTx<'_>, work: &mut ErasureWork) -> Result<bool> {
    let (orders, more) = external_ids::forget(tx, work.project, work.number, ROWS)?;
    for order in orders {
        orders::forget(tx, work.project, order, work.number)?;
    }
    Ok(more)
}
