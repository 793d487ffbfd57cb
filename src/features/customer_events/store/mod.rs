//! The tables of customer events and all access to them.
//!
//! Each event has one row, and rows are in order of arrival; `index` finds events by contact and by key. Each event adds its contact to
//! three sets for the event's name: one for all time, one for the day of the event, and one for its hour. Event rows and the sets for days
//! and hours are deleted after the retention period; the set for all time is kept.

pub mod external_ids;
mod index;

pub use index::ROW_CHECKS as INDEX_ROW_CHECKS;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};

use self::external_ids::{Digest, digest};
use self::index::Entry;
use crate::base::clock::Timestamp;
use crate::base::period::Period;
use crate::base::text::{Name, fold};
use crate::engine::store::bitmap::{self, Block, Delta};
use crate::engine::store::key::Key;
use crate::engine::store::time_buckets::{self, DAY, HOUR, HOURS_PER_DAY};
use crate::engine::store::{Order, Read, Record, Result, RowCheck, Span, Table, WriteTx};
use crate::vocab::ids::{EventId, ProjectId};
use crate::vocab::{limits, tables};

const EVENTS: Table<EventId, Event> = Table::new(tables::CUSTOMER_EVENTS);
const NAMES: Table<(ProjectId, String), u32> = Table::new(tables::CUSTOMER_EVENT_NAMES);
const CONTACTS: Table<(ProjectId, u32, u32, u16), Block> = Table::new(tables::CUSTOMER_EVENT_BITS);
/// The days for which there are sets, so that expired sets can be found.
const DAYS: Table<(u32, ProjectId, u32), ()> = Table::new(tables::CUSTOMER_EVENT_DAYS);
const COUNTS: Table<(ProjectId, u8), i64> = Table::new(tables::CUSTOMER_EVENT_COUNTS);

/// The checks that decode every row of these tables.
pub const ROW_CHECKS: &[RowCheck] =
    &[RowCheck::of(EVENTS), RowCheck::of(NAMES), RowCheck::of(CONTACTS), RowCheck::of(DAYS), RowCheck::of(COUNTS)];

/// The key in [`COUNTS`] for a number that increases with every customer event and becomes part of the next event's ID.
const EVENT_COUNT: u8 = 0;
/// The key in [`COUNTS`] for the number of event names, which is also the number of the next name.
const NAME_COUNT: u8 = 1;
const RETENTION_MS: i64 = limits::EVENT_KEPT_DAYS as i64 * 24 * 60 * 60 * 1000;

/// The name of an event, such as `purchase.completed`. Filters ignore its case.
pub type EventName = Name<{ limits::EVENT_NAME_CHARACTERS_MAX }>;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    pub project: ProjectId,
    /// The number of the event's contact.
    pub contact: u32,
    pub name: String,
    pub occurred_at: Timestamp,
    pub received_at: Timestamp,
    pub customer: Option<String>,
    pub checkout: Option<String>,
    pub order: Option<String>,
    pub dedupe_key: Option<String>,
    /// The properties as received: the JSON of an object.
    pub properties: Option<String>,
    /// The hash of the event's key, if the event's contact was erased. The hash prevents a repeated event from restoring the contact.
    erased_key: Option<Digest>,
}

impl Record for Event {}

#[derive(Clone, Debug, Default)]
pub struct NewEvent {
    pub name: String,
    pub occurred_at: Option<Timestamp>,
    pub customer: Option<String>,
    pub checkout: Option<String>,
    pub order: Option<String>,
    pub dedupe_key: Option<String>,
    pub properties: Option<String>,
    /// The hash of an order that this event assigns to the contact.
    pub has_order: Option<Digest>,
}

fn counter(tx: &impl Read, project: ProjectId, which: u8) -> Result<u64> {
    Ok(tx.get(COUNTS, &(project, which))?.unwrap_or(0).max(0) as u64)
}

/// Returns the number of events ever recorded in the project, including erased events. A filter's cached result is valid while this number
/// stays the same.
pub fn count(tx: &impl Read, project: ProjectId) -> Result<u64> {
    counter(tx, project, EVENT_COUNT)
}

/// Writes the events that one command records in one project.
pub struct EventWriter {
    project: ProjectId,
    /// The numbers of event names by their folded form; `None` for a name that does not exist yet.
    names: HashMap<String, Option<u32>>,
    /// The random suffixes of new IDs, fetched in one system call to save time.
    endings: Vec<[u8; 4]>,
    sets: BTreeMap<(u32, u32), RoaringBitmap>,
    /// The event that used each key, for the keys given to `new` and the keys of events written since.
    used: HashMap<Digest, EventId>,
    entries: Vec<Entry>,
    keys: Vec<(Digest, EventId)>,
    first: u64,
    written: u64,
}

impl EventWriter {
    /// Prepares to write `many` events. `keys` contains the hashes of their deduplication keys.
    pub fn new(tx: &WriteTx<'_>, project: ProjectId, many: usize, mut keys: Vec<Digest>) -> Result<Self> {
        let first = count(tx, project)?;
        let mut endings = vec![[0; 4]; many];
        tx.random().fill(endings.as_flattened_mut());
        keys.sort_unstable();
        keys.dedup();
        let known = index::used(tx, project, &keys)?;
        let used = keys.into_iter().zip(known).filter_map(|(key, event)| Some((key, event?))).collect();
        Ok(Self {
            project,
            names: HashMap::new(),
            endings,
            sets: BTreeMap::new(),
            used,
            entries: Vec::with_capacity(many),
            keys: Vec::with_capacity(many),
            first,
            written: 0,
        })
    }

    /// Returns the event that used this key. The key must be one of the keys given to `new`.
    pub fn used(&self, key: &Digest) -> Option<EventId> {
        self.used.get(key).copied()
    }

    /// Returns the number of the project's next event.
    pub fn next(&self) -> u64 {
        self.first + self.written
    }

    /// Returns whether the project already has this event name or can still add it.
    pub fn accepts_name(&mut self, tx: &impl Read, name: &str) -> Result<bool> {
        let folded = fold(name);
        let known = match self.names.get(&folded) {
            Some(known) => *known,
            None => {
                let known = tx.get(NAMES, &(self.project, folded.clone()))?;
                self.names.insert(folded, known);
                known
            }
        };
        Ok(known.is_some() || counter(tx, self.project, NAME_COUNT)? < limits::EVENT_NAMES_PER_PROJECT_MAX)
    }

    /// Writes an event for a contact. The event's name must have been accepted by `accepts_name`.
    pub fn note(&mut self, tx: &mut WriteTx<'_>, contact: u32, new: NewEvent) -> Result<EventId> {
        let (project, now) = (self.project, tx.now());
        let name = self.number(tx, &new.name)?;
        // The event's number keeps IDs created in the same second in order, so that new rows are appended at the end of the table.
        let ending = self.endings.pop().unwrap_or_else(|| tx.random().bytes());
        let id = EventId::numbered_with(now, self.next() as u32, ending);
        let occurred_at = new.occurred_at.unwrap_or(now);
        for bucket in time_buckets::of(occurred_at) {
            self.sets.entry((name, bucket)).or_default().insert(contact);
        }
        if let Some(key) = &new.dedupe_key {
            let key = digest(key);
            self.used.insert(key, id);
            self.keys.push((key, id));
        }
        self.entries.push(Entry { contact, occurred_at, event: id, name, order: new.has_order });
        let NewEvent { name, customer, checkout, order, dedupe_key, properties, .. } = new;
        let (received_at, erased_key) = (now, None);
        let event = Event {
            project,
            contact,
            name,
            occurred_at,
            received_at,
            customer,
            checkout,
            order,
            dedupe_key,
            properties,
            erased_key,
        };
        tx.put(EVENTS, &id, &event);
        self.written += 1;
        Ok(id)
    }

    fn number(&mut self, tx: &mut WriteTx<'_>, name: &str) -> Result<u32> {
        let folded = fold(name);
        if let Some(Some(number)) = self.names.get(&folded) {
            return Ok(*number);
        }
        let number = (tx.add(COUNTS, &(self.project, NAME_COUNT), 1)? - 1) as u32;
        tx.put(NAMES, &(self.project, folded.clone()), &number);
        self.names.insert(folded, Some(number));
        Ok(number)
    }

    /// Writes the index entries, sets and counts for all events of the command.
    pub fn finish(self, tx: &mut WriteTx<'_>) -> Result<()> {
        if self.written == 0 {
            return Ok(());
        }
        let project = self.project;
        index::add(tx, (project, self.first), self.entries, self.keys)?;
        for ((name, bucket), who) in self.sets {
            let delta = Delta { add: who, ..Delta::default() };
            bitmap::apply(tx, CONTACTS, |block| (project, name, bucket, block), &delta)?;
            let is_day = bucket & DAY != 0;
            if is_day && !tx.has(DAYS, &(bucket & !DAY, project, name))? {
                tx.put(DAYS, &(bucket & !DAY, project, name), &());
            }
        }
        tx.add(COUNTS, &(project, EVENT_COUNT), self.written as i64).map(drop)
    }
}

/// Returns the numbers of the contacts that have an event with this name in the period. Some of these contacts may have been deleted.
pub fn who(tx: &impl Read, project: ProjectId, name: &str, period: Period) -> Result<RoaringBitmap> {
    let Some(name) = tx.get(NAMES, &(project, fold(name)))? else { return Ok(RoaringBitmap::new()) };
    let between = |first: u32, end: u32| {
        let place = |bucket: u32| (project, name, bucket).to_bytes();
        bitmap::load_span(tx, CONTACTS, &Span { from: place(first), to: Some(place(end)) })
    };
    let pending =
        if period == Period::ALWAYS { RoaringBitmap::new() } else { index::pending_contacts(tx, project, name, period)? };
    time_buckets::who(period, between, |number| Ok(pending.contains(number) || index::has(tx, project, number, name, period)?))
}

/// Returns up to `limit` event names in folded form, in alphabetical order.
pub fn names(tx: &impl Read, project: ProjectId, limit: usize) -> Result<Vec<String>> {
    let rows = tx.list(NAMES, &NAMES.under(&(project,)), Order::Forward, limit)?;
    Ok(rows.into_iter().map(|((_, name), _)| name).collect())
}

/// Returns up to `limit` events of a contact before the given position, newest first by time of occurrence.
pub fn of(
    tx: &impl Read,
    project: ProjectId,
    contact: u32,
    before: Option<(Timestamp, EventId)>,
    limit: usize,
) -> Result<Vec<(EventId, Event)>> {
    let places = index::of(tx, project, contact, before, limit)?;
    places.into_iter().map(|(_, id)| Ok((id, tx.get(EVENTS, &id)?.ok_or_else(|| tx.corrupt(tables::CUSTOMER_EVENTS))?))).collect()
}

/// Returns the hashes of up to `limit` orders that were ever assigned to a contact.
pub fn orders_of(tx: &impl Read, project: ProjectId, contact: u32, limit: usize) -> Result<BTreeSet<Digest>> {
    let mut orders = index::pending_orders(tx, project, contact)?;
    orders.extend(external_ids::orders(tx, project, contact, None, limit)?);
    while orders.len() > limit {
        orders.pop_last();
    }
    Ok(orders)
}

/// Merges the pending entries of some contacts into the indexes.
pub fn merge_backlog_of(tx: &mut WriteTx<'_>, project: ProjectId, contacts: &RoaringBitmap) -> Result<()> {
    index::merge_backlog_of(tx, project, contacts)
}

/// Returns whether events are waiting to be merged into the indexes.
pub fn is_behind(tx: &impl Read) -> Result<bool> {
    index::is_behind(tx)
}

/// Merges some pending entries into the indexes; returns whether more may be pending.
pub fn merge_backlog(tx: &mut WriteTx<'_>) -> Result<bool> {
    index::merge_backlog(tx, limits::EVENTS_MERGED_PER_STEP)
}

/// Erases up to `limit` events of a deleted contact; returns whether there may be more. Each erased event leaves a row without content,
/// which blocks the event's key until the row expires.
pub fn forget(tx: &mut WriteTx<'_>, project: ProjectId, contact: u32, limit: usize) -> Result<bool> {
    index::merge_backlog_of(tx, project, &RoaringBitmap::from_iter([contact]))?;
    let rows = index::rows_of(tx, project, contact, limit)?;
    for place in &rows {
        index::remove(tx, project, contact, *place);
        let Some(event) = tx.get(EVENTS, &place.1)? else { continue };
        let erased = Event {
            name: String::new(),
            customer: None,
            checkout: None,
            order: None,
            properties: None,
            erased_key: event.dedupe_key.as_deref().map(digest),
            dedupe_key: None,
            ..event
        };
        tx.put(EVENTS, &place.1, &erased);
    }
    Ok(rows.len() == limit)
}

/// Deletes some events that are past their retention period; returns whether there may be more.
pub fn sweep(tx: &mut WriteTx<'_>) -> Result<bool> {
    // Merge the backlog first, because deleting an event removes its entries from the indexes.
    if merge_backlog(tx)? {
        return Ok(true);
    }
    let oldest_kept = tx.now().plus_ms(-RETENTION_MS);
    let span = Span { from: Vec::new(), to: Some(EventId::first_of(oldest_kept).to_bytes()) };
    let old = tx.list(EVENTS, &span, Order::Forward, limits::EVENTS_FORGOTTEN_PER_STEP)?;
    for (id, event) in &old {
        tx.delete(EVENTS, id);
        index::remove(tx, event.project, event.contact, (event.occurred_at, *id));
        if let Some(key) = event.erased_key.or(event.dedupe_key.as_deref().map(digest)) {
            index::release(tx, event.project, key);
        }
    }
    let more = sweep_sets(tx, time_buckets::day(oldest_kept))?;
    Ok(more || old.len() == limits::EVENTS_FORGOTTEN_PER_STEP)
}

/// Deletes the sets for days before `first_kept` and for hours on those days.
fn sweep_sets(tx: &mut WriteTx<'_>, first_kept: u32) -> Result<bool> {
    let span = Span { from: Vec::new(), to: Some(first_kept.to_bytes()) };
    let old = tx.list(DAYS, &span, Order::Forward, limits::EVENT_DAYS_FORGOTTEN_PER_STEP)?;
    for (key, ()) in &old {
        let (day, project, name) = *key;
        let place = |bucket: u32| (project, name, bucket).to_bytes();
        let hour = HOUR | (day * HOURS_PER_DAY);
        for (from, to) in [(DAY | day, DAY | (day + 1)), (hour, hour + HOURS_PER_DAY)] {
            tx.delete_span(CONTACTS, &Span { from: place(from), to: Some(place(to)) }, usize::MAX)?;
        }
        tx.delete(DAYS, key);
    }
    Ok(old.len() == limits::EVENT_DAYS_FORGOTTEN_PER_STEP)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{START, TestApp};

    const HOUR_MS: i64 = 60 * 60 * 1000;
    const DAY_MS: i64 = 24 * HOUR_MS;

    fn write<T: Send + 'static>(app: &TestApp, act: impl FnOnce(&mut WriteTx<'_>) -> Result<T> + Send + 'static) -> T {
        app.data().store.write_blocking(act).expect("the store works").expect("the write succeeds")
    }

    fn note(app: &TestApp, events: &[(u32, &'static str, i64)]) -> Vec<EventId> {
        let (project, events) = (app.project, events.to_vec());
        write(app, move |tx| {
            let mut writer = EventWriter::new(tx, project, events.len(), Vec::new())?;
            let mut ids = Vec::new();
            for (contact, name, after) in events {
                assert!(writer.accepts_name(tx, name)?);
                let occurred_at = Some(START.plus_ms(after));
                let dedupe_key = Some(format!("{contact} {name} {after}"));
                let new =
                    NewEvent { name: name.into(), occurred_at, dedupe_key, properties: Some("{}".into()), ..Default::default() };
                ids.push(writer.note(tx, contact, new)?);
            }
            writer.finish(tx)?;
            Ok(ids)
        })
    }

    fn by_key(app: &TestApp, key: &str) -> Option<EventId> {
        index::used(&app.read(), app.project, &[digest(key)]).expect("the store is readable")[0]
    }

    fn asked(app: &TestApp, name: &str, from: i64, to: i64) -> Vec<u32> {
        let period = Period { from: START.plus_ms(from), to: START.plus_ms(to) };
        who(&app.read(), app.project, name, period).expect("the store is readable").iter().collect()
    }

    #[test]
    fn contacts_are_found_to_the_millisecond_and_by_name_in_any_case() {
        let app = TestApp::new();
        note(&app, &[(1, "cart.added", 100), (2, "Cart.Added", HOUR_MS), (3, "other", 100), (70_000, "cart.added", 3 * DAY_MS)]);
        assert_eq!(asked(&app, "CART.added", 100, 3 * DAY_MS + 1), [1, 2, 70_000]);
        assert_eq!(asked(&app, "cart.added", 101, 3 * DAY_MS), [2]);
        assert_eq!(asked(&app, "cart.added", 100, 101), [1]);
        assert!(asked(&app, "unknown", 0, 9 * DAY_MS).is_empty());
        let ever = who(&app.read(), app.project, "cart.added", Period::ALWAYS).expect("the store is readable");
        assert_eq!(ever.len(), 3);
    }

    #[test]
    fn events_of_a_contact_are_listed_newest_first_in_pages() {
        let app = TestApp::new();
        let ids = note(&app, &[(1, "a", 5), (2, "a", 6), (1, "b", 9), (1, "c", 1), (1, "d", 9)]);
        let listed = |before, limit| of(&app.read(), app.project, 1, before, limit).expect("the store is readable");
        let names = |events: &[(EventId, Event)]| events.iter().map(|(_, event)| event.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&listed(None, 10)), ["d", "b", "a", "c"]);
        let first = listed(None, 2);
        let (last_id, last) = &first[1];
        assert_eq!(names(&listed(Some((last.occurred_at, *last_id)), 10)), ["a", "c"]);
        assert!(ids.is_sorted(), "ids created in the same second are in order");
    }

    /// Returns the results of all queries as one string, for comparison.
    fn all(app: &TestApp) -> String {
        let (tx, project) = (app.read(), app.project);
        let mut output = String::new();
        for contact in 1..6 {
            let whole = of(&tx, project, contact, None, 100).expect("the store is readable");
            let mut parts = Vec::new();
            while parts.len() < whole.len() {
                let before = parts.last().map(|(id, event): &(EventId, Event)| (event.occurred_at, *id));
                parts.extend(of(&tx, project, contact, before, 3).expect("the store is readable"));
            }
            assert_eq!(parts, whole, "paging gives the same result");
            output += &format!("{whole:?} {:?}\n", orders_of(&tx, project, contact, 100).expect("the store is readable"));
        }
        for (from, to) in [(0, 1), (0, HOUR_MS / 2), (7, 50 * HOUR_MS + 1), (HOUR_MS, 30 * DAY_MS)] {
            output += &format!("{:?}\n", asked(app, "seen", from, to));
        }
        let keys: Vec<_> =
            (0..200).map(|number| by_key(app, &format!("{} seen {}", number % 5 + 1, number * HOUR_MS / 2))).collect();
        output + &format!("{keys:?}")
    }

    #[test]
    fn pending_and_merged_events_read_the_same() {
        let app = TestApp::new();
        let events: Vec<(u32, &str, i64)> =
            (0..150).map(|number| (number as u32 % 5 + 1, "seen", number * HOUR_MS / 2)).collect();
        note(&app, &events[..90]);
        note(&app, &events[90..91]);
        note(&app, &events[91..]);
        let project = app.project;
        write(&app, move |tx| {
            let mut writer = EventWriter::new(tx, project, 1, Vec::new())?;
            assert!(writer.accepts_name(tx, "paid")?);
            let paid = NewEvent { name: "paid".into(), has_order: Some(digest("o-1")), ..NewEvent::default() };
            writer.note(tx, 2, paid)?;
            writer.finish(tx)
        });
        assert!(is_behind(&app.read()).expect("the store is readable"));
        let before = all(&app);
        assert!(before.matches("Some(").count() > 150, "the keys are found: {before}");
        write(&app, move |tx| merge_backlog_of(tx, project, &RoaringBitmap::from_iter([2, 3])));
        assert_eq!(all(&app), before, "some contacts' entries are merged");
        let mut steps = 0;
        while write(&app, |tx| index::merge_backlog(tx, 40)) {
            assert_eq!(all(&app), before, "step {steps}");
            steps += 1;
        }
        assert!(steps > 0 && !is_behind(&app.read()).expect("the store is readable"), "{steps}");
        assert_eq!(all(&app), before, "all entries are merged");
    }

    #[test]
    fn a_full_backlog_makes_requests_write_the_indexes_directly() {
        let app = TestApp::new();
        let project = app.project;
        note(&app, &[(1, "a", 0)]);
        write(&app, move |tx| tx.add(COUNTS, &(project, EVENT_COUNT), limits::EVENTS_WAITING_MAX as i64).map(drop));
        note(&app, &[(2, "a", 5)]);
        assert_eq!(
            index::rows_of(&app.read(), project, 1, 9).expect("the rows are readable").len(),
            0,
            "the event is still pending"
        );
        assert_eq!(
            index::rows_of(&app.read(), project, 2, 9).expect("the rows are readable").len(),
            1,
            "the event was written directly"
        );
        assert!(!write(&app, merge_backlog));
        assert_eq!(index::rows_of(&app.read(), project, 1, 9).expect("the store is readable").len(), 1);
    }

    #[test]
    fn only_events_past_the_retention_are_deleted() {
        let app = TestApp::new();
        note(&app, &[(1, "a", 0), (2, "a", 0)]);
        app.clock.advance_ms(DAY_MS);
        note(&app, &[(1, "a", DAY_MS)]);
        app.clock.advance_ms(RETENTION_MS - DAY_MS);
        assert!(!write(&app, sweep));
        assert_eq!(
            of(&app.read(), app.project, 1, None, 10).expect("the rows are readable").len(),
            2,
            "events are kept for exactly 90 days"
        );
        app.clock.advance_ms(1_000);
        assert!(!write(&app, sweep));
        assert_eq!(of(&app.read(), app.project, 1, None, 10).expect("the store is readable").len(), 1);
        assert_eq!(by_key(&app, "1 a 0"), None);
        assert!(by_key(&app, &format!("1 a {DAY_MS}")).is_some());
        app.clock.advance_ms(DAY_MS - 1_000);
        write(&app, sweep);
        assert!(asked(&app, "a", 0, HOUR_MS).is_empty() && asked(&app, "a", 0, DAY_MS).is_empty());
        assert_eq!(asked(&app, "a", DAY_MS, DAY_MS + 1), [1]);
        let ever = who(&app.read(), app.project, "a", Period::ALWAYS).expect("the store is readable");
        assert_eq!(ever.len(), 2, "the set of contacts that ever had the event stays");
    }

    #[test]
    fn an_erased_contacts_events_lose_their_content_but_their_keys_stay_used() {
        let app = TestApp::new();
        note(&app, &[(1, "a", 0), (2, "a", 0)]);
        let project = app.project;
        assert!(!write(&app, move |tx| forget(tx, project, 1, 10)));
        assert!(of(&app.read(), project, 1, None, 10).expect("the store is readable").is_empty());
        assert!(by_key(&app, "1 a 0").is_some());
        let rows = app.read().list(EVENTS, &Span::default(), Order::Forward, 10).expect("the store is readable");
        let erased = &rows[0].1;
        assert!(erased.name.is_empty() && erased.properties.is_none() && erased.dedupe_key.is_none());
        app.clock.advance_ms(RETENTION_MS + 1_000);
        write(&app, sweep);
        assert_eq!(by_key(&app, "1 a 0"), None, "the key is deleted with its row");
    }
}
