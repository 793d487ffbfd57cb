//! Tests incoming webhooks through the request pipeline: bodies from other systems, results, consent, and the contents of deliveries.

use http::Method;
use serde_json::{Value, json};

use super::{Token, ops};
use crate::testing::TestApp;
use crate::vocab::limits;

const JSON: (&str, &str) = ("content-type", "application/json");
const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded; charset=utf-8");

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is not text")).to_owned()
}

/// Creates a webhook. Returns its ID and URL.
fn create(app: &TestApp, more: Value) -> (String, String) {
    let mut input = json!({ "projectId": app.project, "name": "Form" });
    input.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    let made = app.post("/v1/incoming-webhooks", input).data();
    (text(&made["id"]), text(&made["url"]))
}

fn send(app: &TestApp, url: &str, header: (&'static str, &str), body: &str) -> (u16, Value) {
    let (status, _, reply) = app.visit(Method::POST, url, &[header], body);
    (status, serde_json::from_str(&reply).unwrap_or_else(|_| panic!("{reply}")))
}

fn result(app: &TestApp, url: &str, header: (&'static str, &str), body: &str) -> String {
    let (status, reply) = send(app, url, header, body);
    assert_eq!(status, 200, "{reply}");
    text(&reply["data"]["result"])
}

fn contact(app: &TestApp, email: &str) -> Value {
    let listed = app.get_in("/v1/contacts").data();
    let found = listed["contacts"].as_array().expect("a list").iter().find(|contact| contact["email"] == email).cloned();
    found.unwrap_or_else(|| panic!("no contact {email}: {listed}"))
}

#[test]
fn a_mapping_takes_values_from_nested_bodies() {
    let app = TestApp::new();
    let mapping = json!({
        "email": "data.answers.0.email", "firstName": "data.name.first", "customFields.plan": "data.plan", "phone": "data.phone",
    });
    let (id, url) = create(&app, json!({ "mapping": mapping, "tags": ["form"], "consentSource": "Form on acme.example" }));
    let body = json!({
        "event": "form_response",
        "data": { "answers": [{ "email": " Ada@example.com " }], "name": { "first": "Ada" }, "plan": "pro", "phone": 15550100 },
    });
    assert_eq!(result(&app, &url, JSON, &body.to_string()), "created");
    assert_eq!(result(&app, &url, JSON, &body.to_string()), "unchanged");
    let ada = contact(&app, "Ada@example.com");
    assert_eq!((&ada["firstName"], &ada["phone"], &ada["status"]), (&json!("Ada"), &json!("15550100"), &json!("subscribed")));
    assert_eq!(ada["customFields"], json!({ "plan": "pro", "consentSource": "Form on acme.example" }));
    assert_eq!(ada["tags"], json!(["form"]));
    let (status, refused) = send(&app, &url, JSON, &json!({ "data": {} }).to_string());
    assert_eq!((status, refused["code"].as_str()), (400, Some("INVALID_REQUEST")), "{refused}");
    let shown = app.get(&format!("/v1/incoming-webhooks/{id}")).data();
    assert_eq!((&shown["acceptedCount"], &shown["rejectedCount"]), (&json!(2), &json!(1)));
    let listed = app.get(&format!("/v1/incoming-webhooks/{id}/deliveries")).data();
    let results: Vec<&Value> = listed["deliveries"].as_array().expect("a list").iter().map(|one| &one["result"]).collect();
    assert_eq!(results, ["rejected", "unchanged", "created"], "{listed}");
    assert_eq!(listed["deliveries"][0]["field"], "email");
}

#[test]
fn a_form_needs_no_mapping_and_redirects_the_browser() {
    let app = TestApp::new();
    let (_, url) = create(&app, json!({ "redirectUrl": "https://acme.example/thanks" }));
    let body = "email=bob%40example.com&firstName=Bob&submit=Send&city=&status=subscribed&tags=vip";
    let (status, headers, _) = app.visit(Method::POST, &url, &[FORM], body);
    assert_eq!(status, 303);
    assert_eq!(headers.get("location").expect("a redirect"), "https://acme.example/thanks");
    let bob = contact(&app, "bob@example.com");
    assert_eq!((&bob["firstName"], &bob["status"], &bob["tags"]), (&json!("Bob"), &json!("non-subscribed"), &json!([])));
    let as_json = json!({ "email": "bob@example.com", "lastName": "Gray" }).to_string();
    assert_eq!(result(&app, &url, JSON, &as_json), "updated");
    assert_eq!(contact(&app, "bob@example.com")["firstName"], "Bob", "other values are kept");
}

/// Invariant: a body never resubscribes a contact.
#[test]
fn consent_subscribes_new_contacts_and_no_others() {
    let app = TestApp::new();
    let topic = app.post_in("/v1/topics", json!({ "name": "News", "defaultSubscription": "opt_out" })).data();
    let topic = text(&topic["id"]);
    let (_, url) = create(&app, json!({ "consentSource": "Form", "topicId": topic }));
    assert_eq!(result(&app, &url, FORM, "email=ada@example.com"), "created");
    let ada = text(&contact(&app, "ada@example.com")["id"]);
    assert_eq!(app.get_in("/v1/topics").data()["topics"][0]["subscriberCount"], 1);
    app.patch_in(&format!("/v1/contacts/{ada}"), json!({ "status": "unsubscribed" })).data();
    assert_eq!(result(&app, &url, FORM, "email=ada@example.com&firstName=Ada"), "updated");
    assert_eq!(contact(&app, "ada@example.com")["status"], "unsubscribed");
    let (_, other) = create(&app, json!({}));
    app.post_in("/v1/contacts", json!({ "email": "bob@example.com", "status": "subscribed" })).data();
    assert_eq!(result(&app, &other, FORM, "email=bob@example.com&lastName=Gray"), "updated");
    assert_eq!(contact(&app, "bob@example.com")["status"], "subscribed", "without consent, a known contact keeps its status");
}

// Regression test: a webhook could not be turned off after its topic had been deleted, because the topic was checked again.
#[test]
fn a_webhook_whose_topic_was_deleted_can_be_changed() {
    let app = TestApp::new();
    let topic = text(&app.post_in("/v1/topics", json!({ "name": "News" })).data()["id"]);
    let (id, _) = create(&app, json!({ "consentSource": "Form", "topicId": topic }));
    app.delete_in(&format!("/v1/topics/{topic}")).data();
    let path = format!("/v1/incoming-webhooks/{id}");
    let changed = app.patch(&path, json!({ "active": false })).data();
    assert_eq!((&changed["active"], &changed["topicId"]), (&json!(false), &json!(topic)));
    let other = app.patch(&path, json!({ "topicId": "66f1a2b3c4d5e6f70819202a" }));
    assert_eq!((other.refusal().0, &other.body["data"]["field"]), (404, &json!("topicId")));
}

#[test]
fn events_are_recorded_once_for_each_key() {
    let app = TestApp::new();
    let mapping = json!({
        "email": "customer.email", "externalOrderId": "id", "dedupeKey": "id", "properties.value": "total", "properties.currency": "currency",
    });
    let (_, url) = create(&app, json!({ "kind": "events", "eventName": "order.paid", "mapping": mapping }));
    let body = json!({ "id": 1001, "total": "49.90", "currency": "EUR", "customer": { "email": "ada@example.com" } }).to_string();
    assert_eq!(result(&app, &url, JSON, &body), "recorded");
    assert_eq!(result(&app, &url, JSON, &body), "unchanged");
    let ada = text(&contact(&app, "ada@example.com")["id"]);
    let events = app.get_in(&format!("/v1/contacts/{ada}/events")).data();
    assert_eq!(events["events"].as_array().expect("a list").len(), 1, "{events}");
    let event = &events["events"][0];
    assert_eq!((&event["name"], &event["properties"]["value"]), (&json!("order.paid"), &json!(49.9)), "{events}");
    assert_eq!(contact(&app, "ada@example.com")["status"], "non-subscribed");
    let (status, refused) = send(&app, &url, JSON, "{\"id\":7}");
    assert_eq!((status, refused["code"].as_str()), (400, Some("INVALID_REQUEST")), "{refused}");
}

#[test]
fn only_the_current_url_of_an_active_webhook_is_accepted() {
    let app = TestApp::new();
    let (id, old) = create(&app, json!({}));
    let (other, _) = create(&app, json!({}));
    let renewed = app.patch(&format!("/v1/incoming-webhooks/{id}"), json!({ "newUrl": true })).data();
    let url = text(&renewed["url"]);
    let sent = |url: &str| send(&app, url, FORM, "email=ada@example.com");
    let status = |url: &str| sent(url).0;
    assert_eq!((status(&old), status(&url)), (404, 200));
    for wrong in [format!("{url}A"), url[..url.len() - 2].to_owned(), url.replace(&url[url.len() - 4..], "AAAA")] {
        assert_eq!(status(&wrong), 404, "{wrong}");
    }
    app.patch(&format!("/v1/incoming-webhooks/{id}"), json!({ "active": false })).data();
    let (code, refused) = sent(&url);
    assert!(code == 404 && refused["error"].as_str().is_some_and(|said| said.contains("turn the webhook on")), "{refused}");
    app.patch(&format!("/v1/incoming-webhooks/{id}"), json!({ "active": true })).data();
    assert_eq!(status(&url), 200);
    let shown = app.get(&format!("/v1/incoming-webhooks/{id}")).data().to_string();
    assert!(!shown.contains("/v1/hooks/"), "the URL is shown only when it is created: {shown}");
    app.delete(&format!("/v1/incoming-webhooks/{id}")).data();
    assert_eq!(status(&url), 404);
    assert_eq!(app.get("/v1/incoming-webhooks").data()["hooks"][0]["id"], json!(other));
}

/// A submitted form does not prove that the owner of a suppressed address wants to receive mail again.
#[test]
fn a_suppressed_address_is_not_subscribed() {
    let app = TestApp::new();
    let topic = text(&app.post_in("/v1/topics", json!({ "name": "News", "defaultSubscription": "opt_out" })).data()["id"]);
    let (_, url) = create(&app, json!({ "consentSource": "Form", "topicId": topic }));
    app.post("/v1/suppressions", json!({ "email": "ada@example.com", "reason": "complaint" })).data();
    assert_eq!(result(&app, &url, FORM, "email=Ada%40Example.com"), "created");
    assert_eq!(contact(&app, "Ada@Example.com")["status"], "non-subscribed");
    assert_eq!(app.get_in("/v1/topics").data()["topics"][0]["subscriberCount"], 0);
    assert_eq!(contact(&app, "Ada@Example.com")["customFields"], json!({}));
}

#[test]
fn items_of_lists_are_found_by_their_names() {
    let app = TestApp::new();
    let mapping = json!({ "email": "answers.type=email.email", "firstName": "answers.label=Name.text" });
    let (_, url) = create(&app, json!({ "mapping": mapping }));
    let body = json!({ "answers": [{ "label": "Name", "text": "Bea" }, { "type": "email", "email": "bea@example.com" }] });
    assert_eq!(result(&app, &url, JSON, &body.to_string()), "created");
    assert_eq!(contact(&app, "bea@example.com")["firstName"], "Bea");
}

/// Regression test: order numbers beyond 64 bits were rounded, so two orders could have the same dedupe key, and one of them was lost.
#[test]
fn integers_are_kept_exactly_or_rejected() {
    let app = TestApp::new();
    let mapping = json!({ "email": "email", "dedupeKey": "order.id", "properties.total": "order.total" });
    let (_, url) = create(&app, json!({ "kind": "events", "eventName": "order.paid", "mapping": mapping }));
    let order = |id: &str, total: &str| {
        let body = format!(r#"{{"email":"ada@example.com","order":{{"id":{id},"total":{total}}},"unused":1e300}}"#);
        let (status, reply) = send(&app, &url, JSON, &body);
        (status, reply["data"]["result"].as_str().or(reply["error"].as_str()).map(str::to_owned).unwrap_or_default())
    };
    assert_eq!(order("18446744073709551615", "1"), (200, "recorded".to_owned()));
    assert_eq!(order("18446744073709551614", "1"), (200, "recorded".to_owned()));
    assert_eq!(order("18446744073709551614", "1"), (200, "unchanged".to_owned()));
    for (id, total) in [("123456789012345678901234567890", "1"), ("-9223372036854775809", "1"), ("1", "18446744073709551616")] {
        let (status, error) = order(id, total);
        assert!(status == 400 && error.contains("too large to store exactly"), "{id}, {total}: {error}");
    }
    let (_, url) = create(&app, json!({}));
    let (status, reply) = send(&app, &url, JSON, r#"{"email":"ada@example.com","lastName":123456789012345678901}"#);
    assert!(
        status == 400 && reply["error"].as_str().is_some_and(|error| error.contains("too large to store exactly")),
        "{reply}"
    );
}

#[test]
fn a_signed_webhook_rejects_requests_without_a_valid_signature() {
    let app = TestApp::new();
    let (id, url) = create(&app, json!({ "signature": { "header": "Typeform-Signature", "secret": "key of the form" } }));
    let body = "{\"email\":\"ada@example.com\"}";
    let sum = ring::hmac::sign(&ring::hmac::Key::new(ring::hmac::HMAC_SHA256, b"key of the form"), body.as_bytes());
    let (hex, base64) = (data_encoding::HEXLOWER.encode(sum.as_ref()), data_encoding::BASE64.encode(sum.as_ref()));
    let signed = |signature: &str| {
        let (status, _, reply) = app.visit(Method::POST, &url, &[JSON, ("typeform-signature", signature)], body);
        (status, reply)
    };
    for valid in [format!("sha256={base64}"), base64.clone(), hex.clone(), hex.to_uppercase(), format!("sha256={hex}")] {
        assert_eq!(signed(&valid).0, 200, "{valid}");
    }
    for wrong in ["", "sha256=", "AAAA", &base64[1..], &hex[..62], &hex.replace(&hex[..1], "g")] {
        let (status, reply) = signed(wrong);
        assert!(status == 401 && reply.contains("INVALID_SIGNATURE"), "{wrong}: {reply}");
    }
    let (status, reply) = send(&app, &url, JSON, body);
    assert!(status == 401 && reply.to_string().contains("no signature"), "{reply}");
    let shown = app.get(&format!("/v1/incoming-webhooks/{id}")).data();
    assert_eq!((&shown["signatureHeader"], &shown["rejectedCount"]), (&json!("Typeform-Signature"), &json!(7)));
    assert!(!shown.to_string().contains("key of"), "{shown}");
    app.patch(&format!("/v1/incoming-webhooks/{id}"), json!({ "signature": null })).data();
    assert_eq!(send(&app, &url, JSON, body).0, 200);
}

#[test]
fn a_repeat_with_the_same_idempotency_key_changes_nothing() {
    let app = TestApp::new();
    let (_, url) = create(&app, json!({ "kind": "events", "eventName": "form.sent" }));
    let (_, other) = create(&app, json!({ "kind": "events", "eventName": "form.sent" }));
    let send = |url: &str, key: &str, body: &str| {
        let (status, _, reply) = app.visit(Method::POST, url, &[JSON, ("idempotency-key", key)], body);
        let reply: Value = serde_json::from_str(&reply).expect("JSON");
        (status, reply["data"]["result"].as_str().or(reply["code"].as_str()).map(str::to_owned).unwrap_or_default())
    };
    let body = "{\"email\":\"ada@example.com\"}";
    assert_eq!(send(&url, "1", "{\"email\":\"ada\"}"), (400, "INVALID_REQUEST".to_owned()));
    assert_eq!(send(&url, "1", body), (200, "recorded".to_owned()), "a rejected request does not use up its key");
    assert_eq!(send(&url, "1", body), (200, "unchanged".to_owned()));
    assert_eq!(send(&url, "2", body), (200, "recorded".to_owned()));
    assert_eq!(send(&other, "1", body), (200, "recorded".to_owned()), "keys belong to one webhook");
    assert_eq!(send(&url, "1", "{\"email\":\"bob@example.com\"}"), (409, "IDEMPOTENCY_CONFLICT".to_owned()));
    assert_eq!(send(&url, &"k".repeat(limits::IDEMPOTENCY_KEY_CHARACTERS_MAX + 1), body).0, 400);
}

// Regression test: each forged request was recorded in its own transaction, so a flood of forged requests caused a flood of writes.
#[test]
fn a_flood_of_forged_requests_is_rejected_without_writes() {
    let app = TestApp::new();
    let (id, url) = create(&app, json!({ "signature": { "header": "X-Signature", "secret": "key of the form" } }));
    let hook = Token::parse(url.rsplit('/').next().expect("a URL has parts")).expect("a token").id;
    let at = app.engine().clock.monotonic();
    for _ in 1..limits::HOOK_FORGERIES_RECORDED_PER_MINUTE {
        app.engine().throttle.take(&ops::receive::FORGERIES, &hook.to_string(), at).expect("granted");
    }
    let body = "{\"email\":\"ada@example.com\"}";
    let forged = || app.visit(Method::POST, &url, &[JSON, ("x-signature", "AAAA")], body);
    for _ in 0..3 {
        let (status, _, reply) = forged();
        assert!(status == 401 && reply.contains("INVALID_SIGNATURE") && reply.contains("has the same secret"), "{reply}");
    }
    let shown = app.get(&format!("/v1/incoming-webhooks/{id}")).data();
    assert_eq!(shown["rejectedCount"], 1, "only the first one is recorded: {shown}");
    let sum = ring::hmac::sign(&ring::hmac::Key::new(ring::hmac::HMAC_SHA256, b"key of the form"), body.as_bytes());
    let right = data_encoding::HEXLOWER.encode(sum.as_ref());
    assert_eq!(app.visit(Method::POST, &url, &[JSON, ("x-signature", &right)], body).0, 200, "forgeries close no webhook");
}

#[test]
fn a_webhook_accepts_a_limited_number_of_requests_in_a_minute() {
    let app = TestApp::new();
    let (_, url) = create(&app, json!({}));
    let (_, other) = create(&app, json!({}));
    let token = url.rsplit('/').next().expect("a URL has parts");
    let id = Token::parse(token).expect("a token").id;
    for _ in 0..limits::HOOK_REQUESTS_PER_MINUTE {
        app.engine().throttle.take(&ops::receive::REQUESTS, &id.to_string(), app.engine().clock.monotonic()).expect("granted");
    }
    let (status, headers, reply) = app.visit(Method::POST, &url, &[FORM], "email=ada@example.com");
    assert!(status == 429 && reply.contains("RATE_LIMIT_EXCEEDED"), "{reply}");
    assert!(headers.contains_key("retry-after"), "{headers:?}");
    assert_eq!(send(&app, &other, FORM, "email=ada@example.com").0, 200);
}

#[test]
fn a_test_shows_what_would_be_stored_and_stores_nothing() {
    let app = TestApp::new();
    let (id, _) = create(&app, json!({ "mapping": { "email": "data.email", "country": "data.country" } }));
    let test = |body: Value| app.post(&format!("/v1/incoming-webhooks/{id}/test"), json!({ "body": body })).data();
    let good = test(json!({ "data": { "email": "ada@example.com", "country": "DE" } }));
    assert_eq!(good, json!({ "success": true, "input": { "email": "ada@example.com", "country": "DE" } }));
    let wrong = test(json!({ "data": { "email": "ada" } }));
    assert_eq!((&wrong["success"], &wrong["field"]), (&json!(false), &json!("email")), "{wrong}");
    assert_eq!(app.get_in("/v1/contacts").data()["contacts"], json!([]));
    assert_eq!(app.get(&format!("/v1/incoming-webhooks/{id}/deliveries")).data()["deliveries"], json!([]));
}

#[test]
fn unusable_bodies_are_rejected_with_the_reason() {
    let app = TestApp::new();
    let (id, url) = create(&app, json!({}));
    for (header, body, reason) in [
        (JSON, "{", "not valid JSON"),
        (JSON, "[{\"email\":\"ada@example.com\"}]", "JSON object"),
        (JSON, "{\"email\":\"secret-value\"}", "email"),
        (FORM, "firstName=Ada", "email"),
        (FORM, "email=ada@example.com&country=secret-value", "country"),
    ] {
        let (status, reply) = send(&app, &url, header, body);
        assert!(status == 400 && reply.to_string().contains(reason), "{body}: {reply}");
    }
    let (status, _) = send(&app, &url, FORM, &format!("email=a@example.com&x={}", "x".repeat(limits::HOOK_BODY_BYTES_MAX)));
    assert_eq!(status, 413);
    for _ in 0..limits::HOOK_DELIVERIES_KEPT {
        assert_eq!(send(&app, &url, FORM, "email=ada@example.com").0, 200);
    }
    let kept = app.get(&format!("/v1/incoming-webhooks/{id}/deliveries")).data();
    assert_eq!(
        kept["deliveries"].as_array().expect("a list").len(),
        limits::HOOK_DELIVERIES_KEPT,
        "older deliveries are deleted"
    );
    assert!(!kept.to_string().contains("secret-value"), "deliveries contain no values");
}

#[test]
fn wrong_settings_are_refused_with_the_field() {
    let app = TestApp::new();
    for (input, field) in [
        (json!({ "mapping": { "firstName": "a" } }), "mapping.email"),
        (json!({ "mapping": { "email": "a", "status": "b" } }), "mapping.status"),
        (json!({ "mapping": { "email": "a..b" } }), "mapping.email"),
        (json!({ "kind": "events", "mapping": { "city": "a" } }), "mapping.city"),
        (json!({ "eventName": "a" }), "eventName"),
        (json!({ "kind": "events", "tags": ["a"] }), "tags"),
        (json!({ "kind": "events", "consentSource": "a" }), "consentSource"),
        (json!({ "kind": "events", "topicId": "66f1a2b3d4e5f60718293a4b" }), "topicId"),
        (json!({ "redirectUrl": "javascript:alert(1)" }), "redirectUrl"),
        (json!({ "signature": { "header": "no header", "secret": "a" } }), "signature.header"),
        (json!({ "signature": { "header": "a", "secret": " " } }), "signature.secret"),
    ] {
        let mut whole = json!({ "projectId": app.project, "name": "Form" });
        whole.as_object_mut().expect("an object").extend(input.as_object().expect("an object").clone());
        let refused = app.post("/v1/incoming-webhooks", whole);
        assert!(refused.refusal().2.starts_with(&format!("{field}: ")), "{input}: {refused:?}");
    }
    let topic = app.post_in("/v1/topics", json!({ "name": "News" })).data();
    let refused = app.post("/v1/incoming-webhooks", json!({ "projectId": app.project, "name": "Form", "topicId": topic["id"] }));
    assert!(refused.refusal().2.starts_with("consentSource: "), "{refused:?}");
}
