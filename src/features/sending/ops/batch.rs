//! Returns a batch.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs_one};
use crate::features::sending::views::BatchView;
use crate::features::sending::{self, FOLLOWERS, counts, provider};
use crate::vocab::codes::Code;
use crate::vocab::ids::MailingId;
use crate::vocab::rates::RouteGroup;

pub struct Batch;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BatchRef {
    pub batch_id: MailingId,
}

impl Operation for Batch {
    const SPEC: Spec = Spec::get("sending.batch", "/v1/sending/batches/{batchId}", needs_one(FOLLOWERS))
        .client("sends.batches.get")
        .summary("Get a batch")
        .about("Returns the progress of a send to an audience: the number of recipients in each state.")
        .rate(RouteGroup::Sending)
        .fails(&[Code::NotFound]);
    type Input = BatchRef;
    type Output = Done<BatchView>;

    fn example() -> (Value, Self::Output) {
        (json!({ "batchId": "666666666666666666666666" }), Done(BatchView::sample()))
    }
}

impl Query for Batch {
    fn run(view: &View<'_>, input: BatchRef) -> Result<Self::Output, Failure> {
        let mailing = sending::require(view.tx, view.caller.account(), input.batch_id)?;
        let counts = counts(view.tx, mailing.id)?;
        Ok(Done(BatchView::new(&mailing, &counts, provider(&view.caller.engine, view.caller.environment()))))
    }
}
