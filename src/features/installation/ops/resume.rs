//! Resumes sending after a restore or on a copy of a data folder.

use serde_json::{Value, json};

use super::{own_account, resume};
use crate::engine::api::{Async, Context, Done, Failure, NoInput, Operation, Spec, manager};
use crate::features::installation::held_work::SendingHold;

pub struct Resume;

impl Operation for Resume {
    const SPEC: Spec = Spec::post("installation.resume", "/v1/system/hold/resume", manager()).summary("Resume sending").about(
        "Ends the hold, so that the waiting work continues. The response lists this work, some of which may be sent twice. If \
            sending is not on \
             hold, the operation changes nothing. Only the installation's own account (the first account) may use this operation.",
    );
    type Input = NoInput;
    type Output = Done<SendingHold>;

    fn example() -> (Value, Self::Output) {
        (json!({}), Done(SendingHold { on_hold: false, ..SendingHold::sample() }))
    }
}

impl Async for Resume {
    async fn run(context: Context, _: NoInput) -> Result<Self::Output, Failure> {
        let account = own_account(&context)?;
        resume(&context, Some(account), &Self::SPEC).await.map(Done)
    }
}
