//! Sends the message of a batch or direct send again to the recipients whose delivery is unknown.

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

pub struct BatchResendUnknown;

/// The batch or direct send to send again. Only recipients whose delivery is unknown receive the message again.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ResendUnknown {
    pub batch_id: MailingId,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResentBatch {
    pub batch_id: MailingId,
    /// The number of recipients who were queued again.
    pub resent: u64,
}

impl Operation for BatchResendUnknown {
    const SPEC: Spec = Spec::post(
        "sending.batch_resend_unknown",
        "/v1/sending/batches/{batchId}/resend-unknown",
        needs(Permission::EmailSend),
    ).client("sends.batches.resend_unknown")
    .summary("Send again to recipients whose delivery is unknown")
    .about(
        "Sends again to recipients with the status unknown: their message was sent, but the service or the connection failed before \
             the mail server replied, or the reply came too late or was invalid. A recipient who already has the message gets a second \
             copy. Also accepts the ID of a direct send.",
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
