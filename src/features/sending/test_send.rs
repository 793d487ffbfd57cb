//! Test sends of emails and of campaigns: their shared checks, and the event for each address.

use super::model::{NewMailing, To};
use super::{control, create, preflight, store, webhook_events};
use crate::base::email::EmailAddress;
use crate::engine::api::{Caller, Failure};
use crate::engine::store::WriteTx;
use crate::features::suppressions::Digester;
use crate::vocab::codes::Code;
use crate::vocab::ids::MailingId;

/// The error codes that a test send can return, in addition to the codes of every operation.
pub const FAILS: &[Code] = &[
    Code::NotFound,
    Code::WrongState,
    Code::TransportNotConfigured,
    Code::DomainNotVerified,
    Code::RecipientNotSendable,
    Code::SendingCapacity,
    Code::QuotaExceeded,
];

/// Creates the mailing of a test send. Rejects the whole test if the message would not be sent to one of the addresses; `field` is the
/// request field that contains the addresses.
pub fn create_test(tx: &mut WriteTx<'_>, caller: &Caller, new: NewMailing, field: &str) -> Result<MailingId, Failure> {
    let (account, engine) = (caller.account(), &caller.engine);
    let invalid =
        || Failure::internal("the stored sender address of a test send is not valid; set the project's default sender again");
    let from = EmailAddress::stored(&new.from.address).ok_or_else(invalid)?;
    preflight::sender(tx, engine, caller.environment(), account, &from, new.transactional)?;
    let To::Addresses(addresses) = &new.to else {
        return Err(Failure::internal("a test send has an audience instead of addresses; report this bug"));
    };
    let many = u32::try_from(addresses.len()).expect("a request has few addresses");
    preflight::direct(tx, engine, account, many.into(), tx.now())?;
    let id = create::create(tx, new)?;
    let (mailing, digester) = (control::require(tx, account, id)?, Digester::new(&engine.seal));
    for number in 0..many {
        create::require_sendable(tx, &digester, id, number, field)?;
        if let Some(recipient) = store::recipient(tx, id, number)? {
            webhook_events::email_tested(tx, &mailing, &recipient);
        }
    }
    Ok(id)
}
