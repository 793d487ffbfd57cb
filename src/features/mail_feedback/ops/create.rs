//! Creates a mail service.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::secret::Secret;
use crate::base::text::ShortText;
use crate::engine::access::url_token::UrlToken;
use crate::engine::api::{Caller, Command, Created, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::mail_feedback::model::MailFeedback;
use crate::features::mail_feedback::views::{MailFeedbackWithUrl, mail_feedback_view};
use crate::features::mail_feedback::{input, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::MailFeedbackId;
use crate::vocab::limits;
use crate::vocab::mail_services::MailService;
use crate::vocab::permissions::Permission;

pub struct Create;

/// The mail service to create.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(transform = input::by_service)]
pub struct NewMailService {
    pub service: MailService,
    /// A name that distinguishes this webhook from other webhooks for the same service.
    pub name: Option<ShortText<{ limits::DESCRIPTION_CHARACTERS_MAX }>>,
    /// The secret for verifying requests: Mailgun's signing key, SendGrid's verification key, Brevo's token, Resend's signing secret, or
    /// `user:password` for Postmark. It can be set later, because some services show it only after the URL has been entered there. It is
    /// stored encrypted and never shown again.
    pub secret: Option<Secret<String>>,
    /// For Amazon SES: the ARNs of the SNS topics from which notifications are accepted.
    #[schemars(length(max = limits::SNS_TOPICS_MAX))]
    pub topic_arns: Option<Vec<String>>,
}

impl Operation for Create {
    const SPEC: Spec = Spec::post("mail_feedback.create", "/v1/mail-services", needs(Permission::WebhookWrite)).client("mail_services.create")
        .summary("Add a mail service")
        .about(
            "Only this response shows the URL of the webhook. Enter the URL in the settings of the provider that relays your mail. The \
             provider then reports bounces, complaints, deliveries and unsubscribes, with the same effects as bounce messages. An event \
             takes effect only if it contains the reference of a message of this environment.",
        )
        .replay(Replay::Keyed)
        .answers_secret()
        .fails(&[Code::LimitReached]);
    type Input = NewMailService;
    type Output = Created<MailFeedbackWithUrl>;

    fn example() -> (Value, Self::Output) {
        (
            json!({ "service": "mailgun", "name": "Newsletter", "secret": "key-0123456789abcdef" }),
            Created(MailFeedbackWithUrl::sample()),
        )
    }
}

impl Command for Create {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, given: NewMailService) -> Result<Self::Output, Failure> {
        let (account, engine) = (caller.account(), caller.engine.as_ref());
        let topics = input::topics(given.service, given.topic_arns.unwrap_or_default())?;
        if store::all(tx, account)?.len() >= limits::MAIL_FEEDBACK_MAX {
            let detail =
                format!("An account can have at most {} mail services. Delete a mail service first.", limits::MAIL_FEEDBACK_MAX);
            return Err(Failure::because(Code::LimitReached, detail));
        }
        let id = MailFeedbackId::make(tx.now(), tx.random());
        let token = UrlToken::new(caller.environment(), account, id, tx.random());
        let secret = given.secret.as_ref();
        let sealed_secret =
            secret.map(|secret| input::seal(engine, given.service, (account, id), secret, tx.random())).transpose()?;
        let row = MailFeedback {
            id,
            account,
            service: given.service,
            name: given.name.filter(|name| !name.is_empty()).map(|name| name.to_string()),
            url_hash: token.hash(),
            sealed_secret,
            topics,
            created_at: tx.now(),
            updated_at: tx.now(),
        };
        store::save(tx, &row);
        let url = Some(input::url(engine, &token));
        Ok(Created(MailFeedbackWithUrl { mail_service: mail_feedback_view(tx, &row)?, url }))
    }
}
