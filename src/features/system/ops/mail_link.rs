//! Emails a link to a page of this installation to the user for whom the link was created.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::email::EmailAddress;
use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, operator};
use crate::features::sending::system_mail::{self, SystemEmail};

pub struct MailLink;

/// The link and its recipient.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MailLinkRequest {
    pub to: EmailAddress,
    pub purpose: LinkPurpose,
    /// The link, which must lead to this installation.
    pub link: String,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LinkPurpose {
    /// The link accepts an invitation to join an account.
    Invitation,
    /// The link sets a new password.
    Reset,
}

/// The result of emailing a link: whether a mail server accepted the email.
#[derive(Serialize, JsonSchema)]
pub struct MailLinkResult {
    pub mailed: bool,
    /// Why no mail server accepted the email; absent if a mail server accepted it.
    pub reason: Option<String>,
}

impl Operation for MailLink {
    const SPEC: Spec = Spec::post("system.mail_link", "/admin/mail-link", operator())
        .summary("Email a link to its recipient")
        .about(
            "Sends the email immediately from the address in the setting accounts.mail_from, through the transport for live mail, \
             without retries.",
        );
    type Input = MailLinkRequest;
    type Output = Done<MailLinkResult>;

    fn example() -> (Value, Self::Output) {
        let input = json!({ "to": "bob@example.com", "purpose": "reset", "link": "https://mail.example.com/reset/AAAA" });
        (input, Done(MailLinkResult { mailed: true, reason: None }))
    }
}

impl Async for MailLink {
    async fn run(context: Context, input: MailLinkRequest) -> Result<Self::Output, Failure> {
        let engine = &context.engine;
        let base = engine.base_url();
        if !input.link.starts_with(&format!("{base}/")) {
            return Err(Failure::field("link", format_args!("the link must start with {base}/, the URL of this installation")));
        }
        let (subject, text) = match input.purpose {
            LinkPurpose::Invitation => (
                "You're invited to Mailmill",
                format!(
                    "Hello,\n\nYou're invited to join an email marketing account on Mailmill at {base}.\n\nTo accept, open this \
                     link. It works once and expires after seven days:\n\n{}\n\nIf you didn't expect this invitation, you can ignore \
                     this email.\n",
                    input.link
                ),
            ),
            LinkPurpose::Reset => (
                "Reset your Mailmill password",
                format!(
                    "Hello,\n\nWe received a request to reset your password at {base}.\n\nTo choose a new password, open this link. It \
                     works once and expires after one hour:\n\n{}\n\nIf you didn't request this, you can ignore this email. Your \
                     password stays the same.\n",
                    input.link
                ),
            ),
        };
        let note = SystemEmail { to: input.to, subject: subject.to_owned(), text };
        let reason = system_mail::send(engine, note).await?.err();
        Ok(Done(MailLinkResult { mailed: reason.is_none(), reason }))
    }
}
