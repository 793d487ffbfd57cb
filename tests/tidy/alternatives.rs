//! Dependencies between the fields of a request: the schema accepts what the operation accepts and rejects what it rejects.

use mailmill::operations::OPERATIONS;
use serde_json::{Value, json};

use super::declarations::input_schema;
use super::none;

const ID: &str = "66f1a2b3d4e5f60718293a4b";

/// Merges the fields of both objects. Those of `more` take precedence.
fn with(base: &Value, more: &Value) -> Value {
    [base, more].into_iter().flat_map(|value| value.as_object().expect("an object").clone()).collect()
}

/// Checks `base` with the fields of each case: first those that the schema must accept, then those it must reject.
fn check(operation: &str, base: &Value, accepted: &[Value], refused: &[Value]) {
    let entry = OPERATIONS.iter().find(|entry| entry.spec.id == operation).expect(operation);
    let schema = input_schema(entry);
    let validator = jsonschema::options().should_validate_formats(true).build(&schema).expect("the schema is one");
    let cases = accepted.iter().map(|more| (more, true)).chain(refused.iter().map(|more| (more, false)));
    let wrong = cases.filter(|(more, fits)| validator.is_valid(&with(base, more)) != *fits);
    none(operation, wrong.map(|(more, fits)| format!("{} {more}", if fits { "refuses" } else { "accepts" })).collect());
}

#[test]
fn a_test_send_names_an_email_or_a_conversation() {
    let accepted = [json!({ "emailId": ID }), json!({ "conversationId": ID })];
    check("sending.test", &json!({ "to": "ada@example.com" }), &accepted, &[json!({}), json!({ "emailId": null })]);
}

#[test]
fn a_send_has_one_content_and_the_recipients_of_its_type() {
    let one = json!({ "recipientType": "email", "from": "a@example.com", "recipientEmail": "b@example.com" });
    let template = json!({ "template": "<p>Hi</p>", "subject": "Hi" });
    let accepted = [json!({ "emailId": ID }), template.clone(), with(&template, &json!({ "topicId": ID, "projectId": ID }))];
    let refused = [
        json!({}),
        json!({ "template": "<p>Hi</p>" }),
        json!({ "template": " ", "subject": "Hi" }),
        with(&template, &json!({ "emailId": ID })),
        with(&template, &json!({ "topicId": ID })),
        json!({ "emailId": ID, "recipientEmail": null }),
        json!({ "emailId": ID, "recipientId": ID }),
    ];
    check("sending.send", &one, &accepted, &refused);
    let many = json!({ "recipientType": "segment", "from": "a@example.com", "recipientId": ID });
    let accepted = [
        json!({ "conversationId": ID }),
        with(&template, &json!({ "projectId": ID })),
        json!({ "emailId": ID, "recipientType": "audience" }),
        json!({ "emailId": ID, "recipientType": "audience", "recipientId": null }),
    ];
    let refused = [
        template,
        json!({ "conversationId": ID, "recipientId": "all" }),
        json!({ "conversationId": ID, "bcc": ["c@example.com"] }),
        json!({ "emailId": ID, "recipientType": "tag", "recipientId": null }),
    ];
    check("sending.send", &many, &accepted, &refused);
}

#[test]
fn a_check_names_an_email_or_its_html() {
    for check_name in ["compatibility", "links", "spelling", "deliverability", "all"] {
        let accepted = [json!({ "html": "<p>Hi" }), json!({ "emailId": ID }), json!({ "emailId": ID, "html": null })];
        let refused = [json!({}), json!({ "html": " " }), json!({ "html": "<p>Hi", "emailId": ID })];
        check(&format!("validation.{check_name}"), &json!({}), &accepted, &refused);
    }
}

#[test]
fn a_bulk_change_names_its_contacts_and_what_changes() {
    let accepted = [
        json!({ "ids": [ID], "addTags": ["vip"] }),
        json!({ "all": true, "filters": {}, "status": "unsubscribed" }),
        json!({ "all": true, "delete": true }),
    ];
    let refused = [
        json!({ "ids": [ID] }),
        json!({ "addTags": ["vip"] }),
        json!({ "ids": [ID], "addTags": [] }),
        json!({ "ids": [ID], "all": true, "delete": true }),
        json!({ "ids": [ID], "segmentId": ID, "delete": true }),
        json!({ "ids": [ID], "delete": true, "addTags": ["vip"] }),
    ];
    check("contacts.bulk_change", &json!({ "projectId": ID }), &accepted, &refused);
}

#[test]
fn a_campaign_for_a_tag_names_the_tag() {
    let campaign = json!({ "projectId": ID, "name": "Teas", "from": "a@example.com", "fromName": "A", "emailId": ID });
    let accepted = [json!({ "recipientType": "audience" }), json!({ "recipientType": "tag", "recipientId": ID })];
    check("campaigns.create", &campaign, &accepted, &[json!({ "recipientType": "tag" })]);
}

#[test]
fn a_condition_has_what_its_mode_takes() {
    let field = |key: &str, mode: &str, values: Value| json!({ "fields": [{ "key": key, "mode": mode, "values": values }] });
    let activity = |more: Value| json!({ "activity": [with(&json!({ "action": "opened" }), &more)] });
    let event = |more: Value| json!({ "events": [with(&json!({ "name": "purchase" }), &more)] });
    let accepted = [
        field("plan", "number_between", json!([1, 2])),
        field("createdAt", "date_after", json!(["2026-01-31"])),
        field("status", "is", json!(["subscribed"])),
        field("email", "ends_with", json!(["example.com", 7])),
        activity(json!({ "mode": "within", "unit": "days", "amount": 30 })),
        activity(json!({ "mode": "never" })),
        event(json!({ "mode": "ever" })),
        json!({ "groups": [{ "tags": [ID] }] }),
    ];
    let refused = [
        field("plan", "number_gt", json!([1, 2])),
        field("email", "number_gt", json!([1])),
        field("createdAt", "is", json!(["2026-01-31"])),
        field("status", "is", json!(["happy"])),
        field(" ", "is", json!(["a"])),
        activity(json!({ "mode": "within" })),
        activity(json!({ "mode": "within", "unit": "days", "amount": 4000 })),
        activity(json!({ "mode": "never", "unit": "days" })),
        event(json!({ "mode": "between", "from": "2026-01-31T00:00:00Z" })),
        json!({ "customFields": { "plan": [] } }),
        json!({ "groups": [{ "match": "any" }] }),
    ];
    let filtered = |filters: &[Value]| filters.iter().map(|filters| json!({ "filters": filters })).collect::<Vec<_>>();
    check("segments.preview", &json!({ "projectId": ID }), &filtered(&accepted), &filtered(&refused));
}

#[test]
fn header_and_font_names_and_webhook_urls_have_patterns() {
    let accepted = [
        json!({ "url": "https://hooks.shop.eu.west.example.co.uk:8443/?a=b" }),
        json!({ "customHeaders": { "X-Shop": "7", "Authorization": "Bearer a b" } }),
    ];
    let refused = [
        json!({ "url": "http://hooks.example.com/in" }),
        json!({ "customHeaders": { "X Shop": "7" } }),
        json!({ "customHeaders": { "X-Shop": " 7" } }),
        json!({ "customHeaders": { "Content-Type": "text/plain" } }),
        json!({ "customHeaders": { "hOst": "a" } }),
        json!({ "customHeaders": { "X-Service-Signature": "a" } }),
    ];
    let hook = json!({ "url": "https://hooks.example.com/in", "events": ["subscriber.added"] });
    check("webhooks.create", &hook, &accepted, &refused);
    let font = |name: &&str| json!({ "fonts": { "heading": name } });
    let accepted = ["Lora", "\"Open Sans\", Arial", "源ノ角ゴシック"].iter().map(font).collect::<Vec<_>>();
    let refused = ["url(a)", " - ", "Lora;"].iter().map(font).collect::<Vec<_>>();
    check("projects.update", &json!({ "projectId": ID }), &accepted, &refused);
}

#[test]
fn an_agent_identifies_itself_and_names_its_permissions() {
    let agent = json!({ "type": "service_auth", "login_hint": "ada@example.com", "agent_name": "Helper" });
    let accepted = [json!({}), json!({ "scope": "audience:read email:read" })];
    let refused =
        [json!({ "type": "" }), json!({ "login_hint": null }), json!({ "agent_name": " " }), json!({ "scope": "much" })];
    check("accounts.agent_identity", &agent, &accepted, &refused);
}

#[test]
fn a_file_is_not_empty_and_a_time_zone_is_valid() {
    check("projects.images_upload", &json!({ "projectId": ID }), &[json!({ "file": "R0lGODlh" })], &[json!({ "file": "" })]);
    let schedule = json!({ "id": ID, "scheduledAt": "2026-01-31T09:30" });
    let accepted = [json!({}), json!({ "scheduledTimezone": "US/Pacific" })];
    let refused = [json!({ "scheduledTimezone": "Berlin" }), json!({ "scheduledAt": "2026-01-31T09:30 or so" })];
    check("campaigns.schedule", &schedule, &accepted, &refused);
}

#[test]
fn the_keys_of_a_store_are_given_together() {
    let accepted = [
        json!({}),
        json!({ "clientId": "a", "apiSecret": "b", "consumerKey": null }),
        json!({ "accessToken": " a ", "apiSecret": "b" }),
        json!({ "consumerKey": "a", "consumerSecret": "b" }),
    ];
    let refused = [
        json!({ "clientId": "a" }),
        json!({ "clientId": "a b", "apiSecret": "c" }),
        json!({ "clientId": "a", "accessToken": "b", "apiSecret": "c" }),
        json!({ "consumerKey": "a", "apiSecret": "b" }),
    ];
    let store = json!({ "projectId": ID, "storefrontStoreUrl": "https://acme.myshopify.com" });
    check("storefront.connect", &store, &accepted, &refused);
}

#[test]
fn a_mail_service_has_its_own_form_of_secret() {
    let arn = "arn:aws:sns:us-east-1:123456789012:bounces";
    let accepted = [
        json!({ "service": "amazon_ses", "topicArns": [arn] }),
        json!({ "service": "postmark", "secret": "user:password", "topicArns": [] }),
        json!({ "service": "resend", "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" }),
        json!({ "service": "mailgun", "secret": "key-0123" }),
        json!({ "service": "brevo" }),
    ];
    let refused = [
        json!({ "service": "amazon_ses" }),
        json!({ "service": "amazon_ses", "topicArns": ["bounces"] }),
        json!({ "service": "amazon_ses", "topicArns": [arn], "secret": "a" }),
        json!({ "service": "postmark", "secret": "password" }),
        json!({ "service": "sendgrid", "secret": "MFkw" }),
        json!({ "service": "resend", "secret": "whsec_a" }),
        json!({ "service": "mailgun", "topicArns": [arn] }),
        json!({ "service": "brevo", "secret": " " }),
    ];
    check("mail_feedback.create", &json!({}), &accepted, &refused);
}

#[test]
fn a_scheduled_import_has_the_fields_of_its_source() {
    let sources = json!([{ "id": "a", "type": "list", "name": "All" }]);
    let file = json!({ "url": "https://acme.example/a.csv" });
    let platform = json!({ "provider": "klaviyo", "sources": sources });
    let events = with(&file, &json!({ "target": "events" }));
    let accepted = [
        with(&file, &json!({ "columnMap": { "email": "E-mail" }, "mapping": null })),
        with(&events, &json!({ "mapping": { "properties.size": "Size" } })),
        with(&platform, &json!({ "consentMode": "include-all" })),
    ];
    let refused = [
        json!({}),
        with(&file, &platform),
        json!({ "url": "acme.example/a.csv" }),
        json!({ "provider": "klaviyo" }),
        with(&file, &json!({ "mapping": { "name": "Event" } })),
        with(&events, &json!({ "tags": ["vip"] })),
        with(&events, &json!({ "mapping": { "size": "Size" } })),
        with(&platform, &json!({ "target": "events" })),
    ];
    check("scheduled_imports.create", &json!({ "projectId": ID, "name": "Shop" }), &accepted, &refused);
}

#[test]
fn an_incoming_webhook_has_the_fields_of_its_kind() {
    let accepted = [
        json!({ "mapping": { "email": "contact.email", "customFields.size": "size" }, "topicId": ID, "consentSource": "Form" }),
        json!({ "kind": null, "mapping": {}, "redirectUrl": " " }),
        json!({ "kind": "events", "eventName": "order", "mapping": { "profile.city": "address.city" } }),
        json!({ "redirectUrl": "https://acme.example/thanks" }),
    ];
    let refused = [
        json!({ "mapping": { "city": "city" } }),
        json!({ "mapping": { "email": "contact..email" } }),
        json!({ "mapping": { "email": "email", "properties.size": "size" } }),
        json!({ "topicId": ID }),
        json!({ "eventName": "order" }),
        json!({ "kind": "events", "tags": ["vip"] }),
        json!({ "kind": "events", "mapping": { "size": "size" } }),
        json!({ "redirectUrl": "acme.example" }),
    ];
    check("hooks.create", &json!({ "projectId": ID, "name": "Form" }), &accepted, &refused);
    let uris = |uri: &str| json!({ "redirect_uris": [uri] });
    let refused = [json!({}), uris("callback"), uris("https://app.example/#a"), uris("https://app.example/ a")];
    check("accounts.client_register", &json!({}), &[uris("https://app.example/"), uris("com.example.app:/")], &refused);
}
