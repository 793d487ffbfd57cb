//! Returns whether the service is running, without information that an attacker could use.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::engine::api::{Done, Failure, NoInput, Operation, Query, Spec, View, public};

pub struct Health;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HealthView {
    /// The status, which is always `ok`.
    pub status: &'static str,
    /// The version of the program.
    pub version: &'static str,
    /// The number of seconds since the service started.
    pub uptime_seconds: i64,
    /// Whether the service is read-only, that is, refuses most writes because the disk is almost full.
    pub read_only: bool,
}

impl Operation for Health {
    const SPEC: Spec = Spec::get("system.health", "/health", public())
        .summary("Check that the service is running")
        .about("For probes, use /health/live and /health/ready. Requests do not count against a request budget.");
    type Input = NoInput;
    type Output = Done<HealthView>;

    fn example() -> (Value, Self::Output) {
        (
            json!({}),
            Done(HealthView { status: "ok", version: env!("CARGO_PKG_VERSION"), uptime_seconds: 86_400, read_only: false }),
        )
    }
}

impl Query for Health {
    fn run(view: &View<'_>, _: NoInput) -> Result<Self::Output, Failure> {
        let uptime_seconds = view.caller.engine.uptime_seconds();
        let read_only = view.caller.engine.control.space().is_low();
        Ok(Done(HealthView { status: "ok", version: env!("CARGO_PKG_VERSION"), uptime_seconds, read_only }))
    }
}
