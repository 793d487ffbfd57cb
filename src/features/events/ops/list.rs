//! Lists the events of a contact.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::clock::Timestamp;
use crate::engine::api::{Done, Failure, Limit, Operation, Query, Spec, View, needs};
use crate::features::customer_events::{self, CustomerEvent};
use crate::features::{contact_records, projects};
use crate::vocab::codes::Code;
use crate::vocab::ids::{ContactId, EventId, ProjectId};
use crate::vocab::permissions::Permission;

pub struct List;

/// The contact whose events to return, and the page of the list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListEvents {
    /// The contact's ID.
    pub id: ContactId,
    /// The ID of the contact's project.
    pub project_id: ProjectId,
    #[serde(default)]
    pub limit: Limit,
    /// The `nextCursor` of the previous page.
    pub cursor: Option<String>,
}

/// A page of a contact's events.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CustomerEventPart {
    /// The events, sorted by the time at which they occurred, newest first.
    pub events: Vec<CustomerEvent>,
    /// The cursor of the next page; absent on the last page.
    pub next_cursor: Option<String>,
    pub has_more: bool,
}

impl Operation for List {
    const SPEC: Spec = Spec::get("events.list", "/v1/contacts/{id}/events", needs(Permission::AudienceRead))
        .client("contacts.events")
        .also_at(&["/v1/subscribers/{id}/events"])
        .summary("List the events of a contact")
        .about("Returns the contact's customer events, newest first by time of occurrence. Events are kept for 90 days.")
        .fails(&[Code::NotFound]);
    type Input = ListEvents;
    type Output = Done<CustomerEventPart>;

    fn example() -> (Value, Self::Output) {
        let input = json!({ "id": "66f1a2b30000000a5c3e9d71", "projectId": "66f1a2b3d4e5f60718293a4b", "limit": 1 });
        (input, Done(CustomerEventPart { events: vec![CustomerEvent::sample()], next_cursor: None, has_more: false }))
    }
}

impl Query for List {
    fn run(view: &View<'_>, input: ListEvents) -> Result<Self::Output, Failure> {
        let (tx, project) = (view.tx, input.project_id);
        projects::require(tx, view.caller.account(), project)?;
        let contact = contact_records::find(tx, project, input.id)?.ok_or(Code::NotFound)?;
        let before = input.cursor.as_deref().map(parse_cursor).transpose()?;
        let limit = input.limit.0 as usize;
        let mut events = customer_events::of(tx, project, contact.id.number(), before, limit + 1)?;
        let has_more = events.len() > limit;
        events.truncate(limit);
        let last = events.last().filter(|_| has_more);
        let next_cursor = last.map(|(id, event)| to_cursor((event.occurred_at, *id)));
        Ok(Done(CustomerEventPart { events: events.into_iter().map(CustomerEvent::of).collect(), next_cursor, has_more }))
    }
}

fn to_cursor((at, id): (Timestamp, EventId)) -> String {
    format!("{}-{id}", at.0)
}

/// Parses a cursor, encodes its position again, and returns whether the new cursor has the same position. This is a fuzz target.
#[cfg(any(test, fuzzing))]
pub fn reread_cursor(cursor: &str) -> Result<bool, Failure> {
    let position = parse_cursor(cursor)?;
    Ok(parse_cursor(&to_cursor(position))? == position)
}

/// Returns the position that a cursor encodes.
fn parse_cursor(cursor: &str) -> Result<(Timestamp, EventId), Failure> {
    let parts = cursor.rsplit_once('-').and_then(|(at, id)| Some((Timestamp(at.parse().ok()?), EventId::parse(id)?)));
    parts.ok_or_else(|| Failure::field("cursor", "is not a cursor of this list; use the nextCursor of the previous page"))
}
