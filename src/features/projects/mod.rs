//! Projects: the brands of an account. Contacts, segments, campaigns and emails live inside one.
//!
//! Invariant: a project's row stands under its account, so a look-up with another account's key finds nothing, and the answer is
//! the same as for a project that never was.

pub mod brand;
mod model;
pub mod ops;
mod store;
mod views;

pub use model::{Logos, Project, Site, Status};
pub use views::ProjectView;

use crate::engine::api::Failure;
use crate::engine::store::Read;
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, ProjectId};
use crate::vocab::permissions::Permission;

/// Any of these lets a key see projects: whoever works inside projects must be able to find them, and no permission is for
/// reading projects alone.
const READERS: &[Permission] =
    &[Permission::EmailRead, Permission::ProjectWrite, Permission::AudienceRead, Permission::CampaignRead];

/// Make sure that the account has this project. Costs one look-up of a key and reads no row.
pub fn require(tx: &impl Read, account: AccountId, project: ProjectId) -> Result<(), Failure> {
    if store::exists(tx, account, project)? { Ok(()) } else { Err(not_found()) }
}

/// The failure for a project that the account does not have, whether or not another has it.
fn not_found() -> Failure {
    Failure::because(Code::NotFound, "There is no such project; GET /v1/projects lists those of this key.")
}
