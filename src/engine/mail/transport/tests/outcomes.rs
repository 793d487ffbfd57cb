//! Tests the outcome for each kind of server misbehavior. No message is reported as accepted unless the server accepted it.

use proptest::prelude::*;

use super::*;

fn say(text: &str) -> SinkAction {
    SinkAction::Say(text.to_owned())
}

fn last_words(text: &str) -> SinkAction {
    SinkAction::SayThenClose(text.to_owned())
}

fn write(bytes: &[u8]) -> SinkAction {
    SinkAction::WriteThenClose(bytes.to_vec())
}

/// Delivers one message to a server that performs `action` at this stage, once with and once without pipelining. Both deliveries must have
/// the same outcome.
async fn check(moment: SmtpStage, action: SinkAction, expected: &str) {
    let is_silent = action == SinkAction::Silence;
    for pipelining in [true, false] {
        let capabilities = SinkCapabilities { pipelining, ..SinkCapabilities::default() };
        let sink = MailSink::always(capabilities, moment, action.clone());
        let transport = to(&sink, if is_silent { hasty() } else { patient() });
        let (outcome, asked) = deliver(&transport, "ana@example.com").await;
        assert_eq!(outcome, expected, "{moment:?} {action:?} pipelining: {pipelining}");
        let is_after_dot = outcome.starts_with("accepted") || outcome.starts_with("unknown") || outcome.contains("at Dot");
        assert_eq!(
            asked,
            usize::from(is_after_dot),
            "the recorder is called before the dot and only then: {moment:?} {action:?}"
        );
        match outcome.split([' ', ':']).next() {
            Some("accepted") => assert_eq!(sink.count(), 1, "{moment:?} {action:?}"),
            Some("deferred" | "refused") => assert_eq!(sink.count(), 0, "{moment:?} {action:?}"),
            _ => {}
        }
    }
}

#[tokio::test]
async fn before_the_message_everything_is_certain() {
    for (moment, action, expected) in [
        (SmtpStage::Greeting, say("554 5.7.1 Not you"), "deferred at Greeting: 554"),
        (SmtpStage::Greeting, last_words("421 4.3.2 Too many"), "deferred at Greeting: 421"),
        (SmtpStage::Greeting, SinkAction::Close, "deferred at Greeting: lost"),
        (SmtpStage::Greeting, SinkAction::Silence, "deferred at Greeting: timed out"),
        (SmtpStage::Greeting, write(b"SSH-2.0-OpenSSH_9.6\r\n"), "deferred at Greeting: garbled"),
        (SmtpStage::Hello, say("550 5.7.1 Not you"), "deferred at Hello: 550"),
        (SmtpStage::Hello, last_words("421 4.3.2 Busy"), "deferred at Hello: 421"),
        (SmtpStage::Hello, SinkAction::Close, "deferred at Hello: lost"),
        (SmtpStage::Sender, say("451 4.3.0 Later"), "deferred at Sender: 451"),
        (SmtpStage::Sender, say("550 5.1.8 Never"), "refused at Sender: 550"),
        (SmtpStage::Sender, say("530 5.7.0 Log in first"), "deferred at Sender: 530"),
        (SmtpStage::Sender, last_words("421 4.3.2 Busy"), "deferred at Sender: 421"),
        (SmtpStage::Sender, SinkAction::Close, "deferred at Sender: lost"),
        (SmtpStage::Sender, SinkAction::Silence, "deferred at Sender: timed out"),
        (SmtpStage::Sender, say("354 What?"), "deferred at Sender: garbled"),
        (SmtpStage::Recipient, say("450 4.2.0 Greylisted"), "deferred at Recipient: 450"),
        (SmtpStage::Recipient, say("550 5.1.1 Unknown"), "refused at Recipient: 550"),
        (SmtpStage::Recipient, last_words("421 4.3.2 Busy"), "deferred at Recipient: 421"),
        (SmtpStage::Recipient, SinkAction::Reset, "deferred at Recipient: lost"),
        (SmtpStage::Data, say("451 4.3.0 Later"), "deferred at Data: 451"),
        (SmtpStage::Data, say("554 5.5.1 Never"), "refused at Data: 554"),
        (SmtpStage::Data, say("250 What?"), "deferred at Data: garbled"),
        (SmtpStage::Data, SinkAction::Close, "deferred at Data: lost"),
        (SmtpStage::Recipient, SinkAction::Wait(Duration::from_millis(20)), "accepted: 250"),
    ] {
        check(moment, action, expected).await;
    }
}

#[tokio::test]
async fn from_the_dot_on_only_a_complete_reply_is_certain() {
    for (action, expected) in [
        (SinkAction::Usual, "accepted: 250"),
        (SinkAction::Wait(Duration::from_millis(50)), "accepted: 250"),
        (SinkAction::UsualThenReset, "accepted: 250"),
        (SinkAction::UsualThenClose, "accepted: 250"),
        (say("250-2.0.0 Taken\r\n250 2.0.0 really"), "accepted: 250"),
        (say("451 4.3.0 Later"), "deferred at Dot: 451"),
        (last_words("421 4.3.2 Going down"), "deferred at Dot: 421"),
        (say("554 5.7.1 Spam"), "refused at Dot: 554"),
        (SinkAction::Close, "unknown: lost"),
        (SinkAction::Reset, "unknown: lost"),
        (SinkAction::Silence, "unknown: timed out"),
        (write(b"25"), "unknown: lost"),
        (write(b"250 2.0.0 Ok"), "unknown: lost"),
        (write(b"250-2.0.0 Ok\r\n"), "unknown: lost"),
        (write(b"250-2.0.0 Ok\r\n550 5.0.0 No\r\n"), "unknown: garbled"),
        (say("Ok"), "unknown: garbled"),
        (say("354 Go ahead"), "unknown: garbled"),
        (write(&[b'2'; 5000]), "unknown: garbled"),
        (write("250-more\r\n".repeat(200).as_bytes()), "unknown: garbled"),
    ] {
        check(SmtpStage::Dot, action, expected).await;
    }
}

#[tokio::test]
async fn a_server_that_interrupts_a_message_does_not_get_its_end() {
    let message = [MESSAGE, &b"a long line of text\r\n".repeat(500_000)].concat();
    for (action, expected) in [
        (last_words("421 4.3.2 Going down"), "deferred at Body: 421"),
        (last_words("552 5.3.4 Too large"), "refused at Body: 552"),
        (last_words("250 2.0.0 Ok"), "deferred at Body: garbled"),
        (SinkAction::Close, "deferred at Body: lost"),
        (SinkAction::Reset, "deferred at Body: lost"),
    ] {
        let sink = Arc::new(MailSink::always(
            SinkCapabilities { size: None, ..SinkCapabilities::default() },
            SmtpStage::Body,
            action.clone(),
        ));
        let mut recorder = Slow(sink.clone());
        let outcome = to(&sink, patient()).deliver(&envelope("ana@example.com"), &message, &mut recorder).await;
        assert_eq!((short_form(&outcome).as_str(), sink.count()), (expected, 0), "{action:?}");
    }
    let slow = MailSink::always(
        SinkCapabilities { size: None, ..SinkCapabilities::default() },
        SmtpStage::Body,
        SinkAction::Slowly(Duration::from_micros(10)),
    );
    let outcome = to(&slow, patient()).deliver(&envelope("ana@example.com"), &message, &mut HandoffRecorder::new()).await;
    assert_eq!(short_form(&outcome), "accepted: 250");
    assert_eq!(slow.messages()[0].body, message);
}

/// A handoff recorder that returns only after the server has misbehaved.
struct Slow(Arc<MailSink>);

impl BeforeDot for Slow {
    async fn ready(&mut self, _: &Handoff) -> DotDecision {
        until(|| self.0.unusual_actions() > 0).await;
        DotDecision::Go
    }
}

#[tokio::test]
async fn a_reply_before_the_dot_does_not_pass_for_the_reply_to_it() {
    for (said, expected) in [
        ("250 2.0.0 Ok", "deferred at Body: garbled"),
        ("421 4.3.2 Going down", "deferred at Body: 421"),
        ("554 5.7.1 Enough", "refused at Body: 554"),
    ] {
        let sink = Arc::new(MailSink::always(SinkCapabilities::default(), SmtpStage::Body, last_words(said)));
        let outcome = to(&sink, patient()).deliver(&envelope("ana@example.com"), MESSAGE, &mut Slow(sink.clone())).await;
        assert_eq!((short_form(&outcome).as_str(), sink.count()), (expected, 0), "{said}");
    }
}

#[tokio::test]
async fn an_abandoned_message_is_not_sent() {
    let sink = MailSink::usual();
    let transport = to(&sink, patient());
    let mut recorder = HandoffRecorder { verdict: DotDecision::Abandon, ..HandoffRecorder::new() };
    let outcome = transport.deliver(&envelope("ana@example.com"), MESSAGE, &mut recorder).await;
    assert_eq!(outcome, DeliveryOutcome::Abandoned);
    until(|| sink.open() == 0).await;
    assert_eq!(sink.count(), 0);
    assert!(!sink.commands().iter().any(|(_, line)| line == "QUIT"), "no command follows an incomplete message");
    assert_eq!(deliver(&transport, "ana@example.com").await, ("accepted: 250".to_owned(), 1));
}

#[tokio::test]
async fn a_reply_after_the_timeout_is_unknown() {
    assert_eq!(Timeouts::default().dot, Duration::from_secs(600), "RFC 5321 §4.5.3.2.6");
    // The server replies after 110% of the time limit, which the test scales down from minutes to milliseconds.
    let sink = MailSink::always(SinkCapabilities::default(), SmtpStage::Dot, SinkAction::Wait(HASTY * 11 / 10));
    assert_eq!(deliver(&to(&sink, hasty()), "ana@example.com").await.0, "unknown: timed out");
    assert_eq!(
        (sink.count(), sink.messages()[0].bytes),
        (1, MESSAGE.len() + 1),
        "the message was delivered once, with a doubled dot"
    );
}

#[tokio::test]
async fn the_server_gets_the_message_in_a_form_that_it_supports() {
    let sink = MailSink::usual();
    let transport = to(&sink, patient());
    let mut recorder = HandoffRecorder::new();
    let mut to_utf8 = envelope("ána@müller.example");
    to_utf8.smtputf8 = true;
    let message = "Subject: ä\n\n..\n.\r\nend".as_bytes();
    assert_eq!(short_form(&transport.deliver(&to_utf8, message, &mut recorder).await), "accepted: 250");
    assert_eq!(short_form(&transport.deliver(&envelope("ana@müller.example"), MESSAGE, &mut recorder).await), "accepted: 250");
    let messages = sink.messages();
    assert_eq!(messages[0].body, "Subject: ä\r\n\r\n..\r\n.\r\nend\r\n".as_bytes());
    assert_eq!(messages[0].talk.sender, format!("<bounce+1@example.com> SMTPUTF8 BODY=8BITMIME SIZE={}", message.len()));
    assert_eq!(messages[0].talk.recipient, "<ána@xn--mller-kva.example>");
    assert_eq!((messages[1].body.as_slice(), messages[1].message_id.as_str()), (MESSAGE, "<1@example.com>"));
    assert_eq!(messages[1].talk.recipient, "<ana@xn--mller-kva.example>");
    let handoff = Handoff { server: "127.0.0.1".to_owned(), address: Some(sink.address), encrypted: false };
    assert_eq!(recorder.handoffs, [handoff.clone(), handoff]);
}

#[tokio::test]
async fn messages_that_a_server_cannot_accept_are_rejected_before_sending() {
    let plain = SinkCapabilities { smtputf8: false, eight_bit: false, size: Some(100), ..SinkCapabilities::default() };
    let sink = MailSink::by(plain, |_, _| SinkAction::Usual);
    let transport = to(&sink, patient());
    let mut injecting = envelope("ana@example.com");
    injecting.sender = "a@example.com>\r\nRCPT TO:<b@example.com".to_owned();
    for (envelope, message, expected) in [
        (envelope("ána@example.com"), MESSAGE, "refused at Sender: 553"),
        (envelope("ana@example.com"), "Subject: ä\r\n\r\n".as_bytes(), "refused at Sender: 554"),
        (envelope("ana@example.com"), &[b'a'; 101], "refused at Sender: 552"),
        (injecting, MESSAGE, "refused at Sender: 553"),
    ] {
        let outcome = transport.deliver(&envelope, message, &mut HandoffRecorder::new()).await;
        assert_eq!(short_form(&outcome), expected);
    }
    assert!(!sink.commands().iter().any(|(_, line)| line.starts_with("MAIL")));
    let old = MailSink::by(SinkCapabilities { extensions: false, ..SinkCapabilities::default() }, |_, _| SinkAction::Usual);
    assert_eq!(deliver(&to(&old, patient()), "ana@example.com").await.0, "accepted: 250");
    assert_eq!(old.messages()[0].talk.sender, "<bounce+1@example.com>");
}

#[tokio::test]
async fn a_message_without_recipients_is_ended_and_the_connection_reused() {
    // With pipelining, some servers accept DATA although they have rejected the only recipient, and then reject or accept the empty
    // message.
    for (said, connections) in [("554 5.5.1 No valid recipients", 1), ("250 2.0.0 Ok", 2)] {
        let sink = MailSink::by(SinkCapabilities::default(), move |talk, moment| match (talk.recipient.as_str(), moment) {
            ("<no@example.com>", SmtpStage::Recipient) => SinkAction::Say("550 5.1.1 Unknown".into()),
            ("<no@example.com>", SmtpStage::Data) => SinkAction::Say("354 Go ahead".into()),
            ("<no@example.com>", SmtpStage::Dot) => SinkAction::Say(said.into()),
            _ => SinkAction::Usual,
        });
        let transport = to(&sink, patient());
        assert_eq!(deliver(&transport, "no@example.com").await, ("refused at Recipient: 550".to_owned(), 0));
        assert_eq!(deliver(&transport, "ana@example.com").await.0, "accepted: 250");
        assert_eq!((sink.connections(), sink.count()), (connections, 1), "{said}");
    }
}

fn piece() -> impl Strategy<Value = Vec<u8>> {
    let known = prop::sample::select(vec![
        "250 Ok\r\n",
        "250-Ok\r\n",
        "250 2.0.0 Ok\r\n",
        "354 Go\r\n",
        "421 Bye\r\n",
        "451 x\r\n",
        "550 5.1.1 x\r\n",
        "220 x\r\n",
        "25",
        "0",
        "\r",
        "\n",
        "\r\n",
        " ",
        "-",
        "2",
        "250",
        "PIPELINING",
    ]);
    prop_oneof![3 => known.prop_map(|text: &str| text.as_bytes().to_vec()), 1 => prop::collection::vec(any::<u8>(), 1..20)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    /// Whatever a server sends at any stage, the transport does not panic, and reports a message as accepted only if the server accepted
    /// it.
    #[test]
    fn garbage_is_never_taken_for_acceptance(
        pieces in prop::collection::vec(piece(), 1..6),
        moment in prop::sample::select(vec![
            SmtpStage::Greeting, SmtpStage::Hello, SmtpStage::Sender, SmtpStage::Recipient, SmtpStage::Data, SmtpStage::Dot,
        ]),
        pipelining: bool,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("the runtime can be created");
        let sink = MailSink::always(SinkCapabilities { pipelining, ..SinkCapabilities::default() }, moment, SinkAction::WriteThenClose(pieces.concat()));
        let (outcome, asked) = runtime.block_on(async { deliver(&to(&sink, patient()), "ana@example.com").await });
        let is_doubtful = outcome.starts_with("unknown") || outcome.contains("at Dot");
        if outcome.starts_with("accepted") {
            prop_assert_eq!((sink.count(), moment), (1, SmtpStage::Dot));
        }
        prop_assert!(asked <= 1 && (asked == 1 || !(is_doubtful || outcome.starts_with("accepted"))), "{}", outcome);
        prop_assert!(moment == SmtpStage::Dot || !outcome.contains("at Dot"), "{}", outcome);
    }
}
