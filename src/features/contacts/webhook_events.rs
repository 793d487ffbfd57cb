//! Webhook events about contacts, written in the transaction of the change (`assets/docs/webhooks.md`).

use serde_json::json;

use super::model::{Contact, Status};
use crate::engine::access::session_cache::SessionKind;
use crate::engine::api::{Caller, Principal};
use crate::engine::outbox::{self, NewEvent};
use crate::engine::store::WriteTx;
use crate::vocab::ids::{AccountId, JobId, ProjectId};
use crate::vocab::webhook_events::WebhookEvent;

/// Why somebody is not subscribed any more: `data.action` of `subscriber.unsubscribed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The contact's own word, whichever way it came.
    Unsubscribed,
    /// Through the same, but from some tags only.
    TagsLeft,
    /// The same, but from one topic only.
    TopicLeft,
    /// The contact is gone.
    Deleted,
    /// Somebody changed the status.
    StatusChanged,
}

impl Action {
    fn word(self) -> &'static str {
        match self {
            Action::Unsubscribed => "unsubscribed",
            Action::TagsLeft => "tags_left",
            Action::TopicLeft => "topic_left",
            Action::Deleted => "deleted",
            Action::StatusChanged => "status_changed",
        }
    }
}

/// Which way the word came: `data.source` of `subscriber.unsubscribed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A program with a key or a token.
    Api,
    /// A member of the account, in the dashboard.
    Dashboard,
    /// The button of a mail client (RFC 8058).
    OneClick,
    /// The page behind a link in a message.
    Link,
    /// A message to the address for unsubscribing.
    Mailto,
    /// Its mail service says that it called a message spam.
    Complaint,
}

impl Source {
    /// Where a call of an operation comes from.
    pub fn of(caller: &Caller) -> Self {
        match &caller.principal {
            Principal::User(who) if who.session.kind == SessionKind::Browser => Source::Dashboard,
            _ => Source::Api,
        }
    }

    /// The word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Source::Api => "api",
            Source::Dashboard => "dashboard",
            Source::OneClick => "one_click",
            Source::Link => "link",
            Source::Mailto => "mailto",
            Source::Complaint => "complaint",
        }
    }
}

fn emit(tx: &mut WriteTx<'_>, account: AccountId, project: ProjectId, kind: WebhookEvent, data: serde_json::Value) {
    outbox::emit(tx, NewEvent { kind, account, project: Some(project), conversation: None, data });
}

/// A contact was created.
pub fn added(tx: &mut WriteTx<'_>, caller: &Caller, project: ProjectId, contact: &Contact, tags: &[String]) {
    let data = json!({ "subscriberId": contact.id, "projectId": project, "email": contact.email, "tags": tags });
    emit(tx, caller.account(), project, WebhookEvent::SubscriberAdded, data);
}

/// `PATCH /v1/contacts/{id}` changed a contact. Only this operation emits the event (`assets/docs/contacts.md`): status changes alone, bulk
/// writes and customer events with a profile do not.
pub fn updated(tx: &mut WriteTx<'_>, caller: &Caller, project: ProjectId, contact: &Contact) {
    let data = json!({ "subscriberId": contact.id, "projectId": project, "email": contact.email });
    emit(tx, caller.account(), project, WebhookEvent::SubscriberUpdated, data);
}

/// Somebody has changed a contact's status, perhaps to one that is told.
pub fn status_changed(tx: &mut WriteTx<'_>, place: (AccountId, ProjectId), source: Source, before: &Contact, after: &Contact) {
    if before.status != after.status && after.status == Status::Unsubscribed {
        unsubscribed(tx, place, after, Action::StatusChanged, source);
    }
}

/// A contact unsubscribed, or is gone.
pub fn unsubscribed(
    tx: &mut WriteTx<'_>,
    (account, project): (AccountId, ProjectId),
    contact: &Contact,
    action: Action,
    source: Source,
) {
    let data = json!({
        "subscriberId": contact.id, "projectId": project, "email": contact.email, "action": action.word(), "source": source.word(),
    });
    emit(tx, account, project, WebhookEvent::SubscriberUnsubscribed, data);
}

/// What a bulk import did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BulkCounts {
    pub success: u64,
    pub failed: u64,
    pub updated: u64,
}

/// A bulk import is complete.
pub fn bulk_imported(tx: &mut WriteTx<'_>, (account, project): (AccountId, ProjectId), counts: BulkCounts, job: Option<JobId>) {
    let BulkCounts { success, failed, updated } = counts;
    let data = json!({ "projectId": project, "success": success, "failed": failed, "updated": updated, "jobId": job });
    let kind = WebhookEvent::SubscriberBulkImported;
    outbox::emit(tx, NewEvent { kind, account, project: Some(project), conversation: None, data });
}
