//! Tests campaigns in a browser without scripts: creating and sending them, and reading their reports.

use serde_json::json;

use crate::campaigns::{Stage, act, becomes, until};
use crate::support::browser::{Browser, Page};
use crate::support::server::BOUNDLESS;
use crate::support::{Client, Server};
use crate::users::{PASSWORD, member, owned, signed_in};

const EVIL: &str = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>";

/// Submits a form of the page at `path` to its target.
async fn press(browser: &mut Browser<'_>, path: &str, fields: &[(&str, &str)]) -> Page {
    let csrf = browser.get(path).await.csrf().to_owned();
    let fields: Vec<(&str, &str)> = [("csrf", csrf.as_str())].iter().chain(fields).copied().collect();
    browser.post(path, &fields).await
}

/// Follows a redirect.
async fn follow(browser: &mut Browser<'_>, page: Page) -> Page {
    assert_eq!(page.status, 303, "{}", page.text);
    let to = page.location().to_owned();
    let page = browser.get(&to).await;
    assert_eq!(page.status, 200, "{to}: {}", page.text);
    page
}

/// Signs in as a user other than the owner.
async fn as_member<'s>(server: &'s Server, email: &str) -> Browser<'s> {
    let mut browser = Browser::new(server);
    let signed = press(&mut browser, "/signin", &[("email", email), ("password", PASSWORD)]).await;
    assert_eq!(signed.status, 303, "{}", signed.text);
    browser
}

async fn staged(server: &Server) -> (Client, Stage) {
    let client = server.client("test", "all");
    let stage = Stage::new(&client).await;
    (client, stage)
}

/// Creates a draft from an email. Errors are shown next to their field, and input is kept. Returns the draft's path.
async fn drafted(browser: &mut Browser<'_>, stage: &Stage) -> String {
    let choose = browser.get("/test/campaigns/new").await;
    let link = format!("/test/campaigns/new?conversationId={}", stage.conversation);
    assert!(choose.text.contains(&link) && choose.text.contains("Winter teas"), "{}", choose.text);
    let one = browser.get(&link).await;
    let page = follow(browser, one).await;
    let email = page.value("email").to_owned();
    let fields = |from: &'static str| {
        let entered =
            [("name", "Autumn"), ("audience", "everyone"), ("from", from), ("from_name", "Acme"), ("subject", "For you")];
        [("email", email.as_str())].into_iter().chain(entered).collect::<Vec<_>>()
    };
    let csrf = page.csrf().to_owned();
    let send = |from| [("csrf", csrf.as_str())].into_iter().chain(fields(from)).collect::<Vec<_>>();
    let wrong = browser.post("/test/campaigns/new", &send("no-address")).await;
    assert_eq!(wrong.status, 400);
    assert!(
        wrong.text.contains("class=\"beside\" id=\"from-wrong\"") && wrong.text.contains("value=\"Autumn\""),
        "{}",
        wrong.text
    );
    let made = browser.post("/test/campaigns/new", &send("news@acme.example")).await;
    let here = made.location().split('?').next().expect("a path").to_owned();
    let page = follow(browser, made).await;
    assert!(
        page.text.contains("Draft saved.")
            && page.text.contains("For you")
            && page.text.contains("All of the brand&#x27;s contacts"),
        "{}",
        page.text
    );
    here
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_campaign_is_created_checked_sent_and_read_with_forms_alone() {
    let server = owned(BOUNDLESS);
    let mut browser = Browser::new(&server);
    browser.sign_in("/test/campaigns").await;
    let empty = browser.get("/test/campaigns").await;
    assert!(empty.text.contains("No campaigns yet") && empty.text.contains("/v1/campaigns") && empty.text.contains("sk_test_"));
    let nothing = browser.get("/test/campaigns/new").await;
    assert!(nothing.text.contains("Add your first brand"), "{}", nothing.text);

    let (client, stage) = staged(&server).await;
    let left = json!({ "email": "left@example.com", "status": "unsubscribed" });
    stage
        .contacts(
            &client,
            json!([{ "email": "ada@example.com", "firstName": "Ada" }, { "email": "bob@example.com", "firstName": "Bob" }, left]),
        )
        .await;

    let here = drafted(&mut browser, &stage).await;
    let id = here.rsplit('/').next().expect("an id").to_owned();

    // Send a test, which arrives in the inbox.
    let tested = press(&mut browser, &here, &[("act", "test"), ("emails", "ada@example.com, bob@example.com")]).await;
    assert!(follow(&mut browser, tested).await.text.contains("Sending the test to 2 addresses"));
    let frame = browser.get(&format!("{here}/frame")).await;
    assert!(frame.headers["content-security-policy"].to_str().expect("ASCII").starts_with("sandbox"));
    assert!(frame.text.contains("Winter teas") && !frame.text.contains("{{"), "{}", frame.text);

    // Do the dry run, then send the campaign.
    let check = browser.get(&format!("{here}/launch")).await;
    assert!(check.text.contains(">Unsubscribed</th>") && check.text.contains("Send to 2 recipients now"), "{}", check.text);
    assert!(check.text.contains("built-in inbox") && check.text.contains("This is test data"), "{}", check.text);
    assert!(check.text.contains("Email checks") && check.text.contains("/checks\">View all findings"), "{}", check.text);
    let sent = press(&mut browser, &format!("{here}/launch"), &[("act", "send")]).await;
    assert!(follow(&mut browser, sent).await.text.contains("Sending started."));
    becomes(&client, &id, "sent").await;
    let page = browser.get(&here).await;
    assert!(page.text.contains("2 <span class=\"quiet\">of 2 sent") && !page.text.contains("data-live"), "{}", page.text);

    // Check the results.
    let report = browser.get(&format!("{here}/report")).await;
    assert!(
        report.status == 200
            && report.text.contains("Opens and clicks by day")
            && report.text.contains("skipped.unsubscribed\">Unsubscribed</a>")
    );
    let log = browser.get(&format!("{here}/log")).await;
    assert!(log.text.contains("ada@example.com") && log.text.contains("left@example.com"), "{}", log.text);
    let skipped = browser.get(&format!("{here}/log?show=skipped.unsubscribed")).await;
    assert!(skipped.text.contains("left@example.com") && !skipped.text.contains("ada@example.com"), "{}", skipped.text);
    assert_eq!(browser.get(&format!("{here}/log?show=nonsense")).await.status, 400);

    // The page that sends the campaign offers no further action.
    let over = browser.get(&format!("{here}/launch")).await;
    let forms = ["value=\"schedule\"", "value=\"send\"", "Fix the problems above"];
    assert!(forms.iter().all(|form| !over.text.contains(form)) && over.text.contains("View report"), "{}", over.text);

    // Try to send the campaign again, then archive it.
    let again = press(&mut browser, &format!("{here}/launch"), &[("act", "send")]).await;
    assert!(again.status == 409, "a campaign is sent once: {}", again.text);
    let archived = press(&mut browser, &here, &[("act", "archive")]).await;
    assert!(follow(&mut browser, archived).await.text.contains("Campaign archived."));
    assert!(!browser.get("/test/campaigns").await.text.contains("Autumn"));
    assert!(browser.get("/test/campaigns?archived=yes").await.text.contains("Autumn"));
    let copy = press(&mut browser, &here, &[("act", "duplicate")]).await;
    assert!(follow(&mut browser, copy).await.text.contains("Edit campaign"));
    assert!(browser.get("/test/campaigns?q=autumn&state=draft").await.text.contains("Autumn"));
    assert!(browser.get("/test/campaigns?q=nothing").await.text.contains("No matching campaigns"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_campaign_that_cannot_run_keeps_its_page_and_links_to_the_fix() {
    let server = owned(BOUNDLESS);
    let (client, stage) = staged(&server).await;
    stage.crowd(&client, 1).await;
    let id = stage.campaign(&client).await;
    let segment = client.data("segments.create", json!({ "projectId": stage.project, "name": "Gone soon" })).await["id"].clone();
    client.data("campaigns.update", json!({ "id": id, "recipientType": "audience", "recipientId": segment })).await;
    let mut browser = Browser::new(&server);
    browser.sign_in("/test/campaigns").await;
    let launch = format!("/test/campaigns/{id}/launch");
    let csrf = browser.get(&launch).await.csrf().to_owned();
    client.data("segments.delete", json!({ "projectId": stage.project, "id": segment })).await;
    let send = [("csrf", csrf.as_str()), ("act", "send")];
    for page in [browser.get(&launch).await, browser.post(&launch, &send).await] {
        for part in
            ["<h1>Winter teas</h1>", "This campaign can't be sent yet", "Edit campaign", "aria-current=\"page\">Review and send"]
        {
            assert!(page.text.contains(part), "{part}: {}", page.text);
        }
        assert!(page.text.contains(&format!("href=\"/test/campaigns/{id}/edit\"")), "{}", page.text);
        assert!(!page.text.contains("Send now") && page.text.matches("class=\"alert\"").count() == 1, "{}", page.text);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_score_below_the_minimum_blocks_sending_and_scheduling_on_the_page() {
    let server = owned(BOUNDLESS);
    let client = server.client("test", "all");
    let html = "<p>You will recieve it untill Friday. <a href=\"#\">Click here</a> <img src=\"https://acme.example/a.png\"></p>";
    let stage = Stage::of(&client, html).await;
    stage.crowd(&client, 1).await;
    let id = stage.campaign(&client).await;
    client.data("campaigns.update", json!({ "id": id, "minimumScore": 100 })).await;
    let email = act(&client, "get", &id).await["emailId"].as_str().expect("an id").to_owned();
    let mut browser = Browser::new(&server);
    browser.sign_in("/test/campaigns").await;
    let launch = format!("/test/campaigns/{id}/launch");
    let page = browser.get(&launch).await;
    let send = [("csrf", page.csrf()), ("act", "send")];
    for page in [browser.get(&launch).await, browser.post(&launch, &send).await] {
        assert!(!page.text.contains("value=\"send\"") && !page.text.contains("value=\"schedule\""), "{}", page.text);
        let link = format!("Fix the problems above first. <a href=\"/test/emails/{email}/checks\">");
        assert_eq!(page.text.matches(&link).count(), 2, "{}", page.text);
        assert_eq!(page.text.matches("class=\"alert\"").count(), 1, "{}", page.text);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_campaign_is_scheduled_rescheduled_and_unscheduled() {
    let server = owned(BOUNDLESS);
    let (client, stage) = staged(&server).await;
    stage.crowd(&client, 1).await;
    let id = stage.campaign(&client).await;
    let mut browser = Browser::new(&server);
    browser.sign_in("/test/campaigns").await;
    let (here, launch) = (format!("/test/campaigns/{id}"), format!("/test/campaigns/{id}/launch"));
    let at = |date: &'static str, zone: &'static str| {
        [("act", "schedule"), ("date", date), ("time", "09:30"), ("zone", zone), ("local", "yes")]
    };

    let wrong = press(&mut browser, &launch, &at("2030-02-01", "Berlin")).await;
    assert_eq!(wrong.status, 400);
    assert!(wrong.text.contains("did you mean Europe/Berlin") && wrong.text.contains("value=\"2030-02-01\""), "{}", wrong.text);
    let past = press(&mut browser, &launch, &at("2020-02-01", "Europe/Berlin")).await;
    assert!(past.status == 400 && past.text.contains("id=\"date-wrong\""), "{}", past.text);
    assert!(
        past.text.contains("This time is in the past. Choose a later time") && !past.text.contains("POST /v1"),
        "{}",
        past.text
    );
    let never = press(&mut browser, &launch, &at("", "Europe/Berlin")).await;
    assert!(never.status == 400 && never.text.contains("Choose a date and time."), "{}", never.text);

    let year =
        mailmill::base::clock::Clock::now(&mailmill::base::clock::SystemClock).to_string()[..4].parse::<u32>().expect("a year")
            + 1;
    let dates = [format!("{year}-02-01"), format!("{year}-03-01")];
    for date in &dates {
        let fields = [("act", "schedule"), ("date", date), ("time", "09:30"), ("zone", "Europe/Berlin"), ("local", "yes")];
        let planned = press(&mut browser, &launch, &fields).await;
        let page = follow(&mut browser, planned).await;
        assert!(
            page.text.contains("in each recipient's time zone (Berlin time if it is unknown)")
                && page.text.contains(&format!("{date}, 09:30")),
            "{}",
            page.text
        );
        let again = browser.get(&launch).await;
        assert!(again.text.contains(&format!("value=\"{date}\"")) && again.text.contains("value=\"09:30\""), "{}", again.text);
    }
    assert!(browser.get("/test/campaigns?state=scheduled").await.text.contains(&format!("{}-03-01", year)));
    let taken_back = press(&mut browser, &here, &[("act", "unschedule")]).await;
    assert!(follow(&mut browser, taken_back).await.text.contains("The campaign is a draft again."));
    let changed = press(
        &mut browser,
        &format!("{here}/edit"),
        &[
            ("name", "Spring"),
            ("audience", "everyone"),
            ("from", "news@acme.example"),
            ("from_name", "Acme"),
            ("reply_to", "help@acme.example"),
        ],
    )
    .await;
    assert!(follow(&mut browser, changed).await.text.contains("help@acme.example"));
    let deleted = press(&mut browser, &here, &[("act", "delete")]).await;
    assert!(follow(&mut browser, deleted).await.text.contains("Campaign deleted."));
    assert_eq!(browser.get(&here).await.status, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_campaign_is_paused_resumed_and_canceled() {
    let server = owned(&crate::campaigns::settings(1));
    let (client, stage) = staged(&server).await;
    stage.crowd(&client, 200).await;
    let id = stage.campaign(&client).await;
    let mut browser = Browser::new(&server);
    browser.sign_in("/test/campaigns").await;
    let here = format!("/test/campaigns/{id}");
    act(&client, "send", &id).await;
    let moving = browser.get(&here).await;
    assert!(moving.text.contains("data-live=\"1500\"") && moving.text.contains("http-equiv=\"refresh\""), "{}", moving.text);
    for (word, said) in
        [("pause", "No more emails are sent until you resume the campaign."), ("resume", "data-live"), ("cancel", "canceled")]
    {
        let done = press(&mut browser, &here, &[("act", word)]).await;
        let page = follow(&mut browser, done).await;
        assert!(page.text.contains(said), "{word}: {}", page.text);
    }
    let late = press(&mut browser, &here, &[("act", "pause")]).await;
    assert!(late.status == 409 && late.text.contains("id=\"wrong\""), "{}", late.text);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_viewer_changes_nothing_and_a_user_without_access_gets_an_error() {
    let server = owned(BOUNDLESS);
    let (client, stage) = staged(&server).await;
    stage.crowd(&client, 1).await;
    let id = stage.campaign(&client).await;
    let owner = signed_in(&server, crate::users::OWNER, "test").await;
    member(&server, &owner, "viewer@example.com", json!({ "role": "viewer" })).await;
    let custom = json!({ "role": "custom", "permissions": ["audience:read"] });
    member(&server, &owner, "blind@example.com", custom).await;
    let here = format!("/test/campaigns/{id}");

    let mut viewer = as_member(&server, "viewer@example.com").await;
    for path in ["", "/launch", "/frame", "/report", "/log"] {
        assert_eq!(viewer.get(&format!("{here}{path}")).await.status, 200, "{path}");
    }
    for path in ["/test/campaigns/new".to_owned(), format!("{here}/edit")] {
        assert_eq!(viewer.get(&path).await.status, 403, "{path}");
    }
    for (path, word) in [("/launch", "send"), ("", "delete"), ("", "test"), ("", "duplicate")] {
        let refused = press(&mut viewer, &format!("{here}{path}"), &[("act", word), ("emails", "a@b.example")]).await;
        assert_eq!(refused.status, 403, "{word}: {}", refused.text);
    }
    assert_eq!(act(&client, "get", &id).await["status"], "draft");

    let mut blind = as_member(&server, "blind@example.com").await;
    for path in ["/test/campaigns", here.as_str(), "/test/settings/plan"] {
        let page = blind.get(path).await;
        assert_eq!(page.status, 403, "{path}: {}", page.text);
    }
    assert_eq!(blind.get("/test/").await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_stays_text_on_every_page_of_a_campaign() {
    let server = owned(BOUNDLESS);
    let (client, stage) = staged(&server).await;
    let contact = json!({ "projectId": stage.project, "email": "ada@example.com", "firstName": EVIL });
    client.data("contacts.create", contact).await;
    let tag = client.data("tags.create", json!({ "projectId": stage.project, "name": "<b>tag</b>\"'>" })).await;
    let input = json!({
        "projectId": stage.project, "name": EVIL, "conversationId": stage.conversation, "from": "news@acme.example", "fromName": EVIL,
        "subject": EVIL, "preheaderText": EVIL, "recipientType": "tag", "recipientId": tag["id"],
    });
    let id = client.data("campaigns.create", input).await["id"].as_str().expect("an id").to_owned();
    let mut browser = Browser::new(&server);
    browser.sign_in("/test/").await;
    let here = format!("/test/campaigns/{id}");
    let pages = ["", "/launch", "/edit", "/report", "/log"].map(|page| format!("{here}{page}"));
    let more =
        ["/test/".to_owned(), "/test/campaigns".to_owned(), format!("/test/campaigns?q={}", "%3Cscript%3Ealert(1)%3C/script%3E")];
    for path in pages.iter().chain(&more) {
        let page = browser.get(path).await;
        assert_eq!(page.status, 200, "{path}: {}", page.text);
        for raw in ["<script>alert", "<img src=x", "<b>tag</b>"] {
            assert!(!page.text.contains(raw), "{path} has {raw}");
        }
        assert!(page.text.contains("&lt;script&gt;alert"), "{path}");
        assert!(page.text.len() < 60_000, "{path}: {} bytes", page.text.len());
    }
}

/// Returns the value of the first field with this name.
fn value(page: &Page, name: &str) -> String {
    let field = page.text.split(&format!("name=\"{name}\"")).nth(1).and_then(|rest| rest.split('>').next()).unwrap_or_default();
    field.split("value=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default().to_owned()
}

/// Returns a form's fields with their values, as a browser sends them back.
fn as_shown(page: &Page) -> Vec<(String, String)> {
    let names = ["email", "name", "from", "from_name", "reply_to", "subject", "preheader", "minimum_score"];
    let marks = ["utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content"];
    let mut fields: Vec<(String, String)> =
        names.iter().chain(&marks).map(|name| ((*name).to_owned(), value(page, name))).collect();
    for name in ["audience", "topic", "utm", "unknown"] {
        let select = page.text.split(&format!("<select id=\"{name}\"")).nth(1).and_then(|rest| rest.split("</select>").next());
        let chosen = select.and_then(|select| select.split(" selected").next()?.rsplit("value=\"").next()?.split('"').next());
        fields.push((name.to_owned(), chosen.unwrap_or_default().to_owned()));
    }
    let area = page.text.split("<textarea id=\"variables\"").nth(1).and_then(|rest| rest.split('>').nth(1)).unwrap_or_default();
    let text = area.split("</textarea").next().unwrap_or_default().replace("&#34;", "\"").replace("&quot;", "\"");
    fields.push(("variables".to_owned(), text.replace('\n', "\r\n")));
    fields
}

async fn send_back(browser: &mut Browser<'_>, path: &str, change: &[(&str, &str)]) -> Page {
    let page = browser.get(path).await;
    assert_eq!(page.status, 200, "{}", page.text);
    let csrf = page.csrf().to_owned();
    let mut fields = as_shown(&page);
    fields.iter_mut().for_each(|(name, value)| {
        if let Some((_, new)) = change.iter().find(|(other, _)| other == name) {
            *value = (*new).to_owned();
        }
    });
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    browser.post(path, &[&[("csrf", csrf.as_str())], fields.as_slice()].concat()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_form_keeps_unchanged_values_and_covers_what_the_api_can_set() {
    let server = owned(BOUNDLESS);
    let (client, stage) = staged(&server).await;
    let topic = client.data("topics.create", json!({ "projectId": stage.project, "name": "News" })).await;
    client.data("topics.update", json!({ "id": topic["id"], "projectId": stage.project, "isActive": false })).await;
    let variables = json!({ "code": "007", "price": "10.50", "many": 3, "list": ["a", 1], "quote": "say \"it\"" });
    let made = client
        .data(
            "campaigns.create",
            json!({
                "projectId": stage.project, "name": "Teas", "conversationId": stage.conversation, "from": "news@acme.example",
                "fromName": "Acme", "recipientType": "audience", "providerType": "ses", "topicId": topic["id"],
                "variables": variables, "utm": { "source": "letter" }, "minimumScore": 40,
            }),
        )
        .await;
    let mut browser = Browser::new(&server);
    browser.sign_in("/test/campaigns").await;
    let id = made["id"].as_str().expect("an id").to_owned();
    let path = format!("/test/campaigns/{id}/edit");

    let page = browser.get(&format!("/test/campaigns/{id}")).await;
    assert!(page.text.contains("<dt>Minimum validation score</dt><dd>40</dd>"), "{}", page.text);

    // Submit the form unchanged, then with one change.
    let renamed = send_back(&mut browser, &path, &[("name", "Winter")]).await;
    assert_eq!(renamed.status, 303, "{}", renamed.text);
    let after = act(&client, "get", &id).await;
    for name in ["subject", "preheaderText", "replyTo", "recipientType", "recipientId", "topicId", "providerType"] {
        assert_eq!(after[name], made[name], "{name}");
    }
    for name in ["variables", "utm", "minimumScore", "unknown", "emailId"] {
        assert_eq!(after[name], made[name], "{name}");
    }
    assert_eq!(after["name"], "Winter");

    // An emptied field has no value afterward; an error is shown next to its field.
    for (field, value) in [
        ("variables", "no value"),
        ("minimum_score", "101"),
        ("utm_source", &"x".repeat(201)),
        ("name", ""),
        ("from", "no-address"),
    ] {
        let wrong = send_back(&mut browser, &path, &[(field, value)]).await;
        assert_eq!(wrong.status, 400, "{field}: {}", wrong.text);
        assert!(wrong.text.contains(&format!("id=\"{field}-wrong\"")), "{field}: {}", wrong.text);
    }
    let emptied = send_back(
        &mut browser,
        &path,
        &[("variables", "code = X"), ("utm", "no"), ("utm_source", ""), ("minimum_score", ""), ("topic", "")],
    )
    .await;
    assert_eq!(emptied.status, 303, "{}", emptied.text);
    let after = act(&client, "get", &id).await;
    assert_eq!(after["variables"], json!({ "code": "X" }));
    assert_eq!((&after["utm"]["enabled"], &after["utm"]["source"]), (&json!(false), &json!(null)));
    assert!(after["minimumScore"].is_null() && after["topicId"].is_null(), "{after}");

    // A minimum score can be set in the form, although the campaign has none.
    let page = browser.get(&format!("/test/campaigns/{id}")).await;
    assert!(!page.text.contains("Minimum validation score"), "{}", page.text);
    let page = browser.get(&path).await;
    assert!(page.text.contains("<details><summary>Minimum validation score</summary>"), "{}", page.text);
    let scored = send_back(&mut browser, &path, &[("minimum_score", "30")]).await;
    assert_eq!(scored.status, 303, "{}", scored.text);
    assert_eq!(act(&client, "get", &id).await["minimumScore"], 30);

    // Choose another email of the same brand.
    let choose = browser.get(&format!("{path}?choose=yes")).await;
    let link = format!("{path}?conversationId={}", stage.conversation);
    assert!(choose.text.contains("Choose another email") && choose.text.contains(&link), "{}", choose.text);
    let one = browser.get(&link).await;
    assert!(one.location().starts_with(&format!("{path}?emailId=")), "{}", one.location());
    follow(&mut browser, one).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_email_is_exported_in_the_language_of_a_platform_without_an_account() {
    let server = owned(BOUNDLESS);
    let (client, stage) = staged(&server).await;
    let mut browser = Browser::new(&server);
    browser.sign_in("/test/").await;
    for (platform, link) in [("a", "{% unsubscribe_link %}"), ("b", "*|UNSUB|*"), ("c", "{{ unsubscribe_link_all }}")] {
        let asked = json!({ "conversationId": stage.conversation, "as": "file" });
        let made = client.data(&format!("exports.platform_{platform}"), asked).await;
        assert_eq!((&made["exportType"], &made["files"][0]["format"]), (&json!(format!("platform_{platform}")), &json!("html")));
        let url = made["files"][0]["url"].as_str().expect("a link").to_owned();
        let file = browser.get(&url[url.find("/v1/").expect("a file")..]).await;
        assert!(file.text.contains(link) && !file.text.contains("unsubscribe_url"), "{platform}: {}", file.text);
        let asked = json!({ "conversationId": stage.conversation });
        let refused = client.call(&format!("exports.platform_{platform}"), asked).await;
        assert_eq!((refused.status, refused.code().as_str()), (409, "PROVIDER_NOT_CONNECTED"));
        let body = refused.json();
        let link = body["data"]["connectUrl"].as_str().expect("a link");
        assert!(body["error"].as_str().is_some_and(|error| error.contains(link)), "{body}");
        let path = &link[link.find("/test/").expect("a page of test data")..];
        let page = browser.get(path).await;
        assert!(page.status == 200 && page.text.contains("Connect an account"), "{path}: {}", page.text);
        let email = made["files"][0]["emailId"].as_str().expect("an ID");
        let path = format!("/test/emails/{email}/exports");
        let made = browser.get(&format!("{path}?format=platform_{platform}")).await;
        assert!(made.status == 200 && made.text.contains("The file is ready"), "{path}: {}", made.text);
        assert!(!made.text.contains("in a connected account"), "the card describes only the file: {}", made.text);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_email_without_content_is_refused_with_the_field() {
    let server = owned(BOUNDLESS);
    let client = server.client("test", "all");
    let project = client.project("Acme").await;
    for nothing in ["", " \r\n\t", "\u{feff}\n"] {
        let one = json!({ "projectId": project, "html": nothing });
        let several = json!({
            "projectId": project, "htmls": [{ "name": "a", "source": "<p>Hello</p>" }, { "name": "b", "source": nothing }],
        });
        for (input, field) in [(one, "html"), (several, "htmls[1].source")] {
            let refused = client.call("emails.import_html", input).await;
            assert_eq!((refused.status, &refused.json()["data"]["field"]), (400, &json!(field)), "{}", refused.error());
            assert!(refused.error().contains("must not be empty; send the email's HTML"), "{}", refused.error());
        }
    }
    assert_eq!(client.data("emails.list", json!({ "projectId": project })).await["pagination"]["total"], 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sent_campaign_shows_its_retries_and_lets_them_be_stopped() {
    let server = owned(BOUNDLESS);
    let (client, stage) = staged(&server).await;
    let mailbox = |name: &str| json!({ "email": format!("{name}@simulator.mailmill.example"), "firstName": name });
    stage.contacts(&client, json!([mailbox("mailbox-full"), mailbox("delivered")])).await;
    let id = stage.campaign(&client).await;
    act(&client, "send", &id).await;
    until(async || Some(act(&client, "get", &id).await).filter(|campaign| campaign["status"] == "sent")).await;
    let mut browser = Browser::new(&server);
    browser.sign_in("/test/campaigns").await;
    let here = format!("/test/campaigns/{id}");
    let page = browser.get(&here).await;
    for part in ["1 <span class=\"quiet\">of 2 sent", "Delayed", "Pause retries", "Cancel campaign"] {
        assert!(page.text.contains(part), "{part}: {}", page.text);
    }
    let cancelled = press(&mut browser, &here, &[("act", "cancel")]).await;
    let page = follow(&mut browser, cancelled).await;
    assert!(page.text.contains(">canceled</span>") && !page.text.contains("Pause retries"), "{}", page.text);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn problems_of_a_live_campaign_are_explained_without_fields_and_settings() {
    let server = owned(BOUNDLESS);
    let client = server.client("live", "all");
    let stage = Stage::new(&client).await;
    stage.contacts(&client, json!([{ "email": "ada@example.com" }, { "email": "bob@example.com", "firstName": "Bob" }])).await;
    let id = stage.campaign(&client).await;
    let mut browser = Browser::new(&server);
    browser.sign_in("/live/campaigns").await;
    let page = browser.get(&format!("/live/campaigns/{id}/launch")).await;
    for part in ["Ask the server operator to configure a mail relay.", "or a value for all contacts."] {
        assert!(page.text.contains(part), "{part}: {}", page.text);
    }
    for word in ["emailId", "in variables", "Idempotency-Key", "relay = [", "requestId", "projectId"] {
        assert!(!page.text.contains(word), "{word}: {}", page.text);
    }
}
