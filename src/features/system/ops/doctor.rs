//! Checks for problems that prevent this installation's mail from arriving.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Done, Failure, NoInput, Operation, Spec, operator};
use crate::features::system::doctor;
use crate::vocab::finding::Finding;

pub struct Doctor;

/// The findings of all checks, in the order in which problems should be fixed.
#[derive(Serialize, JsonSchema)]
pub struct Findings {
    pub findings: Vec<Finding>,
}

impl Operation for Doctor {
    const SPEC: Spec = Spec::post("system.doctor", "/admin/doctor", operator())
        .summary("Check for problems that prevent mail from arriving")
        .about(
            "Checks, among other things, the clock, disk, master key, backups, transport, reverse DNS and the DNS records of live sending \
             domains. Sends no mail and changes no data.",
        );
    type Input = NoInput;
    type Output = Done<Findings>;

    fn example() -> (Value, Self::Output) {
        let remedy = "Install a time service, such as chrony or systemd-timesyncd: signatures and schedules depend on the clock.";
        let finding = Finding::warning("clock", "the system clock is not synchronized", remedy);
        (json!({}), Done(Findings { findings: vec![finding] }))
    }
}

impl Async for Doctor {
    async fn run(context: Context, _: NoInput) -> Result<Self::Output, Failure> {
        Ok(Done(Findings { findings: doctor::run(&context.engine).await? }))
    }
}
