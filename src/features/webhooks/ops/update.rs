//! Changes a webhook.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::patch::Patch;
use crate::base::text::LongText;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::webhooks::headers::describe as describe_headers;
use crate::features::webhooks::validate::URL_PATTERN;
use crate::features::webhooks::views::{WebhookView, webhook_view};
use crate::features::webhooks::{require, store, validate};
use crate::vocab::codes::Code;
use crate::vocab::ids::WebhookId;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::webhook_events::Subscription;

pub struct Update;

/// The changes to a webhook. An omitted field stays unchanged; `null` clears the description or the custom headers.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WebhookPatch {
    /// The ID of the webhook.
    pub webhook_id: WebhookId,
    /// The URL for deliveries, including pending deliveries.
    #[schemars(extend("pattern" = URL_PATTERN, "maxLength" = limits::URL_CHARACTERS_MAX - 1))]
    pub url: Option<String>,
    /// The events that the webhook receives after the change.
    #[schemars(length(min = 1))]
    pub events: Option<Vec<Subscription>>,
    /// Whether the webhook receives events. Disabling the webhook cancels its pending deliveries; events that occur while it is disabled
    /// can be delivered later with `POST /v1/webhooks/{webhookId}/redeliver`.
    pub active: Option<bool>,
    /// The purpose of the webhook.
    #[serde(default)]
    pub description: Patch<LongText<{ limits::DESCRIPTION_CHARACTERS_MAX }>>,
    /// The headers to send with every delivery. They replace all previous headers. A value of `********`, as shown in responses, keeps the
    /// header's current value.
    #[schemars(transform = describe_headers)]
    #[serde(default)]
    pub custom_headers: Patch<BTreeMap<String, String>>,
    /// Whether deliveries also have the Standard Webhooks signature.
    pub standard_signature: Option<bool>,
}

/// A webhook after an update.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct UpdatedWebhook {
    /// Always true in a successful response.
    pub updated: bool,
    #[serde(flatten)]
    pub webhook: WebhookView,
}

impl Operation for Update {
    const SPEC: Spec = Spec::patch("webhooks.update", "/v1/webhooks/{webhookId}", needs(Permission::WebhookWrite))
        .summary("Change a webhook")
        .about("If deliveries are paused, changing the URL or enabling a disabled webhook resumes them.")
        .fails(&[Code::NotFound]);
    type Input = WebhookPatch;
    type Output = Done<UpdatedWebhook>;

    fn example() -> (Value, Self::Output) {
        let webhook = WebhookView { active: false, ..WebhookView::sample() };
        (json!({ "webhookId": webhook.id, "active": false }), Done(UpdatedWebhook { updated: true, webhook }))
    }
}

impl Command for Update {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: WebhookPatch) -> Result<Self::Output, Failure> {
        let engine = caller.engine.as_ref();
        let before = require(tx, caller.account(), input.webhook_id)?;
        let mut after = before.clone();
        if let Some(given) = input.url {
            after.url = validate::url(engine, &given)?;
        }
        if let Some(events) = input.events {
            after.events = validate::events(events)?;
        }
        after.active = input.active.unwrap_or(after.active);
        after.standard_signature = input.standard_signature.unwrap_or(after.standard_signature);
        input.description.map(|text| text.to_string()).apply(&mut after.description);
        after.description = after.description.filter(|text| !text.is_empty());
        match input.custom_headers {
            Patch::Absent => {}
            Patch::Null => after.sealed_headers = Vec::new(),
            Patch::Value(given) => validate::set_headers(tx, engine, &mut after, given)?,
        }
        if after != before {
            after.updated_at = tx.now();
            store::save(tx, Some(&before), &after)?;
        }
        if after.url != before.url || (after.active && !before.active) {
            store::forgive(tx, (after.account, after.id))?;
        }
        Ok(Done(UpdatedWebhook { updated: true, webhook: webhook_view(tx, engine, &after, tx.now())? }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::outbox;
    use crate::features::webhooks::dispatch::attempt::custom_headers;
    use crate::features::webhooks::headers::HIDDEN;
    use crate::testing::TestApp;
    use crate::vocab::webhook_events::WebhookEvent;

    #[test]
    fn only_given_fields_change_and_subscriptions_are_counted() {
        let app = TestApp::new();
        let made =
            app.post("/v1/webhooks", json!({ "url": "https://a.example/", "events": ["email.opened"], "description": "a" }));
        let made = made.data();
        let path = format!("/v1/webhooks/{}", made["id"].as_str().expect("the value is an ID"));
        let wanted = |kind| outbox::is_wanted(&app.read(), app.account(), kind).expect("the data is readable");
        assert!(wanted(WebhookEvent::EmailOpened) && !wanted(WebhookEvent::EmailClicked));
        let changed = app.patch(&path, json!({ "events": ["email.clicked"], "url": "https://b.example/x" })).data();
        assert_eq!((&changed["updated"], &changed["url"]), (&json!(true), &json!("https://b.example/x")));
        assert_eq!(changed["description"], "a");
        assert!(!wanted(WebhookEvent::EmailOpened) && wanted(WebhookEvent::EmailClicked));
        app.patch(&path, json!({ "active": false, "description": null })).data();
        assert!(!wanted(WebhookEvent::EmailClicked));
        app.patch(&path, json!({ "active": true })).data();
        assert!(wanted(WebhookEvent::EmailClicked));
        assert_eq!(app.get(&path).data()["description"], json!(null));
        assert_eq!(app.patch(&path, json!({ "events": [] })).refusal().0, 400);
        assert_eq!(app.delete(&path).data()["deleted"], true);
        assert!(!wanted(WebhookEvent::EmailClicked));
        assert_eq!((app.patch(&path, json!({})).refusal().0, app.get(&path).refusal().0), (404, 404));
    }

    #[test]
    fn headers_are_replaced_and_placeholders_keep_their_values() {
        let app = TestApp::new();
        let made = app.post(
            "/v1/webhooks",
            json!({
                "url": "https://a.example/", "events": ["email.opened"],
                "customHeaders": { "Authorization": "Bearer one", "X-Shop": "7", "X-Old": "o" },
            }),
        );
        let made = made.data();
        let id = WebhookId::parse(made["id"].as_str().expect("the value is an ID")).expect("the value is an ID");
        let path = format!("/v1/webhooks/{id}");
        let sent = || {
            let webhook = store::find(&app.read(), app.account(), id).expect("the data is readable").expect("the record is kept");
            custom_headers(app.engine(), &webhook).expect("the headers can be decrypted")
        };
        let headers = json!({ "authorization": HIDDEN, "X-Shop": "8", "X-New": "n" });
        let changed = app.patch(&path, json!({ "customHeaders": headers })).data();
        assert_eq!(changed["customHeaders"], json!({ "authorization": HIDDEN, "X-Shop": HIDDEN, "X-New": HIDDEN }));
        let texts = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let now = texts(&[("authorization", "Bearer one"), ("X-Shop", "8"), ("X-New", "n")]);
        assert_eq!(sent(), now);
        // Sending back the headers as they were returned leaves them unchanged.
        let read = app.get(&path).data();
        app.patch(&path, json!({ "customHeaders": read["customHeaders"] })).data();
        assert_eq!(sent(), now);
        let unknown = app.patch(&path, json!({ "customHeaders": { "X-Shop": HIDDEN, "X-Old": HIDDEN } }));
        assert!(unknown.refusal().2.starts_with("customHeaders.X-Old: "), "{unknown:?}");
        assert_eq!(sent(), now, "a rejected change does not modify the headers");
        app.patch(&path, json!({ "customHeaders": null })).data();
        assert_eq!(sent(), BTreeMap::new());
    }
}
