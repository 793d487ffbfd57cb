//! Mail services: webhooks through which the services that relay mail report bounces, complaints, deliveries and unsubscribes
//! (`assets/docs/mail-services.md`).
//!
//! How a request is processed: the secret in the URL selects the mail service. `engine/mail/feedback` checks the signature and reads the
//! events. `ingest` finds the message of each event by the token in the event. `features/tracking` applies the effects. The response is
//! sent after the commit.
//!
//! Invariants: an event has no effect without a token that only the message contains; an event has no effect on the mail of another
//! account, unless the mail service belongs to the installation's own account; each kind of event has an effect only once for each message,
//! except that a hard bounce can follow a bounce of another class; secrets are stored only in sealed form; and the secret in the URL is
//! stored only as a hash.

mod ingest;
mod input;
pub mod model;
pub mod ops;
mod store;
#[cfg(test)]
mod tests;
pub mod views;

pub use store::ROW_CHECKS;
pub use store::sealed;

use crate::engine::api::{Engine, Failure};
use crate::engine::store::Read;
use crate::vocab::codes::Code;
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, MailFeedbackId};
use crate::vocab::mail_services::MailService;

/// Returns the account's mail service with this ID, or `NotFound`.
fn require(tx: &impl Read, account: AccountId, id: MailFeedbackId) -> Result<model::MailFeedback, Failure> {
    let absent = || {
        Failure::because(Code::NotFound, "The account has no mail service with this ID.")
            .see("mail_feedback.list", "GET /v1/mail-services lists the mail services")
    };
    store::find(tx, account, id)?.ok_or_else(absent)
}

/// Returns those of `services` for which no account has a webhook in the live environment.
pub fn silent(engine: &Engine, services: &[MailService]) -> Result<Vec<MailService>, Failure> {
    let known = store::services(&engine.data(Environment::Live).store.read())?;
    Ok(services.iter().copied().filter(|service| !known.contains(service)).collect())
}
