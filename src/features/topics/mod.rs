//! Topics: kinds of mail that a contact may want or not want, each for itself.
//!
//! Whether a contact gets a topic is its own explicit choice or, as long as it has made none, the topic's default. Invariants: a name
//! belongs to one topic of a project, whatever its case; an explicit choice outlives every change of the default.
//!
//! A topic says nothing of whether the contact may be mailed at all: that is the contact's status.

mod model;
pub mod ops;
mod views;

use crate::engine::api::Failure;
use crate::engine::store::Read;
use crate::features::contacts::topics;
pub use crate::features::contacts::topics::{Topic, TopicVisibility, all, choose, find as look_up, is_subscribed, subscribers};
use crate::vocab::codes::Code;
use crate::vocab::ids::{ProjectId, TopicId};

/// The topic with this id, or the failure that says there is none.
pub fn find(tx: &impl Read, project: ProjectId, id: TopicId) -> Result<Topic, Failure> {
    let absent = || Failure::because(Code::NotFound, "The project has no topic with this id; GET /v1/topics lists its topics.");
    topics::find(tx, project, id)?.ok_or_else(absent)
}

/// Refuse a name that another of these topics has.
fn check_name(others: &[Topic], name: &str, own: Option<TopicId>) -> Result<(), Failure> {
    let wanted = crate::base::text::fold(name);
    let taken = others.iter().find(|topic| Some(topic.id) != own && crate::base::text::fold(&topic.name) == wanted);
    taken.map_or(Ok(()), |topic| {
        let detail = format!("name: the topic \"{}\" has this name; choose another or change that topic", topic.name);
        Err(Failure::because(Code::NameTaken, detail).with(serde_json::json!({ "id": topic.id })))
    })
}
