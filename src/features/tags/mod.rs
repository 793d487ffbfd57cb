//! Tags: named sets of contacts, as people look after them.
//!
//! The dictionary itself (names, numbers, sets) belongs to contacts, which cannot be written without it; here are the endpoints on top
//! of it. Invariant: a name belongs to one tag of a project, whatever its case.

pub mod ops;
mod views;

use crate::engine::api::Failure;
use crate::engine::store::Read;
use crate::features::contacts::tags::{self, Tag};
use crate::vocab::codes::Code;
use crate::vocab::ids::{ProjectId, TagId};

/// The tag with this id, or the failure that says there is none.
fn find(tx: &impl Read, project: ProjectId, id: TagId) -> Result<Tag, Failure> {
    let absent = || Failure::because(Code::NotFound, "The project has no tag with this id; GET /v1/tags lists its tags.");
    tags::by_id(tx, project, id)?.ok_or_else(absent)
}

/// Refuse a name that another tag than `own` has.
fn check_name(tx: &impl Read, project: ProjectId, name: &str, own: Option<TagId>) -> Result<(), Failure> {
    let Some(number) = tags::number(tx, project, name)? else { return Ok(()) };
    match tags::by_number(tx, project, number)? {
        Some(tag) if Some(tag.id) != own => {
            let detail = format!("name: the tag \"{}\" has this name; choose another or change that tag", tag.name);
            Err(Failure::because(Code::NameTaken, detail).with(serde_json::json!({ "id": tag.id })))
        }
        _ => Ok(()),
    }
}
