//! Changes a mail service.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::patch::Patch;
use crate::base::secret::Secret;
use crate::base::text::ShortText;
use crate::engine::access::url_token::UrlToken;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::mail_feedback::views::{MailFeedbackWithUrl, mail_feedback_view};
use crate::features::mail_feedback::{input, require, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::MailFeedbackId;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

pub struct Update;

/// The changes to a mail service. An omitted field stays unchanged, and `null` clears a field.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MailServicePatch {
    /// The ID of the mail service.
    pub mail_service_id: MailFeedbackId,
    #[serde(default)]
    pub name: Patch<ShortText<{ limits::DESCRIPTION_CHARACTERS_MAX }>>,
    /// The new secret for verifying requests. It replaces the current secret.
    #[serde(default)]
    pub secret: Patch<Secret<String>>,
    /// For Amazon SES: the ARNs of the SNS topics from which notifications are accepted. They replace all previous ARNs.
    #[schemars(length(max = limits::SNS_TOPICS_MAX))]
    pub topic_arns: Option<Vec<String>>,
    /// Whether to create a new URL, which is shown only in this response. The current URL stops working immediately.
    pub new_url: Option<bool>,
}

impl Operation for Update {
    const SPEC: Spec = Spec::patch("mail_feedback.update", "/v1/mail-services/{mailServiceId}", needs(Permission::WebhookWrite))
        .client("mail_services.update")
        .summary("Change a mail service")
        .about("If the mail service shows the secret only after you enter the URL there, set the secret with this operation.")
        .answers_secret()
        .fails(&[Code::NotFound]);
    type Input = MailServicePatch;
    type Output = Done<MailFeedbackWithUrl>;

    fn example() -> (Value, Self::Output) {
        let answer = MailFeedbackWithUrl { url: None, ..MailFeedbackWithUrl::sample() };
        (json!({ "mailServiceId": answer.mail_service.id, "secret": "key-0123456789abcdef" }), Done(answer))
    }
}

impl Command for Update {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, patch: MailServicePatch) -> Result<Self::Output, Failure> {
        let (account, engine) = (caller.account(), caller.engine.as_ref());
        let before = require(tx, account, patch.mail_service_id)?;
        let mut after = before.clone();
        patch.name.map(|name| name.to_string()).apply(&mut after.name);
        after.name = after.name.filter(|name| !name.is_empty());
        match patch.secret {
            Patch::Absent => {}
            Patch::Null => after.sealed_secret = None,
            Patch::Value(secret) => {
                after.sealed_secret = Some(input::seal(engine, after.service, (account, after.id), &secret, tx.random())?);
            }
        }
        if let Some(topics) = patch.topic_arns {
            after.topics = input::topics(after.service, topics)?;
        }
        let token = (patch.new_url == Some(true)).then(|| UrlToken::new(caller.environment(), account, after.id, tx.random()));
        if let Some(token) = &token {
            after.url_hash = token.hash();
        }
        if after != before {
            after.updated_at = tx.now();
            store::save(tx, &after);
        }
        let url = token.as_ref().map(|token| input::url(engine, token));
        Ok(Done(MailFeedbackWithUrl { mail_service: mail_feedback_view(tx, &after)?, url }))
    }
}
