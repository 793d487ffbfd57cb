//! The filter tree as callers write it: shape and words, read strictly; whether its values make sense is for `check.rs` to say.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::schema;
use crate::base::bounded::Bounded;
use crate::engine::api::response::WireTime;
use crate::features::contacts::customer_events::EventName;
use crate::features::contacts::fields::FieldValue;
use crate::features::contacts::model::Status;
use crate::vocab::ids::{CampaignId, TagId, TopicId};
use crate::vocab::limits;

/// A condition on contacts: a group of simple conditions and of further groups. Without any, every contact meets it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FilterTree {
    /// Whether everything in this group must hold, or one thing is enough.
    #[serde(default, rename = "match")]
    pub combine: Match,
    /// Groups within this one: at most 10 in one group, 3 levels under the root, 50 conditions in the whole tree.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::SEGMENT_GROUPS_PER_GROUP_MAX), transform = schema::groups)]
    pub groups: Vec<FilterTree>,
    /// Ids of tags: the contact has at least one of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::SEGMENT_VALUES_PER_CONDITION_MAX))]
    pub tags: Vec<TagId>,
    /// Ids of tags: the contact has none of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::SEGMENT_VALUES_PER_CONDITION_MAX))]
    pub exclude_tags: Vec<TagId>,
    /// Ids of topics: the contact is subscribed to at least one of them, by its own choice or because that is the topic's default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::SEGMENT_VALUES_PER_CONDITION_MAX))]
    pub topics: Vec<TopicId>,
    /// Ids of topics: the contact is subscribed to none of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::SEGMENT_VALUES_PER_CONDITION_MAX))]
    pub exclude_topics: Vec<TopicId>,
    /// The contact has this status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// What checking the address came to. No address is checked yet, so every contact is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation_status: Option<Validation>,
    /// Name of a custom field -> values: the field is one of them. The same as a condition in `fields` with mode `is`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::custom_fields)]
    pub custom_fields: BTreeMap<String, Vec<Operand>>,
    /// Conditions on single fields.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::SEGMENT_CONDITIONS_MAX))]
    pub fields: Vec<FieldCondition>,
    /// Conditions on what was sent to the contact and what it did. Opens and clicks by security scanners and by mail services that
    /// load everything in advance do not count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::SEGMENT_CONDITIONS_MAX))]
    pub activity: Vec<ActivityCondition>,
    /// Conditions on events that were reported of the contact with POST /v1/events.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::SEGMENT_CONDITIONS_MAX))]
    pub events: Vec<EventCondition>,
}

/// How the conditions of a group are combined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Match {
    /// Every one must hold.
    #[default]
    All,
    /// One is enough.
    Any,
}

/// What checking an address came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Validation {
    Valid,
    Invalid,
    Risky,
    /// Not checked.
    Unknown,
}

/// A condition on one field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = schema::field)]
pub struct FieldCondition {
    /// `email`, `firstName`, `lastName`, `phone`, `country`, `language`, `status`, `createdAt`, `updatedAt`, or the name of a custom
    /// field, as it is or behind `customFields.`.
    #[schemars(length(min = 1))]
    pub key: String,
    /// How the field is compared.
    pub mode: Mode,
    /// With what it is compared: one value or more; a date or a number mode takes one, a `between` mode two.
    #[schemars(length(min = 1, max = limits::SEGMENT_VALUES_PER_CONDITION_MAX))]
    pub values: Vec<Operand>,
}

/// How a field is compared. Text is compared without regard to case; dates are days of UTC or moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The field is one of the values.
    Is,
    /// The field is none of the values, or the contact does not have it.
    IsNot,
    /// The field begins with one of the values.
    StartsWith,
    /// The field ends with one of the values.
    EndsWith,
    /// One of the values occurs in the field.
    Contains,
    /// None of the values occurs in the field, or the contact does not have it.
    NotContains,
    /// Later than the moment, or than the whole day.
    DateAfter,
    /// Earlier than the moment or day.
    DateBefore,
    /// Within the day, or the day of the moment.
    DateOn,
    /// From the first to the second, both included.
    DateBetween,
    NumberGt,
    NumberGte,
    NumberLt,
    NumberLte,
    /// From the first to the second, both included.
    NumberBetween,
}

/// A value to compare with: text, a number, true or false.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Operand(FieldValue);

impl Operand {
    /// The value as a person writes it.
    pub fn text(&self) -> Cow<'_, str> {
        self.0.as_text().expect("a value that is no text, number, true or false is refused when it is read")
    }

    /// A value of this text.
    pub fn of(text: &str) -> Self {
        Self(FieldValue::Text(text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for Operand {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = FieldValue::deserialize(deserializer)?;
        match value.as_text() {
            Some(_) => Ok(Self(value)),
            None => Err(D::Error::custom("expected text, a number, true or false")),
        }
    }
}

impl JsonSchema for Operand {
    fn schema_name() -> Cow<'static, str> {
        "Operand".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["string", "number", "boolean"], "minLength": 1, "maxLength": limits::SEGMENT_VALUE_CHARACTERS_MAX,
            "pattern": r"^[^\x00]*$", "minimum": i64::MIN, "maximum": i64::MAX,
        })
    }
}

/// A condition on what was sent to the contact and what it did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(transform = schema::activity)]
pub struct ActivityCondition {
    pub action: Action,
    pub mode: ActivityMode,
    /// With `within` and `before`: what `amount` counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// With `within` and `before`: how long ago, up to ten years.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<ActivityAmount>,
    /// With `between`: the first moment that counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<WireTime>,
    /// With `between`: the first moment that does not count any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<WireTime>,
    /// Only what belongs to this campaign counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub campaign_id: Option<CampaignId>,
}

/// How many hours or days ago; days have a lower end of their own.
pub type ActivityAmount = Bounded<1, { limits::SEGMENT_ACTIVITY_DAYS_MAX as u64 * 24 }>;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// An email was sent to the contact.
    Sent,
    /// The contact opened an email.
    Opened,
    /// The contact clicked a link in an email.
    Clicked,
}

impl Action {
    /// Every action, in the order of declaration, which is the order on disk.
    pub const ALL: [Self; 3] = [Self::Sent, Self::Opened, Self::Clicked];
}

/// When it happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ActivityMode {
    /// At least once in the last `amount` of time.
    Within,
    /// At least once longer ago than `amount`.
    Before,
    /// Not once.
    Never,
    /// At least once from `from` until `to`.
    Between,
}

/// A condition on events of one name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(transform = schema::event)]
pub struct EventCondition {
    /// The name that the events were reported under, whatever its case, like `purchase.completed`.
    pub name: EventName,
    pub mode: EventMode,
    /// With `within` and `not_within`: what `amount` counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// With `within` and `not_within`: the last so many, up to 90 days, which is as long as events are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<EventAmount>,
    /// With `between` and `not_between`: the first moment that counts. Events that are not kept any more do not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<WireTime>,
    /// With `between` and `not_between`: the first moment that does not count any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<WireTime>,
}

/// How many of the last hours or days; days have a lower end of their own.
pub type EventAmount = Bounded<1, { limits::EVENT_KEPT_DAYS as u64 * 24 }>;

/// Whether and when an event must have occurred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EventMode {
    /// At least once in the last `amount` of time.
    Within,
    /// Not once in the last `amount` of time.
    NotWithin,
    /// At least once, however long ago.
    Ever,
    /// Not once.
    Never,
    /// At least once from `from` until `to`.
    Between,
    /// Not once from `from` until `to`.
    NotBetween,
}

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    Hours,
    Days,
}
