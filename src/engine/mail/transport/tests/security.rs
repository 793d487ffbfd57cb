//! Tests that attackers can neither remove encryption nor read logins.

use super::*;
use crate::testing::mail_sink::certificate;

const OK: &str = "accepted: 250";

/// Returns a transport whose only relay has the URL `relay`, in which `PORT` stands for the sink's port. The names `relay.example` and
/// `other.example` resolve to the sink.
fn secure(sink: &MailSink, relay: &str, roots: Vec<CertificateDer<'static>>) -> Transport {
    let names = Names::default().with("relay.example", &["127.0.0.1"]).with("other.example", &["127.0.0.1"]);
    let relay = relay.replace("PORT", &sink.address.port().to_string());
    transport_with(&format!("relay = ['{relay}']"), names, patient(), roots, 25)
}

#[tokio::test]
async fn both_kinds_of_encryption_need_a_certificate_for_the_name_that_is_trusted() {
    let (root, tls) = certificate("relay.example");
    let starttls = SinkCapabilities { starttls: Some(tls.clone()), ..SinkCapabilities::default() };
    let from_the_start = SinkCapabilities { tls: Some(tls), ..SinkCapabilities::default() };
    for (capabilities, scheme) in [(starttls, "smtp"), (from_the_start, "smtps")] {
        let sink = MailSink::by(capabilities, |_, _| SinkAction::Usual);
        let relay = format!("{scheme}://relay.example:PORT");
        let transport = secure(&sink, &relay, vec![root.clone()]);
        let mut recorder = HandoffRecorder::new();
        for _ in 0..2 {
            let outcome = transport.deliver(&envelope("ana@example.com"), MESSAGE, &mut recorder).await;
            assert_eq!(short_form(&outcome), OK);
        }
        assert!(recorder.handoffs.iter().all(|how| how.encrypted && how.server == "relay.example"));
        assert!(sink.messages().iter().all(|c| c.talk.encrypted && c.body == MESSAGE));
        assert_eq!(sink.connections(), 1);
        let other = secure(&sink, &format!("{scheme}://other.example:PORT"), vec![root.clone()]);
        assert_eq!(deliver(&other, "ana@example.com").await, ("deferred at Tls: insecure".to_owned(), 0));
        let unknown = secure(&sink, &relay, Vec::new());
        assert_eq!(deliver(&unknown, "ana@example.com").await, ("deferred at Tls: insecure".to_owned(), 0));
    }
}

#[tokio::test]
async fn a_stripped_offer_of_encryption_stops_the_delivery() {
    let capabilities = SinkCapabilities { auth: "PLAIN LOGIN", ..SinkCapabilities::default() };
    let sink = MailSink::by(capabilities, |_, _| SinkAction::Usual);
    let transport = secure(&sink, "smtp://ana:pass@relay.example:PORT", Vec::new());
    assert_eq!(deliver(&transport, "ana@example.com").await, ("deferred at Tls: insecure".to_owned(), 0));
    let said: Vec<String> = sink.commands().into_iter().map(|(_, line)| line).collect();
    assert_eq!(said, ["EHLO mill.example"], "neither the password nor the message was sent");
}

#[tokio::test]
async fn clear_text_before_the_handshake_does_not_pass_for_encrypted_data() {
    let (root, tls) = certificate("relay.example");
    let capabilities = SinkCapabilities { starttls: Some(tls), ..SinkCapabilities::default() };
    let injected = SinkAction::Say("220 2.0.0 Go\r\n250-relay.example\r\n250 AUTH PLAIN".into());
    let sink = MailSink::always(capabilities.clone(), SmtpStage::StartTls, injected);
    let transport = secure(&sink, "smtp://ana:pass@relay.example:PORT", vec![root.clone()]);
    assert_eq!(deliver(&transport, "ana@example.com").await.0, "deferred at Tls: garbled");
    let sink = MailSink::always(capabilities, SmtpStage::StartTls, SinkAction::Say("454 4.7.0 Not now".into()));
    let transport = secure(&sink, "smtp://ana:pass@relay.example:PORT", vec![root]);
    assert_eq!(deliver(&transport, "ana@example.com").await.0, "deferred at Tls: 454");
}

#[tokio::test]
async fn encryption_that_breaks_at_the_dot_gives_unknown() {
    let (root, tls) = certificate("relay.example");
    let sink =
        MailSink::always(SinkCapabilities { tls: Some(tls), ..SinkCapabilities::default() }, SmtpStage::Dot, SinkAction::Alert);
    let transport = secure(&sink, "smtps://relay.example:PORT", vec![root]);
    assert_eq!(deliver(&transport, "ana@example.com").await, ("unknown: lost".to_owned(), 1));
}

#[tokio::test]
async fn every_kind_of_login_works_over_an_encrypted_connection() {
    let (root, tls) = certificate("relay.example");
    for (offered, relay, coded, mechanism) in [
        ("PLAIN LOGIN", "smtp://ana:pass@relay.example:PORT", "AGFuYQBwYXNz", "PLAIN"),
        ("LOGIN", "smtp://ana:pass@relay.example:PORT", "YW5h cGFzcw==", "LOGIN"),
        ("PLAIN LOGIN", "smtp://ana:pass@relay.example:PORT?auth=login", "YW5h cGFzcw==", "LOGIN"),
        (
            "PLAIN XOAUTH2",
            "smtp://ana@relay.example:PORT?auth=xoauth2&token=pass",
            "dXNlcj1hbmEBYXV0aD1CZWFyZXIgcGFzcwEB",
            "XOAUTH2",
        ),
    ] {
        let capabilities = SinkCapabilities {
            auth: offered,
            logins: vec![coded.to_owned()],
            starttls: Some(tls.clone()),
            ..SinkCapabilities::default()
        };
        let sink = MailSink::by(capabilities, |_, _| SinkAction::Usual);
        assert_eq!(deliver(&secure(&sink, relay, vec![root.clone()]), "ana@example.com").await.0, OK, "{relay}");
        assert_eq!(sink.messages()[0].talk.login, Some(format!("{mechanism} {coded}")));
        let wrong = secure(&sink, &relay.replace("pass", "other"), vec![root.clone()]);
        assert_eq!(deliver(&wrong, "ana@example.com").await, ("deferred at Login: 535".to_owned(), 0), "{relay}");
        let capabilities = SinkCapabilities { auth: "CRAM-MD5", starttls: Some(tls.clone()), ..SinkCapabilities::default() };
        let sink = MailSink::by(capabilities, |_, _| SinkAction::Usual);
        let none = secure(&sink, relay, vec![root.clone()]);
        assert_eq!(deliver(&none, "ana@example.com").await, ("deferred at Login: no login".to_owned(), 0), "{relay}");
    }
}

#[tokio::test]
async fn a_login_without_encryption_is_possible_on_this_machine_only() {
    let capabilities = SinkCapabilities { auth: "PLAIN", logins: vec!["AGFuYQBwYXNz".to_owned()], ..SinkCapabilities::default() };
    let sink = MailSink::by(capabilities, |_, _| SinkAction::Usual);
    let here = secure(&sink, "smtp://ana:pass@127.0.0.1:PORT", Vec::new());
    assert_eq!(deliver(&here, "ana@example.com").await.0, OK);
    let elsewhere = secure(&sink, "smtp://relay.example:PORT?tls=off", Vec::new());
    assert_eq!(deliver(&elsewhere, "ana@example.com").await.0, OK);
    assert_eq!(sink.messages().iter().map(|c| c.talk.login.is_some()).collect::<Vec<_>>(), [true, false]);
}
