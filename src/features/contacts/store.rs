//! The tables of contacts and all access to them.
//!
//! A contact is one row under its number. The same transaction updates the data derived from it: the hash of its email (which makes it
//! unique), the sets it belongs to (all, its status, its tags), the size of each set, and the time of its last change.
//!
//! Invariant: every write of a contact goes through [`Changes`], which keeps all of this in step and feeds the search index.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use roaring::RoaringBitmap;

use super::email_index;
use super::model::{Contact, Status};
use crate::base::clock::Timestamp;
use crate::base::email::{ADDRESS_BYTES_MAX, EmailAddress};
use crate::base::secret::sha256;
use crate::engine::store::bitmap::{self, Block, Delta};
use crate::engine::store::feed::Change;
use crate::engine::store::key::Key;
use crate::engine::store::{Error, Order, Read, Result, Span, Table, Value, WriteTx};
use crate::vocab::ids::{ContactId, ProjectId};
use crate::vocab::tables;

/// The rows themselves.
pub const CONTACTS: Table<(ProjectId, u32), Contact> = Table::new(tables::CONTACTS);
const BITS: Table<(ProjectId, (u8, u32), u16), Block> = Table::new(tables::CONTACT_BITS);
const UPDATES: Table<(ProjectId, u32), Vec<u8>> = Table::new(tables::CONTACT_UPDATES);
const COUNTS: Table<(ProjectId, (u8, u32)), i64> = Table::new(tables::CONTACT_COUNTS);

/// Contacts in one row of [`UPDATES`]: 2 KiB, so that a single change rewrites little and a scan of a million reads 4,000 rows.
const UPDATES_PER_BLOCK: u32 = 256;
/// One feed entry bridges gaps of up to this many numbers: indexing a few contacts again is cheaper than another entry.
const FEED_GAP_MAX: u32 = 16;

/// The key of a set and its counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Facet {
    /// Every contact.
    All,
    /// Contacts of one status.
    Status(Status),
    /// Contacts with one tag.
    Tag(u32),
    /// Counter only: the tags of the project.
    Tags,
    /// Counter only: the number the next contact gets.
    NextContact,
    /// Counter only: the number the next tag gets.
    NextTag,
    /// Counter only: grows with every change of any contact; shows whether a cached count is still valid.
    Revision,
    /// Counter only: grows with everything sent to a contact or done by one.
    Activity,
    /// Counter only: grows with every customer event; the number inside the next event's id.
    Events,
    /// Counter only: the names of customer events, and the number of the next one.
    EventNames,
    /// Counter only: grows with every change of a topic or of a contact's choice.
    Topics,
}

impl Facet {
    fn key(self) -> (u8, u32) {
        match self {
            Facet::All => (0, 0),
            Facet::Status(status) => (1, status as u32),
            Facet::Tag(number) => (2, number),
            Facet::Tags => (3, 0),
            Facet::NextContact => (4, 0),
            Facet::NextTag => (5, 0),
            Facet::Revision => (6, 0),
            Facet::Activity => (7, 0),
            Facet::Events => (8, 0),
            Facet::EventNames => (9, 0),
            Facet::Topics => (10, 0),
        }
    }
}

/// Returns the key that makes an email unique: 128 bits of the hash of its normalized form. A fixed width keeps the table dense.
pub fn email_digest(normalised: &str) -> [u8; 16] {
    digest(normalised.as_bytes())
}

/// Like `email_digest`, for a checked address.
pub fn email_digest_of(email: &EmailAddress) -> [u8; 16] {
    let text = email.as_str();
    if !text.is_ascii() {
        return email_digest(&email.normalised());
    }
    // The same result as `normalised` for plain addresses, without its allocation.
    let mut lower = [0; ADDRESS_BYTES_MAX];
    let lower = &mut lower[..text.len()];
    lower.copy_from_slice(text.as_bytes());
    lower.make_ascii_lowercase();
    digest(lower)
}

fn digest(bytes: &[u8]) -> [u8; 16] {
    *sha256(bytes).first_chunk().expect("a SHA-256 digest has 32 bytes")
}

/// Returns the contact with this number.
pub fn by_number(tx: &impl Read, project: ProjectId, number: u32) -> Result<Option<Contact>> {
    tx.get(CONTACTS, &(project, number))
}

/// Returns the contact with this id.
pub fn find(tx: &impl Read, project: ProjectId, id: ContactId) -> Result<Option<Contact>> {
    Ok(by_number(tx, project, id.number())?.filter(|contact| contact.id == id))
}

/// Returns the number of the contact with this email.
pub fn number_by_digest(tx: &impl Read, project: ProjectId, digest: [u8; 16]) -> Result<Option<u32>> {
    email_index::find(tx, project, digest)
}

/// Returns the contact with this email, given in normalized form.
pub fn find_by_email(tx: &impl Read, project: ProjectId, normalised: &str) -> Result<Option<Contact>> {
    match number_by_digest(tx, project, email_digest(normalised))? {
        Some(number) => {
            let row = by_number(tx, project, number)?;
            Ok(Some(row.ok_or(Error::Corrupt(tables::CONTACTS_BY_EMAIL.info().name))?))
        }
        None => Ok(None),
    }
}

/// Returns every project that has contacts.
pub fn projects(tx: &impl Read) -> Result<Vec<ProjectId>> {
    let mut projects = Vec::new();
    let mut span = Span::default();
    loop {
        let next = tx.list(COUNTS, &span, Order::Forward, 1)?;
        let Some(((project, _), _)) = next.first() else { return Ok(projects) };
        projects.push(*project);
        match COUNTS.under(&(*project,)).to {
            Some(end) => span.from = end,
            None => return Ok(projects),
        }
    }
}

/// Returns every contact of a facet.
pub fn set(tx: &impl Read, project: ProjectId, facet: Facet) -> Result<RoaringBitmap> {
    bitmap::load(tx, BITS, &(project, facet.key()))
}

/// Returns the number of contacts of a facet.
pub fn count(tx: &impl Read, project: ProjectId, facet: Facet) -> Result<u64> {
    Ok(tx.get(COUNTS, &(project, facet.key()))?.unwrap_or(0).max(0) as u64)
}

/// Adds to a counter.
pub fn add_count(tx: &mut WriteTx<'_>, project: ProjectId, facet: Facet, delta: i64) -> Result<()> {
    tx.add(COUNTS, &(project, facet.key()), delta).map(drop)
}

/// Reserves `many` numbers and returns the first. Numbers are never reused.
pub fn next_number(tx: &mut WriteTx<'_>, project: ProjectId, facet: Facet, many: u32) -> Result<u32> {
    let next = tx.add(COUNTS, &(project, facet.key()), i64::from(many))?;
    u32::try_from(next - i64::from(many)).map_err(|_| Error::Io("a project has had four billion contacts".into()))
}

/// Deletes a facet's set and count.
pub fn drop_set(tx: &mut WriteTx<'_>, project: ProjectId, facet: Facet) -> Result<()> {
    let members = set(tx, project, facet)?;
    if members.is_empty() {
        return Ok(());
    }
    tx.delete_span(BITS, &BITS.under(&(project, facet.key())), usize::from(u16::MAX) + 1)?;
    tx.delete(COUNTS, &(project, facet.key()));
    // The search index stores the facet with these contacts, so they must be indexed again.
    feed_runs(tx, project, &members, false);
    add_count(tx, project, Facet::Revision, 1)
}

/// Queues every contact of a facet to be indexed again.
pub fn feed_set(tx: &mut WriteTx<'_>, project: ProjectId, facet: Facet) -> Result<()> {
    let members = set(tx, project, facet)?;
    feed_runs(tx, project, &members, false);
    Ok(())
}

/// Visits the time of the last change of each contact in `wanted`, in order of number.
pub fn updates(tx: &impl Read, project: ProjectId, wanted: &RoaringBitmap, mut each: impl FnMut(u32, Timestamp)) -> Result<()> {
    let (Some(first), Some(last)) = (wanted.min(), wanted.max()) else { return Ok(()) };
    let mut span = UPDATES.under(&(project,));
    span.from = (project, first / UPDATES_PER_BLOCK).to_bytes();
    tx.visit_bytes(UPDATES.id, &span, Order::Forward, &mut |mut key, block| {
        let (_, number): (ProjectId, u32) = Key::read(&mut key).ok_or(Error::Corrupt(tables::CONTACT_UPDATES.info().name))?;
        let start = number * UPDATES_PER_BLOCK;
        let times = block.chunks_exact(8).map(|bytes| Timestamp(i64::from_le_bytes(bytes.try_into().expect("eight bytes"))));
        let inside = start..=start + (UPDATES_PER_BLOCK - 1);
        match wanted.range_cardinality(inside.clone()) {
            0 => {}
            // Most lists contain nearly every contact, so whole blocks need no check of each number.
            many if many == times.len() as u64 => (start..).zip(times).for_each(|(number, at)| each(number, at)),
            _ => {
                let mut times = (start..).zip(times);
                for wanted in wanted.range(inside) {
                    if let Some((number, at)) = times.find(|(number, _)| *number == wanted) {
                        each(number, at);
                    }
                }
            }
        }
        Ok(if start + (UPDATES_PER_BLOCK - 1) < last { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })
}

/// Returns the contacts of `wanted` that last changed at a time that `holds` accepts.
pub fn updated(
    tx: &impl Read,
    project: ProjectId,
    wanted: &RoaringBitmap,
    holds: impl Fn(Timestamp) -> bool,
) -> Result<RoaringBitmap> {
    let mut updated = RoaringBitmap::new();
    // Neighbors usually changed together, so they are added as one range.
    let mut run: Option<(u32, u32)> = None;
    updates(tx, project, wanted, |number, at| {
        if !holds(at) {
            return;
        }
        run = match run {
            Some((first, last)) if last + 1 == number => Some((first, number)),
            other => {
                insert(&mut updated, other);
                Some((number, number))
            }
        };
    })?;
    insert(&mut updated, run);
    Ok(updated)
}

fn insert(set: &mut RoaringBitmap, run: Option<(u32, u32)>) {
    if let Some((first, last)) = run {
        set.insert_range(first..=last);
    }
}

/// Returns the first number whose contact was created at `at` or later. Numbers are assigned in order of creation.
pub fn first_created_at(tx: &impl Read, project: ProjectId, all: &RoaringBitmap, at: Timestamp) -> Result<u32> {
    let (mut low, mut high) = (0, all.len());
    while low < high {
        let middle = low + (high - low) / 2;
        let number = all.select(middle as u32).expect("the middle is below the length");
        let contact = by_number(tx, project, number)?.ok_or(Error::Corrupt(tables::CONTACTS.info().name))?;
        if contact.created_at < at { low = middle + 1 } else { high = middle }
    }
    Ok(all.select(low as u32).unwrap_or(u32::MAX))
}

/// Visits the rows of `numbers` in one span, as bytes, for scans that read a part of each.
pub fn visit_rows(
    tx: &impl Read,
    project: ProjectId,
    numbers: std::ops::RangeInclusive<u32>,
    mut each: impl FnMut(u32, &[u8]) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let from = (project, *numbers.start()).to_bytes();
    let to = match numbers.end().checked_add(1) {
        Some(end) => Some((project, end).to_bytes()),
        None => CONTACTS.under(&(project,)).to,
    };
    tx.visit_bytes(CONTACTS.id, &Span { from, to }, Order::Forward, &mut |mut key, value| {
        let (_, number): (ProjectId, u32) = Key::read(&mut key).ok_or(Error::Corrupt(tables::CONTACTS.info().name))?;
        each(number, value)
    })
}

/// The changes of one command to the contacts of one project.
pub struct Changes {
    project: ProjectId,
    facets: BTreeMap<Facet, Delta>,
    updates: BTreeMap<u32, Option<Timestamp>>,
    /// Emails of new contacts. Lookups by email find them once the command is done.
    emails: Vec<([u8; 16], u32)>,
    fresh: RoaringBitmap,
    changed: RoaringBitmap,
    /// A buffer for rows whose length is not yet known.
    scratch: Vec<u8>,
}

/// Changes contacts of one project. All derived data is updated after `change` has succeeded.
pub fn change<T, E: From<Error>>(
    tx: &mut WriteTx<'_>,
    project: ProjectId,
    change: impl FnOnce(&mut WriteTx<'_>, &mut Changes) -> std::result::Result<T, E>,
) -> std::result::Result<T, E> {
    let mut changes = Changes {
        project,
        facets: BTreeMap::new(),
        updates: BTreeMap::new(),
        emails: Vec::new(),
        fresh: RoaringBitmap::new(),
        changed: RoaringBitmap::new(),
        scratch: Vec::new(),
    };
    let value = change(tx, &mut changes)?;
    changes.finish(tx)?;
    Ok(value)
}

impl Changes {
    /// The project whose contacts are changed.
    pub fn project(&self) -> ProjectId {
        self.project
    }

    /// Adds a contact with a number reserved by [`next_number`] and an email that is not in use.
    pub fn add(&mut self, tx: &mut WriteTx<'_>, contact: &Contact, digest: [u8; 16]) {
        let number = contact.id.number();
        self.scratch.clear();
        contact.encode(&mut self.scratch);
        tx.put_bytes(CONTACTS.id, (self.project, number).to_bytes(), self.scratch.clone());
        self.emails.push((digest, number));
        for facet in facets(contact) {
            self.enter(facet, number);
        }
        self.updates.insert(number, Some(contact.updated_at));
        self.fresh.insert(number);
    }

    /// Replaces a contact. Its email must stay the same.
    pub fn replace(&mut self, tx: &mut WriteTx<'_>, before: &Contact, after: &Contact) {
        let number = after.id.number();
        tx.put(CONTACTS, &(self.project, number), after);
        let (old, new): (Vec<Facet>, Vec<Facet>) = (facets(before).collect(), facets(after).collect());
        old.iter().filter(|facet| !new.contains(facet)).for_each(|facet| self.leave(*facet, number));
        new.iter().filter(|facet| !old.contains(facet)).for_each(|facet| self.enter(*facet, number));
        self.updates.insert(number, Some(after.updated_at));
        // A new contact is read as it is at the end of this command anyway.
        if !self.fresh.contains(number) {
            self.changed.insert(number);
        }
    }

    /// Removes a contact.
    pub fn remove(&mut self, tx: &mut WriteTx<'_>, contact: &Contact, digest: [u8; 16]) -> Result<()> {
        let number = contact.id.number();
        tx.delete(CONTACTS, &(self.project, number));
        for facet in facets(contact) {
            self.leave(facet, number);
        }
        self.updates.insert(number, None);
        // A contact created and removed in one command was never visible outside it.
        if self.fresh.remove(number) {
            self.emails.retain(|(_, added)| *added != number);
            return Ok(());
        }
        self.changed.insert(number);
        email_index::remove(tx, self.project, digest)
    }

    fn enter(&mut self, facet: Facet, number: u32) {
        let delta = self.facets.entry(facet).or_default();
        if !delta.remove.remove(number) {
            delta.add.insert(number);
        }
    }

    fn leave(&mut self, facet: Facet, number: u32) {
        let delta = self.facets.entry(facet).or_default();
        if !delta.add.remove(number) {
            delta.remove.insert(number);
        }
    }

    fn finish(self, tx: &mut WriteTx<'_>) -> Result<()> {
        let project = self.project;
        for (facet, delta) in &self.facets {
            let key = facet.key();
            // A tag deleted meanwhile has no set any more; leaving it changes nothing.
            let gone = matches!(facet, Facet::Tag(_)) && !delta.remove.is_empty() && count(tx, project, *facet)? == 0;
            if gone && delta.add.is_empty() {
                continue;
            }
            bitmap::apply(tx, BITS, |block| (project, key, block), delta)?;
            add_count(tx, project, *facet, delta.add.len() as i64 - delta.remove.len() as i64)?;
        }
        if !self.emails.is_empty() {
            email_index::add(tx, project, self.emails)?;
        }
        write_updates(tx, project, &self.updates)?;
        feed_runs(tx, project, &self.fresh, true);
        feed_runs(tx, project, &self.changed, false);
        let touched = self.fresh.len() + self.changed.len();
        if touched > 0 {
            add_count(tx, project, Facet::Revision, touched as i64)?;
        }
        Ok(())
    }
}

fn facets(contact: &Contact) -> impl Iterator<Item = Facet> + '_ {
    [Facet::All, Facet::Status(contact.status)].into_iter().chain(contact.tags.iter().map(|number| Facet::Tag(*number)))
}

fn write_updates(tx: &mut WriteTx<'_>, project: ProjectId, updates: &BTreeMap<u32, Option<Timestamp>>) -> Result<()> {
    let mut rest = updates.iter().peekable();
    while let Some((first, _)) = rest.peek() {
        let number = **first / UPDATES_PER_BLOCK;
        let mut block = tx.get(UPDATES, &(project, number))?.unwrap_or_default();
        while let Some((contact, updated)) = rest.next_if(|(contact, _)| **contact / UPDATES_PER_BLOCK == number) {
            let at = (contact % UPDATES_PER_BLOCK) as usize * 8;
            if block.len() < at + 8 {
                block.resize(at + 8, 0);
            }
            block[at..at + 8].copy_from_slice(&updated.map_or(0, |time| time.0).to_le_bytes());
        }
        if block.iter().all(|byte| *byte == 0) {
            tx.delete(UPDATES, &(project, number));
        } else {
            tx.put(UPDATES, &(project, number), &block);
        }
    }
    Ok(())
}

/// Adds these contacts to the feed, neighbors as one entry.
fn feed_runs(tx: &mut WriteTx<'_>, project: ProjectId, numbers: &RoaringBitmap, fresh: bool) {
    let gap = if fresh { 0 } else { FEED_GAP_MAX };
    let mut run: Option<(u32, u32)> = None;
    for number in numbers {
        run = match run {
            Some((first, last)) if number - last <= gap + 1 => Some((first, number)),
            other => {
                if let Some((first, last)) = other {
                    tx.feed(&Change { scope: project.0, first, last, fresh });
                }
                Some((number, number))
            }
        };
    }
    if let Some((first, last)) = run {
        tx.feed(&Change { scope: project.0, first, last, fresh });
    }
}
