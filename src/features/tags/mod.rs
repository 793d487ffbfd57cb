//! Tags: named sets of contacts that users maintain.
//!
//! The dictionary (names, numbers, sets) belongs to the contacts feature, which needs it to write contacts; this feature adds the
//! endpoints. Invariant: a name belongs to one tag of a project, ignoring case.

pub mod ops;
mod views;

pub use views::TagView;

use crate::engine::api::Failure;
use crate::engine::store::Read;
use crate::features::contacts::tags::{self, Tag};
use crate::vocab::codes::Code;
use crate::vocab::ids::{ProjectId, TagId};

/// Returns the tag with this id, or a not-found failure.
fn find(tx: &impl Read, project: ProjectId, id: TagId) -> Result<Tag, Failure> {
    let absent = || Failure::because(Code::NotFound, "The project has no tag with this id; GET /v1/tags lists its tags.");
    tags::by_id(tx, project, id)?.ok_or_else(absent)
}

/// Rejects a name that a tag other than `own` has.
fn check_name(tx: &impl Read, project: ProjectId, name: &str, own: Option<TagId>) -> Result<(), Failure> {
    let Some(number) = tags::number(tx, project, name)? else { return Ok(()) };
    match tags::by_number(tx, project, number)? {
        Some(tag) if Some(tag.id) != own => {
            let detail = format!("name: the tag \"{}\" already has this name; choose another name or change that tag", tag.name);
            Err(Failure::because(Code::NameTaken, detail).with(serde_json::json!({ "id": tag.id })))
        }
        _ => Ok(()),
    }
}
