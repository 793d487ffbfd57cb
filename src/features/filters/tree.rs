//! The filter tree as callers write it, parsed strictly. `check.rs` validates the values.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::schema;
use crate::base::bounded::Bounded;
use crate::engine::api::response::WireTime;
use crate::features::contact_records::activity::Action;
use crate::features::contact_records::fields::FieldValue;
use crate::features::customer_events::EventName;
use crate::vocab::contact_status::Status;
use crate::vocab::ids::{CampaignId, TagId, TopicId};
use crate::vocab::limits;

/// A filter on contacts: a group of conditions and nested groups. A filter without conditions matches every contact.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FilterTree {
    /// Whether all conditions and nested groups in this group must match, or at least one of them.
    #[serde(default, rename = "match")]
    pub combine: Match,
    /// Nested groups: at most 10 in one group and at most 3 levels below the root. The whole tree can have at most 50 conditions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::SEGMENT_GROUPS_PER_GROUP_MAX), transform = schema::groups)]
    pub groups: Vec<FilterTree>,
    /// The IDs of tags. The condition matches contacts that have at least one of these tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::SEGMENT_VALUES_PER_CONDITION_MAX))]
    pub tags: Vec<TagId>,
    /// The IDs of tags. The condition matches contacts that have none of these tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::SEGMENT_VALUES_PER_CONDITION_MAX))]
    pub exclude_tags: Vec<TagId>,
    /// The IDs of topics. The condition matches contacts that are subscribed to at least one of these topics, by explicit choice or by the
    /// topic's default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::SEGMENT_VALUES_PER_CONDITION_MAX))]
    pub topics: Vec<TopicId>,
    /// The IDs of topics. The condition matches contacts that are subscribed to none of these topics.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::SEGMENT_VALUES_PER_CONDITION_MAX))]
    pub exclude_topics: Vec<TopicId>,
    /// The contact's status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// The result of validating the address. Addresses are not validated yet, so this is `unknown` for every contact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation_status: Option<Validation>,
    /// The names of custom fields, each with a list of values. Each name is a condition: the field equals one of its listed values.
    /// Equivalent to conditions in `fields` with mode `is`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::custom_fields)]
    pub custom_fields: BTreeMap<String, Vec<Operand>>,
    /// Conditions on single fields.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::SEGMENT_CONDITIONS_MAX))]
    pub fields: Vec<FieldCondition>,
    /// Conditions on what was sent to the contact and what the contact did in response. Opens and clicks by security scanners, and by mail
    /// services that prefetch all links and images, are ignored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::SEGMENT_CONDITIONS_MAX))]
    pub activity: Vec<ActivityCondition>,
    /// Conditions on customer events, whether reported through the API, imported, or received from a store or an incoming webhook.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::SEGMENT_CONDITIONS_MAX))]
    pub events: Vec<EventCondition>,
}

/// How the conditions of a group are combined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "ConditionMatch")]
pub enum Match {
    /// All conditions must match.
    #[default]
    All,
    /// At least one condition must match.
    Any,
}

/// The result of validating an email address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "AddressValidation")]
pub enum Validation {
    Valid,
    Invalid,
    Risky,
    /// The address has not been validated.
    Unknown,
}

/// A condition on one contact field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = schema::field)]
pub struct FieldCondition {
    /// The key of a filterable field, or the name of a custom field.
    #[schemars(length(min = 1))]
    pub key: String,
    /// How the field is compared.
    pub mode: Mode,
    /// The values to compare with. Text modes accept one or more values. `date_between` and `number_between` require two values, and the
    /// other date and number modes require one.
    #[schemars(length(min = 1, max = limits::SEGMENT_VALUES_PER_CONDITION_MAX))]
    pub values: Vec<Operand>,
}

/// How a field is compared. String comparison ignores case. Dates are UTC days or moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "FieldMode")]
pub enum Mode {
    /// The field equals one of the values.
    Is,
    /// The field equals none of the values, or the contact does not have the field.
    IsNot,
    /// The field starts with one of the values.
    StartsWith,
    /// The field ends with one of the values.
    EndsWith,
    /// The field contains one of the values.
    Contains,
    /// The field contains none of the values, or the contact does not have the field.
    NotContains,
    /// The field is after the given moment, or after the end of the given day.
    DateAfter,
    /// The field is before the given moment or day.
    DateBefore,
    /// The field is on the given day, or on the day of the given moment.
    DateOn,
    /// The field is between the first and the second value, or equal to one of them.
    DateBetween,
    NumberGt,
    NumberGte,
    NumberLt,
    NumberLte,
    /// The field is between the first and the second value, or equal to one of them.
    NumberBetween,
}

/// A value to compare with: a string, a number, true or false.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Operand(FieldValue);

impl Operand {
    /// Returns the value as users write it.
    pub fn text(&self) -> Cow<'_, str> {
        self.0.as_text().expect("parsing accepts only strings, numbers and booleans")
    }

    pub fn of(text: &str) -> Self {
        Self(FieldValue::Text(text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for Operand {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = FieldValue::deserialize(deserializer)?;
        match value.as_text() {
            Some(_) => Ok(Self(value)),
            None => Err(D::Error::custom("must be a string, a number, true or false")),
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

/// A condition on what was sent to the contact and what the contact did in response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(transform = schema::activity)]
pub struct ActivityCondition {
    pub action: Action,
    pub mode: ActivityMode,
    /// With `within` and `before`: the unit of `amount`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// With `within` and `before`: the number of units before now, up to ten years.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<ActivityAmount>,
    /// With `between`: the start of the period, inclusive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<WireTime>,
    /// With `between`: the end of the period, exclusive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<WireTime>,
    /// The campaign that the activity must belong to. If absent, activity of any campaign matches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub campaign_id: Option<CampaignId>,
}

/// A number of hours or days. The maximum is lower for days.
pub type ActivityAmount = Bounded<1, { limits::SEGMENT_ACTIVITY_DAYS_MAX as u64 * 24 }>;

/// When the activity must have happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ActivityMode {
    /// The activity happened at least once in the last `amount` hours or days.
    Within,
    /// The activity happened at least once, more than `amount` hours or days ago.
    Before,
    /// The activity has never happened.
    Never,
    /// The activity happened at least once between `from` and `to`.
    Between,
}

/// A condition on the customer events with a given name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(transform = schema::event)]
pub struct EventCondition {
    /// The name of the event, such as `purchase.completed`. Case is ignored.
    pub name: EventName,
    pub mode: EventMode,
    /// With `within` and `not_within`: the unit of `amount`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// With `within` and `not_within`: the length of the period, up to 90 days, because events are kept for 90 days.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<EventAmount>,
    /// With `between` and `not_between`: the start of the period, inclusive. Events are deleted after 90 days and then no longer match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<WireTime>,
    /// With `between` and `not_between`: the end of the period, exclusive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<WireTime>,
}

/// A number of hours or days. The maximum is lower for days.
pub type EventAmount = Bounded<1, { limits::EVENT_KEPT_DAYS as u64 * 24 }>;

/// Whether and when an event must have occurred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EventMode {
    /// The event occurred at least once in the last `amount` hours or days.
    Within,
    /// The event did not occur in the last `amount` hours or days.
    NotWithin,
    /// The event occurred at least once, at any time.
    Ever,
    /// The event has never occurred.
    Never,
    /// The event occurred at least once between `from` and `to`.
    Between,
    /// The event did not occur between `from` and `to`.
    NotBetween,
}

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "TimeUnit")]
pub enum Unit {
    Hours,
    Days,
}
