//! Erases a deleted contact's data from all features that store such data. The erasure consists of stages and bounded steps, and continues
//! after a crash.
//!
//! Some data is kept: anonymous counts; the contact's number in sets, where the number has no effect; and, if the contact had unsubscribed,
//! bounced or complained, a keyed hash of the address, so that the address is not mailed again by mistake. The webhook event that reports
//! the deletion is kept until it expires after a week.

use std::ops::ControlFlow;

use serde_json::Value;

use super::bounces::SuppressionList;
use crate::base::email::EmailAddress;
use crate::engine::access::idempotency;
use crate::engine::api::{Engine, Failure};
use crate::engine::outbox;
use crate::engine::store::key::Key;
use crate::engine::store::{Error, Result, Store, WriteTx};
use crate::features::contact_records::activity;
use crate::features::contacts::erasure::{self, Erasure};
use crate::features::contacts::{jobs, noncontact_clicks};
use crate::features::customer_events::{self, external_ids};
use crate::features::sending::{self, Audience, Mailing, Skip, inbox};
use crate::features::{engagement, revenue, suppressions};
use crate::vocab::contact_status::Status;
use crate::vocab::environment::Environment;
use crate::vocab::ids::{MailingId, ProjectId};
use crate::vocab::limits::{ERASURE_MESSAGES_PER_STEP, ERASURE_ROWS_PER_STEP as ROWS};

/// A contact to erase, and the progress of the erasure.
struct ErasureWork {
    project: ProjectId,
    number: u32,
    erasure: Erasure,
    normalized: Option<String>,
    list: SuppressionList,
    /// The maximum number of mailings to check in one step.
    mailings_max: usize,
}

/// TABLE: the stages of an erasure, in order. Each stage returns whether it has more data to erase, and can be repeated.
const STAGES: [fn(&mut WriteTx<'_>, &mut ErasureWork) -> Result<bool>; 9] =
    [suppressed, recipient_rows, messages, activities, events, idempotent_answers, rows_of_jobs, reported_events, external_ids];
/// The index of [`recipient_rows`] in [`STAGES`].
const RECIPIENT_ROWS: u8 = 1;

/// Erases a limited part of a contact's data. Returns whether more data may remain.
pub async fn step(engine: &Engine, environment: Environment) -> Result<bool, Failure> {
    let store = &engine.data(environment).store;
    if erasure::waiting(&store.read(), 1)?.is_empty() {
        return Ok(false);
    }
    let list = SuppressionList::new(engine);
    let all = list.clone();
    match store.write(move |tx| one(tx, all, ROWS)).await {
        Ok(Err(Error::Damaged { .. })) | Err(Error::Panicked) => past_damage(store, list).await,
        erased => Ok(erased??),
    }
}

/// Repeats a step that failed because of a damaged row or a panic, this time for only one mailing. If the step fails again, skips that
/// mailing, so that one row does not block the erasure of all contacts. In stages that do not process mailings, skips the rest of the
/// stage.
async fn past_damage(store: &Store, list: SuppressionList) -> Result<bool, Failure> {
    let erased = store.write(move |tx| one(tx, list, 1)).await;
    match erased.and_then(|erased| erased) {
        Err(error @ (Error::Damaged { .. } | Error::Panicked)) => Ok(store.write(move |tx| skip(tx, &error)).await??),
        erased => Ok(erased?),
    }
}

fn one(tx: &mut WriteTx<'_>, list: SuppressionList, mailings_max: usize) -> Result<bool> {
    let Some(((project, number), erasure)) = erasure::waiting(tx, 1)?.pop() else { return Ok(false) };
    let normalized = EmailAddress::stored(&erasure.email).map(|email| email.normalized());
    let mut work = ErasureWork { project, number, erasure, normalized, list, mailings_max };
    let stage = STAGES.get(usize::from(work.erasure.stage));
    let more = stage.map(|stage| stage(tx, &mut work)).transpose()?.unwrap_or(false);
    if !more {
        end_stage(&mut work.erasure);
    }
    save(tx, (project, number), &work.erasure);
    Ok(true)
}

fn skip(tx: &mut WriteTx<'_>, error: &Error) -> Result<bool> {
    let Some((place, mut erasure)) = erasure::waiting(tx, 1)?.pop() else { return Ok(false) };
    let (contact, stage) = (erasure.contact, erasure.stage);
    tracing::error!(%error, %contact, stage, "some data of a deleted contact could not be erased");
    let after = MailingId::read(&mut erasure.after.as_slice());
    if stage == RECIPIENT_ROWS
        && let Some(mailing) = sending::mailings_after(tx, after, 1)?.pop()
    {
        erasure.after = mailing.id.to_bytes();
    } else {
        end_stage(&mut erasure);
    }
    save(tx, place, &erasure);
    Ok(true)
}

fn end_stage(erasure: &mut Erasure) {
    erasure.stage += 1;
    erasure.after.clear();
}

/// Saves the progress of an erasure. After the last stage, removes the erasure from the queue.
fn save(tx: &mut WriteTx<'_>, place: (ProjectId, u32), erasure: &Erasure) {
    if usize::from(erasure.stage) < STAGES.len() {
        erasure::save(tx, place, erasure);
    } else {
        erasure::finish(tx, place);
    }
}

/// If an address must not be mailed, keeps it on the suppression list, but only as a hash.
fn suppressed(tx: &mut WriteTx<'_>, work: &mut ErasureWork) -> Result<bool> {
    let Some(email) = &work.normalized else { return Ok(false) };
    let (digester, account) = (&work.list.0, work.erasure.account);
    let had_left = matches!(work.erasure.status, Status::Unsubscribed | Status::Bounced);
    if had_left || suppressions::reason(tx, digester, account, email)?.is_some() {
        suppressions::erase(tx, digester, account, email)?;
    }
    Ok(false)
}

/// Erases the contact's addresses, server responses and recorded actions from the mailings' recipient rows.
fn recipient_rows(tx: &mut WriteTx<'_>, work: &mut ErasureWork) -> Result<bool> {
    let after = MailingId::read(&mut work.erasure.after.as_slice());
    let mailings = sending::mailings_after(tx, after, work.mailings_max)?;
    for mailing in mailings.iter().filter(|mailing| mailing.account == work.erasure.account) {
        one_mailing(tx, work, mailing)?;
    }
    if let Some(last) = mailings.last() {
        work.erasure.after = last.id.to_bytes();
    }
    Ok(mailings.len() == work.mailings_max)
}

fn one_mailing(tx: &mut WriteTx<'_>, work: &ErasureWork, mailing: &Mailing) -> Result<()> {
    if mailing.audience != Audience::Addresses {
        if mailing.project == Some(work.project) && sending::recipient(tx, mailing.id, work.number)?.is_some() {
            row(tx, mailing, work.number)?;
        }
        return Ok(());
    }
    // Rows for the same address in mailings of other projects are included, because the erasure applies to the whole account.
    let Some(email) = &work.normalized else { return Ok(()) };
    while let Some((number, _)) = sending::row_of(tx, mailing, work.number, email)? {
        row(tx, mailing, number)?;
        // Also erase clicks from before the recipient became a contact.
        if let (Some(project), Some(email)) = (mailing.project, EmailAddress::stored(email)) {
            noncontact_clicks::forget(tx, project, &email, mailing.id)?;
        }
    }
    Ok(())
}

fn row(tx: &mut WriteTx<'_>, mailing: &Mailing, number: u32) -> Result<()> {
    // If the message is still queued, skip it.
    sending::skip(tx, mailing.id, &[number], &Skip::Erased)?;
    sending::erase(tx, mailing.id, number)?;
    engagement::forget(tx, mailing.id, number);
    Ok(())
}

/// Erases the contact's activity (when messages were sent, opened and clicked) and its count of soft bounces.
fn activities(tx: &mut WriteTx<'_>, work: &mut ErasureWork) -> Result<bool> {
    super::bounces::forget(tx, work.project, work.number);
    activity::forget(tx, work.project, work.number, ROWS)
}

/// Erases the contact's messages in the built-in inbox.
fn messages(tx: &mut WriteTx<'_>, work: &mut ErasureWork) -> Result<bool> {
    let (account, mut messages_of_contact) = (work.erasure.account, Vec::new());
    inbox::all(tx, account, |head| {
        let to = EmailAddress::stored(&head.to).map(|email| email.normalized());
        if to.is_some() && to == work.normalized {
            messages_of_contact.push(head.id);
        }
        if messages_of_contact.len() < ERASURE_MESSAGES_PER_STEP { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    for id in &messages_of_contact {
        inbox::delete(tx, account, *id)?;
    }
    Ok(messages_of_contact.len() == ERASURE_MESSAGES_PER_STEP)
}

/// Erases stored webhook events about the contact, except the event that reports the deletion.
fn events(tx: &mut WriteTx<'_>, work: &mut ErasureWork) -> Result<bool> {
    let ErasureWork { erasure, normalized, .. } = work;
    let contact = erasure.contact.to_string();
    let about = |data: &Value| match data["subscriberId"].as_str() {
        Some(id) => id == contact && data["action"] != "deleted",
        // Events about test sends, and events about messages to an address that belonged to no contact at the time, contain only the
        // address.
        None => ["email", "recipient"].into_iter().filter_map(|field| data[field].as_str()).any(|email| {
            let email = EmailAddress::stored(email).map(|email| email.normalized());
            email.is_some() && email == *normalized
        }),
    };
    outbox::erase(tx, erasure.account, &mut erasure.after, ROWS, about)
}

/// Erases responses that name the contact and are kept for idempotent retries. The record that the request was executed is kept.
fn idempotent_answers(tx: &mut WriteTx<'_>, work: &mut ErasureWork) -> Result<bool> {
    let needles = [work.erasure.contact.to_string(), work.erasure.email.clone()];
    idempotency::redact(tx, &mut work.erasure.after, ROWS, &needles)
}

/// Erases the contact from the results of bulk writes and imports.
fn rows_of_jobs(tx: &mut WriteTx<'_>, work: &mut ErasureWork) -> Result<bool> {
    jobs::erase(tx, &mut work.erasure.after, ROWS, &work.erasure.email)
}

/// Erases the contact's customer events.
fn reported_events(tx: &mut WriteTx<'_>, work: &mut ErasureWork) -> Result<bool> {
    customer_events::forget(tx, work.project, work.number, ROWS)
}

/// Erases the contact's external IDs and the references from orders to the contact.
fn external_ids(tx: &mut WriteTx<'_>, work: &mut ErasureWork) -> Result<bool> {
    let (orders, more) = external_ids::forget(tx, work.project, work.number, ROWS)?;
    for order in orders {
        revenue::forget(tx, work.project, order, work.number)?;
    }
    Ok(more)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::engine::outbox::NewEvent;
    use crate::testing::TestApp;
    use crate::vocab::tables;
    use crate::vocab::webhook_events::WebhookEvent;

    // Regression: the step failed repeatedly because of a damaged row, so the data of all deleted contacts was kept.
    #[test]
    fn damaged_rows_do_not_stop_the_erasure_of_other_rows() {
        let app = TestApp::new();
        let contact = app.post_in("/v1/contacts", json!({ "email": "ada@example.com" })).data()["id"].clone();
        let send = || {
            // Mailings are checked in order of creation, so each mailing needs a different creation time.
            app.clock.advance_ms(1_000);
            let body = json!({
                "recipientType": "email", "recipientEmail": "ada@example.com", "from": "a@example.com", "subject": "Hello",
                "template": "<p>Hello</p>",
            });
            let send = app.post_in("/v1/sending", body).data()["sendId"].clone();
            MailingId::parse(send.as_str().expect("the ID is a string")).expect("the ID is valid")
        };
        let (mailing, recipient, sound) = (send(), send(), send());
        let write = move |tx: &mut WriteTx<'_>| {
            tx.put_bytes(tables::MAILINGS, mailing.to_bytes(), vec![0xFF]);
            tx.put_bytes(tables::RECIPIENTS, (recipient, 0_u32).to_bytes(), vec![0xFF]);
            Ok::<_, Error>(())
        };
        app.data().store.write_blocking(write).expect("the store can be written").expect("the write succeeds");
        app.delete_in(&format!("/v1/contacts/{}", contact.as_str().expect("the ID is a string"))).data();
        while app.wait(step(app.engine(), Environment::Test)).expect("the erasure continues") {}
        assert!(erasure::waiting(&app.read(), 1).expect("the store can be read").is_empty());
        let row = sending::recipient(&app.read(), sound, 0).expect("the store can be read").expect("the row exists");
        assert_eq!(row.address.expect("the row keeps an empty address").email, "");
    }

    // Regression: only events with the contact's ID were erased, so the address remained in the outbox and in the records of deliveries.
    #[test]
    fn events_that_contain_only_the_address_of_a_contact_are_erased() {
        let app = TestApp::new();
        let contact = app.post_in("/v1/contacts", json!({ "email": "Ada@example.com" })).data()["id"].clone();
        let (account, project) = (app.account(), Some(app.project));
        let write = move |tx: &mut WriteTx<'_>| {
            outbox::add_interest(tx, account, WebhookEvent::EmailDelivered, false, 1)?;
            for (kind, data) in [
                (WebhookEvent::EmailTestSent, json!({ "recipient": "ADA@example.com" })),
                (WebhookEvent::EmailTestSent, json!({ "recipient": "grace@example.com" })),
                (WebhookEvent::EmailDelivered, json!({ "email": "ada@example.com" })),
                (
                    WebhookEvent::EmailDelivered,
                    json!({ "email": "ada@example.com", "subscriberId": "a contact of another brand" }),
                ),
            ] {
                outbox::emit(tx, NewEvent { kind, account, project, conversation: None, data });
            }
            Ok::<_, Error>(())
        };
        app.data().store.write_blocking(write).expect("the store can be written").expect("the write succeeds");
        app.delete_in(&format!("/v1/contacts/{}", contact.as_str().expect("the ID is a string"))).data();
        while app.wait(step(app.engine(), Environment::Test)).expect("the erasure succeeds") {}
        let waiting = outbox::waiting(&app.read(), 100).expect("the store is readable");
        let kept = |kind: WebhookEvent| -> Vec<Value> {
            let of_kind = waiting.iter().filter(|(_, event)| event.kind == kind);
            of_kind.map(|(_, event)| event.envelope()["data"].clone()).collect()
        };
        assert_eq!(kept(WebhookEvent::EmailTestSent), [json!({ "recipient": "grace@example.com" })]);
        let delivered = kept(WebhookEvent::EmailDelivered);
        assert_eq!((delivered.len(), &delivered[0]["subscriberId"]), (1, &json!("a contact of another brand")));
        assert!(kept(WebhookEvent::SubscriberAdded).is_empty());
    }
}
