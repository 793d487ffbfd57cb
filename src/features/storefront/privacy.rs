//! The privacy requests that a platform forwards: requests to export a customer's data, and to erase the data of a customer or of a whole
//! store.
//!
//! For an export request, Mailmill stores a reference to the contact, whose data `GET /v1/contacts/{id}/personal-data` returns. For an
//! erasure request, Mailmill deletes the contact and erases the contact's data. Requests are also answered for a while after the store is
//! disconnected.

use super::model::{DataRequest, Store};
use super::platform::CustomerRef;
use super::store;
use crate::base::email::EmailAddress;
use crate::engine::api::Failure;
use crate::engine::store::{Read, Result as StoreResult, WriteTx};
use crate::features::contact_records::{self, Contact};
use crate::features::contacts::{Source, deletion};
use crate::features::customer_events::external_ids::{self, ExternalIdKind};
use crate::vocab::limits;

/// Returns a customer's contacts: those with the customer's address, or with the customer's ID in an earlier event.
fn contacts(tx: &impl Read, of: &Store, customer: &CustomerRef) -> StoreResult<Vec<Contact>> {
    let mut found = Vec::new();
    if let Some(email) = customer.email.as_deref().and_then(|email| EmailAddress::parse(email).ok()) {
        found.extend(contact_records::find_by_email(tx, of.project, &email.normalized())?);
    }
    if let Some(id) = &customer.id
        && let Some(number) = external_ids::find(tx, of.project, ExternalIdKind::Customer, external_ids::digest(id))?
        && found.iter().all(|known| known.id.number() != number)
    {
        found.extend(contact_records::by_number(tx, of.project, number)?);
    }
    Ok(found)
}

/// Stores a customer's data request, with the customer's contact.
pub fn note_request(tx: &mut WriteTx<'_>, of: &Store, external_id: String, customer: &CustomerRef) -> Result<(), Failure> {
    let contact = contacts(tx, of, customer)?.first().map(|contact| contact.id);
    let request = DataRequest { external_id, contact, received_at: tx.now() };
    Ok(store::put_data_request(tx, of.id, &request)?)
}

/// Deletes a customer's contacts. Returns whether there were any.
pub fn erase(tx: &mut WriteTx<'_>, of: &Store, customer: &CustomerRef) -> Result<bool, Failure> {
    let found = contacts(tx, of, customer)?;
    if let Some(id) = &customer.id {
        store::forget_customer(tx, of.id, id);
    }
    for contact in &found {
        deletion::delete(tx, (of.account, of.project), contact, Source::Api)?;
    }
    Ok(!found.is_empty())
}

/// Deletes a limited number of the contacts that a store added. Returns whether there may be more.
pub fn erase_some(tx: &mut WriteTx<'_>, of: &Store) -> Result<bool, Failure> {
    let numbers = store::take_contacts(tx, of.id, limits::STORE_CONTACTS_ERASED_PER_STEP)?;
    for number in &numbers {
        if let Some(contact) = contact_records::by_number(tx, of.project, *number)? {
            deletion::delete(tx, (of.account, of.project), &contact, Source::Api)?;
        }
    }
    Ok(numbers.len() >= limits::STORE_CONTACTS_ERASED_PER_STEP)
}
