//! Moves the leadership of the cluster from this node to another node, for example before an upgrade.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, operator};
use crate::engine::store::cluster::Role;
use crate::vocab::codes::Code;
use crate::vocab::limits;

pub struct ClusterDrain;

/// Whether the node gives up the leadership, or may become the leader again.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DrainRequest {
    /// True to let the node become the leader again. Otherwise, the node gives up the leadership and does not become the leader again until
    /// it restarts.
    pub undo: Option<bool>,
}

/// The node that answered, and the current leader.
#[derive(Serialize, JsonSchema)]
pub struct Drained {
    pub node: String,
    /// The current leader; absent if no other node has taken over yet.
    pub leader: Option<String>,
}

impl Operation for ClusterDrain {
    const SPEC: Spec = Spec::post("system.cluster_drain", "/admin/cluster/drain", operator())
        .summary("Hand the cluster's leadership to another node")
        .about("Messages in flight are completed first. Returns when another node leads, or after a few seconds.")
        .fails(&[Code::NotFound])
        .on_any_node();
    type Input = DrainRequest;
    type Output = Done<Drained>;

    fn example() -> (Value, Self::Output) {
        (json!({}), Done(Drained { node: "node-1".into(), leader: Some("node-2".into()) }))
    }
}

impl Async for ClusterDrain {
    async fn run(context: Context, input: DrainRequest) -> Result<Self::Output, Failure> {
        let member = context.engine.cluster.clone();
        let member = member.ok_or_else(|| {
            Failure::because(Code::NotFound, "This service is not a cluster node. Run the command on a cluster node.")
        })?;
        if input.undo == Some(true) {
            member.rejoin();
        } else {
            member.drain().await;
            // Wait briefly for a new leader. The other nodes read the lease several times a second.
            let mut role = member.role();
            let led = role.wait_for(|role| matches!(role, Role::Follower { leader: Some(_) }));
            let _ = tokio::time::timeout(limits::CLUSTER_RESIGN_TIME, led).await;
        }
        Ok(Done(Drained { node: member.node().to_owned(), leader: member.leader().map(|holder| holder.node) }))
    }
}
