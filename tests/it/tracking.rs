//! Tests recipients' activity: the tracking pixel, a link, one-click unsubscribe, the preferences page, and a kill in between.

use http::Method;
use serde_json::{Value, json};

use super::support::client::Call;
use super::support::server::BOUNDLESS;
use super::support::{Client, Reply, Server, operation};

pub const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0";
const TEMPLATE: &str = r#"<html><body><p>Hello {{ firstName }}</p>
<a href="https://shop.example/spring?size=m&amp;for={{ email }}#top">Shop</a>
<p><a href="{{ unsubscribe_url }}">Leave</a> <a href="{{ preferences_url }}">Choose</a> <a href="{{ view_url }}">Online</a></p>
</body></html>"#;

/// Settings with budgets and sending quotas that no test uses up.
fn settings() -> String {
    BOUNDLESS
        .replace("recipients_per_second = 1\n", "recipients_per_second = 1000\n")
        .replace("_emails = 0", "_emails = 1_000_000")
}

/// A message to Ada in the built-in inbox.
pub struct Message {
    id: String,
    client: Client,
    pub project: String,
    pub contact: String,
    html: String,
    headers: Vec<(String, String)>,
}

/// Polls until `found` returns a result.
async fn until<T>(what: &str, mut found: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(60);
    loop {
        if let Some(found) = found().await {
            return found;
        }
        assert!(tokio::time::Instant::now() < deadline, "{what} does not come");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}

impl Message {
    pub async fn to_ada(client: Client) -> Self {
        let project = client.project("Acme").await;
        let ada =
            json!({ "projectId": project, "email": "ada@example.com", "firstName": "Ada", "language": "en", "country": "GB" });
        let contact = client.data("contacts.create", ada).await["id"].as_str().expect("an id").to_owned();
        let send = json!({
            "recipientType": "email", "recipientEmail": "ada@example.com", "from": "hello@acme.example", "fromName": "Acme",
            "subject": "Spring", "template": TEMPLATE, "projectId": project, "transactional": false,
        });
        let sent = client.data("sending.send", send).await["sendId"].as_str().expect("an id").to_owned();
        let listed = json!({ "sendId": sent });
        let id = until("the message", async || {
            let inbox = client.data("sending.inbox_list", listed.clone()).await;
            inbox["messages"][0]["id"].as_str().map(str::to_owned)
        })
        .await;
        let message = client.data("sending.inbox_get", json!({ "id": id })).await;
        let headers = message["headers"].as_array().expect("a list").iter().map(|header| {
            let text = |name: &str| header[name].as_str().expect("text").to_owned();
            (text("name"), text("value"))
        });
        let html = message["html"].as_str().expect("HTML").to_owned();
        Self { headers: headers.collect(), id, html, client, project, contact }
    }

    /// Returns the token after this part of a path.
    pub fn token(&self, front: &str) -> String {
        let (_, rest) = self.html.split_once(front).unwrap_or_else(|| panic!("no {front} in {}", self.html));
        rest.split(|letter: char| !(letter.is_ascii_alphanumeric() || "-_".contains(letter))).next().expect("a token").to_owned()
    }

    async fn visit(&self, id: &str, token: &str, method: Method, agent: &str) -> Reply {
        let anonymous = self.client.with_key(None);
        let call = Call { method, ..Call::new(operation(id), json!({ "token": token })).header("user-agent", agent) };
        anonymous.try_send(call).await.expect("the server answers")
    }

    async fn post(&self, id: &str, token: &str, content_type: &str, body: &str) -> Reply {
        let anonymous = self.client.with_key(None);
        let call = Call::new(operation(id), json!({ "token": token })).body(content_type, body.to_owned());
        anonymous.try_send(call).await.expect("the server answers")
    }

    async fn status(&self) -> String {
        let asked = json!({ "id": self.contact, "projectId": self.project });
        self.client.data("contacts.get", asked).await["status"].as_str().expect("a word").to_owned()
    }

    async fn kept(&self) -> Value {
        self.client.data("tracking.personal_data", json!({ "id": self.contact, "projectId": self.project })).await
    }

    async fn until_sends(&self, what: &str, field: &str, wanted: u64) {
        until(what, async || {
            let k = self.kept().await;
            println!("{k}");
            (k["sends"][0][field] == wanted).then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn opens_and_clicks_of_a_person_count_and_those_of_a_bot_do_not() {
    let server = Server::start(&settings());
    let message = Message::to_ada(server.all()).await;
    let pixel = message.visit("tracking.open", &format!("{}.gif", message.token("/t/o/")), Method::GET, BROWSER).await;
    assert_eq!((pixel.status, pixel.bytes.len(), pixel.header("content-type")), (200, 43, Some("image/gif")));
    assert!(pixel.header("cache-control").is_some_and(|value| value.contains("no-store")));
    let link = message.token("/t/c/");
    let clicked = message.visit("tracking.click", &link, Method::GET, BROWSER).await;
    let target = clicked.header("location").expect("a redirect").to_owned();
    assert_eq!(clicked.status, 302);
    assert!(target.starts_with("https://shop.example/spring?size=m&for=ada%40example.com"), "{target}");
    assert!(target.ends_with("#top"), "{target}");
    message.visit("tracking.click", &link, Method::HEAD, BROWSER).await;
    message.visit("tracking.click", &link, Method::GET, "BarracudaCentral").await;
    message.until_sends("the click", "clicks", 1).await;
    message.until_sends("the open", "opens", 1).await;
    let segment = json!({
        "projectId": message.project, "name": "Readers",
        "filters": { "activity": [{ "action": "clicked", "mode": "within", "unit": "days", "amount": 1 }] },
    });
    assert_eq!(message.client.data("segments.create", segment).await["count"], 1);
    let (front, last) = link.split_at(link.len() - 1);
    let forged = format!("{front}{}", if last == "A" { "Q" } else { "A" });
    assert_eq!(message.visit("tracking.click", &forged, Method::GET, BROWSER).await.status, 404);
}

/// The images of a message are loaded for its screenshot, but the tracking pixel must not be among them.
#[tokio::test]
async fn a_screenshot_of_a_message_is_not_an_open() {
    // The server may load images from itself, as a server with a public address may.
    let server = Server::start(&format!("{}\n[outbound]\nallow_networks = [\"127.0.0.0/8\"]\n", settings()));
    let (drawn, opened) = (Message::to_ada(server.all()).await, Message::to_ada(server.all()).await);
    let screenshot = drawn.client.call("sending.inbox_screenshot", json!({ "id": drawn.id })).await;
    assert_eq!((screenshot.status, screenshot.header("content-type")), (200, Some("image/png")));
    // Opens are stored in their order, so an open by the screenshot would be stored before this one.
    opened.visit("tracking.open", &format!("{}.gif", opened.token("/t/o/")), Method::GET, BROWSER).await;
    opened.until_sends("the open", "opens", 1).await;
    assert_eq!(drawn.kept().await["sends"][0]["opens"], 0, "{}", drawn.kept().await);
}

#[tokio::test]
async fn one_click_as_a_mail_service_does_it_unsubscribes_and_a_get_does_not() {
    let server = Server::start(&settings());
    let message = Message::to_ada(server.all()).await;
    let (_, header) = message.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("list-unsubscribe")).expect("the header");
    let token = message.token("/u/");
    assert!(header.contains(&token) || header.contains("/u/"), "{header}");
    let page = message.visit("tracking.unsubscribe_page", &token, Method::GET, BROWSER).await;
    assert_eq!(page.status, 200);
    assert!(page.header("content-security-policy").is_some_and(|policy| policy.starts_with("default-src 'none'")));
    assert!(String::from_utf8_lossy(&page.bytes).contains("Unsubscribe from Acme?"));
    assert_eq!(message.status().await, "subscribed");
    let body = "--gmail\r\nContent-Disposition: form-data; name=\"List-Unsubscribe\"\r\n\r\nOne-Click\r\n--gmail--\r\n";
    let done = message.post("tracking.unsubscribe", &token, "multipart/form-data; boundary=gmail", body).await;
    assert_eq!((done.status, done.header("location"), done.header("set-cookie")), (200, None, None));
    assert_eq!(message.status().await, "unsubscribed");
    let again =
        message.post("tracking.unsubscribe", &token, "application/x-www-form-urlencoded", "List-Unsubscribe=One-Click").await;
    assert_eq!(again.status, 200);
}

#[tokio::test]
async fn topic_choices_survive_a_kill_right_after_their_response() {
    let mut server = Server::start(&settings());
    let client = server.all();
    let message = Message::to_ada(client.clone()).await;
    let topic =
        json!({ "projectId": message.project, "name": "Offers", "visibility": "public", "defaultSubscription": "opt_out" });
    let topic = client.data("topics.create", topic).await["id"].as_str().expect("an id").to_owned();
    let html = &message.html;
    let token = html.split("/preferences").next().and_then(|front| front.rsplit('/').next()).expect("a token").to_owned();
    let form = "application/x-www-form-urlencoded";
    let saved = message.post("tracking.preferences", &token, form, &format!("topic={topic}&act=save")).await;
    assert_eq!(saved.status, 200);
    let left = message.post("tracking.unsubscribe", &message.token("/u/"), form, "List-Unsubscribe=One-Click").await;
    assert_eq!(left.status, 200);
    server.kill();
    server.serve();
    let message = Message { client: Client::new(server.address(), client.key().map(str::to_owned)), ..message };
    assert_eq!(message.status().await, "unsubscribed");
    let kept = message.kept().await;
    assert_eq!(kept["topics"][0]["subscribed"], true, "{kept}");
}

#[tokio::test]
async fn an_erased_contact_is_in_no_response() {
    let server = Server::start(&settings());
    let message = Message::to_ada(server.all()).await;
    message.visit("tracking.open", &format!("{}.gif", message.token("/t/o/")), Method::GET, BROWSER).await;
    message.until_sends("the open", "opens", 1).await;
    message.client.data("contacts.delete", json!({ "id": message.contact, "projectId": message.project })).await;
    until("the end of the erasure", async || {
        let inbox = message.client.data("sending.inbox_list", json!({ "to": "ada@example.com" })).await;
        let gone = message.visit("tracking.unsubscribe_page", &message.token("/u/"), Method::GET, BROWSER).await;
        (inbox["total"] == 0 && gone.status == 404).then_some(())
    })
    .await;
}
