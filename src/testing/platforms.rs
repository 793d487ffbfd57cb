//! A server on loopback that simulates the platforms Klaviyo, Mailchimp and HubSpot: their paths, parameters, limits and response formats.
//! Tests can make it misbehave.
//!
//! It rejects requests that the platforms' documentation does not allow. It also compares all requests, except those for signing in, with
//! the platforms' API descriptions (`published`); a request that a description does not allow makes the test fail. The integration tests
//! also include this file.

// The integration tests include this file by its path, so the modules need explicit paths.
#[path = "platforms/changes.rs"]
pub mod changes;
#[path = "platforms/groups.rs"]
mod groups;
#[path = "platforms/oauth.rs"]
mod oauth;
#[path = "platforms/published.rs"]
pub mod published;
#[path = "platforms/record.rs"]
mod record;
#[path = "platforms/subscription.rs"]
mod subscription;
#[path = "platforms/templates.rs"]
mod templates;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value, json};

use changes::Changes;
pub use oauth::{CLIENT_ID, CLIENT_SECRET, Grant};
pub use subscription::{Standing, standing};
pub use templates::{Stored, StoredImage};

/// The API keys that the platforms accept initially.
pub const KLAVIYO_KEY: &str = "pk_0123456789abcdef";
pub const MAILCHIMP_KEY: &str = "0123456789abcdef0123456789abcdef-us21";
pub const HUBSPOT_KEY: &str = "pat-na1-01234567-89ab-cdef";

/// What the server does instead of responding as documented.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    /// Responds with this status and, if given, `Retry-After` in seconds. The request has no effect.
    Status(u16, Option<u32>),
    /// Responds with this status, although the request took effect.
    AfterEffect(u16),
    /// Closes the connection in the middle of the body.
    Cut,
    /// Responds with only the start of the JSON, as a complete body.
    Partial,
    /// Responds with an HTML page instead of JSON.
    Html,
    /// Does not respond for a minute.
    Silence,
    /// Replaces the first string with the second in the response.
    Replace(&'static str, &'static str),
}

#[derive(Clone, Debug)]
pub struct PlatformRequest {
    pub method: String,
    /// The path and query, percent-encoded as received.
    pub target: String,
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

#[derive(Default)]
pub struct State {
    keys: Vec<String>,
    people: usize,
    /// The number of the first contact that is still on the Mailchimp list.
    first: usize,
    changes: Changes,
    /// The ID of a deleted HubSpot contact that lists still contain.
    deleted: Option<String>,
    /// The pending faults: the method (empty for any), a part of the path, the number of requests that they still affect, and the
    /// fault.
    faults: Vec<(&'static str, &'static str, usize, Fault)>,
    asked: Vec<PlatformRequest>,
    /// The requests that a platform's description does not allow, with the reasons.
    objections: Vec<String>,
    stored: Vec<Stored>,
    images: Vec<StoredImage>,
    grants: Vec<Grant>,
}

#[derive(Clone)]
pub struct Platforms {
    address: SocketAddr,
    state: Arc<Held>,
}

/// The state that tests share. Dropping the last reference fails the test if a platform's description does not allow one of the requests.
struct Held(Arc<Mutex<State>>);

impl Drop for Held {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let state = self.0.lock().expect("no panic");
        assert!(state.objections.is_empty(), "the platforms do not describe these requests: {:#?}", state.objections);
    }
}

impl Platforms {
    /// Starts a server where every source has this number of contacts.
    pub fn start(people: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let address = listener.local_addr().expect("bound");
        let keys = [KLAVIYO_KEY, MAILCHIMP_KEY, HUBSPOT_KEY].map(str::to_owned).to_vec();
        let state = Arc::new(Mutex::new(State { keys, people, ..State::default() }));
        let shared = state.clone();
        let serve = move || {
            for stream in listener.incoming().flatten() {
                // A client may close the connection early.
                let _ = talk(stream, &shared);
            }
        };
        std::thread::Builder::new().name("platforms".into()).spawn(serve).expect("a thread");
        Self { address, state: Arc::new(Held(state)) }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.0.lock().expect("no panic")
    }

    /// Makes the next `times` requests whose URL contains `part` fail with `fault`.
    pub fn fail(&self, part: &'static str, times: usize, fault: Fault) {
        self.fail_method("", part, times, fault);
    }

    /// Makes the next `times` requests with the method `method` and a URL that contains `part` fail with `fault`.
    pub fn fail_method(&self, method: &'static str, part: &'static str, times: usize, fault: Fault) {
        self.state().faults.push((method, part, times, fault));
    }

    pub fn recover(&self) {
        self.state().faults.clear();
    }

    pub fn accept(&self, keys: &[&str]) {
        self.state().keys = keys.iter().map(|key| (*key).to_owned()).collect();
    }

    /// Deletes the first `count` members of the Mailchimp list.
    pub fn delete_first(&self, count: usize) {
        let mut state = self.state();
        (state.first, state.people) = (state.first + count, state.people - count);
    }

    /// Adds a contact, which joined at the time `at`, to every source.
    pub fn join(&self, at: &str) {
        let mut state = self.state();
        let number = state.people;
        state.changes.join(number, at);
        state.people += 1;
    }

    /// Changes the status of a contact at the time `at`.
    pub fn move_to(&self, number: usize, at: &str, to: Standing) {
        self.state().changes.change(number, at, to);
    }

    /// Returns the templates, drafts and files that were created and not deleted.
    pub fn stored(&self) -> Vec<Stored> {
        self.state().stored.iter().filter(|stored| !stored.is_deleted).cloned().collect()
    }

    pub fn images(&self) -> Vec<StoredImage> {
        self.state().images.clone()
    }

    /// Changes the stored objects, as a user could on the platform.
    pub fn change(&self, change: impl FnMut(&mut Stored)) {
        self.state().stored.iter_mut().for_each(change);
    }

    /// Consents as a user on the authorization page with this URL. Returns the callback URL.
    pub fn consent(&self, url: &str) -> String {
        oauth::consent(&mut self.state(), url)
    }

    pub fn grants(&self) -> Vec<Grant> {
        self.state().grants.clone()
    }

    /// Revokes all consents, as a user could on the platform.
    pub fn revoke(&self) {
        self.state().grants.iter_mut().for_each(|grant| grant.is_revoked = true);
    }

    pub fn asked(&self) -> Vec<PlatformRequest> {
        self.state().asked.clone()
    }
}

fn email(number: usize) -> String {
    format!("person{number}@example.com")
}

pub fn read_request(stream: &TcpStream) -> std::io::Result<PlatformRequest> {
    let mut reader = BufReader::new(stream.try_clone()?);
    // A client may be killed before it has sent a complete request, so an incomplete line is an error.
    let mut next_line = || {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if line.ends_with('\n') { Ok(line) } else { Err(std::io::Error::from(ErrorKind::UnexpectedEof)) }
    };
    let line = next_line()?;
    let mut words = line.split(' ').map(str::to_owned);
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = BTreeMap::new();
    loop {
        let line = next_line()?;
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':') {
            headers.insert(name.trim().to_ascii_lowercase(), value.trim().to_owned());
        }
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(PlatformRequest { method, target, headers, body: String::from_utf8_lossy(&body).into_owned() })
}

fn talk(mut stream: TcpStream, state: &Mutex<State>) -> std::io::Result<()> {
    let asked = read_request(&stream)?;
    let (status, body, fault) = {
        let mut state = state.lock().expect("no panic");
        state.asked.push(asked.clone());
        if let Some(objection) = published::objection(&asked) {
            state.objections.push(format!("{} {}: {objection}", asked.method, asked.target));
        }
        let is_meant = |(method, part, times, _): &&mut (&str, &str, usize, Fault)| {
            *times > 0 && (method.is_empty() || *method == asked.method) && asked.target.contains(*part)
        };
        let fault = state.faults.iter_mut().find(is_meant).map(|found| {
            found.2 -= 1;
            found.3
        });
        let (status, body) = match fault {
            Some(Fault::Status(..)) => (0, Value::Null),
            _ => answer(&mut state, &asked),
        };
        record::record(&asked, status);
        (status, body.to_string(), fault)
    };
    let mut send = |status: u16, more: &str, kind: &str, body: &str, length: usize| {
        write!(stream, "HTTP/1.1 {status} x\r\ncontent-type: {kind}\r\n{more}content-length: {length}\r\n\r\n{body}")
    };
    match fault {
        None => send(status, "", "application/json", &body, body.len()),
        Some(Fault::Status(status, wait)) => {
            let more = wait.map(|seconds| format!("retry-after: {seconds}\r\n")).unwrap_or_default();
            let said = r#"{"errors":[{"detail":"the test asked for this"}],"detail":"the test asked for this"}"#;
            send(status, &more, "application/json", said, said.len())
        }
        Some(Fault::AfterEffect(status)) => send(status, "", "application/json", "{}", 2),
        Some(Fault::Cut) => send(status, "", "application/json", &body[..body.len() / 2], body.len()),
        Some(Fault::Partial) => send(status, "", "application/json", &body[..body.len() / 2], body.len() / 2),
        Some(Fault::Replace(from, to)) => {
            let body = body.replace(from, to);
            send(status, "", "application/json", &body, body.len())
        }
        Some(Fault::Silence) => {
            std::thread::sleep(std::time::Duration::from_secs(60));
            Ok(())
        }
        Some(Fault::Html) => send(200, "", "text/html", "<html>", 6),
    }
}

fn answer(state: &mut State, asked: &PlatformRequest) -> (u16, Value) {
    let url = asked.target.split_once('?').unwrap_or((asked.target.as_str(), ""));
    let query: BTreeMap<String, String> = pairs(url.1);
    let authorization = asked.headers.get("authorization").map_or("", String::as_str);
    let parts: Vec<&str> = url.0.split('/').skip(1).collect();
    let request = Request { asked, query, body: serde_json::from_str(&asked.body).unwrap_or(Value::Null) };
    if let Some(answer) = oauth::answer(state, url.0, &request) {
        return answer;
    }
    let is_granted = oauth::accepts(state, &parts, authorization);
    let accepted = |form: &dyn Fn(&str) -> String| is_granted || state.keys.iter().any(|key| form(key) == authorization);
    let (platform, is_known) = match parts.first() {
        Some(&"api") => (klaviyo as fn(&State, &[&str], &Request<'_>) -> _, accepted(&|key| format!("Klaviyo-API-Key {key}"))),
        Some(&"3.0") => (mailchimp as _, accepted(&|key| format!("Basic {}", base64(&format!("mailmill:{key}"))))),
        _ => (hubspot as _, accepted(&|key| format!("Bearer {key}"))),
    };
    if !is_known {
        return (401, json!({ "errors": [{ "detail": "The key is not valid." }], "message": "The key is not valid." }));
    }
    if let Some(answer) = templates::answer(state, &parts, &request) {
        return answer;
    }
    let is_post = url.0.ends_with("/search") || url.0.ends_with("/read");
    if asked.method != if is_post { "POST" } else { "GET" } {
        return (405, json!({ "message": "the method is not allowed" }));
    }
    platform(state, &parts, &request)
}

pub struct Request<'a> {
    asked: &'a PlatformRequest,
    query: BTreeMap<String, String>,
    body: Value,
}

impl Request<'_> {
    /// Returns the error response for the first query parameter that is not allowed.
    fn unknown(&self, allowed: &[&str]) -> Option<(u16, Value)> {
        let name = self.query.keys().find(|name| !allowed.contains(&name.as_str()))?;
        Some(refused(&format!("the parameter {name} is not allowed")))
    }

    fn number(&self, name: &str, default: usize) -> usize {
        self.query.get(name).map_or(default, |text| text.parse().expect("the parameter is a number"))
    }
}

fn refused(why: &str) -> (u16, Value) {
    (400, json!({ "errors": [{ "detail": why }], "detail": why, "message": why }))
}

fn missing() -> (u16, Value) {
    (404, json!({ "errors": [{ "detail": "not found" }], "detail": "not found", "message": "not found" }))
}

fn klaviyo(state: &State, parts: &[&str], request: &Request<'_>) -> (u16, Value) {
    if request.asked.headers.get("revision").map(String::as_str) != Some("2026-07-15") {
        return refused("the revision is missing");
    }
    match parts {
        ["api", "accounts"] => {
            let information = json!({
                "default_sender_name": "Acme", "default_sender_email": "hello@acme.example", "organization_name": "Acme",
                "street_address": {},
            });
            let attributes = json!({
                "test_account": false, "contact_information": information, "timezone": "UTC", "preferred_currency": "USD",
                "public_api_key": "XyZ123", "locale": "en-US",
            });
            (200, json!({ "data": [{ "type": "account", "id": "XyZ123", "attributes": attributes, "links": { "self": "x" } }] }))
        }
        ["api", set @ ("lists" | "segments")] => {
            let fields = if *set == "lists" { "fields[list]" } else { "fields[segment]" };
            if let Some(refusal) = request.unknown(&[fields, "page[cursor]"]) {
                return refusal;
            }
            let page = request.number("page[cursor]", 0);
            let one = |number: usize| {
                let (id, name) = if *set == "lists" { (format!("L{number}"), "List") } else { (format!("S{number}"), "Segment") };
                json!({ "type": set, "id": id, "attributes": { "name": format!("{name} {number}") }, "links": { "self": "x" } })
            };
            let data: Vec<Value> = (page * 10..(page * 10 + 10).min(12)).map(one).collect();
            (200, json!({ "data": data, "links": { "self": "x", "next": (page == 0).then(|| next("/api/lists", "1")) } }))
        }
        ["api", "lists" | "segments", id, "profiles"] if id.len() < 4 => {
            if let Some(refusal) = request.unknown(&["additional-fields[profile]", "page[size]", "page[cursor]", "filter"]) {
                return refusal;
            }
            let members = match changes::klaviyo_members(state, request.query.get("filter").map(String::as_str)) {
                Ok(members) => members,
                Err(refusal) => return refusal,
            };
            let size = request.number("page[size]", 20);
            if !(1..=100).contains(&size) {
                return refused("page[size] must be 1 to 100");
            }
            let start = request.number("page[cursor]", 0);
            let end = (start + size).min(members.len());
            let data: Vec<Value> = members[start.min(end)..end].iter().map(|number| profile(&state.changes, *number)).collect();
            let more = (end < members.len()).then(|| next(&format!("/api/lists/{id}/profiles"), &end.to_string()));
            (200, json!({ "data": data, "links": { "self": "x", "next": more } }))
        }
        ["api", "profiles"] => changes::klaviyo_profiles(state, request),
        _ => missing(),
    }
}

fn next(path: &str, cursor: &str) -> String {
    format!("https://a.klaviyo.com{path}?page%5Bcursor%5D={cursor}")
}

fn profile(changes: &Changes, number: usize) -> Value {
    let reason = |reason: &str| json!([{ "reason": reason, "timestamp": "2025-01-02T03:04:05+00:00" }]);
    let (consent, suppression) = match changes.standing(number) {
        Standing::Subscribed => ("SUBSCRIBED", json!([])),
        Standing::Unsubscribed => ("UNSUBSCRIBED", reason("UNSUBSCRIBE")),
        Standing::Bounced => ("SUBSCRIBED", reason("HARD_BOUNCE")),
        Standing::Silent => ("NEVER_SUBSCRIBED", json!([])),
        Standing::Complained => ("SUBSCRIBED", reason("SPAM_COMPLAINT")),
    };
    let marketing = json!({
        "can_receive_email_marketing": consent == "SUBSCRIBED", "consent": consent,
        "consent_timestamp": "2025-01-01T00:00:00+00:00", "suppression": suppression, "list_suppressions": [],
    });
    let attributes = json!({
        "email": email(number), "first_name": format!("Person{number}"), "last_name": null, "phone_number": null,
        "locale": "en-US", "created": "2024-01-01T00:00:00+00:00", "joined_group_at": changes.joined_at(number),
        "location": { "city": "Bern", "country": if number.is_multiple_of(2) { "Switzerland" } else { "CH" } },
        "properties": { "shoe": number % 50 }, "subscriptions": { "email": { "marketing": marketing } },
    });
    json!({ "type": "profile", "id": format!("P{number}"), "attributes": attributes, "links": { "self": "x" } })
}

fn mailchimp(state: &State, parts: &[&str], request: &Request<'_>) -> (u16, Value) {
    let count = request.number("count", 10);
    if count > 1_000 {
        return refused("count must be at most 1000");
    }
    match parts {
        ["3.0", ""] => (200, json!({ "account_id": "8d3a3db4d97663a9074efcc16", "account_name": "Acme" })),
        ["3.0", "lists"] => {
            let stats = json!({ "member_count": state.people, "unsubscribe_count": 0, "cleaned_count": 0 });
            (200, json!({ "lists": [{ "id": "a1b2c3", "name": "Customers", "stats": stats }], "total_items": 1 }))
        }
        ["3.0", "lists", "a1b2c3", "segments"] => {
            let segment = |id: u64, name: &str, kind: &str| json!({ "id": id, "name": name, "member_count": 3, "type": kind });
            (200, json!({ "segments": [segment(7, "vip", "static"), segment(8, "Active", "saved")], "total_items": 2 }))
        }
        ["3.0", "lists", "a1b2c3", "interest-categories", rest @ ..] => groups::answer(rest),
        ["3.0", "lists", "a1b2c3", "members"] => {
            if let Some(refusal) = request.unknown(&["count", "offset", "sort_field", "sort_dir", "since_last_changed"]) {
                return refusal;
            }
            members(state, request, count)
        }
        ["3.0", "lists", "a1b2c3", "segments", "7" | "8", "members"] => {
            let own = ["count", "offset", "include_cleaned", "include_transactional", "include_unsubscribed"];
            request.unknown(&own).unwrap_or_else(|| members(state, request, count))
        }
        _ => missing(),
    }
}

fn members(state: &State, request: &Request<'_>, count: usize) -> (u16, Value) {
    let offset = request.number("offset", 0);
    let one = |number: usize| {
        let status = match state.changes.standing(number) {
            Standing::Subscribed => "subscribed",
            Standing::Unsubscribed | Standing::Complained => "unsubscribed",
            Standing::Bounced => "cleaned",
            Standing::Silent => "transactional",
        };
        json!({
            "id": format!("{number:032x}"), "email_address": email(number), "status": status, "language": "en",
            "merge_fields": { "FNAME": format!("Person{number}"), "LNAME": "", "SHOE": number % 50 },
            "timestamp_signup": "", "timestamp_opt": "2025-01-01T00:00:00+00:00",
            "location": { "country_code": "CH", "timezone": "Europe/Zurich" }, "tags": [{ "id": 7, "name": "vip" }],
            "interests": groups::chosen(number),
        })
    };
    let since = request.query.get("since_last_changed").map_or("", String::as_str);
    let all = state.first..state.first + state.people;
    let selected: Vec<usize> = all.filter(|number| since <= state.changes.changed_at(*number)).collect();
    let members: Vec<Value> = selected.iter().skip(offset).take(count).map(|number| one(*number)).collect();
    (200, json!({ "members": members, "list_id": "a1b2c3", "total_items": selected.len() }))
}

fn hubspot(state: &State, parts: &[&str], request: &Request<'_>) -> (u16, Value) {
    let body = &request.body;
    match parts {
        ["account-info", "2026-03", "details"] => {
            (200, json!({ "portalId": 4711, "uiDomain": "app.hubspot.com", "timeZone": "UTC", "accountType": "STANDARD" }))
        }
        ["crm", "lists", "2026-03", "search"] => {
            for needed in ["additionalProperties", "listIds", "offset", "processingTypes"] {
                if body.get(needed).is_none() {
                    return refused(&format!("{needed} is missing"));
                }
            }
            let list = |id: usize, kind: &str| {
                json!({
                    "listId": id.to_string(), "name": format!("List {id}"), "objectTypeId": "0-1", "processingType": kind,
                    "processingStatus": "COMPLETE", "listVersion": 1,
                    "additionalProperties": { "hs_list_size": state.people.to_string() },
                })
            };
            let is_first = body["offset"] == 0;
            let lists = if is_first { vec![list(1, "MANUAL"), list(2, "DYNAMIC")] } else { vec![list(3, "SNAPSHOT")] };
            (200, json!({ "lists": lists, "hasMore": is_first, "offset": if is_first { 2 } else { 3 }, "total": 3 }))
        }
        ["crm", "lists", "2026-03", "1" | "2" | "3", "memberships"] => {
            let (after, limit) = (request.number("after", 0), request.number("limit", 100));
            if limit > 250 {
                return refused("limit must be at most 250");
            }
            let end = (after + limit).min(state.people);
            let one =
                |number: usize| json!({ "recordId": number.to_string(), "membershipTimestamp": state.changes.joined_at(number) });
            let results: Vec<Value> = (after..end).map(one).collect();
            let paging = (end < state.people).then(|| json!({ "next": { "after": end.to_string() } }));
            let mut page = json!({ "results": results, "total": state.people });
            if let Some(paging) = paging {
                page["paging"] = paging;
            }
            (200, page)
        }
        ["crm", "properties", "2026-03", "contacts"] => {
            let property =
                |name: &str, hubspot_defined: bool| json!({ "name": name, "label": name, "hubspotDefined": hubspot_defined });
            (200, json!({ "results": [property("email", true), property("shoe", false)] }))
        }
        ["crm", "objects", "2026-03", "contacts", "batch", "read"] => changes::hubspot_batch(state, body),
        ["crm", "objects", "2026-03", "contacts", "search"] => changes::hubspot_search(state, body),
        ["communication-preferences", "2026-03", "statuses", "batch", rest @ ..] => hubspot_statuses(state, rest, request),
        _ => missing(),
    }
}

fn inputs(body: &Value) -> Vec<Value> {
    body["inputs"].as_array().cloned().unwrap_or_default()
}

fn hubspot_contact(changes: &Changes, body: &Value, input: &Value) -> Value {
    let id = input["id"].as_str().expect("an ID is text");
    let number = id.parse().expect("the ID is a number");
    let bounced = (changes.standing(number) == Standing::Bounced).then_some("UNKNOWN_USER");
    let properties = json!({
        "email": email(number), "firstname": format!("Person{number}"), "hs_language": "en", "country": "Switzerland",
        "createdate": "2024-01-01T00:00:00Z", "hs_email_hard_bounce_reason_enum": bounced, "hs_object_id": id,
        "shoe": body["properties"].as_array().is_some_and(|names| names.contains(&json!("shoe"))).then_some("38"),
    });
    json!({ "id": id, "properties": properties, "createdAt": "2024-01-01T00:00:00Z", "archived": false })
}

fn hubspot_statuses(state: &State, rest: &[&str], request: &Request<'_>) -> (u16, Value) {
    let body = &request.body;
    if request.query.get("channel").map(String::as_str) != Some("EMAIL") || inputs(body).len() > 100 {
        return refused("the batch is invalid");
    }
    let number = |email: &str| -> usize {
        let digits: String = email.chars().filter(char::is_ascii_digit).collect();
        digits.parse().expect("the address has a number")
    };
    let one = |input: &Value| {
        let email = input.as_str().expect("an address is text");
        let word = match (state.changes.standing(number(email)), rest) {
            (Standing::Complained, ["unsubscribe-all", "read"]) => "UNSUBSCRIBED",
            (_, ["unsubscribe-all", "read"]) | (Standing::Silent, _) => "NOT_SPECIFIED",
            (Standing::Unsubscribed, _) => "UNSUBSCRIBED",
            _ => "SUBSCRIBED",
        };
        let status = json!({ "channel": "EMAIL", "status": word, "subscriberIdString": email, "timestamp": "x" });
        let name = if rest.len() == 2 { "wideStatuses" } else { "statuses" };
        json!({ "subscriberIdString": email, name: [status] })
    };
    let results: Vec<Value> = inputs(body).iter().map(one).collect();
    (200, json!({ "status": "COMPLETE", "results": results, "startedAt": "x", "completedAt": "x" }))
}

fn pairs(query: &str) -> BTreeMap<String, String> {
    let plain = |text: &str| {
        let (mut out, bytes) = (Vec::new(), text.replace('+', " ").into_bytes());
        let mut at = 0;
        while at < bytes.len() {
            let code = (bytes[at] == b'%').then(|| std::str::from_utf8(&bytes[at + 1..at + 3]).expect("the query is encoded"));
            out.push(code.map_or(bytes[at], |code| u8::from_str_radix(code, 16).expect("the query is encoded")));
            at += if code.is_some() { 3 } else { 1 };
        }
        String::from_utf8(out).expect("the query is UTF-8")
    };
    let named = query.split('&').filter_map(|pair| pair.split_once('='));
    named.map(|(name, value)| (plain(name), plain(value))).collect()
}

pub fn base64(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for group in text.as_bytes().chunks(3) {
        let bits = group.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let is_there = place <= group.len();
            out.push(if is_there { LETTERS[(bits >> (18 - 6 * place) & 63) as usize] as char } else { '=' });
        }
    }
    out
}
