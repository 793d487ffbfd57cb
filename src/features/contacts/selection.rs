//! Which contacts, in which order: filters become sets of numbers, an order becomes a page of numbers.

use std::cmp::Reverse;

use roaring::RoaringBitmap;
use schemars::JsonSchema;
use serde::Deserialize;

use super::model::Status;
use super::store::{self, Facet};
use super::tags;
use crate::base::clock::Timestamp;
use crate::engine::api::{Failure, Window};
use crate::engine::store::{Read, Result};
use crate::vocab::ids::ProjectId;

/// Conditions that every wanted contact meets. Nothing given, everybody is wanted.
#[derive(Debug, Default)]
pub struct Filters<'a> {
    pub status: Option<Status>,
    /// Names of tags; a contact needs one of them.
    pub tags: &'a [String],
    /// From here on, inclusive.
    pub created_from: Option<Timestamp>,
    /// Before this.
    pub created_to: Option<Timestamp>,
    /// From here on, inclusive.
    pub updated_from: Option<Timestamp>,
    /// Before this.
    pub updated_to: Option<Timestamp>,
}

/// What a list is ordered by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SortBy {
    #[default]
    CreatedAt,
    UpdatedAt,
}

/// Which end of an order comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SortOrder {
    Asc,
    #[default]
    Desc,
}

impl Filters<'_> {
    /// The contacts that meet all conditions.
    pub fn select(&self, tx: &impl Read, project: ProjectId) -> Result<RoaringBitmap, Failure> {
        let mut wanted = store::set(tx, project, self.status.map_or(Facet::All, Facet::Status))?;
        if !self.tags.is_empty() {
            let mut tagged = RoaringBitmap::new();
            for name in self.tags {
                if let Some(number) = tags::number(tx, project, name)? {
                    tagged |= store::set(tx, project, Facet::Tag(number))?;
                }
            }
            wanted &= tagged;
        }
        self.created_in_range(tx, project, &mut wanted)?;
        if self.updated_from.is_some() || self.updated_to.is_some() {
            let mut updated = RoaringBitmap::new();
            store::updates(tx, project, &wanted, |number, at| {
                if self.updated_from.is_none_or(|from| at >= from) && self.updated_to.is_none_or(|to| at < to) {
                    updated.insert(number);
                }
            })?;
            wanted = updated;
        }
        Ok(wanted)
    }

    fn created_in_range(&self, tx: &impl Read, project: ProjectId, wanted: &mut RoaringBitmap) -> Result<(), Failure> {
        if self.created_from.is_none() && self.created_to.is_none() {
            return Ok(());
        }
        let all = store::set(tx, project, Facet::All)?;
        if let Some(from) = self.created_from {
            wanted.remove_range(..store::first_created_at(tx, project, &all, from)?);
        }
        if let Some(to) = self.created_to {
            wanted.remove_range(store::first_created_at(tx, project, &all, to)?..);
        }
        Ok(())
    }
}

/// The numbers of one page of `wanted`.
pub fn page(
    tx: &impl Read,
    project: ProjectId,
    wanted: &RoaringBitmap,
    (by, order): (SortBy, SortOrder),
    window: Window,
) -> Result<Vec<u32>> {
    match by {
        // Numbers are given in order of creation.
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
    let mut times = Vec::with_capacity(wanted.len() as usize);
    store::updates(tx, project, wanted, |number, at| times.push((at, number)))?;
    let end = (window.offset + window.limit).min(times.len());
    if window.offset >= end {
        return Ok(Vec::new());
    }
    // Only the page is put in order, not the list: a partition at each end of it, then a sort of what is between.
    match order {
        SortOrder::Asc => {
            partition(&mut times, window.offset, end, |time| *time);
        }
        SortOrder::Desc => {
            partition(&mut times, window.offset, end, |time| Reverse(*time));
        }
    }
    Ok(times[window.offset..end].iter().map(|(_, number)| *number).collect())
}

fn partition<K: Ord>(times: &mut [(Timestamp, u32)], start: usize, end: usize, key: impl Fn(&(Timestamp, u32)) -> K + Copy) {
    if end < times.len() {
        times.select_nth_unstable_by_key(end, key);
    }
    if start > 0 {
        times[..end].select_nth_unstable_by_key(start, key);
    }
    times[start..end].sort_unstable_by_key(key);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(offset: usize, limit: usize) -> Window {
        Window { limit, offset, paged: false }
    }

    #[test]
    fn pages_by_number_come_from_either_end_and_end_where_the_list_ends() {
        let wanted: RoaringBitmap = [3, 7, 100_000, 200_000].into_iter().collect();
        assert_eq!(by_number(&wanted, SortOrder::Desc, window(0, 3)), [200_000, 100_000, 7]);
        assert_eq!(by_number(&wanted, SortOrder::Asc, window(3, 3)), [200_000]);
        assert!(by_number(&wanted, SortOrder::Asc, window(4, 3)).is_empty());
    }

    #[test]
    fn a_partition_leaves_the_page_that_a_sort_would() {
        let mut times: Vec<(Timestamp, u32)> = (0..100).map(|n| (Timestamp(i64::from(n * 37 % 11)), n)).collect();
        let mut sorted = times.clone();
        sorted.sort();
        for (start, end) in [(0, 5), (40, 60), (95, 100)] {
            partition(&mut times, start, end, |time| *time);
            assert_eq!(times[start..end], sorted[start..end]);
        }
    }
}
