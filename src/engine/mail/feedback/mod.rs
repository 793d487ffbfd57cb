//! Reads the events that mail services report by webhook: checks the signature or secret of a request, and translates its events into one
//! form. The formats follow the services' documentation; unknown fields and kinds of events are ignored.
//!
//! A request is untrusted until it has passed the check. Even then, its events are only claims: the caller uses an event only if it
//! contains one of our tokens. This module reads no store and sends no requests.

mod amazon_ses;
mod brevo;
mod mailgun;
mod postmark;
mod resend;
pub mod sample;
mod sendgrid;
pub mod sns;
#[cfg(test)]
mod tests;

#[cfg(any(test, fuzzing))]
pub use sendgrid::events as sendgrid_events;

use data_encoding::BASE64;
use hmac::{Hmac, KeyInit, Mac};
use http::HeaderMap;
use http::header::AUTHORIZATION;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::Sha256;

use crate::base::clock::Timestamp;
use crate::base::secret::same;
use crate::engine::mail::inbound::{ReplyClass, reply_class};
use crate::vocab::limits;
use crate::vocab::mail_services::MailService;

/// The name of the field that carries our token in the services' events.
pub const TOKEN_FIELD: &str = "mailmill";
/// The header with our token, for services that return the headers of a message.
pub const TOKEN_HEADER: &str = "X-Mailmill-Message";

#[derive(Clone, Copy)]
pub struct Request<'a> {
    pub headers: &'a HeaderMap,
    pub body: &'a [u8],
    pub now: Timestamp,
}

/// The content of a checked request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The ID of the request, if the service sends one. Repeated deliveries of a request have the same ID.
    pub id: Option<String>,
    pub events: Vec<FeedbackEvent>,
}

/// An event about one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedbackEvent {
    /// The values of the event that can contain our token.
    pub texts: Vec<String>,
    pub kind: EventKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// The recipient's server accepted the message.
    Delivered,
    /// The message was returned or rejected. `detail` is the server's response or the mail service's reason.
    Bounced { class: ReplyClass, detail: String },
    /// The recipient reported the message as spam.
    Complained { kind: String },
    /// The recipient unsubscribed through the mail service.
    Unsubscribed,
    /// An event without consequences, such as an open or a delay.
    Other,
}

/// Why a request is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "RejectionReason")]
pub enum Refusal {
    /// The secret of the mail service has not been entered yet, or cannot be decrypted.
    SecretMissing,
    /// The request has no signature or credentials.
    SignatureMissing,
    /// The signature or the credentials are wrong.
    SignatureWrong,
    /// The time of the request is too far from the current time.
    WrongTime,
    /// The ID of an earlier request was used again with a different body.
    Replayed,
    /// The request comes from an Amazon SNS topic that is not configured.
    TopicUnknown,
    /// The body is not in the format of the service, or has too many events.
    Malformed,
}

impl Refusal {
    /// Returns what is wrong and how to correct it.
    pub fn sentence(self, service: MailService) -> &'static str {
        match self {
            Self::SignatureWrong if service == MailService::AmazonSes => {
                "The signature or the certificate of the message is invalid. Check that Amazon SNS sent the message."
            }
            Self::SecretMissing => {
                "The secret of this mail service is missing or cannot be decrypted. Enter it under Setup → Mail services."
            }
            Self::SignatureMissing => {
                "The request has no signature or credentials. Enable signatures or credentials in the webhook's settings at the mail \
                 service."
            }
            Self::SignatureWrong => {
                "The signature or secret of the request is wrong. Check the secret under Setup → Mail services."
            }
            Self::WrongTime => {
                "The request's timestamp is too far from the current time. Check that the clock of the Mailmill server is correct."
            }
            Self::Replayed => {
                "An earlier request with different content had this ID, so this request was rejected as a possible forgery."
            }
            Self::TopicUnknown => "The topic is not configured for this webhook. Add its ARN under Setup → Mail services.",
            Self::Malformed => {
                "The body is not in the format of this mail service, or has too many events. Check which service uses this URL."
            }
        }
    }
}

/// Checks a request with the service's secret, and returns its events. The requests of Amazon SES are checked in [`sns`].
pub fn read(service: MailService, request: &Request<'_>, secret: Option<&str>) -> Result<Report, Refusal> {
    let report = match service {
        MailService::AmazonSes => return Err(Refusal::Malformed),
        MailService::Postmark => postmark::read(request, secret),
        MailService::Mailgun => mailgun::read(request, secret),
        MailService::Sendgrid => sendgrid::read(request, secret),
        MailService::Brevo => brevo::read(request, secret),
        MailService::Resend => resend::read(request, secret),
    }?;
    if report.events.len() > limits::MAIL_FEEDBACK_EVENTS_MAX { Err(Refusal::Malformed) } else { Ok(report) }
}

/// Returns why `secret` cannot be a secret of this service, or `None` if it can.
pub fn secret_error(service: MailService, secret: &str) -> Option<&'static str> {
    match service {
        MailService::AmazonSes => Some("Amazon SES has no secret; enter the ARN of the topic in topicArns"),
        MailService::Postmark if !secret.contains(':') => Some("enter the basic authentication of the webhook as user:password"),
        MailService::Sendgrid if sendgrid::point(secret).is_none() => {
            Some("enter the verification key as SendGrid shows it: base64 that starts with MFkw")
        }
        MailService::Resend if resend::key(secret).is_none() => {
            Some("enter the signing secret as Resend shows it: whsec_ and base64")
        }
        _ => None,
    }
}

fn json(body: &[u8]) -> Result<Value, Refusal> {
    serde_json::from_slice(body).map_err(|_| Refusal::Malformed)
}

/// Returns the string at this path; empty if there is none.
fn text<'a>(value: &'a Value, path: &[&str]) -> &'a str {
    path.iter().try_fold(value, |value, name| value.get(name)).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the non-empty strings at these paths.
fn texts(value: &Value, paths: &[&[&str]]) -> Vec<String> {
    paths.iter().map(|path| text(value, path)).filter(|text| !text.is_empty()).map(str::to_owned).collect()
}

/// Returns the strings at [`TOKEN_FIELD`] in an object. Case is ignored, because services may change the case of names.
fn token_texts(object: Option<&Value>) -> Vec<String> {
    let fields = object.and_then(Value::as_object).into_iter().flatten();
    let own = fields.filter(|(name, _)| name.eq_ignore_ascii_case(TOKEN_FIELD));
    own.flat_map(|(_, value)| match value {
        Value::Array(all) => all.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Value::String(one) => vec![one.clone()],
        _ => Vec::new(),
    })
    .collect()
}

/// Returns the values of the headers that can contain our token, from a list of objects with a name and a value.
fn header_texts(headers: Option<&Value>) -> Vec<String> {
    let all = headers.and_then(Value::as_array).into_iter().flatten();
    let is_own = |header: &&Value| {
        let name = text(header, &["name"]);
        name.eq_ignore_ascii_case("message-id") || name.eq_ignore_ascii_case(TOKEN_HEADER)
    };
    all.filter(is_own).map(|header| text(header, &["value"]).to_owned()).collect()
}

/// Returns a bounce event. Its class is the one that the service reports, unless the mail server's response shows that a permanent
/// rejection was not about the address. For example, a full mailbox, a blocked sender or rejected content is not a hard bounce.
fn bounced(class: ReplyClass, status: Option<&str>, detail: &str) -> EventKind {
    let class = match (class, reply_class::class(status, detail)) {
        (ReplyClass::Hard, said @ (ReplyClass::Soft | ReplyClass::Policy | ReplyClass::Content)) => said,
        (class, _) => class,
    };
    let detail =
        detail.trim().chars().filter(|character| !character.is_control()).take(limits::INBOUND_DIAGNOSTIC_BYTES_MAX).collect();
    EventKind::Bounced { class, detail }
}

/// Checks the credentials in `Authorization`: `user:password` for basic authentication, and any other secret as a bearer token.
fn authorized(request: &Request<'_>, secret: &str) -> Result<(), Refusal> {
    let given = request.headers.get(AUTHORIZATION).ok_or(Refusal::SignatureMissing)?;
    let given = given.to_str().map_err(|_| Refusal::SignatureWrong)?;
    let (scheme, value) = given.split_once(' ').unwrap_or_default();
    let is_right = match scheme.to_ascii_lowercase().as_str() {
        "basic" => BASE64.decode(value.trim().as_bytes()).is_ok_and(|pair| same(&pair, secret.as_bytes())),
        "bearer" => same(value.trim().as_bytes(), secret.as_bytes()),
        _ => false,
    };
    if is_right { Ok(()) } else { Err(Refusal::SignatureWrong) }
}

/// Checks that a request was sent at most `age_ms_max` ago. A time slightly in the future is accepted, because clocks differ.
fn recent(at: Timestamp, now: Timestamp, age_ms_max: i64) -> Result<(), Refusal> {
    let age = now.ms_since(at);
    if (-limits::MAIL_FEEDBACK_CLOCK_MS_MAX..=age_ms_max).contains(&age) { Ok(()) } else { Err(Refusal::WrongTime) }
}

/// Parses a Unix time in seconds.
fn seconds(text: &str) -> Result<Timestamp, Refusal> {
    let seconds: i64 = text.parse().map_err(|_| Refusal::SignatureWrong)?;
    seconds.checked_mul(1000).map(Timestamp).ok_or(Refusal::WrongTime)
}

fn header<'a>(request: &Request<'a>, name: &str) -> Result<&'a str, Refusal> {
    request.headers.get(name).and_then(|value| value.to_str().ok()).ok_or(Refusal::SignatureMissing)
}

fn hmac(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut sum = Hmac::<Sha256>::new_from_slice(key).expect("HMAC accepts keys of any length");
    for part in parts {
        sum.update(part);
    }
    sum.finalize().into_bytes().into()
}
