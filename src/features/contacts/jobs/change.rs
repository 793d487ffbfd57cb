//! Makes one change to many contacts: immediately to the contacts that a request names, or in steps to all contacts that match a filter.
//!
//! A webhook event is emitted for each contact that is unsubscribed or deleted; other changes emit no event. A step resumes after the
//! contact at which the previous step ended, so no contact is changed twice. Contacts added after the first step are not changed.

use std::ops::ControlFlow;

use super::export::{refuse, select};
use super::import::{PROJECT_GONE, project_exists};
use super::{Change, ContactEdits, Job, State, Task, add_notes, find_open, finish, save};
use crate::engine::api::{EnvironmentData, Failure};
use crate::engine::store::{Result, WriteTx};
use crate::features::contact_records::{self, Changes, Contact};
use crate::features::contacts::batch::{Counts, RowNote};
use crate::features::contacts::deletion::remove;
use crate::features::contacts::webhook_events::{self, Source};
use crate::features::contacts::write::{self, WriteError};
use crate::features::tags::{self, TagName, TagNumbers};
use crate::vocab::ids::{AccountId, JobId, ProjectId};
use crate::vocab::limits;

/// The number of parts in one step. A step takes about a second. Before the next step, other jobs get their turn, and the contacts are
/// selected again.
const PARTS_PER_STEP: usize = 10;

/// Applies one change to contacts in one project.
struct ChangeWriter<'a> {
    account: AccountId,
    project: ProjectId,
    edits: &'a ContactEdits,
    add: Vec<u32>,
    remove: Vec<u32>,
    counts: Counts,
    notes: Vec<RowNote>,
}

/// Applies the change to the contacts with these numbers; returns the counts and the notes on contacts.
pub fn apply(
    tx: &mut WriteTx<'_>,
    (account, project): (AccountId, ProjectId),
    edits: &ContactEdits,
    numbers: &[u32],
) -> Result<(Counts, Vec<RowNote>), WriteError> {
    let mut all = TagNumbers::new(project);
    let names: Vec<TagName> = edits.add_tags.iter().filter_map(|name| TagName::parse(name).ok()).collect();
    let add = if edits.delete { Vec::new() } else { write::tag_numbers(tx, &mut all, &names).map_err(in_add_tags)? };
    let mut remove = Vec::new();
    for name in &edits.remove_tags {
        remove.extend(tags::number(tx, project, name)?);
    }
    let mut writer = ChangeWriter { account, project, edits, add, remove, counts: Counts::default(), notes: Vec::new() };
    contact_records::change(tx, project, |tx, changes| {
        for number in numbers {
            if let Some(contact) = contact_records::by_number(tx, project, *number)? {
                writer.change_one(tx, changes, contact)?;
            }
        }
        Ok::<_, WriteError>(())
    })?;
    Ok((writer.counts, writer.notes))
}

fn in_add_tags(mut error: WriteError) -> WriteError {
    if let WriteError::Field(refusal) = &mut error {
        refusal.field = "addTags".into();
    }
    error
}

impl ChangeWriter<'_> {
    fn change_one(&mut self, tx: &mut WriteTx<'_>, changes: &mut Changes, before: Contact) -> Result<()> {
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
            Err(WriteError::Store(error)) => return Err(error),
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

/// Advances a change by one step; returns whether contacts remain.
pub fn step(data: &EnvironmentData, job: &Job, change: &Change) -> Result<bool> {
    step_by(data, job, change, (limits::CHANGE_STEP_CONTACTS, PARTS_PER_STEP))
}

/// Advances a change by at most `parts` parts of `many` contacts each; returns whether contacts remain.
pub fn step_by(data: &EnvironmentData, job: &Job, change: &Change, (many, parts): (usize, usize)) -> Result<bool> {
    let selected = match select(data, &data.store.read(), job, &change.query) {
        Ok(selected) => selected,
        Err(failure) => return refuse(data, job.id, &failure).map(|()| false),
    };
    // The first step counts the contacts that the job covers, and sets the end of the job to one more than their highest number.
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

/// The next contacts to change, and the job's progress after they have been changed.
struct Part {
    from: u32,
    next: u32,
    end: u32,
    total: u64,
    numbers: Vec<u32>,
}

/// Applies a part; returns `Break` if no contacts remain, the job has ended, or another worker has already applied the part.
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
        // Return the store's error unchanged: the worker stops the job if a row is damaged, and tries again if the disk failed.
        Err(WriteError::Store(error)) => return Err(error),
        Err(WriteError::Field(refusal)) => {
            let reason = Failure::from(refusal).sentence();
            finish(tx, job, State::Failed(reason))?;
            return Ok(ControlFlow::Break(()));
        }
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
