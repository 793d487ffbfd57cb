//! A topic as the API returns it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::engine::api::Listed;
use crate::engine::api::response::WireTime;
use crate::engine::store::{Read, Result};
use crate::features::topics::{self, Topic, TopicDefault, TopicVisibility};
use crate::vocab::ids::{ProjectId, TopicId};

/// A kind of mail that contacts can subscribe to separately.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TopicView {
    pub id: TopicId,
    pub name: String,
    pub description: Option<String>,
    /// Whether contacts who have neither opted in nor opted out are subscribed to the topic.
    pub default_subscription: TopicDefault,
    /// Which contacts see the topic.
    pub visibility: TopicVisibility,
    /// The position of the topic in lists. The topic with the smallest position comes first.
    pub display_order: u64,
    /// Whether the topic is active. An inactive topic is not shown on the preferences page, and is listed only if the request sets
    /// `includeInactive`. Sends can still use an inactive topic.
    pub is_active: bool,
    /// The number of contacts who are subscribed to the topic now, by choice or by default, regardless of their status.
    pub subscriber_count: u64,
    pub created_at: WireTime,
    pub updated_at: WireTime,
}

impl Listed for TopicView {
    const PLURAL: &'static str = "topics";
    const ARRAY_WHEN_PAGED: bool = true;
}

/// Returns the view of a topic, with the current number of its subscribers.
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
    /// Returns an example for the documentation.
    pub fn sample() -> Self {
        Self {
            id: TopicId::parse("66f1a2b3c4d5e6f70819202a").expect("the ID has 24 hexadecimal characters"),
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
