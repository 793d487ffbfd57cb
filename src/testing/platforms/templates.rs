//! The simulated platforms' endpoints for exports: templates, drafts, coded templates and images.

use serde_json::{Value, json};

use super::{Request, State, missing, refused};

#[derive(Clone, Debug, Default)]
pub struct Stored {
    /// The collection that contains the object, such as `api/templates`.
    pub place: &'static str,
    pub id: String,
    pub name: String,
    pub html: String,
    /// The body of the request that created the object. For a campaign, `settings` contains later changes.
    pub made: Value,
    pub is_deleted: bool,
    pub is_sent: bool,
    pub updates: usize,
}

#[derive(Clone, Debug)]
pub struct StoredImage {
    pub name: String,
    pub url: String,
}

/// Responds to the requests that an export sends; returns `None` for other paths.
pub fn answer(state: &mut State, parts: &[&str], request: &Request<'_>) -> Option<(u16, Value)> {
    let method = request.asked.method.as_str();
    match parts {
        ["api", "templates", ..] | ["api", "images"] => {
            if request.asked.headers.get("revision").map(String::as_str) != Some("2026-07-15") {
                return Some(refused("the revision is missing"));
            }
            Some(klaviyo(state, method, parts, request))
        }
        ["3.0", "templates" | "campaigns", ..] | ["3.0", "file-manager", "files"] => {
            Some(mailchimp(state, method, parts, request))
        }
        ["cms" | "marketing", ..] | ["files", "2026-03", "files"] => Some(hubspot(state, method, parts, request)),
        _ => None,
    }
}

/// Returns the error response for a body that lacks a member in `needed`, or has one that is in neither `needed` nor `allowed`.
fn wrong(body: &Value, needed: &[&str], allowed: &[&str]) -> Option<(u16, Value)> {
    let Some(members) = body.as_object() else { return Some(refused("the body is not an object")) };
    if let Some(name) = needed.iter().find(|name| !members.contains_key(**name)) {
        return Some(refused(&format!("{name} is missing")));
    }
    let name = members.keys().find(|name| !needed.contains(&name.as_str()) && !allowed.contains(&name.as_str()))?;
    Some(refused(&format!("{name} is not allowed")))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

impl State {
    fn add(&mut self, place: &'static str, id: String, name: &str, html: &str, made: &Value) {
        let (name, html, made) = (name.to_owned(), html.to_owned(), made.clone());
        self.stored.push(Stored { place, id, name, html, made, ..Stored::default() });
    }

    fn at(&mut self, place: &str, id: &str) -> Option<&mut Stored> {
        self.stored.iter_mut().find(|stored| stored.place == place && stored.id == id)
    }

    fn all(&self, place: &str) -> Vec<Stored> {
        self.stored.iter().filter(|stored| stored.place == place && !stored.is_deleted).cloned().collect()
    }

    fn add_image(&mut self, name: &str, host: &str) -> String {
        let url = format!("https://{host}/{}/{name}", self.images.len() + 1);
        self.images.push(StoredImage { name: name.to_owned(), url: url.clone() });
        url
    }
}

fn klaviyo(state: &mut State, method: &str, parts: &[&str], request: &Request<'_>) -> (u16, Value) {
    const PLACE: &str = "api/templates";
    let (data, attributes) = (&request.body["data"], &request.body["data"]["attributes"]);
    let named = || {
        let filter = request.query.get("filter").cloned().unwrap_or_default();
        filter.strip_prefix("equals(name,\"").and_then(|rest| rest.strip_suffix("\")")).map(str::to_owned)
    };
    let template = |stored: &Stored| {
        let attributes =
            json!({ "name": stored.name, "editor_type": stored.made["data"]["attributes"]["editor_type"], "html": stored.html });
        json!({ "type": "template", "id": stored.id, "attributes": attributes, "links": { "self": "x" } })
    };
    match (method, parts) {
        ("GET", ["api", "templates"]) => {
            if let Some(refusal) = request.unknown(&["filter", "fields[template]", "sort", "page[cursor]", "page[size]"]) {
                return refusal;
            }
            let Some(name) = named() else { return refused("the filter is not allowed") };
            let found: Vec<Value> = state.all(PLACE).iter().filter(|stored| stored.name == name).map(template).collect();
            (200, json!({ "data": found, "links": { "self": "x" } }))
        }
        ("POST", ["api", "templates"]) => {
            if let Some(refusal) = wrong(attributes, &["name", "editor_type"], &["html", "definition", "text", "amp"]) {
                return refusal;
            }
            if data["type"] != "template" || !["CODE", "USER_DRAGGABLE"].contains(&text(&attributes["editor_type"]).as_str()) {
                return refused("the type is not allowed");
            }
            let id = format!("Kt{}", state.stored.len() + 1);
            state.add(PLACE, id.clone(), &text(&attributes["name"]), &text(&attributes["html"]), &request.body);
            (201, json!({ "data": template(state.at(PLACE, &id).expect("it was added")) }))
        }
        ("PATCH", ["api", "templates", id]) => {
            if let Some(refusal) = wrong(attributes, &[], &["name", "html", "definition", "text", "amp"]) {
                return refusal;
            }
            if data["type"] != "template" || data["id"] != *id {
                return refused("the ID is not that of the path");
            }
            match state.at(PLACE, id).filter(|stored| !stored.is_deleted) {
                None => missing(),
                Some(stored) => {
                    (stored.name, stored.html) = (text(&attributes["name"]), text(&attributes["html"]));
                    stored.updates += 1;
                    (200, json!({ "data": template(stored) }))
                }
            }
        }
        ("GET", ["api", "images"]) => {
            let Some(name) = named() else { return refused("the filter is not allowed") };
            let one = |image: &StoredImage| json!({ "type": "image", "id": "7", "attributes": { "name": image.name, "image_url": image.url } });
            let found: Vec<Value> = state.images.iter().filter(|image| image.name == name).map(one).collect();
            (200, json!({ "data": found, "links": { "self": "x" } }))
        }
        ("POST", ["api", "images"]) => {
            if let Some(refusal) = wrong(attributes, &["import_from_url"], &["name", "hidden"]) {
                return refusal;
            }
            let source = text(&attributes["import_from_url"]);
            if !["png", "jpeg", "gif"].iter().any(|format| source.starts_with(&format!("data:image/{format};base64,"))) {
                return refused("the format is not supported");
            }
            let name = text(&attributes["name"]);
            let url = state.add_image(&name, "d3k81ch9hvuctc.cloudfront.net");
            (201, json!({ "data": { "type": "image", "id": "7", "attributes": { "name": name, "image_url": url } } }))
        }
        _ => (405, json!({ "errors": [{ "detail": "the method is not allowed" }] })),
    }
}

fn mailchimp(state: &mut State, method: &str, parts: &[&str], request: &Request<'_>) -> (u16, Value) {
    match &parts[1..] {
        ["templates", rest @ ..] => mailchimp_templates(state, (method, rest), request),
        ["campaigns", rest @ ..] => mailchimp_campaigns(state, (method, rest), request),
        _ => mailchimp_files(state, method, request),
    }
}

fn mailchimp_templates(state: &mut State, call: (&str, &[&str]), request: &Request<'_>) -> (u16, Value) {
    const PLACE: &str = "3.0/templates";
    let body = &request.body;
    let template = |stored: &Stored| {
        let id: u64 = stored.id.parse().expect("the ID is a number");
        json!({ "id": id, "type": "user", "name": stored.name, "drag_and_drop": false, "active": !stored.is_deleted })
    };
    match call {
        ("GET", []) => {
            let allowed = ["fields", "count", "offset", "type", "since_date_created", "sort_field", "sort_dir"];
            request.unknown(&allowed).unwrap_or_else(|| {
                let found: Vec<Value> = state.all(PLACE).iter().map(template).collect();
                (200, json!({ "templates": found, "total_items": found.len() }))
            })
        }
        ("POST", []) => {
            if let Some(refusal) = wrong(body, &["name", "html"], &["folder_id"]) {
                return refusal;
            }
            let id = (1_000 + state.stored.len()).to_string();
            state.add(PLACE, id.clone(), &text(&body["name"]), &text(&body["html"]), body);
            (200, template(state.at(PLACE, &id).expect("it was added")))
        }
        ("PATCH", [id]) => match state.at(PLACE, id) {
            None => missing(),
            Some(stored) => {
                (stored.name, stored.html) = (text(&body["name"]), text(&body["html"]));
                stored.updates += 1;
                (200, template(stored))
            }
        },
        _ => (405, json!({ "detail": "the method is not allowed" })),
    }
}

fn mailchimp_campaigns(state: &mut State, call: (&str, &[&str]), request: &Request<'_>) -> (u16, Value) {
    const PLACE: &str = "3.0/campaigns";
    let (body, settings) = (&request.body, &request.body["settings"]);
    let campaign = |stored: &Stored| {
        let status = if stored.is_sent { "sent" } else { "save" };
        let mut settings = stored.made["settings"].clone();
        (settings["title"], settings["from_name"]) = (stored.name.as_str().into(), "Acme".into());
        settings["reply_to"] = "hello@acme.example".into();
        json!({ "id": stored.id, "web_id": 42, "status": status, "settings": settings })
    };
    let known = ["subject_line", "preview_text", "title", "from_name", "reply_to", "auto_footer", "template_id"];
    match call {
        ("GET", []) => {
            let allowed = ["fields", "count", "offset", "status", "since_create_time", "type"];
            request.unknown(&allowed).unwrap_or_else(|| {
                let drafts = state.all(PLACE);
                let found: Vec<Value> = drafts.iter().filter(|stored| !stored.is_sent).map(campaign).collect();
                (200, json!({ "campaigns": found, "total_items": found.len() }))
            })
        }
        ("POST", []) => {
            if let Some(refusal) = wrong(body, &["type"], &["settings", "recipients"]).or_else(|| wrong(settings, &[], &known)) {
                return refusal;
            }
            let id = format!("c{}", state.stored.len() + 1);
            state.add(PLACE, id.clone(), &text(&settings["title"]), "", body);
            (200, campaign(state.at(PLACE, &id).expect("it was added")))
        }
        (method, [id, rest @ ..]) => {
            let Some(stored) = state.at(PLACE, id).filter(|stored| !stored.is_deleted) else { return missing() };
            match (method, rest) {
                ("GET", []) => (200, campaign(stored)),
                _ if stored.is_sent => refused("the campaign was sent"),
                ("PATCH", []) => wrong(settings, &[], &known).unwrap_or_else(|| {
                    stored.name = text(&settings["title"]);
                    stored.made["settings"] = settings.clone();
                    (200, campaign(stored))
                }),
                ("PUT", ["content"]) => wrong(body, &["html"], &["plain_text", "url", "template"]).unwrap_or_else(|| {
                    stored.html = text(&body["html"]);
                    stored.updates += 1;
                    (200, json!({ "html": stored.html, "plain_text": "" }))
                }),
                _ => (405, json!({ "detail": "the method is not allowed" })),
            }
        }
        _ => (405, json!({ "detail": "the method is not allowed" })),
    }
}

fn mailchimp_files(state: &mut State, method: &str, request: &Request<'_>) -> (u16, Value) {
    let body = &request.body;
    if method == "GET" {
        let one = |image: &StoredImage| json!({ "id": 7, "name": image.name, "full_size_url": image.url });
        let found: Vec<Value> = state.images.iter().map(one).collect();
        return (200, json!({ "files": found, "total_items": found.len() }));
    }
    if let Some(refusal) = wrong(body, &["name", "file_data"], &["folder_id"]) {
        return refusal;
    }
    let name = text(&body["name"]);
    let url = state.add_image(&name, "mcusercontent.com");
    (200, json!({ "id": 7, "name": name, "full_size_url": url, "size": 1, "type": "image" }))
}

/// The members that HubSpot allows in a marketing email.
const EMAIL: [&str; 10] = [
    "name",
    "subject",
    "content",
    "campaign",
    "from",
    "language",
    "subscriptionDetails",
    "businessUnitId",
    "folderIdV2",
    "activeDomain",
];

fn hubspot(state: &mut State, method: &str, parts: &[&str], request: &Request<'_>) -> (u16, Value) {
    const FILES: &str = "cms/source-code";
    const EMAILS: &str = "marketing/emails";
    let body = &request.body;
    let file = |stored: &Stored| json!({ "id": stored.id, "name": stored.name, "folder": false, "createdAt": 1, "updatedAt": 2 });
    let email = |stored: &Stored| json!({ "id": stored.id, "name": stored.name, "isPublished": stored.is_sent, "isAb": false, "state": "DRAFT" });
    match (method, parts) {
        ("GET", ["cms", "source-code", "2026-03", "published", "metadata", path @ ..]) => {
            let found = state.at(FILES, &path.join("/")).filter(|stored| !stored.is_deleted);
            found.map_or_else(missing, |stored| (200, file(stored)))
        }
        ("PUT", ["cms", "source-code", "2026-03", "published", "content", path @ ..]) => {
            let Some(html) = part(request, "file") else { return refused("the form has no file") };
            if let Some(refusal) = wrong_template(&html) {
                return refusal;
            }
            let path = path.join("/");
            if state.at(FILES, &path).is_none() {
                state.add(FILES, path.clone(), path.rsplit('/').next().unwrap_or_default(), "", &Value::Null);
            }
            let stored = state.at(FILES, &path).expect("it was added");
            (stored.html, stored.is_deleted, stored.updates) = (html, false, stored.updates + 1);
            (200, file(stored))
        }
        ("GET", ["marketing", "emails", "2026-03"]) => {
            request.unknown(&["createdAfter", "isPublished", "limit", "after"]).unwrap_or_else(|| {
                let drafts: Vec<Value> = state.all(EMAILS).iter().filter(|stored| !stored.is_sent).map(email).collect();
                // A page has at most two emails, so that tests read several pages.
                let start = request.number("after", 0);
                let end = (start + 2).min(drafts.len());
                let paging = if end < drafts.len() { json!({ "next": { "after": end.to_string() } }) } else { json!({}) };
                (200, json!({ "results": drafts[start..end], "total": drafts.len(), "paging": paging }))
            })
        }
        ("POST", ["marketing", "emails", "2026-03"]) => {
            if let Some(refusal) = wrong(body, &["name"], &EMAIL) {
                return refusal;
            }
            if state.at(FILES, &text(&body["content"]["templatePath"])).is_none() {
                return refused("the template does not exist");
            }
            let id = (9_000 + state.stored.len()).to_string();
            state.add(EMAILS, id.clone(), &text(&body["name"]), "", body);
            (201, email(state.at(EMAILS, &id).expect("it was added")))
        }
        (_, ["marketing", "emails", "2026-03", id]) => {
            let Some(stored) = state.at(EMAILS, id).filter(|stored| !stored.is_deleted) else { return missing() };
            match method {
                "GET" => (200, email(stored)),
                "PATCH" => wrong(body, &[], &EMAIL).unwrap_or_else(|| {
                    (stored.name, stored.updates) = (text(&body["name"]), stored.updates + 1);
                    (200, email(stored))
                }),
                _ => (405, json!({ "message": "the method is not allowed" })),
            }
        }
        ("POST", ["files", "2026-03", "files"]) => hubspot_image(state, request),
        _ => (405, json!({ "message": "the method is not allowed" })),
    }
}

fn hubspot_image(state: &mut State, request: &Request<'_>) -> (u16, Value) {
    let options: Value = serde_json::from_str(&part(request, "options").unwrap_or_default()).unwrap_or_default();
    let (Some(name), Some(_)) = (part(request, "fileName"), part(request, "file")) else {
        return refused("the form is not complete");
    };
    if options["access"].is_null() || part(request, "folderPath").is_none() {
        return refused("the folder or the access is missing");
    }
    let known = state.images.iter().find(|image| image.name == name).map(|image| image.url.clone());
    let url = known
        .filter(|_| options["overwrite"] == true)
        .unwrap_or_else(|| state.add_image(&name, "4711.fs1.hubspotusercontent-na1.net"));
    (201, json!({ "id": "7", "name": name, "url": url, "archived": false, "createdAt": "x", "updatedAt": "x" }))
}

/// Returns the error response if the template lacks something that HubSpot requires of a coded email.
fn wrong_template(html: &str) -> Option<(u16, Value)> {
    let needed = [
        "templateType: email",
        "site_settings.company_name",
        "site_settings.company_street_address_1",
        "site_settings.company_city",
        "site_settings.company_state",
        "unsubscribe_link",
    ];
    let lacking = needed.into_iter().find(|part| !html.contains(part))?;
    Some(refused(&format!("{lacking} is required")))
}

/// Returns the content of the multipart part with this name.
fn part(request: &Request<'_>, name: &str) -> Option<String> {
    let content_type = request.asked.headers.get("content-type")?;
    let boundary = content_type.strip_prefix("multipart/form-data; boundary=")?;
    let parts = request.asked.body.split(&format!("--{boundary}")).map(str::to_owned).collect::<Vec<_>>();
    let found = parts.iter().find(|part| part.contains(&format!("name=\"{name}\"")))?;
    let (_, content) = found.split_once("\r\n\r\n")?;
    Some(content.trim_end_matches("\r\n").to_owned())
}
