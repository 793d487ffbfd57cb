//! Detects bounces that are written only for human readers, without a machine-readable report. Older servers send such bounces.

use super::mime::Part;
use super::reply_class::{self, ReplyClass};
use super::report::address;
use super::{Action, Envelope, RecipientReport, one_line};
use crate::vocab::limits::INBOUND_DIAGNOSTIC_BYTES_MAX;

/// TABLE: prefixes, in lowercase, of the local parts of addresses that send bounces.
const SERVERS: &[&str] = &["mailer-daemon", "postmaster", "mailerdaemon", "mail-daemon", "mdaemon", "microsoftexchange"];

/// TABLE: prefixes, in lowercase, of the lines that introduce the returned message.
const COPIES: &[&str] = &[
    "--- below this line is a copy",
    "------ this is a copy of the message",
    "----- original message",
    "--- original message",
    "----- message header follows",
    "--- the header of the original",
    "--- this is a copy of",
    "----- unsent message",
    "the original message was received",
];

/// TABLE: phrases, in lowercase, which show that the server is still trying to deliver the message.
const DELAYS: &[&str] = &[
    "has not yet been delivered",
    "delivery has been delayed",
    "will be retried",
    "still trying",
    "no action is required on your part",
    "this is a warning message only",
    "will continue to be made",
    "delivery is delayed",
];

/// TABLE: phrases in lowercase that distinguish bounces from the other mail that servers send.
const FAILURES: &[&str] = &[
    "could not be delivered",
    "couldn't be delivered",
    "unable to deliver",
    "wasn't able to deliver",
    "not able to deliver",
    "undeliverable",
    "undelivered",
    "delivery failed",
    "delivery failure",
    "delivery has failed",
    "delivery to the following",
    "failed permanently",
    "permanent error",
    "permanent fatal error",
    "returned to sender",
    "following address failed",
    "following address(es) failed",
    "following addresses failed",
    "did not reach",
    "was not delivered",
    "rejected",
    "nicht zugestellt",
    "unzustellbar",
];

/// Returns whether a mail server seems to have written this message, rather than a person or a vacation responder.
pub fn is_from_a_server(message: &Part<'_>, envelope: &Envelope<'_>) -> bool {
    let is_server = |address: &str| {
        let local: String = address.split('@').next().unwrap_or_default().to_ascii_lowercase();
        SERVERS.iter().any(|name| local.starts_with(name))
    };
    let replied = message.field("auto-submitted").is_some_and(|value| value.to_ascii_lowercase().starts_with("auto-replied"));
    let bare_reply = envelope.sender.is_empty() && message.field("x-failed-recipients").is_some();
    (message.from().is_some_and(|from| is_server(&from)) || bare_reply)
        && (!replied || message.field("x-failed-recipients").is_some() || envelope.sender.is_empty())
}

/// Returns the outcome that the text reports, or `None` if the text is about something else.
pub fn read(message: &Part<'_>) -> Option<RecipientReport> {
    let text = message.find(&["text/plain"]).map(Part::text).unwrap_or_default();
    let lower: String = text.lines().map(str::to_lowercase).take_while(|line| !begins_copy(line)).collect::<Vec<_>>().join("\n");
    // The reason is extracted from the same lines in their original case.
    let words: String = text.lines().take(lower.lines().count()).collect::<Vec<_>>().join("\n");
    let subject = message.head.subject().unwrap_or_default().to_lowercase();
    let failed = message.field("x-failed-recipients").and_then(|all| all.split(',').find_map(address));
    let action = match DELAYS.iter().any(|delay| lower.contains(delay)) {
        true => Action::Delayed,
        false => Action::Failed,
    };
    let has_failed = failed.is_some() || FAILURES.iter().any(|word| lower.contains(word) || subject.contains(word));
    if action == Action::Failed && !has_failed {
        return None;
    }
    let (recipient, diagnostic) = reason(&words);
    let status = reply_class::find_status(&diagnostic).or_else(|| reply_class::find_status(&words));
    let class = match reply_class::class(status.as_deref(), &diagnostic) {
        ReplyClass::Unknown => reply_class::class(status.as_deref(), &words),
        class => class,
    };
    let diagnostic = one_line(&diagnostic, INBOUND_DIAGNOSTIC_BYTES_MAX);
    Some(RecipientReport { recipient: failed.or(recipient), action, status, diagnostic, class })
}

fn begins_copy(lower: &str) -> bool {
    COPIES.iter().any(|copy| lower.trim_start().starts_with(copy))
}

/// Returns the first address that is alone on its line or before a colon, and the text after the address: the rest of its line, and the
/// next lines up to the end of their paragraph. If there is no such address, returns the whole text.
fn reason(words: &str) -> (Option<String>, String) {
    let lines: Vec<&str> = words.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        let (front, rest) = line.trim().split_once(": ").unwrap_or((line.trim(), ""));
        let front = front.trim_end_matches(':').trim_matches(['"', '\'']);
        let Some(found) = address(front) else { continue };
        let following =
            lines[at + 1..].iter().skip_while(|line| line.trim().is_empty()).take_while(|line| !line.trim().is_empty());
        let diagnostic = std::iter::once(rest).chain(following.copied()).collect::<Vec<_>>().join(" ");
        return (Some(found), diagnostic.trim().to_owned());
    }
    (None, words.to_owned())
}
