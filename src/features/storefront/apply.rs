//! Stores the effects of a webhook in one transaction.

use super::customers;
use super::model::{Applied, Store, Sync, SyncStage};
use super::new_contacts::noting_contacts;
use super::platform::{Change, StoreEvent};
use super::{privacy, store};
use crate::engine::api::Failure;
use crate::engine::store::WriteTx;
use crate::features::events::{Reported, report};
use crate::features::projects::shop_products;

pub fn apply(tx: &mut WriteTx<'_>, of: &Store, sync: &mut Sync, change: Change) -> Result<Applied, Failure> {
    let (project, id, now) = (of.project, of.id, tx.now());
    match change {
        Change::Product(product) => {
            sync.left_out += shop_products::put(tx, project, id, vec![*product])?;
        }
        Change::ProductGone(external_id) => shop_products::remove(tx, project, id, &external_id)?,
        Change::Collections => sync.start_soon(now),
        Change::Events(events) => return record(tx, of, events),
        Change::Customer(customer) => return customers::update(tx, of, *customer),
        Change::DataRequest { id: request, customer } => privacy::note_request(tx, of, request, &customer)?,
        Change::RedactCustomer(customer) => {
            return Ok(if privacy::erase(tx, of, &customer)? { Applied::Done } else { Applied::Ignored });
        }
        Change::RedactShop => {
            shop_products::remove_all(tx, project, id)?;
            (sync.stage, sync.due_at) = (SyncStage::Erasing, now);
        }
        Change::Uninstalled => {
            let reason = format!("the app was removed from the store in {}", of.platform);
            store::reject(tx, of, &reason)?;
        }
        Change::Nothing => return Ok(Applied::Ignored),
    }
    Ok(Applied::Done)
}

/// Records events. An event of an order whose contact is unknown waits until another event of the same order has been recorded.
fn record(tx: &mut WriteTx<'_>, of: &Store, events: Vec<StoreEvent>) -> Result<Applied, Failure> {
    let mut applied = Applied::Ignored;
    for event in events {
        let json = event.json(tx.now());
        match noting_contacts(tx, of, |tx| report(tx, of.project, &json))? {
            Reported::Stored | Reported::Duplicate => applied = Applied::Done,
            Reported::NoContact if event.order.is_some() => {
                let order = event.order.as_deref().unwrap_or_default();
                if store::put_waiting(tx, of.id, (order, &event.key), json)? {
                    applied = Applied::Done;
                }
                continue;
            }
            Reported::NoContact => continue,
            Reported::Refused { field, reason } => {
                tracing::debug!(store = %of.id, event = event.name, field, reason, "an event of a store was refused");
                continue;
            }
        }
        let Some(order) = event.order else { continue };
        for waiting in store::take_waiting(tx, of.id, &order)? {
            report(tx, of.project, &waiting)?;
        }
    }
    Ok(applied)
}
