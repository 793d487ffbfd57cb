//! The steps of the demo, in order. Each step reports its result; a failed step ends the demo.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, USER_AGENT};
use http::{Method, Uri};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::sleep;

use super::crowd::{self, ReaderAction, ReaderStep};
use crate::base::clock::{PastClock, Timestamp};
use crate::engine::access::session_cache::UserSession;
use crate::engine::api::Principal;
use crate::engine::api::call::Api;
use crate::engine::api::http_types::{Body, Incoming, Peer, Service};
use crate::engine::api::response::WireTime;
use crate::surfaces::internal_call;

/// The pause between polls of a slow operation. With [`POLLS_MAX`] polls, the demo waits at most 90 seconds.
const POLL_PAUSE: Duration = Duration::from_millis(150);
const POLLS_MAX: usize = 600;
const MINUTE_MS: i64 = 60 * 1000;
const DAY_MS: i64 = 24 * 60 * MINUTE_MS;
/// The User-Agent header that the simulated readers send.
const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0";
const BOUNDARY: &str = "first-minute-4f1c9a";

/// The identity with which the demo calls operations.
pub enum StoryOwner {
    /// An API key for the test environment.
    Key(String),
    /// A signed-in user in the test environment.
    Person(Box<UserSession>),
}

pub struct Story {
    pub api: Api,
    pub owner: StoryOwner,
    pub peer: Peer,
    /// The URL of the website that the demo imports.
    pub site: String,
    /// The email address of the user, who also receives the campaign.
    pub reader: String,
    /// The engine's clock, if it starts in the past. The demo then advances the clock to the time of each reader's action. If `None`, all
    /// actions happen immediately.
    pub clock: Option<Arc<PastClock>>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct StoryProgress {
    pub steps: Vec<Step>,
    pub ending: Option<Ending>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Step {
    pub title: &'static str,
    /// The result for the user; empty while the step runs.
    pub said: String,
    /// The path of the dashboard page with the result, relative to the environment's path.
    pub path: String,
    pub milliseconds: i64,
}

#[derive(Clone, Debug, Serialize)]
pub enum Ending {
    /// The demo succeeded. `message` is the path of the user's copy of the campaign in the inbox, or of the inbox if there is no copy. The
    /// path is relative to the environment's path.
    Well { message: String },
    /// The demo failed for this reason.
    Stuck(String),
}

/// The results of earlier steps that later steps need.
#[derive(Default)]
struct StepState {
    project: String,
    conversation: String,
    emails: Vec<Value>,
    sender: String,
    brand: String,
    campaign: String,
}

/// Polls until there is a result, at most `POLLS_MAX` times. This is a macro, because the futures of a function that takes a closure
/// could not be sent between threads.
macro_rules! until {
    ($late:literal, $poll:block) => {{
        let mut found = None;
        for _ in 0..POLLS_MAX {
            found = $poll;
            if found.is_some() {
                break;
            }
            sleep(POLL_PAUSE).await;
        }
        found.ok_or($late)?
    }};
}

type StepResult = Result<(String, String), String>;

impl Story {
    pub async fn run(self, progress: watch::Sender<StoryProgress>) {
        let ending = match self.steps(&progress).await {
            Ok(message) => Ending::Well { message },
            Err(why) => Ending::Stuck(why),
        };
        self.catch_up();
        progress.send_modify(|progress| progress.ending = Some(ending));
    }

    async fn steps(&self, progress: &watch::Sender<StoryProgress>) -> Result<String, String> {
        let mut known = StepState::default();
        self.step(progress, "Brand", self.brand(&mut known)).await?;
        self.step(progress, "Emails", self.emails(&mut known)).await?;
        self.step(progress, "Contacts", self.contacts(&known)).await?;
        self.step(progress, "Campaign", self.campaign(&mut known)).await?;
        self.step(progress, "Inbox", self.inbox()).await?;
        self.step(progress, "Clicks", self.clicks(&known)).await?;
        self.step(progress, "Revenue", self.revenue(&known)).await?;
        self.step(progress, "Next week", self.next_week(&known)).await?;
        let mail = self.ask("sending.inbox_list", json!({ "to": self.reader, "limit": 1 })).await?;
        Ok(mail["messages"][0]["id"].as_str().map_or_else(|| "/inbox".to_owned(), |id| format!("/inbox/{id}")))
    }

    async fn step(
        &self,
        progress: &watch::Sender<StoryProgress>,
        title: &'static str,
        work: impl Future<Output = StepResult>,
    ) -> Result<(), String> {
        // The monotonic clock measures the duration, because the demo may advance the wall clock.
        let monotonic = || self.api.0.clock.monotonic();
        let started = monotonic();
        progress.send_modify(|progress| {
            progress.steps.push(Step { title, said: String::new(), path: String::new(), milliseconds: 0 })
        });
        let (said, path) = work.await?;
        let milliseconds = monotonic().ms_since(started);
        progress.send_modify(|progress| {
            let last = progress.steps.last_mut().expect("a step was just added");
            *last = Step { title, said, path, milliseconds };
        });
        Ok(())
    }

    fn now(&self) -> Timestamp {
        self.api.0.clock.now()
    }

    fn catch_up(&self) {
        if let Some(clock) = &self.clock {
            clock.catch_up();
        }
    }

    async fn brand(&self, known: &mut StepState) -> StepResult {
        // An earlier run of the demo may have imported a brand from the site.
        let brands = self.ask("projects.list", json!({ "limit": 100 })).await?;
        let bare = |url: &str| url.trim_end_matches('/').to_owned();
        let same = |brand: &&Value| brand["urls"][0].as_str().is_some_and(|url| bare(url) == bare(&self.site));
        known.project = match brands["projects"].as_array().and_then(|brands| brands.iter().find(same)) {
            Some(brand) => {
                self.ask("projects.import_retry", json!({ "projectId": brand["id"] })).await?;
                text(brand, "/id")
            }
            None => text(&self.ask("projects.import", json!({ "urls": [self.site] })).await?, "/projectId"),
        };
        let input = json!({ "projectId": known.project });
        let status = until!("The website wasn't read in time. Run the demo again.", {
            let status = self.ask("projects.import_status", input.clone()).await?;
            match status["status"].as_str() {
                Some("error") => return Err(format!("The website couldn't be read: {}", text(&status, "/error"))),
                Some("active") => Some(status),
                _ => None,
            }
        });
        known.brand = text(&status, "/name");
        let domain = text(&status, "/domain");
        // The host of a website can be an IP address or `localhost`, which the From address must not use.
        known.sender = if domain.parse::<std::net::IpAddr>().is_ok() || !domain.contains('.') {
            "hello@leafandstone.example".into()
        } else {
            format!("hello@{domain}")
        };
        let metrics = &status["importMetrics"];
        let done = format!(
            "{}: {} pages read, {} products and {} knowledge entries found",
            known.brand, metrics["pagesRead"], metrics["productsFound"], metrics["knowledgeEntries"]
        );
        Ok((done, format!("/brands/{}", known.project)))
    }

    async fn emails(&self, known: &mut StepState) -> StepResult {
        let input = json!({
            "projectId": known.project, "languages": ["en"], "count": 3,
            "prompt": "Newsletter with our favorites of the season, and 10% off until Sunday with the code HELLO10",
        });
        let started = self.ask("emails.generate", input).await?;
        known.conversation = text(&started, "/conversationId");
        let input = json!({ "conversationId": known.conversation });
        let mut status = until!("The emails weren't created in time. Run the demo again.", {
            let status = self.ask("emails.status", input.clone()).await?;
            match status["status"].as_str() {
                Some("failed") => return Err(format!("The emails couldn't be created: {}", text(&status, "/error"))),
                Some("completed") => Some(status),
                _ => None,
            }
        });
        known.emails = status["result"]["emails"].as_array_mut().map(std::mem::take).unwrap_or_default();
        let subjects: Vec<String> = known.emails.iter().map(|email| format!("“{}”", text(email, "/subject"))).collect();
        let first = known.emails.first().map(|email| text(email, "/id")).ok_or("No email was created. Run the demo again.")?;
        Ok((subjects.join(", "), format!("/emails/{first}")))
    }

    async fn contacts(&self, known: &StepState) -> StepResult {
        let field = |name: &str, value: &str| {
            format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
        };
        let file = format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"readers.csv\"\r\nContent-Type: text/csv\r\n\r\n{}\r\n--{BOUNDARY}--\r\n",
            crowd::csv(&self.reader)
        );
        let map = json!({
            "email": "email", "firstName": "first name", "lastName": "last name", "country": "country", "tags": "tags",
            "customFields": { "favorite": "favorite" },
        });
        let body = field("projectId", &known.project) + &field("columnMap", &map.to_string()) + &file;
        let content_type =
            HeaderValue::from_str(&format!("multipart/form-data; boundary={BOUNDARY}")).expect("the header value is ASCII");
        let started = self.ask_with("contacts.import", json!({}), Some((content_type, Body::Whole(Bytes::from(body))))).await?;
        let input = json!({ "id": started["id"] });
        let read = until!("The contacts weren't imported in time. Run the demo again.", {
            let status = self.ask("contacts.import_status", input.clone()).await?;
            (status["status"] == "completed" || status["status"] == "failed").then_some(status)
        });
        let counts = &read["counts"];
        let favorites = json!({
            "projectId": known.project, "name": "Green tea lovers",
            "filters": { "match": "all", "status": "subscribed", "fields": [{ "key": "favorite", "mode": "is", "values": ["green tea"] }] },
        });
        let segment = self.ask("segments.create", favorites).await?;
        let done = format!(
            "{} imported from a CSV file, {} of them in the segment “Green tea lovers”",
            counts["total"], segment["count"]
        );
        Ok((done, "/contacts".into()))
    }

    async fn campaign(&self, known: &mut StepState) -> StepResult {
        let input = self.campaign_of(known, "Favorites of the season", 0);
        let made = self.ask("campaigns.create", input).await?;
        known.campaign = text(&made, "/id");
        let input = json!({ "id": known.campaign });
        let dry = self.ask("campaigns.dry_run", input.clone()).await?;
        self.ask("campaigns.send", input.clone()).await?;
        until!("The campaign wasn't sent in time. Run the demo again.", {
            let campaign = self.ask("campaigns.get", input.clone()).await?;
            match campaign["status"].as_str() {
                Some("failed") => return Err(format!("The campaign failed: {}", text(&campaign, "/error"))),
                Some("sent") => Some(()),
                _ => None,
            }
        });
        Ok((
            format!("“{}” to {} recipients", text(&made, "/subject"), dry["recipients"]),
            format!("/campaigns/{}", known.campaign),
        ))
    }

    fn campaign_of(&self, known: &StepState, name: &str, number: usize) -> Value {
        let email = known.emails.get(number).or(known.emails.first()).map(|email| text(email, "/id"));
        json!({
            "projectId": known.project, "name": name, "conversationId": known.conversation, "emailId": email,
            "from": known.sender, "fromName": known.brand, "recipientType": "audience",
        })
    }

    async fn inbox(&self) -> StepResult {
        let input = json!({ "to": self.reader, "limit": 1 });
        let id = until!("Your copy didn't arrive in time. Run the demo again.", {
            let list = self.ask("sending.inbox_list", input.clone()).await?;
            list["messages"][0]["id"].as_str().map(str::to_owned)
        });
        let mail = self.ask("sending.inbox_get", json!({ "id": id })).await?;
        let done = format!(
            "{} received “{}”, with {} links",
            self.reader,
            text(&mail, "/message/subject"),
            mail["links"].as_array().map_or(0, Vec::len)
        );
        Ok((done, format!("/inbox/{id}")))
    }

    /// Performs the readers' opens, clicks and unsubscribes by requesting the links in their messages.
    async fn clicks(&self, known: &StepState) -> StepResult {
        let sent_at = self.now();
        let (mut opened, mut clicked) = (0, 0);
        for ReaderAction { after_ms, email, action } in crowd::actions() {
            let at = sent_at.plus_ms(after_ms);
            if let Some(clock) = &self.clock {
                if day(at) != day(self.now()) {
                    // An open counts for the day on which it is stored, so all opens of a day must be stored before the clock advances to
                    // the next day.
                    self.counted(known, opened, clicked).await?;
                }
                clock.advance_to(at);
            }
            let message = self.message_to(&email).await?;
            match action {
                ReaderStep::Open => {
                    opened += 1;
                    self.visit(Method::GET, link(&message["html"], "/t/o/"), "").await?;
                }
                ReaderStep::Click => {
                    clicked += 1;
                    self.visit(Method::GET, link(&message["html"], "/t/c/"), "").await?;
                }
                ReaderStep::Unsubscribe => {
                    let header =
                        message["headers"].as_array().into_iter().flatten().find(|one| one["name"] == "List-Unsubscribe");
                    let header = header.map_or(&Value::Null, |header| &header["value"]);
                    self.visit(Method::POST, link(header, "/u/"), "List-Unsubscribe=One-Click").await?;
                }
            }
        }
        self.counted(known, opened, clicked).await?;
        self.catch_up();
        let stats = self.ask("campaigns.stats", json!({ "id": known.campaign })).await?;
        let done = format!(
            "{} opened the email, {} clicked, {} unsubscribed, {} deferred by full mailboxes",
            stats["uniqueOpens"], stats["uniqueClicks"], stats["unsubscribes"], stats["deferred"]
        );
        Ok((done, format!("/campaigns/{}/report", known.campaign)))
    }

    /// Waits until the campaign's statistics have at least this many opens and clicks.
    async fn counted(&self, known: &StepState, opened: u64, clicked: u64) -> Result<(), String> {
        until!("The opens and clicks weren't counted in time. Run the demo again.", {
            let stats = self.ask("campaigns.stats", json!({ "id": known.campaign })).await?;
            let many = |name: &str| stats[name].as_u64().unwrap_or_default();
            (many("uniqueOpens") >= opened && many("uniqueClicks") >= clicked).then_some(())
        });
        Ok(())
    }

    /// Returns the newest message to this address in the inbox.
    async fn message_to(&self, email: &str) -> Result<Value, String> {
        let list = self.ask("sending.inbox_list", json!({ "to": email, "limit": 1 })).await?;
        self.ask("sending.inbox_get", json!({ "id": list["messages"][0]["id"] })).await
    }

    /// Sends a request as a reader's email client or browser does.
    async fn visit(&self, method: Method, path: Option<Uri>, form: &'static str) -> Result<(), String> {
        let uri = path.ok_or("A campaign message lacks a tracking link or an unsubscribe link. Run the demo again.")?;
        let mut headers = HeaderMap::new();
        headers.insert(USER_AGENT, HeaderValue::from_static(BROWSER));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
        let body = Body::Whole(Bytes::from_static(form.as_bytes()));
        let reply = self.api.call(Incoming { method, uri, headers, body, peer: self.peer }).await;
        if reply.status.is_client_error() || reply.status.is_server_error() {
            return Err(format!("A link in a campaign message returned status {}. Run the demo again.", reply.status));
        }
        Ok(())
    }

    async fn revenue(&self, known: &StepState) -> StepResult {
        let clicked = self.ask("campaigns.logs", json!({ "id": known.campaign, "status": "clicked", "limit": 100 })).await?;
        let prices = ["14.90", "64.00", "33.90", "28.00", "19.00", "49.00"];
        let now = self.now();
        let rows = clicked["emails"].as_array().map(Vec::as_slice).unwrap_or_default();
        let purchase = |(number, row): (usize, &Value)| {
            let price: f64 = prices[number % prices.len()].parse().expect("a price is a number");
            // The purchase happens 4 to 34 minutes after the click, but not in the future.
            let clicked_at = row["clicked_at"].as_str().and_then(|at| at.parse().ok()).map_or(now, |WireTime(at)| at);
            let ordered_at = clicked_at.plus_ms((4 + 7 * number as i64 % 31) * MINUTE_MS).min(now);
            json!({
                "name": "purchase.completed", "dedupeKey": format!("first-minute-{number}"), "occurredAt": WireTime(ordered_at),
                "identifiers": { "email": row["to_email"], "externalOrderId": format!("first-minute-{number}") },
                "properties": { "value": price, "currency": "EUR" },
            })
        };
        let events: Vec<Value> = rows.iter().step_by(2).enumerate().map(purchase).collect();
        let count = events.len();
        self.ask("events.batch", json!({ "projectId": known.project, "events": events })).await?;
        let input = json!({ "id": known.campaign });
        let stats = until!("The purchases weren't credited in time. Run the demo again.", {
            let stats = self.ask("campaigns.stats", input.clone()).await?;
            let is_all = stats["conversion"]["conversions"].as_u64().unwrap_or_default() as usize >= count;
            is_all.then_some(stats)
        });
        let conversion = &stats["conversion"];
        let done = format!(
            "{} purchases, {} {:.2} credited to the email that led to them",
            conversion["conversions"],
            text(conversion, "/currency"),
            conversion["revenue"].as_f64().unwrap_or_default()
        );
        Ok((done, format!("/campaigns/{}/report", known.campaign)))
    }

    async fn next_week(&self, known: &StepState) -> StepResult {
        let made = self.ask("campaigns.create", self.campaign_of(known, "A look at next week", 2)).await?;
        let day = serde_json::to_value(WireTime(self.now().plus_ms(7 * DAY_MS))).unwrap_or_default();
        let at = format!("{}T09:00", day.as_str().and_then(|day| day.get(..10)).unwrap_or_default());
        let id = text(&made, "/id");
        self.ask("campaigns.schedule", json!({ "id": id, "scheduledAt": at, "scheduledTimezone": "Europe/Berlin" })).await?;
        Ok((
            format!("“{}” is scheduled for {} at 09:00 in Berlin", text(&made, "/subject"), &at[..10]),
            format!("/campaigns/{id}"),
        ))
    }

    async fn ask(&self, id: &str, input: Value) -> Result<Value, String> {
        self.ask_with(id, input, None).await
    }

    async fn ask_with(&self, id: &str, input: Value, given: Option<(HeaderValue, Body)>) -> Result<Value, String> {
        let mut request = internal_call::request(self.api.operations(), id, input, given, self.peer);
        let reply = match &self.owner {
            StoryOwner::Key(key) => {
                let bearer = HeaderValue::from_str(&format!("Bearer {key}")).expect("an API key is ASCII");
                request.headers.insert(AUTHORIZATION, bearer);
                self.api.call(request).await
            }
            StoryOwner::Person(person) => {
                let called = self.api.call_as(Principal::User((**person).clone()), request).await;
                called.map_err(|failure| failure.text())?
            }
        };
        internal_call::data(id, reply).map_err(|reply| {
            let body = internal_call::body(&reply);
            body["error"].as_str().unwrap_or("The service gave no reason.").to_owned()
        })
    }
}

/// Returns the path and query of the first link in the text that has a path starting with `front`.
fn link(text: &Value, front: &str) -> Option<Uri> {
    let text = text.as_str()?;
    let rest = &text[text.find(front)?..];
    let end = rest.find(|letter: char| matches!(letter, '"' | '\'' | '<' | '>') || letter.is_whitespace()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

fn day(at: Timestamp) -> i64 {
    at.0.div_euclid(DAY_MS)
}

fn text(value: &Value, place: &str) -> String {
    value.pointer(place).and_then(Value::as_str).unwrap_or_default().to_owned()
}
