//! Contacts that join or change during a test, and the platforms' responses that contain them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Platforms, Request, Standing, State, hubspot_contact, inputs, next, profile, refused, standing};

/// The time when all contacts joined and last changed, unless a test changed them.
const START: &str = "2024-01-01T00:00:00.000Z";
/// The suppression time of the contacts that are already suppressed when a test starts.
const SUPPRESSED: &str = "2025-01-02T03:04:05.000Z";
/// The number of a contact that is not on any list. Every request for changed contacts returns this contact.
pub const UNLISTED: usize = 1_000_000;

/// The changes to contacts during a test, by contact number. Times are in UTC with milliseconds, so that they sort as strings.
#[derive(Default)]
pub struct Changes {
    joined: BTreeMap<usize, String>,
    changed: BTreeMap<usize, (String, Standing)>,
}

impl Changes {
    pub fn join(&mut self, number: usize, at: &str) {
        self.joined.insert(number, at.to_owned());
    }

    pub fn change(&mut self, number: usize, at: &str, to: Standing) {
        self.changed.insert(number, (at.to_owned(), to));
    }

    pub fn standing(&self, number: usize) -> Standing {
        self.changed.get(&number).map_or_else(|| standing(number), |(_, to)| *to)
    }

    pub fn joined_at(&self, number: usize) -> &str {
        self.joined.get(&number).map_or(START, String::as_str)
    }

    pub fn changed_at(&self, number: usize) -> &str {
        self.changed.get(&number).map_or_else(|| self.joined_at(number), |(at, _)| at)
    }
}

impl State {
    /// Returns the numbers of the contacts that changed at or after `since`, in the order of their changes, and [`UNLISTED`] at the end.
    fn changed_since(&self, since: &str) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.people).filter(|number| since <= self.changes.changed_at(*number)).collect();
        all.sort_by_key(|number| self.changes.changed_at(*number));
        all.push(UNLISTED);
        all
    }

    /// Returns the numbers of the contacts that Klaviyo suppressed at or after `since`.
    fn suppressed_since(&self, since: &str) -> Vec<usize> {
        let at = |number: usize| self.changes.changed.get(&number).map_or(SUPPRESSED, |(at, _)| at.as_str());
        let is_suppressed = |number: &usize| {
            let standing = self.changes.standing(*number);
            matches!(standing, Standing::Unsubscribed | Standing::Bounced | Standing::Complained) && since <= at(*number)
        };
        (0..self.people).filter(is_suppressed).collect()
    }
}

/// Returns the numbers of the Klaviyo list members that match a filter, or the error response for an unsupported filter.
pub fn klaviyo_members(state: &State, filter: Option<&str>) -> Result<Vec<usize>, (u16, Value)> {
    let Some(filter) = filter else { return Ok((0..state.people).collect()) };
    let since = argument(filter, "greater-or-equal(joined_group_at,").ok_or_else(|| refused("the filter is not allowed"))?;
    Ok((0..state.people).filter(|number| since <= state.changes.joined_at(*number)).collect())
}

/// Returns Klaviyo's response with the profiles that match the filter.
pub fn klaviyo_profiles(state: &State, request: &Request<'_>) -> (u16, Value) {
    let allowed = ["additional-fields[profile]", "page[size]", "page[cursor]", "filter"];
    if let Some(refusal) = request.unknown(&allowed) {
        return refusal;
    }
    let filter = request.query.get("filter").map_or("", String::as_str);
    let numbers = if let Some(since) = argument(filter, "greater-than(updated,") {
        state.changed_since(since)
    } else if let Some(since) = argument(filter, "greater-or-equal(subscriptions.email.marketing.suppression.timestamp,") {
        state.suppressed_since(since)
    } else if argument(filter, "greater-or-equal(subscriptions.email.marketing.list_suppressions.timestamp,").is_some() {
        Vec::new()
    } else {
        return refused("the filter is not allowed");
    };
    let (size, start) = (request.number("page[size]", 20), request.number("page[cursor]", 0));
    let end = (start + size).min(numbers.len());
    let data: Vec<Value> = numbers[start.min(end)..end].iter().map(|number| profile(&state.changes, *number)).collect();
    let more = (end < numbers.len()).then(|| next("/api/profiles", &end.to_string()));
    (200, json!({ "data": data, "links": { "self": "x", "next": more } }))
}

fn argument<'f>(filter: &'f str, front: &str) -> Option<&'f str> {
    filter.strip_prefix(front)?.strip_suffix(')').filter(|time| time.len() == START.len() && time.ends_with('Z'))
}

/// Returns HubSpot's response to a search for contacts.
pub fn hubspot_search(state: &State, body: &Value) -> (u16, Value) {
    let filter = &body["filterGroups"][0]["filters"][0];
    let is_complete = ["after", "filterGroups", "limit", "properties", "sorts"].iter().all(|name| body.get(name).is_some());
    if !is_complete || filter["propertyName"] != "lastmodifieddate" || filter["operator"] != "GTE" {
        return refused("the search is invalid");
    }
    let millis: i64 = filter["value"].as_str().and_then(|text| text.parse().ok()).expect("the value is a time");
    let since = jiff::Timestamp::from_millisecond(millis).map(|at| format!("{at:.3}")).expect("the time is valid");
    let after: usize = body["after"].as_str().and_then(|text| text.parse().ok()).expect("the cursor is a number");
    let mut all = state.changed_since(&since);
    // The importer adds a second condition to read only the contacts who unsubscribed from all email, or bounced.
    if body["filterGroups"][0]["filters"][1].is_object() {
        all.retain(|number| matches!(state.changes.standing(*number), Standing::Complained | Standing::Bounced));
    }
    let limit = body["limit"].as_u64().expect("the limit is a number") as usize;
    let one = |number: &usize| {
        json!({
            "id": number.to_string(), "properties": { "lastmodifieddate": state.changes.changed_at(*number) }, "archived": false,
            "createdAt": START, "updatedAt": START,
        })
    };
    let results: Vec<Value> = all.iter().skip(after).take(limit).map(one).collect();
    let mut page = json!({ "results": results, "total": all.len() });
    if after + limit < all.len() {
        page["paging"] = json!({ "next": { "after": (after + limit).to_string() } });
    }
    (200, page)
}

impl Platforms {
    /// Deletes a HubSpot contact, which stays on its lists.
    pub fn delete_contact(&self, id: &str) {
        self.state().deleted = Some(id.to_owned());
    }
}

/// Returns HubSpot's response to a batch request for contacts.
pub fn hubspot_batch(state: &State, body: &Value) -> (u16, Value) {
    if inputs(body).len() > 100 || body.get("propertiesWithHistory").is_none() {
        return refused("the batch is invalid");
    }
    let is_deleted = |input: &Value| input["id"].as_str() == state.deleted.as_deref();
    let (deleted, found): (Vec<Value>, Vec<Value>) = inputs(body).into_iter().partition(is_deleted);
    let results: Vec<Value> = found.iter().map(|input| hubspot_contact(&state.changes, body, input)).collect();
    let mut answer = json!({ "status": "COMPLETE", "results": results, "startedAt": "x", "completedAt": "x" });
    if deleted.is_empty() {
        return (200, answer);
    }
    let ids: Vec<&Value> = deleted.iter().map(|input| &input["id"]).collect();
    answer["errors"] = json!([{
        "status": "error", "category": "OBJECT_NOT_FOUND", "message": "Some objects do not exist.", "context": { "ids": ids },
    }]);
    (207, answer)
}
