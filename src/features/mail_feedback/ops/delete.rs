//! Deletes a mail service.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::get::MailServiceRef;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::mail_feedback::{require, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::MailFeedbackId;
use crate::vocab::permissions::Permission;

pub struct Delete;

/// The result of deleting a mail service.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeletedMailService {
    /// The ID of the deleted mail service.
    pub id: MailFeedbackId,
    /// Always true in a successful response.
    pub deleted: bool,
}

impl Operation for Delete {
    const SPEC: Spec = Spec::delete("mail_feedback.delete", "/v1/mail-services/{mailServiceId}", needs(Permission::WebhookWrite))
        .client("mail_services.delete")
        .summary("Delete a mail service")
        .about("After the deletion, the URL of its webhook returns 404. Suppressions and statistics from its events are kept.")
        .fails(&[Code::NotFound]);
    type Input = MailServiceRef;
    type Output = Done<DeletedMailService>;

    fn example() -> (Value, Self::Output) {
        let id = MailFeedbackId::parse("66f1a2b3000000097a1b2c3d").expect("the ID has 24 hexadecimal characters");
        (json!({ "mailServiceId": id }), Done(DeletedMailService { id, deleted: true }))
    }
}

impl Command for Delete {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: MailServiceRef) -> Result<Self::Output, Failure> {
        let row = require(tx, caller.account(), input.mail_service_id)?;
        store::delete(tx, &row)?;
        Ok(Done(DeletedMailService { id: row.id, deleted: true }))
    }
}
