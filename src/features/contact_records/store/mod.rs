//! The tables of contacts and all access to them.
//!
//! A contact is one row under its number. The same transaction updates the data derived from the contact: the hash of its email (which
//! ensures that the email is unique), the sets that it belongs to (all, its status, its tags), the size of each set, and the time of its
//! last change.
//!
//! Invariant: every write of a contact uses [`Changes`], which updates the derived data and feeds the search index.

pub mod activity;
pub mod email_index;

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use roaring::RoaringBitmap;

use crate::base::clock::Timestamp;
use crate::base::email::{ADDRESS_BYTES_MAX, EmailAddress};
use crate::base::secret::sha256;
use crate::engine::store::bitmap::Delta;
use crate::engine::store::key::Key;
use crate::engine::store::{Bytes, Error, Order, Read, Result, RowCheck, Span, Table, Value, WriteTx};
use crate::features::contact_records::model::Contact;
use crate::features::contact_sets::{self, Facet, add_count, feed_runs};
use crate::vocab::ids::{ContactId, ProjectId};
use crate::vocab::tables;

const CONTACTS: Table<(ProjectId, u32), Contact> = Table::new(tables::CONTACTS);
const UPDATES: Table<(ProjectId, u32), Vec<u8>> = Table::new(tables::CONTACT_UPDATES);

/// The checks that decode every row of these tables.
pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(CONTACTS), RowCheck::of(UPDATES)];

/// The number of contacts in one row of [`UPDATES`]. With 2 KiB per row, a single change rewrites little, and a scan of a million contacts
/// reads 4,000 rows.
const UPDATES_PER_BLOCK: u32 = 256;

/// Returns the hash that identifies an email in a project: 128 bits of the hash of its normalized form. The fixed width keeps the table
/// dense.
pub fn email_digest(normalized: &str) -> [u8; 16] {
    digest(normalized.as_bytes())
}

/// Returns the same hash as [`email_digest`] for a checked address.
pub fn email_digest_of(email: &EmailAddress) -> [u8; 16] {
    let text = email.as_str();
    if !text.is_ascii() {
        return email_digest(&email.normalized());
    }
    // For ASCII addresses, this has the same result as `normalized`, but without an allocation.
    let mut lower = [0; ADDRESS_BYTES_MAX];
    let lower = &mut lower[..text.len()];
    lower.copy_from_slice(text.as_bytes());
    lower.make_ascii_lowercase();
    digest(lower)
}

fn digest(bytes: &[u8]) -> [u8; 16] {
    *sha256(bytes).first_chunk().expect("a SHA-256 digest has 32 bytes")
}

pub fn by_number(tx: &impl Read, project: ProjectId, number: u32) -> Result<Option<Contact>> {
    tx.get(CONTACTS, &(project, number))
}

/// Returns the contact with this ID, if it exists.
pub fn find(tx: &impl Read, project: ProjectId, id: ContactId) -> Result<Option<Contact>> {
    Ok(by_number(tx, project, id.number())?.filter(|contact| contact.id == id))
}

pub fn number_by_digest(tx: &impl Read, project: ProjectId, digest: [u8; 16]) -> Result<Option<u32>> {
    email_index::find(tx, project, digest)
}

/// Returns the contact with this email, given in normalized form.
pub fn find_by_email(tx: &impl Read, project: ProjectId, normalized: &str) -> Result<Option<Contact>> {
    match number_by_digest(tx, project, email_digest(normalized))? {
        Some(number) => {
            let row = by_number(tx, project, number)?;
            Ok(Some(row.ok_or_else(|| tx.corrupt(tables::CONTACTS_BY_EMAIL))?))
        }
        None => Ok(None),
    }
}

/// Calls `each`, in order of number, with the number of each contact in `wanted` and the time of its last change.
pub fn updates(tx: &impl Read, project: ProjectId, wanted: &RoaringBitmap, mut each: impl FnMut(u32, Timestamp)) -> Result<()> {
    let (Some(first), Some(last)) = (wanted.min(), wanted.max()) else { return Ok(()) };
    let mut span = UPDATES.under(&(project,));
    span.from = (project, first / UPDATES_PER_BLOCK).to_bytes();
    tx.visit_bytes(UPDATES.id, &span, Order::Forward, &mut |mut key, block| {
        let (_, number): (ProjectId, u32) = Key::read(&mut key).ok_or_else(|| tx.corrupt(tables::CONTACT_UPDATES))?;
        let start = number * UPDATES_PER_BLOCK;
        let times = block
            .chunks_exact(8)
            .map(|bytes| Timestamp(i64::from_le_bytes(bytes.try_into().expect("the chunk has eight bytes"))));
        let inside = start..=start + (UPDATES_PER_BLOCK - 1);
        match wanted.range_cardinality(inside.clone()) {
            0 => {}
            // Most lists contain nearly every contact. If `wanted` contains the whole block, no number needs to be checked.
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

/// Returns the contacts in `wanted` for which `holds` accepts the time of the last change.
pub fn updated(
    tx: &impl Read,
    project: ProjectId,
    wanted: &RoaringBitmap,
    holds: impl Fn(Timestamp) -> bool,
) -> Result<RoaringBitmap> {
    let mut updated = RoaringBitmap::new();
    // Contacts with neighboring numbers usually changed together, so they are added as one range.
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

/// Returns the first number whose contact was created at the time `at` or later; `u32::MAX` if there is none. Numbers are assigned in order
/// of creation.
pub fn first_created_at(tx: &impl Read, project: ProjectId, all: &RoaringBitmap, at: Timestamp) -> Result<u32> {
    let (mut low, mut high) = (0, all.len());
    while low < high {
        let middle = low + (high - low) / 2;
        let number = all.select(middle as u32).expect("the middle is below the length");
        let contact = by_number(tx, project, number)?.ok_or_else(|| tx.corrupt(tables::CONTACTS))?;
        if contact.created_at < at { low = middle + 1 } else { high = middle }
    }
    Ok(all.select(low as u32).unwrap_or(u32::MAX))
}

/// Returns the bytes of a contact's row, for scans that read only a part of the row.
pub fn row_bytes(tx: &impl Read, project: ProjectId, number: u32) -> Result<Option<Bytes<'_>>> {
    tx.get_bytes(CONTACTS.id, &(project, number).to_bytes())
}

/// Calls `each` with the bytes of the row of each contact in `numbers`, until `each` breaks. Scans use this function to read only a part of
/// each row.
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
        let (_, number): (ProjectId, u32) = Key::read(&mut key).ok_or_else(|| tx.corrupt(tables::CONTACTS))?;
        each(number, value)
    })
}

/// The changes to contacts in one project that one command makes.
pub struct Changes {
    project: ProjectId,
    facets: BTreeMap<Facet, Delta>,
    updates: BTreeMap<u32, Option<Timestamp>>,
    /// The emails of new contacts. Lookups by email find these contacts only after the command is done.
    emails: Vec<([u8; 16], u32)>,
    fresh: RoaringBitmap,
    changed: RoaringBitmap,
    /// A buffer for writing rows whose length is not known in advance.
    scratch: Vec<u8>,
}

/// Changes contacts in one project. After `change` has succeeded, updates all derived data.
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
    pub fn project(&self) -> ProjectId {
        self.project
    }

    /// Adds a contact. Its number was reserved by [`next_number`], and no other contact has its email.
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

    /// Replaces a contact with a changed version that has the same email.
    pub fn replace(&mut self, tx: &mut WriteTx<'_>, before: &Contact, after: &Contact) {
        let number = after.id.number();
        tx.put(CONTACTS, &(self.project, number), after);
        let (old, new): (Vec<Facet>, Vec<Facet>) = (facets(before).collect(), facets(after).collect());
        old.iter().filter(|facet| !new.contains(facet)).for_each(|facet| self.leave(*facet, number));
        new.iter().filter(|facet| !old.contains(facet)).for_each(|facet| self.enter(*facet, number));
        self.updates.insert(number, Some(after.updated_at));
        // A contact that this command added needs no second entry in the change feed, because it will be indexed in its state at
        // the end of the command.
        if !self.fresh.contains(number) {
            self.changed.insert(number);
        }
    }

    pub fn remove(&mut self, tx: &mut WriteTx<'_>, contact: &Contact, digest: [u8; 16]) -> Result<()> {
        let number = contact.id.number();
        tx.delete(CONTACTS, &(self.project, number));
        for facet in facets(contact) {
            self.leave(facet, number);
        }
        self.updates.insert(number, None);
        // A contact that was created and removed by the same command was never visible outside the command.
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
            contact_sets::apply(tx, project, *facet, delta)?;
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
