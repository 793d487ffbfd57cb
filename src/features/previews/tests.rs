//! Tests previews through the operations and the worker.

use serde_json::{Value, json};

use super::worker;
use crate::testing::TestApp;
use crate::vocab::environment::Environment;
use crate::vocab::limits;

const PATH: &str = "/v1/emails/previews";
const HTML: &str = "<html lang=en><body><p style=\"border-radius:4px;color:#222222\">Hello, {{ first_name }}!</p></body></html>";

fn create(app: &TestApp, body: &Value) -> Value {
    app.post(PATH, body.clone()).data()
}

fn work(app: &TestApp) {
    app.wait(worker::draw(app.engine().clone(), Environment::Test)).expect("the step succeeds");
}

fn get(app: &TestApp, preview: &Value) -> Value {
    app.get(&format!("{PATH}/{}", preview["previewId"].as_str().expect("an ID"))).data()
}

/// Downloads a picture of a preview from its link and decodes the picture.
fn file(app: &TestApp, url: &Value) -> image::DynamicImage {
    let url = url.as_str().expect("a link");
    let (status, _, bytes) = app.download(&url[url.find("/v1/files/").expect("a path")..]);
    assert_eq!(status, 200);
    image::load_from_memory(&bytes).expect("a picture")
}

#[test]
fn devices_are_drawn_in_the_background_with_their_cuts() {
    let app = TestApp::new();
    let devices = ["outlook.desktop-windows", "apple-mail.ios", "outlook.windows", "plain.text"];
    let made = create(&app, &json!({ "html": HTML, "devices": devices, "name": "Spring" }));
    assert_eq!(
        (&made["status"], &made["cached"], &made["subject"]),
        (&json!("PROCESSING"), &json!(false), &json!("Email Preview"))
    );
    let metadata = json!({ "requestedDevices": 3, "completedDevices": 0, "failedDevices": 0, "processingDevices": 3 });
    assert_eq!(made["metadata"], metadata, "the alias and the key are one device");
    work(&app);
    let done = get(&app, &made);
    assert_eq!((&done["status"], &done["metadata"]["completedDevices"]), (&json!("COMPLETED"), &json!(3)));
    let [word, apple, text] = [0, 1, 2].map(|index| &done["devices"][index]);
    assert_eq!(
        (&word["deviceKey"], &word["tier"], &word["engine"]),
        (&json!("outlook.windows"), &json!("approximated"), &json!("embedded"))
    );
    assert_eq!((&word["cuts"][0]["slug"], &word["cuts"][0]["line"]), (&json!("css-border-radius"), &json!(1)));
    assert_eq!((&apple["cuts"], &apple["dataVersion"]), (&json!([]), &json!("2026-05-13")));
    let (shot, top, full) =
        (file(&app, &apple["screenshotUrl"]), file(&app, &apple["thumbnailUrl"]), file(&app, &apple["fullThumbnailUrl"]));
    assert_eq!(apple["viewportWidth"], 393);
    assert_eq!((json!(shot.width()), json!(shot.height())), (apple["width"].clone(), apple["height"].clone()));
    assert_eq!((top.width(), full.width()), (limits::EMAIL_PREVIEW_THUMBNAIL_PX, limits::EMAIL_PREVIEW_THUMBNAIL_PX));
    assert_eq!(file(&app, &text["screenshotUrl"]).width(), 1_200 / 2);
    let path = format!("{PATH}/{}", done["previewId"].as_str().expect("an ID"));
    assert_eq!(app.get(&format!("{path}/status")).data()["metadata"], done["metadata"]);
    assert_eq!(app.get(&format!("{path}/devices/outlook.desktop-windows")).data()["device"]["deviceKey"], "outlook.windows");
    let absent = app.get(&format!("{path}/devices/gmail.ios"));
    let (status, _, detail) = absent.refusal();
    assert!(status == 404 && detail.contains("outlook.windows, apple-mail.ios"), "{detail}");
}

#[test]
fn the_same_content_is_drawn_once() {
    let app = TestApp::new();
    let body = json!({ "html": HTML, "devices": ["gmail.ios", "gmail.ios.dark"] });
    let first = create(&app, &body);
    // A second preview of the same content waits for the same renderings if the first preview has not been drawn yet.
    let second = create(&app, &body);
    work(&app);
    let files = |preview: &Value| {
        get(&app, preview)["devices"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|one| one["screenshotUrl"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!((files(&first), get(&app, &second)["status"].as_str()), (files(&second), Some("COMPLETED")));
    let third = create(&app, &body);
    assert_eq!(
        (&third["status"], &third["cached"], &third["metadata"]["processingTime"]),
        (&json!("COMPLETED"), &json!(true), &json!(0))
    );
    assert_eq!(files(&third), files(&first));
    let other = create(&app, &json!({ "html": HTML, "devices": ["gmail.ios", "gmail.android"] }));
    let cached: Vec<&Value> = other["devices"].as_array().expect("a list").iter().map(|device| &device["cached"]).collect();
    assert_eq!((&other["cached"], cached), (&json!(false), vec![&json!(true), &json!(false)]));
    // After a day, the images of the email may have changed.
    app.clock.advance_ms(limits::EMAIL_PREVIEW_SHARED_MS);
    assert_eq!(create(&app, &body)["cached"], false);
}

#[test]
fn a_stored_email_is_shown_with_its_own_text_part() {
    let app = TestApp::new();
    let imported = app.post_in("/v1/projects/emails/import-html", json!({ "html": HTML, "name": "Hello" })).data();
    while app.wait(crate::features::emails::worker::generate(app.engine().clone(), Environment::Test)).expect("a step")
        == crate::engine::runner::Step::More
    {}
    let path = format!("/v1/projects/emails/{}/status", imported["conversationId"].as_str().expect("an ID"));
    let email = app.get(&path).data()["result"]["emails"][0].clone();
    let made = create(&app, &json!({ "emailId": email["emailId"], "devices": ["plain.text", "fastmail.desktop-webmail"] }));
    assert_eq!((&made["emailId"], &made["subject"]), (&email["emailId"], &email["subject"]));
    work(&app);
    assert_eq!(get(&app, &made)["status"], "COMPLETED");
}

#[test]
fn requests_without_one_source_or_with_unknown_devices_are_refused() {
    let app = TestApp::new();
    for (body, expected) in [
        (
            json!({ "html": HTML, "devices": ["apple-mail.ios", "gmail"] }),
            "devices[1]: \"gmail\" is not a device; the most similar devices are gmail.",
        ),
        (json!({}), "html: set `html` to the email's HTML"),
        (json!({ "html": "  " }), "html: must not be blank"),
        (json!({ "html": "x", "emailId": "66f1a2b3d4e5f60718293a4e" }), "emailId: set either `html` or `emailId`"),
        (json!({ "html": "x".repeat(limits::HTML_IMPORT_BYTES_MAX + 1) }), "html: the HTML is"),
        (json!({ "html": "x", "devices": vec!["gmail.ios"; 101] }), "devices: list at most 100 devices; this list has 101"),
    ] {
        let answer = app.post(PATH, body);
        let (status, _, detail) = answer.refusal();
        assert!(status == 400 && detail.starts_with(expected), "{detail}");
    }
    assert_eq!(app.post(PATH, json!({ "emailId": "66f1a2b3d4e5f60718293a4e" })).refusal().0, 404);
    assert_eq!(app.get(&format!("{PATH}/66f1a2b3d4e5f60718293a4e")).refusal().0, 404);
}

#[test]
fn html_that_cannot_be_drawn_fails_with_a_reason() {
    let app = TestApp::new();
    let made = create(&app, &json!({ "html": "<div>".repeat(5_000), "devices": ["gmail.ios"] }));
    work(&app);
    let done = get(&app, &made);
    assert_eq!((&done["status"], &done["devices"][0]["status"]), (&json!("FAILED"), &json!("FAILED")));
    assert!(done["devices"][0]["error"].as_str().is_some_and(|reason| !reason.is_empty()), "{done}");
    // A failure is not shared. The next request renders the email again.
    assert_eq!(create(&app, &json!({ "html": "<div>".repeat(5_000), "devices": ["gmail.ios"] }))["status"], "PROCESSING");
}

#[test]
fn the_queue_of_an_account_is_bounded_and_a_repeat_gets_the_first_response() {
    let app = TestApp::new();
    let body = |number: usize| json!({ "html": format!("<p>{number}"), "devices": ["gmail.ios"] });
    let first = app.post_keyed(PATH, "one", body(0)).data();
    assert_eq!(app.post_keyed(PATH, "one", body(0)).data()["previewId"], first["previewId"]);
    for number in 1..limits::EMAIL_PREVIEWS_WAITING_PER_ACCOUNT_MAX {
        create(&app, &body(number));
    }
    assert_eq!(app.post(PATH, body(99)).refusal().1, "LIMIT_REACHED");
    work(&app);
    create(&app, &body(99));
}

#[test]
fn an_interrupted_preview_continues_and_gives_up_after_several_attempts() {
    let app = TestApp::new();
    let made = create(&app, &json!({ "html": HTML, "devices": ["gmail.ios"] }));
    let app = app.restarted();
    work(&app);
    assert_eq!(get(&app, &made)["status"], "COMPLETED");
    let hopeless = create(&app, &json!({ "html": "<p>Hopeless", "devices": ["gmail.ios"] }));
    let id = crate::vocab::ids::PreviewId::parse(hopeless["previewId"].as_str().expect("an ID")).expect("a valid ID");
    let account = app.account();
    let interrupt = move |tx: &mut crate::engine::store::WriteTx<'_>| -> crate::engine::store::Result<()> {
        let mut preview = super::store::preview(tx, account, id)?.expect("the preview exists");
        preview.attempts = limits::EMAIL_PREVIEW_ATTEMPTS_MAX;
        super::store::save(tx, account, &preview);
        Ok(())
    };
    app.wait(app.data().store.write(interrupt)).expect("the store works").expect("the store works");
    work(&app);
    let done = get(&app, &hopeless);
    assert_eq!(done["status"], "FAILED");
    assert!(done["devices"][0]["error"].as_str().is_some_and(|reason| reason.contains("interrupted")), "{done}");
}

#[test]
fn old_previews_are_deleted_with_the_drawings_that_no_other_preview_uses() {
    let app = TestApp::new();
    let body = json!({ "html": HTML, "devices": ["gmail.ios"] });
    let old = create(&app, &body);
    work(&app);
    let picture = get(&app, &old)["devices"][0]["screenshotUrl"].as_str().expect("a link").to_owned();
    let rows = |app: &TestApp| {
        use crate::vocab::tables::{PREVIEW_DIGESTS, PREVIEW_DRAWINGS, PREVIEW_QUEUE, PREVIEWS, PREVIEWS_BY_TIME};
        [PREVIEWS, PREVIEWS_BY_TIME, PREVIEW_QUEUE, PREVIEW_DRAWINGS, PREVIEW_DIGESTS]
            .map(|table| app.read().rows(table).expect("the store can be read"))
    };
    assert_eq!(rows(&app), [1, 1, 0, 1, 1]);
    app.clock.advance_ms(limits::EMAIL_PREVIEW_SHARED_MS / 2);
    let young = create(&app, &body);
    assert_eq!((young["cached"].clone(), rows(&app)), (json!(true), [2, 2, 0, 1, 1]));
    let sweep = |app: &TestApp| {
        app.wait(app.data().store.write(super::sweep)).expect("the store works").expect("the store works");
        while app.wait(app.data().store.write(crate::engine::store::blobs::sweep)).expect("it works").expect("it works") {}
    };
    app.clock.advance_ms(limits::EMAIL_PREVIEW_KEPT_MS - limits::EMAIL_PREVIEW_SHARED_MS / 2);
    sweep(&app);
    assert_eq!(rows(&app), [1, 1, 0, 1, 1], "the younger preview keeps the rendering");
    assert_eq!(get(&app, &young)["devices"][0]["status"], "SUCCESSFUL");
    app.clock.advance_ms(limits::EMAIL_PREVIEW_KEPT_MS);
    sweep(&app);
    assert_eq!(rows(&app), [0; 5]);
    assert_eq!(app.download(&picture[picture.find("/v1/files/").expect("a path")..]).0, 404);
}

#[test]
fn an_account_keeps_a_limited_number_of_previews() {
    let app = TestApp::new();
    let body = json!({ "html": HTML, "devices": ["gmail.ios"] });
    let first = create(&app, &body);
    work(&app);
    for _ in 0..limits::EMAIL_PREVIEWS_KEPT_MAX {
        app.clock.advance_ms(1_000);
        create(&app, &body);
    }
    assert_eq!(app.read().rows(crate::vocab::tables::PREVIEWS).expect("it can be read"), limits::EMAIL_PREVIEWS_KEPT_MAX as u64);
    assert_eq!(app.get(&format!("{PATH}/{}", first["previewId"].as_str().expect("an ID"))).refusal().0, 404);
    // Later previews use the same rendering, so it was not deleted with the first preview.
    assert_eq!(create(&app, &body)["cached"], true);
}

#[test]
fn the_supported_devices_are_listed_by_category() {
    let app = TestApp::new();
    let list = app.get("/v1/emails/devices/supported").data();
    let total: usize =
        ["desktop", "mobile", "web", "misc"].iter().map(|name| list["categories"][name].as_array().expect("a list").len()).sum();
    assert_eq!((list["total"].as_u64(), total), (Some(50), 50));
    let defaults = list["devices"].as_array().expect("a list").iter().filter(|device| device["isDefault"] == true);
    assert_eq!((defaults.count(), &list["categories"]["misc"]), (10, &json!(["plain.text"])));
}
