//! Stand-ins for the mail services that relay mail and report events: their requests, in the formats of their documentation, signed
//! with their own keys. They know only what a real service knows: the message that the relay accepted.

use data_encoding::{BASE64, HEXLOWER};
use hmac::{Hmac, KeyInit, Mac};
use mail_parser::MessageParser;
use mailmill::engine::mail::dkim::{Algorithm, KeyPair};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, PKCS_RSA_SHA256};
use ring::rand::SystemRandom;
use ring::rsa::KeyPair as RsaKeyPair;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _, RSA_PKCS1_SHA256};
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::{Value, json};
use sha2::Sha256;

use super::mail_sink::SinkMessage;

pub const REGION_HOST: &str = "sns.us-east-1.amazonaws.com";
pub const TOPIC: &str = "arn:aws:sns:us-east-1:123456789012:ses-events";
pub const MAILGUN_KEY: &str = "key-3ax6xnjp29jd6fds4gc373sgvjxteol0";
pub const BREVO_TOKEN: &str = "brevo-token-canary-9";
pub const POSTMARK_PAIR: &str = "postmark:canary word";
pub const RESEND_SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const REFUSAL: &str = "550 5.1.1 <x@example.com>: user unknown";

/// An event that a service reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Bounce,
    Block,
    Complaint,
}

/// A request of a service.
#[derive(Clone, Debug)]
pub struct Request {
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
}

/// The message as the relay accepted it.
#[derive(Clone, Debug)]
pub struct RelayedMessage {
    pub recipient: String,
    pub message_id: String,
    headers: Vec<(String, String)>,
}

impl RelayedMessage {
    pub fn read(received: &SinkMessage) -> Self {
        let message = MessageParser::default().parse(&received.body).expect("it is a message");
        let headers =
            message.headers_raw().map(|(name, value)| (name.to_owned(), value.split_whitespace().collect::<Vec<_>>().join(" ")));
        let recipient = received.talk.recipient.split(['<', '>']).nth(1).expect("an address").to_owned();
        Self { recipient, message_id: received.message_id.clone(), headers: headers.collect() }
    }

    fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name));
        &found.unwrap_or_else(|| panic!("the message has no {name}: {:?}", self.headers)).1
    }
}

fn hmac(key: &[u8], text: &str) -> [u8; 32] {
    let mut sum = Hmac::<Sha256>::new_from_slice(key).expect("any length");
    sum.update(text.as_bytes());
    sum.finalize().into_bytes().into()
}

/// Postmark returns the metadata of a message, but not its Message-ID.
pub fn postmark(message: &RelayedMessage, kind: Kind) -> Request {
    let metadata = json!({ "mailmill": message.header("X-PM-Metadata-mailmill") });
    let (name, code) = match kind {
        Kind::Bounce => ("HardBounce", 1),
        Kind::Block => ("Blocked", 100_006),
        Kind::Complaint => ("SpamComplaint", 100_001),
    };
    let body = json!({
        "RecordType": if kind == Kind::Complaint { "SpamComplaint" } else { "Bounce" }, "MessageStream": "outbound", "ID": 4_323_372,
        "Type": name, "TypeCode": code, "Name": name, "Tag": "", "MessageID": "883953f4-6105-42a2-a16a-77a8eac79483",
        "Metadata": metadata, "ServerID": 23, "Description": "The server was unable to deliver your message.", "Details": REFUSAL,
        "Email": message.recipient, "From": "news@example.com", "BouncedAt": "2026-01-01T12:00:00Z", "Inactive": true, "CanActivate": true,
    });
    let authorization = format!("Basic {}", BASE64.encode(POSTMARK_PAIR.as_bytes()));
    Request { headers: vec![("authorization", authorization)], body: body.to_string() }
}

/// Mailgun keeps the Message-ID, and returns the variables of a message. `token` is used once.
pub fn mailgun(message: &RelayedMessage, kind: Kind, token: &str, seconds: i64) -> Request {
    let signature = HEXLOWER.encode(&hmac(MAILGUN_KEY.as_bytes(), &format!("{seconds}{token}")));
    let variables: Value = serde_json::from_str(message.header("X-Mailgun-Variables")).expect("JSON");
    let mut event = json!({
        "id": "G9Bn5sl1TC6nu79C8C0bwg", "timestamp": seconds, "log-level": "error", "recipient": message.recipient, "tags": [],
        "recipient-domain": "example.com", "user-variables": variables,
        "message": { "headers": { "message-id": message.message_id.trim_matches(['<', '>']) } },
        "event": "complained",
    });
    if kind != Kind::Complaint {
        event["event"] = "failed".into();
        event["severity"] = "permanent".into();
        event["reason"] = if kind == Kind::Bounce { "bounce" } else { "espblock" }.into();
        event["delivery-status"] = json!({ "code": 550, "attempt-no": 1, "message": REFUSAL, "description": "" });
    }
    let signature = json!({ "timestamp": seconds.to_string(), "token": token, "signature": signature });
    Request { headers: Vec::new(), body: json!({ "signature": signature, "event-data": event }).to_string() }
}

/// SendGrid, with its own signing key. It sends events in batches, and returns unique arguments as fields of the event.
pub struct Sendgrid {
    pair: EcdsaKeyPair,
    random: SystemRandom,
}

impl Sendgrid {
    pub fn new() -> Self {
        let (random, algorithm) = (SystemRandom::new(), &ECDSA_P256_SHA256_ASN1_SIGNING);
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("a key");
        Self { pair: EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).expect("a key"), random }
    }

    /// Returns the verification key in base64, as SendGrid shows it.
    pub fn verification_key(&self) -> String {
        let prefix = HEXLOWER.decode(b"3059301306072a8648ce3d020106082a8648ce3d030107034200").expect("hexadecimal");
        BASE64.encode(&[&prefix, self.pair.public_key().as_ref()].concat())
    }

    pub fn request(&self, events: &[(&RelayedMessage, Kind)], seconds: i64) -> Request {
        let events: Value = events.iter().map(|(message, kind)| self.event(message, *kind, seconds)).collect();
        let body = events.to_string();
        let signature = self.pair.sign(&self.random, format!("{seconds}{body}").as_bytes()).expect("signed");
        let headers = vec![
            ("x-twilio-email-event-webhook-signature", BASE64.encode(signature.as_ref())),
            ("x-twilio-email-event-webhook-timestamp", seconds.to_string()),
        ];
        Request { headers, body }
    }

    fn event(&self, message: &RelayedMessage, kind: Kind, seconds: i64) -> Value {
        let mut event = json!({
            "email": message.recipient, "timestamp": seconds, "smtp-id": message.message_id, "sg_event_id": "cHJvY2Vzc2VkLTE5OTQyMTE",
            "sg_message_id": "14c5d75ce93.dfd.64b469.filter0001.16648.5515E0B88.0", "event": "spamreport",
        });
        let own: Value = serde_json::from_str(message.header("X-SMTPAPI")).expect("JSON");
        for (name, value) in own["unique_args"].as_object().expect("an object") {
            event[name] = value.clone();
        }
        if kind != Kind::Complaint {
            event["event"] = "bounce".into();
            event["type"] = if kind == Kind::Bounce { "bounce" } else { "blocked" }.into();
            event["reason"] = REFUSAL.into();
            event["status"] = "5.1.1".into();
            event["bounce_classification"] = if kind == Kind::Bounce { "Invalid Address" } else { "Reputation" }.into();
        }
        event
    }
}

/// Brevo returns the custom header of a message.
pub fn brevo(message: &RelayedMessage, kind: Kind) -> Request {
    let name = match kind {
        Kind::Bounce => "hard_bounce",
        Kind::Block => "blocked",
        Kind::Complaint => "spam",
    };
    let body = json!({
        "event": name, "email": message.recipient, "id": 26_224, "date": "2026-01-01 12:00:00", "ts": 1_767_268_800,
        "message-id": message.message_id, "ts_event": 1_767_268_800, "subject": "x", "X-Mailin-custom": message.header("X-Mailin-custom"),
        "sending_ip": "192.0.2.1", "ts_epoch": 1_767_268_800_000_i64, "reason": REFUSAL, "tags": [],
    });
    Request { headers: vec![("authorization", format!("Bearer {BREVO_TOKEN}"))], body: body.to_string() }
}

/// Resend returns the headers of a message. `id` is equal in all attempts.
pub fn resend(message: &RelayedMessage, kind: Kind, id: &str, seconds: i64) -> Request {
    let mut data = json!({
        "created_at": "2026-01-01T12:00:00.000Z", "email_id": "56761188-7520-42d8-8898-ff6fc54ce618", "from": "News <news@example.com>",
        "to": [message.recipient], "subject": "x", "message_id": "<of-resend@resend.dev>",
        "headers": [{ "name": "X-Mailmill-Message", "value": message.header("X-Mailmill-Message") }],
    });
    if kind != Kind::Complaint {
        let kind = if kind == Kind::Bounce { "Permanent" } else { "Transient" };
        data["bounce"] = json!({ "type": kind, "subType": "General", "message": REFUSAL });
    }
    let name = if kind == Kind::Complaint { "email.complained" } else { "email.bounced" };
    let body = json!({ "type": name, "created_at": "2026-01-01T12:00:01.000Z", "data": data }).to_string();
    let key = BASE64.decode(RESEND_SECRET.trim_start_matches("whsec_").as_bytes()).expect("base64");
    let signature = format!("v1,{}", BASE64.encode(&hmac(&key, &format!("{id}.{seconds}.{body}"))));
    let headers = vec![("svix-id", id.to_owned()), ("svix-timestamp", seconds.to_string()), ("svix-signature", signature)];
    Request { headers, body }
}

/// Amazon SES and SNS, with their own certificates: a root that the program trusts, a certificate of the host, and a certificate whose
/// key signs notifications.
pub struct Amazon {
    pair: RsaKeyPair,
    /// The signing certificate, which the host serves.
    pub signing_pem: String,
    /// The root in PEM.
    pub root_pem: String,
    /// The host's certificate chain and key.
    pub host_certificate: rustls_pki_types::CertificateDer<'static>,
    pub host_key: PrivateKeyDer<'static>,
}

impl Amazon {
    pub fn new() -> Self {
        let root_key = rcgen::KeyPair::generate().expect("a key");
        let mut root = CertificateParams::new(Vec::new()).expect("parameters");
        root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        root.distinguished_name.push(DnType::CommonName, "Test root");
        let root_pem = root.self_signed(&root_key).expect("a certificate").pem();
        let issuer = Issuer::new(root, root_key);
        let host_pair = rcgen::KeyPair::generate().expect("a key");
        let host = CertificateParams::new(vec![REGION_HOST.to_owned()]).expect("parameters");
        let host = host.signed_by(&host_pair, &issuer).expect("a certificate");
        let private = KeyPair::generate(Algorithm::Rsa).private;
        let document = pkcs8(private.expose());
        let signing_pair =
            rcgen::KeyPair::from_der_and_sign_algo(&PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(document)), &PKCS_RSA_SHA256);
        let mut signing = CertificateParams::new(Vec::new()).expect("parameters");
        signing.distinguished_name = rcgen::DistinguishedName::new();
        signing.distinguished_name.push(DnType::CommonName, "sns.amazonaws.com");
        let signing = signing.signed_by(&signing_pair.expect("the key is an RSA key"), &issuer).expect("a certificate");
        Self {
            pair: RsaKeyPair::from_der(private.expose()).expect("a key"),
            signing_pem: signing.pem(),
            root_pem,
            host_certificate: host.der().clone(),
            host_key: PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(host_pair.serialize_der())),
        }
    }

    /// Returns a notification of SES about a message, with the original headers.
    pub fn notification(&self, message: &RelayedMessage, kind: Kind, id: &str, at: &str) -> Request {
        let tag = message.header("X-SES-MESSAGE-TAGS").strip_prefix("mailmill=").expect("a tag");
        let mail = json!({
            "timestamp": at, "source": "news@example.com", "sourceArn": "arn:aws:ses:us-east-1:123456789012:identity/example.com",
            "sendingAccountId": "123456789012", "messageId": "00000138111222aa-33322211-cccc-cccc-cccc-ddddaaaa0680-000000",
            "destination": [message.recipient], "tags": { "ses:configuration-set": ["default"], "mailmill": [tag] },
        });
        let recipient =
            json!({ "emailAddress": message.recipient, "status": "5.1.1", "action": "failed", "diagnosticCode": REFUSAL });
        let event = match kind {
            Kind::Complaint => json!({
                "eventType": "Complaint", "mail": mail,
                "complaint": { "complainedRecipients": [{ "emailAddress": message.recipient }], "complaintFeedbackType": "abuse" },
            }),
            _ => json!({
                "eventType": "Bounce", "mail": mail,
                "bounce": {
                    "bounceType": if kind == Kind::Bounce { "Permanent" } else { "Transient" }, "bounceSubType": "General",
                    "bouncedRecipients": [recipient], "timestamp": at, "reportingMTA": "dsn; a8-70.smtp-out.amazonses.com",
                },
            }),
        };
        self.message("Notification", &event.to_string(), id, at)
    }

    /// Returns the message that asks for the confirmation of a subscription.
    pub fn confirmation(&self, id: &str, at: &str) -> Request {
        self.message("SubscriptionConfirmation", "You have chosen to subscribe to the topic.", id, at)
    }

    fn message(&self, kind: &str, text: &str, id: &str, at: &str) -> Request {
        let mut body = json!({
            "Type": kind, "MessageId": id, "TopicArn": TOPIC, "Message": text, "Timestamp": at, "SignatureVersion": "2",
            "SigningCertURL": format!("https://{REGION_HOST}/SimpleNotificationService-7f3a9c.pem"),
        });
        let mut names = vec!["Message", "MessageId", "Timestamp", "TopicArn", "Type"];
        if kind == "SubscriptionConfirmation" {
            body["Token"] = "2336412f37fb687f5d51e6e2425f004aedef4a1d".into();
            body["SubscribeURL"] = "https://evil.example/?Action=ConfirmSubscription".into();
            names = vec!["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"];
        }
        let signed: String = names.iter().map(|name| format!("{name}\n{}\n", body[*name].as_str().expect("text"))).collect();
        let mut signature = vec![0; self.pair.public().modulus_len()];
        self.pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), signed.as_bytes(), &mut signature).expect("signed");
        body["Signature"] = BASE64.encode(&signature).into();
        let headers = vec![("x-amz-sns-message-type", kind.to_owned()), ("content-type", "text/plain; charset=UTF-8".into())];
        Request { headers, body: body.to_string() }
    }
}

/// Wraps an RSA key in PKCS #8 (RFC 5208).
fn pkcs8(pkcs1: &[u8]) -> Vec<u8> {
    let rsa = [0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00];
    let wrap = |tag: u8, content: &[u8]| {
        let length = u16::try_from(content.len()).expect("a short key").to_be_bytes();
        [&[tag, 0x82], length.as_slice(), content].concat()
    };
    wrap(0x30, &[&[0x02, 0x01, 0x00], rsa.as_slice(), &wrap(0x04, pkcs1)].concat())
}
