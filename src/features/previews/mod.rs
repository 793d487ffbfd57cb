//! Previews: simulations of how email clients on a list of devices show an email.
//!
//! A request stores the email and returns. The worker transforms the email into the HTML that each client shows
//! ([`crate::engine::clients::transform`]), fetches its images, and draws it for each device. Each rendering is stored as soon as it is
//! finished, so a preview continues after a restart.
//!
//! Invariant: a rendering counts the previews that use it, and is deleted together with the last of these previews. Previews of the same
//! content by the same account can share renderings.

mod lifecycle;
mod model;
pub mod ops;
mod retention;
mod store;
#[cfg(test)]
mod tests;
pub mod views;
pub mod worker;

pub use retention::sweep;
pub use store::ROW_CHECKS;

use crate::engine::api::Failure;
use crate::engine::store::Read;
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, PreviewId};
use model::Preview;

/// Returns the account's preview with this ID.
fn require(tx: &impl Read, account: AccountId, id: PreviewId) -> Result<Preview, Failure> {
    store::preview(tx, account, id)?.ok_or_else(|| {
        Failure::because(
            Code::NotFound,
            "The account has no preview with this ID. Previews are deleted after at most a week; create a new preview.",
        )
    })
}
