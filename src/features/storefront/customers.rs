//! Imports a store's customers as contacts, with the consent that the store has recorded.
//!
//! Invariants: an import does not subscribe a contact who unsubscribed or bounced; and for a customer with a known ID, data and consent
//! have no effect if they are older than what was imported.

use super::model::{Applied, CustomerCounts, CustomerImport, CustomerTimes, Store};
use super::new_contacts::noting_contacts;
use super::platform::{ReadCustomer, StoreCustomer};
use super::store;
use crate::base::email::EmailAddress;
use crate::engine::api::Failure;
use crate::engine::store::WriteTx;
use crate::features::contact_records;
use crate::features::contacts::jobs::provider::{self, ExternalContact, ReadContact};
use crate::vocab::contact_status::Status;
use crate::vocab::providers::ConsentMode;

/// Returns the tag for contacts from stores on this platform.
fn tag(of: &Store) -> String {
    format!("{} customers", of.platform)
}

/// Imports customers. Returns how many customers were imported, were excluded, or could not be imported; customers for whom Mailmill has
/// newer data are not counted.
pub fn import(tx: &mut WriteTx<'_>, of: &Store, customers: Vec<ReadCustomer>) -> Result<CustomerCounts, Failure> {
    let mode = match of.customers {
        CustomerImport::SubscribedOnly => ConsentMode::SubscribedOnly,
        CustomerImport::IncludeAll => ConsentMode::IncludeAll,
        CustomerImport::None => return Ok(CustomerCounts::default()),
    };
    let mut newer = Vec::with_capacity(customers.len());
    for customer in customers {
        match customer {
            Ok(customer) => newer.extend(what_is_newer(tx, of, customer)?.map(Ok)),
            Err(unreadable) => newer.push(Err(unreadable)),
        }
    }
    add(tx, of, newer, mode)
}

fn add(tx: &mut WriteTx<'_>, of: &Store, customers: Vec<ReadContact>, mode: ConsentMode) -> Result<CustomerCounts, Failure> {
    let (place, tag) = ((of.account, of.project), tag(of));
    let found = noting_contacts(tx, of, |tx| Ok(provider::import_now(tx, place, (customers, &tag), mode)?))?;
    Ok(CustomerCounts { imported: found.imported, excluded: found.excluded, failed: found.failed })
}

/// Applies a change to one customer. Even if the store's settings exclude all customers, a customer who must not be emailed is imported.
pub fn update(tx: &mut WriteTx<'_>, of: &Store, customer: StoreCustomer) -> Result<Applied, Failure> {
    // The times are stored even if the customer is not imported, so that an older change that arrives later has no effect.
    let Some(contact) = what_is_newer(tx, of, customer)? else { return Ok(Applied::Ignored) };
    let mode = match (of.customers, contact.status) {
        (CustomerImport::None, Some(Status::Unsubscribed | Status::Bounced)) => ConsentMode::SubscribedOnly,
        (CustomerImport::None, _) => return Ok(Applied::Ignored),
        (CustomerImport::IncludeAll, _) => ConsentMode::IncludeAll,
        // A webhook without a consent state changes the data of a known contact, but not its status.
        (CustomerImport::SubscribedOnly, None) if is_known(tx, of, &contact.email)? => ConsentMode::IncludeAll,
        (CustomerImport::SubscribedOnly, _) => ConsentMode::SubscribedOnly,
    };
    let counts = add(tx, of, vec![Ok(contact)], mode)?;
    Ok(if counts.imported > 0 { Applied::Done } else { Applied::Ignored })
}

/// Returns whether the brand has a contact with this address.
fn is_known(tx: &WriteTx<'_>, of: &Store, email: &str) -> Result<bool, Failure> {
    let Ok(email) = EmailAddress::parse(email) else { return Ok(false) };
    Ok(contact_records::find_by_email(tx, of.project, &email.normalized())?.is_some())
}

/// Returns the customer's data and consent, without what is older than what was imported, and stores when the two last changed. If only the
/// data is older, returns only the email address and the status. If only the consent is older, returns the data without a status. If the
/// data is older and the consent is not newer, returns `None`.
fn what_is_newer(tx: &mut WriteTx<'_>, of: &Store, customer: StoreCustomer) -> Result<Option<ExternalContact>, Failure> {
    let StoreCustomer { id, changed_at, consent_at, mut contact } = customer;
    if id.is_empty() {
        return Ok(Some(contact));
    }
    let known = store::customer_times(tx, of.id, &id)?;
    let times = CustomerTimes { changed_at: known.changed_at.max(changed_at), consent_at: known.consent_at.max(consent_at) };
    if times != known {
        store::save_customer_times(tx, of.id, &id, &times);
    }
    let is_data_old = changed_at.is_some() && times.changed_at > changed_at;
    let is_consent_old = consent_at.is_some() && times.consent_at > consent_at;
    if is_consent_old {
        contact.status = None;
    }
    if is_data_old || (is_consent_old && changed_at.is_none()) {
        let is_consent_newer = consent_at > known.consent_at;
        let ExternalContact { email, status, .. } = contact;
        return Ok(is_consent_newer.then(|| ExternalContact { email, status, ..ExternalContact::default() }));
    }
    Ok(Some(contact))
}
