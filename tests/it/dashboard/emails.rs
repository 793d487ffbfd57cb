//! Tests emails in a browser without scripts: generating, watching the progress, viewing, editing, exporting, and sending a test.

use serde_json::{Value, json};

use super::brands::{HOSTILE, address, is_tame, picture, settled};
use crate::support::Server;
use crate::support::browser::{Browser, Page};
use crate::support::server::BOUNDLESS;
use crate::users::{OWNER, PASSWORD, member, owned, signed_in};

/// Creates a brand with one finished email: returns a signed-in browser, its form token, the brand, and the email's page.
async fn with_an_email<'s>(server: &'s Server) -> (Browser<'s>, String, String, String) {
    let client = server.all();
    let project = client.project("Acme").await;
    let wanted =
        json!({ "projectId": project, "prompt": "Welcome email with 10% off, code HELLO10", "count": 1, "languages": ["en"] });
    let started = client.data("emails.generate", wanted).await;
    let mut browser = Browser::new(server);
    browser.sign_in("/").await;
    let series = format!("/test/emails/series/{}", started["conversationId"].as_str().expect("an id"));
    let home = settled(&mut browser, &series).await.location().to_owned();
    let csrf = browser.get(&home).await.csrf().to_owned();
    (browser, csrf, project, home)
}

#[tokio::test]
async fn an_email_is_generated_watched_and_shown() {
    let server = owned(BOUNDLESS);
    let project = server.all().project("Acme").await;
    let mut browser = Browser::new(&server);
    browser.sign_in("/").await;
    let empty = browser.get("/test/emails").await;
    assert!(empty.text.contains("/test/emails/new?brand=") && empty.text.contains("curl -X POST"), "{}", empty.text);
    let form = browser.get(&format!("/test/emails/new?brand={project}")).await;
    let csrf = form.csrf().to_owned();
    let wrong = [("csrf", csrf.as_str()), ("brand", &project), ("prompt", "Kept <b>"), ("languages", "no language at all")];
    let again = browser.post("/test/emails/new", &wrong).await;
    assert!(again.status == 400 && again.text.contains("Kept &lt;b&gt;") && again.text.contains("data-wrong"), "{}", again.text);
    let right = [
        ("csrf", csrf.as_str()),
        ("brand", &project),
        ("prompt", "Welcome email with 10% off, code HELLO10"),
        ("count", "1"),
        ("languages", "en"),
    ];
    let started = browser.post("/test/emails/new", &right).await;
    assert!(started.status == 303 && started.location().starts_with("/test/emails/series/"), "{}", started.text);
    // A single email redirects to its own page when it is done.
    let done = settled(&mut browser, started.location()).await;
    assert_eq!(done.status, 303, "{}", done.text);
    let home = done.location().to_owned();
    let page = browser.get(&home).await;
    is_tame(&page, &home);
    let id = home.rsplit('/').next().expect("an id").to_owned();
    assert!(page.text.contains(&format!("/test/campaigns/new?emailId={id}")), "{}", page.text);
    assert!(page.text.contains(&format!("<iframe class=\"mail\" src=\"{home}/frame\"")), "{}", page.text);
    let frame = browser.get(&format!("{home}/frame")).await;
    let policy = frame.headers["content-security-policy"].to_str().expect("ASCII");
    assert!(policy.starts_with("sandbox ") && !policy.contains("allow-scripts") && frame.text.contains("HELLO10"), "{policy}");
    assert!(browser.get(&format!("{home}?width=phone")).await.text.contains("device phone"));
    for (part, words) in
        [("document", "HELLO10"), ("text", "HELLO10"), ("versions", "generated"), ("exports", "Klaviyo"), ("try", OWNER)]
    {
        let page = browser.get(&format!("{home}/{part}")).await;
        assert!(page.status == 200 && page.text.to_lowercase().contains(&words.to_lowercase()), "{part}: {}", page.text);
        is_tame(&page, part);
    }
}

/// Returns the value of a hidden field, without HTML escapes.
fn hidden(page: &str, name: &str) -> String {
    let start = page.split(&format!("name=\"{name}\" value=\"")).nth(1).unwrap_or_else(|| panic!("no field {name}: {page}"));
    let value = start.split('"').next().expect("the value ends");
    value
        .replace("&quot;", "\"")
        .replace("&#x27;", "'")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&#x2f;", "/")
        .replace("&amp;", "&")
}

#[tokio::test]
async fn facts_are_corrected_before_an_email_is_written() {
    let server = owned(BOUNDLESS);
    let project = server.all().project("Acme").await;
    let mut browser = Browser::new(&server);
    browser.sign_in("/").await;
    let csrf = browser.get("/test/emails/new").await.csrf().to_owned();
    let prompt = "20% off all mugs until Sunday with the code MUGS20";
    let first = [
        ("csrf", csrf.as_str()),
        ("brand", &project),
        ("prompt", prompt),
        ("languages", "en"),
        ("count", "1"),
        ("act", "review"),
    ];
    let page = browser.post("/test/emails/new", &first).await;
    assert!(page.status == 200 && page.text.contains("value=\"MUGS20\"") && page.text.contains("Code"), "{}", page.text);
    is_tame(&page, "/test/emails/new");
    let mut brief: Value = serde_json::from_str(&hidden(&page.text, "brief")).expect("the brief is JSON");
    brief["constraints"] = json!([{ "kind": "no_images" }, { "kind": "one_button" }]);
    brief["instructions"] = json!([{ "text": "We ship to Norway." }]);
    let facts = brief["facts"].clone();
    let mut fields = vec![("csrf".to_owned(), csrf.clone()), ("brief".to_owned(), brief.to_string())];
    for (index, fact) in facts.as_array().expect("a list").iter().enumerate() {
        let text = fact["text"].as_str().expect("a text");
        fields.push((format!("fact-{index}"), if text == "MUGS20" { "CUPS20".to_owned() } else { text.to_owned() }));
        if fact["kind"] == "percentage" {
            fields.push((format!("drop-{index}"), "1".to_owned()));
        }
    }
    let more = [("brand", project.as_str()), ("prompt", prompt), ("languages", "en"), ("count", "1"), ("button", "Choose a mug")];
    fields.extend(more.map(|(name, value)| (name.to_owned(), value.to_owned())));
    fields.extend([("new-kind", "time"), ("new-text", "9 pm")].map(|(name, value)| (name.to_owned(), value.to_owned())));
    let corrected =
        [("lift-0", "1"), ("say-0", "1"), ("headline", "Mugs for winter"), ("signature", "Bea"), ("signature-title", "Potter")];
    fields.extend(corrected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    fn borrowed(fields: &[(String, String)]) -> Vec<(&str, &str)> {
        fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }
    let again = browser.post("/test/emails/new", &[borrowed(&fields), vec![("act", "review")]].concat()).await;
    assert!(again.text.contains("value=\"CUPS20\"") && again.text.contains("value=\"9 pm\""), "{}", again.text);
    assert!(again.text.contains("one button") && !again.text.contains("no images"), "{}", again.text);
    // The page keeps the corrections if the brief is refused.
    let mut refused = fields.clone();
    let sent = refused.iter_mut().find(|(name, _)| name == "brief").map(|(_, sent)| sent).expect("the brief is sent");
    let code = facts.as_array().expect("a list").iter().position(|fact| fact["kind"] == "code").expect("there is a code");
    brief["facts"][code]["span"] = json!({ "start": 0, "end": 9_000 });
    *sent = brief.to_string();
    let refused = browser.post("/test/emails/new", &borrowed(&refused)).await;
    assert!(refused.status == 400 && refused.text.contains("value=\"CUPS20\""), "{}", refused.text);
    let started = browser.post("/test/emails/new", &borrowed(&fields)).await;
    assert!(started.status == 303, "{}", started.text);
    let id = started.location().rsplit('/').next().expect("an id").to_owned();
    let home = settled(&mut browser, started.location()).await.location().to_owned();
    let status = server.all().data("emails.status", json!({ "conversationId": id })).await;
    let facts = status["brief"]["facts"].as_array().expect("a list");
    let has = |kind: &str, text: &str| facts.iter().any(|fact| fact["kind"] == kind && fact["text"] == text);
    assert!(has("code", "CUPS20") && has("time", "9 pm") && !facts.iter().any(|fact| fact["kind"] == "percentage"), "{status}");
    // The statement that contains the removed percentage is not printed either.
    let text = status["result"]["emails"][0]["text"].as_str().expect("a text");
    assert!(!text.contains("20%"), "{text}");
    assert_eq!(status["brief"]["cta"]["label"]["text"], "Choose a mug");
    assert_eq!((&status["brief"]["headline"]["text"], &status["brief"]["instructions"]), (&json!("Mugs for winter"), &json!([])));
    assert_eq!(status["brief"]["signature"], json!({ "name": "Bea", "title": "Potter" }));
    assert!(
        has("sentence", "We ship to Norway.") && status["brief"]["constraints"] == json!([{ "kind": "one_button" }]),
        "{status}"
    );
    let shown = browser.get(&home).await;
    assert!(shown.text.contains("CUPS20") && shown.text.contains("Facts"), "{}", shown.text);
}

#[tokio::test]
async fn an_email_is_marked_found_edited_and_restored() {
    let server = owned(BOUNDLESS);
    let (mut browser, csrf, project, home) = with_an_email(&server).await;
    let marked = browser.post(&home, &[("csrf", &csrf), ("act", "mark")]).await;
    assert_eq!(marked.status, 303);
    assert!(browser.get(&format!("/test/emails?brand={project}&favorite=1&search=hello10")).await.text.contains("★"));
    assert!(
        browser.get(&format!("/test/emails?brand={project}&search=nothing+like+it")).await.text.contains("No matching emails")
    );

    // The URL of a preview's frame does not contain the prompt, so that the frame cannot run the edit a second time.
    let preview = browser.post(&home, &[("csrf", &csrf), ("act", "preview"), ("prompt", "Make the button green")]).await;
    let frame = address(&preview, &format!("{home}/frame?edit=")).to_owned();
    assert!(!frame.contains("green"), "{frame}");
    let shown = browser.get(&frame).await;
    let policy = shown.headers["content-security-policy"].to_str().expect("ASCII");
    assert!(policy.starts_with("sandbox ") && shown.text.contains("HELLO10"), "{}", shown.text);
    let unknown = browser.get(&format!("{home}/frame?edit={}", "0".repeat(24))).await;
    assert!(unknown.status == 404 && unknown.text.contains("Preview the edit again."), "{}", unknown.text);
    let previewed = hidden(&preview.text, "edit");
    let (save, none) = ([("csrf", csrf.as_str()), ("act", "save"), ("prompt", "Make it green")], "0".repeat(24));
    let gone = browser.post(&home, &[&save[..], &[("edit", &none)]].concat()).await;
    assert!(gone.status == 409 && gone.text.contains("Make it green"), "the prompt stays in the field: {}", gone.text);
    let edited = browser.post(&home, &[&save[..], &[("edit", &previewed)]].concat()).await;
    assert!(edited.status == 303 && edited.location().ends_with(&format!("?edit={previewed}")), "{}", edited.text);
    let changed = settled(&mut browser, edited.location()).await;
    assert!(changed.text.contains("<h2>Email edited</h2>") && changed.text.contains("This is version 2"), "{}", changed.text);
    let unknown = browser.post(&home, &[("csrf", &csrf), ("act", "edit"), ("prompt", "Xyzzy plugh <b>")]).await;
    let unknown = settled(&mut browser, unknown.location()).await;
    assert!(unknown.text.contains("Nothing was changed"), "{}", unknown.text);
    let restored = browser.post(&format!("{home}/versions"), &[("csrf", &csrf), ("version", "1")]).await;
    assert_eq!((restored.status, restored.location()), (303, format!("{home}?done=restored").as_str()));
    assert!(browser.get(&format!("{home}/versions")).await.text.contains("Version 3"));
    let late = browser.post(&home, &[("csrf", &csrf), ("act", "add"), ("version", "1"), ("warning", "0")]).await;
    assert!(late.status == 409 && late.text.contains("so your action had no effect"), "{}", late.text);
}

/// Users without scripts need a form for the layout and the colors of an email.
#[tokio::test]
async fn the_style_of_an_email_is_changed_with_a_form() {
    let server = owned(BOUNDLESS);
    let (mut browser, csrf, _, home) = with_an_email(&server).await;
    let (editor, id) = (format!("{home}/document"), home.rsplit('/').next().expect("an id").to_owned());
    let form = |color: &'static str, version: &'static str| {
        let fields = [("f.layout", "letter"), ("f.corners", ""), ("f.primary", color), ("f.button", "")];
        [vec![("csrf", csrf.as_str()), ("act", "style"), ("version", version)], fields.to_vec()].concat()
    };
    let saved = browser.post(&editor, &form("#112233", "1")).await;
    assert_eq!((saved.status, saved.location()), (303, format!("{editor}?done=saved#style").as_str()), "{}", saved.text);
    let style = server.all().data("emails.get", json!({ "emailId": id })).await["document"]["style"].clone();
    assert_eq!((&style["layout"], &style["primary"], &style["corners"]), (&json!("letter"), &json!("#112233"), &Value::Null));
    assert!(browser.get(&editor).await.text.contains("value=\"#112233\""));
    let wrong = browser.post(&editor, &form("#12", "2")).await;
    assert!(wrong.status == 400 && wrong.text.contains("Main color") && wrong.text.contains("value=\"#12\""), "{}", wrong.text);
}

/// Users without scripts need a form that uploads and crops images.
#[tokio::test]
async fn an_image_is_uploaded_and_cropped_with_a_form() {
    let server = owned(BOUNDLESS);
    let client = server.all();
    let (mut browser, csrf, _, home) = with_an_email(&server).await;
    let (editor, id) = (format!("{home}/document"), home.rsplit('/').next().expect("an id").to_owned());
    let quote = json!({ "type": "quote", "id": "praise", "text": "Lovely", "author": "Ada" });
    let insert = json!([{ "op": "insert", "after": "header", "value": quote }]);
    client.data("emails.document_update", json!({ "emailId": id, "operations": insert })).await;
    let page = browser.get(&editor).await;
    assert!(page.text.contains("name=\"file.image.src\"") && page.text.contains("multipart/form-data"), "{}", page.text);
    let form = |version: &'static str, url: &str, shape: &'static str| {
        let own = [("act", "save"), ("block", "praise"), ("version", version), ("f.text", "Lovely"), ("f.author", "Ada")];
        let image = [("f.image.alt", "A cup"), ("shape.image.src", shape), ("focus.image.src", "0:50")];
        let all = own.into_iter().chain(image).chain([("csrf", csrf.as_str()), ("f.image.src", url)]);
        all.map(|(name, value)| (name.to_owned(), value.to_owned())).collect::<Vec<_>>()
    };
    fn borrowed(fields: &[(String, String)]) -> Vec<(&str, &str)> {
        fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }
    let red = picture([200, 20, 20]);
    let broken = ("file.image.src", "cup.png", "image/png", b"nonsense".as_slice());
    let refused = browser.post_file(&editor, &borrowed(&form("2", "", "")), broken).await;
    assert!(refused.status == 400 && refused.text.contains("value=\"A cup\""), "{}", refused.text);
    let file = ("file.image.src", "cup.png", "image/png", red.as_slice());
    let saved = browser.post_file(&editor, &borrowed(&form("2", "", "")), file).await;
    assert_eq!((saved.status, saved.location()), (303, format!("{editor}?done=saved#b-praise").as_str()), "{}", saved.text);
    let shown = async || {
        let blocks = client.data("emails.get", json!({ "emailId": id })).await["document"]["blocks"].clone();
        blocks.as_array().expect("a list").iter().find(|block| block["id"] == "praise").expect("the block")["image"].clone()
    };
    let image = shown().await;
    assert_eq!((&image["width"], &image["height"], &image["alt"]), (&json!(40), &json!(30), &json!("A cup")));
    let url = image["src"].as_str().expect("a URL").to_owned();
    // The image of the block is cropped.
    let saved = browser.post(&editor, &borrowed(&form("3", &url, "1:1"))).await;
    assert_eq!(saved.status, 303, "{}", saved.text);
    let image = shown().await;
    assert_eq!((&image["width"], &image["height"]), (&json!(30), &json!(30)));
    assert!(image["src"] != url.as_str());
}

/// Users without scripts also see the warnings about a change, and a new block for products shows the brand's products.
#[tokio::test]
async fn the_forms_of_the_editor_show_warnings_and_insert_products_of_the_brand() {
    let server = owned(BOUNDLESS);
    let client = server.all();
    let (mut browser, csrf, project, home) = with_an_email(&server).await;
    let (editor, id) = (format!("{home}/document"), home.rsplit('/').next().expect("an id").to_owned());
    let url = "https://acme.example/bowl";
    let product = json!({ "projectId": project, "name": "Ember bowl", "price": "36", "currency": "GBP", "url": url });
    client.data("projects.products_add", product).await;
    let block = client.data("emails.get", json!({ "emailId": id })).await["document"]["blocks"][1]["id"].clone();
    let block = block.as_str().expect("an ID");
    let insert = [("csrf", csrf.as_str()), ("act", "insert"), ("version", "1"), ("block", block), ("kind", "products")];
    assert_eq!(browser.post(&editor, &insert).await.status, 303);
    let document = client.data("emails.get", json!({ "emailId": id })).await["document"].to_string();
    assert!(document.contains("Ember bowl") && document.contains("£36"), "{document}");
    let headline = [("subject", "Now 15% off"), ("preheader", "Hello"), ("version", "2"), ("act", "headline"), ("csrf", &csrf)];
    assert_eq!(browser.post(&editor, &headline).await.status, 303);
    let page = browser.get(&editor).await;
    assert!(
        page.text.contains("<h2>Warnings</h2>") && page.text.contains("15%") && page.text.contains("value=\"accept\""),
        "{}",
        page.text
    );
    // The warning about the missing address leads to the field that fills it.
    let field = format!("href=\"/test/brands/{project}/details?focus=address#address\"");
    for shown in [page, browser.get(&home).await] {
        assert!(shown.text.contains(&field), "{}", shown.text);
    }
    let index = |page: &Page| {
        let (before, _) = page.text.split_once("value=\"accept\"").expect("a button");
        before.rsplit("name=\"warning\" value=\"").next().and_then(|rest| rest.split('"').next()).expect("an index").to_owned()
    };
    let number = index(&browser.get(&home).await);
    let accept = [("csrf", csrf.as_str()), ("act", "accept"), ("version", "3"), ("warning", &number)];
    assert_eq!(browser.post(&home, &accept).await.status, 303);
    assert!(!browser.get(&home).await.text.contains("value=\"accept\""));
}

/// A user who changes a block that another user has deleted sees the reason, not the page "Page not found".
#[tokio::test]
async fn a_change_of_a_deleted_block_is_refused_on_the_page() {
    let server = owned(BOUNDLESS);
    let (mut browser, csrf, _, home) = with_an_email(&server).await;
    let editor = format!("{home}/document");
    let id = home.rsplit('/').next().expect("an id");
    let email = server.all().data("emails.get", json!({ "emailId": id })).await;
    let block = email["document"]["blocks"][2]["id"].as_str().expect("the block has an ID").to_owned();
    let act = |act| [("csrf", csrf.as_str()), ("act", act), ("block", block.as_str()), ("version", "1")];
    let removed = browser.post(&editor, &act("remove")).await;
    assert_eq!((removed.status, removed.location()), (303, format!("{editor}?done=saved#blocks").as_str()), "{}", removed.text);
    for word in ["remove", "save", "up", "keep", "insert"] {
        let late = browser.post(&editor, &act(word)).await;
        assert!(late.status == 409 && late.text.contains("This block no longer exists"), "{word}: {}", late.text);
        assert!(late.text.contains("data-wrong"), "{word}: {}", late.text);
    }
}

#[tokio::test]
async fn findings_of_the_checks_are_shown_fixed_and_ignored() {
    let server = owned(BOUNDLESS);
    let client = server.all();
    let project = client.project("Acme").await;
    let source = "<html lang=en><head><title>Garden <b></title></head><body>\n<p>You will recieve our news about the garden.</p>\n\
                  <img src=\"https://example.com/a.png\" width=\"600\" height=\"300\"></body></html>";
    let made = client.data("emails.import_html", json!({ "projectId": project, "html": source })).await;
    let mut browser = Browser::new(&server);
    browser.sign_in("/").await;
    let series = format!("/test/emails/series/{}", made["conversationId"].as_str().expect("an id"));
    let home = settled(&mut browser, &series).await.location().to_owned();
    let checks = format!("{home}/checks");
    let page = settled(&mut browser, &checks).await;
    is_tame(&page, &checks);
    for part in [
        "“recieve” is misspelled.",
        "Replace “recieve” with “receive”",
        "has no alt attribute",
        "Line ",
        "Email clients",
        "Check again",
    ] {
        assert!(page.text.contains(part), "{part} is missing: {}", page.text);
    }
    let csrf = page.csrf().to_owned();
    let finding = |page: &Page, sentence: &str| {
        let before = page.text.split(sentence).next().expect("text");
        before.rsplit("id=\"finding-").next().expect("an id").chars().take(12).collect::<String>()
    };
    let word = finding(&page, "“recieve” is misspelled.");
    let image = finding(&page, "has no alt attribute");
    let (csrf, word, image) = (csrf.as_str(), word.as_str(), image.as_str());
    let act = |act, finding, version| [("csrf", csrf), ("act", act), ("finding", finding), ("version", version)];
    let fixed = browser.post(&checks, &act("fix", word, "1")).await;
    assert_eq!((fixed.status, fixed.location()), (303, format!("{checks}?done=fixed").as_str()), "{}", fixed.text);
    let page = settled(&mut browser, &checks).await;
    assert!(!page.text.contains("recieve") && page.text.contains("Version 2"), "{}", page.text);
    let late = browser.post(&checks, &act("fix", image, "1")).await;
    assert!(late.status == 409 && late.text.contains("is now the current version"), "{}", late.text);
    assert_eq!(browser.post(&checks, &act("ignore", image, "2")).await.status, 303);
    let page = browser.get(&checks).await;
    assert!(page.text.contains("Stop ignoring") && page.text.contains("id=\"ignored\""), "{}", page.text);
    assert!(!browser.get(&home).await.text.contains("has no alt attribute"), "an ignored finding is not a warning");
    assert_eq!(browser.post(&checks, &act("notice", image, "2")).await.status, 303);
    assert!(browser.get(&home).await.text.contains("has no alt attribute"));
    assert_eq!(browser.post(&checks, &act("check", "", "2")).await.location(), format!("{checks}?done=checked"));
}

#[tokio::test]
async fn an_email_is_exported_in_every_format_and_sent_as_a_test() {
    let server = owned(BOUNDLESS);
    let (mut browser, csrf, _, home) = with_an_email(&server).await;
    for (format, content_type) in
        [("html", "text/html"), ("mjml", "text/plain"), ("png", "image/png"), ("pdf", "application/pdf")]
    {
        let page = browser.get(&format!("{home}/exports?format={format}")).await;
        let path = address(&page, "/v1/files/").to_owned();
        let file = browser.get(&path).await;
        assert!(file.status == 200 && file.headers["content-type"].to_str().expect("ASCII").starts_with(content_type), "{path}");
    }

    let wrong = browser.post(&format!("{home}/try"), &[("csrf", &csrf), ("to", "no address")]).await;
    assert!(
        wrong.status == 400 && wrong.text.contains("value=\"no address\"") && wrong.text.contains("data-wrong"),
        "{}",
        wrong.text
    );
    let sent = browser.post(&format!("{home}/try"), &[("csrf", &csrf), ("to", OWNER)]).await;
    assert_eq!((sent.status, sent.location()), (303, format!("{home}/try?done=sent").as_str()), "{}", sent.text);
}

#[tokio::test]
async fn emails_of_a_series_are_side_by_side_and_link_to_each_other() {
    let server = owned(BOUNDLESS);
    let project = server.all().project("Acme").await;
    let mut browser = Browser::new(&server);
    browser.sign_in("/").await;
    let csrf = browser.get("/test/emails/new").await.csrf().to_owned();
    let fields =
        [("csrf", csrf.as_str()), ("brand", &project), ("prompt", "Welcome series"), ("count", "2"), ("languages", "en, de")];
    let started = browser.post("/test/emails/new", &fields).await;
    let path = started.location().to_owned();
    let page = settled(&mut browser, &path).await;
    assert_eq!(page.text.matches("class=\"card tile\"").count(), 4, "{}", page.text);
    assert!(page.text.contains("/v1/files/"), "screenshots stand beside the words: {}", page.text);
    is_tame(&page, &path);
    let emails = server.all().data("emails.status", json!({ "conversationId": path.rsplit('/').next().expect("an id") })).await;
    let one = browser.get(&format!("/test/emails/{}", emails["result"]["emails"][0]["id"].as_str().expect("an id"))).await;
    assert!(one.text.contains("All 4 emails") && one.text.contains("2 de"), "{}", one.text);
    let again = browser.get(&format!("/test/emails/new?brand={project}&from={}", path.rsplit('/').next().expect("an id"))).await;
    assert!(again.text.contains(">Welcome series</textarea>"), "{}", again.text);
}

#[tokio::test]
async fn an_imported_email_stays_in_its_frame() {
    let server = owned(BOUNDLESS);
    let project = server.all().project("Acme").await;
    let mut browser = Browser::new(&server);
    browser.sign_in("/").await;
    let csrf = browser.get("/test/emails/import").await.csrf().to_owned();
    let empty = browser.post("/test/emails/import", &[("csrf", &csrf), ("brand", &project), ("source", "")]).await;
    assert!(empty.status == 400 && empty.text.contains("data-wrong"), "{}", empty.text);
    let html = format!("<html><head><title>{HOSTILE}</title></head><body><h1>Hello</h1><script>alert(1)</script></body></html>");
    let fields = [("csrf", csrf.as_str()), ("brand", &project), ("name", HOSTILE)];
    let started = browser.post_file("/test/emails/import", &fields, ("file", "mail.html", "text/html", html.as_bytes())).await;
    assert_eq!(started.status, 303, "{}", started.text);
    let done = settled(&mut browser, started.location()).await;
    let home = done.location().to_owned();
    for part in ["", "/document", "/text", "/versions", "/exports", "/try"] {
        let path = format!("{home}{part}");
        let page = browser.get(&path).await;
        assert_eq!(page.status, 200, "{path}");
        is_tame(&page, &path);
    }
    assert!(browser.get(&format!("{home}/exports")).await.text.contains("unavailable"), "there is no MJML of it");
    is_tame(&browser.get(&format!("/test/emails?brand={project}")).await, "the list");
    assert!(!browser.get(&format!("{home}/frame")).await.text.contains("<script"));
}

#[tokio::test]
async fn a_viewer_of_emails_is_refused_with_a_page() {
    let server = owned(BOUNDLESS);
    let project = server.all().project("Acme").await;
    let owner = signed_in(&server, OWNER, "test").await;
    member(&server, &owner, "viewer@example.com", json!({ "role": "viewer" })).await;
    let mut browser = Browser::new(&server);
    let csrf = browser.get("/signin").await.csrf().to_owned();
    let fields = [("csrf", csrf.as_str()), ("email", "viewer@example.com"), ("password", PASSWORD), ("next", "/")];
    assert_eq!(browser.post("/signin", &fields).await.status, 303);
    let list = browser.get("/test/emails").await;
    assert!(list.status == 200 && !list.text.contains("/test/emails/new"), "{}", list.text);
    let csrf = browser.get("/test/emails/new").await.csrf().to_owned();
    let refused = browser.post("/test/emails/new", &[("csrf", &csrf), ("brand", &project), ("prompt", "Hello")]).await;
    assert_eq!(refused.status, 403, "{}", refused.text);
    for path in ["/test/emails/66f1a2b3d4e5f60718293a4e", "/test/emails/x/frame", "/test/emails/series/x", "/test/emails?brand=x"]
    {
        let page = browser.get(path).await;
        assert!(matches!(page.status, 400 | 404), "{path}: {}", page.status);
    }
}
