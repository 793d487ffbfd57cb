//! Delivery status notifications (RFC 3464, in the format of RFC 6522): a server's report about each recipient of a message.

use super::mime::Part;
use super::reply_class::{self, ReplyClass};
use super::{Action, RecipientReport, one_line};
use crate::vocab::limits::{INBOUND_DIAGNOSTIC_BYTES_MAX, INBOUND_RECIPIENTS_MAX};

const KINDS: [&str; 2] = ["message/delivery-status", "message/global-delivery-status"];

/// Returns the outcome for each recipient in the report, or `None` if the message contains no report.
pub fn read(message: &Part<'_>) -> Option<Vec<RecipientReport>> {
    let part = message.find(&KINDS)?;
    let text = part.text();
    let mut outcomes: Vec<RecipientReport> = blocks(&text).iter().filter_map(outcome).take(INBOUND_RECIPIENTS_MAX).collect();
    // Some servers give the reason only in their text for human readers.
    let needs_words = |outcome: &RecipientReport| outcome.class == ReplyClass::Unknown && outcome.action == Action::Failed;
    if outcomes.iter().any(needs_words)
        && let Some(words) = message.find(&["text/plain"]).map(Part::text)
    {
        for outcome in outcomes.iter_mut().filter(|outcome| needs_words(outcome)) {
            outcome.class = reply_class::class(outcome.status.as_deref(), &words);
        }
    }
    Some(outcomes)
}

/// A field of a report: its name in lowercase, and its value with its lines joined.
type Field = (String, String);
/// One block of a report: the fields up to an empty line.
type Block = Vec<Field>;

/// Splits a report into blocks of fields at empty lines.
fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = vec![Block::new()];
    for line in text.lines() {
        let last = blocks.last_mut().expect("a report has at least one block");
        if line.trim().is_empty() {
            if !last.is_empty() {
                blocks.push(Block::new());
            }
        } else if line.starts_with([' ', '\t']) {
            if let Some((_, value)) = last.last_mut() {
                value.push(' ');
                value.push_str(line.trim());
            }
        } else if let Some((name, value)) = line.split_once(':') {
            last.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
        if blocks.len() > INBOUND_RECIPIENTS_MAX + 1 {
            break;
        }
    }
    blocks
}

/// Returns the outcome for a block's recipient, or `None` if the block is not about a recipient.
fn outcome(block: &Block) -> Option<RecipientReport> {
    let field = |name: &str| block.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str());
    let recipient = field("final-recipient").or_else(|| field("original-recipient"))?;
    let status = field("status").and_then(reply_class::find_status);
    let diagnostic = field("diagnostic-code").map_or("", untyped);
    // The status code in the diagnostic text is often more specific than the status field, which some servers fill with 5.0.0.
    let said = reply_class::find_status(diagnostic).filter(|_| status.as_deref().is_none_or(|status| status.ends_with(".0.0")));
    let status = said.or(status);
    let action = match field("action").map(str::to_ascii_lowercase).as_deref() {
        Some("failed") => Action::Failed,
        Some("delayed") => Action::Delayed,
        Some("delivered") => Action::Delivered,
        Some("relayed") => Action::Relayed,
        Some("expanded") => Action::Expanded,
        _ => match status.as_deref().and_then(|status| status.bytes().next()) {
            Some(b'2') => Action::Delivered,
            Some(b'4') => Action::Delayed,
            _ => Action::Failed,
        },
    };
    let class = reply_class::class(status.as_deref(), diagnostic);
    Some(RecipientReport {
        recipient: address(untyped(recipient)),
        action,
        status,
        diagnostic: one_line(diagnostic, INBOUND_DIAGNOSTIC_BYTES_MAX),
        class,
    })
}

/// Returns a value without its type: `ada@example.com` for `rfc822; ada@example.com`.
fn untyped(value: &str) -> &str {
    let typed = value.split_once(';').filter(|(kind, _)| kind.len() < 20 && !kind.contains('@'));
    typed.map_or(value, |(_, value)| value).trim()
}

/// Returns the value of a field as an email address, without angle brackets, or `None` if the value is not an address.
pub fn address(text: &str) -> Option<String> {
    let text = text.trim().trim_matches(['<', '>']).trim();
    let is_address = text.len() <= 320 && text.contains('@') && !text.contains(char::is_whitespace);
    is_address.then(|| text.to_owned())
}
