//! Tags: named sets of contacts that users manage.
//!
//! Contacts refer to a tag by its number. Invariant: no two tags in a project have the same name, ignoring case.

pub mod ops;
mod store;
pub mod views;

pub use store::ROW_CHECKS;
pub use store::{
    Tag, TagLimitReached, TagName, TagNames, TagNumbers, all, by_id, by_number, create, create_again, delete, number, save,
};

use crate::engine::api::Failure;
use crate::engine::store::Read;
use crate::vocab::codes::Code;
use crate::vocab::ids::{ProjectId, TagId};

/// Returns the tag with this ID. Fails with `NotFound` if the tag does not exist.
fn find(tx: &impl Read, project: ProjectId, id: TagId) -> Result<Tag, Failure> {
    let absent =
        || Failure::because(Code::NotFound, "The brand has no tag with this ID.").see("tags.list", "GET /v1/tags lists the tags");
    by_id(tx, project, id)?.ok_or_else(absent)
}

/// Returns an error if a tag other than `own` already has this name.
fn check_name(tx: &impl Read, project: ProjectId, name: &str, own: Option<TagId>) -> Result<(), Failure> {
    let Some(number) = number(tx, project, name)? else { return Ok(()) };
    match by_number(tx, project, number)? {
        Some(tag) if Some(tag.id) != own => {
            let detail = format!("a tag named \"{}\" already exists; choose a different name or change that tag", tag.name);
            Err(Failure::because(Code::NameTaken, detail).in_field("name").with(serde_json::json!({ "id": tag.id })))
        }
        _ => Ok(()),
    }
}
