//! Cancels a batch.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Caller, Command, Done, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::sending::views::{BatchView, status};
use crate::features::sending::{self, MailingKind, counts, provider};
use crate::vocab::codes::Code;
use crate::vocab::ids::MailingId;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct BatchCancel;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CancelBatch {
    pub batch_id: MailingId,
}

impl Operation for BatchCancel {
    const SPEC: Spec = Spec::post("sending.batch_cancel", "/v1/sending/batches/{batchId}/cancel", needs(Permission::EmailSend))
        .client("sends.batches.cancel")
        .summary("Cancel a batch")
        .about("Skips the remaining recipients. The outcome of messages in flight is still recorded.")
        .rate(RouteGroup::Sending)
        .replay(Replay::Keyed)
        .fails(&[Code::NotFound, Code::WrongState]);
    type Input = CancelBatch;
    type Output = Done<BatchView>;

    fn example() -> (Value, Self::Output) {
        let sample = BatchView { status: "cancelled".into(), ..BatchView::sample() };
        (json!({ "batchId": "666666666666666666666666" }), Done(sample))
    }
}

impl Command for BatchCancel {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: CancelBatch) -> Result<Self::Output, Failure> {
        let mailing = sending::require(tx, caller.account(), input.batch_id)?;
        if let MailingKind::Campaign(campaign) = mailing.kind {
            let status = status(&mailing, &counts(tx, mailing.id)?);
            let hint = format!("POST /v1/campaigns/{campaign}/cancel cancels the campaign");
            return Err(Failure::because(Code::WrongState, "This batch belongs to a campaign. Cancel the campaign instead.")
                .see("campaigns.cancel", hint)
                .with(json!({ "status": status, "campaignId": campaign })));
        }
        let mailing = sending::cancel(tx, caller.account(), input.batch_id)?;
        let counts = counts(tx, mailing.id)?;
        Ok(Done(BatchView::new(&mailing, &counts, provider(&caller.engine, caller.environment()))))
    }
}
