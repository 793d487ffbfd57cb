//! Emits webhook events about contacts, in the transaction of each change (`assets/docs/webhooks.md`).

use serde_json::json;

use crate::engine::access::session_cache::SessionKind;
use crate::engine::api::{Caller, Principal};
use crate::engine::outbox::{self, NewEvent};
use crate::engine::store::WriteTx;
use crate::features::contact_records::Contact;
use crate::vocab::contact_status::Status;
use crate::vocab::ids::{AccountId, JobId, ProjectId};
use crate::vocab::webhook_events::WebhookEvent;

/// What happened to the contact, as reported in `data.action` of the event `subscriber.unsubscribed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The contact unsubscribed, through any channel.
    Unsubscribed,
    /// The contact unsubscribed from some tags, not from all mail.
    TagsLeft,
    /// The contact unsubscribed from one topic, not from all mail.
    TopicLeft,
    /// The contact was deleted.
    Deleted,
    /// A user or program changed the status.
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

/// The channel through which the change was requested, as reported in `data.source` of the event `subscriber.unsubscribed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A program that uses an API key or a token.
    Api,
    /// A member of the account, in the dashboard.
    Dashboard,
    /// The unsubscribe button in an email client (RFC 8058).
    OneClick,
    /// The page that an unsubscribe link in a message opens.
    Link,
    /// An email to the unsubscribe address.
    Mailto,
    /// A spam complaint reported by a mailbox provider.
    Complaint,
    /// The contact unsubscribed through a mail service.
    MailService,
}

impl Source {
    /// Returns `Dashboard` for a user in a browser, and `Api` for all other callers.
    pub fn of(caller: &Caller) -> Self {
        match &caller.principal {
            Principal::User(who) if who.session.kind == SessionKind::Browser => Source::Dashboard,
            _ => Source::Api,
        }
    }

    /// Returns the name of the source in the API.
    pub fn word(self) -> &'static str {
        match self {
            Source::Api => "api",
            Source::Dashboard => "dashboard",
            Source::OneClick => "one_click",
            Source::Link => "link",
            Source::Mailto => "mailto",
            Source::Complaint => "complaint",
            Source::MailService => "mail_service",
        }
    }
}

fn emit(tx: &mut WriteTx<'_>, account: AccountId, project: ProjectId, kind: WebhookEvent, data: serde_json::Value) {
    outbox::emit(tx, NewEvent { kind, account, project: Some(project), conversation: None, data });
}

/// Emits the event for a new contact.
pub fn added(tx: &mut WriteTx<'_>, caller: &Caller, project: ProjectId, contact: &Contact, tags: &[String]) {
    let data = json!({ "subscriberId": contact.id, "projectId": project, "email": contact.email, "tags": tags });
    emit(tx, caller.account(), project, WebhookEvent::SubscriberAdded, data);
}

/// Emits the event for a contact changed with `PATCH /v1/contacts/{id}`. No other operation emits this event (`assets/docs/contacts.md`),
/// not even a status change, a bulk write or a customer event with a profile.
pub fn updated(tx: &mut WriteTx<'_>, caller: &Caller, project: ProjectId, contact: &Contact) {
    let data = json!({ "subscriberId": contact.id, "projectId": project, "email": contact.email });
    emit(tx, caller.account(), project, WebhookEvent::SubscriberUpdated, data);
}

/// Emits the event `subscriber.unsubscribed` if the contact became unsubscribed. No other status change has an event.
pub fn status_changed(tx: &mut WriteTx<'_>, place: (AccountId, ProjectId), source: Source, before: &Contact, after: &Contact) {
    if before.status != after.status && after.status == Status::Unsubscribed {
        unsubscribed(tx, place, after, Action::StatusChanged, source);
    }
}

/// Emits the event for a contact that unsubscribed or was deleted.
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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BulkCounts {
    pub success: u64,
    pub failed: u64,
    pub updated: u64,
}

/// Emits the event for a finished bulk write or import.
pub fn bulk_imported(tx: &mut WriteTx<'_>, (account, project): (AccountId, ProjectId), counts: BulkCounts, job: Option<JobId>) {
    let BulkCounts { success, failed, updated } = counts;
    let data = json!({ "projectId": project, "success": success, "failed": failed, "updated": updated, "jobId": job });
    let kind = WebhookEvent::SubscriberBulkImported;
    outbox::emit(tx, NewEvent { kind, account, project: Some(project), conversation: None, data });
}
