//! Tests direct delivery to the recipients' own servers.

use std::net::SocketAddr;

use super::*;
use crate::testing::mail_sink::certificate;
use crate::vocab::limits::SMTP_EXCHANGER_PAUSE_MIN;

const OK: &str = "accepted: 250";

fn direct(names: Names, port: u16) -> Transport {
    transport_with("direct = true", names, patient(), Vec::new(), port)
}

/// Starts a server for each greeting: the first one at 127.0.0.1, the others at the following addresses, all on the same port. A server
/// closes the connection after its greeting. An empty string means that the server behaves as usual instead.
fn sinks(greetings: &'static [&'static str]) -> Vec<MailSink> {
    let mut sinks: Vec<MailSink> = Vec::new();
    for (greeting, last) in greetings.iter().zip(1..) {
        let port = sinks.first().map_or(0, |sink| sink.address.port());
        let address = SocketAddr::new(IpAddr::from([127, 0, 0, last]), port);
        sinks.push(MailSink::at(address, SinkCapabilities::default(), true, move |_, moment| match moment {
            SmtpStage::Greeting if !greeting.is_empty() => SinkAction::SayThenClose((*greeting).to_owned()),
            _ => SinkAction::Usual,
        }));
    }
    sinks
}

#[tokio::test]
async fn servers_are_tried_in_order_of_preference_until_one_can_be_used() {
    let sinks = sinks(&["554 5.7.1 No", "421 4.3.2 Busy", "", ""]);
    let names = Names::default()
        .with("down.example", &["127.0.0.99"])
        .with("no.example", &["127.0.0.1"])
        .with("busy.example", &["127.0.0.2"])
        .with("good.example", &["127.0.0.98", "127.0.0.3"])
        .with("last.example", &["127.0.0.4"])
        .with_mx(
            "example.com",
            &[(40, "last.example"), (10, "down.example"), (20, "No.Example."), (20, "busy.example"), (30, "good.example")],
        );
    let transport = direct(names, sinks[0].address.port());
    let mut recorder = HandoffRecorder::new();
    for _ in 0..3 {
        let outcome = transport.deliver(&envelope("ana@Example.com"), MESSAGE, &mut recorder).await;
        assert_eq!(short_form(&outcome), OK);
    }
    assert_eq!((sinks[2].count(), sinks[3].count()), (3, 0));
    assert_eq!(sinks[2].connections(), 1, "the connection is kept for the next message");
    assert!(sinks[0].connections() >= 1 && sinks[1].connections() >= 1);
    assert!(recorder.handoffs.iter().all(|how| how.server == "good.example" && how.address == Some(sinks[2].address)));
}

#[tokio::test]
async fn servers_of_equal_preference_share_the_load() {
    let sinks = sinks(&["", ""]);
    let names = Names::default()
        .with("a.example", &["127.0.0.1"])
        .with("b.example", &["127.0.0.2"])
        .with_mx("example.com", &[(10, "a.example"), (10, "b.example")]);
    let transport = direct(names, sinks[0].address.port());
    for _ in 0..30 {
        assert_eq!(deliver(&transport, "ana@example.com").await.0, OK);
    }
    assert!(sinks.iter().all(|sink| sink.count() >= 5), "{} and {}", sinks[0].count(), sinks[1].count());
}

#[tokio::test]
async fn the_dns_decides_which_failures_are_final() {
    let sink = MailSink::usual();
    let names = Names::default()
        .with("implicit.example", &["127.0.0.1"])
        .with("bare.example", &[])
        .with("inside.example", &["10.0.0.1"])
        .with_mx("null.example", &[(0, ".")])
        .with_mx("inward.example", &[(0, "inside.example")])
        .with_mx("lost.example", &[(0, "nowhere.example")]);
    let transport = direct(names, sink.address.port());
    for (recipient, expected) in [
        ("ana@implicit.example", OK),
        ("ana@bare.example", "refused at Route: 550"),
        ("ana@nowhere.example", "refused at Route: 550"),
        ("ana@null.example", "refused at Route: 556"),
        ("ana@broken.example", "deferred at Route: unresolved"),
        ("ana@inward.example", "deferred at Route: unresolved"),
        ("ana@lost.example", "deferred at Route: unresolved"),
        ("ana@lost.example", "deferred at Connect: left alone"),
    ] {
        assert_eq!(deliver(&transport, recipient).await.0, expected, "{recipient}");
    }
    // The next message to a paused server is not attempted; other servers are not affected.
    let Some(Cause::LeftAlone { rest, .. }) = transport.left_alone("lost.example") else { panic!("the server is not paused") };
    assert!(rest > SMTP_EXCHANGER_PAUSE_MIN / 2 && rest <= SMTP_EXCHANGER_PAUSE_MIN, "{rest:?}");
    assert_eq!(transport.left_alone("implicit.example"), None);
}

#[tokio::test]
async fn encryption_is_used_if_it_works_and_skipped_if_not() {
    // The sink has a self-signed certificate, like many mail servers.
    let (_, tls) = certificate("any.example");
    let names = || Names::default().with("example.com", &["127.0.0.1"]);
    let capabilities = || SinkCapabilities { starttls: Some(tls.clone()), ..SinkCapabilities::default() };
    for (action, encrypted, connections) in [
        (SinkAction::Usual, true, 1),
        (SinkAction::Say("454 4.7.0 Not now".into()), false, 2),
        (SinkAction::WriteThenClose(b"220 2.0.0 Go\r\n".to_vec()), false, 2),
    ] {
        let sink = MailSink::always(capabilities(), SmtpStage::StartTls, action.clone());
        let mut recorder = HandoffRecorder::new();
        let transport = direct(names(), sink.address.port());
        let outcome = transport.deliver(&envelope("ana@example.com"), MESSAGE, &mut recorder).await;
        assert_eq!(short_form(&outcome), OK, "{action:?}");
        assert_eq!((recorder.handoffs[0].encrypted, sink.messages()[0].talk.encrypted), (encrypted, encrypted), "{action:?}");
        assert_eq!(sink.connections(), connections, "{action:?}");
    }
}

#[tokio::test]
async fn one_destination_gets_an_eighth_of_the_connections() {
    let sink = MailSink::always(SinkCapabilities::default(), SmtpStage::Dot, SinkAction::Wait(Duration::from_millis(10)));
    let names = Names::default().with("example.com", &["127.0.0.1"]);
    let transport = transport_with("direct = true\nconnections = 16", names, patient(), Vec::new(), sink.address.port());
    let results = futures_util::future::join_all((0..20).map(|_| deliver(&transport, "ana@example.com"))).await;
    assert!(results.iter().all(|(outcome, _)| outcome == OK), "{results:?}");
    assert_eq!((sink.count(), sink.open_max()), (20, 2));
}

#[tokio::test]
async fn relays_take_precedence_over_direct_delivery() {
    let (relay, own) = (MailSink::usual(), MailSink::usual());
    let names = Names::default().with("example.com", &["127.0.0.1"]).with("special.example", &["127.0.0.1"]);
    let mail = format!("direct = true\nrelay = ['smtp://{}?for=special.example']", relay.address);
    let transport = transport_with(&mail, names, patient(), Vec::new(), own.address.port());
    assert_eq!(deliver(&transport, "ana@special.example").await.0, OK);
    assert_eq!(deliver(&transport, "ana@example.com").await.0, OK);
    assert_eq!((relay.count(), own.count()), (1, 1));
}

#[tokio::test]
async fn a_domain_that_requires_verification_gets_mail_by_a_verified_connection_or_none() {
    let (root, tls) = certificate("mail.example.com");
    let (_, other) = certificate("other.example");
    let policy = "version: STSv1\nmode: enforce\nmx: mail.example.com\nmax_age: 86400\n";
    for (tls, host, expected) in [
        (Some(tls.clone()), "mail.example.com", OK),
        (Some(other), "mail.example.com", "deferred at Tls: insecure"),
        (None, "mail.example.com", "deferred at Tls: insecure"),
        (Some(tls), "other.example", "deferred at Tls: insecure"),
    ] {
        let sink = MailSink::by(SinkCapabilities { starttls: tls, ..SinkCapabilities::default() }, |_, _| SinkAction::Usual);
        let mut names = Names::default().with(host, &["127.0.0.1"]).with_mx("example.com", &[(10, host)]);
        names.policies.insert("example.com".to_owned(), policy.to_owned());
        let transport = transport_with("direct = true", names, patient(), vec![root.clone()], sink.address.port());
        assert_eq!(deliver(&transport, "ana@example.com").await.0, expected, "{host}");
        assert_eq!(sink.count(), usize::from(expected == OK));
    }
}
