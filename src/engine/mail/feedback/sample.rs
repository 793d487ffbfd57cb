//! Sample requests for testing a webhook without the mail service. They are signed like the requests of the service.
//!
//! A service that signs with its own key cannot be imitated with the configured secret. Its sample is signed with a temporary key
//! instead, and checked with that key.

use std::sync::OnceLock;

use data_encoding::{BASE64, HEXLOWER};
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};
use ring::rand::SystemRandom;
use ring::rsa::KeyPair as RsaKeyPair;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _, RSA_PKCS1_SHA256};
use serde_json::{Value, json};

use super::sns::{Message, MessageType, PublicKey};
use super::{TOKEN_FIELD, TOKEN_HEADER, hmac, resend, sendgrid};
use crate::base::clock::Timestamp;
use crate::engine::mail::dkim::{Algorithm, KeyPair};
use crate::vocab::mail_services::MailService;

const REFUSAL: &str = "550 5.1.1 the mailbox does not exist (sample)";

/// The temporary key that signs the samples of SNS notifications. The process creates only one, because creating a key is slow.
static KEY: OnceLock<RsaKeyPair> = OnceLock::new();

/// A sample request with a hard bounce.
pub struct Sample {
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    /// The temporary secret to check the request with. `None` if the request is checked with the configured secret or with `key`.
    pub secret: Option<String>,
    /// The temporary public key to check a sample SNS notification with.
    pub key: Option<PublicKey>,
}

#[derive(Clone, Copy)]
pub struct Content<'a> {
    pub token: &'a str,
    pub id: &'a str,
    /// The topic of the notification, for Amazon SES.
    pub topic: &'a str,
    pub now: Timestamp,
}

/// Returns a sample request in the format of a service. The first sample of an SNS notification takes up to several seconds of processor
/// time, because its key must be created. Temporary keys use the operating system's random source, because the libraries accept no other
/// source when they create keys.
pub fn sample(service: MailService, secret: Option<&str>, content: &Content<'_>) -> Sample {
    match service {
        MailService::AmazonSes => amazon_ses(content),
        MailService::Postmark => {
            let event = json!({
                "RecordType": "Bounce", "Type": "HardBounce", "TypeCode": 1, "ID": 0, "MessageID": content.id,
                "Email": "missing@example.com", "Details": REFUSAL, "Metadata": { TOKEN_FIELD: content.token },
            });
            plain(credentials(secret), &event)
        }
        MailService::Mailgun => mailgun(secret, content),
        MailService::Sendgrid => sendgrid(content),
        MailService::Brevo => {
            let event = json!({
                "event": "hard_bounce", "email": "missing@example.com", "reason": REFUSAL, "X-Mailin-custom": content.token,
                "message-id": format!("<{}@example.com>", content.token), "ts_epoch": content.now.0,
            });
            plain(credentials(secret), &event)
        }
        MailService::Resend => resend_request(secret, content),
    }
}

fn plain(headers: HeaderMap, body: &Value) -> Sample {
    Sample { headers, body: body.to_string().into_bytes(), secret: None, key: None }
}

fn credentials(secret: Option<&str>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    if let Some(secret) = secret {
        let value =
            if secret.contains(':') { format!("Basic {}", BASE64.encode(secret.as_bytes())) } else { format!("Bearer {secret}") };
        headers.extend(HeaderValue::from_str(&value).ok().map(|value| (AUTHORIZATION, value)));
    }
    headers
}

fn with(pairs: [(&'static str, &str); 3]) -> HeaderMap {
    let header = |(name, value): (&'static str, &str)| Some((HeaderName::from_static(name), HeaderValue::from_str(value).ok()?));
    pairs.into_iter().filter_map(header).collect()
}

fn mailgun(secret: Option<&str>, content: &Content<'_>) -> Sample {
    let timestamp = content.now.seconds().to_string();
    let sum = hmac(secret.unwrap_or_default().as_bytes(), &[timestamp.as_bytes(), content.id.as_bytes()]);
    let body = json!({
        "signature": { "timestamp": timestamp, "token": content.id, "signature": HEXLOWER.encode(&sum) },
        "event-data": {
            "event": "failed", "severity": "permanent", "reason": "bounce", "recipient": "missing@example.com",
            "delivery-status": { "code": 550, "message": REFUSAL }, "user-variables": { TOKEN_FIELD: content.token },
            "message": { "headers": { "message-id": format!("{}@example.com", content.token) } },
        },
    });
    plain(HeaderMap::new(), &body)
}

fn resend_request(secret: Option<&str>, content: &Content<'_>) -> Sample {
    let body = json!({
        "type": "email.bounced", "created_at": content.now.to_string(),
        "data": {
            "email_id": content.id, "to": ["missing@example.com"], "headers": [{ "name": TOKEN_HEADER, "value": content.token }],
            "bounce": { "type": "Permanent", "subType": "General", "message": REFUSAL },
        },
    });
    let (body, timestamp) = (body.to_string().into_bytes(), content.now.seconds().to_string());
    let key = secret.and_then(resend::key).unwrap_or_default();
    let signature = format!("v1,{}", BASE64.encode(&resend::signature(&key, content.id, &timestamp, &body)));
    let headers = with([(resend::ID, content.id), (resend::TIMESTAMP, &timestamp), (resend::SIGNATURE, &signature)]);
    Sample { headers, body, secret: None, key: None }
}

fn sendgrid(content: &Content<'_>) -> Sample {
    let body = json!([{
        "event": "bounce", "type": "bounce", "email": "missing@example.com", "timestamp": content.now.seconds(), "status": "5.1.1",
        "reason": REFUSAL, "bounce_classification": "Invalid Address", "sg_event_id": content.id, TOKEN_FIELD: content.token,
        "smtp-id": format!("<{}@example.com>", content.token),
    }]);
    let (body, timestamp, random) = (body.to_string().into_bytes(), content.now.seconds().to_string(), SystemRandom::new());
    let algorithm = &ECDSA_P256_SHA256_ASN1_SIGNING;
    let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("the operating system's random source works");
    let pair = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).expect("the key was created for this algorithm");
    let signed = [timestamp.as_bytes(), &body].concat();
    let signature = pair.sign(&random, &signed).expect("the operating system's random source works");
    let public = [sendgrid::P256_PREFIX.as_slice(), pair.public_key().as_ref()].concat();
    let signature = BASE64.encode(signature.as_ref());
    let headers =
        with([(sendgrid::SIGNATURE, &signature), (sendgrid::TIMESTAMP, &timestamp), ("content-type", "application/json")]);
    Sample { headers, body, secret: Some(BASE64.encode(&public)), key: None }
}

fn amazon_ses(content: &Content<'_>) -> Sample {
    let event = json!({
        "notificationType": "Bounce",
        "bounce": {
            "bounceType": "Permanent", "bounceSubType": "General",
            "bouncedRecipients": [{ "emailAddress": "missing@example.com", "status": "5.1.1", "diagnosticCode": REFUSAL }],
        },
        "mail": { "messageId": content.id, "tags": { TOKEN_FIELD: [content.token] } },
    });
    let mut message = Message {
        kind: MessageType::Notification,
        message_id: content.id.to_owned(),
        topic_arn: content.topic.to_owned(),
        text: event.to_string(),
        timestamp: content.now.to_string(),
        signature_version: "2".into(),
        signature: String::new(),
        signing_cert_url: String::new(),
        subject: None,
        subscribe_url: None,
        token: None,
    };
    let pair = KEY.get_or_init(|| {
        let private = KeyPair::generate(Algorithm::Rsa).private;
        RsaKeyPair::from_der(private.expose()).expect("the key was created just now")
    });
    let mut signature = vec![0; pair.public().modulus_len()];
    let signed = pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message.signed_text().as_bytes(), &mut signature);
    signed.expect("the signature has the length of the key");
    message.signature = BASE64.encode(&signature);
    let body = json!({
        "Type": "Notification", "MessageId": message.message_id, "TopicArn": message.topic_arn, "Message": message.text,
        "Timestamp": message.timestamp, "SignatureVersion": message.signature_version, "Signature": message.signature,
        "SigningCertURL": "",
    });
    Sample { key: Some(PublicKey(pair.public().as_ref().to_vec())), ..plain(HeaderMap::new(), &body) }
}
