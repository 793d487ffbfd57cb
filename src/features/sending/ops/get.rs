//! Returns a direct send.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs_one};
use crate::features::sending::views::SendView;
use crate::features::sending::{self, FOLLOWERS, Recipient, provider};
use crate::vocab::codes::Code;
use crate::vocab::ids::MailingId;
use crate::vocab::limits;
use crate::vocab::rates::RouteGroup;

pub struct Get;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SendRef {
    pub send_id: MailingId,
}

impl Operation for Get {
    const SPEC: Spec = Spec::get("sending.get", "/v1/sending/{sendId}", needs_one(FOLLOWERS)).client("sends.get")
        .summary("Get a direct send")
        .about("Returns the status of each recipient. For a batch, use GET /v1/sending/batches/{batchId}. \
             A direct send is kept for the number of days in the setting mail.direct_days, then deleted with its content and links.")
        .rate(RouteGroup::Sending)
        .fails(&[Code::NotFound]);
    type Input = SendRef;
    type Output = Done<SendView>;

    fn example() -> (Value, Self::Output) {
        (json!({ "sendId": "666666666666666666666666" }), Done(SendView::sample()))
    }
}

impl Query for Get {
    fn run(view: &View<'_>, input: SendRef) -> Result<Self::Output, Failure> {
        let mailing = sending::require(view.tx, view.caller.account(), input.send_id)?;
        if mailing.kind.is_group() {
            let hint = format!("GET /v1/sending/batches/{} returns the batch", mailing.id);
            return Err(
                Failure::because(Code::NotFound, "This ID belongs to a batch, not to a direct send.").see("sending.batch", hint)
            );
        }
        let found = sending::recipients(view.tx, mailing.id, 0, limits::DIRECT_RECIPIENTS_MAX, |_, _| true)?;
        let recipients: Vec<Recipient> = found.rows.into_iter().map(|(_, recipient)| recipient).collect();
        Ok(Done(SendView::new(&mailing, &recipients, provider(&view.caller.engine, view.caller.environment()))))
    }
}
