//! Imports a store's customers as contacts, with the consent that the store has recorded.
//!
//! Invariant: a contact who unsubscribed or bounced is never subscribed again.

use super::model::{Applied, CustomerCounts, CustomerImport, Store};
use super::new_contacts::noting_contacts;
use crate::engine::api::Failure;
use crate::engine::store::WriteTx;
use crate::features::contacts::jobs::provider::{self, ExternalContact, ReadContact};
use crate::vocab::contact_status::Status;
use crate::vocab::providers::ConsentMode;

/// Returns the tag for contacts from stores on this platform.
fn tag(of: &Store) -> String {
    format!("{} customers", of.platform)
}

/// Imports customers. Returns how many were imported, excluded and failed.
pub fn import(tx: &mut WriteTx<'_>, of: &Store, customers: Vec<ReadContact>) -> Result<CustomerCounts, Failure> {
    let mode = match of.customers {
        CustomerImport::SubscribedOnly => ConsentMode::SubscribedOnly,
        CustomerImport::IncludeAll => ConsentMode::IncludeAll,
        CustomerImport::None => return Ok(CustomerCounts::default()),
    };
    let place = (of.account, of.project);
    let tag = tag(of);
    let found = noting_contacts(tx, of, |tx| Ok(provider::import_now(tx, place, (customers, &tag), mode)?))?;
    Ok(CustomerCounts { imported: found.imported, excluded: found.excluded, failed: found.failed })
}

/// Applies the change of one customer. Customers who must not be mailed are imported regardless of the store's settings.
pub fn update(tx: &mut WriteTx<'_>, of: &Store, customer: ExternalContact) -> Result<Applied, Failure> {
    let is_negative = matches!(customer.status, Some(Status::Unsubscribed | Status::Bounced));
    let of = match of.customers {
        CustomerImport::None if !is_negative => return Ok(Applied::Ignored),
        CustomerImport::None => &Store { customers: CustomerImport::SubscribedOnly, ..of.clone() },
        CustomerImport::SubscribedOnly | CustomerImport::IncludeAll => of,
    };
    let counts = import(tx, of, vec![Ok(customer)])?;
    Ok(if counts.imported > 0 { Applied::Done } else { Applied::Ignored })
}
