//! Tests imports of a small site on the loopback interface, including interrupted, rejected and repeated imports.

use std::io::Cursor;

use image::{ImageFormat, Rgba, RgbaImage};
use serde_json::{Value, json};

use super::*;
use crate::testing::TestApp;
use crate::testing::fake_model::{FakeModel, Reaction};
use crate::testing::site::Site;
use crate::vocab::environment::Environment;
use crate::vocab::limits::SITE_IMPORT_FAILURES_MAX;
use crate::vocab::settings::Protocol;

const HOME: &str = r##"<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Acme – Lamps for desks</title>
    <meta name="description" content="Acme makes lamps for desks, one at a time, in a small workshop."><link rel="stylesheet" href="/a.css">
    </head><body><header><nav><a href="/"><img src="/logo.png" alt="Acme"></a><a href="/about">About</a></nav></header>
    <main><h1>Lamps for desks</h1><p>We make lamps for desks, and we mend the ones that others have made. Bring yours, or write to us and we will
    send a box for it. Every lamp that leaves us has burnt for a day and a night on our own desk.</p><a class="btn">Buy a lamp</a>
    <img src="/lamp.png" alt="A lamp"></main></body></html>"##;
const ABOUT: &str = "<html lang=en><title>About – Acme</title><main><h1>About</h1><p>Acme is two people and a lathe. We began in a kitchen, \
    moved to a cellar, and have had a window since last year. It looks out on the canal, which is why the lamps are green.</p></main>";

fn lamps() -> Site {
    Site::start(vec![
        ("/robots.txt", 200, "text/plain", b"User-agent: *\nDisallow: /secret\n".to_vec()),
        ("/", 200, "text/html", HOME.into()),
        ("/about", 200, "text/html", ABOUT.into()),
        (
            "/a.css",
            200,
            "text/css",
            b"body{background:#fffdf8;color:#222}.btn{background:#0a7b5c;color:#fff;border-radius:8px}".to_vec(),
        ),
        ("/logo.png", 200, "image/png", png(120, 40)),
        ("/lamp.png", 200, "image/png", png(400, 300)),
        ("/given.png", 200, "image/png", png(200, 50)),
    ])
}

fn png(width: u32, height: u32) -> Vec<u8> {
    let picture = RgbaImage::from_fn(width, height, |x, y| Rgba([10, 123, 92, if (x + y) % 8 < 2 { 0 } else { 255 }]));
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, ImageFormat::Png).expect("writing to memory succeeds");
    bytes.into_inner()
}

fn app() -> TestApp {
    TestApp::with(|settings| settings.outbound.allow_networks = vec!["127.0.0.1/32".parse().expect("the network is valid")])
}

/// Runs one step of the worker. Returns whether more work remains.
fn step(app: &TestApp) -> bool {
    app.wait(super::step(app.engine(), Environment::Test)).expect("the step succeeds")
}

fn to_the_end(app: &TestApp) {
    assert!((0..100).any(|_| !step(app)), "every import ends");
}

fn begin(app: &TestApp, input: Value) -> String {
    // Finish the import of the default project, which every test app has, so that only the new import runs afterward.
    to_the_end(app);
    app.post("/v1/projects/import", input).data()["projectId"].as_str().expect("the project has an id").to_owned()
}

fn state(app: &TestApp, project: &str) -> Value {
    app.get(&format!("/v1/projects/import/{project}/status")).data()
}

/// Returns the final state of the import, without IDs, times and URLs that are specific to this run.
fn outcome(app: &TestApp, project: &str, site: &Site) -> String {
    let details = app.get(&format!("/v1/projects/{project}")).data();
    let texts = app.get(&format!("/v1/projects/{project}/knowledge-base?limit=100")).data();
    let titles: Vec<&Value> =
        texts["entries"].as_array().expect("the value is an array").iter().map(|entry| &entry["title"]).collect();
    let whole = json!([details["name"], details["status"], details["brand"], titles]);
    whole.to_string().replace(&site.url(), "/")
}

fn refused(site: &Site) -> String {
    let app = app();
    let project = begin(&app, json!({ "urls": [site.url()] }));
    to_the_end(&app);
    let state = state(&app, &project);
    assert_eq!((&state["status"], &state["progress"]["stage"]), (&json!("error"), &json!("failed")), "{state}");
    state["error"].as_str().expect("the import has an error message").to_owned()
}

#[test]
fn an_import_interrupted_after_any_step_has_the_same_result() {
    let site = lamps();
    let whole = {
        let app = app();
        let project = begin(&app, json!({ "urls": [site.url()] }));
        to_the_end(&app);
        outcome(&app, &project, &site)
    };
    assert!(whole.contains("#0A7B5C") && whole.contains("Lamps for desks") && whole.contains("\"active\""), "{whole}");
    let mut seen = Vec::new();
    for steps in 0.. {
        let mut app = app();
        let project = begin(&app, json!({ "urls": [site.url()] }));
        let more = (0..steps).all(|_| step(&app));
        let before = state(&app, &project);
        seen.push(before["progress"]["stage"].as_str().expect("the stage is a string").to_owned());
        app = app.restarted();
        assert_eq!(state(&app, &project)["progress"], before["progress"], "after {steps} steps");
        to_the_end(&app);
        assert_eq!(outcome(&app, &project, &site), whole, "interrupted after {steps} steps");
        if !more {
            break;
        }
    }
    for stage in ["initializing", "fetching", "reading", "measuring", "completed"] {
        assert!(seen.iter().any(|word| word == stage), "never interrupted while {stage}: {seen:?}");
    }
}

#[test]
fn progress_never_decreases() {
    let site = lamps();
    let app = app();
    let project = begin(&app, json!({ "urls": [site.url()] }));
    let mut last = 0;
    loop {
        let more = step(&app);
        let now = state(&app, &project)["progress"]["percentage"].as_u64().expect("the value is a number");
        assert!(now >= last, "{now} after {last}");
        last = now;
        if !more {
            break;
        }
    }
    assert_eq!(last, 100);
}

#[test]
fn pages_that_cannot_be_read_have_a_clear_error() {
    let site = Site::start(Vec::new());
    assert!(refused(&site).contains("there is no page at this URL"), "{}", refused(&site));
    site.set("/", 403, "no");
    assert!(refused(&site).contains("allow the user agent Mailmill"));
    site.set("/", 500, "no");
    assert!(refused(&site).contains("the site is not available"));
    site.set_as("/robots.txt", 200, "text/plain", "User-agent: *\nDisallow: /");
    assert!(refused(&site).contains("robots.txt disallows"));
    let pdf = Site::start(vec![("/", 200, "application/pdf", b"%PDF-1.7".to_vec())]);
    assert!(refused(&pdf).contains("is not a web page: its content type is application/pdf"));
    assert!(refused(&Site::closed()).contains("does not accept connections"));
}

#[test]
fn an_address_in_the_private_network_is_rejected() {
    let app = TestApp::new();
    let site = lamps();
    let project = begin(&app, json!({ "urls": [site.url()] }));
    to_the_end(&app);
    let state = state(&app, &project);
    assert!(state["error"].as_str().is_some_and(|reason| reason.contains("outbound.allow_networks")), "{state}");
    assert!(site.asked().is_empty());
}

#[test]
fn disallowed_pages_are_not_requested() {
    let site = lamps();
    let home = HOME.replace("href=\"/about\"", "href=\"/secret/about\"");
    site.set("/", 200, &home);
    let app = app();
    begin(&app, json!({ "urls": [site.url()] }));
    to_the_end(&app);
    assert!(!site.asked().iter().any(|path| path.starts_with("/secret")));
}

#[test]
fn a_failed_import_can_be_restarted() {
    let site = lamps();
    site.set("/", 503, "no");
    let app = app();
    let project = begin(&app, json!({ "urls": [site.url()] }));
    to_the_end(&app);
    assert_eq!(state(&app, &project)["status"], "error");
    site.set("/", 200, HOME);
    let retried = app.post(&format!("/v1/projects/import/{project}/retry"), json!({})).data();
    assert_eq!((&retried["status"], &state(&app, &project)["error"]), (&json!("pending"), &Value::Null));
    to_the_end(&app);
    let state = state(&app, &project);
    assert_eq!((&state["status"], &state["name"]), (&json!("active"), &json!("Acme")));
}

#[test]
fn values_set_by_users_take_precedence_and_survive_another_import() {
    let site = lamps();
    let app = app();
    let given = format!("{}given.png", site.url());
    let project = begin(&app, json!({ "urls": [site.url()], "name": "My lamps", "logoUrls": { "primary": given } }));
    to_the_end(&app);
    let path = format!("/v1/projects/{project}");
    let logos = app.get(&path).data()["brand"]["logos"].clone();
    assert_eq!((&logos[0]["url"], &logos[0]["source"], &logos[0]["width"]), (&json!(given), &json!("given"), &json!(200)));
    let lamp = format!("{}lamp.png", site.url());
    app.put(&format!("{path}/images"), json!({ "imageUrl": lamp, "description": "Our best lamp" })).data();
    let texts = app.get(&format!("{path}/knowledge-base")).data();
    let about = texts["entries"]
        .as_array()
        .and_then(|all| all.iter().find(|entry| entry["title"] == "About"))
        .expect("the knowledge base has the entry")
        .clone();
    let own = format!("{path}/knowledge-base/{}", about["id"].as_str().expect("the entry has an id"));
    app.put(&own, json!({ "content": "Two people and a lathe." })).data();
    app.post(&format!("/v1/projects/import/{project}/retry"), json!({})).data();
    to_the_end(&app);
    let details = app.get(&path).data();
    assert_eq!((&details["name"], &details["logoUrls"]["primary"]), (&json!("My lamps"), &json!(given)));
    assert_eq!(details["brand"]["images"][0]["description"], "Our best lamp");
    let again = app.get(&format!("{path}/knowledge-base")).data();
    assert_eq!(again["total"], texts["total"], "no text is duplicated");
    let about = again["entries"]
        .as_array()
        .and_then(|all| all.iter().find(|entry| entry["title"] == "About"))
        .expect("the knowledge base has the entry")
        .clone();
    assert_eq!((&about["content"], &about["referenceOrigin"]), (&json!("Two people and a lathe."), &json!("manual")));
}

/// Regression test: the next import added back an image or text that a user had removed.
#[test]
fn what_a_user_removed_does_not_return_with_the_next_import() {
    let site = lamps();
    let app = app();
    let project = begin(&app, json!({ "urls": [site.url()] }));
    to_the_end(&app);
    let path = format!("/v1/projects/{project}");
    let lamp = format!("{}lamp.png", site.url());
    let has_lamp = || app.get(&format!("{path}/images?limit=100")).data().to_string().contains(&lamp);
    let texts = || app.get(&format!("{path}/knowledge-base")).data()["entries"].clone();
    let about = |texts: &Value| {
        let all = texts.as_array().expect("a list").iter();
        all.filter(|entry| entry["title"] == "About").map(|entry| entry["id"].clone()).next()
    };
    let own = about(&texts()).expect("the knowledge base has the entry");
    assert!(has_lamp());
    let encoded = lamp.replace(':', "%3A").replace('/', "%2F");
    app.delete(&format!("{path}/images?imageUrl={encoded}")).data();
    app.delete(&format!("{path}/knowledge-base/{}", own.as_str().expect("the entry has an id"))).data();
    assert_eq!((has_lamp(), about(&texts())), (false, None));
    app.post(&format!("/v1/projects/import/{project}/retry"), json!({})).data();
    to_the_end(&app);
    assert_eq!((has_lamp(), about(&texts())), (false, None));
    app.post(&format!("{path}/images"), json!({ "url": lamp })).data();
    assert!(has_lamp());
}

const MARK: &str = r##"<svg xmlns="http://www.w3.org/2000/svg" width="120" height="30" viewBox="0 0 120 30"><path fill="#0a7b5c" d="M0 0h120v30H0z"/></svg>"##;

/// Regression test: emails showed the brand's name as text instead of its SVG logo, because few email clients show SVG.
#[test]
fn an_svg_logo_is_stored_as_png_on_this_server() {
    let site = lamps();
    let inline = MARK.replace("<svg", "<svg class=\"h-8\"").replace("#0a7b5c", "currentColor");
    for (home, count) in [
        (HOME.replace("/logo.png", "/logo.svg"), 3),
        (HOME.replace("<img src=\"/logo.png\" alt=\"Acme\">", &format!("{inline}<style>nav{{color:#0a7b5c}}</style>")), 2),
    ] {
        site.set("/", 200, &home);
        site.set_as("/logo.svg", 200, "image/svg+xml", MARK);
        let app = app();
        let project = begin(&app, json!({ "urls": [site.url()] }));
        to_the_end(&app);
        let brand = app.get(&format!("/v1/projects/{project}")).data()["brand"].clone();
        let header: Vec<&Value> =
            brand["logos"].as_array().expect("the logos are an array").iter().filter(|logo| logo["source"] == "header").collect();
        assert_eq!(header.len(), count, "{header:?}");
        let size = |logo: &Value| (logo["width"].as_u64(), logo["height"].as_u64());
        assert_eq!(size(header[0]), (Some(384), Some(96)));
        assert!(size(header[1]) > size(header[0]), "the second file has a background with a margin");
        for logo in &header[..2] {
            let url = logo["url"].as_str().expect("the logo has a URL");
            let own = url.strip_prefix(app.engine().base_url()).expect("the file is on this server");
            let (status, disposition, bytes) = app.download(own);
            assert_eq!((status, disposition.as_str()), (200, "inline; filename=\"image.png\""));
            let drawn = image::load_from_memory(&bytes).expect("the file is a PNG").to_rgba8();
            assert_eq!(drawn.get_pixel(drawn.width() / 2, drawn.height() / 2).0, [0x0a, 0x7b, 0x5c, 255]);
        }
    }
}

#[test]
fn a_repeated_import_asks_about_changes_and_keeps_values_of_users() {
    let site = lamps();
    let shop = |price: &str| {
        let product = json!({ "@context": "https://schema.org", "@type": "Product", "name": "Desk lamp", "url": format!("{}lamp", site.url()),
            "offers": { "@type": "Offer", "price": price, "priceCurrency": "GBP" } });
        HOME.replace("</main>", &format!("</main><script type=\"application/ld+json\">{product}</script>"))
    };
    site.set("/", 200, &shop("42.00"));
    let app = app();
    let project = begin(&app, json!({ "urls": [site.url()] }));
    to_the_end(&app);
    let path = format!("/v1/projects/{project}");
    let changes = format!("/v1/projects/import/{project}/changes");
    assert_eq!(app.get(&changes).data()["changes"], json!([]), "there is nothing to decide after the first import");
    app.patch(&path, json!({ "description": "Ours.", "phone": "112" })).data();
    let again = |page: &str| {
        site.set("/", 200, page);
        app.post(&format!("/v1/projects/import/{project}/retry"), json!({})).data();
        to_the_end(&app);
        app.get(&changes).data()
    };
    let sale = shop("36.00").replace("one at a time, in a small workshop", "in a big workshop");
    site.set_as(
        "/a.css",
        200,
        "text/css",
        "body{background:#fffdf8;color:#222}.btn{background:#b4552d;color:#fff;border-radius:8px}",
    );
    let found = again(&sale);
    let of = |found: &Value, id: &str| {
        let all = found["changes"].as_array().expect("the changes are an array");
        all.iter().find(|change| change["id"].as_str().is_some_and(|own| own.starts_with(id))).cloned().unwrap_or_default()
    };
    let button = of(&found, "palette.button");
    assert_eq!((&button["before"], &button["now"], &button["state"]), (&json!("#0A7B5C"), &json!("#B4552D"), &json!("pending")));
    assert_eq!((&of(&found, "description")["state"], &of(&found, "description")["before"]), (&json!("kept"), &json!("Ours.")));
    let lamp = of(&found, "product.");
    assert!(lamp["before"].as_str().is_some_and(|text| text.contains("42.00 GBP")), "{lamp}");
    let brand = app.get(&path).data()["brand"].clone();
    assert_eq!(
        (&brand["palette"]["button"], &brand["products"][0]["price"]),
        (&json!("#0A7B5C"), &json!("42.00")),
        "nothing changes unasked"
    );
    assert_eq!((&brand["description"], &brand["contact"]["phone"]), (&json!("Ours."), &json!("112")));
    assert_eq!(app.post(&changes, json!({ "accept": ["tagline.x"] })).refusal().0, 400);
    let left = app.post(&changes, json!({ "accept": [lamp["id"]], "keep": ["palette.button"] })).data();
    assert!(of(&left, "product.").is_null() && of(&left, "palette.button").is_null(), "{left}");
    let brand = app.get(&path).data()["brand"].clone();
    assert_eq!((&brand["palette"]["button"], &brand["products"][0]["price"]), (&json!("#0A7B5C"), &json!("36.00")));
    let found = again(&sale);
    assert!(
        of(&found, "product.").is_null() && of(&found, "palette.button")["state"] != "pending",
        "a decision is final: {found}"
    );
}

#[test]
fn a_site_that_is_already_a_brand_is_not_imported_twice() {
    let site = lamps();
    let app = app();
    let project = begin(&app, json!({ "urls": [site.url()], "name": "My lamps" }));
    let answer = app.post("/v1/projects/import", json!({ "urls": [format!("{}index.html", site.url())] }));
    let (status, code, message) = answer.refusal();
    assert_eq!((status, code), (409, "BRAND_EXISTS"));
    assert!(message.contains("My lamps") && message.contains(&format!("/v1/projects/import/{project}/retry")), "{message}");
    assert_eq!(answer.body["data"]["projectId"], project.as_str());
}

// Regression test: after an import failed because of a wrong URL, the site could not be imported with the right URL.
#[test]
fn a_new_import_of_a_site_replaces_an_import_that_failed() {
    let site = lamps();
    let app = app();
    let project = begin(&app, json!({ "urls": [format!("{}index.php", site.url())] }));
    to_the_end(&app);
    assert_eq!(state(&app, &project)["status"], "error");
    let again = begin(&app, json!({ "urls": [site.url()], "name": "My lamps" }));
    assert_eq!(again, project, "the failed project is used again");
    to_the_end(&app);
    assert_eq!(state(&app, &project)["status"], "active");
    let details = app.get(&format!("/v1/projects/{project}")).data();
    assert_eq!((&details["name"], &details["urls"]), (&json!("My lamps"), &json!([site.url()])));
    let answer = app.post("/v1/projects/import", json!({ "urls": [site.url()] }));
    let (status, code, _) = answer.refusal();
    assert_eq!((status, code), (409, "BRAND_EXISTS"), "an imported brand is not replaced");
}

#[test]
fn an_import_that_crashes_the_process_repeatedly_fails() {
    let site = lamps();
    let app = app();
    let project = begin(&app, json!({ "urls": [site.url()] }));
    let id = ProjectId::parse(&project).expect("the project has a valid id");
    let spoil = move |tx: &mut WriteTx<'_>| -> Result<()> {
        let mut import = find(tx, id)?.expect("the import exists");
        import.failures = SITE_IMPORT_FAILURES_MAX;
        save(tx, id, &import);
        Ok(())
    };
    app.data().store.write_blocking(spoil).expect("the store works").expect("the write succeeds");
    to_the_end(&app);
    assert_eq!(state(&app, &project)["status"], "error");
}

#[test]
fn an_added_image_is_analyzed_and_its_given_description_stays() {
    let site = lamps();
    let app = app();
    let path = format!("/v1/projects/{}/images", app.project);
    let url = |name: &str| format!("{}{name}", site.url());
    app.post(&path, json!({ "url": url("lamp.png") })).data();
    app.post(&path, json!({ "url": url("given.png"), "description": "Our sign", "tags": ["sign"] })).data();
    app.post(&path, json!({ "url": url("none.png") })).data();
    app.put(&format!("/v1/projects/{}/logos", app.project), json!({ "primary": url("logo.png") })).data();
    while app.wait(crate::features::projects::analyze_images(app.engine(), Environment::Test)).expect("the step succeeds") {}
    let images = app.get(&path).data()["images"].clone();
    let of = |name: &str| {
        images.as_array().and_then(|all| all.iter().find(|image| image["url"] == url(name))).expect("the image exists").clone()
    };
    let lamp = of("lamp.png");
    assert_eq!((&lamp["width"], &lamp["height"]), (&json!(400), &json!(300)));
    let words = lamp["description"].as_str().expect("the description is a string").to_owned();
    assert!(words.starts_with("Named \"lamp\".") && words.contains("400 × 300") && words.contains("green"), "{words}");
    assert!(lamp["tags"].as_array().is_some_and(|tags| tags.contains(&json!("lamp")) && tags.contains(&json!("landscape"))));
    let sign = of("given.png");
    assert_eq!((&sign["description"], &sign["tags"], &sign["width"]), (&json!("Our sign"), &json!(["sign"]), &json!(200)));
    assert!(of("none.png")["problem"].as_str().is_some_and(|problem| problem.contains("404")));
    let logo = app.get(&format!("/v1/projects/{}", app.project)).data()["brand"]["logos"][0].clone();
    assert_eq!((&logo["source"], &logo["width"]), (&json!("given"), &json!(120)));
}

#[test]
fn a_vision_model_describes_images_without_a_description() {
    let site = lamps();
    let answer = json!({ "description": "A green lamp on a wooden desk.", "tags": ["lamp", "desk"] }).to_string();
    let peer = FakeModel::with(vec![Reaction::Text(answer)]);
    let app = TestApp::with(|settings| {
        settings.outbound.allow_networks = vec!["127.0.0.1/32".parse().expect("the network is valid")];
        let model = settings.models.get_mut("local").expect("the built-in settings have a model");
        (model.protocol, model.url, model.model) = (Some(Protocol::OpenAi), Some(peer.url()), Some("peer".into()));
        model.vision = true;
    });
    let path = format!("/v1/projects/{}/images", app.project);
    for (name, own) in [("lamp.png", None), ("given.png", Some("Ours"))] {
        app.post(&path, json!({ "url": format!("{}{name}", site.url()), "description": own, "tags": [] })).data();
    }
    while app.wait(crate::features::projects::analyze_images(app.engine(), Environment::Test)).expect("the step succeeds") {}
    let images = app.get(&path).data()["images"].clone();
    let described = |name: &str| {
        let images = images.as_array().expect("the images are an array");
        images.iter().find(|image| image["url"].as_str().is_some_and(|url| url.ends_with(name))).expect("the image exists")["description"]
            .clone()
    };
    assert_eq!((described("lamp.png"), described("given.png")), (json!("A green lamp on a wooden desk."), json!("Ours")));
    let asked = peer.asked();
    assert_eq!(asked.len(), 1, "images that a user described are not sent to the model");
    assert!(asked[0].body["messages"].to_string().contains("data:image/png;base64,"));
}
