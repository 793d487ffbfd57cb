//! Checks of a contact's row, for conditions that no index covers.

use roaring::RoaringBitmap;

use super::check::FieldTest;
use super::row::Row;

/// A check of a contact's row.
pub(super) enum Probe<'f> {
    Field(&'f FieldTest),
    /// All of these probes must pass.
    All(Vec<ScopedProbe<'f>>),
    /// At least one of these probes must pass.
    Any(Vec<ScopedProbe<'f>>),
}

/// A probe within a combination, and the contacts whose result is known without the probe.
pub(super) enum ScopedProbe<'f> {
    Free(Probe<'f>),
    /// The contacts in the set pass without a check. All other contacts are checked.
    Unless(RoaringBitmap, Probe<'f>),
    /// Only the contacts in the set are checked. All other contacts fail.
    Only(RoaringBitmap, Probe<'f>),
}

impl Probe<'_> {
    /// Returns whether the row of contact `number` passes the check; `None` if the row cannot be decoded as a contact.
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
