//! Stores the opens and clicks that another node of the cluster answered.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::access::visit_buffer::Visit;
use crate::engine::api::spec::BodySize;
use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, operator};
use crate::features::tracking::visits;
use crate::vocab::environment::Environment;

pub struct Report;

/// The visits that a node has in memory. The node repeats a report until it is stored, so a report with the ID of the previous one has no
/// effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VisitReport {
    /// The name of the node.
    pub node: String,
    /// The random ID of the report.
    pub id: String,
    /// The visits in the test environment.
    pub test: Vec<Visit>,
    /// The visits in the live environment.
    pub live: Vec<Visit>,
}

/// The number of visits in the report, all of which are now stored or wait in the memory of the leader.
#[derive(Serialize, JsonSchema)]
pub struct ReportedVisits {
    pub visits: usize,
}

impl Operation for Report {
    const SPEC: Spec = Spec::post("tracking.report", "/admin/cluster/visits", operator())
        .body(BodySize::Upload)
        .summary("Store the opens and clicks that another node answered");
    type Input = VisitReport;
    type Output = Done<ReportedVisits>;

    fn example() -> (Value, Self::Output) {
        (json!({ "node": "node-2", "id": "5c2b", "test": [], "live": [] }), Done(ReportedVisits { visits: 0 }))
    }
}

impl Async for Report {
    async fn run(context: Context, input: VisitReport) -> Result<Self::Output, Failure> {
        let VisitReport { node, id, test, live } = input;
        let mut count = 0;
        for (environment, visits) in Environment::ALL.into_iter().zip([test, live]) {
            count += visits.len();
            visits::store_report(&context.engine, environment, (&node, &id), visits).await?;
        }
        Ok(Done(ReportedVisits { visits: count }))
    }
}
