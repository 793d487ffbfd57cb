//! Lists the connections.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::api::{Counted, Failure, Operation, Query, Spec, View, needs_one};
use crate::features::connections::choice::usable;
use crate::features::connections::views::ConnectionView;
use crate::features::projects;
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;
use crate::vocab::permissions::Permission;
use crate::vocab::providers::Provider;

pub struct List;

/// Selects the connections to list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListConnections {
    /// Returns only connections to this provider.
    pub provider: Option<Provider>,
    /// Returns only connections that this project can use.
    pub project_id: Option<ProjectId>,
}

/// A list of connections.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ConnectionList")]
pub struct Connections {
    /// The connections, oldest first.
    pub connections: Vec<ConnectionView>,
    pub total: usize,
}

impl Operation for List {
    const SPEC: Spec = Spec::get(
        "connections.list",
        "/v1/connections",
        needs_one(&[Permission::AudienceRead, Permission::EmailRead, Permission::ProjectWrite]),
    )
    .summary("List connections to other platforms")
    .about("Returns the connections with their status, without keys and tokens.")
    .fails(&[Code::NotFound]);
    type Input = ListConnections;
    type Output = Counted<Connections>;

    fn example() -> (Value, Self::Output) {
        let connections = vec![ConnectionView::sample()];
        (json!({ "provider": "platform_a" }), Counted { data: Connections { connections, total: 1 }, count: 1 })
    }
}

impl Query for List {
    fn run(view: &View<'_>, input: ListConnections) -> Result<Self::Output, Failure> {
        let account = view.caller.account();
        if let Some(project) = input.project_id {
            projects::require(view.tx, account, project)?;
        }
        let mut connections = usable(view.tx, account, input.project_id, view.now)?;
        connections.retain(|connection| input.provider.is_none_or(|provider| connection.provider == provider));
        let count = connections.len();
        Ok(Counted { data: Connections { connections, total: count }, count })
    }
}
