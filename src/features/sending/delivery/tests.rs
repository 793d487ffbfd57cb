//! Tests of the delivery states of a recipient.

use super::*;

const NOW: Timestamp = Timestamp(1_767_225_600_000);
const MINUTE: i64 = 60_000;
const SCHEDULE: Schedule = Schedule { first_pause_ms: 30 * MINUTE, give_up_ms: 120 * 60 * MINUTE };

fn every_state() -> Vec<Delivery> {
    vec![
        Delivery::Queued,
        Delivery::Handoff { epoch: 1, attempt: 1, since: None, at: NOW },
        Delivery::Sent { at: NOW, reply: "250 ok".into() },
        Delivery::Deferred { attempts: 1, since: NOW, next_at: NOW, reply: "450 later".into() },
        Delivery::Failed { at: NOW, reply: "550 no".into() },
        Delivery::Unknown { attempt: 1, why: UnknownReason::Crash, at: NOW },
        Delivery::Skipped { why: Skip::Suppressed },
    ]
}

fn every_event() -> Vec<Event> {
    vec![
        Event::Claim { epoch: 2 },
        Event::Accepted { reply: "250 ok".into() },
        Event::Deferred { reply: "450 later".into(), schedule: SCHEDULE },
        Event::Postponed { reply: "left alone".into(), until: NOW, schedule: SCHEDULE },
        Event::Refused { reply: "550 no".into() },
        Event::Lost { why: UnknownReason::Timeout },
        Event::Recovered { epoch: 2 },
        Event::Skip { why: Skip::Cancelled },
        Event::Evidence { what: "an open" },
        Event::Resend,
        Event::Misdated { schedule: SCHEDULE },
        Event::AutoResend { schedule: SCHEDULE },
    ]
}

/// Compares all transitions with a table, which has one row for each state, and one column for each event in the order of [`every_event`].
#[test]
fn every_event_in_every_state_follows_the_table() {
    let expected = [
        "queued:   handoff not deferred deferred failed not settled skipped settled settled settled settled",
        "handoff:  settled sent deferred settled failed unknown unknown settled sent settled settled settled",
        "sent:     settled settled settled settled settled settled settled settled settled settled settled settled",
        "deferred: handoff not deferred deferred failed not settled skipped settled settled settled settled",
        "failed:   settled settled settled settled settled settled settled settled settled settled settled settled",
        "unknown:  settled not settled settled settled not settled settled sent queued settled deferred",
        "skipped:  settled settled settled settled settled settled settled settled settled settled settled settled",
    ];
    for (state, line) in every_state().iter().zip(expected) {
        let words: Vec<String> = every_event()
            .into_iter()
            .map(|event| match state.after(event, NOW) {
                Ok(next) => next.word().to_owned(),
                Err(Refusal::Settled) => "settled".to_owned(),
                Err(Refusal::NotHandedOver) => "not".to_owned(),
                Err(other) => format!("{other:?}"),
            })
            .collect();
        let (name, columns) = line.split_once(':').expect("a line has a name and columns");
        assert_eq!((state.word(), words.join(" ")), (name, columns.trim().to_owned()));
    }
}

#[test]
fn only_an_acceptance_or_evidence_of_one_leads_to_sent() {
    for state in every_state() {
        for event in every_event() {
            let is_proof = matches!(event, Event::Accepted { .. } | Event::Evidence { .. });
            if let Ok(Delivery::Sent { .. }) = state.after(event.clone(), NOW) {
                assert!(is_proof && !matches!(state, Delivery::Queued | Delivery::Deferred { .. }), "{state:?} {event:?}");
            }
        }
    }
}

#[test]
fn a_possibly_delivered_message_is_resent_only_on_request() {
    for state in every_state().into_iter().filter(|state| matches!(state, Delivery::Handoff { .. } | Delivery::Unknown { .. })) {
        for event in every_event() {
            let certain = matches!(event, Event::Deferred { .. } | Event::Resend | Event::AutoResend { .. });
            if let Ok(next) = state.after(event.clone(), NOW) {
                let sends_again = matches!(next, Delivery::Queued | Delivery::Deferred { .. });
                assert!(!sends_again || certain, "{state:?} {event:?}");
            }
        }
    }
}

/// Regression test: the message was sent again immediately and without limit to a server that may have accepted each copy but sent no
/// reply.
#[test]
fn a_message_is_sent_again_automatically_with_growing_pauses_and_a_limited_number_of_times() {
    let (mut state, mut now, mut pauses) = (Delivery::Queued, NOW, Vec::new());
    loop {
        let claimed = state.after(Event::Claim { epoch: 1 }, now).expect("the retry is due");
        let lost = claimed.after(Event::Lost { why: UnknownReason::Timeout }, now).expect("the message was handed over");
        let Ok(next) = lost.after(Event::AutoResend { schedule: SCHEDULE }, now) else { break };
        let Delivery::Deferred { next_at, .. } = &next else { panic!("the message is not deferred: {next:?}") };
        pauses.push(next_at.ms_since(now) / MINUTE);
        now = *next_at;
        state = next;
    }
    assert_eq!(pauses, [0, 30, 60]);
}

#[test]
fn a_handoff_of_this_process_is_not_recovered() {
    let own = Delivery::Handoff { epoch: 2, attempt: 1, since: None, at: NOW };
    assert_eq!(own.after(Event::Recovered { epoch: 2 }, NOW), Err(Refusal::InFlight));
}

#[test]
fn a_deferred_recipient_waits_until_it_is_due() {
    let deferred = Delivery::Deferred { attempts: 1, since: NOW, next_at: NOW.plus_ms(1), reply: String::new() };
    assert_eq!(deferred.after(Event::Claim { epoch: 1 }, NOW), Err(Refusal::NotDue));
    let claimed = deferred.after(Event::Claim { epoch: 1 }, NOW.plus_ms(1)).expect("the retry is due");
    assert_eq!(claimed, Delivery::Handoff { epoch: 1, attempt: 2, since: Some(NOW), at: NOW.plus_ms(1) });
}

#[test]
fn a_retry_misdated_by_a_wrong_clock_is_rescheduled_and_a_recipient_without_attempts_is_unchanged() {
    let year = 365 * 24 * 60 * MINUTE;
    let at = |attempts, ahead| {
        let (since, next_at) = (NOW.plus_ms(year), NOW.plus_ms(ahead));
        Delivery::Deferred { attempts, since, next_at, reply: "450 later".into() }
    };
    let misdated = || Event::Misdated { schedule: SCHEDULE };
    let soon = Delivery::Deferred { attempts: 2, since: NOW, next_at: NOW.plus_ms(60 * MINUTE), reply: "450 later".into() };
    assert_eq!(at(2, year).after(misdated(), NOW), Ok(soon));
    assert_eq!(at(0, year).after(misdated(), NOW), Err(Refusal::Settled));
    assert_eq!(at(2, 4 * 60 * MINUTE).after(misdated(), NOW), Err(Refusal::Settled), "the time of the retry is plausible");
}

#[test]
fn pauses_double_up_to_four_hours_and_delivery_fails_after_five_days() {
    let mut state = Delivery::Queued;
    let mut now = NOW;
    let mut pauses = Vec::new();
    loop {
        let claimed = state.after(Event::Claim { epoch: 1 }, now).expect("the retry is due");
        let event = Event::Deferred { reply: "450 later".into(), schedule: SCHEDULE };
        state = claimed.after(event, now).expect("the table has this transition");
        let Delivery::Deferred { next_at, .. } = &state else { break };
        pauses.push(next_at.ms_since(now) / MINUTE);
        now = *next_at;
    }
    assert_eq!(pauses[..6], [30, 60, 120, 240, 240, 240]);
    assert!(matches!(state, Delivery::Failed { .. }));
    let days = now.ms_since(NOW) / (24 * 60 * MINUTE);
    assert!((4..=5).contains(&days), "{days} days");
    // A failure before the claim also counts as an attempt.
    let event = || Event::Deferred { reply: String::new(), schedule: SCHEDULE };
    let first = Delivery::Queued.after(event(), NOW).expect("the table has this transition");
    assert!(matches!(first, Delivery::Deferred { attempts: 1, .. }));
    assert!(matches!(first.after(event(), NOW), Ok(Delivery::Deferred { attempts: 2, .. })));
}

#[test]
fn a_postponement_is_not_an_attempt_and_ends_at_the_time_limit() {
    let postponed = |state: &Delivery, now: Timestamp| {
        let event = Event::Postponed { reply: "down".into(), until: now.plus_ms(60 * MINUTE), schedule: SCHEDULE };
        state.after(event, now).expect("the table has this transition")
    };
    let (mut state, mut now, mut hours) = (Delivery::Queued, NOW, 0);
    while !matches!(state, Delivery::Failed { .. }) {
        state = postponed(&state, now);
        let Delivery::Deferred { attempts, since, next_at, .. } = &state else { break };
        assert_eq!((*attempts, *since, *next_at), (0, NOW, now.plus_ms(60 * MINUTE)));
        (now, hours) = (*next_at, hours + 1);
    }
    assert_eq!(hours, 120);
    let tried = Delivery::Queued
        .after(Event::Deferred { reply: "450".into(), schedule: SCHEDULE }, NOW)
        .expect("the table has this transition");
    assert!(matches!(postponed(&tried, NOW), Delivery::Deferred { attempts: 1, .. }));
}

#[test]
fn a_contact_rows_third_byte_is_its_state() {
    for delivery in every_state() {
        let mut bytes = Vec::new();
        let counter = delivery.counter();
        let is_skipped = matches!(delivery, Delivery::Skipped { .. });
        crate::engine::store::Value::encode(&Recipient { address: None, delivery, translation: 0 }, &mut bytes);
        assert_eq!(bytes[1], 0);
        assert_eq!(Counter::of_state(bytes[2]), (!is_skipped).then_some(counter));
    }
}

#[test]
fn counts_add_up_and_include_the_reasons() {
    let mut counts = Counts::default();
    for delivery in every_state() {
        counts.note(delivery.counter(), 2);
    }
    for skip in Skip::ALL {
        counts.note(Delivery::Skipped { why: skip.clone() }.counter(), 1);
        assert_eq!(counts.skipped[skip.word()], 1 + 2 * u64::from(skip == Skip::Suppressed));
    }
    assert_eq!((counts.total, counts.skipped_total(), counts.open()), (25, 13, 6));
}
