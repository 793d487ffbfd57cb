//! Returns a mail service.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::features::mail_feedback::require;
use crate::features::mail_feedback::views::{MailFeedbackView, mail_feedback_view};
use crate::vocab::codes::Code;
use crate::vocab::ids::MailFeedbackId;
use crate::vocab::permissions::Permission;

pub struct Get;

/// The mail service to return.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MailServiceRef {
    /// The ID of the mail service.
    pub mail_service_id: MailFeedbackId,
}

impl Operation for Get {
    const SPEC: Spec = Spec::get("mail_feedback.get", "/v1/mail-services/{mailServiceId}", needs(Permission::WebhookRead))
        .client("mail_services.get")
        .summary("Get a mail service")
        .about("The response shows whether events arrive, and why the last request was rejected.")
        .fails(&[Code::NotFound]);
    type Input = MailServiceRef;
    type Output = Done<MailFeedbackView>;

    fn example() -> (Value, Self::Output) {
        let mail_service = MailFeedbackView::sample();
        (json!({ "mailServiceId": mail_service.id }), Done(mail_service))
    }
}

impl Query for Get {
    fn run(view: &View<'_>, input: MailServiceRef) -> Result<Self::Output, Failure> {
        let row = require(view.tx, view.caller.account(), input.mail_service_id)?;
        Ok(Done(mail_feedback_view(view.tx, &row)?))
    }
}
