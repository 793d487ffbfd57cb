//! SendGrid: a batch of events, signed with ECDSA over the time and the raw body (twilio.com/docs/sendgrid, Event Webhook).

use data_encoding::BASE64;
use ring::signature::{ECDSA_P256_SHA256_ASN1, UnparsedPublicKey};
use serde_json::Value;

use super::{
    EventKind, FeedbackEvent, Refusal, Report, Request, bounced, header, json, recent, seconds, text, texts, token_texts,
};
use crate::engine::mail::inbound::ReplyClass::{self, Content, Hard, Policy, Soft, Unknown};
use crate::vocab::limits;

pub const SIGNATURE: &str = "x-twilio-email-event-webhook-signature";
pub const TIMESTAMP: &str = "x-twilio-email-event-webhook-timestamp";

/// The bytes that precede the point in every P-256 public key in DER (RFC 5480).
pub const P256_PREFIX: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03,
    0x01, 0x07, 0x03, 0x42, 0x00,
];

/// TABLE: SendGrid's classifications of bounces, in lowercase, and the reply class of each.
const CLASSIFICATIONS: [(&str, ReplyClass); 7] = [
    ("invalid address", Hard),
    ("mailbox unavailable", Soft),
    ("technical", Soft),
    ("frequency or volume too high", Soft),
    ("reputation", Policy),
    ("content", Content),
    ("unclassified", Unknown),
];

/// Returns the P-256 point of a base64-encoded public key.
pub fn point(key: &str) -> Option<Vec<u8>> {
    let der = BASE64.decode(key.trim().as_bytes()).ok()?;
    der.strip_prefix(&P256_PREFIX).filter(|point| point.len() == 65).map(<[u8]>::to_vec)
}

pub fn read(request: &Request<'_>, secret: Option<&str>) -> Result<Report, Refusal> {
    let key = point(secret.ok_or(Refusal::SecretMissing)?).ok_or(Refusal::SignatureWrong)?;
    let (signature, timestamp) = (header(request, SIGNATURE)?, header(request, TIMESTAMP)?);
    let decoded = BASE64.decode(signature.as_bytes()).map_err(|_| Refusal::SignatureWrong)?;
    let signed = [timestamp.as_bytes(), request.body].concat();
    let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, key);
    key.verify(&signed, &decoded).map_err(|_| Refusal::SignatureWrong)?;
    recent(seconds(timestamp)?, request.now, limits::MAIL_FEEDBACK_AGE_MAX_MS)?;
    // The signature serves as the ID of the batch: different batches have different signatures, and a batch that is sent again has the same
    // signature.
    Ok(Report { id: Some(signature.to_owned()), events: events(request.body)? })
}

/// Returns the events of a batch. Does not check its signature.
pub fn events(body: &[u8]) -> Result<Vec<FeedbackEvent>, Refusal> {
    Ok(json(body)?.as_array().ok_or(Refusal::Malformed)?.iter().map(event).collect())
}

fn event(event: &Value) -> FeedbackEvent {
    let mut found = token_texts(Some(event));
    found.extend(texts(event, &[&["smtp-id"]]));
    let reason = text(event, &["reason"]);
    let kind = match text(event, &["event"]) {
        "delivered" => EventKind::Delivered,
        "spamreport" => EventKind::Complained { kind: "abuse".into() },
        "unsubscribe" | "group_unsubscribe" => EventKind::Unsubscribed,
        "bounce" => bounced(bounce_class(event), Some(text(event, &["status"])).filter(|status| !status.is_empty()), reason),
        "dropped" => dropped(reason),
        _ => EventKind::Other,
    };
    FeedbackEvent { texts: found, kind }
}

fn bounce_class(event: &Value) -> ReplyClass {
    let named = text(event, &["bounce_classification"]).to_ascii_lowercase();
    let class = CLASSIFICATIONS.iter().find(|(name, _)| *name == named).map(|(_, class)| *class);
    match (text(event, &["type"]), class) {
        // The server refused the sender or the message, even if the classification blames the address.
        ("blocked", None | Some(Hard)) => Policy,
        (_, Some(class)) => class,
        ("bounce", None) => Hard,
        (_, None) => Unknown,
    }
}

/// Returns the event kind for a message that SendGrid did not try to deliver.
fn dropped(reason: &str) -> EventKind {
    match reason {
        "Bounced Address" | "Invalid" => bounced(Hard, None, reason),
        "Unsubscribed Address" => EventKind::Unsubscribed,
        "Spam Reporting Address" => EventKind::Complained { kind: "abuse".into() },
        _ => bounced(Policy, None, reason),
    }
}
