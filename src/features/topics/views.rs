//! A topic as callers see it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::engine::api::Listed;
use crate::engine::api::response::WireTime;
use crate::engine::store::{Read, Result};
use crate::features::contacts::topics::{self, Topic, TopicDefault, TopicVisibility};
use crate::vocab::ids::{ProjectId, TopicId};

/// A kind of mail that contacts choose for themselves.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TopicView {
    pub id: TopicId,
    pub name: String,
    pub description: Option<String>,
    /// Where a contact stands that has not chosen.
    pub default_subscription: TopicDefault,
    /// Who is shown it.
    pub visibility: TopicVisibility,
    /// Its place among others, the smallest first.
    pub display_order: u64,
    /// Whether it is offered and used.
    pub is_active: bool,
    /// How many contacts get it now, by their choice or by its default, whatever their status.
    pub subscriber_count: u64,
    pub created_at: WireTime,
    pub updated_at: WireTime,
}

impl Listed for TopicView {
    const PLURAL: &'static str = "topics";
    const ARRAY_WHEN_PAGED: bool = true;
}

/// A topic as callers see it.
pub fn topic_view(tx: &impl Read, project: ProjectId, topic: Topic) -> Result<TopicView> {
    let subscriber_count = topics::subscribers(tx, project, &topic)?.len();
    Ok(TopicView {
        id: topic.id,
        name: topic.name,
        description: topic.description,
        default_subscription: topic.default_subscription,
        visibility: topic.visibility,
        display_order: topic.display_order,
        is_active: topic.is_active,
        subscriber_count,
        created_at: WireTime(topic.created_at),
        updated_at: WireTime(topic.updated_at),
    })
}

impl TopicView {
    /// An example for the documents.
    pub fn sample() -> Self {
        Self {
            id: TopicId::parse("66f1a2b3c4d5e6f70819202a").expect("24 hexadecimal characters"),
            name: "Product updates".into(),
            description: Some("What is new, once a month".into()),
            default_subscription: TopicDefault::OptIn,
            visibility: TopicVisibility::Public,
            display_order: 1,
            is_active: true,
            subscriber_count: 1_280,
            created_at: WireTime::sample(),
            updated_at: WireTime::sample(),
        }
    }
}
