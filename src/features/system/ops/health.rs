//! Whether the service is up. Returns nothing that an attacker could use.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Done, Failure, NoInput, Operation, Spec, public};

pub struct Health;

/// The health of the service.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HealthView {
    /// Always `ok`.
    pub status: &'static str,
    /// The program's version.
    pub version: &'static str,
    /// Seconds since the start.
    pub uptime_seconds: i64,
    /// Whether only reads, unsubscribe links and redirects work, because the disk is almost full.
    pub read_only: bool,
}

impl Operation for Health {
    const SPEC: Spec = Spec::get("system.health", "/health", public())
        .summary("Check that the service is up")
        .about("For probes, use /health/live and /health/ready. Does not count against a request budget.");
    type Input = NoInput;
    type Output = Done<HealthView>;

    fn example() -> (Value, Self::Output) {
        (
            json!({}),
            Done(HealthView { status: "ok", version: env!("CARGO_PKG_VERSION"), uptime_seconds: 86_400, read_only: false }),
        )
    }
}

impl Async for Health {
    async fn run(context: Context, _: NoInput) -> Result<Self::Output, Failure> {
        let uptime_seconds = context.now().ms_since(context.engine.started_at).max(0) / 1000;
        let read_only = context.engine.control.space().is_low();
        Ok(Done(HealthView { status: "ok", version: env!("CARGO_PKG_VERSION"), uptime_seconds, read_only }))
    }
}
