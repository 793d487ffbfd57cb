//! Topics: kinds of mail that each contact can choose separately.
//!
//! A contact gets a topic by its own explicit choice or, as long as it has made none, by the topic's default. Invariants: a name belongs to
//! one topic of a project, ignoring case; an explicit choice outlives every change of the default.
//!
//! A topic does not decide whether the contact may be mailed at all: that is the contact's status.

mod model;
pub mod ops;
mod views;

pub use views::TopicView;

use crate::engine::api::Failure;
use crate::engine::store::Read;
use crate::features::contacts::topics;
pub use crate::features::contacts::topics::{
    Topic, TopicDefault, TopicVisibility, all, choose, find as look_up, is_subscribed, subscribers,
};
use crate::vocab::codes::Code;
use crate::vocab::ids::{ProjectId, TopicId};

/// Returns the topic with this id, or a not-found failure.
pub fn find(tx: &impl Read, project: ProjectId, id: TopicId) -> Result<Topic, Failure> {
    let absent = || Failure::because(Code::NotFound, "The project has no topic with this id; GET /v1/topics lists its topics.");
    topics::find(tx, project, id)?.ok_or_else(absent)
}

/// Rejects a name that another of these topics has.
fn check_name(others: &[Topic], name: &str, own: Option<TopicId>) -> Result<(), Failure> {
    let wanted = crate::base::text::fold(name);
    let taken = others.iter().find(|topic| Some(topic.id) != own && crate::base::text::fold(&topic.name) == wanted);
    taken.map_or(Ok(()), |topic| {
        let detail =
            format!("name: the topic \"{}\" already has this name; choose another name or change that topic", topic.name);
        Err(Failure::because(Code::NameTaken, detail).with(serde_json::json!({ "id": topic.id })))
    })
}
