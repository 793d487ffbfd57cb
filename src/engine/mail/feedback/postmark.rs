//! Postmark: one event per request, protected by basic authentication if it is configured, and by the secret in the URL
//! (postmarkapp.com/developer/webhooks).

use serde_json::Value;

use super::{EventKind, FeedbackEvent, Refusal, Report, Request, authorized, bounced, json, text, token_texts};
use crate::engine::mail::inbound::ReplyClass::{self, Content, Hard, Policy, Soft};

/// TABLE: the types of bounces that are failed deliveries. Other types, such as automatic replies, are not failed deliveries. Neither are
/// the delays `Transient` and `DnsError`, after which Postmark retries the delivery.
const TYPES: [(&str, ReplyClass); 10] = [
    ("HardBounce", Hard),
    ("BadEmailAddress", Hard),
    ("SoftBounce", Soft),
    ("Unknown", Soft),
    ("Blocked", Policy),
    ("DMARCPolicy", Policy),
    ("ManuallyDeactivated", Policy),
    ("SMTPApiError", Policy),
    ("SpamNotification", Content),
    ("VirusNotification", Content),
];

pub fn read(request: &Request<'_>, secret: Option<&str>) -> Result<Report, Refusal> {
    if let Some(secret) = secret {
        authorized(request, secret)?;
    }
    let event = json(request.body)?;
    let kind = match text(&event, &["RecordType"]) {
        "" => return Err(Refusal::Malformed),
        "Delivery" => EventKind::Delivered,
        "Bounce" => bounce(&event),
        "SpamComplaint" => EventKind::Complained { kind: "abuse".into() },
        "SubscriptionChange" => subscription(&event),
        _ => EventKind::Other,
    };
    Ok(Report { id: None, events: vec![FeedbackEvent { texts: token_texts(event.get("Metadata")), kind }] })
}

fn bounce(event: &Value) -> EventKind {
    let kind = text(event, &["Type"]);
    let details = match text(event, &["Details"]) {
        "" => text(event, &["Description"]),
        details => details,
    };
    match kind {
        "SpamComplaint" => EventKind::Complained { kind: "abuse".into() },
        "Unsubscribe" => EventKind::Unsubscribed,
        _ => match TYPES.iter().find(|(name, _)| *name == kind) {
            Some((_, class)) => bounced(*class, None, details),
            None => EventKind::Other,
        },
    }
}

/// Returns the event kind for a change to Postmark's own suppression list.
fn subscription(event: &Value) -> EventKind {
    if event.get("SuppressSending") != Some(&Value::Bool(true)) {
        return EventKind::Other;
    }
    match (text(event, &["SuppressionReason"]), text(event, &["Origin"])) {
        ("ManualSuppression", "Recipient") => EventKind::Unsubscribed,
        ("SpamComplaint", _) => EventKind::Complained { kind: "abuse".into() },
        ("HardBounce", _) => bounced(Hard, None, "suppressed by Postmark after a hard bounce"),
        _ => EventKind::Other,
    }
}
