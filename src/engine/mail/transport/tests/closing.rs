//! Tests that closing the transport waits for the replies to final dots, and reports deliveries that are cut off after the dot as unknown.

use super::*;

/// Waits until the sink, the SMTP server of the tests, has received the whole message.
async fn has_the_dot(sink: &MailSink) {
    until(|| sink.count() == 1).await;
}

#[tokio::test]
async fn an_open_dot_is_waited_for() {
    let sink = MailSink::always(SinkCapabilities::default(), SmtpStage::Dot, SinkAction::Wait(HASTY));
    let transport = to(&sink, patient());
    let stop = async {
        has_the_dot(&sink).await;
        transport.close(PATIENT).await
    };
    let (delivered, closed) = tokio::join!(deliver(&transport, "ana@example.com"), stop);
    assert_eq!((delivered.0.as_str(), closed), ("accepted: 250", CloseReport { cut: 0 }));
    assert_eq!(deliver(&transport, "ana@example.com").await, ("deferred at Connect: stopping".to_owned(), 0));
    until(|| sink.open() == 0).await;
    assert_eq!(sink.count(), 1);
}

#[tokio::test]
async fn a_delivery_cut_after_its_dot_is_unknown_and_before_it_certain() {
    let at_dot = MailSink::always(SinkCapabilities::default(), SmtpStage::Dot, SinkAction::Silence);
    let transport = to(&at_dot, patient());
    let stop = async {
        has_the_dot(&at_dot).await;
        transport.close(Duration::from_millis(50)).await
    };
    let (delivered, closed) = tokio::join!(deliver(&transport, "ana@example.com"), stop);
    assert_eq!((delivered.0.as_str(), closed), ("unknown: stopping", CloseReport { cut: 1 }));

    let before = MailSink::always(SinkCapabilities::default(), SmtpStage::Recipient, SinkAction::Silence);
    let transport = to(&before, patient());
    let stop = async {
        until(|| before.commands().iter().any(|(_, line)| line.starts_with("RCPT"))).await;
        transport.close(Duration::from_millis(50)).await
    };
    let (delivered, closed) = tokio::join!(deliver(&transport, "ana@example.com"), stop);
    assert_eq!((delivered.0.as_str(), closed), ("deferred at Recipient: stopping", CloseReport { cut: 1 }));
}

/// A handoff recorder that is still writing when all deliveries are cut off.
struct Writing<'a>(&'a Transport);

impl BeforeDot for Writing<'_> {
    async fn ready(&mut self, _: &Handoff) -> DotDecision {
        self.0.stop().reached(StopStage::Cut).await;
        DotDecision::Go
    }
}

#[tokio::test]
async fn a_handoff_being_stored_is_waited_for_and_then_no_dot_follows() {
    let sink = MailSink::usual();
    let transport = to(&sink, patient());
    let mut writing = Writing(&transport);
    let to_ana = envelope("ana@example.com");
    let stop = async {
        until(|| sink.commands().iter().any(|(_, line)| line == "DATA")).await;
        transport.close(Duration::from_millis(50)).await
    };
    let (outcome, closed) = tokio::join!(transport.deliver(&to_ana, MESSAGE, &mut writing), stop);
    assert_eq!((short_form(&outcome).as_str(), closed), ("deferred at Body: stopping", CloseReport { cut: 1 }));
    until(|| sink.open() == 0).await;
    assert_eq!(sink.count(), 0);
}

#[tokio::test]
async fn deliveries_waiting_for_a_slot_or_a_relay_end_at_once() {
    let sink = MailSink::always(SinkCapabilities::default(), SmtpStage::Dot, SinkAction::Wait(HASTY));
    let mail = format!("connections = 1\nrelay = ['smtp://{}']", sink.address);
    let transport = transport_with(&mail, Names::default(), patient(), Vec::new(), 25);
    let stop = async {
        has_the_dot(&sink).await;
        transport.close(PATIENT).await
    };
    let (one, other, closed) = tokio::join!(deliver(&transport, "ana@example.com"), deliver(&transport, "bo@example.com"), stop);
    assert_eq!((one.0.as_str(), other.0.as_str(), closed.cut), ("accepted: 250", "deferred at Connect: stopping", 0));

    let nowhere = MailSink::usual().address;
    let timeouts = Timeouts { patience: Duration::from_secs(3600), ..patient() };
    let transport = transport_with(&format!("relay = ['smtp://{nowhere}']"), Names::default(), timeouts, Vec::new(), 25);
    let stop = async {
        sleep(Duration::from_millis(50)).await;
        transport.close(PATIENT).await
    };
    let (one, closed) = tokio::join!(deliver(&transport, "ana@example.com"), stop);
    assert_eq!((one.0.as_str(), closed.cut), ("deferred at Connect: stopping", 0));
}
