//! Tests for emails in several languages: each recipient receives the right language, and tracking and retries refer to the email that was
//! sent.

use super::*;
use crate::features::emails::generation;
use crate::features::sending::token::{Purpose, Token, Tokens};
use crate::features::{engagement, tracking};
use crate::vocab::ids::{CampaignId, EmailId};

const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0";

/// Creates the series from `assets/docs/api-tutorial.md`: three emails in two languages. Returns the conversation, and the emails by
/// position and language.
fn series(app: &TestApp) -> (Value, Vec<Value>) {
    let wanted = json!({
        "prompt": "Welcome series, 10% off the first order with HELLO10", "count": 3, "languages": ["en", "de"],
    });
    let conversation = app.post_in("/v1/projects/emails/generate", wanted).data()["conversationId"].clone();
    app.clock.advance_ms(limits::SITE_IMPORT_AWAITED_MS);
    while app.wait(generation::step(app.engine().clone(), Environment::Test)).expect("every stage succeeds") {}
    let path = format!("/v1/projects/emails/{}/status", conversation.as_str().expect("the ID is a string"));
    let emails = app.get(&path).data()["result"]["emails"].as_array().expect("the value is a list").clone();
    let places: Vec<_> = emails.iter().map(|email| (email["slot"].as_u64(), email["language"].as_str())).collect();
    let of = |slot, language| (Some(slot), Some(language));
    assert_eq!(places, [of(1, "en"), of(1, "de"), of(2, "en"), of(2, "de"), of(3, "en"), of(3, "de")]);
    assert_ne!(emails[0]["subject"], emails[1]["subject"]);
    (conversation, emails)
}

/// Creates contacts with several languages. Returns the ID of the contact with the language `de`.
fn contacts(app: &TestApp) -> String {
    for (email, language) in [("en", "en"), ("at", "de-AT"), ("fr", "fr")] {
        contact(app, &format!("{email}@example.com"), json!({ "language": language }));
    }
    contact(app, "none@example.com", json!({}));
    contact(app, "de@example.com", json!({ "language": "de" }))
}

/// Returns the recipient and subject of each message in the inbox, sorted.
fn inbox(app: &TestApp) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().expect("the value is a string").to_owned();
    let messages = app.get("/v1/inbox?limit=100").data()["messages"].as_array().expect("the value is a list").clone();
    let mut found: Vec<_> = messages.iter().map(|message| (text(&message["to"]), text(&message["subject"]))).collect();
    found.sort();
    found
}

fn link(app: &TestApp, mailing: MailingId, number: u32, purpose: Purpose) -> String {
    Tokens::new(&app.engine().seal).link(Token { environment: Environment::Test, mailing, number, purpose })
}

fn write<T: Send + 'static>(app: &TestApp, write: impl FnOnce(&mut WriteTx<'_>) -> T + Send + 'static) -> T {
    let written = app.data().store.write_blocking(move |tx| Ok::<_, ()>(write(tx)));
    written.expect("the store can be written").expect("the operation is allowed")
}

fn row(app: &TestApp, mailing: MailingId, number: u32) -> crate::features::sending::Recipient {
    sending::recipient(&app.read(), mailing, number).expect("the store can be read").expect("the row exists")
}

#[test]
fn the_readmes_campaign_sends_its_series_of_six_emails_to_each_recipient_in_their_language() {
    let app = TestApp::with(|settings| settings.mail.require_verified_domain = false);
    let (conversation, emails) = series(&app);
    let german = contacts(&app);
    let wanted = json!({
        "name": "Hello", "conversationId": conversation, "from": "news@example.com", "fromName": "Ada", "recipientType": "audience",
    });
    let campaign = app.post_in("/v1/campaigns", wanted).data();
    assert_eq!((&campaign["emailId"], &campaign["languages"]), (&emails[0]["id"], &json!(["en", "de"])), "{campaign}");
    assert_eq!(campaign["warnings"][0]["code"], "FIRST_EMAIL_OF_SERIES", "{campaign}");
    assert_eq!(campaign["warnings"].as_array().map(Vec::len), Some(1), "{campaign}");
    let path = format!("/v1/campaigns/{}", campaign["id"].as_str().expect("the ID is a string"));
    let outlook = app.get(&format!("{path}/dry-run")).data();
    let shares: Vec<_> = outlook["languages"]
        .as_array()
        .expect("the value is a list")
        .iter()
        .map(|share| (&share["emailId"], &share["recipients"]))
        .collect();
    assert_eq!(shares, [(&emails[0]["id"], &json!(3)), (&emails[1]["id"], &json!(2))], "{outlook}");
    assert_eq!(outlook["ready"], true, "{outlook}");

    let sent = app.post(&format!("{path}/send"), json!({})).data();
    let batch = id(&sent, "batchId");
    while app.wait(sending::plan(app.engine(), Environment::Test)).expect("planning succeeds") {}
    // The language is chosen when the recipient row is written, so later changes do not affect a retry.
    app.patch_in(&format!("/v1/contacts/{german}"), json!({ "language": "en" })).data();
    assert_eq!(run_to_the_end(&app, batch).sent, 5);

    let subject = |email: usize| emails[email]["subject"].as_str().expect("the value is a string").to_owned();
    let by_address = |rows: Vec<(&str, usize)>| -> Vec<(String, String)> {
        rows.into_iter().map(|(name, email)| (format!("{name}@example.com"), subject(email))).collect()
    };
    let expected = by_address(vec![("at", 1), ("de", 1), ("en", 0), ("fr", 0), ("none", 0)]);
    assert_eq!(inbox(&app), expected);
    let log = app.get(&format!("{path}/logs")).data();
    let mut logged: Vec<_> = log["emails"]
        .as_array()
        .expect("the value is a list")
        .iter()
        .map(|row| (row["to_email"].clone(), row["subject"].clone()))
        .collect();
    logged.sort_by_key(|(address, _)| address.to_string());
    assert_eq!(logged, expected.iter().map(|(address, subject)| (json!(address), json!(subject))).collect::<Vec<_>>());

    check_each_email(&app, &emails, batch);
    check_engagement(&app, &emails, batch, &german);
}

/// Checks that each email has its own statistics, log and web page.
fn check_each_email(app: &TestApp, emails: &[Value], batch: MailingId) {
    let subject = |email: usize| emails[email]["subject"].as_str().expect("the value is a string").to_owned();
    for (email, many, language) in [(0, 3, "en"), (1, 2, "de")] {
        let own = format!("/v1/emails/{}", emails[email]["id"].as_str().expect("the ID is a string"));
        assert_eq!(app.get(&format!("{own}/metrics")).data()["summary"]["totalEmails"], many, "{language}");
        let rows = app.get(&format!("{own}/logs")).data()["emails"].clone();
        let rows = rows
            .as_array()
            .expect("the value is a list")
            .iter()
            .map(|row| row["subject"].as_str().expect("the value is a string").to_owned());
        assert_eq!(rows.collect::<Vec<_>>(), vec![subject(email); many]);
        // The cursor points to a direct send that has been deleted since the previous page was returned.
        let later = app.get(&format!("{own}/logs?cursor=ffffffffffffffffffffffff.0")).data()["emails"].clone();
        assert_eq!(later.as_array().expect("the value is a list").len(), many);
    }
    let tx = app.read();
    let mailing = sending::by_id(&tx, batch).expect("the store can be read").expect("the row exists");
    let rows = sending::recipients(&tx, batch, 0, 10, |_, _| true).expect("the store can be read").rows;
    for (number, recipient) in rows {
        let language = mailing.translation_for(&recipient).language.clone().expect("the translation has a language");
        let view = format!("/v/{}", link(app, batch, number, Purpose::View));
        let (status, _, page) = app.visit(http::Method::GET, &view, &[], "");
        assert!(status == 200 && page.contains(&format!("lang=\"{language}\"")), "{number}: {page}");
    }
}

/// Checks that unsubscribes and opens are counted for the email that the recipient received.
fn check_engagement(app: &TestApp, emails: &[Value], batch: MailingId, german: &str) {
    let tx = app.read();
    let mailing = sending::by_id(&tx, batch).expect("the store can be read").expect("the row exists");
    let (number, _) = sending::row_of(&tx, &mailing, number_of(german), "de@example.com")
        .expect("the store can be read")
        .expect("the row exists");
    unsubscribe_and_open(app, batch, number);
    let summary = |email: usize| {
        let metrics =
            app.get(&format!("/v1/emails/{}/metrics", emails[email]["id"].as_str().expect("the ID is a string"))).data();
        (metrics["summary"]["opened"].clone(), metrics["summary"]["unsubscribed"].clone())
    };
    assert_eq!((summary(0), summary(1)), ((json!(0), json!(0)), (json!(1), json!(1))));
}

fn unsubscribe_and_open(app: &TestApp, batch: MailingId, number: u32) {
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let unsubscribe = format!("/u/{}", link(app, batch, number, Purpose::Unsubscribe));
    let (status, ..) = app.visit(http::Method::POST, &unsubscribe, &form, "List-Unsubscribe=One-Click");
    assert_eq!(status, 200);
    let open = format!("/t/o/{}.gif", link(app, batch, number, Purpose::Open));
    app.visit(http::Method::GET, &open, &[("user-agent", BROWSER)], "");
    app.wait(tracking::flush(app.engine())).expect("the activity can be written");
}

fn number_of(contact: &str) -> u32 {
    crate::vocab::ids::ContactId::parse(contact).expect("the ID is valid").number()
}

#[test]
fn direct_sends_and_tests_follow_the_rules_of_campaigns() {
    let app = TestApp::new();
    let (conversation, emails) = series(&app);
    contacts(&app);
    let email = |index: usize| emails[index]["id"].clone();
    // Each row: the recipient, the position of the email in the request, whether the request names the conversation, the position of the
    // email that is sent, and whether a warning states that only the first email in the series is sent.
    for (name, named, with_conversation, sent, warned) in [
        ("de", None, true, 1, true),
        ("other", None, true, 0, true),
        ("de", Some(0), false, 0, false),
        ("de", Some(2), true, 3, false),
        ("en", Some(3), true, 2, false),
        ("other", Some(3), true, 3, false),
    ] {
        let address = format!("{name}@example.com");
        let mut content = json!({});
        if with_conversation {
            content["conversationId"] = conversation.clone();
        }
        if let Some(named) = named {
            content["emailId"] = email(named);
        }
        let what = format!("{address} {content}");
        let with = |more: Value| {
            let mut body = content.clone();
            body.as_object_mut()
                .expect("the value is an object")
                .extend(more.as_object().expect("the value is an object").clone());
            body
        };
        let direct = with(json!({ "recipientType": "email", "recipientEmail": address, "from": "hello@example.com" }));
        let direct = app.post("/v1/sending", direct).data();
        let test = app.post("/v1/emails/test/send", with(json!({ "to": address }))).data();
        assert_eq!((&direct["emailId"], &test["emailId"]), (&email(sent), &email(sent)), "{what}");
        assert_eq!(test["subject"], emails[sent]["subject"], "{what}");
        for answer in [&direct, &test] {
            assert_eq!(answer["warnings"][0]["code"].as_str(), warned.then_some("FIRST_EMAIL_OF_SERIES"), "{what}");
        }
        let view = app.get(&format!("/v1/sending/{}", direct["sendId"].as_str().expect("the ID is a string"))).data();
        assert_eq!((&view["emailId"], &view["subject"]), (&email(sent), &emails[sent]["subject"]), "{what}");
    }
    let mut batch = json!({
        "recipientType": "audience", "from": "news@example.com", "conversationId": conversation, "emailId": email(4),
        "subject": "{{ broken",
    });
    assert_eq!(app.post_in("/v1/sending", batch.clone()).body["data"]["field"], "subject");
    batch["subject"] = "Hi".into();
    let batch = app.post_in("/v1/sending", batch).data();
    assert_eq!(batch["warnings"][0]["code"], "SAME_TEXT_IN_EVERY_LANGUAGE", "{batch}");
    assert_eq!(batch["emailId"], email(4));
    assert_eq!(run_to_the_end(&app, id(&batch, "batchId")).sent, 5);
}

/// Returns a request for a campaign's mailing in two languages to all contacts in the project.
fn mailing(app: &TestApp, htmls: [&str; 2]) -> NewMailing {
    let content = |(language, html): (&str, &str)| Content {
        language: Some(language.into()),
        subject: format!("Subject {language}"),
        html: html.into(),
        ..Content::default()
    };
    NewMailing {
        account: app.account(),
        project: Some(app.project),
        kind: MailingKind::Campaign(CampaignId::from_bytes([3; 12])),
        contents: ["en", "de"].into_iter().zip(htmls).map(content).collect(),
        from: Sender { address: "news@example.com".into(), name: None, reply_to: None },
        to: To::Everyone,
        transactional: false,
        topic: None,
        variables: serde_json::Map::new(),
        tracking: Tracking { opens: true, clicks: true },
        utm: None,
        campaign_name: None,
        unknown: Policy::Hold,
        local: None,
    }
}

#[test]
fn a_click_follows_and_counts_for_the_link_in_the_recipients_language() {
    let app = TestApp::new();
    contact(&app, "en@example.com", json!({ "language": "en" }));
    contact(&app, "de@example.com", json!({ "language": "de-CH" }));
    let english = r#"<a href="https://shop.example/en">x</a>"#;
    let german = r#"<a href="https://shop.example/de/neu">x</a><a href="https://shop.example/en">y</a>"#;
    let new = mailing(&app, [english, german]);
    let batch = write(&app, move |tx| sending::create(tx, new).expect("the mailing is valid"));
    assert_eq!(run_to_the_end(&app, batch).sent, 2);
    app.clock.advance_ms(60_000);
    let numbers: Vec<u32> = sending::recipients(&app.read(), batch, 0, 10, |_, _| true)
        .expect("the store can be read")
        .rows
        .into_iter()
        .map(|(number, _)| number)
        .collect();
    for (number, clicked, target) in [
        (numbers[0], 0, "https://shop.example/en"),
        (numbers[1], 0, "https://shop.example/de/neu"),
        (numbers[1], 1, "https://shop.example/en"),
    ] {
        let path = format!("/t/c/{}", link(&app, batch, number, Purpose::Click(clicked)));
        let (status, headers, _) = app.visit(http::Method::GET, &path, &[("user-agent", BROWSER)], "");
        assert_eq!((status, headers["location"].to_str().expect("the header is ASCII")), (302, target));
    }
    app.wait(tracking::flush(app.engine())).expect("the activity can be written");
    let clicks = engagement::clicks(&app.read(), batch).expect("the store can be read");
    assert_eq!(clicks, [((0, 0), 1), ((1, 0), 1), ((1, 1), 1)]);
    assert_eq!(engagement::of(&app.read(), batch, numbers[1]).expect("the store can be read").clicks, 2);
}

#[test]
fn a_template_error_in_any_language_is_found_before_sending() {
    let app = TestApp::new();
    let refusal = |email: Option<EmailId>| {
        let mut broken = mailing(&app, ["<p>Hi</p>", "<p>{{ broken</p>"]);
        broken.contents[1].email = email;
        let failure = write(&app, move |tx| {
            let refused = sending::create(tx, broken).expect_err("the German template is invalid");
            tx.roll_back();
            refused
        });
        failure.text()
    };
    let detail = refusal(None);
    assert!(detail.starts_with("template: ") && detail.contains("email in de"), "{detail}");
    // Regression test: the error for a stored email named the field `template`, which the request did not have.
    let detail = refusal(Some(EmailId::from_bytes([4; 12])));
    assert!(detail.starts_with("The HTML of the email in de is invalid: "), "{detail}");
}

#[test]
fn a_missing_merge_field_of_one_language_skips_only_its_recipients() {
    let app = TestApp::new();
    for (name, language) in [("en", "en"), ("de", "de")] {
        contact(&app, &format!("{name}@example.com"), json!({ "language": language }));
    }
    let new = mailing(&app, ["<p>Hi</p>", "<p>Hallo {{ firstName }}</p>"]);
    let batch = write(&app, move |tx| sending::create(tx, new).expect("the mailing is valid"));
    let counts = run_to_the_end(&app, batch);
    assert_eq!((counts.sent, counts.skipped.get("missing_field")), (1, Some(&1)), "{counts:?}");
    assert_eq!(inbox(&app), [("en@example.com".to_owned(), "Subject en".to_owned())]);
}

#[test]
fn a_recipient_keeps_its_language_through_crashes_retries_and_resends() {
    let app = TestApp::new();
    contact(&app, "de@example.com", json!({ "language": "de" }));
    let new = mailing(&app, ["<p>Hi</p>", "<p>Hallo</p>"]);
    let batch = write(&app, move |tx| sending::create(tx, new).expect("the mailing is valid"));
    while app.wait(sending::plan(app.engine(), Environment::Test)).expect("planning succeeds") {}
    let (number, planned) =
        sending::recipients(&app.read(), batch, 0, 10, |_, _| true).expect("the store can be read").rows.remove(0);
    assert_eq!(planned.translation, 1);
    let schedule = Schedule { first_pause_ms: 60_000, give_up_ms: 600_000 };
    let events = [
        Event::Claim { epoch: 1 },
        Event::Deferred { reply: "451 later".into(), schedule },
        Event::Claim { epoch: 1 },
        Event::Lost { why: crate::features::sending::UnknownReason::Crash },
        Event::Resend,
    ];
    for event in events {
        if matches!(event, Event::Claim { .. }) {
            app.clock.advance_ms(60_000);
        }
        let mailing = sending::by_id(&app.read(), batch).expect("the store can be read").expect("the row exists");
        let recipient = row(&app, batch, number);
        let what = format!("{event:?}");
        write(&app, move |tx| {
            recipients::advance(tx, &mailing, number, &recipient, event)
                .expect("the store can be read")
                .expect("the operation is allowed")
        });
        assert_eq!(row(&app, batch, number).translation, 1, "{what}");
    }
    assert_eq!(run_to_the_end(&app, batch).sent, 1);
    assert_eq!(inbox(&app), [("de@example.com".to_owned(), "Subject de".to_owned())]);
}

#[test]
fn an_audience_is_every_contact_with_or_without_the_projects_id() {
    let app = TestApp::new();
    contact(&app, "ada@example.com", json!({}));
    contact(&app, "bob@example.com", json!({}));
    let project = json!(app.project);
    let mut wanted = json!({ "recipientType": "audience", "from": "n@example.com", "subject": "x", "template": "<p>x</p>" });
    for (recipient_id, project_id) in [(None, Some(&project)), (Some(&project), Some(&project)), (Some(&project), None)] {
        wanted["recipientId"] = recipient_id.cloned().unwrap_or_default();
        wanted["projectId"] = project_id.cloned().unwrap_or_default();
        let batch = app.post("/v1/sending", wanted.clone()).data();
        assert_eq!(run_to_the_end(&app, id(&batch, "batchId")).sent, 2, "{wanted}");
        let view = app.get(&format!("/v1/sending/batches/{}", batch["batchId"].as_str().expect("the ID is a string"))).data();
        assert_eq!(view["recipientType"], "audience", "{view}");
    }
    wanted["recipientId"] = json!("66f1a2b3d4e5f60718293a99");
    let refused = app.post("/v1/sending", wanted.clone());
    assert_eq!((refused.refusal().0, refused.body["data"]["field"].as_str()), (400, Some("projectId")), "{refused:?}");
}
