//! Checks whether the history of a row is linearizable: whether each operation took effect at one moment between its call and its
//! response, so that the row behaves as if there were only one server.
//!
//! The algorithm is that of porcupine: by Wing and Gong, with the memory of Lowe. It moves operations one by one from the history into
//! an order, and takes the last one back when an operation that has ended cannot come next. It remembers the sets of operations that it
//! has already tried with the same value of the row.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

/// The value of a row. Each write of a history has a different value; 0 is the value before all writes.
pub type Number = u64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Write(Number),
    Read(Number),
}

/// An operation of a client.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    pub action: Action,
    /// The time of the first request.
    pub called: Duration,
    /// The time of the response. `None` if the outcome of a write is unknown: it may take effect at any later time, or never.
    pub returned: Option<Duration>,
}

/// The operations of several rows.
#[derive(Default)]
pub struct Histories(BTreeMap<usize, Vec<Operation>>);

impl Histories {
    pub fn add(&mut self, row: usize, operation: Operation) {
        self.0.entry(row).or_default().push(operation);
    }

    pub fn extend(&mut self, other: Self) {
        for (row, operations) in other.0 {
            self.0.entry(row).or_default().extend(operations);
        }
    }

    /// Returns the numbers of rows, reads and writes.
    pub fn counts(&self) -> (usize, usize, usize) {
        let is_read = |operation: &&Operation| matches!(operation.action, Action::Read(_));
        let (all, reads): (usize, usize) = self
            .0
            .values()
            .map(|history| (history.len(), history.iter().filter(is_read).count()))
            .fold((0, 0), |sum, row| (sum.0 + row.0, sum.1 + row.1));
        (self.0.len(), reads, all - reads)
    }

    /// Returns the rows whose histories are not linearizable.
    pub fn violations(&self) -> Vec<usize> {
        self.0.iter().filter(|(_, history)| !is_linearizable(history)).map(|(row, _)| *row).collect()
    }
}

/// The start or the end of an operation, in a list that is linked in both directions.
struct Point {
    operation: usize,
    /// The place of the operation's end; `None` if this is the end.
    end: Option<usize>,
    before: usize,
    after: usize,
}

/// The points of all operations in order of time. Place 0 is before the first point.
struct Timeline(Vec<Point>);

impl Timeline {
    fn new(history: &[Operation]) -> Self {
        // At the same moment, calls come before responses, so that the operations overlap.
        let mut times: Vec<(Duration, bool, usize)> = Vec::new();
        for (operation, found) in history.iter().enumerate() {
            times.push((found.called, false, operation));
            times.push((found.returned.unwrap_or(Duration::MAX), true, operation));
        }
        times.sort_unstable();
        let ends: BTreeMap<usize, usize> = times
            .iter()
            .enumerate()
            .filter(|(_, (_, is_end, _))| *is_end)
            .map(|(at, (.., operation))| (*operation, at + 1))
            .collect();
        let mut points = vec![Point { operation: usize::MAX, end: None, before: 0, after: 1 }];
        for (at, (_, is_end, operation)) in times.iter().enumerate() {
            let end = (!is_end).then(|| ends[operation]);
            points.push(Point { operation: *operation, end, before: at, after: at + 2 });
        }
        Self(points)
    }

    fn first(&self) -> usize {
        self.0[0].after
    }

    fn is_empty(&self) -> bool {
        self.first() >= self.0.len()
    }

    /// Removes the start and the end of an operation.
    fn remove(&mut self, start: usize) {
        let end = self.0[start].end.expect("this is a start");
        for place in [start, end] {
            let (before, after) = (self.0[place].before, self.0[place].after);
            self.0[before].after = after;
            if let Some(next) = self.0.get_mut(after) {
                next.before = before;
            }
        }
    }

    /// Inserts the operation that was removed last.
    fn insert(&mut self, start: usize) {
        let end = self.0[start].end.expect("this is a start");
        for place in [end, start] {
            let (before, after) = (self.0[place].before, self.0[place].after);
            self.0[before].after = place;
            if let Some(next) = self.0.get_mut(after) {
                next.before = place;
            }
        }
    }
}

pub fn is_linearizable(history: &[Operation]) -> bool {
    let mut timeline = Timeline::new(history);
    let mut ordered = vec![0_u64; history.len().div_ceil(64)];
    let mut tried: HashSet<(Vec<u64>, Number)> = HashSet::new();
    // The starts of the ordered operations, each with the value of the row before it.
    let mut order: Vec<(usize, Number)> = Vec::new();
    let (mut value, mut place) = (0, timeline.first());
    while !timeline.is_empty() {
        let operation = timeline.0[place].operation;
        let bit = 1_u64 << (operation % 64);
        if timeline.0[place].end.is_none() {
            // The operation has ended here without a place in the order, so the last choice was wrong.
            let Some((last, before)) = order.pop() else { return false };
            let undone = timeline.0[last].operation;
            ordered[undone / 64] &= !(1_u64 << (undone % 64));
            timeline.insert(last);
            (value, place) = (before, timeline.0[last].after);
            continue;
        }
        let next = match history[operation].action {
            Action::Write(written) => Some(written),
            Action::Read(read) => (read == value).then_some(value),
        };
        if let Some(next) = next {
            ordered[operation / 64] |= bit;
            if tried.insert((ordered.clone(), next)) {
                order.push((place, value));
                timeline.remove(place);
                (value, place) = (next, timeline.first());
                continue;
            }
            ordered[operation / 64] &= !bit;
        }
        place = timeline.0[place].after;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::Action::{Read, Write};
    use super::*;

    fn operation(action: Action, called: u64, returned: u64) -> Operation {
        Operation { action, called: Duration::from_millis(called), returned: Some(Duration::from_millis(returned)) }
    }

    fn unknown(action: Action, called: u64) -> Operation {
        Operation { returned: None, ..operation(action, called, 0) }
    }

    #[test]
    fn a_history_in_the_order_of_one_server_is_accepted() {
        assert!(is_linearizable(&[]));
        assert!(is_linearizable(&[operation(Read(0), 0, 1), operation(Write(1), 2, 3), operation(Read(1), 4, 5)]));
        // The write overlaps two reads; the first may see the old value, and the second the new one.
        let overlapping = [operation(Write(1), 0, 10), operation(Read(0), 1, 2), operation(Read(1), 3, 4)];
        assert!(is_linearizable(&overlapping));
        // Two writes overlap, so either can be the last one.
        for last in [1, 2] {
            assert!(is_linearizable(&[operation(Write(1), 0, 5), operation(Write(2), 1, 6), operation(Read(last), 7, 8)]));
        }
    }

    #[test]
    fn a_stale_read_and_a_read_that_goes_back_are_rejected() {
        assert!(!is_linearizable(&[operation(Write(1), 0, 1), operation(Read(0), 2, 3)]), "an acknowledged write is missing");
        let back = [operation(Write(1), 0, 10), operation(Read(1), 1, 2), operation(Read(0), 3, 4)];
        assert!(!is_linearizable(&back), "the second read goes back");
        let split =
            [operation(Write(1), 0, 10), operation(Write(2), 0, 10), operation(Read(1), 11, 12), operation(Read(2), 13, 14)];
        assert!(!is_linearizable(&split), "no server has both values last");
        assert!(!is_linearizable(&[operation(Read(7), 0, 1)]), "no one wrote this value");
    }

    #[test]
    fn a_write_with_an_unknown_outcome_takes_effect_later_or_never_but_not_twice() {
        let write = unknown(Write(1), 0);
        assert!(is_linearizable(&[write, operation(Read(0), 5, 6)]));
        assert!(is_linearizable(&[write, operation(Read(0), 5, 6), operation(Read(1), 7, 8)]));
        let again = [write, operation(Write(2), 1, 2), operation(Read(1), 3, 4), operation(Read(2), 5, 6)];
        assert!(!is_linearizable(&again));
        let twice =
            [write, operation(Read(1), 1, 2), operation(Write(2), 3, 4), operation(Read(2), 5, 6), operation(Read(1), 7, 8)];
        assert!(!is_linearizable(&twice));
    }

    #[test]
    fn long_histories_with_overlapping_operations_are_checked() {
        // Each write overlaps the next one and two reads.
        let mut history = Vec::new();
        for number in 1..=1_000 {
            history.push(operation(Write(number), number * 10, number * 10 + 12));
            history.push(operation(Read(number), number * 10 + 3, number * 10 + 8));
            history.push(operation(Read(number), number * 10 + 4, number * 10 + 9));
        }
        assert!(is_linearizable(&history));
        history.push(operation(Read(500), 20_000, 20_001));
        assert!(!is_linearizable(&history));
    }
}
