//! Brevo: one event or a list of events per request, protected by a token or by basic authentication (developers.brevo.com, Transactional
//! webhooks and Secure webhook calls).

use std::slice;

use serde_json::Value;

use super::{EventKind, FeedbackEvent, Refusal, Report, Request, authorized, bounced, json, text, texts};
use crate::engine::mail::inbound::ReplyClass::{Hard, Policy, Soft};

pub fn read(request: &Request<'_>, secret: Option<&str>) -> Result<Report, Refusal> {
    authorized(request, secret.ok_or(Refusal::SecretMissing)?)?;
    let body = json(request.body)?;
    let events = match &body {
        Value::Array(events) => events.as_slice(),
        Value::Object(_) => slice::from_ref(&body),
        _ => return Err(Refusal::Malformed),
    };
    Ok(Report { id: None, events: events.iter().map(event).collect() })
}

fn event(event: &Value) -> FeedbackEvent {
    let reason = text(event, &["reason"]);
    // Event names contain underscores in some of Brevo's webhooks, and uppercase letters in others.
    let name = text(event, &["event"]).replace('_', "").to_ascii_lowercase();
    let kind = match name.as_str() {
        "delivered" => EventKind::Delivered,
        "hardbounce" | "invalidemail" => bounced(Hard, None, reason),
        "softbounce" => bounced(Soft, None, reason),
        "blocked" => bounced(Policy, None, reason),
        "spam" | "complaint" => EventKind::Complained { kind: "abuse".into() },
        "unsubscribe" | "unsubscribed" => EventKind::Unsubscribed,
        _ => EventKind::Other,
    };
    FeedbackEvent { texts: texts(event, &[&["X-Mailin-custom"], &["message-id"]]), kind }
}
