//! Reads returned mail: delivery reports, complaints and automatic replies.
//!
//! Returned mail is untrusted. A report is used only if it contains one of our own tokens, which the caller verifies. This module neither
//! reads a store nor sends replies.

mod auto_reply;
mod complaint;
mod freeform_bounce;
pub mod listener;
mod mime;
pub mod reply_class;
mod report;
#[cfg(test)]
mod tests;
mod tokens;

pub use mime::Refusal;
pub use reply_class::ReplyClass;
pub use tokens::{Mark, Token};

use mime::Part;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// The envelope sender; empty for the null sender, which bounces have.
    pub sender: &'a str,
    pub recipient: &'a str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incoming {
    pub nature: MessageKind,
    /// Strings that look like our tokens: from the envelope, then from header fields, then from the text parts. Only the signature shows
    /// whether a token is ours.
    pub tokens: Vec<Token>,
    pub from: Option<String>,
    pub subject: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// A report about the delivery to one or more recipients.
    Report(Vec<RecipientReport>),
    Complaint(Complaint),
    /// A message that a program wrote, such as a vacation notice, a ticket confirmation or a read receipt.
    Automatic,
    /// Any other message, possibly written by a person.
    Other,
}

impl MessageKind {
    /// Returns the name of this kind for the log.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Report(_) => "delivery report",
            Self::Complaint(_) => "complaint",
            Self::Automatic => "automatic reply",
            Self::Other => "other",
        }
    }
}

/// The outcome that a report states for one recipient.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecipientReport {
    /// The recipient's address at the reporting server, if the report contains it.
    pub recipient: Option<String>,
    pub action: Action,
    /// The enhanced status code, such as `5.1.1`.
    pub status: Option<String>,
    /// The server's reply, joined into one line.
    pub diagnostic: String,
    pub class: ReplyClass,
}

/// The server's action on a message (RFC 3464 §2.3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Failed,
    Delayed,
    Delivered,
    Relayed,
    Expanded,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// The kind of complaint, such as `abuse` or `fraud`.
    pub kind: String,
    /// The recipient who complained, unless the address was redacted.
    pub recipient: Option<String>,
}

/// Parses a raw message whose lines end in CRLF or LF.
pub fn read(raw: &[u8], envelope: &Envelope<'_>) -> Result<Incoming, Refusal> {
    let message = mime::read(raw)?;
    let nature = nature(&message, envelope);
    Ok(Incoming {
        nature,
        tokens: tokens::all(envelope.recipient, &message),
        from: message.from(),
        subject: message.head.subject().map(str::to_owned),
    })
}

fn nature(message: &Part<'_>, envelope: &Envelope<'_>) -> MessageKind {
    if let Some(complaint) = complaint::read(message) {
        return complaint.map_or(MessageKind::Other, MessageKind::Complaint);
    }
    if let Some(outcomes) = report::read(message) {
        return MessageKind::Report(outcomes);
    }
    if freeform_bounce::is_from_a_server(message, envelope)
        && let Some(outcome) = freeform_bounce::read(message)
    {
        return MessageKind::Report(vec![outcome]);
    }
    if auto_reply::is_automatic(message, envelope) { MessageKind::Automatic } else { MessageKind::Other }
}

/// Returns the text as one line of at most `max` bytes, with white space collapsed.
fn one_line(text: &str, max: usize) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if line.len() + word.len() >= max {
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}
