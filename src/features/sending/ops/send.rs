//! Sends an email to one address, to a segment, to contacts with a tag, or to all contacts of a project.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::base::email::EmailAddress;
use crate::base::strict_objects::AnyJson;
use crate::base::text::{NOT_BLANK, ShortText};
use crate::engine::api::response::Warning;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Replay, Spec, needs};
use crate::engine::render::merge::{OutputKind, Template};
use crate::engine::store::{Read, WriteTx};
use crate::features::domains::Utm;
use crate::features::emails::{self, EmailChoice, ReadyEmail};
use crate::features::sending::model::{Address, Content, MailingKind, NewMailing, Sender, To, Tracking};
use crate::features::sending::{self, preflight, provider};
use crate::features::suppressions::Digester;
use crate::features::{projects, segments, tags, topics};
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, ConversationId, EmailId, MailingId, ProjectId, SegmentId, TagId, TopicId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct Send;

/// Who receives the email.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SendTo {
    /// One address, given in `recipientEmail`.
    Email,
    /// Every contact in the project, if `recipientId` is absent or is the project's ID; otherwise, the contacts in the segment with this
    /// ID.
    Audience,
    /// The contacts in the segment whose ID is in `recipientId`.
    Segment,
    /// The contacts with the tag whose ID is in `recipientId`.
    Tag,
}

/// The email to send, its sender and recipients, and how to send it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(transform = alternatives)]
pub struct SendEmail {
    pub recipient_type: SendTo,
    /// The ID of the segment or tag. If `recipientType` is `audience`, the project's ID is also accepted.
    pub recipient_id: Option<String>,
    /// The recipient's address. Set it only if `recipientType` is `email`.
    pub recipient_email: Option<EmailAddress>,
    /// The From address. For live mail, its domain must be verified, unless the settings allow unverified domains.
    pub from: EmailAddress,
    /// The sender's name.
    pub from_name: Option<ShortText<{ limits::SENDER_NAME_CHARACTERS_MAX }>>,
    /// The subject, which may contain merge fields. If absent, the email's own subject in each language is used.
    pub subject: Option<ShortText<{ limits::SEND_SUBJECT_CHARACTERS_MAX }>>,
    /// The address that receives replies.
    pub reply_to: Option<EmailAddress>,
    /// Additional addresses. Each address receives its own message. Allowed only if `recipientType` is `email`.
    #[schemars(length(max = limits::DIRECT_RECIPIENTS_MAX - 1))]
    pub bcc: Option<Vec<EmailAddress>>,
    /// HTML with merge fields, to send instead of a stored email.
    pub template: Option<String>,
    /// The ID of the email to send. Without `conversationId`, all recipients receive this email; with `conversationId`, this ID selects an
    /// email in the series.
    pub email_id: Option<EmailId>,
    /// The ID of the conversation that contains the email: the email selected by `emailId` or, without `emailId`, the first email in the
    /// series. Each recipient receives the email in the contact's language or, if the series has no email in that language, the selected or
    /// first email itself.
    pub conversation_id: Option<ConversationId>,
    /// Values of merge fields, shared by all recipients.
    #[schemars(with = "Option<BTreeMap<String, AnyJson>>")]
    pub variables: Option<Map<String, Value>>,
    /// The ID of the project that owns the contacts. If absent, the project of the stored email is used or, if the request contains the
    /// HTML, the project whose ID is in `recipientId`.
    pub project_id: Option<ProjectId>,
    /// Accepted for compatibility and ignored: the settings determine the provider that delivers mail.
    pub provider_type: Option<String>,
    /// Whether the recipient expects this message. If true, the message ignores subscriptions and has no unsubscribe headers. If absent,
    /// the value is true for one address and false for an audience.
    pub transactional: Option<bool>,
    /// Send only to contacts who are subscribed to the topic with this ID. Ignored if the message is transactional.
    pub topic_id: Option<TopicId>,
    /// UTM parameters for links, for web analytics. If absent, the setting of the From address's domain applies.
    pub utm: Option<Utm>,
}

/// Describes in the schema which fields can be combined: the fields for recipients, and the fields for content.
fn alternatives(schema: &mut Schema) {
    let (given, absent) = (json!({ "type": "string" }), json!({ "type": "null" }));
    let none = json!({ "type": ["array", "null"], "maxItems": 0 });
    let id = |kinds: Value| json!({ "type": kinds, "pattern": "^[0-9a-fA-F]{24}$" });
    let recipients = json!([
        { "required": ["recipientEmail"],
          "properties": { "recipientType": { "const": "email" }, "recipientEmail": given, "recipientId": absent } },
        { "properties": { "recipientType": { "const": "audience" }, "recipientId": id(json!(["string", "null"])),
          "recipientEmail": absent, "bcc": none } },
        { "required": ["recipientId"],
          "properties": { "recipientType": { "enum": ["segment", "tag"] }, "recipientId": id(json!("string")),
          "recipientEmail": absent, "bcc": none } },
    ]);
    let template = json!({ "type": "string", "pattern": NOT_BLANK });
    let content = json!([
        { "required": ["emailId"], "properties": { "emailId": given, "template": absent } },
        { "required": ["conversationId"], "properties": { "conversationId": given, "template": absent } },
        { "required": ["template", "subject", "projectId"],
          "properties": { "template": template, "subject": given, "projectId": given, "emailId": absent, "conversationId": absent } },
        { "required": ["template", "subject"],
          "properties": { "recipientType": { "const": "email" }, "template": template, "subject": given, "topicId": absent,
          "emailId": absent, "conversationId": absent } },
    ]);
    schema.insert("allOf".to_owned(), json!([{ "anyOf": recipients }, { "anyOf": content }]));
}

/// A send that was accepted.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SendAccepted {
    pub id: MailingId,
    /// The provider that delivers the mail: `smtp`, or `inbox` for mail that stays in the built-in inbox.
    pub provider: String,
    /// Always `queued`: the send is stored, and delivery follows.
    pub status: String,
    /// The ID of a direct send. Check its status with GET /v1/sending/{sendId}.
    pub send_id: Option<MailingId>,
    /// The ID of a send to an audience. Check its progress with GET /v1/sending/batches/{batchId}.
    pub batch_id: Option<MailingId>,
    /// The ID of the email that the recipient receives. For an audience, the ID of the email for recipients whose language has no email.
    pub email_id: Option<EmailId>,
    pub conversation_id: Option<ConversationId>,
    pub message: String,
    /// Warnings about the content; for example, that only the first email in a series is sent, or that a language is left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

impl Operation for Send {
    const SPEC: Spec = Spec::post("sending.send", "/v1/sending", needs(Permission::EmailSend)).client("emails.send")
        .summary("Send an email")
        .about(
            "Returns once the send is on disk; delivery follows. With an Idempotency-Key, a repeated request gets the first \
             response and sends nothing. Set the content with `emailId`, `conversationId` or `template`. If a merge field has neither a \
             value nor a default, a send to one address fails, and a send to an audience skips the contact.",
        )
        .rate(RouteGroup::Sending)
        .replay(Replay::Keyed)
        .fails(&[
            Code::NotFound,
            Code::WrongState,
            Code::TransportNotConfigured,
            Code::DomainNotVerified,
            Code::RecipientNotSendable,
            Code::SendingCapacity,
            Code::QuotaExceeded,
        ]);
    type Input = SendEmail;
    type Output = Done<SendAccepted>;

    fn example() -> (Value, Self::Output) {
        let input = json!({
            "recipientType": "email", "recipientEmail": "ada@example.com", "from": "hello@example.com", "fromName": "Example",
            "subject": "Your order {{ order }}", "template": "<p>Dear {{ firstName | default(\"customer\") }}, it is on its way.</p>",
            "variables": { "order": "4711" },
        });
        let id = MailingId::from_bytes([0x66; 12]);
        let accepted = SendAccepted {
            id,
            provider: "smtp".into(),
            status: "queued".into(),
            send_id: Some(id),
            batch_id: None,
            email_id: None,
            conversation_id: None,
            message: "Queued. Check its status with GET /v1/sending/666666666666666666666666.".into(),
            warnings: Vec::new(),
        };
        (input, Done(accepted))
    }
}

impl Command for Send {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: SendEmail) -> Result<Self::Output, Failure> {
        let (account, engine) = (caller.account(), &caller.engine);
        let is_direct = input.recipient_type == SendTo::Email;
        let transactional = input.transactional.unwrap_or(is_direct);
        preflight::sender(tx, engine, caller.environment(), account, &input.from, transactional)?;
        let SendContents { contents, project: made_in, warnings } = contents(tx, account, &input)?;
        let project = project(tx, account, &input, made_in)?;
        if let Some(topic) = input.topic_id {
            let project = project.ok_or_else(|| Failure::field("topicId", "set projectId to the ID of the topic's brand"))?;
            topics::find(tx, project, topic)?;
        }
        let to = to(tx, project, &input)?;
        match &to {
            To::Addresses(addresses) => preflight::direct(tx, engine, account, addresses.len() as u64, tx.now())?,
            To::Everyone | To::Segment(_) | To::Tag(_) => preflight::group(tx, engine, account, tx.now())?,
        }
        let new = NewMailing {
            account,
            project,
            kind: if is_direct { MailingKind::Single } else { MailingKind::Batch },
            contents,
            from: Sender {
                address: input.from.into_string(),
                name: input.from_name.map(ShortText::into_string),
                reply_to: input.reply_to.map(EmailAddress::into_string),
            },
            to,
            transactional,
            topic: input.topic_id,
            variables: input.variables.unwrap_or_default(),
            tracking: Tracking { opens: true, clicks: true },
            utm: input.utm,
            campaign_name: None,
            unknown: engine.settings.mail.unknown.into(),
            local: None,
        };
        let id = sending::create(tx, new)?;
        let mailing = sending::require(tx, account, id)?;
        let first = if is_direct { sending::recipient(tx, id, 0)? } else { None };
        let email_id = first.map_or(mailing.first().email, |recipient| mailing.translation_for(&recipient).email);
        if is_direct {
            sending::require_sendable(tx, &Digester::new(&engine.seal), id, 0, "recipientEmail")?;
        }
        let place = if is_direct { format!("/v1/sending/{id}") } else { format!("/v1/sending/batches/{id}") };
        Ok(Done(SendAccepted {
            id,
            provider: provider(engine, caller.environment()).to_owned(),
            status: "queued".to_owned(),
            send_id: is_direct.then_some(id),
            batch_id: (!is_direct).then_some(id),
            email_id,
            conversation_id: mailing.conversation,
            warnings,
            message: format!("Queued. Check its status with GET {place}."),
        }))
    }
}

struct SendContents {
    contents: Vec<Content>,
    /// The project of the stored email; `None` if the request contains the HTML.
    project: Option<ProjectId>,
    warnings: Vec<Warning>,
}

fn contents(tx: &impl Read, account: AccountId, input: &SendEmail) -> Result<SendContents, Failure> {
    let subject = input.subject.as_ref().map(|subject| subject.to_string());
    let is_made_here = input.email_id.is_some() || input.conversation_id.is_some();
    match (&input.template, is_made_here) {
        (Some(_), true) => Err(Failure::field(
            "template",
            "cannot be combined with `emailId` or `conversationId`; remove either `template` or the IDs",
        )),
        (None, false) => Err(Failure::field("emailId", "set `emailId`, `conversationId` or `template`")),
        (Some(html), false) => {
            let subject = subject.ok_or_else(|| Failure::field("subject", "a template requires a subject; set `subject`"))?;
            if html.trim().is_empty() {
                return Err(Failure::field("template", "the template is empty; write the email's content"));
            }
            let content = Content { subject, html: html.clone(), ..Content::default() };
            Ok(SendContents { contents: vec![content], project: None, warnings: Vec::new() })
        }
        (None, true) => {
            if let Some(Err(error)) = subject.as_ref().map(|subject| Template::compile(subject, OutputKind::Header)) {
                return Err(Failure::field("subject", error));
            }
            let EmailChoice { emails, mut warnings } =
                emails::choose(tx, account, input.conversation_id, input.email_id, input.project_id)?;
            let project = emails.first().map(|email| email.project);
            warnings.extend(subject.as_ref().and_then(|_| emails::same_in_every_language("subject", &emails)));
            let content = |email: ReadyEmail| {
                let content = Content::from(email);
                Content { subject: subject.clone().unwrap_or(content.subject), ..content }
            };
            Ok(SendContents { contents: emails.into_iter().map(content).collect(), project, warnings })
        }
    }
}

/// Returns the project that owns the contacts.
fn project(
    tx: &impl Read,
    account: AccountId,
    input: &SendEmail,
    made_in: Option<ProjectId>,
) -> Result<Option<ProjectId>, Failure> {
    if let Some(project) = input.project_id.or(made_in) {
        return projects::require(tx, account, project).map(|()| Some(project));
    }
    match (input.recipient_type, input.recipient_id.as_deref().and_then(ProjectId::parse)) {
        (SendTo::Email, _) => Ok(None),
        (SendTo::Audience, Some(project)) if projects::require(tx, account, project).is_ok() => Ok(Some(project)),
        _ => Err(Failure::field("projectId", "set the ID of the project that owns the contacts")),
    }
}

fn to(tx: &impl Read, project: Option<ProjectId>, input: &SendEmail) -> Result<To, Failure> {
    let bcc = input.bcc.as_deref().unwrap_or_default();
    if input.recipient_type == SendTo::Email {
        let first =
            input.recipient_email.as_ref().ok_or_else(|| Failure::field("recipientEmail", "set the recipient's address"))?;
        if input.recipient_id.is_some() {
            return Err(Failure::field("recipientId", "is not allowed if `recipientType` is `email`; remove this field"));
        }
        if bcc.len() >= limits::DIRECT_RECIPIENTS_MAX {
            let detail =
                format!("at most {} addresses are allowed; send to a tag or segment instead", limits::DIRECT_RECIPIENTS_MAX - 1);
            return Err(Failure::field("bcc", detail));
        }
        let address = |email: &EmailAddress| Address { email: email.as_str().to_owned(), name: None };
        return Ok(To::Addresses(std::iter::once(first).chain(bcc).map(address).collect()));
    }
    if input.recipient_email.is_some() {
        return Err(Failure::field("recipientEmail", "is allowed only if `recipientType` is `email`; remove this field"));
    }
    if !bcc.is_empty() {
        return Err(Failure::field("bcc", "is allowed only if `recipientType` is `email`; remove this field"));
    }
    let missing = || Failure::field("projectId", "set the ID of the project that owns the contacts");
    let project = project.ok_or_else(missing)?;
    let wrong = || Failure::field("recipientId", "must be an ID: 24 hexadecimal characters");
    match (input.recipient_type, input.recipient_id.as_deref()) {
        (SendTo::Audience, None) => Ok(To::Everyone),
        (SendTo::Audience, Some(id)) if ProjectId::parse(id) == Some(project) => Ok(To::Everyone),
        (SendTo::Audience | SendTo::Segment, Some(id)) => {
            let id = SegmentId::parse(id).ok_or_else(wrong)?;
            segments::require(tx, project, id)?;
            Ok(To::Segment(id))
        }
        (SendTo::Tag, Some(id)) => {
            let id = TagId::parse(id).ok_or_else(wrong)?;
            let absent = || {
                Failure::because(Code::NotFound, "The brand has no tag with this ID.")
                    .see("tags.list", "GET /v1/tags lists the tags")
            };
            tags::by_id(tx, project, id)?.ok_or_else(absent)?;
            Ok(To::Tag(id))
        }
        (_, None) => Err(Failure::field("recipientId", "set the ID of the segment or tag")),
        (SendTo::Email, Some(_)) => Err(wrong()),
    }
}
