//! Send again to those of whom nobody knows whether they have the message.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::api::{Caller, Command, Done, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::sending;
use crate::vocab::codes::Code;
use crate::vocab::ids::MailingId;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

/// `sending.batch_resend_unknown`
pub struct BatchResendUnknown;

/// Which batch or direct send.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ResendUnknown {
    pub batch_id: MailingId,
}

/// How many are sent to again.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResentBatch {
    pub batch_id: MailingId,
    /// How many recipients wait for their turn again.
    pub resent: u64,
}

impl Operation for BatchResendUnknown {
    const SPEC: Spec = Spec::post(
        "sending.batch_resend_unknown",
        "/v1/sending/batches/{batchId}/resend-unknown",
        needs(Permission::EmailSend),
    )
    .summary("Send again to the unknown")
    .about(
        "For recipients with the status unknown: the service or a connection ended between the end of their message and the reply to it. \
         Most of them have the message; they get it a second time, with the same Message-ID. Takes the id of a direct send too.",
    )
    .rate(RouteGroup::Sending)
    .replay(Replay::Keyed)
    .fails(&[Code::NotFound, Code::WrongState, Code::OnHold]);
    type Input = ResendUnknown;
    type Output = Done<ResentBatch>;

    fn example() -> (Value, Self::Output) {
        let batch_id = MailingId::from_bytes([0x66; 12]);
        (json!({ "batchId": batch_id }), Done(ResentBatch { batch_id, resent: 3 }))
    }
}

impl Command for BatchResendUnknown {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: ResendUnknown) -> Result<Self::Output, Failure> {
        sending::require_not_held(tx, &caller.engine.hold, caller.account(), input.batch_id)?;
        let resent = sending::resend_unknown(tx, caller.account(), input.batch_id)?;
        Ok(Done(ResentBatch { batch_id: input.batch_id, resent }))
    }
}
