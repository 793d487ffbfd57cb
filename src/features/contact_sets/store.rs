//! The tables of sets and counters, and all access to them.

use roaring::RoaringBitmap;

use crate::engine::store::bitmap::{self, Block, Delta};
use crate::engine::store::feed::Change;
use crate::engine::store::{Error, Order, Read, Result, RowCheck, Span, Table, WriteTx};
use crate::vocab::contact_status::Status;
use crate::vocab::ids::ProjectId;
use crate::vocab::tables;

const BITS: Table<(ProjectId, (u8, u32), u16), Block> = Table::new(tables::CONTACT_BITS);
const COUNTS: Table<(ProjectId, (u8, u32)), i64> = Table::new(tables::CONTACT_COUNTS);

/// The checks that decode every row of these tables.
pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(BITS), RowCheck::of(COUNTS)];

/// The longest gap between contact numbers that one feed entry may span. Indexing a few unchanged contacts again is cheaper than adding
/// another entry.
const FEED_GAP_MAX: u32 = 16;

/// The key of a set of contacts (all contacts, or those with a status or a tag), or of a counter of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Facet {
    /// Every contact in the project.
    All,
    /// The contacts with a given status.
    Status(Status),
    /// The contacts with a given tag.
    Tag(u32),
    /// A counter without a set: the number of tags in the project.
    Tags,
    /// A counter without a set: the number of the next contact.
    NextContact,
    /// A counter without a set: the number of the next tag.
    NextTag,
    /// A counter without a set. It increases with every change to a contact, so it shows whether a cached count is still valid.
    Revision,
    /// A counter without a set. It increases with every recorded activity of a contact.
    Activity,
    /// A counter without a set. It increases with every change to a topic or to a contact's choice of topics.
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
            Facet::Topics => (8, 0),
        }
    }
}

/// Returns every project that has a counter, which includes every project that has contacts.
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

/// Returns the contacts in the set with the key `facet`.
pub fn set(tx: &impl Read, project: ProjectId, facet: Facet) -> Result<RoaringBitmap> {
    bitmap::load(tx, BITS, &(project, facet.key()))
}

/// Returns the size of the set with the key `facet`, or the value of the counter with this key.
pub fn count(tx: &impl Read, project: ProjectId, facet: Facet) -> Result<u64> {
    Ok(tx.get(COUNTS, &(project, facet.key()))?.unwrap_or(0).max(0) as u64)
}

pub fn add_count(tx: &mut WriteTx<'_>, project: ProjectId, facet: Facet, delta: i64) -> Result<()> {
    tx.add(COUNTS, &(project, facet.key()), delta).map(drop)
}

/// Reserves `many` numbers and returns the first of them. Numbers are never reused.
pub fn next_number(tx: &mut WriteTx<'_>, project: ProjectId, facet: Facet, many: u32) -> Result<u32> {
    let next = tx.add(COUNTS, &(project, facet.key()), i64::from(many))?;
    u32::try_from(next - i64::from(many)).map_err(|_| {
        Error::Io("the project has used up all four billion internal numbers for contacts or tags; create a new project".into())
    })
}

/// Deletes the set with the key `facet`, and its size.
pub fn drop_set(tx: &mut WriteTx<'_>, project: ProjectId, facet: Facet) -> Result<()> {
    let members = set(tx, project, facet)?;
    if members.is_empty() {
        return Ok(());
    }
    tx.delete_span(BITS, &BITS.under(&(project, facet.key())), usize::from(u16::MAX) + 1)?;
    tx.delete(COUNTS, &(project, facet.key()));
    // The search index stores which of these contacts are in the set, so the contacts must be indexed again.
    feed_runs(tx, project, &members, false);
    add_count(tx, project, Facet::Revision, 1)
}

/// Queues every contact in the set with the key `facet` to be indexed again.
pub fn feed_set(tx: &mut WriteTx<'_>, project: ProjectId, facet: Facet) -> Result<()> {
    let members = set(tx, project, facet)?;
    feed_runs(tx, project, &members, false);
    Ok(())
}

/// Applies additions and removals to the set with the key `facet`, and updates its size.
pub fn apply(tx: &mut WriteTx<'_>, project: ProjectId, facet: Facet, delta: &Delta) -> Result<()> {
    let key = facet.key();
    // If the tag was deleted after the contact was read, the set of the tag no longer exists, and removing contacts from it changes
    // nothing.
    let gone = matches!(facet, Facet::Tag(_)) && !delta.remove.is_empty() && count(tx, project, facet)? == 0;
    if gone && delta.add.is_empty() {
        return Ok(());
    }
    bitmap::apply(tx, BITS, |block| (project, key, block), delta)?;
    add_count(tx, project, facet, delta.add.len() as i64 - delta.remove.len() as i64)
}

/// Adds the contacts to the change feed, with one entry for each range of neighboring numbers.
pub fn feed_runs(tx: &mut WriteTx<'_>, project: ProjectId, numbers: &RoaringBitmap, fresh: bool) {
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
