//! Amazon SES: one event per SNS notification, whose message contains the event (docs.aws.amazon.com/ses, Notification contents and Event
//! publishing). SNS signs the notification.

use serde_json::Value;

use super::{EventKind, FeedbackEvent, Refusal, bounced, header_texts, json, text, texts, token_texts};
use crate::engine::mail::inbound::ReplyClass::{Content, Hard, Soft, Unknown};

pub fn read(message: &str) -> Result<FeedbackEvent, Refusal> {
    let Ok(event) = json(message.as_bytes()) else {
        // SES tests a new event destination with plain text instead of JSON.
        return Ok(FeedbackEvent { texts: Vec::new(), kind: EventKind::Other });
    };
    let mail = event.get("mail").ok_or(Refusal::Malformed)?;
    let mut found = token_texts(mail.get("tags"));
    found.extend(header_texts(mail.get("headers")));
    found.extend(texts(mail, &[&["commonHeaders", "messageId"], &["source"]]));
    let name = match text(&event, &["eventType"]) {
        "" => text(&event, &["notificationType"]),
        name => name,
    };
    let kind = match name {
        "" => return Err(Refusal::Malformed),
        "Delivery" => EventKind::Delivered,
        "Bounce" => bounce(event.get("bounce").unwrap_or(&Value::Null)),
        "Complaint" => complaint(event.get("complaint").unwrap_or(&Value::Null)),
        "Reject" => bounced(Content, None, text(&event, &["reject", "reason"])),
        "Subscription" => subscription(&event),
        _ => EventKind::Other,
    };
    Ok(FeedbackEvent { texts: found, kind })
}

fn bounce(bounce: &Value) -> EventKind {
    let (kind, subkind) = (text(bounce, &["bounceType"]), text(bounce, &["bounceSubType"]));
    // Each message has only one recipient, so the list has only one entry.
    let recipient = bounce.get("bouncedRecipients").and_then(|all| all.get(0)).unwrap_or(&Value::Null);
    let status = Some(text(recipient, &["status"])).filter(|status| !status.is_empty());
    let said = match text(recipient, &["diagnosticCode"]) {
        "" => format!("{kind} {subkind}"),
        said => said.to_owned(),
    };
    let class = match (kind, subkind) {
        (_, "UnsubscribedRecipient") => return EventKind::Unsubscribed,
        (_, "MessageTooLarge" | "ContentRejected" | "AttachmentRejected") => Content,
        ("Permanent", _) => Hard,
        ("Transient", _) => Soft,
        _ => Unknown,
    };
    bounced(class, status, &said)
}

fn complaint(complaint: &Value) -> EventKind {
    match text(complaint, &["complaintFeedbackType"]) {
        // This kind of report means that the recipient moved the message out of the spam folder.
        "not-spam" => EventKind::Other,
        "" => EventKind::Complained { kind: "abuse".into() },
        kind => EventKind::Complained { kind: kind.into() },
    }
}

fn subscription(event: &Value) -> EventKind {
    let all = event.get("subscription").and_then(|change| change.get("newTopicPreferences")?.get("unsubscribeAll"));
    if all == Some(&Value::Bool(true)) { EventKind::Unsubscribed } else { EventKind::Other }
}
