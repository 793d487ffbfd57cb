//! A reported event: its fields, and the checks that require no other data.

use schemars::JsonSchema;
use serde::Deserialize;

use super::properties::Properties;
use crate::base::amount::Amount;
use crate::base::clock::Timestamp;
use crate::base::currency::Currency;
use crate::base::email::EmailAddress;
use crate::base::serde_str;
use crate::base::strict_objects::Objects;
use crate::base::text::Name;
use crate::engine::api::response::WireTime;
use crate::features::contacts::FieldError;
use crate::features::contacts::profile::ContactProfile;
use crate::features::customer_events::EventName;
use crate::vocab::ids::ContactId;
use crate::vocab::limits;

/// An ID that another system uses.
pub type ExternalId = Name<{ limits::EVENT_EXTERNAL_ID_CHARACTERS_MAX }>;
/// A key that identifies an event, so that a repeated event is recognized and stored only once.
pub type DedupeKey = Name<{ limits::EVENT_DEDUPE_KEY_CHARACTERS_MAX }>;

/// The identifiers of the contact; at least one is required. The service tries them in this order and uses the first one that matches a
/// contact; an `email` that matches none creates a contact. External IDs are then stored for the contact, so that later events can use only
/// an external ID.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("anyOf" = [
    { "required": ["email"], "properties": { "email": { "type": "string" } } },
    { "required": ["subscriberId"], "properties": { "subscriberId": { "type": "string" } } },
    { "required": ["externalCustomerId"], "properties": { "externalCustomerId": { "type": "string" } } },
    { "required": ["externalCheckoutId"], "properties": { "externalCheckoutId": { "type": "string" } } },
    { "required": ["externalOrderId"], "properties": { "externalOrderId": { "type": "string" } } },
]))]
pub struct EventIdentifiers {
    /// The contact's address. If no contact has this address, a contact is created as `non-subscribed`: an event never subscribes a
    /// contact.
    pub email: Option<EmailAddress>,
    /// The contact's ID.
    pub subscriber_id: Option<ContactId>,
    /// A customer ID from another system. Identifies the contact of an earlier event that had this ID and another identifier.
    pub external_customer_id: Option<ExternalId>,
    /// A checkout ID from another system. Identifies the contact of an earlier event that had this ID and another identifier.
    pub external_checkout_id: Option<ExternalId>,
    /// An order ID from another system. Identifies the contact of an earlier event that had this ID and another identifier. With this ID
    /// and a number in `properties.value`, the event is a conversion.
    pub external_order_id: Option<ExternalId>,
}

impl EventIdentifiers {
    fn is_empty(&self) -> bool {
        let Self { email, subscriber_id, external_customer_id, external_checkout_id, external_order_id } = self;
        let external = [external_customer_id, external_checkout_id, external_order_id];
        email.is_none() && subscriber_id.is_none() && external.iter().all(|id| id.is_none())
    }
}

/// One event in a batch.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EventRow {
    /// The event name, such as `purchase.completed`. If the name contains `refund`, `cancelled` or `canceled`, in uppercase or lowercase,
    /// the amount is treated as negative.
    pub name: EventName,
    pub identifiers: EventIdentifiers,
    /// Current data about the contact, in the same form as when updating a contact. Never changes the contact's status.
    pub profile: Option<ContactProfile>,
    /// The event's properties: at most 16 KB of JSON, 50 top-level properties, and 4 levels of objects and lists. The property `value` is
    /// an amount in major units, and `currency` is the ISO 4217 code of its currency. The default currency is USD.
    pub properties: Option<Properties>,
    /// When the event occurred: at most 90 days ago, and at most 5 minutes ahead of the service's clock. The default is the current time. A
    /// time without an offset is in UTC.
    pub occurred_at: Option<WireTime>,
    /// A key that identifies the event. A project stores only the first event with a given key, until that event is deleted.
    pub dedupe_key: Option<DedupeKey>,
}

/// The payment or refund in an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Money {
    pub amount: Amount,
    pub currency: Currency,
    pub is_refund: bool,
}

impl EventRow {
    /// Parses an event from JSON in the format of a row of a batch.
    pub fn read(json: &str) -> Result<Self, FieldError> {
        if let Some(what) = serde_str::other_than_object(json) {
            let reason = format_args!("must be an object with `name` and `identifiers`, not {what}");
            return Err(FieldError::new("", reason));
        }
        let mut reader = serde_json::Deserializer::from_str(json);
        serde_path_to_error::deserialize(Objects(&mut reader)).map_err(|error| {
            let (field, reason) = serde_str::placed(&error.path().to_string(), &serde_str::plain(&error.inner().to_string()));
            FieldError::new(field, reason)
        })
    }

    /// Rejects events without an identifier or with invalid values. Returns the payment or refund, if any.
    pub fn check(&self) -> Result<Option<Money>, FieldError> {
        if self.identifiers.is_empty() {
            let reason =
                "set at least one of `email`, `subscriberId`, `externalCustomerId`, `externalCheckoutId` or `externalOrderId`";
            return Err(FieldError::new("identifiers", reason));
        }
        let money = self.money()?;
        let value = self.properties.as_ref().and_then(|properties| properties.value.as_ref());
        if money.is_none() && value.is_some_and(|value| !value.parse().is_ok_and(f64::is_finite)) {
            // Out-of-range numbers are rejected even if the event is neither a payment nor a refund, because many JSON parsers convert them
            // to infinity.
            return Err(FieldError::new(
                "properties.value",
                "the number is out of range; use a number from -1.79e308 to 1.79e308",
            ));
        }
        Ok(money)
    }

    /// Rejects an event that occurred too long ago or in the future.
    pub fn check_time(&self, now: Timestamp) -> Result<(), FieldError> {
        self.occurred_at.map_or(Ok(()), |at| check_time(at.0, now))
    }

    /// Returns the payment or refund of an event; `None` if the event has no value, or if it has no order ID and its name is not a
    /// refund's. Returns an error if the amount or the currency is invalid.
    fn money(&self) -> Result<Option<Money>, FieldError> {
        let Some(properties) = &self.properties else { return Ok(None) };
        let Some(value) = &properties.value else { return Ok(None) };
        let takes_back = is_refund_name(&self.name);
        if self.identifiers.external_order_id.is_none() && !takes_back {
            return Ok(None);
        }
        let amount = Amount::parse(value).map_err(|reason| FieldError::new("properties.value", reason))?;
        let currency = match &properties.currency {
            None => Currency::USD,
            Some(json) => currency(json)?,
        };
        // A payment with a negative amount is a refund.
        let is_refund = takes_back || amount.is_negative();
        Ok(Some(Money { amount: amount.size(), currency, is_refund }))
    }
}

fn check_time(at: Timestamp, now: Timestamp) -> Result<(), FieldError> {
    let kept_ms = i64::from(limits::EVENT_KEPT_DAYS) * 24 * 60 * 60 * 1000;
    if at < now.plus_ms(-kept_ms) {
        let days = limits::EVENT_KEPT_DAYS;
        let reason =
            format_args!("the time is more than {days} days ago; omit this event, because events are kept for only {days} days");
        return Err(FieldError::new("occurredAt", reason));
    }
    if at > now.plus_ms(limits::EVENT_AHEAD_MS) {
        let minutes = limits::EVENT_AHEAD_MS / 60_000;
        let reason =
            format_args!("the time is more than {minutes} minutes after the current time, {now}; check your system's clock");
        return Err(FieldError::new("occurredAt", reason));
    }
    Ok(())
}

fn currency(json: &str) -> Result<Currency, FieldError> {
    let text: Option<String> = serde_json::from_str(json).ok();
    let code = text.and_then(|text| text.parse().ok());
    code.ok_or_else(|| FieldError::new("properties.currency", crate::base::currency::CurrencyError))
}

/// Returns whether an event with this name is a refund.
fn is_refund_name(name: &str) -> bool {
    let name = name.to_lowercase();
    ["refund", "cancelled", "canceled"].iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const NOW: Timestamp = Timestamp(1_767_225_600_000);

    fn event(change: impl FnOnce(&mut Value)) -> Value {
        let mut event = json!({ "name": "purchase.completed", "identifiers": { "email": "ada@example.com" } });
        change(&mut event);
        event
    }

    /// Changes the sample event with `change`. Returns the name of the field that the checks reject, if any.
    fn refused(change: impl FnOnce(&mut Value)) -> Option<String> {
        let event = event(change);
        let outcome = EventRow::read(&event.to_string()).and_then(|event| event.check().and_then(|_| event.check_time(NOW)));
        outcome.err().map(|refusal| refusal.field.to_string())
    }

    fn money(name: &str, properties: &str) -> Result<Option<(String, String, bool)>, String> {
        let json = format!(r#"{{"name":"{name}","identifiers":{{"externalOrderId":"1"}},"properties":{properties}}}"#);
        let money = EventRow::read(&json).and_then(|event| event.check()).map_err(|refusal| refusal.field.to_string())?;
        Ok(money.map(|money| (money.amount.to_string(), money.currency.as_str().to_owned(), money.is_refund)))
    }

    #[test]
    fn values_are_accepted_up_to_their_maximum_length() {
        type Set = fn(&mut Value, String);
        let fields: [(&str, usize, Set); 5] = [
            ("name", limits::EVENT_NAME_CHARACTERS_MAX, |event, text| event["name"] = text.into()),
            ("dedupeKey", limits::EVENT_DEDUPE_KEY_CHARACTERS_MAX, |event, text| event["dedupeKey"] = text.into()),
            ("identifiers.externalCustomerId", limits::EVENT_EXTERNAL_ID_CHARACTERS_MAX, |event, text| {
                event["identifiers"]["externalCustomerId"] = text.into();
            }),
            ("identifiers.externalCheckoutId", limits::EVENT_EXTERNAL_ID_CHARACTERS_MAX, |event, text| {
                event["identifiers"]["externalCheckoutId"] = text.into();
            }),
            ("identifiers.externalOrderId", limits::EVENT_EXTERNAL_ID_CHARACTERS_MAX, |event, text| {
                event["identifiers"]["externalOrderId"] = text.into();
            }),
        ];
        for (field, max, set) in fields {
            for (many, taken) in [(0, false), (1, true), (max - 1, true), (max, true), (max + 1, false)] {
                let expected = (!taken).then(|| field.to_owned());
                assert_eq!(refused(|event| set(event, "é".repeat(many))), expected, "{field} with {many}");
            }
            assert_eq!(refused(|event| set(event, "a\u{7}b".into())), Some(field.to_owned()), "control characters");
        }
    }

    #[test]
    fn an_event_needs_a_name_and_an_identifier() {
        assert_eq!(refused(|_| {}), None);
        assert_eq!(refused(|event| event["identifiers"] = json!({})).as_deref(), Some("identifiers"));
        assert_eq!(refused(|event| event["identifiers"] = json!({ "email": null })).as_deref(), Some("identifiers"));
        assert_eq!(
            refused(|event| drop(event.as_object_mut().expect("the value is an object").remove("name"))).as_deref(),
            Some("name")
        );
        assert_eq!(refused(|event| event["identifiers"]["email"] = "ada".into()).as_deref(), Some("identifiers.email"));
        assert_eq!(
            refused(|event| event["identifiers"]["subscriberId"] = "7".into()).as_deref(),
            Some("identifiers.subscriberId")
        );
        assert_eq!(refused(|event| event["hue"] = 1.into()).as_deref(), Some("hue"));
        assert_eq!(refused(|event| event["profile"] = json!({ "status": "subscribed" })).as_deref(), Some("profile.status"));
        assert_eq!(refused(|event| event["profile"] = json!({ "country": "Narnia" })).as_deref(), Some("profile.country"));
        assert_eq!(refused(|event| event["properties"] = json!([])).as_deref(), Some("properties"));
        assert_eq!(refused(|event| event["occurredAt"] = "yesterday".into()).as_deref(), Some("occurredAt"));
    }

    #[test]
    fn times_are_accepted_from_ninety_days_ago_to_five_minutes_ahead() {
        let (oldest, ahead) = (-90 * 24 * 60 * 60 * 1000_i64, 5 * 60 * 1000);
        for (after, taken) in [
            (oldest - 1, false),
            (oldest, true),
            (oldest + 1, true),
            (0, true),
            (ahead - 1, true),
            (ahead, true),
            (ahead + 1, false),
        ] {
            let expected = (!taken).then(|| "occurredAt".to_owned());
            assert_eq!(refused(|event| event["occurredAt"] = NOW.plus_ms(after).to_string().into()), expected, "{after}");
        }
    }

    #[test]
    fn money_needs_an_order_and_a_number_and_the_name_decides_whether_it_is_a_refund() {
        let parsed = |amount: &str, currency: &str, is_refund| Ok(Some((amount.to_owned(), currency.to_owned(), is_refund)));
        assert_eq!(money("paid", r#"{"value":49.90}"#), parsed("49.9", "USD", false));
        assert_eq!(money("paid", r#"{"value":49.90,"currency":"eur"}"#), parsed("49.9", "EUR", false));
        assert_eq!(money("paid", r#"{"value":0,"currency":null}"#), parsed("0", "USD", false));
        assert_eq!(money("Order.REFUNDED", r#"{"value":5}"#), parsed("5", "USD", true));
        assert_eq!(money("order_refund", r#"{"value":-5}"#), parsed("5", "USD", true));
        assert_eq!(money("Order Cancelled", r#"{"value":5}"#), parsed("5", "USD", true));
        assert_eq!(money("subscription_CANCELED_by_user", r#"{"value":5}"#), parsed("5", "USD", true));
        assert_eq!(money("adjusted", r#"{"value":-5}"#), parsed("5", "USD", true));
        assert_eq!(money("paid", r#"{"value":"49.90"}"#), Ok(None));
        assert_eq!(money("paid", "{}"), Ok(None));
        assert_eq!(money("paid", r#"{"currency":"nonsense"}"#), Ok(None), "without a value there is no money");
        for currency in ["\"EURO\"", "\"\"", "1", "[]"] {
            let wrong = money("paid", &format!(r#"{{"value":1,"currency":{currency}}}"#));
            assert_eq!(wrong, Err("properties.currency".into()), "{currency}");
        }
        for value in ["1e12", "0.0000000000000000001", "1e400"] {
            assert_eq!(money("paid", &format!(r#"{{"value":{value}}}"#)), Err("properties.value".into()), "{value}");
        }
        assert_eq!(refused(|event| event["properties"] = json!({ "value": 1e13 })), None, "without an order there is no money");
        let without_order = |name: &str| {
            let event = event(|event| (event["name"], event["properties"]) = (name.into(), json!({ "value": 5 })));
            EventRow::read(&event.to_string()).and_then(|event| event.check()).map(|money| money.is_some())
        };
        assert_eq!((without_order("order.paid"), without_order("order.refunded")), (Ok(false), Ok(true)));
        for (name, field) in [("value", "properties.value"), ("currency", "properties"), ("size", "properties")] {
            for number in ["1e400", "-1e400"] {
                let json =
                    format!(r#"{{"name":"x","identifiers":{{"email":"ada@example.com"}},"properties":{{"{name}":{number}}}}}"#);
                let refused = EventRow::read(&json).and_then(|event| event.check()).expect_err("the number is out of range");
                assert_eq!(refused.field, field, "{json}");
            }
        }
    }
}
