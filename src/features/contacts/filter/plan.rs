//! Turns a filter into the numbers of the contacts that match it.
//!
//! Whatever sets, counters and the order of numbers can answer is computed by set algebra, in microseconds. Whatever only the rows can
//! answer stays open: each part of the filter yields the contacts that certainly match and those whose rows must be checked. The whole
//! filter therefore needs only one scan, however many fields it names, and only over the undecided contacts.

use roaring::RoaringBitmap;

use super::activity::ActivityTest;
use super::check::{FieldTest, Node};
use super::compare::Period;
use super::event::EventTest;
use super::row::Row;
use super::scan;
use super::tree::Validation;
use crate::base::clock::Timestamp;
use crate::engine::store::{Read, Result};
use crate::features::contacts::store::{self, Facet};
use crate::features::contacts::{activity, customer_events, tags, topics};
use crate::vocab::ids::{ProjectId, TagId, TopicId};

/// The result of a part of the filter before any row is read.
struct Part<'f> {
    /// Contacts that match.
    sure: RoaringBitmap,
    /// Contacts that match if their row passes the probe. Invariant: not in `sure`, and empty if there is no probe.
    open: RoaringBitmap,
    probe: Option<Probe<'f>>,
}

impl Part<'_> {
    fn known(sure: RoaringBitmap) -> Self {
        Self { sure, open: RoaringBitmap::new(), probe: None }
    }
}

/// A check on a row.
pub(super) enum Probe<'f> {
    Field(&'f FieldTest),
    /// Each must pass.
    All(Vec<ScopedProbe<'f>>),
    /// One must pass.
    Any(Vec<ScopedProbe<'f>>),
}

/// A probe within a combination, with the contacts that are already decided.
pub(super) enum ScopedProbe<'f> {
    Free(Probe<'f>),
    /// These contacts pass without a check.
    Unless(RoaringBitmap, Probe<'f>),
    /// Only these contacts need a check; others fail.
    Only(RoaringBitmap, Probe<'f>),
}

impl Probe<'_> {
    /// Returns whether the row of contact `number` passes; `None` if the row is not a contact.
    pub(super) fn holds(&self, number: u32, row: &Row<'_>) -> Option<bool> {
        match self {
            Probe::Field(test) => Some(row.any(&test.field, &|piece| test.test.holds(piece))? != test.negated),
            Probe::All(scoped_probes) => {
                for scoped in scoped_probes {
                    if !scoped.holds(number, row)? {
                        return Some(false);
                    }
                }
                Some(true)
            }
            Probe::Any(scoped_probes) => {
                for scoped in scoped_probes {
                    if scoped.holds(number, row)? {
                        return Some(true);
                    }
                }
                Some(false)
            }
        }
    }
}

impl ScopedProbe<'_> {
    fn holds(&self, number: u32, row: &Row<'_>) -> Option<bool> {
        match self {
            ScopedProbe::Free(probe) => probe.holds(number, row),
            ScopedProbe::Unless(pass, probe) => {
                if pass.contains(number) {
                    Some(true)
                } else {
                    probe.holds(number, row)
                }
            }
            ScopedProbe::Only(asked, probe) => {
                if asked.contains(number) {
                    probe.holds(number, row)
                } else {
                    Some(false)
                }
            }
        }
    }
}

/// One evaluation of one filter.
struct Plan<'t, R> {
    tx: &'t R,
    project: ProjectId,
    now: Timestamp,
    /// Every contact.
    all: RoaringBitmap,
}

/// Returns the contacts of a project that match the condition at `root`.
pub(super) fn select(tx: &impl Read, project: ProjectId, now: Timestamp, root: &Node) -> Result<RoaringBitmap> {
    let plan = Plan { tx, project, now, all: store::set(tx, project, Facet::All)? };
    let Part { mut sure, open, probe } = plan.part(root)?;
    if let Some(probe) = probe {
        sure |= scan::passing(tx, project, &open, &probe)?;
    }
    Ok(sure)
}

impl<R: Read> Plan<'_, R> {
    fn part<'f>(&self, node: &'f Node) -> Result<Part<'f>> {
        let known = match node {
            Node::All(nodes) => return Ok(all_of(&self.all, self.parts(nodes)?)),
            Node::Any(nodes) => return Ok(any_of(self.parts(nodes)?)),
            Node::Field(test) => {
                return Ok(Part { sure: RoaringBitmap::new(), open: self.all.clone(), probe: Some(Probe::Field(test)) });
            }
            Node::Tagged(ids) => self.tagged(ids)?,
            Node::Untagged(ids) => &self.all - self.tagged(ids)?,
            Node::Topics(ids) => self.subscribed(ids)?,
            Node::NoTopics(ids) => &self.all - self.subscribed(ids)?,
            Node::Status(statuses) => {
                let mut sets = RoaringBitmap::new();
                for status in statuses {
                    sets |= store::set(self.tx, self.project, Facet::Status(*status))?;
                }
                sets
            }
            Node::Validation(Validation::Unknown) => self.all.clone(),
            Node::Validation(_) => RoaringBitmap::new(),
            Node::Created(period) => self.created(*period)?,
            Node::Updated(period) => self.updated(*period)?,
            Node::Activity(test) => self.active(test)?,
            Node::Event(test) => self.reported(test)?,
        };
        Ok(Part::known(known))
    }

    fn parts<'f>(&self, nodes: &'f [Node]) -> Result<Vec<Part<'f>>> {
        nodes.iter().map(|node| self.part(node)).collect()
    }

    fn tagged(&self, ids: &[TagId]) -> Result<RoaringBitmap> {
        let mut tagged = RoaringBitmap::new();
        for id in ids {
            if let Some(tag) = tags::by_id(self.tx, self.project, *id)? {
                tagged |= store::set(self.tx, self.project, Facet::Tag(tag.number()))?;
            }
        }
        Ok(tagged)
    }

    fn subscribed(&self, ids: &[TopicId]) -> Result<RoaringBitmap> {
        let mut subscribed = RoaringBitmap::new();
        for id in ids {
            if let Some(topic) = topics::find(self.tx, self.project, *id)? {
                subscribed |= topics::among(self.tx, self.project, &topic, self.all.clone())?;
            }
        }
        Ok(subscribed)
    }

    /// Numbers are assigned in order of creation, so a period is a range of numbers.
    fn created(&self, period: Period) -> Result<RoaringBitmap> {
        let first = |at| store::first_created_at(self.tx, self.project, &self.all, at);
        let mut created = self.all.clone();
        if period.from != Period::ALWAYS.from {
            created.remove_range(..first(period.from)?);
        }
        if period.to != Period::ALWAYS.to {
            created.remove_range(first(period.to)?..);
        }
        Ok(created)
    }

    fn updated(&self, period: Period) -> Result<RoaringBitmap> {
        store::updated(self.tx, self.project, &self.all, |at| period.contains(at))
    }

    fn active(&self, test: &ActivityTest) -> Result<RoaringBitmap> {
        let (period, wanted) = test.period(self.now);
        let who = activity::who(self.tx, self.project, test.action, test.campaign, period)?;
        Ok(if wanted { &self.all & who } else { &self.all - who })
    }

    fn reported(&self, test: &EventTest) -> Result<RoaringBitmap> {
        let who = customer_events::who(self.tx, self.project, &test.name, test.period(self.now))?;
        Ok(if test.wanted { &self.all & who } else { &self.all - who })
    }
}

/// Combines parts that must all hold.
fn all_of<'f>(all: &RoaringBitmap, parts: Vec<Part<'f>>) -> Part<'f> {
    let (mut sure, mut reach) = (all.clone(), all.clone());
    for part in &parts {
        sure &= &part.sure;
        reach &= &part.sure | &part.open;
    }
    let open = reach - &sure;
    if open.is_empty() {
        return Part::known(sure);
    }
    // A contact that is open here is sure or open in each part: only the open ones need a check.
    let scoped_probes = parts.into_iter().filter_map(|part| {
        let pass = &part.sure & &open;
        let probe = part.probe?;
        (pass != open).then(|| if pass.is_empty() { ScopedProbe::Free(probe) } else { ScopedProbe::Unless(pass, probe) })
    });
    let probe = Probe::All(scoped_probes.collect());
    Part { sure, open, probe: Some(probe) }
}

/// Combines parts of which at least one must hold.
fn any_of(parts: Vec<Part<'_>>) -> Part<'_> {
    let (mut sure, mut reach) = (RoaringBitmap::new(), RoaringBitmap::new());
    for part in &parts {
        sure |= &part.sure;
        reach |= &part.open;
    }
    let open = reach - &sure;
    if open.is_empty() {
        return Part::known(sure);
    }
    // A contact that is open here is sure in no part.
    let scoped_probes = parts.into_iter().filter_map(|part| {
        let asked = &part.open & &open;
        let probe = part.probe?;
        (!asked.is_empty()).then(|| if asked == open { ScopedProbe::Free(probe) } else { ScopedProbe::Only(asked, probe) })
    });
    let probe = Probe::Any(scoped_probes.collect());
    Part { sure, open, probe: Some(probe) }
}
