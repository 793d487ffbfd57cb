//! A topic and its rules.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::bounded::Bounded;
use crate::base::clock::Timestamp;
use crate::base::text::Name;
use crate::engine::store::Record;
use crate::vocab::ids::TopicId;
use crate::vocab::limits;

/// The name of a topic.
pub type TopicName = Name<{ limits::TOPIC_NAME_CHARACTERS_MAX }>;
/// A topic's place among others.
pub type DisplayOrder = Bounded<0, { limits::TOPIC_DISPLAY_ORDER_MAX }>;

/// A topic as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Topic {
    pub id: TopicId,
    pub name: String,
    pub description: Option<String>,
    pub default_subscription: TopicDefault,
    pub visibility: TopicVisibility,
    pub display_order: u64,
    pub is_active: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Record for Topic {}

/// Where a contact stands that has not chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TopicDefault {
    /// In: the contact gets the topic until it opts out.
    OptIn,
    /// Out: the contact gets the topic only once it opts in.
    #[default]
    OptOut,
}

/// Who is shown a topic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TopicVisibility {
    /// Contacts see it among their choices.
    Public,
    /// Contacts see it only if they are subscribed to it.
    #[default]
    Private,
}
