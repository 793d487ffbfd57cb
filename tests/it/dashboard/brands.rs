//! Tests brands in a browser without scripts: importing a brand, viewing it, and every form of its pages.

use std::io::Cursor;
use std::time::Duration;

use serde_json::json;

use crate::sites;
use crate::support::browser::{Browser, Page};
use crate::support::server::BOUNDLESS;
use crate::users::{OWNER, PASSWORD, member, owned, signed_in};

const LOOK: Duration = Duration::from_millis(100);
const PATIENCE: Duration = Duration::from_secs(300);
/// Hostile markup, used as a brand's name and in the fields of forms.
pub const HOSTILE: &str = "\"><script>alert(1)</script><img src=x onerror=alert(1)>'{{ 7*7 }}";

/// Checks that a page does not contain the markup.
pub fn is_tame(page: &Page, path: &str) {
    assert!(!page.text.contains("<script>alert") && !page.text.contains("<img src=x"), "{path}: {}", page.text);
    assert!(!page.text.contains("style=\"") && !page.text.contains("onclick="), "{path}");
    assert!(page.text.len() < 60_000, "{path} has {} bytes", page.text.len());
}

/// Returns a picture file of this color.
pub fn picture(color: [u8; 3]) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    image::RgbImage::from_pixel(40, 30, image::Rgb(color)).write_to(&mut out, image::ImageFormat::Png).expect("memory");
    out.into_inner()
}

/// Returns the page once no work is in progress there.
pub async fn settled(browser: &mut Browser<'_>, path: &str) -> Page {
    let looking = async {
        loop {
            let page = browser.get(path).await;
            if !page.text.contains("data-live") {
                return page;
            }
            assert!(page.text.contains("http-equiv=\"refresh\""), "without scripts the page renews itself: {}", page.text);
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::time::timeout(PATIENCE, looking).await.expect("the work ends in time")
}

/// Returns the first URL in the page with this prefix.
pub fn address<'p>(page: &'p Page, beginning: &str) -> &'p str {
    let at = page.text.find(beginning).unwrap_or_else(|| panic!("an address {beginning}…: {}", page.text));
    page.text[at..].split('"').next().expect("it ends")
}

#[tokio::test]
async fn a_brand_is_imported_from_its_website_and_its_pictures_are_served_locally() {
    let server = owned(&sites::settings());
    let (site, _) = sites::serve("shop");
    let mut browser = Browser::new(&server);
    browser.sign_in("/").await;
    let empty = browser.get("/test/brands").await;
    assert!(empty.text.contains("href=\"/test/brands/new\"") && empty.text.contains("curl -X POST"), "{}", empty.text);
    let form = browser.get("/test/brands/new").await;
    let wrong = [("csrf", form.csrf()), ("urls", "https://user@example.com"), ("name", "Kept <b>")];
    let again = browser.post("/test/brands/new", &wrong).await;
    assert_eq!(again.status, 400);
    assert!(again.text.contains("user name") && again.text.contains("value=\"Kept &lt;b&gt;\""), "{}", again.text);
    let urls = format!("http://{site}");
    let right = [("csrf", form.csrf()), ("urls", urls.as_str()), ("name", "The shop"), ("about", "We deliver within two days.")];
    let started = browser.post("/test/brands/new", &right).await;
    assert_eq!(started.status, 303, "{}", started.text);
    let home = started.location().to_owned();
    let page = settled(&mut browser, &home).await;
    assert!(page.text.contains("The shop") && page.text.contains("fill=\"#"), "{}", page.text);
    is_tame(&page, &home);
    let look = browser.get(&format!("{home}/look")).await;
    let shown = address(&look, &format!("{home}/picture?of=")).to_owned();
    let small = browser.get(&shown).await;
    assert!(small.status == 200 && small.headers["content-type"].to_str().expect("ASCII").starts_with("image/"), "{shown}");
    let elsewhere = browser.get(&format!("{home}/picture?of=http%3A%2F%2Felsewhere.example%2Fa.png")).await;
    assert_eq!(elsewhere.status, 404);
    let knowledge = browser.get(&format!("{home}/knowledge")).await;
    assert!(knowledge.text.contains("We deliver within two days."), "{}", knowledge.text);
    let list = browser.get("/test/brands").await;
    assert!(list.text.contains("The shop") && list.text.contains("swatch"), "{}", list.text);
    // A changed product gets its imported values back.
    let project = home.rsplit('/').next().expect("an id").to_owned();
    let client = server.all();
    let first = async || client.data("projects.products_list", json!({ "projectId": project })).await["products"][0].clone();
    let (imported, products) = (first().await, format!("{home}/products"));
    let [id, name] = ["id", "name"].map(|field| imported[field].as_str().expect("a text").to_owned());
    assert!(!browser.get(&products).await.text.contains("Use the imported values"));
    let act =
        |act| [("csrf", page.csrf()), ("act", act), ("product", id.as_str()), ("name", "Mine"), ("was.name", name.as_str())];
    assert_eq!(browser.post(&products, &act("save")).await.status, 303);
    assert_eq!(first().await["name"], "Mine");
    assert!(browser.get(&products).await.text.contains("value=\"restore\""));
    assert_eq!(browser.post(&products, &act("restore")).await.status, 303);
    assert_eq!(first().await, imported);
    // A second import of the site offers to import the brand again, and keeps the text about the brand.
    let again =
        browser.post("/test/brands/new", &[("csrf", page.csrf()), ("urls", &urls), ("about", "We also repair pots.")]).await;
    assert!(again.text.contains("Import The shop again"), "{}", again.text);
    assert!(again.text.contains("type=\"hidden\" name=\"about\" value=\"We also repair pots.\""), "{}", again.text);
    let retry = [("csrf", page.csrf()), ("act", "retry"), ("about", "We also repair pots.")];
    let retried = browser.post(&home, &retry).await;
    assert_eq!((retried.status, retried.location()), (303, home.as_str()));
    assert!(browser.get(&format!("{home}/knowledge")).await.text.contains("We also repair pots."));
}

#[tokio::test]
async fn a_failed_import_shows_the_reason_and_a_retry_button() {
    let server = owned(&sites::settings());
    let mut browser = Browser::new(&server);
    browser.sign_in("/").await;
    let form = browser.get("/test/brands/new").await;
    // No server listens there.
    let started = browser.post("/test/brands/new", &[("csrf", form.csrf()), ("urls", "http://127.0.0.1:9")]).await;
    let page = settled(&mut browser, started.location()).await;
    assert!(page.text.contains("couldn't be read") && page.text.contains("value=\"retry\""), "{}", page.text);
    assert!(page.text.contains("Change the URLs"), "{}", page.text);
    let form = browser.get("/test/brands/new?urls=http%3A%2F%2F127.0.0.1%3A9%2F").await;
    assert!(form.text.contains("127.0.0.1:9"), "the user can correct the URL: {}", form.text);
    let again = browser.post("/test/brands/new", &[("csrf", form.csrf()), ("urls", "http://127.0.0.1:9/")]).await;
    assert_eq!((again.status, again.location()), (303, started.location()), "the new import replaces the failed one");
}

#[tokio::test]
async fn knowledge_of_a_brand_is_stored_by_forms_and_shown_as_text() {
    let server = owned(BOUNDLESS);
    let client = server.all();
    let project = client.project("Acme").await;
    let mut browser = Browser::new(&server);
    browser.sign_in("/").await;
    let home = format!("/test/brands/{project}");
    let page = browser.get(&format!("{home}/knowledge")).await;
    let csrf = page.csrf().to_owned();
    let knowledge = format!("{home}/knowledge");
    let wrong = browser.post(&knowledge, &[("csrf", &csrf), ("act", "add"), ("title", "Kept"), ("content", "")]).await;
    assert!(wrong.status == 400 && wrong.text.contains("value=\"Kept\"") && wrong.text.contains("data-wrong"), "{}", wrong.text);
    let added = browser.post(&knowledge, &[("csrf", &csrf), ("act", "add"), ("title", HOSTILE), ("content", HOSTILE)]).await;
    assert_eq!(added.status, 303, "{}", added.text);
    let file = ("file", "tea.md", "text/markdown", "# Tea\n\nTwice a week.".as_bytes());
    let added = browser.post_file(&knowledge, &[("csrf", &csrf), ("act", "add"), ("title", "")], file).await;
    assert_eq!(added.status, 303, "{}", added.text);
    let binary = ("file", "a.bin", "application/octet-stream", b"\xff\xfe\x00".as_slice());
    let refused = browser.post_file(&knowledge, &[("csrf", &csrf), ("act", "add")], binary).await;
    assert!(refused.status == 400 && refused.text.contains("plain text (UTF-8)"), "{}", refused.text);
    let page = browser.get(&knowledge).await;
    assert!(page.text.contains("tea.md") && page.text.contains("Twice a week."), "{}", page.text);
    is_tame(&page, &knowledge);
    let entry = address(&page, &format!("{knowledge}/")).to_owned();
    let one = browser.get(&entry).await;
    is_tame(&one, &entry);
    let changed = browser.post(&entry, &[("csrf", &csrf), ("title", "Tea"), ("content", "Daily.")]).await;
    assert_eq!((changed.status, changed.location()), (303, format!("{knowledge}?done=changed").as_str()));
    let id = entry.rsplit('/').next().expect("an id").to_owned();
    let removed = browser.post(&knowledge, &[("csrf", &csrf), ("act", "remove"), ("entry", &id)]).await;
    assert_eq!(removed.status, 303);
    assert_eq!(client.data("projects.knowledge_list", json!({ "projectId": project })).await["total"], 1);
}

#[tokio::test]
async fn rules_of_a_brand_are_stored_and_too_long_input_is_not_lost() {
    let server = owned(BOUNDLESS);
    let project = server.all().project("Acme").await;
    let mut browser = Browser::new(&server);
    browser.sign_in("/").await;
    let rules = format!("/test/brands/{project}/guidelines");
    let csrf = browser.get(&rules).await.csrf().to_owned();
    let kept = browser.post(&rules, &[("csrf", &csrf), ("designRules", HOSTILE), ("imageStyle", "")]).await;
    assert_eq!(kept.status, 303, "{}", kept.text);
    let long = "x".repeat(5_001);
    let again = browser.post(&rules, &[("csrf", &csrf), ("designRules", ""), ("imageStyle", &long)]).await;
    assert!(again.status == 400 && again.text.contains(&long), "{}", again.status);
    is_tame(&browser.get(&rules).await, &rules);
}

#[tokio::test]
async fn images_and_logos_of_a_brand_are_uploaded_described_and_removed() {
    let server = owned(BOUNDLESS);
    let client = server.all();
    let project = client.project("Acme").await;
    let mut browser = Browser::new(&server);
    browser.sign_in("/").await;
    let home = format!("/test/brands/{project}");
    let csrf = browser.get(&format!("{home}/images")).await.csrf().to_owned();
    let images = format!("{home}/images");
    let red = picture([200, 20, 20]);
    let upload = ("file", "red.png", "image/png", red.as_slice());
    let fields = [("csrf", csrf.as_str()), ("act", "add"), ("description", HOSTILE), ("tags", "red, <b>")];
    let added = browser.post_file(&images, &fields, upload).await;
    assert_eq!((added.status, added.location()), (303, format!("{images}?done=added").as_str()), "{}", added.text);
    let page = browser.get(&images).await;
    is_tame(&page, &images);
    let shown = address(&page, &format!("{home}/picture?of=")).to_owned();
    assert_eq!(browser.get(&shown).await.status, 200);
    let url = client.data("projects.images_list", json!({ "projectId": project })).await["images"][0]["url"].clone();
    let url = url.as_str().expect("an address");
    let said = [("csrf", csrf.as_str()), ("act", "describe"), ("image", url), ("description", "A red wall"), ("tags", "wall")];
    assert_eq!(browser.post(&images, &said).await.status, 303);
    assert!(browser.get(&images).await.text.contains("A red wall"));
    // An error keeps what the user typed in the form of the image, not in the form of a new image.
    let many = "a, b, c, d, e, f, g, h, i, j, k";
    let said = [("csrf", csrf.as_str()), ("act", "describe"), ("image", url), ("description", "Half a wall"), ("tags", many)];
    let refused = browser.post(&images, &said).await;
    assert!(refused.status == 400 && refused.text.contains("at most 10 tags"), "{}", refused.text);
    let (new, own) = refused.text.split_once("name=\"image\"").expect("the image has a form");
    assert!(!new.contains("Half a wall") && own.contains("Half a wall") && own.contains(many), "{}", refused.text);
    assert!(own.contains("id=\"tags-wrong\"") && refused.text.contains("<details open><summary>Edit"), "{}", refused.text);
    let no_picture = ("file", "a.png", "image/png", b"nonsense".as_slice());
    let refused = browser.post_file(&images, &[("csrf", &csrf), ("act", "add"), ("description", "Kept")], no_picture).await;
    assert!(refused.status == 400 && refused.text.contains("format") && refused.text.contains("Kept"), "{}", refused.text);
    let fields = [("csrf", csrf.as_str()), ("act", "give"), ("place", "primary")];
    let logo = picture([10, 90, 10]);
    let given = browser.post_file(&format!("{home}/look"), &fields, ("file", "logo.png", "image/png", &logo)).await;
    assert_eq!(given.status, 303, "{}", given.text);
    assert!(browser.get(&format!("{home}/look")).await.text.contains("Main logo"));
    let removed = browser.post(&images, &[("csrf", &csrf), ("act", "remove"), ("image", url)]).await;
    assert_eq!(removed.status, 303);
}

#[tokio::test]
async fn colors_and_fonts_are_edited_with_their_contrast_shown_and_reset() {
    let server = owned(BOUNDLESS);
    let client = server.client("test", "all");
    let project = client.project("Acme").await;
    let mut browser = Browser::new(&server);
    browser.sign_in("/test/brands").await;
    let look = format!("/test/brands/{project}/look");
    let csrf = browser.get(&look).await.csrf().to_owned();
    let mut save = async |fields: &[(&str, &str)]| {
        let fields = [&[("csrf", csrf.as_str()), ("act", "look")], fields].concat();
        let sent = browser.post(&look, &fields).await;
        let page = browser.get(&look).await;
        (sent, page)
    };
    let given = [
        ("palette.text", "#999999"),
        ("palette.background", "#FFFFFF"),
        ("fonts.heading", "Lora"),
        ("cornerRadius", "12"),
        // The user picked this color; the text field is still empty.
        ("palette.primary", ""),
        ("pick.palette.primary", "#b4552d"),
    ];
    let (sent, page) = save(&given).await;
    assert_eq!((sent.status, sent.location()), (303, format!("{look}?done=look").as_str()), "{}", sent.text);
    assert!(page.text.contains("a contrast ratio of 2.84:1. Text below 4.5:1"), "{}", page.text);
    for value in ["value=\"Lora\"", "value=\"#B4552D\"", "value=\"12\""] {
        assert!(page.text.contains(value), "{value}: {}", page.text);
    }
    let preview = browser_text(&server, address(&page, &format!("{look}/preview?"))).await;
    assert!(preview.contains("A headline in your style") && preview.contains("Lora"), "{preview}");
    let same =
        [("palette.text", "#999999"), ("palette.background", "#FFFFFF"), ("fonts.heading", "Lora"), ("cornerRadius", "12")];
    let with = |other: &[(&'static str, &'static str)]| [same.as_slice(), &[("palette.primary", "#B4552D")], other].concat();
    let (wrong, _) = save(&[("palette.text", "gray"), ("palette.button", "#123456")]).await;
    assert!(wrong.status == 400 && wrong.text.contains("id=\"palette.text-wrong\""), "{}", wrong.text);
    assert!(wrong.text.contains("value=\"gray\"") && wrong.text.contains("value=\"#123456\""), "what was entered is kept");
    let (wrong, _) = save(&with(&[("fonts.body", "<b>")])).await;
    assert!(
        wrong.status == 400 && wrong.text.contains("id=\"fonts.body-wrong\"") && !wrong.text.contains("<b>\""),
        "{}",
        wrong.text
    );
    let (sent, page) = save(&with(&[("button", "#B4552D")])).await;
    assert!(sent.status == 303 && !page.text.contains("Text on buttons has"), "{}", page.text);
    let overrides = client.data("projects.get", json!({ "projectId": project })).await["overrides"].clone();
    assert_eq!((&overrides["palette"]["text"], &overrides["palette"]["button"]), (&json!("#999999"), &json!("#B4552D")));
    // A color that was picked and not saved yet also becomes the color of buttons, not the earlier color of its role.
    let (sent, _) =
        save(&with(&[("palette.button", "#B4552D"), ("pick.palette.primary", "#0a5c36"), ("button", "palette.primary")])).await;
    let palette = client.data("projects.get", json!({ "projectId": project })).await["overrides"]["palette"].clone();
    assert_eq!((sent.status, &palette["primary"], &palette["button"]), (303, &json!("#0A5C36"), &json!("#0A5C36")));
    let (_, page) = save(&with(&[("palette.button", "#B4552D"), ("reset", "palette.button")])).await;
    assert!(page.text.contains("value=\"#B4552D\""), "the primary color stays: {}", page.text);
    let overrides = client.data("projects.get", json!({ "projectId": project })).await["overrides"].clone();
    assert_eq!((&overrides["palette"]["button"], &overrides["cornerRadius"]), (&json!(null), &json!(12)));
    // A user who opened the page before these changes and only changes the corners does not undo the changes.
    let late = [
        ("was.palette.text", ""),
        ("palette.text", ""),
        ("was.palette.background", ""),
        ("was.palette.primary", ""),
        ("was.fonts.heading", ""),
        ("was.cornerRadius", ""),
        ("cornerRadius", "20"),
    ];
    assert_eq!(save(&late).await.0.status, 303);
    let overrides = client.data("projects.get", json!({ "projectId": project })).await["overrides"].clone();
    assert_eq!((&overrides["palette"]["text"], &overrides["cornerRadius"]), (&json!("#999999"), &json!(20)));
    assert!(overrides["fonts"]["heading"].is_string() && overrides["palette"]["primary"] == "#B4552D", "{overrides}");
    let (sent, page) = save(&[]).await;
    assert!(sent.status == 303 && !page.text.contains("a contrast ratio of"), "{}", page.text);
}

async fn browser_text(server: &crate::support::Server, path: &str) -> String {
    let mut browser = Browser::new(server);
    browser.sign_in("/test/brands").await;
    browser.get(&path.replace("&amp;", "&")).await.text
}

#[tokio::test]
async fn details_are_corrected_and_a_missing_address_leads_to_its_field() {
    let server = owned(BOUNDLESS);
    let client = server.all();
    let project = client.project("Acme").await;
    let mut browser = Browser::new(&server);
    browser.sign_in("/").await;
    let home = format!("/test/brands/{project}");
    let overview = settled(&mut browser, &home).await;
    // The import of this brand failed, but its details can be edited.
    assert_eq!(overview.status, 200);
    let details = format!("{home}/details");
    let page = browser.get(&format!("{details}?focus=address")).await;
    let csrf = page.csrf().to_owned();
    let at = page.text.find("id=\"address\"").expect("the field exists");
    assert!(page.text[at..].split('>').next().is_some_and(|tag| tag.contains("autofocus")), "{}", page.text);
    let mut save = async |fields: &[(&str, &str)]| {
        let fields = [&[("csrf", csrf.as_str())], fields].concat();
        browser.post(&details, &fields).await
    };
    let given = [
        ("name", "Acme"),
        ("tagline", HOSTILE),
        ("address", "1 High Street\r\nLondon N1 9GU"),
        ("social", "instagram.com/acme\r\nhttps://twitter.com/acme"),
        ("voice.tone", "warm, dry"),
        ("voice.formality", "formal"),
        ("defaultSender.from", "news@acme.example"),
    ];
    let saved = save(&given).await;
    assert_eq!((saved.status, saved.location()), (303, format!("{details}?done=details").as_str()), "{}", saved.text);
    let wrong = save(&[("name", "Acme"), ("email", "acme"), ("phone", "112")]).await;
    assert!(
        wrong.status == 400 && wrong.text.contains("id=\"email-wrong\"") && wrong.text.contains("value=\"112\""),
        "{}",
        wrong.text
    );
    let wrong = save(&[("name", "Acme"), ("defaultSender.from", "acme")]).await;
    assert!(wrong.status == 400 && wrong.text.contains("id=\"defaultSender.from-wrong\""), "{}", wrong.text);
    let known = client.data("projects.get", json!({ "projectId": project })).await;
    assert_eq!(known["brand"]["contact"]["address"], "1 High Street, London N1 9GU");
    let social = json!([
        { "network": "instagram", "url": "https://instagram.com/acme" }, { "network": "x", "url": "https://twitter.com/acme" },
    ]);
    assert_eq!((&known["brand"]["social"], &known["overrides"]["voice"]["tone"]), (&social, &json!(["warm", "dry"])));
    assert_eq!((&known["defaultSender"]["from"], &known["overrides"]["name"]), (&json!("news@acme.example"), &json!("Acme")));
    // A user who opened the page before these changes and only adds a phone number does not undo the changes.
    let unchanged =
        ["name", "tagline", "address", "social", "voice.tone", "voice.formality", "defaultSender.from"].map(|name| (name, ""));
    let before = [
        ("was.name", ""),
        ("was.tagline", ""),
        ("was.address", ""),
        ("was.social", ""),
        ("was.voice.tone", ""),
        ("was.voice.formality", ""),
        ("was.defaultSender.from", ""),
    ];
    let late = [unchanged.as_slice(), &before, &[("phone", "112"), ("was.phone", "")]].concat();
    let late = save(&late).await;
    assert_eq!(late.status, 303, "{}", late.text);
    let after = client.data("projects.get", json!({ "projectId": project })).await;
    assert_eq!((&after["brand"]["contact"]["phone"], &after["defaultSender"]), (&json!("112"), &known["defaultSender"]));
    assert_eq!((&after["brand"]["tagline"], &after["brand"]["social"]), (&known["brand"]["tagline"], &social));
    let page = browser.get(&details).await;
    assert!(page.text.contains("name=\"was.phone\" value=\"112\""), "{}", page.text);
    is_tame(&page, &details);
    assert!(page.text.contains("name=\"reset\" value=\"address\""), "{}", page.text);
    let reset = [("csrf", csrf.as_str()), ("name", "Acme"), ("reset", "address"), ("address", "1 High Street, London N1 9GU")];
    assert_eq!(browser.post(&details, &reset).await.status, 303);
    let known = client.data("projects.get", json!({ "projectId": project })).await;
    assert_eq!((&known["brand"]["contact"]["address"], &known["overrides"]["tagline"]), (&json!(null), &json!("")));
}

#[tokio::test]
async fn a_viewer_sees_no_forms_and_is_refused_with_a_page() {
    let server = owned(BOUNDLESS);
    let project = server.all().project(HOSTILE).await;
    let owner = signed_in(&server, OWNER, "test").await;
    member(&server, &owner, "viewer@example.com", json!({ "role": "viewer" })).await;
    let mut browser = Browser::new(&server);
    let csrf = browser.get("/signin").await.csrf().to_owned();
    let fields = [("csrf", csrf.as_str()), ("email", "viewer@example.com"), ("password", PASSWORD), ("next", "/")];
    assert_eq!(browser.post("/signin", &fields).await.status, 303);
    let home = format!("/test/brands/{project}");
    for path in ["", "/details", "/look", "/images", "/knowledge", "/guidelines"] {
        let page = browser.get(&format!("{home}{path}")).await;
        assert_eq!(page.status, 200, "{path}: {}", page.text);
        assert!(!page.text.contains("name=\"act\""), "{path}: {}", page.text);
        is_tame(&page, path);
    }
    let csrf = browser.get(&home).await.csrf().to_owned();
    for (path, act) in [("", "retry"), ("/knowledge", "add"), ("/images", "add"), ("/look", "use")] {
        let fields = [
            ("csrf", csrf.as_str()),
            ("act", act),
            ("title", "a"),
            ("content", "a"),
            ("url", "https://a.example/a.png"),
            ("place", "primary"),
        ];
        let refused = browser.post(&format!("{home}{path}"), &fields).await;
        assert_eq!(refused.status, 403, "{path}: {}", refused.text);
    }
    // A brand of another account, or a missing one, shows an error page.
    for path in ["/test/brands/66f1a2b3d4e5f60718293a4b", "/test/brands/x", "/live/brands/66f1a2b3d4e5f60718293a4b/images"] {
        let page = browser.get(path).await;
        assert!(matches!(page.status, 400 | 404), "{path}: {}", page.status);
    }
}
