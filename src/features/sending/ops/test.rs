//! Sends a test of an email.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::base::email::EmailAddress;
use crate::base::strict_objects::AnyJson;
use crate::base::text::ShortText;
use crate::engine::api::response::{Warning, WireTime};
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::emails::{self, EmailChoice};
use crate::features::projects::{self, DefaultSender};
use crate::features::sending::inbox::SIMULATOR;
use crate::features::sending::model::{Address, Content, MailingKind, NewMailing, Policy, Sender, To, Tracking};
use crate::features::sending::{self, test_send};
use crate::vocab::environment::Environment;
use crate::vocab::ids::{ConversationId, EmailId, MailingId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct Test;

/// The email to test, and the address that receives the test.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("anyOf" = [
    { "required": ["emailId"], "properties": { "emailId": { "type": "string" } } },
    { "required": ["conversationId"], "properties": { "conversationId": { "type": "string" } } },
]))]
pub struct SendTest {
    /// The ID of the email to send. Without `conversationId`, this email itself is sent; with `conversationId`, this ID selects an email in
    /// the series.
    pub email_id: Option<EmailId>,
    /// The ID of the conversation that contains the email: the email selected by `emailId` or, without `emailId`, the first email in the
    /// series. The email is sent in the language of the contact with the address `to`. If there is no such contact, or no email in that
    /// language, the selected or first email itself is sent.
    pub conversation_id: Option<ConversationId>,
    /// The address that receives the test.
    pub to: EmailAddress,
    /// The From address. If absent, the project's default sender is used. If the project has no default sender, a test key uses an address
    /// of the simulator. For live mail, the address's domain must be verified, unless the settings allow unverified domains.
    pub from: Option<EmailAddress>,
    /// The sender's name.
    pub from_name: Option<ShortText<{ limits::SENDER_NAME_CHARACTERS_MAX }>>,
    /// Values of merge fields. Missing values are taken from the contact with the address `to`, if there is one.
    #[schemars(with = "Option<BTreeMap<String, AnyJson>>")]
    pub variables: Option<Map<String, Value>>,
}

/// An accepted test send.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestSendResult {
    /// The ID of the send. Check its status with GET /v1/sending/{messageId}.
    pub message_id: MailingId,
    pub email_id: EmailId,
    pub conversation_id: ConversationId,
    pub sent_to: String,
    pub sent_at: WireTime,
    pub subject: String,
    /// Warnings about the content; for example, that only the first email in a series is sent, or that a language is left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

impl Operation for Test {
    const SPEC: Spec = Spec::post("sending.test", "/v1/emails/test/send", needs(Permission::EmailSend)).client("emails.send_test")
        .summary("Send a test email")
        .about(
            "Emits the event email.test.sent. The message is the same as in a send to one address, but its opens and clicks are not \
             tracked. The recipient does not have to be subscribed.",
        )
        .rate(RouteGroup::Emails)
        .replay(Replay::Keyed)
        .fails(test_send::FAILS);
    type Input = SendTest;
    type Output = Done<TestSendResult>;

    fn example() -> (Value, Self::Output) {
        let tested = TestSendResult {
            message_id: MailingId::from_bytes([0x66; 12]),
            email_id: EmailId::from_bytes([0x67; 12]),
            conversation_id: ConversationId::from_bytes([0x68; 12]),
            sent_to: "ada@example.com".into(),
            sent_at: WireTime::sample(),
            subject: "New in spring".into(),
            warnings: Vec::new(),
        };
        (json!({ "emailId": "676767676767676767676767", "to": "ada@example.com", "from": "hello@example.com" }), Done(tested))
    }
}

impl Command for Test {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: SendTest) -> Result<Self::Output, Failure> {
        let (account, environment) = (caller.account(), caller.environment());
        let EmailChoice { emails, warnings } = emails::choose(tx, account, input.conversation_id, input.email_id, None)?;
        let first = emails.first().expect("a choice has at least one email");
        let (project, conversation_id) = (first.project, first.conversation);
        let default = projects::find(tx, account, project)?.and_then(|project| project.sender);
        let sender = match (input.from, default, environment) {
            (Some(from), _, _) => Sender { address: from.into_string(), name: None, reply_to: None },
            (None, Some(DefaultSender { from: address, from_name: name, reply_to }), _) => Sender { address, name, reply_to },
            (None, None, Environment::Test) => Sender { address: format!("test@{SIMULATOR}"), name: None, reply_to: None },
            (None, None, Environment::Live) => {
                let hint = format!("PATCH /v1/projects/{project} with defaultSender sets the default sender");
                let failure = Failure::field("from", "set an address, or set the brand's default sender");
                return Err(failure.see("projects.update", hint));
            }
        };
        let new = NewMailing {
            account,
            project: Some(project),
            kind: MailingKind::Test,
            contents: emails.into_iter().map(Content::from).collect(),
            from: Sender { name: input.from_name.map(ShortText::into_string).or(sender.name), ..sender },
            to: To::Addresses(vec![Address { email: input.to.as_str().to_owned(), name: None }]),
            transactional: true,
            topic: None,
            variables: input.variables.unwrap_or_default(),
            // The email's author reads the test, so its opens and clicks say nothing about recipients.
            tracking: Tracking { opens: false, clicks: false },
            utm: None,
            campaign_name: None,
            unknown: Policy::Hold,
            local: None,
        };
        let message_id = test_send::create_test(tx, caller, new, "to")?;
        let sent_at = tx.now();
        let missing =
            |what: &str| Failure::internal(format_args!("the {what} of a new test mailing is missing; report this bug"));
        let mailing = sending::require(tx, account, message_id)?;
        let recipient = sending::recipient(tx, message_id, 0)?.ok_or_else(|| missing("recipient"))?;
        let translation = mailing.translation_for(&recipient);
        Ok(Done(TestSendResult {
            message_id,
            email_id: translation.email.ok_or_else(|| missing("email"))?,
            conversation_id,
            sent_to: input.to.into_string(),
            sent_at: WireTime(sent_at),
            subject: translation.subject.clone(),
            warnings,
        }))
    }
}
