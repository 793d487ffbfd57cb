//! TABLES: the meaning of a mail server's rejection, by enhanced status code (RFC 3463 and its registry), by phrase and by reply code.
//!
//! If the meaning is unclear, the result is `Unknown`, because a wrong `Hard` would permanently stop mail to a recipient.

/// The cause of a rejection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyClass {
    /// The address: the mailbox or domain does not exist.
    Hard,
    /// A temporary problem: the mailbox is full, or the server is busy or out of order.
    Soft,
    /// The sender: its reputation, its signatures, or its permission to send to the recipient.
    Policy,
    /// The message: its size or its content.
    Content,
    Unknown,
}

use ReplyClass::{Content, Hard, Policy, Soft, Unknown};

/// How reliable a status code is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// The status code is reliable, whatever the text says.
    Code,
    /// Servers use the status code for different problems, so a matching phrase in the text overrides the code.
    Words,
}

/// TABLE: status codes. `*` matches any remaining digits and dots. The first match is used.
const STATUSES: &[(&str, ReplyClass, Trust)] = &[
    // Codes about addresses.
    ("5.1.0", Unknown, Trust::Words),
    ("5.1.1", Hard, Trust::Words), // usually a missing mailbox; if a filter uses this code, the text shows that
    ("5.1.7", Policy, Trust::Code), // the sender's address is not valid
    ("5.1.8", Policy, Trust::Code), // the sender's domain is not valid
    ("5.1.9", Content, Trust::Code),
    ("5.1.*", Hard, Trust::Code),
    // Codes about mailboxes.
    ("5.2.1", Hard, Trust::Words), // the mailbox is disabled or busy; if it is busy, the text shows that
    ("5.2.2", Soft, Trust::Code),
    ("5.2.3", Content, Trust::Code),
    ("5.2.*", Soft, Trust::Words),
    // Codes about systems.
    ("5.3.4", Content, Trust::Code),
    ("5.3.*", Soft, Trust::Words),
    // Codes about networks.
    ("5.4.1", Soft, Trust::Words),
    ("5.4.4", Hard, Trust::Words),
    ("5.4.310", Hard, Trust::Code), // used by one provider: the domain does not exist
    ("5.4.*", Soft, Trust::Words),
    // Protocol errors between servers say nothing about the recipient.
    ("5.5.*", Unknown, Trust::Words),
    ("5.6.*", Content, Trust::Code),
    // Codes about security and policy. Servers use the first two for many different problems.
    ("5.7.0", Policy, Trust::Words),
    ("5.7.1", Policy, Trust::Words),
    ("5.7.*", Policy, Trust::Code),
    ("5.0.0", Unknown, Trust::Words),
    ("4.*", Soft, Trust::Code),
];

/// TABLE: phrases in lowercase. The first match is used. Phrases for temporary problems come first, then those about the sender and the
/// message, then those about the address, because the earlier kinds of rejections often mention the address too. The last four phrases are
/// so general that any other phrase takes precedence.
const WORDS: &[(&str, ReplyClass)] = &[
    ("rate that prevents", Soft),
    ("too many messages", Soft),
    ("try again later", Soft),
    ("temporarily", Soft),
    ("mailbox full", Soft),
    ("mailbox is full", Soft),
    ("inbox is full", Soft),
    ("mailbox too full", Soft),
    ("out of storage", Soft),
    ("over quota", Soft),
    ("overquota", Soft),
    ("quota exceeded", Soft),
    ("exceeded storage", Soft),
    ("exceeds its storage", Soft),
    ("storage quota", Soft),
    ("insufficient system storage", Soft),
    ("insufficient disk", Soft),
    ("timed out", Soft),
    ("timeout exceeded", Soft),
    ("connection refused", Soft),
    ("retry time not reached", Soft),
    ("message size", Content),
    ("message too large", Content),
    ("message is too large", Content),
    ("exceeds size limit", Content),
    ("spamhaus", Policy),
    ("spamcop", Policy),
    ("barracuda", Policy),
    ("blocked using", Policy),
    ("block list", Policy),
    ("blocklist", Policy),
    ("blacklist", Policy),
    ("denylist", Policy),
    ("banned sending ip", Policy),
    ("poor reputation", Policy),
    ("low reputation", Policy),
    ("ip reputation", Policy),
    ("domain reputation", Policy),
    ("[tss0", Policy),
    ("[ph0", Policy),
    ("virus", Content),
    ("malware", Content),
    ("phishing", Content),
    ("unsolicited", Content),
    ("looks like spam", Content),
    ("considered spam", Content),
    ("as spam", Content),
    ("spam message", Content),
    ("spam content", Content),
    ("content filter", Content),
    ("content rejected", Content),
    ("message content", Content),
    ("rejected due to content", Content),
    ("attachment", Content),
    ("dmarc", Policy),
    ("dkim", Policy),
    ("spf", Policy),
    ("unauthenticated", Policy),
    ("authentication required", Policy),
    ("sender denied", Policy),
    ("sender address rejected", Policy),
    ("sender verify failed", Policy),
    ("not authorized", Policy),
    ("not permitted to relay", Policy),
    ("relay access denied", Policy),
    ("relaying denied", Policy),
    ("unable to relay", Policy),
    ("policy reasons", Policy),
    ("policy violation", Policy),
    ("reverse dns", Policy),
    ("ptr record", Policy),
    ("user unknown", Hard),
    ("unknown user", Hard),
    ("unknown recipient", Hard),
    ("unknown local part", Hard),
    ("no such user", Hard),
    ("no such recipient", Hard),
    ("no such mailbox", Hard),
    ("no such address", Hard),
    ("no such account", Hard),
    ("no mailbox here", Hard),
    ("no mailbox by that name", Hard),
    ("not a valid mailbox", Hard),
    ("does not exist", Hard),
    ("doesn't exist", Hard),
    ("doesn't have a", Hard),
    ("recipientnotfound", Hard),
    ("recipient not found", Hard),
    ("user not found", Hard),
    ("mailbox not found", Hard),
    ("address not found", Hard),
    ("invalid recipient", Hard),
    ("invalid mailbox", Hard),
    ("mailbox unavailable", Hard),
    ("not listed in", Hard),
    ("account is disabled", Hard),
    ("account has been disabled", Hard),
    ("account disabled", Hard),
    ("mailbox disabled", Hard),
    ("mailbox is disabled", Hard),
    ("is inactive", Hard),
    ("account closed", Hard),
    ("recipient address rejected: access denied", Hard), // one provider's reply for a mailbox that does not exist
    ("recipient address rejected", Hard),
    ("recipient rejected", Hard),
    ("unrouteable address", Hard),
    ("unroutable address", Hard),
    ("host not found", Hard),
    ("host unknown", Hard),
    ("domain not found", Hard),
    ("no mx record", Hard),
    ("nullmx", Hard),
    ("address rejected", Hard),
    ("access denied", Policy),
    ("blocked", Policy),
    ("spam", Content),
    ("policy", Policy),
];

/// Returns the meaning of a rejection. `status` is the status code from a report, if the report has one in addition to the text.
pub fn class(status: Option<&str>, words: &str) -> ReplyClass {
    let found = status.and_then(find_status).or_else(|| find_status(words));
    let by_words = || {
        let lower = words.to_lowercase();
        WORDS.iter().find(|(word, _)| lower.contains(word)).map(|(_, class)| *class)
    };
    let row = found.as_deref().and_then(|status| STATUSES.iter().find(|(pattern, _, _)| fits(pattern, status)));
    match row {
        Some((_, class, Trust::Code)) => *class,
        Some((_, class, Trust::Words)) => by_words().unwrap_or(*class),
        None => by_words().or_else(|| by_reply_code(words)).unwrap_or(Unknown),
    }
}

/// Returns the class that a reply code alone shows. A code that starts with 4 means a temporary problem; other codes do not show the cause.
fn by_reply_code(words: &str) -> Option<ReplyClass> {
    let code = words.trim_start().get(..3).filter(|code| code.bytes().all(|byte| byte.is_ascii_digit()))?;
    code.starts_with('4').then_some(Soft)
}

fn fits(pattern: &str, status: &str) -> bool {
    pattern.strip_suffix('*').map_or(status == pattern, |front| status.starts_with(front))
}

/// Returns the first enhanced status code in `text`.
pub fn find_status(text: &str) -> Option<String> {
    let tokens = text.split(|c: char| !(c.is_ascii_digit() || c == '.'));
    tokens.map(|token| token.trim_matches('.')).find(|token| is_status(token)).map(str::to_owned)
}

fn is_status(text: &str) -> bool {
    let mut parts = text.split('.');
    let is_class = matches!(parts.next(), Some("2" | "4" | "5"));
    let mut number = || {
        let part = parts.next().unwrap_or_default();
        (1..=3).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    is_class && number() && number() && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejections_of_real_servers_are_classified() {
        for (status, words, expected) in [
            (None, "550-5.1.1 The email account that you tried to reach does not exist. Please try", Hard),
            (
                None,
                "550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient ada@acme.example not found by SMTP address lookup",
                Hard,
            ),
            (None, "550 5.4.1 Recipient address rejected: Access denied. AS(201806281)", Hard),
            (None, "554 delivery error: dd This user doesn't have a yahoo.com account (ada@yahoo.com) [0]", Hard),
            (None, "550 <ada@acme.example>: Recipient address rejected: User unknown in virtual mailbox table", Hard),
            (None, "550 5.2.1 The email account that you tried to reach is disabled.", Hard),
            (None, "450 4.2.1 The user you are trying to contact is receiving mail at a rate that prevents more", Soft),
            (None, "550 5.2.1 The user you are trying to contact is receiving mail at a rate that prevents more", Soft),
            (None, "552 5.2.2 The email account that you tried to reach is over quota and inactive.", Soft),
            (None, "452 4.2.2 Mailbox full", Soft),
            (Some("5.0.0"), "550 mailbox full", Soft),
            (None, "421 Service not available", Soft),
            (None, "550 5.7.1 Message rejected as spam by Content Filtering.", Content),
            (None, "550-5.7.1 [192.0.2.1] Our system has detected that this message is likely unsolicited mail.", Content),
            (None, "550 5.7.26 Unauthenticated email from acme.example is not accepted due to domain's DMARC policy", Policy),
            (None, "554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org", Policy),
            (
                None,
                "550 5.7.515 Access denied, sending domain acme.example doesn't meet the required authentication level",
                Policy,
            ),
            (None, "553 5.7.1 [TSS09] All messages from 192.0.2.1 will be permanently deferred", Policy),
            (None, "554 5.7.9 Message not accepted for policy reasons.", Policy),
            (None, "550 5.1.1 <ada@acme.example>: sender denied, your host is on a blacklist", Policy),
            (None, "550 5.7.1 Unable to relay", Policy),
            (None, "552 5.3.4 Message size exceeds fixed limit", Content),
            (None, "554 Transaction failed", Unknown),
            (Some("5.5.2"), "Syntax error", Unknown),
            (Some("4.4.7"), "Delivery time expired", Soft),
            (Some("5.1.2"), "Host not found", Hard),
            (Some("5.4.4"), "Host or domain name not found. Name service error", Hard),
        ] {
            assert_eq!(class(status, words), expected, "{status:?} {words}");
        }
    }

    #[test]
    fn an_ip_address_is_not_a_status_code() {
        assert_eq!(find_status("from 192.0.2.1 and 10.5.1.1: no"), None);
        assert_eq!(find_status("550 (5.1.1) or #5.7.1."), Some("5.1.1".into()));
    }
}
