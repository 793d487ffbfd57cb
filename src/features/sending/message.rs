//! Renders one message: fills in a mailing's content for one recipient, and adds headers and signatures.
//!
//! Rendering the message again for the same recipient and unchanged data produces the same bytes, except for the signatures, which contain
//! the time. The Message-ID, date and boundaries are derived from stored values.

use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::merge_data::{MergeData, RecipientLinks, RecipientProfile};
use super::model::{Mailing, MailingKind, Skip};
use super::service_headers::service_headers;
use super::template::Compiled;
use super::token::{Purpose, Tokens};
use crate::base::clock::Timestamp;
use crate::base::email::EmailAddress;
use crate::engine::mail::dkim::Signer;
use crate::engine::mail::headers::Mailbox;
use crate::engine::mail::message::{ListHeaders, OutgoingMessage};
use crate::engine::render::merge::MergeError;
use crate::vocab::environment::Environment;
use crate::vocab::mail_services::MailService;

/// The data that all messages of a mailing share.
pub struct MailingContext {
    pub mailing: Mailing,
    /// The compiled templates, one for each translation.
    pub compiled: Vec<Arc<Compiled>>,
    pub variables: Map<String, Json>,
    pub from: EmailAddress,
    pub reply_to: Option<EmailAddress>,
    pub signer: Option<Arc<Signer>>,
    /// The domain of Message-IDs, list IDs and signatures.
    pub domain: String,
    /// The domain to which bounces are returned. If absent, bounces are returned to the From address.
    pub bounce_domain: Option<String>,
    /// The base URL of links, without a trailing slash.
    pub base: String,
    pub environment: Environment,
    /// The mail services that operate the relays. The message has one header per service, which identifies the message in the service's
    /// events.
    pub services: Vec<MailService>,
}

/// A finished message with its envelope.
#[derive(Debug)]
pub struct RenderedMessage {
    pub sender: String,
    pub recipient: EmailAddress,
    pub needs_smtputf8: bool,
    pub subject: String,
    pub bytes: Vec<u8>,
}

impl MailingContext {
    /// Renders the message for one recipient, or returns why the recipient is skipped.
    pub fn render(
        &self,
        tokens: &Tokens,
        (profile, tags): (&RecipientProfile, &[String]),
        (number, translation): (u32, u8),
        now: Timestamp,
    ) -> Result<RenderedMessage, Skip> {
        let recipient = EmailAddress::parse(&profile.email).map_err(|_| Skip::InvalidAddress)?;
        let compiled = &self.compiled[usize::from(translation)];
        let mailing = &self.mailing;
        let links = RecipientLinks { tokens, base: &self.base, environment: self.environment, mailing: mailing.id, number };
        let values = MergeData { profile, variables: &self.variables, tags, links: Some(links) };
        let subject = compiled.subject.render(&values).map_err(unmergeable)?;
        let html = compiled.html.fill(&values).map_err(unmergeable)?;
        let text = compiled.text.fill(&values).map_err(unmergeable)?;
        let reference = tokens.local_part(links.token(Purpose::Message));
        let id = format!("{reference}@{}", self.domain);
        let unsubscribe_url = links.address(Purpose::Unsubscribe);
        let unsubscribe_mailto = self.bounce_domain.as_ref().map(|domain| {
            format!("mailto:u+{}@{domain}?subject=unsubscribe", tokens.local_part(links.token(Purpose::Unsubscribe)))
        });
        let list_id =
            format!("{}.{}", mailing.topic.map_or_else(|| mailing.account.to_string(), |topic| topic.to_string()), self.domain);
        let list = (!mailing.transactional).then(|| ListHeaders {
            unsubscribe_url: &unsubscribe_url,
            unsubscribe_mailto: unsubscribe_mailto.as_deref(),
            // RFC 8058 requires https for one-click unsubscribe. With http, recipients can still follow the link.
            one_click: unsubscribe_url.starts_with("https://"),
            list_id: Some(&list_id),
        });
        let feedback_id = self.feedback_id();
        let outgoing = OutgoingMessage {
            from: Mailbox { name: mailing.from.name.as_deref().unwrap_or_default(), address: &self.from },
            to: Mailbox { name: &profile.display_name(), address: &recipient },
            reply_to: self.reply_to.as_ref().map(|address| Mailbox { name: "", address }),
            subject: &subject,
            text: Some(&text),
            html: Some(&html),
            images: &[],
            message_id: &id,
            date: mailing.created_at,
            list,
            feedback_id: Some(&feedback_id),
            is_automatic: false,
            extra: &service_headers(&self.services, &reference),
        };
        let mut message = outgoing.write();
        if let Some(signer) = &self.signer {
            let signatures = signer.sign(&message.bytes, now);
            message.put_first(&signatures);
        }
        let sender = match &self.bounce_domain {
            Some(domain) => format!("b+{}@{domain}", tokens.local_part(links.token(Purpose::Bounce))),
            None => self.from.as_str().to_owned(),
        };
        Ok(RenderedMessage { sender, recipient, needs_smtputf8: message.needs_smtputf8, subject, bytes: message.bytes })
    }

    /// Returns the value of `Feedback-ID`: the campaign's ID or `direct`, the mailing's ID, the type of send, and `mailmill` as the sender.
    fn feedback_id(&self) -> String {
        let mailing = &self.mailing;
        let campaign = mailing.kind.campaign().map_or_else(|| "direct".to_owned(), |id| id.to_string());
        let kind = match mailing.kind {
            MailingKind::Single => "single",
            MailingKind::Test => "test",
            MailingKind::Batch => "batch",
            MailingKind::Campaign(_) => "campaign",
        };
        format!("{campaign}:{}:{kind}:mailmill", mailing.id)
    }
}

/// Returns why a recipient whose values caused a merge error is skipped. Errors in the template itself are found earlier, when the mailing
/// is created.
fn unmergeable(error: MergeError) -> Skip {
    match error {
        MergeError::Missing(field) | MergeError::Unsuitable { field, .. } => Skip::MissingField(field),
        MergeError::Syntax { .. } | MergeError::SourceTooLong | MergeError::OutputTooLong | MergeError::TooMuchWork => {
            Skip::MergeFailed(error.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Regression test: if a merge error was not about a field, its message was stored as the name of a missing field.
    #[test]
    fn only_an_error_about_a_field_is_a_missing_field() {
        let field = || "order.total".to_owned();
        let unsuitable = MergeError::Unsuitable { field: field(), problem: "not a number".into() };
        for error in [MergeError::Missing(field()), unsuitable] {
            assert_eq!(unmergeable(error), Skip::MissingField(field()));
        }
        let said = MergeError::OutputTooLong.to_string();
        assert_eq!(unmergeable(MergeError::OutputTooLong), Skip::MergeFailed(said));
    }
}
