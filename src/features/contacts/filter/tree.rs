//! The filter tree as callers write it, parsed strictly; `check.rs` decides whether its values make sense.

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

/// A filter on contacts: a group of conditions and nested groups. Without any, every contact matches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FilterTree {
    /// Whether all conditions of this group must match, or any one of them.
    #[serde(default, rename = "match")]
    pub combine: Match,
    /// Nested groups: at most 10 in one group, 3 levels below the root, and 50 conditions in the whole tree.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::SEGMENT_GROUPS_PER_GROUP_MAX), transform = schema::groups)]
    pub groups: Vec<FilterTree>,
    /// Tag ids: the contact has at least one of these tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::SEGMENT_VALUES_PER_CONDITION_MAX))]
    pub tags: Vec<TagId>,
    /// Tag ids: the contact has none of these tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::SEGMENT_VALUES_PER_CONDITION_MAX))]
    pub exclude_tags: Vec<TagId>,
    /// Topic ids: the contact is subscribed to at least one of these topics, by its own choice or by the topic's default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::SEGMENT_VALUES_PER_CONDITION_MAX))]
    pub topics: Vec<TopicId>,
    /// Topic ids: the contact is subscribed to none of these topics.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::SEGMENT_VALUES_PER_CONDITION_MAX))]
    pub exclude_topics: Vec<TopicId>,
    /// The contact has this status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// The result of validating the address. Addresses are not validated yet, so every contact is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation_status: Option<Validation>,
    /// Names of custom fields with values: the field is one of the values. The same as a condition in `fields` with mode `is`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::custom_fields)]
    pub custom_fields: BTreeMap<String, Vec<Operand>>,
    /// Conditions on single fields.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::SEGMENT_CONDITIONS_MAX))]
    pub fields: Vec<FieldCondition>,
    /// Conditions on what was sent to the contact and what it did. Opens and clicks by security scanners and by mail services that prefetch
    /// everything do not count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::SEGMENT_CONDITIONS_MAX))]
    pub activity: Vec<ActivityCondition>,
    /// Conditions on customer events reported with POST /v1/events.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::SEGMENT_CONDITIONS_MAX))]
    pub events: Vec<EventCondition>,
}

/// How the conditions of a group are combined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Match {
    /// All conditions must match.
    #[default]
    All,
    /// At least one condition must match.
    Any,
}

/// The result of validating an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Validation {
    Valid,
    Invalid,
    Risky,
    /// Not validated.
    Unknown,
}

/// A condition on one field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = schema::field)]
pub struct FieldCondition {
    /// `email`, `firstName`, `lastName`, `phone`, `country`, `language`, `status`, `createdAt`, `updatedAt`, or the name of a custom field,
    /// with or without the prefix `customFields.`.
    #[schemars(length(min = 1))]
    pub key: String,
    /// How the field is compared.
    pub mode: Mode,
    /// The values to compare with. Most modes take one or more; a date or number mode takes one, and a `between` mode takes two.
    #[schemars(length(min = 1, max = limits::SEGMENT_VALUES_PER_CONDITION_MAX))]
    pub values: Vec<Operand>,
}

/// How a field is compared. Text comparison ignores case; dates are UTC days or moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The field is one of the values.
    Is,
    /// The field is none of the values, or the contact does not have it.
    IsNot,
    /// The field starts with one of the values.
    StartsWith,
    /// The field ends with one of the values.
    EndsWith,
    /// The field contains one of the values.
    Contains,
    /// The field contains none of the values, or the contact does not have it.
    NotContains,
    /// After the moment, or after the whole day.
    DateAfter,
    /// Before the moment or day.
    DateBefore,
    /// On the day, or on the day of the moment.
    DateOn,
    /// From the first to the second value, both included.
    DateBetween,
    NumberGt,
    NumberGte,
    NumberLt,
    NumberLte,
    /// From the first to the second value, both included.
    NumberBetween,
}

/// A value to compare with: text, a number, true or false.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Operand(FieldValue);

impl Operand {
    /// The value as a user writes it.
    pub fn text(&self) -> Cow<'_, str> {
        self.0.as_text().expect("only text, numbers and booleans are accepted when parsing")
    }

    /// Creates a value from text.
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
    /// For `within` and `before`: the unit of `amount`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// For `within` and `before`: how long ago, up to ten years.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<ActivityAmount>,
    /// For `between`: the start, inclusive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<WireTime>,
    /// For `between`: the end, exclusive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<WireTime>,
    /// Only activity of this campaign counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub campaign_id: Option<CampaignId>,
}

/// A number of hours or days; days have a lower maximum.
pub type ActivityAmount = Bounded<1, { limits::SEGMENT_ACTIVITY_DAYS_MAX as u64 * 24 }>;

/// The activity.
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
    /// All actions, in the order of declaration, which is the order on disk.
    pub const ALL: [Self; 3] = [Self::Sent, Self::Opened, Self::Clicked];
}

/// When the activity must have happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ActivityMode {
    /// At least once in the last `amount`.
    Within,
    /// At least once more than `amount` ago.
    Before,
    /// Never.
    Never,
    /// At least once between `from` and `to`.
    Between,
}

/// A condition on customer events with one name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(transform = schema::event)]
pub struct EventCondition {
    /// The name of the event, ignoring case, like `purchase.completed`.
    pub name: EventName,
    pub mode: EventMode,
    /// For `within` and `not_within`: the unit of `amount`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// For `within` and `not_within`: the length of the period, up to 90 days, which is how long events are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<EventAmount>,
    /// For `between` and `not_between`: the start, inclusive. Events past their retention do not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<WireTime>,
    /// For `between` and `not_between`: the end, exclusive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<WireTime>,
}

/// A number of hours or days; days have a lower maximum.
pub type EventAmount = Bounded<1, { limits::EVENT_KEPT_DAYS as u64 * 24 }>;

/// Whether and when an event must have occurred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EventMode {
    /// At least once in the last `amount`.
    Within,
    /// Not in the last `amount`.
    NotWithin,
    /// At least once, at any time.
    Ever,
    /// Never.
    Never,
    /// At least once between `from` and `to`.
    Between,
    /// Not between `from` and `to`.
    NotBetween,
}

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    Hours,
    Days,
}
