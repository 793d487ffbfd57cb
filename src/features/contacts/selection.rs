//! Selects and sorts contacts: converts filters to sets of contact numbers, and returns the numbers on a page in sort order.

use std::cmp::Reverse;

use roaring::RoaringBitmap;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::base::clock::Timestamp;
use crate::engine::api::{Failure, SortOrder, Window};
use crate::engine::store::{Read, Result};
use crate::features::contact_sets::{self, Facet};
use crate::features::{contact_records, tags};
use crate::vocab::contact_status::Status;
use crate::vocab::ids::ProjectId;

/// Filters that every selected contact must match. If no filter is set, all contacts are selected.
#[derive(Debug, Default)]
pub struct Filters<'a> {
    pub status: Option<Status>,
    /// Names of tags; a contact needs at least one of them.
    pub tags: &'a [String],
    /// The earliest creation time, inclusive.
    pub created_from: Option<Timestamp>,
    /// The end of the range for the creation time, exclusive.
    pub created_to: Option<Timestamp>,
    /// The start of the range for the time of the last change, inclusive.
    pub updated_from: Option<Timestamp>,
    /// The end of the range for the time of the last change, exclusive.
    pub updated_to: Option<Timestamp>,
}

/// The field that a list is ordered by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SortBy {
    #[default]
    CreatedAt,
    UpdatedAt,
}

impl Filters<'_> {
    pub fn select(&self, tx: &impl Read, project: ProjectId) -> Result<RoaringBitmap, Failure> {
        let mut wanted = contact_sets::set(tx, project, self.status.map_or(Facet::All, Facet::Status))?;
        if !self.tags.is_empty() {
            let mut tagged = RoaringBitmap::new();
            for name in self.tags {
                if let Some(number) = tags::number(tx, project, name)? {
                    tagged |= contact_sets::set(tx, project, Facet::Tag(number))?;
                }
            }
            wanted &= tagged;
        }
        self.created_in_range(tx, project, &mut wanted)?;
        if self.updated_from.is_some() || self.updated_to.is_some() {
            wanted = contact_records::updated(tx, project, &wanted, |at| {
                self.updated_from.is_none_or(|from| at >= from) && self.updated_to.is_none_or(|to| at < to)
            })?;
        }
        Ok(wanted)
    }

    fn created_in_range(&self, tx: &impl Read, project: ProjectId, wanted: &mut RoaringBitmap) -> Result<(), Failure> {
        if self.created_from.is_none() && self.created_to.is_none() {
            return Ok(());
        }
        let all = contact_sets::set(tx, project, Facet::All)?;
        if let Some(from) = self.created_from {
            wanted.remove_range(..contact_records::first_created_at(tx, project, &all, from)?);
        }
        if let Some(to) = self.created_to {
            wanted.remove_range(contact_records::first_created_at(tx, project, &all, to)?..);
        }
        Ok(())
    }
}

/// Sorts the contacts in `wanted`, and returns the numbers of those on one page.
pub fn page(
    tx: &impl Read,
    project: ProjectId,
    wanted: &RoaringBitmap,
    (by, order): (SortBy, SortOrder),
    window: Window,
) -> Result<Vec<u32>> {
    match by {
        // Order by number, because numbers are assigned in order of creation.
        SortBy::CreatedAt => Ok(by_number(wanted, order, window)),
        SortBy::UpdatedAt => by_update(tx, project, wanted, order, window),
    }
}

fn by_number(wanted: &RoaringBitmap, order: SortOrder, window: Window) -> Vec<u32> {
    let total = wanted.len() as usize;
    let count = window.limit.min(total.saturating_sub(window.offset));
    let nth = |index: usize| wanted.select(index as u32).expect("the index is below the length");
    let places = window.offset..window.offset + count;
    match order {
        SortOrder::Asc => places.map(nth).collect(),
        SortOrder::Desc => places.map(|place| nth(total - 1 - place)).collect(),
    }
}

fn by_update(tx: &impl Read, project: ProjectId, wanted: &RoaringBitmap, order: SortOrder, window: Window) -> Result<Vec<u32>> {
    let end = window.offset + window.limit;
    match order {
        SortOrder::Asc => first(tx, project, wanted, (window.offset, end), |time, number| (time, number)),
        SortOrder::Desc => first(tx, project, wanted, (window.offset, end), |time, number| Reverse((time, number))),
    }
}

/// Sorts the contacts in `wanted` by key, and returns the numbers of those from position `start` up to, but not including, `end`.
///
/// Scans all contacts in `wanted`, but keeps at most `2 * end` of them in memory (or 1,024, if that is more), so that the first pages of a
/// list of a million contacts need little memory.
fn first<K: Ord + Copy>(
    tx: &impl Read,
    project: ProjectId,
    wanted: &RoaringBitmap,
    (start, end): (usize, usize),
    key: impl Fn(Timestamp, u32) -> K,
) -> Result<Vec<u32>> {
    let room = end.saturating_mul(2).max(1_024);
    let mut held: Vec<(K, u32)> = Vec::with_capacity(room.min(wanted.len() as usize));
    // An entry with a greater key than this cannot be on the page.
    let mut worst: Option<K> = None;
    contact_records::updates(tx, project, wanted, |number, at| {
        let key = key(at, number);
        if worst.is_some_and(|worst| key > worst) {
            return;
        }
        held.push((key, number));
        if held.len() == room {
            held.select_nth_unstable_by_key(end - 1, |(key, _)| *key);
            held.truncate(end);
            worst = held.last().map(|(key, _)| *key);
        }
    })?;
    held.sort_unstable_by_key(|(key, _)| *key);
    Ok(held.into_iter().take(end).skip(start).map(|(_, number)| number).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::store::Error;
    use crate::features::contact_records::Contact;
    use crate::testing::TestApp;
    use crate::vocab::ids::ContactId;

    fn window(offset: usize, limit: usize) -> Window {
        Window { limit, offset, paged: false }
    }

    #[test]
    fn pages_by_number_start_at_either_end_and_stop_at_the_end_of_the_list() {
        let wanted: RoaringBitmap = [3, 7, 100_000, 200_000].into_iter().collect();
        assert_eq!(by_number(&wanted, SortOrder::Desc, window(0, 3)), [200_000, 100_000, 7]);
        assert_eq!(by_number(&wanted, SortOrder::Asc, window(3, 3)), [200_000]);
        assert!(by_number(&wanted, SortOrder::Asc, window(4, 3)).is_empty());
    }

    #[test]
    fn pages_by_update_are_those_of_a_sorted_list() {
        let app = TestApp::new();
        let project = app.project;
        let made = app.data().store.write_blocking(move |tx| {
            contact_records::change(tx, project, |tx, changes| {
                for number in 0..5_000 {
                    let at = Timestamp(1 + i64::from(number * 7_919 % 1_000));
                    changes.add(tx, &contact(number, at), contact_records::email_digest(&format!("p{number}@example.com")));
                }
                Ok::<_, Error>(())
            })
        });
        made.expect("the store works").expect("the contact is accepted");
        let tx = app.read();
        let wanted: RoaringBitmap = (0..5_000).filter(|number| number % 3 != 0).collect();
        let mut sorted: Vec<(i64, u32)> = wanted.iter().map(|number| (i64::from(number * 7_919 % 1_000), number)).collect();
        for order in [SortOrder::Asc, SortOrder::Desc] {
            sorted.sort_unstable();
            if order == SortOrder::Desc {
                sorted.reverse();
            }
            for (offset, limit) in [(0, 20), (700, 100), (3_300, 100), (9_000, 5)] {
                let found = page(&tx, project, &wanted, (SortBy::UpdatedAt, order), window(offset, limit))
                    .expect("the store is readable");
                let expected: Vec<u32> = sorted.iter().skip(offset).take(limit).map(|(_, number)| *number).collect();
                assert_eq!(found, expected, "{order:?} from {offset}");
            }
        }
    }

    fn contact(number: u32, at: Timestamp) -> Contact {
        Contact {
            id: ContactId::numbered_with(at, number, [0; 4]),
            status: Status::Subscribed,
            email: format!("p{number}@example.com"),
            profile: Default::default(),
            tags: Vec::new(),
            custom_fields: Default::default(),
            created_at: at,
            updated_at: at,
            unsubscribed_at: None,
        }
    }
}
