//! What must be asked of a contact's row, once the index has answered all it can.

use roaring::RoaringBitmap;

use super::check::FieldTest;
use super::row::Row;

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
