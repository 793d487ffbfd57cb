//! One change to many contacts: at once for the contacts that a request names, or in steps for all that match a filter.
//!
//! Each contact is changed as if by its own request, and webhooks get an event for each. A step resumes after the contact where the last
//! one ended, so no contact is changed twice. Contacts added after the job started are not changed.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::export::{ContactQuery, refuse, select};
use super::import::{PROJECT_GONE, project_exists};
use super::{Job, State, Task, add_notes, find_open, finish, save};
use crate::engine::api::{EnvironmentData, Failure};
use crate::engine::store::{Error, Result, WriteTx};
use crate::features::contacts::batch::{Counts, RowNote};
use crate::features::contacts::model::{Contact, Status};
use crate::features::contacts::ops::delete::remove;
use crate::features::contacts::store::{self, Changes};
use crate::features::contacts::tags::{self, TagName, TagNumbers};
use crate::features::contacts::webhook_events::{self, Source};
use crate::features::contacts::write::{self, WriteError};
use crate::vocab::ids::{AccountId, JobId, ProjectId};
use crate::vocab::limits;

/// Parts of one step, about a second of work. After that, the contacts are selected again and other jobs get their turn.
const PARTS_PER_STEP: usize = 10;

/// What to change on each contact.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContactEdits {
    /// Names of tags, already checked.
    pub add_tags: Vec<String>,
    pub remove_tags: Vec<String>,
    pub status: Option<Status>,
    /// Excludes all other edits.
    pub delete: bool,
}

/// A change to all contacts that match a filter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    pub query: ContactQuery,
    pub edits: ContactEdits,
    /// The number of contacts; unknown before the first step.
    pub total: Option<u64>,
    /// The number of the first contact that is not done, and that of the first one that is too new.
    pub next: u32,
    pub end: u32,
}

impl Change {
    /// Creates a change that has not started.
    pub fn new(query: ContactQuery, edits: ContactEdits) -> Self {
        Self { query, edits, total: None, next: 0, end: u32::MAX }
    }
}

/// Changes contacts of one project.
struct ChangeWriter<'a> {
    account: AccountId,
    project: ProjectId,
    edits: &'a ContactEdits,
    add: Vec<u32>,
    remove: Vec<u32>,
    counts: Counts,
    notes: Vec<RowNote>,
}

/// Changes the contacts with these numbers; returns the counts.
pub fn apply(
    tx: &mut WriteTx<'_>,
    (account, project): (AccountId, ProjectId),
    edits: &ContactEdits,
    numbers: &[u32],
) -> Result<(Counts, Vec<RowNote>), Failure> {
    let mut all = TagNumbers::new(project);
    let names: Vec<TagName> = edits.add_tags.iter().filter_map(|name| TagName::parse(name).ok()).collect();
    let add = if edits.delete { Vec::new() } else { write::tag_numbers(tx, &mut all, &names)? };
    let mut remove = Vec::new();
    for name in &edits.remove_tags {
        remove.extend(tags::number(tx, project, name)?);
    }
    let mut writer = ChangeWriter { account, project, edits, add, remove, counts: Counts::default(), notes: Vec::new() };
    store::change(tx, project, |tx, changes| {
        for number in numbers {
            if let Some(contact) = store::by_number(tx, project, *number)? {
                writer.change_one(tx, changes, contact)?;
            }
        }
        Ok::<_, Failure>(())
    })?;
    Ok((writer.counts, writer.notes))
}

impl ChangeWriter<'_> {
    fn change_one(&mut self, tx: &mut WriteTx<'_>, changes: &mut Changes, before: Contact) -> Result<(), Failure> {
        let place = (self.account, self.project);
        self.counts.total += 1;
        if self.edits.delete {
            remove(tx, changes, self.account, &before)?;
            webhook_events::unsubscribed(tx, place, &before, webhook_events::Action::Deleted, Source::Api);
            self.counts.updated += 1;
            return Ok(());
        }
        let mut after = before.clone();
        after.tags.retain(|tag| !self.remove.contains(tag));
        match write::add_tags(tx, self.project, &mut after.tags, self.add.iter().copied()) {
            Ok(()) => {}
            Err(WriteError::Store(error)) => return Err(error.into()),
            Err(WriteError::Field(refusal)) => {
                self.counts.failed += 1;
                let email = Some(before.email);
                let (row, field) = (before.id.number(), refusal.field.to_string());
                self.notes.push(RowNote { row, email, field, error: refusal.reason });
                return Ok(());
            }
        }
        if let Some(status) = self.edits.status {
            after.set_status(status, tx.now());
        }
        if !after.differs(&before) {
            self.counts.skipped += 1;
            return Ok(());
        }
        after.updated_at = tx.now();
        changes.replace(tx, &before, &after);
        webhook_events::status_changed(tx, place, Source::Api, &before, &after);
        self.counts.updated += 1;
        Ok(())
    }
}

/// Advances a change by one step; returns whether there is more to do.
pub fn step(data: &EnvironmentData, job: &Job, change: &Change) -> Result<bool> {
    step_by(data, job, change, (limits::CHANGE_STEP_CONTACTS, PARTS_PER_STEP))
}

/// Like `step`, with at most `parts` parts of `many` contacts.
pub fn step_by(data: &EnvironmentData, job: &Job, change: &Change, (many, parts): (usize, usize)) -> Result<bool> {
    let selected = match select(data, &data.store.read(), job, &change.query) {
        Ok(selected) => selected,
        Err(failure) => return refuse(data, job.id, &failure).map(|()| false),
    };
    // The first step determines which contacts the job covers.
    let (total, end) = match change.total {
        Some(total) => (total, change.end),
        None => (selected.len(), selected.max().map_or(0, |last| last.saturating_add(1))),
    };
    let waiting: Vec<u32> = selected.iter().filter(|number| (change.next..end).contains(number)).take(many * parts).collect();
    let is_last = waiting.len() < many * parts;
    let mut from = change.next;
    let mut rest = waiting.as_slice();
    loop {
        let (part, after) = rest.split_at(rest.len().min(many));
        rest = after;
        let next = if rest.is_empty() && is_last { end } else { part.last().map_or(end, |last| last + 1) };
        let part = Part { from, next, end, total, numbers: part.to_vec() };
        from = next;
        let id = job.id;
        if data.store.write_blocking(move |tx| commit(tx, id, &part))??.is_break() {
            return Ok(false);
        }
        if rest.is_empty() {
            return Ok(true);
        }
    }
}

/// The next contacts to change, and the job's progress once they are done.
struct Part {
    from: u32,
    next: u32,
    end: u32,
    total: u64,
    numbers: Vec<u32>,
}

/// Applies a part; `Break` if there is nothing more to do.
fn commit(tx: &mut WriteTx<'_>, id: JobId, part: &Part) -> Result<ControlFlow<()>> {
    let Some(mut job) = find_open(tx, id)? else { return Ok(ControlFlow::Break(())) };
    let Task::Change(change) = &mut job.task else { return Ok(ControlFlow::Break(())) };
    if change.next != part.from {
        return Ok(ControlFlow::Break(()));
    }
    (change.next, change.end, change.total) = (part.next, part.end, Some(part.total));
    let edits = change.edits.clone();
    if !project_exists(tx, &job)? {
        finish(tx, job, State::Failed(PROJECT_GONE.to_owned()))?;
        return Ok(ControlFlow::Break(()));
    }
    let (counts, notes) = match apply(tx, (job.account, job.project), &edits, &part.numbers) {
        Ok(done) => done,
        Err(failure) => match failure.cause {
            Some(cause) => return Err(Error::Io(cause)),
            None => {
                let reason = failure.detail.as_deref().unwrap_or(failure.code.info().message).to_owned();
                finish(tx, job, State::Failed(reason))?;
                return Ok(ControlFlow::Break(()));
            }
        },
    };
    job.counts.add(&counts);
    add_notes(tx, &mut job, notes);
    if part.next >= part.end {
        finish(tx, job, State::Completed)?;
        return Ok(ControlFlow::Break(()));
    }
    job.state = State::Running;
    save(tx, &job);
    Ok(ControlFlow::Continue(()))
}
