//! Resend: one event per request, signed with the scheme of Svix and Standard Webhooks (resend.com/docs/webhooks).

use data_encoding::BASE64;
use serde_json::Value;

use super::{
    EventKind, FeedbackEvent, Refusal, Report, Request, bounced, header, header_texts, hmac, json, recent, seconds, text, texts,
    token_texts,
};
use crate::base::secret::same;
use crate::engine::mail::inbound::ReplyClass::{Content, Hard, Policy, Soft, Unknown};
use crate::vocab::limits;

pub const ID: &str = "svix-id";
pub const TIMESTAMP: &str = "svix-timestamp";
pub const SIGNATURE: &str = "svix-signature";

/// Returns the bytes of a signing secret.
pub fn key(secret: &str) -> Option<Vec<u8>> {
    BASE64.decode(secret.trim().strip_prefix("whsec_")?.as_bytes()).ok().filter(|key| !key.is_empty())
}

pub fn signature(key: &[u8], id: &str, timestamp: &str, body: &[u8]) -> [u8; 32] {
    hmac(key, &[id.as_bytes(), b".", timestamp.as_bytes(), b".", body])
}

pub fn read(request: &Request<'_>, secret: Option<&str>) -> Result<Report, Refusal> {
    let key = key(secret.ok_or(Refusal::SecretMissing)?).ok_or(Refusal::SignatureWrong)?;
    let (id, timestamp) = (header(request, ID)?, header(request, TIMESTAMP)?);
    let sum = signature(&key, id, timestamp, request.body);
    let mut given = header(request, SIGNATURE)?.split(' ').filter_map(|one| one.strip_prefix("v1,"));
    let is_right = given.any(|one| BASE64.decode(one.as_bytes()).is_ok_and(|one| same(&one, &sum)));
    if !is_right {
        return Err(Refusal::SignatureWrong);
    }
    // Each delivery attempt has its own time, which Resend includes in the signature, so a limit of a few minutes is enough.
    recent(seconds(timestamp)?, request.now, limits::MAIL_FEEDBACK_CLOCK_MS_MAX)?;
    let event = json(request.body)?;
    let data = event.get("data").ok_or(Refusal::Malformed)?;
    let mut found = header_texts(data.get("headers"));
    found.extend(texts(data, &[&["message_id"]]));
    found.extend(token_texts(data.get("tags")));
    let kind = match text(&event, &["type"]) {
        "" => return Err(Refusal::Malformed),
        "email.delivered" => EventKind::Delivered,
        "email.bounced" => bounce(data),
        "email.complained" => EventKind::Complained { kind: "abuse".into() },
        // Resend did not send the message, because earlier messages to the address bounced or were reported as spam.
        "email.suppressed" => bounced(Hard, None, text(data, &["suppressed", "message"])),
        // Resend could not send the message, for example because the quota was used up.
        "email.failed" => bounced(Policy, None, text(data, &["failed", "reason"])),
        _ => EventKind::Other,
    };
    Ok(Report { id: Some(id.to_owned()), events: vec![FeedbackEvent { texts: found, kind }] })
}

fn bounce(data: &Value) -> EventKind {
    let class = match (text(data, &["bounce", "type"]), text(data, &["bounce", "subType"])) {
        (_, "ContentRejected" | "AttachmentRejected" | "MessageTooLarge") => Content,
        ("Permanent", _) => Hard,
        ("Transient", _) => Soft,
        ("Blocked", _) => Policy,
        _ => Unknown,
    };
    bounced(class, None, text(data, &["bounce", "message"]))
}
