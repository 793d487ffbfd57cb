//! Lists the names of reported events, for use in filters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::api::{Done, Failure, Limit, Operation, Query, Spec, View, needs};
use crate::features::customer_events;
use crate::features::projects;
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;
use crate::vocab::permissions::Permission;

pub struct Names;

/// The project whose event names to list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListEventNames {
    /// The project that the events were reported to.
    pub project_id: ProjectId,
    #[serde(default)]
    pub limit: Limit,
}

/// The event names of a project.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EventNames {
    /// The event names, in lowercase and alphabetical order.
    pub names: Vec<String>,
}

impl Operation for Names {
    const SPEC: Spec = Spec::get("events.names", "/v1/projects/{projectId}/event-names", needs(Permission::AudienceRead))
        .summary("List event names")
        .about("Returns the event names that segments can filter by. A name stays in the list even after its events have been deleted.")
        .fails(&[Code::NotFound]);
    type Input = ListEventNames;
    type Output = Done<EventNames>;

    fn example() -> (Value, Self::Output) {
        let input = json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "limit": 100 });
        (input, Done(EventNames { names: vec!["cart.abandoned".into(), "purchase.completed".into()] }))
    }
}

impl Query for Names {
    fn run(view: &View<'_>, input: ListEventNames) -> Result<Self::Output, Failure> {
        projects::require(view.tx, view.caller.account(), input.project_id)?;
        Ok(Done(EventNames { names: customer_events::names(view.tx, input.project_id, input.limit.0 as usize)? }))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::TestApp;

    #[test]
    fn every_name_is_listed_once() {
        let app = TestApp::new();
        app.post_in("/v1/contacts", json!({ "email": "ada@example.com" })).data();
        for (name, key) in [("Cart.Added", "1"), ("cart.added", "2"), ("browse", "3")] {
            let event = json!({ "name": name, "identifiers": { "email": "ada@example.com" }, "dedupeKey": key });
            assert_eq!(app.post_in("/v1/events", event).status, 200);
        }
        let names = app.get(&format!("/v1/projects/{}/event-names", app.project)).data();
        assert_eq!(names["names"], json!(["browse", "cart.added"]));
    }
}
