//! Topics: kinds of mail that each contact can subscribe to separately.
//!
//! A contact is subscribed to a topic by explicit choice or, if the contact has not chosen, by the topic's default. Invariants: no two
//! topics in a project have the same name, ignoring case; an explicit choice is kept even if the default changes.
//!
//! A topic does not determine whether the contact may be mailed at all, which depends on the contact's status.

mod model;
pub mod ops;
mod store;
pub mod views;

pub use store::ROW_CHECKS;
pub use store::{
    Topic, TopicDefault, TopicVisibility, all, among, choice, choose, delete, find as look_up, is_subscribed, save, subscribers,
};

use crate::engine::api::Failure;
use crate::engine::store::Read;
use crate::vocab::codes::Code;
use crate::vocab::ids::{ProjectId, TopicId};

/// Returns the topic with this ID. Fails with `NotFound` if the topic does not exist.
pub fn find(tx: &impl Read, project: ProjectId, id: TopicId) -> Result<Topic, Failure> {
    let absent = || {
        Failure::because(Code::NotFound, "The brand has no topic with this ID.")
            .see("topics.list", "GET /v1/topics lists the topics")
    };
    store::find(tx, project, id)?.ok_or_else(absent)
}

/// Returns an error if a topic in `others`, except `own`, already has this name.
fn check_name(others: &[Topic], name: &str, own: Option<TopicId>) -> Result<(), Failure> {
    let wanted = crate::base::text::fold(name);
    let taken = others.iter().find(|topic| Some(topic.id) != own && crate::base::text::fold(&topic.name) == wanted);
    taken.map_or(Ok(()), |topic| {
        let detail = format!("a topic named \"{}\" already exists; choose a different name or change that topic", topic.name);
        Err(Failure::because(Code::NameTaken, detail).in_field("name").with(serde_json::json!({ "id": topic.id })))
    })
}
