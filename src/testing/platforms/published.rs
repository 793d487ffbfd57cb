//! Checks requests against the platforms' own descriptions of their APIs: `tests/samples/platforms.toml` lists the calls, with their
//! sources.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;

use super::{PlatformRequest, pairs};

static PUBLISHED: LazyLock<Vec<Platform>> = LazyLock::new(|| {
    let text = include_str!("../../../tests/samples/platforms.toml");
    toml::from_str::<Published>(text).expect("the table has the form that it states").platform
});

/// The sign-in paths of Klaviyo and Mailchimp, which the platforms' API descriptions do not contain.
const UNDESCRIBED: [&str; 4] = ["/oauth/token", "/oauth/revoke", "/oauth2/token", "/oauth2/metadata"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Published {
    platform: Vec<Platform>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Platform {
    name: String,
    source: String,
    date: String,
    call: Vec<Call>,
}

/// A call as a platform describes it. The comment at the top of the TOML file explains the fields.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Call {
    method: String,
    path: String,
    used: String,
    query: Vec<String>,
    needs: Vec<String>,
    values: BTreeMap<String, Vec<String>>,
    max: BTreeMap<String, u64>,
    content: String,
    members: Vec<String>,
    required: Vec<String>,
    body: BTreeMap<String, Vec<String>>,
}

/// A call, the number of requests in a test that match it, and the reasons why some of these requests are not allowed.
#[derive(Debug)]
pub struct Row {
    pub call: String,
    pub requests: usize,
    pub objections: BTreeSet<String>,
}

/// Prints and returns the calls to a platform for one use (`used`: import, export or sign-in), with the results for the requests in
/// `asked`.
pub fn table(platform: &str, used: &str, asked: &[PlatformRequest]) -> Vec<Row> {
    let platform = PUBLISHED.iter().find(|known| known.name == platform).expect("the platform is in the table");
    println!("\n{} ({}, {})", platform.name, platform.source, platform.date);
    let row = |call: &'static Call| {
        let is_own = |asked: &&PlatformRequest| find(asked).is_some_and(|found| std::ptr::eq(found, call));
        let own: Vec<&PlatformRequest> = asked.iter().filter(is_own).collect();
        let objections: BTreeSet<String> = own.iter().filter_map(|asked| objection(asked)).collect();
        let row = Row { call: format!("{} {}", call.method, call.path), requests: own.len(), objections };
        let verdict = if row.objections.is_empty() { "valid".to_owned() } else { format!("{:?}", row.objections) };
        println!("{:>6}  {}  {verdict}", row.requests, row.call);
        row
    };
    platform.call.iter().filter(|call| call.used == used).map(row).collect()
}

/// Returns why the platform's description does not allow the request; `None` if the description allows it.
pub fn objection(asked: &PlatformRequest) -> Option<String> {
    let (path, query) = asked.target.split_once('?').unwrap_or((asked.target.as_str(), ""));
    if UNDESCRIBED.contains(&path) {
        return None;
    }
    let Some(call) = find(asked) else { return Some("there is no such call".to_owned()) };
    call.query_objection(&pairs(query)).or_else(|| call.body_objection(asked))
}

fn find(asked: &PlatformRequest) -> Option<&'static Call> {
    let path = asked.target.split('?').next().unwrap_or_default();
    let name = match path.split('/').nth(1) {
        Some("api") => "Klaviyo",
        Some("3.0") => "Mailchimp",
        _ => "HubSpot",
    };
    let platform = PUBLISHED.iter().find(|platform| platform.name == name)?;
    let calls = platform.call.iter().filter(|call| call.method == asked.method && is_at(&call.path, path));
    // If several paths match, the path with the fewest parameters applies.
    calls.min_by_key(|call| call.path.matches('{').count())
}

/// Returns whether the path matches the template. The parameter `{path}` in a template also matches text with slashes.
fn is_at(template: &str, path: &str) -> bool {
    let mut parts = path.split('/');
    for wanted in template.split('/') {
        match (wanted, parts.next()) {
            ("{path}", Some(part)) => return !part.is_empty(),
            (wanted, Some(part)) if wanted == part || (wanted.starts_with('{') && !part.is_empty()) => {}
            _ => return false,
        }
    }
    parts.next().is_none()
}

impl Call {
    fn query_objection(&self, query: &BTreeMap<String, String>) -> Option<String> {
        if let Some(name) = self.needs.iter().find(|name| !query.contains_key(name.as_str())) {
            return Some(format!("the parameter {name} is missing"));
        }
        query.iter().find_map(|(name, value)| {
            if !self.query.contains(name) {
                return Some(format!("the parameter {name} is unknown"));
            }
            // In `filter`, only the part before the first comma is checked: the operator and the field. The value of another parameter can
            // be a comma-separated list, whose items are all checked.
            let words = value.split(',').take(if name == "filter" { 1 } else { usize::MAX });
            let is_allowed = |allowed: &Vec<String>| words.clone().all(|word| allowed.iter().any(|known| known == word));
            let is_small = |max: &u64| value.parse::<u64>().is_ok_and(|number| number <= *max);
            let is_valid = self.values.get(name).is_none_or(is_allowed) && self.max.get(name).is_none_or(is_small);
            (!is_valid).then(|| format!("{name}={value} is not allowed"))
        })
    }

    fn body_objection(&self, asked: &PlatformRequest) -> Option<String> {
        if asked.body.is_empty() {
            return (!self.content.is_empty()).then(|| "the body is missing".to_owned());
        }
        let kind = asked.headers.get("content-type").map_or("", String::as_str);
        if kind.split(';').next() != Some(self.content.as_str()) {
            return Some(format!("a body of the type {kind} is not allowed"));
        }
        let members = match self.content.as_str() {
            "multipart/form-data" => parts(asked, kind),
            "application/x-www-form-urlencoded" => pairs(&asked.body).into_iter().collect(),
            _ => {
                let Ok(body) = serde_json::from_str(&asked.body) else { return Some("the body is not JSON".to_owned()) };
                let mut found = Vec::new();
                add_members(&body, "", &mut found);
                found
            }
        };
        if let Some(name) = self.required.iter().find(|name| !members.iter().any(|(member, _)| member == *name)) {
            return Some(format!("the member {name} is missing"));
        }
        members.iter().find_map(|(name, value)| {
            if !self.members.contains(name) {
                return Some(format!("the member {name} is unknown"));
            }
            let is_valid = self.body.get(name).is_none_or(|allowed| allowed.contains(value));
            (!is_valid).then(|| format!("the value {value} of {name} is not allowed"))
        })
    }
}

/// Adds the path and value of each member in a JSON value to `found`. If a member's value is not a string, an empty string is added
/// instead.
fn add_members(value: &Value, at: &str, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let path = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
                found.push((path.clone(), member.as_str().unwrap_or_default().to_owned()));
                add_members(member, &path, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| add_members(item, &format!("{at}[]"), found)),
        _ => {}
    }
}

/// Returns the names of a multipart form's parts, each with an empty string instead of its content.
fn parts(asked: &PlatformRequest, kind: &str) -> Vec<(String, String)> {
    let mark = format!("--{}", kind.split_once("boundary=").map_or("", |(_, boundary)| boundary));
    let heads = asked.body.split(mark.as_str()).filter_map(|part| part.split_once("\r\n\r\n")).map(|(head, _)| head);
    let name = |head: &str| Some(head.split_once("; name=\"")?.1.split_once('"')?.0.to_owned());
    heads.filter_map(name).map(|name| (name, String::new())).collect()
}
