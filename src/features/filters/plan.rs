//! Computes the numbers of the contacts that match a filter.
//!
//! Conditions on tags, topics, statuses, times, activity and events are computed with set algebra, without a scan of the contact rows.
//! Conditions on fields require the rows. Each part of the filter therefore returns the contacts that certainly match (`sure`) and the
//! contacts whose rows must be checked (`open`). The whole filter requires at most one scan, regardless of the number of fields in it, and
//! the scan reads only the undecided contacts.

use roaring::RoaringBitmap;

use super::activity::ActivityTest;
use super::check::Node;
use super::event::EventTest;
use super::probe::{Probe, ScopedProbe};
use super::scan;
use super::tree::Validation;
use crate::base::clock::Timestamp;
use crate::base::period::Period;
use crate::engine::store::{Read, Result};
use crate::features::contact_records::{self, activity};
use crate::features::contact_sets::{self, Facet};
use crate::features::{customer_events, tags, topics};
use crate::vocab::ids::{ProjectId, TagId, TopicId};

/// The result of one part of the filter before any row is read.
struct Part<'f> {
    /// The contacts that certainly match.
    sure: RoaringBitmap,
    /// The contacts that match if their rows pass the probe. Invariant: no contact is also in `sure`, and the set is empty if there is no
    /// probe.
    open: RoaringBitmap,
    probe: Option<Probe<'f>>,
}

impl Part<'_> {
    fn known(sure: RoaringBitmap) -> Self {
        Self { sure, open: RoaringBitmap::new(), probe: None }
    }
}

/// The store, the project and the time for which one filter is evaluated.
struct Plan<'t, R> {
    tx: &'t R,
    project: ProjectId,
    now: Timestamp,
    /// Every contact in the project.
    all: RoaringBitmap,
}

/// Returns the contacts in a project that match the condition at `root`.
pub(super) fn select(tx: &impl Read, project: ProjectId, now: Timestamp, root: &Node) -> Result<RoaringBitmap> {
    let plan = Plan { tx, project, now, all: contact_sets::set(tx, project, Facet::All)? };
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
                    sets |= contact_sets::set(self.tx, self.project, Facet::Status(*status))?;
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
                tagged |= contact_sets::set(self.tx, self.project, Facet::Tag(tag.number()))?;
            }
        }
        Ok(tagged)
    }

    fn subscribed(&self, ids: &[TopicId]) -> Result<RoaringBitmap> {
        let mut subscribed = RoaringBitmap::new();
        for id in ids {
            if let Some(topic) = topics::look_up(self.tx, self.project, *id)? {
                subscribed |= topics::among(self.tx, self.project, &topic, self.all.clone())?;
            }
        }
        Ok(subscribed)
    }

    /// Returns the contacts created in the period. Their numbers form a range, because numbers are assigned in order of creation.
    fn created(&self, period: Period) -> Result<RoaringBitmap> {
        let first = |at| contact_records::first_created_at(self.tx, self.project, &self.all, at);
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
        contact_records::updated(self.tx, self.project, &self.all, |at| period.contains(at))
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

/// Combines parts that must all match.
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
    // Each contact in the result's `open` set is in the `sure` or `open` set of every part. Only parts whose `open` set contains the
    // contact must be checked.
    let scoped_probes = parts.into_iter().filter_map(|part| {
        let pass = &part.sure & &open;
        let probe = part.probe?;
        (pass != open).then(|| if pass.is_empty() { ScopedProbe::Free(probe) } else { ScopedProbe::Unless(pass, probe) })
    });
    let probe = Probe::All(scoped_probes.collect());
    Part { sure, open, probe: Some(probe) }
}

/// Combines parts of which at least one must match.
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
    // No contact in the result's `open` set is in the `sure` set of a part. Only parts whose `open` set contains the contact must be
    // checked.
    let scoped_probes = parts.into_iter().filter_map(|part| {
        let asked = &part.open & &open;
        let probe = part.probe?;
        (!asked.is_empty()).then(|| if asked == open { ScopedProbe::Free(probe) } else { ScopedProbe::Only(asked, probe) })
    });
    let probe = Probe::Any(scoped_probes.collect());
    Part { sure, open, probe: Some(probe) }
}
