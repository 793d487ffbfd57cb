//! External IDs of contacts: customer and checkout IDs, stored as hashes, so that an event that contains only an external ID can be
//! matched to a contact. An ID belongs to the contact that it was last reported for. For orders, this file stores only which orders a
//! contact has; the order itself stores its contact.

use crate::base::secret::sha256;
use crate::engine::store::key::Key;
use crate::engine::store::{Order, Read, Result, RowCheck, Table, WriteTx};
use crate::vocab::ids::ProjectId;
use crate::vocab::tables;

const IDS: Table<(ProjectId, u8, Digest), u32> = Table::new(tables::EXTERNAL_IDS);
const OF_CONTACT: Table<(ProjectId, u32, (u8, Digest)), ()> = Table::new(tables::CONTACT_EXTERNAL_IDS);

/// The checks that decode every row of these tables.
pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(IDS), RowCheck::of(OF_CONTACT)];

/// The hash of an external ID.
pub type Digest = [u8; 16];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExternalIdKind {
    Customer = 0,
    Checkout = 1,
}

/// The number that stands for orders in the keys of [`OF_CONTACT`]. Orders have no rows in [`IDS`].
const ORDER: u8 = 2;

/// Returns the hash of an external ID. Case matters, because a shop's IDs may differ only in case.
pub fn digest(id: &str) -> Digest {
    *sha256(id.as_bytes()).first_chunk().expect("a SHA-256 digest has 32 bytes")
}

/// Returns the number of the contact with this external ID. The contact may have been deleted.
pub fn find(tx: &impl Read, project: ProjectId, kind: ExternalIdKind, digest: Digest) -> Result<Option<u32>> {
    tx.get(IDS, &(project, kind as u8, digest))
}

/// Assigns an external ID to a contact, even if the ID belonged to a different contact before.
pub fn remember(tx: &mut WriteTx<'_>, project: ProjectId, (kind, digest): (ExternalIdKind, Digest), number: u32) -> Result<()> {
    let key = (project, kind as u8, digest);
    if tx.get(IDS, &key)? == Some(number) {
        return Ok(());
    }
    tx.put(IDS, &key, &number);
    // If the ID belonged to a different contact before, that contact's row stays, because the ID is personal data of both contacts.
    tx.put(OF_CONTACT, &(project, number, (kind as u8, digest)), &());
    Ok(())
}

/// Records that a contact has this order. Other contacts may have the same order.
pub fn note_order(tx: &mut WriteTx<'_>, project: ProjectId, digest: Digest, number: u32) {
    tx.put(OF_CONTACT, &(project, number, (ORDER, digest)), &());
}

/// Returns the hashes of up to `limit` orders that were ever assigned to a contact, starting after the hash `after`.
pub fn orders(tx: &impl Read, project: ProjectId, number: u32, after: Option<Digest>, limit: usize) -> Result<Vec<Digest>> {
    let place = (project, number, ORDER);
    let mut span = OF_CONTACT.under(&(project, number));
    span.from = (place, after.unwrap_or_default()).to_bytes();
    if after.is_some() {
        // Start directly after the key of the hash `after`.
        span.from.push(0);
    }
    let rows = tx.list(OF_CONTACT, &span, Order::Forward, limit)?;
    Ok(rows.into_iter().map(|((_, _, (_, digest)), ())| digest).collect())
}

/// Deletes up to `limit` external IDs and orders of a deleted contact; returns the hashes of the orders, and whether there may be more
/// rows.
pub fn forget(tx: &mut WriteTx<'_>, project: ProjectId, number: u32, limit: usize) -> Result<(Vec<Digest>, bool)> {
    let rows = tx.list(OF_CONTACT, &OF_CONTACT.under(&(project, number)), Order::Forward, limit)?;
    let mut orders = Vec::new();
    for (key, ()) in &rows {
        let (kind, digest) = key.2;
        tx.delete(OF_CONTACT, key);
        if kind == ORDER {
            orders.push(digest);
        } else if tx.get(IDS, &(project, kind, digest))? == Some(number) {
            tx.delete(IDS, &(project, kind, digest));
        }
    }
    Ok((orders, rows.len() == limit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    fn write<T: Send + 'static>(app: &TestApp, act: impl FnOnce(&mut WriteTx<'_>) -> Result<T> + Send + 'static) -> T {
        app.data().store.write_blocking(act).expect("the store works").expect("the write succeeds")
    }

    #[test]
    fn an_id_belongs_to_its_last_contact_and_is_deleted_with_it() {
        let app = TestApp::new();
        let project = app.project;
        let id = digest("id-1");
        write(&app, move |tx| {
            remember(tx, project, (ExternalIdKind::Checkout, id), 7)?;
            remember(tx, project, (ExternalIdKind::Customer, id), 7)?;
            note_order(tx, project, id, 7);
            note_order(tx, project, id, 8);
            remember(tx, project, (ExternalIdKind::Checkout, id), 8)
        });
        let tx = app.read();
        assert_eq!(find(&tx, project, ExternalIdKind::Checkout, id), Ok(Some(8)));
        assert_eq!(
            find(&tx, project, ExternalIdKind::Customer, id),
            Ok(Some(7)),
            "the same ID can belong to different contacts if the kind differs"
        );
        assert_eq!(orders(&tx, project, 7, None, 10), Ok(vec![id]));
        assert_eq!(orders(&tx, project, 7, Some(id), 10), Ok(vec![]));
        assert_eq!(write(&app, move |tx| forget(tx, project, 7, 10)), (vec![id], false));
        let tx = app.read();
        assert_eq!(find(&tx, project, ExternalIdKind::Customer, id), Ok(None));
        assert_eq!(find(&tx, project, ExternalIdKind::Checkout, id), Ok(Some(8)), "another contact's ID stays");
        assert_eq!(orders(&tx, project, 8, None, 10), Ok(vec![id]));
    }

    #[test]
    fn many_orders_are_listed_in_pages() {
        let app = TestApp::new();
        let project = app.project;
        write(&app, move |tx| {
            (0..25).for_each(|order| note_order(tx, project, digest(&format!("{order}")), 3));
            Ok(())
        });
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let part = orders(&app.read(), project, 3, after, 10).expect("the store is readable");
            let Some(last) = part.last() else { break };
            after = Some(*last);
            seen.extend(part);
        }
        assert!(seen.len() == 25 && seen.is_sorted(), "{}", seen.len());
    }
}
