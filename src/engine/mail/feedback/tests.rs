//! Tests how requests are checked and how their events are translated, with requests in the format of each mail service.

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

use super::sample::{Content, Sample, sample};
use super::sns::{Message, MessageType, PublicKey};
use super::*;
use crate::engine::mail::inbound::ReplyClass::{Content as ContentClass, Hard, Policy, Soft, Unknown};

const NOW: Timestamp = Timestamp(1_767_225_600_000);
const TOPIC: &str = "arn:aws:sns:us-east-1:123456789012:bounces";
const CONTENT: Content<'_> = Content { token: "abcdefghijklmnopqrstuvwxyz234567", id: "sample-1", topic: TOPIC, now: NOW };
const WHSEC: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// A certificate and signatures that an independent implementation created with a key for this test.
const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----\n\
    MIICqzCCAZOgAwIBAgIBBzANBgkqhkiG9w0BAQsFADAWMRQwEgYDVQQDDAtUZXN0\n\
    IGlzc3VlcjAeFw0yNTAxMDEwMDAwMDBaFw0yNzAxMDEwMDAwMDBaMBwxGjAYBgNV\n\
    BAMMEXNucy5hbWF6b25hd3MuY29tMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIB\n\
    CgKCAQEAw2oQksGULbQ4Y1XL1TFys7qr/jYSrViipwFMYjUSLw3cIfHvjZ7R9pXG\n\
    /fgo+2srl3H/OoatAVtQjZYjDiIXAe/LfRASELTX2cNIMKb0SgWCj0/b6ypXqWW9\n\
    ltp0m4t2yJgPKOgxtKBbyujclDSH+XSHT9HJfgd9cB17vHngQYdBMP7RClmLLHnp\n\
    vf24GjrxpgZy4BTkgpBzS08x37SRGIQRg8El4KuU5HwZrUv2KsQGGU3NFLoky3GT\n\
    0qOusUkmVYdAN/jccGi/dCqlXQVZcN5QjFuE20aIf0dNCjnr2YCZxbHJnP+TLIyu\n\
    YcVnds+i8ngkUE7ctuFqHCq/Om/xnQIDAQABMA0GCSqGSIb3DQEBCwUAA4IBAQCz\n\
    TCKdF9/vBPdJ8xkZDOsyXIkUZa9dwNK4rJEPJLZI4MqrYxSVOGAUU4lUJGNBhVCu\n\
    +oMOw6Un6n9V60TKhKPLDluCuGjGqkm6THisJVZIVkU/TUElimIdCRa/bFPtxc3G\n\
    U56ifTitWyVK5gDsT2jjEtPXhIeI1QCiM2tyeg6bPglVRvpCOi1k7nHqQ2ugqQTC\n\
    kCaA2IAU6ydraIpZoVUVDt4HZCtkiz1znnXfySxRrl217qcSUVgFnYlS0MWKiBBg\n\
    kIxQw/+Cw1Ee84d2D7vOe9DrD07+ZVFbsYn8JzvXVUXQCfluihZPVzzCR4jZOXBs\n\
    T7qGPOi5KRVN01u5T8IV\n\
    -----END CERTIFICATE-----\n";
const SIGNATURE_1: &str = "i245cpETrzMXAzmM3qSDr7MOvVMA9Y+8SgzqIqhDmwY7RED1WYpPkephbYrOI9hovmbkjdRKdXVWVNyPakGnSOdYJAhFsxAw0SgeQ1DQIdHYZievNqcxVYR4\
    djRacMuqBMxORLP9cy0y9ltw9e8DHIU212pN7f1HHNkX1Pv+6R2NNUZ9JTDVQMAIilNfjMMazhYKdybyNwO0hIs9FhOIxnEJqiimnY4ThKdN3egnZ6K3EQhJ\
    W95S4IOf12r04EnQ7fKh61/p5FofIBjkuvVd6oEDrBLFR3tAB66kdNfXSlKPX+RNr24BiDqw6beTg7kO6hHtBxB14LgYURUe5eFQlQ==";
const SIGNATURE_2: &str = "C0mWopOwlE4oxdpKB33/AYtuZlTAKToeq7cpUQ3kXewNm38eA2HiztkAdoFroPUsTJGmJDsUVV3BppFcvvKB+T5oaSmNJssrZRVVQz0JVAmJSKSe9BhxwIzT\
    VvLJg3/ip7/FmomgfmiDNdxpSfPSqkP2jIIFq6tKdSIyZ4b/WNBjCDD8p35Lmkoxt7M6RXHhh3ym6hgEZcfA4qPWV1j6ptCWXXrBYDBY6ha2Ye0EPHIYZDkh\
    efjhETZV9zKygE1xwQza/MLEohehS8X2VZdBLtLSMvBeK5XiVI3M79c5iFy0MvH+usscol3tMIbkxPivO/YlKmnk6BeM8bKfVEP2SQ==";
const SIGNATURE_OF_CONFIRMATION: &str = "IUhyvL5tlUU9If8TMYufBPdyHZtfupEqfV7bWGlqlryMjc1nrg0FjYlapZT9fkmxkuSibfSETvIA/D1QpKq3bU/IxHws6cXRokHKpGdqFhZYvlJGKE4PAP8L\
    0a9bvC2ePUaZXprtF6nqyWrtkCfajP2fjzZrCE+SU7cgBcki0JJqXxjUxR1y3Raahy4+QUFOsc+i/yeRO+JS7GHfsHLQlq1IaE4MoVf7QrzPLm2wyDE9QD8G\
    Nup4L75Fil5IelNBSBcXdMQichkl63Wef7EOUPM/pfzk3hnBUBmUd+msy/p387x+cQh9EbAPxA7I61LiTqiyU9xclUSY9rJZhzGXyw==";

fn secret_of(service: MailService) -> Option<&'static str> {
    match service {
        MailService::AmazonSes => None,
        MailService::Postmark => Some("user:pass word"),
        MailService::Mailgun => Some("key-1"),
        MailService::Sendgrid => Some("replaced by the key of the sample"),
        MailService::Brevo => Some("token-1"),
        MailService::Resend => Some(WHSEC),
    }
}

fn read_sample(service: MailService, sample: &Sample, now: Timestamp) -> Result<Report, Refusal> {
    let secret = sample.secret.as_deref().or(secret_of(service));
    let report = match &sample.key {
        Some(key) => {
            let message = Message::parse(&sample.body)?;
            message.verify(key, now).and_then(|()| message.report())
        }
        None => read(service, &Request { headers: &sample.headers, body: &sample.body, now }, secret),
    }?;
    Ok(report)
}

#[test]
fn the_sample_of_every_service_is_a_hard_bounce_with_the_token() {
    for service in MailService::ALL {
        let made = sample(service, secret_of(service), &CONTENT);
        let report = read_sample(service, &made, NOW).unwrap_or_else(|refusal| panic!("{service:?}: {refusal:?}"));
        assert_eq!(report.events.len(), 1, "{service:?}");
        let event = &report.events[0];
        assert!(event.texts.iter().any(|text| text.contains(CONTENT.token)), "{service:?}: {event:?}");
        assert!(matches!(event.kind, EventKind::Bounced { class: Hard, .. }), "{service:?}: {event:?}");
    }
}

#[test]
fn changed_unsigned_and_old_requests_are_rejected() {
    for service in MailService::ALL {
        let made = sample(service, secret_of(service), &CONTENT);
        let day = limits::MAIL_FEEDBACK_AGE_MAX_MS;
        if !matches!(service, MailService::Postmark | MailService::Brevo) {
            for ms in [day + 1_000, -limits::MAIL_FEEDBACK_CLOCK_MS_MAX - 1_000] {
                assert_eq!(read_sample(service, &made, NOW.plus_ms(ms)), Err(Refusal::WrongTime), "{service:?} {ms}");
            }
        }
        let other = Sample { headers: HeaderMap::new(), ..sample(service, secret_of(service), &CONTENT) };
        if !matches!(service, MailService::AmazonSes | MailService::Mailgun) {
            assert_eq!(read_sample(service, &other, NOW), Err(Refusal::SignatureMissing), "{service:?}");
        }
        // Amazon SES, SendGrid and Resend sign the body. Mailgun signs only a time and a token, and the other services send credentials
        // instead of a signature.
        if matches!(service, MailService::AmazonSes | MailService::Sendgrid | MailService::Resend) {
            let body = String::from_utf8(made.body.clone()).expect("the body is JSON").replace("missing@", "changed@");
            let changed = Sample { body: body.into_bytes(), ..made };
            assert_eq!(read_sample(service, &changed, NOW), Err(Refusal::SignatureWrong), "{service:?}");
        }
    }
    let retried = sample(MailService::Resend, Some(WHSEC), &CONTENT);
    assert_eq!(
        read_sample(MailService::Resend, &retried, NOW.plus_ms(301_000)),
        Err(Refusal::WrongTime),
        "each attempt is signed again"
    );
}

#[test]
fn wrong_secrets_are_rejected_and_a_missing_secret_accepts_nothing() {
    for (service, wrong) in [
        (MailService::Postmark, "user:other"),
        (MailService::Mailgun, "key-2"),
        (MailService::Brevo, "token-2"),
        (MailService::Resend, "whsec_BBECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="),
    ] {
        let made = sample(service, secret_of(service), &CONTENT);
        let request = Request { headers: &made.headers, body: &made.body, now: NOW };
        assert_eq!(read(service, &request, Some(wrong)), Err(Refusal::SignatureWrong), "{service:?}");
        let without = read(service, &request, None);
        match service {
            MailService::Postmark => assert!(without.is_ok(), "the secret in the URL is enough"),
            _ => assert_eq!(without, Err(Refusal::SecretMissing), "{service:?}"),
        }
    }
    let (made, other) = (sample(MailService::Sendgrid, None, &CONTENT), sample(MailService::Sendgrid, None, &CONTENT));
    let request = Request { headers: &made.headers, body: &made.body, now: NOW };
    assert_eq!(read(MailService::Sendgrid, &request, other.secret.as_deref()), Err(Refusal::SignatureWrong));
}

/// Returns the kind of an event that a service reports.
fn kind(service: MailService, event: Value) -> EventKind {
    let mut headers = HeaderMap::new();
    let (body, secret) = match service {
        MailService::AmazonSes => return amazon_ses::read(&event.to_string()).expect("an event").kind,
        MailService::Mailgun => {
            let sum = hmac(b"key-1", &[b"1767225600", b"t"]);
            let signature = data_encoding::HEXLOWER.encode(&sum);
            let signature = json!({ "timestamp": "1767225600", "token": "t", "signature": signature });
            (json!({ "signature": signature, "event-data": event }), "key-1")
        }
        MailService::Resend => {
            let made = event.to_string();
            let key = resend::key(WHSEC).expect("a secret");
            let signature = BASE64.encode(&resend::signature(&key, "m", "1767225600", made.as_bytes()));
            for (name, value) in
                [(resend::ID, "m"), (resend::TIMESTAMP, "1767225600"), (resend::SIGNATURE, &format!("v1,x v1,{signature}"))]
            {
                headers.insert(name, HeaderValue::from_str(value).expect("ASCII"));
            }
            (event, WHSEC)
        }
        _ => {
            headers.insert(AUTHORIZATION, HeaderValue::from_static("Basic dTpw"));
            (event, "u:p")
        }
    };
    let text = body.to_string();
    let request = Request { headers: &headers, body: text.as_bytes(), now: NOW };
    let report = read(service, &request, Some(secret)).unwrap_or_else(|refusal| panic!("{service:?} {body}: {refusal:?}"));
    report.events[0].kind.clone()
}

fn class(service: MailService, event: Value) -> ReplyClass {
    match kind(service, event.clone()) {
        EventKind::Bounced { class, .. } => class,
        other => panic!("{service:?} {event}: {other:?}"),
    }
}

#[test]
fn only_bounces_about_the_address_are_hard() {
    let ses = |kind: &str, subkind: &str, said: &str| {
        let recipient = json!([{ "emailAddress": "a@example.com", "diagnosticCode": said }]);
        let bounce = json!({ "bounceType": kind, "bounceSubType": subkind, "bouncedRecipients": recipient });
        class(MailService::AmazonSes, json!({ "notificationType": "Bounce", "bounce": bounce, "mail": {} }))
    };
    assert_eq!(ses("Permanent", "General", "smtp; 550 5.1.1 user unknown"), Hard);
    assert_eq!(ses("Permanent", "NoEmail", ""), Hard);
    assert_eq!(ses("Permanent", "General", "smtp; 550 5.7.1 blocked using Spamhaus"), Policy, "a reputation bounce");
    assert_eq!(ses("Transient", "MailboxFull", "smtp; 452 4.2.2 full"), Soft);
    assert_eq!(ses("Transient", "ContentRejected", ""), ContentClass);
    assert_eq!(ses("Undetermined", "Undetermined", ""), Unknown);
    let postmark = |kind: &str| class(MailService::Postmark, json!({ "RecordType": "Bounce", "Type": kind, "Details": "x" }));
    for (kind, expected) in [
        ("HardBounce", Hard),
        ("BadEmailAddress", Hard),
        ("SoftBounce", Soft),
        ("Blocked", Policy),
        ("DMARCPolicy", Policy),
        ("SpamNotification", ContentClass),
    ] {
        assert_eq!(postmark(kind), expected, "{kind}");
    }
    for delay in ["Transient", "DnsError"] {
        let event = json!({ "RecordType": "Bounce", "Type": delay, "Details": "4.4.1 delayed" });
        assert_eq!(kind(MailService::Postmark, event), EventKind::Other, "{delay}: Postmark tries again");
    }
    let delay = json!({ "eventType": "DeliveryDelay", "deliveryDelay": { "delayType": "MailboxFull" }, "mail": {} });
    assert_eq!(kind(MailService::AmazonSes, delay), EventKind::Other);
    let mailgun = |reason: &str, said: &str| {
        let event =
            json!({ "event": "failed", "severity": "permanent", "reason": reason, "delivery-status": { "message": said } });
        class(MailService::Mailgun, event)
    };
    assert_eq!((mailgun("bounce", "5.1.1 unknown user"), mailgun("suppress-bounce", "")), (Hard, Hard));
    assert_eq!((mailgun("bounce", "550 5.7.26 unauthenticated"), mailgun("espblock", "")), (Policy, Policy));
    assert_eq!((mailgun("old", ""), mailgun("generic", "strange")), (Soft, Unknown));
    let brevo = |event: &str| class(MailService::Brevo, json!({ "event": event, "reason": "x" }));
    assert_eq!(
        [brevo("hard_bounce"), brevo("invalid_email"), brevo("soft_bounce"), brevo("blocked")],
        [Hard, Hard, Soft, Policy]
    );
    let resend = |kind: &str| {
        class(
            MailService::Resend,
            json!({ "type": "email.bounced", "data": { "bounce": { "type": kind, "subType": "General", "message": "x" } } }),
        )
    };
    assert_eq!([resend("Permanent"), resend("Transient"), resend("Undetermined")], [Hard, Soft, Unknown]);
    // Regression test: suppressed and failed messages were counted as sent, because Resend does not report them as bounces.
    let suppressed =
        json!({ "suppressed": { "message": "The address is on the suppression list.", "type": "OnAccountSuppressionList" } });
    let failed = json!({ "failed": { "reason": "reached_daily_quota" } });
    for (name, data, expected) in [("email.suppressed", suppressed, Hard), ("email.failed", failed, Policy)] {
        assert_eq!(class(MailService::Resend, json!({ "type": name, "data": data })), expected, "{name}");
    }
}

#[test]
fn a_hard_class_with_the_status_of_a_full_mailbox_is_soft() {
    let full = "552 5.2.2 The email account that you tried to reach is over quota";
    let recipient = json!([{ "emailAddress": "a@example.com", "status": "5.2.2", "diagnosticCode": "smtp; 552 refused" }]);
    let bounce = json!({ "bounceType": "Permanent", "bounceSubType": "General", "bouncedRecipients": recipient });
    for (service, event) in [
        (MailService::AmazonSes, json!({ "notificationType": "Bounce", "bounce": bounce, "mail": {} })),
        (MailService::Postmark, json!({ "RecordType": "Bounce", "Type": "HardBounce", "Details": full })),
        (
            MailService::Mailgun,
            json!({ "event": "failed", "severity": "permanent", "reason": "bounce", "delivery-status": { "message": full } }),
        ),
        (MailService::Brevo, json!({ "event": "hard_bounce", "reason": full })),
        (
            MailService::Resend,
            json!({ "type": "email.bounced", "data": { "bounce": { "type": "Permanent", "subType": "General", "message": full } } }),
        ),
    ] {
        assert_eq!(class(service, event), Soft, "{service:?}");
    }
}

#[test]
fn a_forged_request_of_mailgun_is_rejected_before_its_event_is_read() {
    let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
    let signature = json!({ "timestamp": "1767225600", "token": "t", "signature": "00" });
    for (signature, expected) in [(signature, Refusal::SignatureWrong), (json!({ "token": "t" }), Refusal::SignatureMissing)] {
        let body = format!("{{\"event-data\":{deep},\"signature\":{signature}}}");
        let request = Request { headers: &HeaderMap::new(), body: body.as_bytes(), now: NOW };
        assert_eq!(read(MailService::Mailgun, &request, Some("key-1")), Err(expected));
    }
}

#[test]
fn sentences_name_what_the_service_has() {
    for service in MailService::ALL {
        let is_about_secret = Refusal::SignatureWrong.sentence(service).contains("secret");
        assert_eq!(is_about_secret, service != MailService::AmazonSes, "{service:?}");
    }
}

#[test]
fn the_samples_of_a_process_share_the_slow_key() {
    let key = || sample(MailService::AmazonSes, None, &CONTENT).key.expect("a temporary key");
    assert_eq!(key(), key());
}

#[test]
fn every_bounce_of_sendgrid_has_the_class_of_its_classification() {
    let events = json!([
        { "event": "bounce", "type": "bounce", "reason": "550 5.1.1 unknown" },
        { "event": "bounce", "type": "bounce", "bounce_classification": "Invalid Address", "reason": "x" },
        { "event": "bounce", "type": "blocked", "reason": "550 5.7.1 refused" },
        { "event": "bounce", "type": "blocked", "bounce_classification": "Invalid Address", "reason": "x" },
        { "event": "bounce", "type": "bounce", "bounce_classification": "Mailbox Unavailable", "reason": "552 5.2.2 over quota" },
        { "event": "bounce", "type": "blocked", "bounce_classification": "Reputation", "reason": "x" },
        { "event": "bounce", "type": "bounce", "bounce_classification": "Content", "reason": "x" },
        { "event": "dropped", "reason": "Bounced Address" },
        { "event": "dropped", "reason": "Spam Content" },
        { "event": "deferred", "reason": "451 later" },
        { "event": "spamreport" },
        { "event": "dropped", "reason": "Unsubscribed Address" },
        { "event": "group_unsubscribe" },
        { "event": "delivered", "smtp-id": "<a@example.com>" },
    ]);
    let random = ring::rand::SystemRandom::new();
    let algorithm = &ring::signature::ECDSA_P256_SHA256_ASN1_SIGNING;
    let document = ring::signature::EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("a key");
    let pair = ring::signature::EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).expect("a key");
    let public = ring::signature::KeyPair::public_key(&pair).as_ref();
    let key = BASE64.encode(&[sendgrid::P256_PREFIX.as_slice(), public].concat());
    let body = events.to_string();
    let signature = pair.sign(&random, format!("1767225600{body}").as_bytes()).expect("signed");
    let mut headers = HeaderMap::new();
    headers.insert(sendgrid::SIGNATURE, HeaderValue::from_str(&BASE64.encode(signature.as_ref())).expect("ASCII"));
    headers.insert(sendgrid::TIMESTAMP, HeaderValue::from_static("1767225600"));
    let request = Request { headers: &headers, body: body.as_bytes(), now: NOW };
    let report = read(MailService::Sendgrid, &request, Some(&key)).expect("the batch is accepted");
    let classes: Vec<ReplyClass> = report
        .events
        .iter()
        .filter_map(|event| if let EventKind::Bounced { class, .. } = event.kind { Some(class) } else { None })
        .collect();
    assert_eq!(classes, [Hard, Hard, Policy, Policy, Soft, Policy, ContentClass, Hard, Policy]);
    let others: Vec<&EventKind> = report.events[9..].iter().map(|event| &event.kind).collect();
    let complaint = EventKind::Complained { kind: "abuse".into() };
    let expected = [&EventKind::Other, &complaint, &EventKind::Unsubscribed, &EventKind::Unsubscribed, &EventKind::Delivered];
    assert_eq!(others, expected);
}

#[test]
fn complaints_unsubscribes_and_deliveries_of_every_service_are_read() {
    let complaint = EventKind::Complained { kind: "abuse".into() };
    let ses = |event: &str, name: &str, value: Value| {
        kind(MailService::AmazonSes, json!({ "eventType": event, name: value, "mail": { "source": "x" } }))
    };
    assert_eq!(ses("Complaint", "complaint", json!({ "complaintFeedbackType": "abuse" })), complaint);
    assert_eq!(ses("Complaint", "complaint", json!({ "complaintFeedbackType": "not-spam" })), EventKind::Other);
    assert_eq!(ses("Delivery", "delivery", json!({})), EventKind::Delivered);
    let topics = json!({ "newTopicPreferences": { "unsubscribeAll": true } });
    assert_eq!(ses("Subscription", "subscription", topics), EventKind::Unsubscribed);
    assert_eq!(ses("Open", "open", json!({})), EventKind::Other);
    let postmark = |event: Value| kind(MailService::Postmark, event);
    assert_eq!(postmark(json!({ "RecordType": "SpamComplaint", "Type": "SpamComplaint" })), complaint);
    assert_eq!(postmark(json!({ "RecordType": "Delivery" })), EventKind::Delivered);
    let change = |suppress: bool, origin: &str| {
        postmark(json!({
            "RecordType": "SubscriptionChange", "SuppressSending": suppress, "SuppressionReason": "ManualSuppression", "Origin": origin,
        }))
    };
    assert_eq!(
        [change(true, "Recipient"), change(false, "Recipient"), change(true, "Customer")],
        [EventKind::Unsubscribed, EventKind::Other, EventKind::Other]
    );
    assert_eq!(postmark(json!({ "RecordType": "Bounce", "Type": "AutoResponder" })), EventKind::Other);
    let mailgun = |event: &str| kind(MailService::Mailgun, json!({ "event": event, "severity": "temporary" }));
    assert_eq!([mailgun("complained"), mailgun("failed")], [complaint.clone(), EventKind::Other]);
    assert_eq!([mailgun("unsubscribed"), mailgun("delivered")], [EventKind::Unsubscribed, EventKind::Delivered]);
    let brevo = |event: &str| kind(MailService::Brevo, json!({ "event": event }));
    assert_eq!([brevo("spam"), brevo("complaint")], [complaint.clone(), complaint.clone()]);
    assert_eq!([brevo("unsubscribed"), brevo("delivered")], [EventKind::Unsubscribed, EventKind::Delivered]);
    assert_eq!(kind(MailService::Brevo, json!([{ "event": "deferred" }])), EventKind::Other);
    let resend = |event: &str| kind(MailService::Resend, json!({ "type": event, "data": {} }));
    assert_eq!([resend("email.complained"), resend("email.delivered")], [complaint, EventKind::Delivered]);
}

fn notification(version: &str, signature: &str) -> Message {
    let body = json!({
        "Type": "Notification", "MessageId": "5f3c1b2a-0001", "TopicArn": TOPIC, "Subject": "SES",
        "Message": "{\"notificationType\":\"Delivery\",\"mail\":{\"source\":\"a@example.com\"}}",
        "Timestamp": "2026-01-01T00:00:00.000Z", "SignatureVersion": version, "Signature": signature,
        "SigningCertURL": "https://sns.us-east-1.amazonaws.com/SimpleNotificationService-0123abc.pem",
        "UnsubscribeURL": "https://sns.us-east-1.amazonaws.com/?Action=Unsubscribe",
    });
    Message::parse(body.to_string().as_bytes()).expect("a message")
}

#[test]
fn both_versions_of_sns_signatures_match_another_implementation() {
    let key = PublicKey::of_certificate(CERTIFICATE.as_bytes(), NOW).expect("the certificate is valid");
    for (version, signature) in [("1", SIGNATURE_1), ("2", SIGNATURE_2)] {
        let message = notification(version, signature);
        assert_eq!(message.verify(&key, NOW), Ok(()), "{version}");
        assert_eq!(message.report().expect("an event").events[0].kind, EventKind::Delivered);
        let changed = Message { text: message.text.replace("Delivery", "Complaint"), ..message.clone() };
        assert_eq!(changed.verify(&key, NOW), Err(Refusal::SignatureWrong), "{version}");
        let topic = Message { topic_arn: TOPIC.replace("bounces", "other"), ..message };
        assert_eq!(topic.verify(&key, NOW), Err(Refusal::SignatureWrong), "{version}");
    }
    assert_eq!(notification("1", SIGNATURE_2).verify(&key, NOW), Err(Refusal::SignatureWrong));
    assert_eq!(notification("3", SIGNATURE_2).verify(&key, NOW), Err(Refusal::SignatureWrong));
    let year = 366 * 24 * 60 * 60 * 1000;
    for at in [NOW.plus_ms(year), NOW.plus_ms(-2 * year)] {
        assert_eq!(PublicKey::of_certificate(CERTIFICATE.as_bytes(), at), Err(Refusal::SignatureWrong), "not valid at {at}");
    }
    assert_eq!(PublicKey::of_certificate(b"-----BEGIN", NOW), Err(Refusal::SignatureWrong));
}

#[test]
fn the_url_that_confirms_a_subscription_is_ours() {
    let key = PublicKey::of_certificate(CERTIFICATE.as_bytes(), NOW).expect("the certificate is valid");
    let message = Message {
        kind: MessageType::SubscriptionConfirmation,
        message_id: "5f3c1b2a-0002".into(),
        text: "m".into(),
        subject: None,
        subscribe_url: Some("https://evil.example/".into()),
        token: Some("2336 4f+/=".into()),
        ..notification("2", SIGNATURE_OF_CONFIRMATION)
    };
    assert_eq!(message.verify(&key, NOW), Ok(()));
    let url = message.confirmation_url().expect("a URL").to_string();
    let query = "Action=ConfirmSubscription&TopicArn=arn%3Aaws%3Asns%3Aus-east-1%3A123456789012%3Abounces&Token=2336+4f%2B%2F%3D";
    assert_eq!(url, format!("https://sns.us-east-1.amazonaws.com/?{query}&Version=2010-03-31"));
}

#[test]
fn only_certificates_of_the_topics_own_region_are_fetched() {
    let with = |topic: &str, url: &str| {
        let message = Message { topic_arn: topic.into(), signing_cert_url: url.into(), ..notification("2", "") };
        message.certificate_url().map(|url| url.to_string())
    };
    let own = "https://sns.us-east-1.amazonaws.com/SimpleNotificationService-0123abc.pem";
    assert_eq!(with(TOPIC, own).as_deref(), Ok(own));
    let government = "https://sns.us-gov-west-1.amazonaws.com/SimpleNotificationService-1.pem";
    assert_eq!(with("arn:aws-us-gov:sns:us-gov-west-1:123456789012:b", government).as_deref(), Ok(government));
    let china = "https://sns.cn-north-1.amazonaws.com.cn/SimpleNotificationService-1.pem";
    assert_eq!(with("arn:aws-cn:sns:cn-north-1:123456789012:b", china).as_deref(), Ok(china));
    for other in [
        "http://sns.us-east-1.amazonaws.com/SimpleNotificationService-1.pem",
        "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem",
        "https://sns.us-east-1.amazonaws.com.evil.example/SimpleNotificationService-1.pem",
        "https://sns.us-east-1.amazonaws.com@evil.example/SimpleNotificationService-1.pem",
        "https://user@sns.us-east-1.amazonaws.com/SimpleNotificationService-1.pem",
        "https://sns.us-east-1.amazonaws.com:8443/SimpleNotificationService-1.pem",
        "https://sns.us-east-1.amazonaws.com/bucket/SimpleNotificationService-1.pem",
        "https://sns.us-east-1.amazonaws.com/SimpleNotificationService-.pem",
        "https://sns.us-east-1.amazonaws.com/SimpleNotificationService-1.pem?x=1",
        "https://sns.us-east-1.amazonaws.com/%53impleNotificationService-1.pem/../x",
        "https://s3.amazonaws.com/SimpleNotificationService-1.pem",
        "https://127.0.0.1/SimpleNotificationService-1.pem",
        "",
    ] {
        assert_eq!(with(TOPIC, other), Err(Refusal::SignatureWrong), "{other}");
    }
    for topic in [
        "",
        "arn:aws:sns:us-east-1.evil.example/:123456789012:b",
        "arn:aws:sqs:us-east-1:123456789012:b",
        "arn:aws:sns:us-east-1:1:b",
        "arn:aws:sns:s3:123456789012:b",
        "arn:aws:sns:s3-website-us-east-1:123456789012:b",
        "arn:aws:sns:us-1:123456789012:b",
        "arn:aws:sns:us-east-:123456789012:b",
    ] {
        assert_eq!(with(topic, own), Err(Refusal::TopicUnknown), "{topic}");
    }
}

#[test]
fn secrets_are_checked_when_they_are_entered() {
    for (service, secret, is_right) in [
        (MailService::AmazonSes, "x", false),
        (MailService::Postmark, "user:password", true),
        (MailService::Postmark, "password", false),
        (MailService::Mailgun, "key", true),
        (MailService::Sendgrid, "MFkw", false),
        (MailService::Brevo, "token", true),
        (MailService::Resend, WHSEC, true),
        (MailService::Resend, "whsec_", false),
        (MailService::Resend, "re_123", false),
    ] {
        assert_eq!(secret_error(service, secret).is_none(), is_right, "{service:?} {secret}");
    }
    let made = sample(MailService::Sendgrid, None, &CONTENT);
    assert_eq!(secret_error(MailService::Sendgrid, &made.secret.expect("a temporary key")), None);
}

proptest::proptest! {
    #[test]
    fn no_body_makes_reading_panic(body in "\\PC{0,200}", service in 0..6usize) {
        let headers = HeaderMap::new();
        let request = Request { headers: &headers, body: body.as_bytes(), now: NOW };
        let _ = read(MailService::ALL[service], &request, Some("u:p"));
        let _ = Message::parse(body.as_bytes());
        let _ = amazon_ses::read(&body);
    }
}
