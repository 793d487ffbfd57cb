//! The index of emails: maps each email to its contact, which ensures that emails are unique.
//!
//! Hashes are random, so inserting a chunk of an import straight into the index touches nearly every page, and an import of a million rows
//! would rewrite the index about fifty times. Many new emails in one transaction therefore become a *run*: one row that contains all of
//! them, sorted. Later, the runs are merged into the index, one slice of the hash range at a time, which writes most pages once.
//!
//! Invariants: an entry in the index overrides entries in runs. Removing a hash that a run may contain leaves [`GONE`] in the index. All
//! hashes below the cursor of a merge are in the index, and the runs are ignored below it.

use std::ops::ControlFlow;

use crate::engine::store::key::Key;
use crate::engine::store::sorted_run;
use crate::engine::store::{Order, Read, Result, RowCheck, Span, Table, WriteTx};
use crate::vocab::ids::ProjectId;
use crate::vocab::tables;

const INDEX: Table<(ProjectId, Digest), u32> = Table::new(tables::CONTACTS_BY_EMAIL);
/// The runs: each is a list of hashes and contact numbers. The row under [`CURSOR`] contains the hash that a merge has reached.
const RUNS: Table<(ProjectId, u32), Vec<u8>> = Table::new(tables::CONTACT_EMAIL_RUNS);

/// The checks that decode every row of these tables.
pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(INDEX), RowCheck::of(RUNS)];

/// The hash that identifies an email in a project.
pub type Digest = [u8; 16];

/// An email's hash and the number of its contact.
type Entry = (Digest, u32);

/// The index value for a removed email, which overrides any entry in a run. No contact has this number.
const GONE: u32 = u32::MAX;
const CURSOR: u32 = u32::MAX;
/// The key of a row that exists if the index may contain [`GONE`].
const SOME_GONE: u32 = u32::MAX - 1;
/// The size in bytes of one run entry.
const ENTRY: usize = 20;
/// The smallest number of new emails that are stored as a run. Fewer emails go directly into the index, because every lookup must search
/// each run.
const RUN_MIN: usize = 5_000;
/// The maximum number of runs. Runs must be merged before more are added, because every lookup searches each run.
const RUNS_MAX: usize = 64;
/// The number of entries merged in one transaction. Merging them occupies the writer for tens of milliseconds.
const MERGED_PER_STEP: usize = 20_000;

pub fn find(tx: &impl Read, project: ProjectId, digest: Digest) -> Result<Option<u32>> {
    match tx.get(INDEX, &(project, digest))? {
        Some(GONE) => Ok(None),
        Some(number) => Ok(Some(number)),
        None => {
            let mut found = [None];
            in_runs(tx, project, &[digest], &mut found)?;
            Ok(found[0])
        }
    }
}

/// Returns, for each hash, the number of the contact with this email, if there is one. `digests` must be sorted, because the runs are
/// searched in order; neighboring hashes are then also read from the same page of the index.
pub fn find_all(tx: &impl Read, project: ProjectId, digests: &[Digest]) -> Result<Vec<Option<u32>>> {
    let mut found = Vec::with_capacity(digests.len());
    for digest in digests {
        found.push(tx.get(INDEX, &(project, *digest))?);
    }
    in_runs(tx, project, digests, &mut found)?;
    found.iter_mut().for_each(|number| *number = number.filter(|number| *number != GONE));
    Ok(found)
}

/// Searches the runs for the hashes that the index does not contain.
fn in_runs(tx: &impl Read, project: ProjectId, digests: &[Digest], found: &mut [Option<u32>]) -> Result<()> {
    let cursor = cursor(tx, project)?;
    let first = digests.partition_point(|digest| cursor.is_some_and(|cursor| *digest < cursor));
    visit_runs(tx, project, |_, run| {
        let mut rest = run;
        for (digest, number) in digests[first..].iter().zip(&mut found[first..]) {
            rest = &rest[lower_bound(rest, digest) * ENTRY..];
            if number.is_none() && rest.starts_with(digest) {
                *number = Some(entry(rest).1);
            }
        }
        Ok(())
    })
}

fn lower_bound(run: &[u8], digest: &Digest) -> usize {
    sorted_run::lower_bound::<ENTRY>(run, digest)
}

fn entry(bytes: &[u8]) -> Entry {
    let (digest, number) = bytes[..ENTRY].split_at(16);
    let number = u32::from_be_bytes(number.try_into().expect("four bytes are left"));
    (digest.try_into().expect("sixteen bytes were taken"), number)
}

fn cursor(tx: &impl Read, project: ProjectId) -> Result<Option<Digest>> {
    let bytes = tx.get(RUNS, &(project, CURSOR))?;
    Ok(bytes.and_then(|bytes| bytes.try_into().ok()))
}

fn visit_runs(tx: &impl Read, project: ProjectId, mut visit: impl FnMut(u32, &[u8]) -> Result<()>) -> Result<()> {
    let span = Span { from: (project, 0_u32).to_bytes(), to: Some((project, SOME_GONE).to_bytes()) };
    tx.visit_bytes(RUNS.id, &span, Order::Forward, &mut |mut key, run| {
        let (_, number): (ProjectId, u32) = Key::read(&mut key).ok_or_else(|| tx.corrupt(RUNS.id))?;
        visit(number, run).map(ControlFlow::Continue)
    })
}

/// Adds the emails of new contacts. No other contact in the project may have any of these emails.
pub fn add(tx: &mut WriteTx<'_>, project: ProjectId, mut emails: Vec<Entry>) -> Result<()> {
    emails.sort_unstable();
    if tx.has(RUNS, &(project, SOME_GONE))? {
        // If an email was removed and is added again, a run may still contain the deleted contact's number; only an entry in the index
        // overrides it.
        let mut unknown = Vec::with_capacity(emails.len());
        for (digest, number) in emails {
            match tx.get(INDEX, &(project, digest))? {
                Some(GONE) => tx.put(INDEX, &(project, digest), &number),
                _ => unknown.push((digest, number)),
            }
        }
        emails = unknown;
    }
    let below = match cursor(tx, project)? {
        // Lookups ignore runs below the cursor of a merge, so emails below the cursor go directly into the index.
        Some(cursor) => emails.partition_point(|(digest, _)| *digest < cursor),
        None => 0,
    };
    let at_once = if emails.len() - below < RUN_MIN { emails.len() } else { below };
    for (digest, number) in &emails[..at_once] {
        tx.put(INDEX, &(project, *digest), number);
    }
    if at_once == emails.len() {
        return Ok(());
    }
    let mut run = Vec::with_capacity((emails.len() - at_once) * ENTRY);
    for (digest, number) in &emails[at_once..] {
        run.extend_from_slice(digest);
        run.extend_from_slice(&number.to_be_bytes());
    }
    let mut next = 0;
    visit_runs(tx, project, |number, _| {
        next = number + 1;
        Ok(())
    })?;
    tx.put(RUNS, &(project, next), &run);
    Ok(())
}

/// Removes the email of a deleted contact.
pub fn remove(tx: &mut WriteTx<'_>, project: ProjectId, digest: Digest) -> Result<()> {
    let mut found = [None];
    in_runs(tx, project, &[digest], &mut found)?;
    if found[0].is_some() {
        tx.put(INDEX, &(project, digest), &GONE);
        tx.put(RUNS, &(project, SOME_GONE), &Vec::new());
    } else {
        tx.delete(INDEX, &(project, digest));
    }
    Ok(())
}

/// Returns whether a project has the maximum number of runs or a merge of its runs has started. In both cases, the runs must be merged
/// before more are added.
pub fn is_full(tx: &impl Read, project: ProjectId) -> Result<bool> {
    let mut runs = 0;
    visit_runs(tx, project, |_, _| {
        runs += 1;
        Ok(())
    })?;
    Ok(runs >= RUNS_MAX || cursor(tx, project)?.is_some())
}

/// Returns every project that has runs.
pub fn projects_with_runs(tx: &impl Read) -> Result<Vec<ProjectId>> {
    let mut projects = Vec::new();
    let mut span = Span::default();
    loop {
        let mut next = None;
        tx.visit_bytes(RUNS.id, &span, Order::Forward, &mut |mut key, _| {
            next = <(ProjectId, u32)>::read(&mut key).map(|(project, _)| project);
            Ok(ControlFlow::Break(()))
        })?;
        let Some(project) = next else { return Ok(projects) };
        projects.push(project);
        match RUNS.under(&(project,)).to {
            Some(end) => span.from = end,
            None => return Ok(projects),
        }
    }
}

/// Merges the next slice of the runs into the index; returns whether entries remain.
pub fn merge(tx: &mut WriteTx<'_>, project: ProjectId) -> Result<bool> {
    let from = cursor(tx, project)?.unwrap_or_default();
    let (slice, to) = slice(tx, project, from)?;
    for (digest, number) in slice {
        match tx.get(INDEX, &(project, digest))? {
            None => tx.put(INDEX, &(project, digest), &number),
            Some(GONE) => tx.delete(INDEX, &(project, digest)),
            // Keep the index entry, because the email was removed and then added again.
            Some(_) => {}
        }
    }
    match to {
        Some(to) => tx.put(RUNS, &(project, CURSOR), &to.to_vec()),
        None => drop(tx.delete_span(RUNS, &RUNS.under(&(project,)), usize::MAX)?),
    }
    Ok(to.is_some())
}

/// Returns a slice of the entries in all runs, sorted by hash, and the hash that the next slice starts with. The slice starts with the
/// hash `from` and contains about as many entries as one step merges.
fn slice(tx: &WriteTx<'_>, project: ProjectId, from: Digest) -> Result<(Vec<Entry>, Option<Digest>)> {
    let mut left = 0;
    visit_runs(tx, project, |_, run| {
        left += run.len() / ENTRY - lower_bound(run, &from);
        Ok(())
    })?;
    // Hashes are spread evenly, so a share of the remaining hash range contains the same share of the remaining entries.
    let steps = left.div_ceil(MERGED_PER_STEP).max(1) as u128;
    let start = u128::from_be_bytes(from);
    let to = (steps > 1).then(|| (start + (u128::MAX - start) / steps).to_be_bytes());
    let mut slice = Vec::with_capacity(MERGED_PER_STEP * 5 / 4);
    visit_runs(tx, project, |_, run| {
        let first = lower_bound(run, &from);
        let end = to.map_or(run.len() / ENTRY, |to| lower_bound(run, &to));
        slice.extend(run[first * ENTRY..end * ENTRY].chunks_exact(ENTRY).map(entry));
        Ok(())
    })?;
    slice.sort_unstable();
    Ok((slice, to))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::features::contact_records;
    use crate::testing::TestApp;

    fn digest(seed: u32) -> Digest {
        contact_records::email_digest(&format!("p{seed}@example.com"))
    }

    fn write<T: Send + 'static>(app: &TestApp, act: impl FnOnce(&mut WriteTx<'_>) -> Result<T> + Send + 'static) -> T {
        app.data().store.write_blocking(act).expect("the store works").expect("the write succeeds")
    }

    #[derive(Clone, Debug)]
    enum Act {
        Add(u32, u32),
        Remove(u32),
        Merge(usize),
    }

    fn act() -> impl Strategy<Value = Act> {
        let many = RUN_MIN as u32;
        prop_oneof![
            3 => (0..60_000_u32, prop_oneof![1..50_u32, many..2 * many]).prop_map(|(first, count)| Act::Add(first, count)),
            3 => (0..60_000_u32).prop_map(Act::Remove),
            2 => (1..4_usize).prop_map(Act::Merge),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn runs_removals_and_merges_equal_a_plain_map(acts in prop::collection::vec(act(), 1..12)) {
            let app = TestApp::new();
            let project = app.project;
            let mut plain: BTreeMap<u32, u32> = BTreeMap::new();
            let mut next = 0;
            for act in acts {
                match act {
                    Act::Add(first, count) => {
                        let new: Vec<u32> = (first..first + count).filter(|seed| !plain.contains_key(seed)).collect();
                        let emails: Vec<(Digest, u32)> = new.iter().zip(next..).map(|(seed, number)| (digest(*seed), number)).collect();
                        plain.extend(new.iter().copied().zip(next..));
                        next += new.len() as u32;
                        write(&app, move |tx| add(tx, project, emails));
                    }
                    Act::Remove(near) => {
                        // Remove several emails, so that some of them are in runs and are added again by the next step.
                        let gone: Vec<u32> = plain.range(near..).take(40).map(|(seed, _)| *seed).collect();
                        for seed in gone {
                            plain.remove(&seed);
                            write(&app, move |tx| remove(tx, project, digest(seed)));
                        }
                    }
                    Act::Merge(steps) => (0..steps).for_each(|_| {
                        write(&app, move |tx| merge(tx, project));
                    }),
                }
                let mut all: Vec<(Digest, Option<u32>)> =
                    (0..70_000).step_by(7).chain(plain.keys().copied()).map(|seed| (digest(seed), plain.get(&seed).copied())).collect();
                all.sort_unstable();
                all.dedup();
                let digests: Vec<Digest> = all.iter().map(|(digest, _)| *digest).collect();
                let tx = app.read();
                let expected: Vec<Option<u32>> = all.iter().map(|(_, number)| *number).collect();
                prop_assert!(find_all(&tx, project, &digests).expect("the store is readable") == expected);
                for (digest, number) in all.iter().step_by(97) {
                    prop_assert_eq!(find(&tx, project, *digest).expect("the store is readable"), *number);
                }
            }
            while write(&app, move |tx| merge(tx, project)) {}
            let tx = app.read();
            let rows = tx.list(INDEX, &INDEX.under(&(project,)), Order::Forward, usize::MAX).expect("the store is readable");
            let mut expected: Vec<(Digest, u32)> = plain.iter().map(|(seed, number)| (digest(*seed), *number)).collect();
            expected.sort_unstable();
            prop_assert!(rows.into_iter().map(|((_, digest), number)| (digest, number)).eq(expected), "the index contains only the \
                expected entries");
            prop_assert!(projects_with_runs(&tx).expect("the store is readable").is_empty());
        }
    }
}
