//! Returns whether all parts of the service work. The response contains no information that an attacker could use.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, public};
use crate::features::system::readiness::{
    BackupCheck, DescriptorsCheck, DiskCheck, DispatchersCheck, IndexCheck, KeyCheck, ReadinessChecks, ReadinessReport,
    StoreCheck, WorkersCheck,
};
use crate::vocab::codes::Code;
use crate::vocab::limits;

pub struct Ready;

/// The role that the node must have to be considered ready.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadyFor {
    /// The role that a node of a cluster must have to be considered ready: `leader` or `any` (the default). Followers answer reads and
    /// forward other requests to the leader.
    pub role: Option<NodeRole>,
}

/// The role that a load balancer requires of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NodeRole {
    Any,
    Leader,
}

impl Operation for Ready {
    const SPEC: Spec = Spec::get("system.ready", "/health/ready", public())
        .summary("Check that the service is ready")
        .about(
            "Use this check for alerts. It returns 503 with the same `data` if a check is not `ok`: a data file, the search index, the \
            key, disk space, descriptors, the dispatchers of mail and webhooks, the listener for inbound mail, a background job, or \
            the age of a cluster node's data. Requests do not count against a request budget.",
        )
        .blocking();
    type Input = ReadyFor;
    type Output = Done<ReadinessReport>;

    fn example() -> (Value, Self::Output) {
        let checks = ReadinessChecks {
            store: StoreCheck { ok: true, damaged: Vec::new() },
            search_index: IndexCheck { ok: true, lag_live: 0, lag_test: 0 },
            key: KeyCheck { ok: true },
            disk: DiskCheck { ok: true, read_only: false, free_mib: Some(40_960), free_mib_min: 256, reserve_mib: 32 },
            backup: Some(BackupCheck { ok: true, age_seconds: Some(4) }),
            cluster: None,
            descriptors: DescriptorsCheck { ok: true, open: Some(64), limit: 524_288 },
            dispatchers: DispatchersCheck { ok: true, running: 5, restarts: 0, on_hold: false },
            workers: WorkersCheck { ok: true, failing: Vec::new(), stuck: Vec::new(), failures: 0, restarts: 0 },
        };
        let version = env!("CARGO_PKG_VERSION");
        (json!({}), Done(ReadinessReport { status: "ready", version, uptime_seconds: 86_400, checks }))
    }
}

impl Query for Ready {
    fn run(view: &View<'_>, input: ReadyFor) -> Result<Self::Output, Failure> {
        let condition = ReadinessReport::of(&view.caller.engine);
        let failed = condition.checks.failed();
        let wants_leader = input.role == Some(NodeRole::Leader);
        let detail = match failed.as_slice() {
            [] if wants_leader && condition.checks.cluster.as_ref().is_some_and(|cluster| !cluster.leads) => {
                "The service is ready, but this node does not lead the cluster; see data.checks.cluster for details.".to_owned()
            }
            [] => return Ok(Done(condition)),
            failed => format!("The service is not ready: {}; see data.checks for details.", failed.join(", ")),
        };
        let data = serde_json::to_value(&condition).map_err(Failure::internal)?;
        Err(Failure::because(Code::Unavailable, detail).with(data).after_seconds(limits::NOT_READY_RETRY_SECONDS))
    }
}
