//! Reading mail that comes back: reports that a message was not delivered, complaints, automatic replies.
//!
//! All of it is claims by strangers. What a report says counts only with one of our own tokens in it, and whether a token is ours the
//! caller decides. Nothing here looks into a store or answers anybody.

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

/// The envelope that a message came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// Empty: the null sender, as bounces have it.
    pub sender: &'a str,
    pub recipient: &'a str,
}

/// What came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incoming {
    pub nature: MessageKind,
    /// Texts that look like our tokens, the ones nearest to the envelope first. Only a signature tells whether one is ours.
    pub tokens: Vec<Token>,
    pub from: Option<String>,
    pub subject: Option<String>,
}

/// What kind of message it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// A report on the delivery to some recipients.
    Report(Vec<Outcome>),
    /// A recipient said that a message was spam.
    Complaint(Complaint),
    /// Somebody is on holiday, a ticket was opened, a message was displayed.
    Automatic,
    /// Anything else: perhaps a person wrote it.
    Other,
}

impl MessageKind {
    /// A word for the log.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Report(_) => "delivery report",
            Self::Complaint(_) => "complaint",
            Self::Automatic => "automatic reply",
            Self::Other => "other",
        }
    }
}

/// What became of a message for one recipient.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The address that the reporting server had in the end, if it says one.
    pub recipient: Option<String>,
    pub action: Action,
    /// The enhanced status code, like `5.1.1`.
    pub status: Option<String>,
    /// What the server said, in one line.
    pub diagnostic: String,
    pub class: ReplyClass,
}

/// What a server did with a message (RFC 3464 §2.3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Failed,
    Delayed,
    Delivered,
    Relayed,
    Expanded,
}

/// What a complaint says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// Like `abuse` or `fraud`.
    pub kind: String,
    /// The recipient, if it was not made unreadable.
    pub recipient: Option<String>,
}

/// Read a message as it came, with either kind of line ends.
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

/// One line of at most `max` bytes, its white space made single spaces.
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
