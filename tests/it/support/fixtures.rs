//! Creates every kind of object in a server's test data through the API, with a given text in every field that accepts it.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::client::Call;
use super::hook_sink::{HookSink, Reaction};
use super::server::BOUNDLESS;
use super::{Client, Server, operation};
use crate::users::{OWNER, PASSWORD, anonymous, signed_in};

const LOOK: Duration = Duration::from_millis(20);
const PATIENCE: Duration = Duration::from_secs(300);

/// Markup that has an effect wherever it is not escaped. At most fifty characters, so that tags accept it too.
pub const EVIL: &str = "\"'><script>alert(1)</script><img src=x>&lt;{{7*7}}";

/// Settings that allow creating everything: endpoints and websites on this machine, sign-up.
pub fn settings() -> String {
    let open = BOUNDLESS.replace("[accounts]", "[accounts]\nsign_up = true");
    format!(
        "{open}\n[server]\npublic_url = \"https://mail.mill.example\"\n[outbound]\nallow_networks = [\"127.0.0.0/8\"]\n\
         [webhooks]\nallow_http = true\nfirst_retry_seconds = 1\nsecond_retry_seconds = 1\n"
    )
}

/// The IDs of existing objects, by the path segment before them.
pub struct Furnished {
    pub ids: BTreeMap<&'static str, String>,
    _sink: HookSink,
}

/// Polls until there is a result.
pub async fn until<T>(mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let asking = async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::time::timeout(PATIENCE, asking).await.expect("there is a result in time")
}

fn id_of(made: &Value) -> String {
    let id = ["id", "projectId", "conversationId"].iter().find_map(|name| made[*name].as_str());
    id.unwrap_or_else(|| panic!("no id: {made}")).to_owned()
}

/// Registers a program with this name; returns the query of its request for consent.
pub async fn consent_request(server: &Server, name: &str) -> String {
    let redirect_uri = "http://127.0.0.1:4000/callback";
    let program = json!({ "client_name": name, "redirect_uris": [redirect_uri] });
    let call = Call::new(operation("accounts.client_register"), json!({})).json(program);
    let registered = anonymous(server).try_send(call).await.expect("an answer").json();
    let client = registered["client_id"].as_str().unwrap_or_else(|| panic!("an id: {registered}"));
    let fields = [
        ("response_type", "code"),
        ("client_id", client),
        ("redirect_uri", redirect_uri),
        ("scope", "audience:read email:send"),
        ("state", "a\"state"),
        ("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"),
        ("code_challenge_method", "S256"),
    ];
    serde_urlencoded::to_string(fields).expect("pairs of text")
}

impl Furnished {
    /// Fills the test data of a server that has an owner; `site` is the brand's website.
    pub async fn new(server: &Server, text: &str, site: &str) -> Self {
        let said = text.to_owned();
        let sink = HookSink::start(move |_, number| match number {
            0 => Reaction::status(200),
            _ => Reaction::Answer(500, "", said.clone()),
        })
        .await;
        let mut new = Self { ids: BTreeMap::new(), _sink: sink };
        let client = server.all();
        new.account(server, text).await;
        let project = new.brand(&client, text, site).await;
        new.webhook(&client, text).await;
        new.mail_service(&client, text).await;
        new.incoming(&client, text, &project).await;
        new.scheduled_import(&client, text, &project).await;
        new.keep("connections", "klaviyo");
        new.audience(&client, text, &project).await;
        let conversation = new.emails(&client, text, &project).await;
        new.mail(&client, text, &project, &conversation).await;
        new
    }

    fn keep(&mut self, part: &'static str, id: impl Into<String>) {
        self.ids.insert(part, id.into());
    }

    /// Returns a page's URL with the IDs of existing objects.
    pub fn path(&self, route: &str, environment: &str) -> String {
        let mut before = "";
        let parts = route.split('/').map(|part| {
            let is_name = part.starts_with('{');
            let filled = match part {
                "{environment}" => environment.to_owned(),
                _ if is_name => {
                    let found = self.ids.get(&*format!("{before}/{part}")).or_else(|| self.ids.get(before));
                    found.unwrap_or_else(|| panic!("{route}: there is nothing for {before}")).clone()
                }
                _ => part.to_owned(),
            };
            if !is_name {
                before = part;
            }
            filled
        });
        parts.collect::<Vec<_>>().join("/")
    }

    /// Creates members, keys, an agent's request, and a program's request for consent.
    async fn account(&mut self, server: &Server, text: &str) {
        let owner = signed_in(server, OWNER, "test").await;
        self.keep("authorize", consent_request(server, text).await);
        let invite = async |email: &str, role: &str| {
            let link = owner.data("accounts.member_invite", json!({ "email": email, "role": role })).await;
            link["link"].as_str().and_then(|link| link.rsplit('/').next()).expect("a link").to_owned()
        };
        let token = invite("bob@example.com", "editor").await;
        anonymous(server).data("accounts.join", json!({ "token": token, "name": text, "password": PASSWORD })).await;
        self.keep("join", invite("carol@example.com", "viewer").await);
        let link = String::from_utf8(server.run(&["reset-link", "--email", OWNER]).stdout).expect("a link");
        // The owner exists, so the setup link no longer works.
        self.keep("setup", "0123456789abcdefghijABCDEFGHIJ01");
        self.keep("reset", link.trim().rsplit('/').next().expect("a token"));
        let made =
            owner.data("accounts.key_create", json!({ "name": text, "environment": "test", "permissions": ["all"] })).await;
        self.keep("keys", id_of(&made));
        let body = json!({ "type": "service_auth", "login_hint": OWNER, "agent_name": text });
        let call = Call::new(operation("accounts.agent_identity"), json!({})).json(body);
        let answer = anonymous(server).try_send(call).await.expect("an answer").json();
        self.keep("api", "tags.list");
        self.keep("agent", answer["claim"]["user_code"].as_str().expect("a code"));
    }

    /// Creates a brand with knowledge, rules and images, and domains.
    async fn brand(&mut self, client: &Client, text: &str, site: &str) -> String {
        let made = client.data("projects.import", json!({ "name": text, "urls": [site] })).await;
        let project = id_of(&made);
        until(async || {
            let status = client.data("projects.import_status", json!({ "projectId": project })).await;
            (status["status"] == "active" || status["status"] == "error").then_some(())
        })
        .await;
        self.keep("brands", project.clone());
        let entry = json!({ "projectId": project, "title": text, "content": text });
        let entry = client.data("projects.knowledge_add", entry).await;
        self.keep("knowledge", id_of(if entry["entry"].is_object() { &entry["entry"] } else { &entry }));
        let rules = json!({ "projectId": project, "designRules": text, "imageStyle": text });
        client.data("projects.guidelines_update", rules).await;
        let image = json!({ "projectId": project, "url": format!("{site}/roastery.png"), "description": text, "tags": [text] });
        client.data("projects.images_add", image).await;
        client.data("domains.setup", json!({ "rootDomain": "acme.example", "fromName": text })).await;
        client.data("domains.create", json!({ "domain": "acme.example" })).await;
        self.keep("domains", "send.acme.example");
        project
    }

    /// Creates a webhook with a successful and a failed delivery.
    async fn webhook(&mut self, client: &Client, text: &str) {
        let wanted = json!({
            "url": self._sink.url(), "events": ["subscriber.added", "email.opened"], "description": text,
            "customHeaders": { "X-Text": text },
        });
        let id = id_of(&client.data("webhooks.create", wanted).await);
        for _ in 0..2 {
            client.data("webhooks.test", json!({ "webhookId": id })).await;
        }
        self.keep("webhooks", id);
    }

    /// Adds a mail service.
    async fn mail_service(&mut self, client: &Client, text: &str) {
        let wanted = json!({ "service": "mailgun", "name": text, "secret": "key-of-the-tests" });
        let id = id_of(&client.data("mail_feedback.create", wanted).await);
        client.data("mail_feedback.test", json!({ "mailServiceId": id })).await;
        self.keep("mail-services", id);
    }

    /// Creates an incoming webhook with an accepted and a rejected request.
    async fn incoming(&mut self, client: &Client, text: &str, project: &str) {
        let made = client.data("hooks.create", json!({ "projectId": project, "name": text, "consentSource": text })).await;
        let token = made["url"].as_str().and_then(|url| url.rsplit('/').next()).expect("a URL");
        for email in ["form@example.com", "form"] {
            let call = Call::new(operation("hooks.receive"), json!({ "token": token }));
            let body = json!({ "email": email, "firstName": text }).to_string();
            client.with_key(None).try_send(call.body("application/json", body)).await.expect("the server answers");
        }
        self.keep("incoming", id_of(&made));
    }

    /// Creates a scheduled import that is paused, so that it fetches nothing while a page is tested.
    async fn scheduled_import(&mut self, client: &Client, text: &str, project: &str) {
        let wanted = json!({ "projectId": project, "name": text, "url": "http://127.0.0.1:9/contacts.csv", "tags": ["fair"] });
        let id = id_of(&client.data("scheduled_imports.create", wanted).await);
        client.data("scheduled_imports.update", json!({ "id": id, "active": false })).await;
        self.keep("scheduled-imports", id);
    }

    /// Creates contacts, tags, segments, topics, suppressions and events.
    async fn audience(&mut self, client: &Client, text: &str, project: &str) {
        let tag = json!({ "projectId": project, "name": text, "color": "#1A73E8", "description": text });
        let tag = id_of(&client.data("tags.create", tag).await);
        self.keep("tags", tag);
        let topic = json!({
            "projectId": project, "name": text, "description": text, "defaultSubscription": "opt_in", "visibility": "public",
        });
        let topic = id_of(&client.data("topics.create", topic).await);
        self.keep("topics", topic);
        for number in 0..30 {
            let contact = json!({
                "projectId": project, "email": format!("reader{number}@example.com"), "firstName": text, "lastName": text,
                "country": "GB", "language": "en-GB", "tags": [text], "customFields": { "plan": text, text: "x" },
            });
            let made = client.data("contacts.create", contact).await;
            self.keep("contacts", id_of(&made));
        }
        let filters = json!({ "match": "all", "fields": [{ "key": "plan", "mode": "is", "values": [text] }] });
        let segment = json!({ "projectId": project, "name": text, "description": text, "filters": filters });
        let segment = id_of(&client.data("segments.create", segment).await);
        self.keep("segments", segment);
        let boundary = "part";
        let field = |name: &str, value: &str| {
            format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
        };
        let file = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\nContent-Type: text/csv\r\n\r\n"
        );
        let rows = format!(
            "Post,Who,{quoted}\r\nnew@example.com,{quoted},{quoted}\r\n",
            quoted = format!("\"{}\"", text.replace('"', "\"\""))
        );
        let body = format!("{}{}{file}{rows}\r\n--{boundary}--\r\n", field("projectId", project), field("hold", "true"));
        let call = Call::new(operation("contacts.import"), json!({})).body("multipart/form-data; boundary=part", body);
        self.keep("import", id_of(&client.send(call).await.json()["data"]));
        let export = client.data("contacts.export", json!({ "projectId": project })).await;
        self.keep("jobs/{kind}", "export");
        self.keep("jobs", export["jobId"].as_str().expect("an id"));
        client.data("suppressions.create", json!({ "email": "gone@example.com", "note": text })).await;
    }

    /// Creates an imported email, and a series with the built-in composer.
    async fn emails(&mut self, client: &Client, text: &str, project: &str) -> String {
        let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace("{{", "{ {");
        let html = format!(
            "<html lang=\"en\"><head><title>{escaped}</title></head><body><h1>{escaped}</h1><p>Hello {{{{ firstName }}}}, <a \
             href=\"https://acme.example/teas\">look at them</a>.</p><p><a \
             href=\"{{{{ unsubscribe_url }}}}\">Unsubscribe</a></p></body></html>"
        );
        let input = json!({ "projectId": project, "html": html, "name": text });
        let taken = id_of(&client.data("emails.import_html", input).await);
        let prompt = format!("Welcome series for new subscribers, 10% off with the code HELLO10. {text}");
        let written = json!({ "projectId": project, "prompt": prompt, "count": 2 });
        let written = id_of(&client.data("emails.generate", written).await);
        for conversation in [&taken, &written] {
            let status = until(async || {
                let status = client.data("emails.status", json!({ "conversationId": conversation })).await;
                (status["status"] == "completed" || status["status"] == "failed").then_some(status)
            })
            .await;
            assert_eq!(status["status"], "completed", "{status}");
            let email = &status["result"]["emails"][0];
            let id = ["emailId", "id"].iter().find_map(|name| email[*name].as_str()).expect("an id");
            self.keep("emails", id);
        }
        self.keep("designs", "welcome");
        self.keep("series", written);
        taken
    }

    /// Creates a sent campaign, a draft, a direct send and an order.
    async fn mail(&mut self, client: &Client, text: &str, project: &str, conversation: &str) {
        let wanted = json!({
            "projectId": project, "name": text, "conversationId": conversation, "from": "news@acme.example", "fromName": text,
            "subject": text.replace("{{", "{ {"), "recipientType": "audience", "variables": { "offer": text },
        });
        let waiting = id_of(&client.data("campaigns.create", wanted.clone()).await);
        self.keep("drafts", waiting);
        let sent = id_of(&client.data("campaigns.create", wanted).await);
        client.data("campaigns.send", json!({ "id": sent })).await;
        until(async || {
            let campaign = client.data("campaigns.get", json!({ "id": sent })).await;
            assert_ne!(campaign["status"], "failed", "{campaign}");
            (campaign["status"] == "sent").then_some(())
        })
        .await;
        self.keep("campaigns", sent);
        let message = json!({
            "recipientType": "email", "recipientEmail": "reader1@example.com", "from": "hello@acme.example", "fromName": text,
            "subject": text.replace("{{", "{ {"), "template": "<p>Hello</p>", "projectId": project,
        });
        client.data("sending.send", message).await;
        let event = json!({
            "projectId": project, "name": "purchase.completed", "properties": { "value": 49.9, "currency": "EUR", "note": text },
            "identifiers": { "email": "reader1@example.com", "externalOrderId": text }, "dedupeKey": text,
        });
        client.data("events.record", event).await;
        let message = until(async || {
            let inbox = client.data("sending.inbox_list", json!({ "limit": 1 })).await;
            inbox["messages"][0]["id"].as_str().map(str::to_owned)
        })
        .await;
        self.keep("inbox", message);
    }
}
