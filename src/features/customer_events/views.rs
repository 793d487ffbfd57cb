//! A customer event as the API returns it.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;

use super::store::Event;
use crate::engine::api::response::WireTime;
use crate::vocab::ids::EventId;

/// A customer event that was reported for a contact.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CustomerEvent {
    pub event_id: EventId,
    pub name: String,
    pub identifiers: ExternalIds,
    /// The properties of the event, as received.
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub properties: Option<Box<RawValue>>,
    pub occurred_at: WireTime,
    pub received_at: WireTime,
    pub dedupe_key: Option<String>,
}

/// The IDs of the customer, the checkout and the order in the reporting system.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExternalIds {
    pub external_customer_id: Option<String>,
    pub external_checkout_id: Option<String>,
    pub external_order_id: Option<String>,
}

impl CustomerEvent {
    pub fn of((event_id, event): (EventId, Event)) -> Self {
        Self {
            event_id,
            name: event.name,
            identifiers: ExternalIds {
                external_customer_id: event.customer,
                external_checkout_id: event.checkout,
                external_order_id: event.order,
            },
            properties: event.properties.map(|json| RawValue::from_string(json).expect("stored properties are valid JSON")),
            occurred_at: WireTime(event.occurred_at),
            received_at: WireTime(event.received_at),
            dedupe_key: event.dedupe_key,
        }
    }

    pub fn sample() -> Self {
        let properties = RawValue::from_string(r#"{"value":49.9,"currency":"EUR"}"#.into()).expect("the properties are JSON");
        Self {
            event_id: EventId::parse("66f1a2b300000007a1b2c3d4").expect("the ID has 24 hexadecimal characters"),
            name: "purchase.completed".into(),
            identifiers: ExternalIds {
                external_customer_id: None,
                external_checkout_id: None,
                external_order_id: Some("order-1001".into()),
            },
            properties: Some(properties),
            occurred_at: WireTime::sample(),
            received_at: WireTime::sample(),
            dedupe_key: Some("order-1001:paid".into()),
        }
    }
}
