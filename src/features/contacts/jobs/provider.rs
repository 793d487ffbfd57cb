//! Imports contacts from a connected platform. The feature that owns the connections reads the pages; this file checks and applies them.
//!
//! Invariant: one transaction contains a page's contacts, webhook events, counts and notes, and the position of the next page. If the
//! process ends at any point, the import resumes after the last committed page, and no contact is counted twice.
//!
//! An invalid value or a limit never excludes a contact, because its unsubscribed or bounced status must be imported. Only contacts
//! with an invalid address, and contacts that cannot be read, are refused.

use std::collections::BTreeMap;

pub use super::model::{Pause, Position};

use super::import::{PROJECT_GONE, project_exists};
use super::{Job, ProviderImport, State, Task, add_notes, find_open, finish, open_jobs, save};
use crate::base::clock::Timestamp;
use crate::base::email::EmailAddress;
use crate::engine::store::{Read, Result, WriteTx};
use crate::features::contact_records::email_index;
use crate::features::contact_records::fields::{self, FieldValue};
use crate::features::contacts::batch::{self, Batch, Counts, OnConflict, RowNote};
use crate::features::contacts::webhook_events::Source;
use crate::features::contacts::write::ContactInput;
use crate::features::tags::TagName;
use crate::vocab::contact_fields::Profile;
use crate::vocab::contact_status::Status;
use crate::vocab::ids::{AccountId, ConnectionId, JobId, ProjectId};
use crate::vocab::limits;
use crate::vocab::providers::ConsentMode;

/// A contact as the platform describes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExternalContact {
    pub email: String,
    pub profile: Profile<String>,
    pub tags: Vec<String>,
    pub custom_fields: BTreeMap<String, FieldValue>,
    /// The contact's status; `None` if the contact neither subscribed nor unsubscribed.
    pub status: Option<Status>,
}

/// A contact whose data is not in the documented format, with its address if the address could be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableContact(pub Option<String>);

/// A contact that was read from the platform, or a contact that could not be read.
pub type ReadContact = std::result::Result<ExternalContact, UnreadableContact>;

/// A page of consecutive contacts of one source.
#[derive(Debug)]
pub struct ProviderPage {
    pub contacts: Vec<ReadContact>,
    /// The position of the next page; `None` after the last page of the last source.
    pub next: Option<Position>,
    /// The number of contacts in the source of the next page, if the platform states it.
    pub expected: Option<u64>,
}

/// A page whose contacts are checked and ready for the transaction.
pub struct CheckedPage {
    from: Position,
    next: Option<Position>,
    expected: Option<u64>,
    read: u64,
    batch: Batch,
    failed: u64,
    excluded: u64,
    notes: Vec<RowNote>,
    tag: Option<TagName>,
}

impl ProviderImport {
    /// Returns whether the import is paused at this time. Ignores a pause longer than the maximum, because such a pause was stored while
    /// the clock was wrong.
    pub fn waits_at(&self, now: Timestamp) -> bool {
        let is_valid = |pause: &Pause| now < pause.until && pause.until.ms_since(now) <= limits::PROVIDER_PAUSE_MS_MAX;
        self.pause.as_ref().is_some_and(is_valid)
    }

    /// Returns the number of parts that are read one after another: the sources, and then the account's changes.
    pub fn parts(&self) -> usize {
        self.sources.len() + usize::from(self.reads_changes)
    }

    /// Returns whether this part of the import reads the account's changed contacts, which it reads regardless of their source.
    pub fn is_of_changes(&self, part: u32) -> bool {
        part as usize >= self.sources.len()
    }

    /// Returns the estimated share of the import that is done, from 0 to 1. Each source counts as an equal part, and a source of
    /// unknown size counts only once it has been read completely.
    pub fn progress(&self) -> f64 {
        let share = match self.expected {
            Some(expected) if expected > 0 => (self.read as f64 / expected as f64).min(1.0),
            _ => 0.0,
        };
        let all = self.parts().max(1) as f64;
        ((f64::from(self.position.source) + share) / all * 1e3).floor().min(1e3) / 1e3
    }

    /// Checks the contacts on the page that starts at the import's position.
    pub fn check(&self, page: ProviderPage) -> CheckedPage {
        let read = page.contacts.len() as u64;
        let CheckedContacts { mut batch, failed, mut excluded, notes } = checked(page.contacts, self.row, self.consent_mode);
        let (from, mut tag) = (self.position.clone(), TagName::parse(&self.tag).ok());
        if self.is_of_changes(from.source) {
            // Update only changed contacts that are already in the project: a changed contact that is not there does not belong to any of
            // the import's sources.
            (batch, excluded, tag) = (batch.only_known(), 0, None);
        }
        CheckedPage { from, next: page.next, expected: page.expected, read, batch, failed, excluded, notes, tag }
    }
}

pub(super) struct CheckedContacts {
    pub batch: Batch,
    pub failed: u64,
    pub excluded: u64,
    pub notes: Vec<RowNote>,
}

/// Checks contacts, and gives them consecutive row numbers that start after `row`.
pub(super) fn checked(contacts: Vec<ReadContact>, row: u32, consent_mode: ConsentMode) -> CheckedContacts {
    let (mut rows, mut notes) = (Vec::with_capacity(contacts.len()), Vec::new());
    let (mut failed, mut excluded) = (0, 0);
    for (row, external) in (row + 1..).zip(contacts) {
        let external = match external {
            Ok(external) => external,
            Err(UnreadableContact(email)) => {
                failed += 1;
                let error = "the platform returned this contact in an unknown format, so it was not imported".to_owned();
                notes.push(RowNote { row, email, field: "contact".to_owned(), error });
                continue;
            }
        };
        let status = match (external.status, consent_mode) {
            (Some(status), _) => status,
            (None, ConsentMode::IncludeAll) => Status::NonSubscribed,
            (None, ConsentMode::SubscribedOnly) => {
                excluded += 1;
                continue;
            }
        };
        match input(row, external, status, &mut notes) {
            Some(input) => rows.push((row, input)),
            None => failed += 1,
        }
    }
    notes.truncate(limits::BULK_ERRORS_SHOWN_MAX);
    CheckedContacts { batch: Batch::new(rows).keeping_status(), failed, excluded, notes }
}

/// The results of an import without a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    pub imported: u64,
    /// The number of contacts who neither subscribed nor unsubscribed, and were left out.
    pub excluded: u64,
    pub failed: u64,
}

/// Imports contacts in this transaction, without a job. Adds the tag to each contact, unless a limit on tags prevents this.
pub fn import_now(
    tx: &mut WriteTx<'_>,
    place: (AccountId, ProjectId),
    (contacts, tag): (Vec<ReadContact>, &str),
    consent_mode: ConsentMode,
) -> Result<Imported> {
    let CheckedContacts { batch, failed, excluded, .. } = checked(contacts, 0, consent_mode);
    let tag = TagName::parse(tag).ok();
    let counts = batch::apply(tx, place, batch, (OnConflict::Upsert, tag.as_slice()), Source::Api)?.counts;
    Ok(Imported { imported: counts.total - counts.failed, excluded, failed: failed + counts.failed })
}

/// Converts a contact from the platform, and adds a note if a value is left out or the address is invalid. Returns `None` if the address is
/// invalid.
fn input(row: u32, external: ExternalContact, status: Status, notes: &mut Vec<RowNote>) -> Option<ContactInput> {
    let shown: String = external.email.trim().chars().take(254).collect();
    let mut note = |field: &str, error: String| {
        // The key of a note is its row number, so a row has at most one note.
        if notes.last().is_none_or(|last| last.row != row) {
            let email = Some(shown.clone()).filter(|email| !email.is_empty());
            notes.push(RowNote { row, email, field: field.to_owned(), error });
        }
    };
    let email = match EmailAddress::parse(&external.email) {
        Ok(email) => email,
        Err(error) => {
            note("email", error.to_string());
            return None;
        }
    };
    let mut input = ContactInput { status: Some(status), ..ContactInput::of(email) };
    input.profile = Profile::from_fn(|field| {
        let text = external.profile.get(field).filter(|text| !text.trim().is_empty())?;
        (field.spec().parse)(text).unwrap_or_else(|error| {
            note(field.spec().key, format!("left out: {error}"));
            None
        })
    });
    for name in &external.tags {
        match TagName::parse(name) {
            Ok(_) if input.tags.len() + 1 >= limits::TAGS_PER_CONTACT_MAX => {
                note("tags", "left out: the contact has too many tags".to_owned());
            }
            Ok(tag) => input.tags.push(tag),
            Err(error) => note("tags", format!("left out: {error}")),
        }
    }
    for (name, value) in external.custom_fields {
        input.custom_fields.insert(name.clone(), value);
        if let Some(reason) = fields::refusal(&input.custom_fields) {
            input.custom_fields.remove(&name);
            note(&format!("customFields.{name}"), format!("left out: {reason}"));
        }
    }
    Some(input)
}

/// Returns every open import from a platform.
pub fn open_imports(tx: &impl Read) -> Result<Vec<Job>> {
    Ok(open_jobs(tx)?.into_iter().filter(|job| matches!(job.task, Task::Provider(_))).collect())
}

/// Returns whether an import has to wait until the runs of the email index are merged.
pub fn is_index_full(tx: &impl Read, job: &Job) -> Result<bool> {
    email_index::is_full(tx, job.project)
}

/// Commits a page, unless it was committed before.
pub fn commit(tx: &mut WriteTx<'_>, id: JobId, page: CheckedPage) -> Result<()> {
    let Some(mut job) = find_open(tx, id)? else { return Ok(()) };
    let Task::Provider(import) = &mut job.task else { return Ok(()) };
    if import.position != page.from {
        return Ok(());
    }
    import.row = import.row.saturating_add(u32::try_from(page.read).unwrap_or(u32::MAX));
    import.excluded += page.excluded;
    (import.pause, import.failures) = (None, 0);
    if let Some(next) = &page.next {
        import.read = if next.source == page.from.source { import.read + page.read } else { 0 };
        (import.position, import.expected) = (next.clone(), page.expected);
    }
    if !project_exists(tx, &job)? {
        return finish(tx, job, State::Failed(PROJECT_GONE.to_owned()));
    }
    let place = (job.account, job.project);
    let outcome = batch::apply(tx, place, page.batch, (OnConflict::Upsert, page.tag.as_slice()), Source::Api)?;
    job.counts.add(&outcome.counts);
    job.counts.add(&Counts { total: page.failed, failed: page.failed, ..Counts::default() });
    let mut notes = outcome.notes;
    notes.extend(page.notes);
    notes.sort_by_key(|note| note.row);
    notes.dedup_by_key(|note| note.row);
    add_notes(tx, &mut job, notes);
    if page.next.is_none() {
        return finish(tx, job, State::Completed);
    }
    job.state = State::Running;
    save(tx, &job);
    Ok(())
}

/// Why an import is paused, and until when.
pub struct Wait {
    /// The reason, as a sentence for users.
    pub reason: String,
    /// The reason to show instead if the import fails because it has waited too long or failed too often, as a sentence for users.
    pub failure: String,
    pub until: Timestamp,
    /// Whether the pause counts as a failure. After too many failures in a row, the import fails.
    pub is_failure: bool,
}

/// Pauses an import, or marks it as failed if it has waited too long or failed too often.
pub fn pause(tx: &mut WriteTx<'_>, id: JobId, wait: Wait) -> Result<()> {
    let Some(mut job) = find_open(tx, id)? else { return Ok(()) };
    let now = tx.now();
    let Task::Provider(import) = &mut job.task else { return Ok(()) };
    import.failures += u32::from(wait.is_failure);
    let since = import.pause.as_ref().map_or(now, |pause| pause.since);
    let is_hopeless = import.failures >= limits::PROVIDER_IMPORT_FAILURES_MAX
        || (!wait.is_failure && now.ms_since(since) >= limits::PROVIDER_IMPORT_RECONNECT_MS);
    if is_hopeless {
        let reason = format!("{} The contacts read so far were imported. Start a new import for the rest.", wait.failure);
        return finish(tx, job, State::Failed(reason));
    }
    import.pause = Some(Pause { reason: wait.reason, since, until: wait.until });
    save(tx, &job);
    Ok(())
}

/// Continues with the next source, because the source at `from` no longer exists. If nothing remains to be read, finishes the import: as
/// failed if no source had a contact, otherwise as completed.
pub fn skip_source(tx: &mut WriteTx<'_>, id: JobId, from: &Position, reason: &str) -> Result<()> {
    let Some(mut job) = find_open(tx, id)? else { return Ok(()) };
    let Task::Provider(import) = &mut job.task else { return Ok(()) };
    if import.position != *from {
        return Ok(());
    }
    // The note gets its own row number, because the row number is the key of a note.
    import.row = import.row.saturating_add(1);
    let (row, next) = (import.row, from.source + 1);
    let is_last = next as usize >= import.parts();
    let is_empty = job.counts.total + import.excluded == 0;
    import.position = Position { source: next, cursor: None };
    (import.read, import.expected, import.pause, import.failures) = (0, None, None, 0);
    let note = RowNote { row, email: None, field: "sources".to_owned(), error: reason.to_owned() };
    add_notes(tx, &mut job, vec![note]);
    match (is_last, is_empty) {
        (true, true) => finish(tx, job, State::Failed(reason.to_owned())),
        (true, false) => finish(tx, job, State::Completed),
        (false, _) => {
            job.state = State::Running;
            save(tx, &job);
            Ok(())
        }
    }
}

/// Ends an import that cannot continue.
pub fn fail(tx: &mut WriteTx<'_>, id: JobId, reason: String) -> Result<()> {
    match find_open(tx, id)? {
        Some(job) => finish(tx, job, State::Failed(reason)),
        None => Ok(()),
    }
}

/// Ends the pauses of the imports that use a connection, because the account was reconnected.
pub fn resume(tx: &mut WriteTx<'_>, connection: ConnectionId) -> Result<()> {
    for mut job in open_imports(tx)? {
        if let Task::Provider(import) = &mut job.task
            && import.connection == connection
            && import.pause.take().is_some()
        {
            save(tx, &job);
        }
    }
    Ok(())
}
