//! Creates a webhook.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::text::LongText;
use crate::engine::api::{Caller, Command, Created, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::webhooks::headers::describe as describe_headers;
use crate::features::webhooks::model::Webhook;
use crate::features::webhooks::signature::Signer;
use crate::features::webhooks::validate::URL_PATTERN;
use crate::features::webhooks::views::{WebhookView, WebhookWithSecret, webhook_view};
use crate::features::webhooks::{store, validate};
use crate::vocab::codes::Code;
use crate::vocab::ids::WebhookId;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::webhook_events::Subscription;

pub struct Create;

/// The webhook to create.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewWebhook {
    /// The URL for deliveries: an https URL that is reachable from the public internet.
    #[schemars(extend("pattern" = URL_PATTERN, "maxLength" = limits::URL_CHARACTERS_MAX - 1))]
    pub url: String,
    /// The types of events that the webhook receives: at least one of those that `GET /v1/webhooks/events` lists.
    #[schemars(length(min = 1))]
    pub events: Vec<Subscription>,
    /// The purpose of the webhook.
    pub description: Option<LongText<{ limits::DESCRIPTION_CHARACTERS_MAX }>>,
    /// Headers to send with every delivery, such as `Authorization`: at most 20, and none that Mailmill sets or reserves. The
    /// values are stored encrypted and never shown again.
    #[schemars(transform = describe_headers)]
    pub custom_headers: Option<BTreeMap<String, String>>,
    /// Whether the webhook receives events. The default is true.
    pub active: Option<bool>,
    /// Whether deliveries also have the Standard Webhooks headers `webhook-id`, `webhook-timestamp` and `webhook-signature`, which the
    /// public Standard Webhooks libraries verify with the same secret. The default is false.
    pub standard_signature: Option<bool>,
}

impl Operation for Create {
    const SPEC: Spec = Spec::post("webhooks.create", "/v1/webhooks", needs(Permission::WebhookWrite))
        .summary("Create a webhook")
        .about(
            "Only this response shows the signing secret. Deliveries are POST requests with the event as JSON; X-Service-Signature is \
             the hexadecimal HMAC-SHA256 of the raw body, keyed with the secret exactly as shown here, including its whsec_ prefix. \
             A 2xx response within ten seconds is a success; any other result except 410 is retried, up to three attempts in total.",
        )
        .replay(Replay::Keyed)
        .answers_secret()
        .fails(&[Code::LimitReached]);
    type Input = NewWebhook;
    type Output = Created<WebhookWithSecret>;

    fn example() -> (Value, Self::Output) {
        let webhook = WebhookView { success_count: 0, failure_count: 0, last_triggered_at: None, ..WebhookView::sample() };
        let input = json!({
            "url": webhook.url, "events": webhook.events, "description": webhook.description, "customHeaders": { "X-Shop": "7" },
        });
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=".into();
        (input, Created(WebhookWithSecret { webhook, secret }))
    }
}

impl Command for Create {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: NewWebhook) -> Result<Self::Output, Failure> {
        let (account, engine) = (caller.account(), caller.engine.as_ref());
        let url = validate::url(engine, &input.url)?;
        let events = validate::events(input.events)?;
        if store::all(tx, account)?.len() >= limits::WEBHOOKS_MAX {
            let detail = format!("An account can have at most {} webhooks. Delete a webhook first.", limits::WEBHOOKS_MAX);
            return Err(Failure::because(Code::LimitReached, detail));
        }
        let id = WebhookId::make(tx.now(), tx.random());
        let signer = Signer::new(tx.random());
        let mut webhook = Webhook {
            id,
            account,
            url,
            events,
            description: input.description.filter(|text| !text.is_empty()).map(|text| text.to_string()),
            active: input.active.unwrap_or(true),
            standard_signature: input.standard_signature.unwrap_or(false),
            sealed_headers: Vec::new(),
            sealed_secret: signer.seal(&engine.seal, account, id, tx.random()),
            previous: None,
            created_at: tx.now(),
            updated_at: tx.now(),
        };
        validate::set_headers(tx, engine, &mut webhook, input.custom_headers.unwrap_or_default())?;
        store::save(tx, None, &webhook)?;
        let secret = signer.text().expose().clone();
        Ok(Created(WebhookWithSecret { webhook: webhook_view(tx, engine, &webhook, tx.now())?, secret }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::webhooks::headers::HIDDEN;
    use crate::testing::TestApp;

    fn hook(url: &str) -> Value {
        json!({ "url": url, "events": ["subscriber.added"] })
    }

    #[test]
    fn the_secret_is_shown_once_and_stored_sealed() {
        let app = TestApp::new();
        let answer = app.post("/v1/webhooks", hook("https://acme.example/hooks"));
        assert_eq!(answer.status, 201);
        let made = answer.data();
        let secret = made["secret"].as_str().expect("the response has a secret").to_owned();
        assert!(secret.starts_with("whsec_") && secret.len() == 6 + 44, "{secret}");
        let id = made["id"].as_str().expect("the value is an ID");
        let read = app.get(&format!("/v1/webhooks/{id}")).data();
        assert_eq!((&read["secretConfigured"], &read["active"], read.get("secret")), (&json!(true), &json!(true), None));
        let kept = store::find(&app.read(), app.account(), WebhookId::parse(id).expect("the value is an ID"))
            .expect("the data is readable");
        assert!(!format!("{kept:?}").contains(&secret));
        assert_eq!(app.get("/v1/webhooks").data()["webhooks"][0], read);
    }

    #[test]
    fn a_repeat_with_the_same_idempotency_key_shows_the_same_secret_and_the_stored_response_is_sealed() {
        let app = TestApp::new();
        let first = app.post_keyed("/v1/webhooks", "k", hook("https://acme.example/"));
        let again = app.post_keyed("/v1/webhooks", "k", hook("https://acme.example/"));
        assert_eq!(first, again);
        assert_eq!(app.get("/v1/webhooks").data()["total"], 1);
        let secret = first.body["data"]["secret"].as_str().expect("the response has a secret").to_owned();
        let data = app.data().store.file().to_path_buf();
        let bytes = std::fs::read(data).expect("the file can be read");
        assert!(
            !bytes.windows(secret.len()).any(|window| window == secret.as_bytes()),
            "the data file does not contain the secret"
        );
    }

    #[test]
    fn forbidden_urls_are_refused() {
        let app = TestApp::new();
        for url in [
            "http://acme.example/",
            "ftp://acme.example/",
            "acme.example",
            "",
            "https://user:password@acme.example/",
            "https://127.0.0.1/",
            "https://2130706433/",
            "https://0x7f.1/",
            "https://127.1/",
            "https:127.0.0.1",
            "https:\\\\127.0.0.1",
            "https://[::1]/",
            "https://[::ffff:10.0.0.1]/",
            "https://localhost/",
            "https://localhost.:8443/",
            "https://api.localhost/",
            "https://169.254.169.254/latest",
            "https://168.63.129.16/",
            "https://10.0.0.1:8443/",
            "https://acme.example:22/",
            "https://acme.example/\r\nX-Shop: 7",
            "https://ac\tme.example/",
            "https://acme..example/",
            "https://.example/",
            &format!("https://{}.example/", "a".repeat(64)),
            &format!("https://{}example/", "a.".repeat(124)),
        ] {
            let answer = app.post("/v1/webhooks", hook(url));
            let (status, code, detail) = answer.refusal();
            assert_eq!((status, code), (400, "INVALID_REQUEST"), "{url}");
            assert!(detail.starts_with("url: "), "{url}: {detail}");
        }
        for url in [
            "https://acme.example:8443/a?b=c#d",
            "https://1.1.1.1/",
            " https://Acme.example\n",
            "https://acme.example./",
            &format!("https://{}.example/", "a".repeat(63)),
            &format!("https://{}example/", "a.".repeat(123)),
        ] {
            assert_eq!(app.post("/v1/webhooks", hook(url)).status, 201, "{url}");
        }
    }

    #[test]
    fn the_url_length_limit_applies_to_its_encoded_form() {
        let app = TestApp::new();
        let start = "https://acme.example/";
        let with = |path: String| app.post("/v1/webhooks", hook(&format!("{start}{path}")));
        let room = limits::URL_CHARACTERS_MAX - start.len();
        assert_eq!(with("a".repeat(room)).data()["url"].as_str().map(str::len), Some(limits::URL_CHARACTERS_MAX));
        assert!(with("a".repeat(room + 1)).refusal().2.starts_with("url: the URL is longer than "));
        // The encoded form of ü has six characters.
        assert_eq!(with("ü".repeat(room / 6)).status, 201);
        assert_eq!(with("ü".repeat(room / 6 + 1)).refusal().0, 400);
    }

    #[test]
    fn credentials_in_a_url_are_refused_with_an_alternative() {
        let refused = TestApp::new().post("/v1/webhooks", hook("https://user:password@acme.example/"));
        assert!(refused.refusal().2.contains("Authorization"), "{refused:?}");
    }

    #[test]
    fn plain_http_is_accepted_only_if_the_operator_allows_it() {
        let app = TestApp::with(|settings| settings.webhooks.allow_http = true);
        assert_eq!(app.post("/v1/webhooks", hook("http://acme.example/")).status, 201);
    }

    #[test]
    fn at_least_one_current_or_former_event_is_required() {
        let app = TestApp::new();
        let with = |events: Value| app.post("/v1/webhooks", json!({ "url": "https://acme.example/", "events": events }));
        for events in [json!([]), json!(["subscriber.deleted"]), json!("subscriber.added"), json!([1])] {
            let answer = with(events.clone());
            assert!(answer.refusal().2.starts_with("events"), "{events}: {answer:?}");
        }
        let made = with(json!(["api_key.created", "email.opened", "email.opened"])).data();
        assert_eq!(made["events"], json!(["api_key.created", "email.opened"]));
    }

    #[test]
    fn the_limit_of_webhooks_applies() {
        let app = TestApp::new();
        for _ in 0..limits::WEBHOOKS_MAX {
            app.post("/v1/webhooks", hook("https://acme.example/")).data();
        }
        assert_eq!(app.post("/v1/webhooks", hook("https://acme.example/")).refusal().1, "LIMIT_REACHED");
    }

    #[test]
    fn custom_headers_are_checked_sealed_and_shown_without_values() {
        let app = TestApp::new();
        let with = |headers: Value| {
            app.post(
                "/v1/webhooks",
                json!({ "url": "https://acme.example/", "events": ["email.test.sent"], "customHeaders": headers }),
            )
        };
        assert!(with(json!({ "X-Service-Event-Id": "1" })).refusal().2.starts_with("customHeaders.X-Service-Event-Id: "));
        let none = with(json!({ "Authorization": HIDDEN }));
        assert!(none.refusal().2.starts_with("customHeaders.Authorization: "), "{none:?}");
        let made = with(json!({ "Authorization": "Bearer canary-7" })).data();
        assert_eq!(made["customHeaders"], json!({ "Authorization": HIDDEN }));
        let read = app.get(&format!("/v1/webhooks/{}", made["id"].as_str().expect("the value is an ID"))).data();
        assert_eq!(read["customHeaders"], json!({ "Authorization": HIDDEN }));
        assert!(!format!("{read}{:?}", app.get("/v1/webhooks")).contains("canary-7"));
        let bytes = std::fs::read(app.data().store.file()).expect("the file can be read");
        assert!(!bytes.windows(8).any(|window| window == b"canary-7"));
    }
}
