//! Mailgun: one event per request. The signature in the body covers a time and a token that Mailgun uses only once, but not the event
//! (documentation.mailgun.com, Securing webhooks). A request that repeats a token with a different body is therefore rejected.

use data_encoding::HEXLOWER_PERMISSIVE;
use serde::Deserialize;
use serde_json::Value;

use super::{EventKind, FeedbackEvent, Refusal, Report, Request, bounced, hmac, json, recent, seconds, text, texts, token_texts};
use crate::base::secret::same;
use crate::engine::mail::inbound::ReplyClass::{Hard, Policy, Soft};
use crate::engine::mail::inbound::reply_class;
use crate::vocab::limits;

/// The part of a request that is parsed before the signature is checked. The event is skipped until then, so that only authentic requests
/// use memory for its values.
#[derive(Deserialize)]
struct Signed {
    #[serde(default)]
    signature: Signature,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Signature {
    timestamp: String,
    token: String,
    signature: String,
}

pub fn read(request: &Request<'_>, secret: Option<&str>) -> Result<Report, Refusal> {
    let secret = secret.ok_or(Refusal::SecretMissing)?;
    let signed: Signed = serde_json::from_slice(request.body).map_err(|_| Refusal::Malformed)?;
    let Signature { timestamp, token, signature } = signed.signature;
    if [&timestamp, &token, &signature].into_iter().any(String::is_empty) {
        return Err(Refusal::SignatureMissing);
    }
    let sum = hmac(secret.as_bytes(), &[timestamp.as_bytes(), token.as_bytes()]);
    let is_right = HEXLOWER_PERMISSIVE.decode(signature.as_bytes()).is_ok_and(|given| same(&given, &sum));
    if !is_right {
        return Err(Refusal::SignatureWrong);
    }
    recent(seconds(&timestamp)?, request.now, limits::MAIL_FEEDBACK_AGE_MAX_MS)?;
    let body = json(request.body)?;
    let event = body.get("event-data").ok_or(Refusal::Malformed)?;
    let mut found = token_texts(event.get("user-variables"));
    found.extend(texts(event, &[&["message", "headers", "message-id"]]));
    Ok(Report { id: Some(token), events: vec![FeedbackEvent { texts: found, kind: kind(event) }] })
}

fn kind(event: &Value) -> EventKind {
    match text(event, &["event"]) {
        "delivered" => EventKind::Delivered,
        "complained" => EventKind::Complained { kind: "abuse".into() },
        "unsubscribed" => EventKind::Unsubscribed,
        "rejected" => bounced(Policy, None, text(event, &["reject", "reason"])),
        // Only permanent failures are bounces: after a temporary failure, Mailgun itself retries the delivery.
        "failed" if text(event, &["severity"]) == "permanent" => failed(event),
        _ => EventKind::Other,
    }
}

fn failed(event: &Value) -> EventKind {
    let status = event.get("delivery-status");
    let said = |name: &str| status.map_or("", |status| text(status, &[name]));
    let detail = if said("message").is_empty() { said("description") } else { said("message") };
    let enhanced = Some(said("enhanced-code")).filter(|code| !code.is_empty());
    let class = match text(event, &["reason"]) {
        "suppress-unsubscribe" => return EventKind::Unsubscribed,
        "suppress-complaint" => return EventKind::Complained { kind: "abuse".into() },
        "bounce" | "suppress-bounce" => Hard,
        "espblock" => Policy,
        // The reason `old` means that Mailgun gave up after temporary failures.
        "old" => Soft,
        _ => reply_class::class(enhanced, detail),
    };
    bounced(class, enhanced, detail)
}
