//! Emails in several languages: which recipient gets which, and that everything about the message stays with the one that was sent.

use super::*;
use crate::features::emails::generation;
use crate::features::sending::token::{Purpose, Token, Tokens};
use crate::features::sending::{days, engagement};
use crate::features::tracking;
use crate::vocab::ids::CampaignId;

const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0";

/// The series of the README: three emails in two languages. Gives the conversation and the emails by place and language.
fn series(mill: &Mill) -> (Value, Vec<Value>) {
    let wanted = json!({
        "prompt": "Welcome series, 10% off the first order with HELLO10", "count": 3, "languages": ["en", "de"],
    });
    let conversation = mill.post_in("/v1/projects/emails/generate", wanted).data()["conversationId"].clone();
    mill.clock.advance_ms(limits::IMPORT_AWAITED_MS);
    while mill.wait(generation::step(mill.engine().clone(), Environment::Test)).expect("stages do not fail") {}
    let path = format!("/v1/projects/emails/{}/status", conversation.as_str().expect("an id"));
    let emails = mill.get(&path).data()["result"]["emails"].as_array().expect("emails").clone();
    let places: Vec<_> = emails.iter().map(|email| (email["slot"].as_u64(), email["language"].as_str())).collect();
    let of = |slot, language| (Some(slot), Some(language));
    assert_eq!(places, [of(1, "en"), of(1, "de"), of(2, "en"), of(2, "de"), of(3, "en"), of(3, "de")]);
    assert_ne!(emails[0]["subject"], emails[1]["subject"]);
    (conversation, emails)
}

fn contacts(mill: &Mill) {
    for (email, language) in [("en", "en"), ("de", "de"), ("at", "de-AT"), ("fr", "fr")] {
        contact(mill, &format!("{email}@example.com"), json!({ "language": language }));
    }
    contact(mill, "none@example.com", json!({}));
}

/// Subjects in the inbox by the address they went to.
fn inbox(mill: &Mill) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let messages = mill.get("/v1/inbox?limit=100").data()["messages"].as_array().expect("a list").clone();
    let mut found: Vec<_> = messages.iter().map(|message| (text(&message["to"]), text(&message["subject"]))).collect();
    found.sort();
    found
}

fn link(mill: &Mill, mailing: MailingId, number: u32, purpose: Purpose) -> String {
    Tokens::new(&mill.engine().seal).link(Token { environment: Environment::Test, mailing, number, purpose })
}

fn write<T: Send + 'static>(mill: &Mill, write: impl FnOnce(&mut WriteTx<'_>) -> T + Send + 'static) -> T {
    let written = mill.world().store.write_blocking(move |tx| Ok::<_, ()>(write(tx)));
    written.expect("written").expect("no refusal")
}

fn row(mill: &Mill, mailing: MailingId, number: u32) -> crate::features::sending::Recipient {
    sending::recipient(&mill.read(), mailing, number).expect("readable").expect("there")
}

#[test]
fn the_readmes_campaign_sends_its_series_of_six_emails_to_each_recipient_in_their_language() {
    let mill = Mill::with(|settings| settings.mail.require_verified_domain = false);
    let (conversation, emails) = series(&mill);
    contacts(&mill);
    let wanted = json!({
        "name": "Hello", "conversationId": conversation, "from": "news@example.com", "fromName": "Ada", "recipientType": "audience",
    });
    let campaign = mill.post_in("/v1/campaigns", wanted).data();
    assert_eq!((&campaign["emailId"], &campaign["languages"]), (&emails[0]["id"], &json!(["en", "de"])), "{campaign}");
    assert_eq!(campaign["warnings"][0]["code"], "FIRST_EMAIL_OF_SERIES", "{campaign}");
    assert_eq!(campaign["warnings"].as_array().map(Vec::len), Some(1), "{campaign}");
    let path = format!("/v1/campaigns/{}", campaign["id"].as_str().expect("an id"));
    let outlook = mill.get(&format!("{path}/dry-run")).data();
    let shares: Vec<_> =
        outlook["languages"].as_array().expect("a list").iter().map(|share| (&share["emailId"], &share["recipients"])).collect();
    assert_eq!(shares, [(&emails[0]["id"], &json!(3)), (&emails[1]["id"], &json!(2))], "{outlook}");
    assert_eq!(outlook["ready"], true, "{outlook}");

    let sent = mill.post(&format!("{path}/send"), json!({})).data();
    let batch = id(&sent, "batchId");
    while mill.wait(sending::plan(mill.engine(), Environment::Test)).expect("planning does not fail") {}
    // The language is chosen with the row: what changes afterwards does not change what a retry sends.
    let found = mill.get_in("/v1/contacts?search=de@example.com").data();
    let german = found[0]["id"].as_str().expect("an id").to_owned();
    mill.patch_in(&format!("/v1/contacts/{german}"), json!({ "language": "en" })).data();
    assert_eq!(run_to_the_end(&mill, batch).sent, 5);

    let subject = |email: usize| emails[email]["subject"].as_str().expect("text").to_owned();
    let by_address = |rows: Vec<(&str, usize)>| -> Vec<(String, String)> {
        rows.into_iter().map(|(name, email)| (format!("{name}@example.com"), subject(email))).collect()
    };
    let expected = by_address(vec![("at", 1), ("de", 1), ("en", 0), ("fr", 0), ("none", 0)]);
    assert_eq!(inbox(&mill), expected);
    let log = mill.get(&format!("{path}/logs")).data();
    let mut logged: Vec<_> =
        log["emails"].as_array().expect("rows").iter().map(|row| (row["to_email"].clone(), row["subject"].clone())).collect();
    logged.sort_by_key(|(address, _)| address.to_string());
    assert_eq!(logged, expected.iter().map(|(address, subject)| (json!(address), json!(subject))).collect::<Vec<_>>());

    // Each email has its own numbers, log and page on the web.
    for (email, many, language) in [(0, 3, "en"), (1, 2, "de")] {
        let own = format!("/v1/emails/{}", emails[email]["id"].as_str().expect("an id"));
        assert_eq!(mill.get(&format!("{own}/metrics")).data()["summary"]["totalEmails"], many, "{language}");
        let rows = mill.get(&format!("{own}/logs")).data()["emails"].clone();
        let rows = rows.as_array().expect("rows").iter().map(|row| row["subject"].as_str().expect("text").to_owned());
        assert_eq!(rows.collect::<Vec<_>>(), vec![subject(email); many]);
    }
    let tx = mill.read();
    let mailing = sending::by_id(&tx, batch).expect("readable").expect("there");
    let rows = sending::recipients(&tx, batch, 0, 10, |_, _| true).expect("readable").rows;
    for (number, recipient) in rows {
        let language = mailing.translation_for(&recipient).language.clone().expect("a tag");
        let view = format!("/v/{}", link(&mill, batch, number, Purpose::View));
        let (status, _, page) = mill.visit(http::Method::GET, &view, &[], "");
        assert!(status == 200 && page.contains(&format!("lang=\"{language}\"")), "{number}: {page}");
    }
    // Who unsubscribes and who opens counts for the email they got.
    let (number, _) = sending::row_of(&tx, &mailing, number_of(&german), "de@example.com").expect("readable").expect("there");
    let (status, ..) = mill.visit(
        http::Method::POST,
        &format!("/u/{}", link(&mill, batch, number, Purpose::Unsubscribe)),
        &[("content-type", "application/x-www-form-urlencoded")],
        "List-Unsubscribe=One-Click",
    );
    assert_eq!(status, 200);
    mill.visit(
        http::Method::GET,
        &format!("/t/o/{}.gif", link(&mill, batch, number, Purpose::Open)),
        &[("user-agent", BROWSER)],
        "",
    );
    mill.wait(tracking::flush(mill.engine())).expect("written");
    let summary = |email: usize| {
        let metrics = mill.get(&format!("/v1/emails/{}/metrics", emails[email]["id"].as_str().expect("an id"))).data();
        (metrics["summary"]["opened"].clone(), metrics["summary"]["unsubscribed"].clone())
    };
    assert_eq!((summary(0), summary(1)), ((json!(0), json!(0)), (json!(1), json!(1))));
}

fn number_of(contact: &str) -> u32 {
    crate::vocab::ids::ContactId::parse(contact).expect("an id").number()
}

#[test]
fn direct_sends_and_tests_follow_the_rules_of_campaigns() {
    let mill = Mill::new();
    let (conversation, emails) = series(&mill);
    contacts(&mill);
    let email = |index: usize| emails[index]["id"].clone();
    // Which email goes out, to whom, and whether it says that it is the first of the series.
    for (name, named, with_conversation, sent, warned) in [
        ("de", None, true, 1, true),
        ("stranger", None, true, 0, true),
        ("de", Some(0), false, 0, false),
        ("de", Some(2), true, 3, false),
        ("en", Some(3), true, 2, false),
        ("stranger", Some(3), true, 3, false),
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
            body.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
            body
        };
        let direct = with(json!({ "recipientType": "email", "recipientEmail": address, "from": "hello@example.com" }));
        let direct = mill.post("/v1/sending", direct).data();
        let test = mill.post("/v1/emails/test/send", with(json!({ "to": address }))).data();
        assert_eq!((&direct["emailId"], &test["emailId"]), (&email(sent), &email(sent)), "{what}");
        assert_eq!(test["subject"], emails[sent]["subject"], "{what}");
        for answer in [&direct, &test] {
            assert_eq!(answer["warnings"][0]["code"].as_str(), warned.then_some("FIRST_EMAIL_OF_SERIES"), "{what}");
        }
        let told = mill.get(&format!("/v1/sending/{}", direct["sendId"].as_str().expect("an id"))).data();
        assert_eq!((&told["emailId"], &told["subject"]), (&email(sent), &emails[sent]["subject"]), "{what}");
    }
    let batch = json!({
        "recipientType": "audience", "from": "news@example.com", "conversationId": conversation, "emailId": email(4), "subject": "Hi",
    });
    let batch = mill.post_in("/v1/sending", batch).data();
    assert_eq!(batch["warnings"][0]["code"], "SAME_TEXT_IN_EVERY_LANGUAGE", "{batch}");
    assert_eq!(batch["emailId"], email(4));
    assert_eq!(run_to_the_end(&mill, id(&batch, "batchId")).sent, 5);
}

/// A mailing of a campaign in two languages to the contacts of the project.
fn mailing(mill: &Mill, htmls: [&str; 2]) -> NewMailing {
    let content = |(language, html): (&str, &str)| Content {
        language: Some(language.into()),
        subject: format!("Subject {language}"),
        html: html.into(),
        ..Content::default()
    };
    NewMailing {
        account: mill.account(),
        project: Some(mill.project),
        kind: Kind::Campaign(CampaignId::from_bytes([3; 12])),
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
fn a_click_leads_where_the_link_in_the_recipients_language_leads_and_counts_there() {
    let mill = Mill::new();
    contact(&mill, "en@example.com", json!({ "language": "en" }));
    contact(&mill, "de@example.com", json!({ "language": "de-CH" }));
    let english = r#"<a href="https://shop.example/en">x</a>"#;
    let german = r#"<a href="https://shop.example/de/neu">x</a><a href="https://shop.example/en">y</a>"#;
    let new = mailing(&mill, [english, german]);
    let batch = write(&mill, move |tx| sending::open(tx, new).expect("a right mailing"));
    assert_eq!(run_to_the_end(&mill, batch).sent, 2);
    mill.clock.advance_ms(60_000);
    let numbers: Vec<u32> = sending::recipients(&mill.read(), batch, 0, 10, |_, _| true)
        .expect("readable")
        .rows
        .into_iter()
        .map(|(number, _)| number)
        .collect();
    for (number, clicked, target) in [
        (numbers[0], 0, "https://shop.example/en"),
        (numbers[1], 0, "https://shop.example/de/neu"),
        (numbers[1], 1, "https://shop.example/en"),
    ] {
        let path = format!("/t/c/{}", link(&mill, batch, number, Purpose::Click(clicked)));
        let (status, headers, _) = mill.visit(http::Method::GET, &path, &[("user-agent", BROWSER)], "");
        assert_eq!((status, headers["location"].to_str().expect("ASCII")), (302, target));
    }
    mill.wait(tracking::flush(mill.engine())).expect("written");
    let clicks = days::clicks(&mill.read(), batch).expect("readable");
    assert_eq!(clicks, [((0, 0), 1), ((1, 0), 1), ((1, 1), 1)]);
    assert_eq!(engagement::of(&mill.read(), batch, numbers[1]).expect("readable").clicks, 2);
}

#[test]
fn a_mistake_in_any_language_is_found_before_anything_is_sent() {
    let mill = Mill::new();
    let broken = mailing(&mill, ["<p>Hi</p>", "<p>{{ broken</p>"]);
    let failure = write(&mill, move |tx| {
        let refused = sending::open(tx, broken).expect_err("the German text is broken");
        tx.roll_back();
        refused
    });
    let detail = failure.detail.expect("words");
    assert!(detail.starts_with("template: ") && detail.contains("email in de"), "{detail}");
}

#[test]
fn a_merge_field_that_one_language_needs_skips_its_readers_only() {
    let mill = Mill::new();
    for (name, language) in [("en", "en"), ("de", "de")] {
        contact(&mill, &format!("{name}@example.com"), json!({ "language": language }));
    }
    let new = mailing(&mill, ["<p>Hi</p>", "<p>Hallo {{ firstName }}</p>"]);
    let batch = write(&mill, move |tx| sending::open(tx, new).expect("a right mailing"));
    let counts = run_to_the_end(&mill, batch);
    assert_eq!((counts.sent, counts.skipped.get("missing_field")), (1, Some(&1)), "{counts:?}");
    assert_eq!(inbox(&mill), [("en@example.com".to_owned(), "Subject en".to_owned())]);
}

#[test]
fn a_recipient_keeps_their_language_through_crashes_retries_and_resends() {
    let mill = Mill::new();
    contact(&mill, "de@example.com", json!({ "language": "de" }));
    let new = mailing(&mill, ["<p>Hi</p>", "<p>Hallo</p>"]);
    let batch = write(&mill, move |tx| sending::open(tx, new).expect("a right mailing"));
    while mill.wait(sending::plan(mill.engine(), Environment::Test)).expect("planning does not fail") {}
    let (number, planned) = sending::recipients(&mill.read(), batch, 0, 10, |_, _| true).expect("readable").rows.remove(0);
    assert_eq!(planned.translation, 1);
    let schedule = Schedule { first_pause_ms: 60_000, give_up_ms: 600_000 };
    let events = [
        Event::Claim { epoch: 1 },
        Event::Deferred { reply: "451 later".into(), schedule },
        Event::Claim { epoch: 1 },
        Event::Lost { why: crate::features::sending::Doubt::Crash },
        Event::Resend,
    ];
    for event in events {
        let mailing = sending::by_id(&mill.read(), batch).expect("readable").expect("there");
        let recipient = row(&mill, batch, number);
        let what = format!("{event:?}");
        write(&mill, move |tx| rows::advance(tx, &mailing, number, &recipient, event).expect("readable").expect("allowed"));
        assert_eq!(row(&mill, batch, number).translation, 1, "{what}");
    }
    assert_eq!(run_to_the_end(&mill, batch).sent, 1);
    assert_eq!(inbox(&mill), [("de@example.com".to_owned(), "Subject de".to_owned())]);
}

#[test]
fn an_audience_is_everyone_with_the_projects_id_and_without_one() {
    let mill = Mill::new();
    contact(&mill, "ada@example.com", json!({}));
    contact(&mill, "bob@example.com", json!({}));
    let project = json!(mill.project);
    let mut wanted = json!({ "recipientType": "audience", "from": "n@example.com", "subject": "x", "template": "<p>x</p>" });
    for (recipient_id, project_id) in [(None, Some(&project)), (Some(&project), Some(&project)), (Some(&project), None)] {
        wanted["recipientId"] = recipient_id.cloned().unwrap_or_default();
        wanted["projectId"] = project_id.cloned().unwrap_or_default();
        let batch = mill.post("/v1/sending", wanted.clone()).data();
        assert_eq!(run_to_the_end(&mill, id(&batch, "batchId")).sent, 2, "{wanted}");
        let told = mill.get(&format!("/v1/sending/batches/{}", batch["batchId"].as_str().expect("an id"))).data();
        assert_eq!(told["recipientType"], "audience", "{told}");
    }
    wanted["recipientId"] = json!("66f1a2b3d4e5f60718293a99");
    let refused = mill.post("/v1/sending", wanted.clone());
    assert_eq!((refused.refusal().0, refused.body["data"]["field"].as_str()), (400, Some("projectId")), "{refused:?}");
}
