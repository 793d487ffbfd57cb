//! Records which contacts a store added, because these contacts are erased if the store is deleted on its platform.

use super::model::Store;
use super::store;
use crate::engine::api::Failure;
use crate::engine::store::WriteTx;
use crate::features::contact_sets::{self, Facet};

/// Runs `act`, and records that the store added the contacts that `act` creates.
pub fn noting_contacts<T>(
    tx: &mut WriteTx<'_>,
    of: &Store,
    act: impl FnOnce(&mut WriteTx<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    // Contacts are numbered in the order in which they are created, and no other command runs in this transaction, so all new numbers
    // belong to contacts that `act` creates.
    let first = contact_sets::next_number(tx, of.project, Facet::NextContact, 0)?;
    let done = act(tx)?;
    for number in first..contact_sets::next_number(tx, of.project, Facet::NextContact, 0)? {
        store::note_contact(tx, of.id, number);
    }
    Ok(done)
}
