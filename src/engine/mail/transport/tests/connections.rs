//! Tests how connections are reused, limited and replaced, and how the transport fails over between relays.

use futures_util::future::join_all;

use super::*;

const OK: &str = "accepted: 250";

fn accepted(results: &[(String, usize)]) -> bool {
    results.iter().all(|(outcome, asked)| outcome == OK && *asked == 1)
}

async fn deliver_many(transport: &Transport, count: usize) -> Vec<(String, usize)> {
    join_all((0..count).map(|_| deliver(transport, "ana@example.com"))).await
}

#[tokio::test]
async fn one_connection_sends_many_messages_and_then_quits() {
    let sink = MailSink::usual();
    let transport = to(&sink, patient());
    for _ in 0..crate::vocab::limits::SMTP_MESSAGES_PER_CONNECTION_MAX {
        assert_eq!(deliver(&transport, "ana@example.com").await.0, OK);
    }
    assert_eq!(sink.connections(), 1);
    until(|| sink.open() == 0).await;
    assert_eq!(sink.commands().last().map(|(_, line)| line.as_str()), Some("QUIT"));
    assert_eq!(deliver(&transport, "ana@example.com").await.0, OK);
    assert_eq!(sink.connections(), 2);
}

#[tokio::test]
async fn there_are_never_more_connections_than_the_setting_allows() {
    let slow = || MailSink::always(SinkCapabilities::default(), SmtpStage::Dot, SinkAction::Wait(Duration::from_millis(20)));
    let (one, other) = (slow(), slow());
    let mail = format!("connections = 3\nrelay = ['smtp://{}', 'smtp://{}?for=other.example']", one.address, other.address);
    let transport = transport_with(&mail, Names::default(), patient(), Vec::new(), 25);
    let recipients = ["ana@example.com", "ana@other.example"];
    let results = join_all((0..24).map(|index| deliver(&transport, recipients[index % 2]))).await;
    assert!(accepted(&results), "{results:?}");
    assert_eq!((one.count(), other.count()), (12, 12));
    assert!(one.open_max() <= 3 && other.open_max() <= 3);
    until(|| one.open() + other.open() <= 3).await;
}

#[tokio::test]
async fn a_connection_that_died_while_idle_is_replaced_silently() {
    for (moment, action) in [
        (SmtpStage::Sender, SinkAction::Close),
        (SmtpStage::Sender, SinkAction::Reset),
        (SmtpStage::Sender, SinkAction::SayThenClose("421 4.4.2 Idle too long".into())),
        (SmtpStage::Data, SinkAction::Close),
    ] {
        let wrong = action.clone();
        let sink = MailSink::by(SinkCapabilities::default(), move |talk, now| match (talk.connection, talk.message) {
            (0, 1) if now == moment => wrong.clone(),
            _ => SinkAction::Usual,
        });
        let transport = to(&sink, patient());
        let results = [deliver(&transport, "ana@example.com").await, deliver(&transport, "ana@example.com").await];
        assert!(accepted(&results), "{action:?} {results:?}");
        assert_eq!((sink.connections(), sink.count()), (2, 2));
    }
    let closing_once = MailSink::once(SinkCapabilities::default(), SmtpStage::Dot, SinkAction::UsualThenClose);
    let transport = to(&closing_once, patient());
    for _ in 0..5 {
        assert_eq!(deliver(&transport, "ana@example.com").await, (OK.to_owned(), 1));
    }
    assert_eq!((closing_once.connections(), closing_once.count()), (2, 5));
    let closing = MailSink::always(SinkCapabilities::default(), SmtpStage::Dot, SinkAction::UsualThenClose);
    let transport = to(&closing, patient());
    for _ in 0..5 {
        assert_eq!(deliver(&transport, "ana@example.com").await, (OK.to_owned(), 1));
    }
    assert_eq!((closing.connections(), closing.count()), (5, 5));
}

#[tokio::test]
async fn a_new_connection_that_dies_is_not_retried() {
    let sink = MailSink::always(SinkCapabilities::default(), SmtpStage::Sender, SinkAction::Close);
    assert_eq!(deliver(&to(&sink, patient()), "ana@example.com").await.0, "deferred at Sender: lost");
    assert_eq!(sink.connections(), 1);
}

#[tokio::test]
async fn connections_that_are_idle_for_too_long_are_closed() {
    let sink = MailSink::usual();
    let transport = to(&sink, Timeouts { idle: Duration::from_millis(50), ..patient() });
    assert_eq!(deliver(&transport, "ana@example.com").await.0, OK);
    tokio::select! {
        () = transport.maintain() => panic!("maintenance ended before the service"),
        () = until(|| sink.open() == 0) => {}
    }
    assert_eq!(sink.commands().last().map(|(_, line)| line.as_str()), Some("QUIT"));
}

#[tokio::test]
async fn after_a_rejected_recipient_the_connection_is_reused() {
    for pipelining in [true, false] {
        let capabilities = SinkCapabilities { pipelining, ..SinkCapabilities::default() };
        let sink = MailSink::by(capabilities, |talk, moment| match (talk.recipient.as_str(), moment) {
            ("<no@example.com>", SmtpStage::Recipient) => SinkAction::Say("550 5.1.1 Unknown".into()),
            _ => SinkAction::Usual,
        });
        let transport = to(&sink, patient());
        assert_eq!(deliver(&transport, "no@example.com").await.0, "refused at Recipient: 550");
        assert_eq!(deliver(&transport, "ana@example.com").await.0, OK);
        assert_eq!(sink.connections(), 1);
        assert!(sink.commands().iter().any(|(_, line)| line == "RSET"));
    }
}

#[tokio::test]
async fn the_next_relay_replaces_an_unusable_one() {
    let nowhere = MailSink::usual().address;
    let strict = MailSink::by(SinkCapabilities { auth: "PLAIN", ..SinkCapabilities::default() }, |_, _| SinkAction::Usual);
    let busy =
        MailSink::always(SinkCapabilities::default(), SmtpStage::Greeting, SinkAction::SayThenClose("421 4.3.2 Busy".into()));
    let good = MailSink::usual();
    let mail = format!(
        "relay = ['smtp://{nowhere}', 'smtp://ana:wrong@{}', 'smtp://{}', 'smtp://{}']",
        strict.address, busy.address, good.address
    );
    let transport = transport_with(&mail, Names::default(), patient(), Vec::new(), 25);
    let results = deliver_many(&transport, 20).await;
    assert!(accepted(&results), "{results:?}");
    assert_eq!(good.count(), 20);
    assert!(strict.connections() <= 16, "the paused server gets no connections except concurrent ones: {}", strict.connections());
}

#[tokio::test]
async fn a_relay_for_a_domain_gets_its_recipients_first_and_no_others() {
    let (general, special) = (MailSink::usual(), MailSink::usual());
    let mail = format!("relay = ['smtp://{}', 'smtp://{}?for=special.example']", general.address, special.address);
    let transport = transport_with(&mail, Names::default(), patient(), Vec::new(), 25);
    assert_eq!(deliver(&transport, "ana@Special.example").await.0, OK);
    assert_eq!((general.count(), special.count()), (0, 1));
    assert_eq!(deliver(&transport, "ana@example.com").await.0, OK);
    assert_eq!((general.count(), special.count()), (1, 1));
    drop(special);
    assert_eq!(deliver(&transport, "ana@special.example").await.0, OK);
    assert_eq!(general.count(), 2, "the general relay replaces the special relay");
    let only = format!("relay = ['smtp://{}?for=special.example']", general.address);
    let transport = transport_with(&only, Names::default(), patient(), Vec::new(), 25);
    assert_eq!(deliver(&transport, "ana@example.com").await, ("deferred at Route: no route".to_owned(), 0));
}

#[tokio::test]
async fn a_relay_without_a_needed_capability_is_skipped() {
    let old = MailSink::by(SinkCapabilities { smtputf8: false, ..SinkCapabilities::default() }, |_, _| SinkAction::Usual);
    let new = MailSink::usual();
    let mail = format!("relay = ['smtp://{}', 'smtp://{}']", old.address, new.address);
    let transport = transport_with(&mail, Names::default(), patient(), Vec::new(), 25);
    assert_eq!(deliver(&transport, "ána@example.com").await.0, OK);
    assert_eq!(deliver(&transport, "ana@example.com").await.0, OK);
    assert_eq!((old.count(), new.count()), (1, 1));
}

#[tokio::test]
async fn deliveries_wait_for_a_relay_that_restarts() {
    let address = MailSink::usual().address;
    let timeouts = Timeouts { patience: PATIENT, ..patient() };
    let mail = format!("relay = ['smtp://{address}']");
    let transport = transport_with(&mail, Names::default(), timeouts, Vec::new(), 25);
    let restart = async {
        sleep(HASTY).await;
        MailSink::at(address, SinkCapabilities::default(), true, |_, _| SinkAction::Usual)
    };
    let (results, sink) = tokio::join!(deliver_many(&transport, 20), restart);
    assert!(accepted(&results), "{results:?}");
    assert_eq!(sink.count(), 20);
}

#[tokio::test]
async fn a_relay_that_accepts_fewer_connections_gets_fewer_and_nothing_is_lost() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let turned_away = Arc::new(AtomicUsize::new(0));
    let count = turned_away.clone();
    let sink = MailSink::by(SinkCapabilities::default(), move |talk, moment| match moment {
        SmtpStage::Greeting if talk.connection >= 2 && talk.connection < 12 => {
            count.fetch_add(1, Ordering::SeqCst);
            SinkAction::SayThenClose("421 4.7.0 Too many connections".into())
        }
        SmtpStage::Dot => SinkAction::Wait(Duration::from_millis(5)),
        _ => SinkAction::Usual,
    });
    let transport = to(&sink, Timeouts { patience: PATIENT, ..patient() });
    let results = deliver_many(&transport, 60).await;
    assert!(accepted(&results), "{results:?}");
    assert!(turned_away.load(Ordering::SeqCst) > 0);
    assert_eq!(sink.count(), 60);
}
