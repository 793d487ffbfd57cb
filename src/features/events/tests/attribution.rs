//! TABLE: clicks and orders of contacts, and the emails that the orders are attributed to.

use std::collections::BTreeMap;

use crate::base::clock::Timestamp;
use crate::engine::store::{Read, WriteTx};
use crate::features::contact_records::activity::{self, Action, Activity};
use crate::features::contacts::{noncontact_clicks, upsert_by_email};
use crate::features::events::input::EventRow;
use crate::features::events::{ingest, reattribution};
use crate::features::revenue::{self, Scope};
use crate::testing::{START, TestApp};
use crate::vocab::ids::{MailingId, ProjectId};

/// Time 0 of the table: ten days after the start of the tests' clock.
const NOON_MS: i64 = 10 * 24 * 60 * 60 * 1000;
const PEOPLE: [&str; 2] = ["ada@example.com", "grace@example.com"];

/// One event or click that arrives in a test case, in the notation below.
///
/// - `click A -1h`: the first contact's click in email A, an hour before time 0; `click A -1h 2`: a click by the second contact.
/// - `before A -1h`: a click from before the first contact existed; `before A -1h 2`: from before the second contact existed.
/// - `scanner A`: the first contact's clicks in email A are recognized as a bot's.
/// - `paid 50 USD 0`, `back 50 USD 0`: a payment or refund of order 1 at time 0; `paid 50 USD 0 2`: of order 2; `paid 50 USD 0 2 2`: of
///   order 2, by the second contact.
/// - `paid-key 50 USD 0 KEY`, `back-key 50 USD 0 KEY`: a payment or refund of order 1 with a dedupeKey; `paid-key 50 USD 0 KEY 2`: by the
///   second contact.
/// - `back-none 50 USD 0`: a refund without an order ID; `back-none 50 USD 0 2`: by the second contact.
///
/// Times are sums like `-5d+1ms`.
#[derive(Clone, Debug)]
pub struct Arrival(String);

impl Arrival {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Stores this click or event in a project whose contacts have the addresses in `PEOPLE`.
    pub fn take(&self, tx: &mut WriteTx<'_>, project: ProjectId) {
        let words: Vec<&str> = self.0.split(' ').collect();
        let word = |index: usize| words.get(index).copied();
        let person = |index: usize| word(index).map_or(0, |number| number.parse::<u32>().expect("the contact is a number") - 1);
        match words[0] {
            "click" => {
                let activity =
                    Activity { action: Action::Clicked, mailing: mailing(project, words[1]), campaign: None, at: time(words[2]) };
                activity::note(tx, project, &[(person(3), activity)]).expect("the write succeeds");
            }
            "before" => {
                let email = PEOPLE[person(3) as usize].parse().expect("the address is valid");
                noncontact_clicks::note(tx, project, &email, time(words[2]), mailing(project, words[1]));
            }
            "scanner" => {
                let mailing = mailing(project, words[1]);
                activity::take_back(tx, project, person(2), mailing, &[Action::Clicked]).expect("the write succeeds");
            }
            "paid" | "back" => event(tx, project, &words, (word(4).or(Some("1")), person(5)), None),
            "paid-key" | "back-key" => event(tx, project, &words, (Some("1"), person(5)), word(4)),
            "back-none" => event(tx, project, &words, (None, person(4)), None),
            other => panic!("unknown arrival {other}"),
        }
    }
}

fn event(tx: &mut WriteTx<'_>, project: ProjectId, words: &[&str], (order, person): (Option<&str>, u32), key: Option<&str>) {
    let name = if words[0].starts_with("back") { "order.refunded" } else { "order.paid" };
    let (amount, currency, email) = (words[1], words[2], PEOPLE[person as usize]);
    let key = key.map_or(String::new(), |key| format!(r#","dedupeKey":"{key}""#));
    let order = order.map_or(String::new(), |order| format!(r#","externalOrderId":"{order}""#));
    let json = format!(
        r#"{{"name":"{name}","identifiers":{{"email":"{email}"{order}}},
        "properties":{{"value":{amount},"currency":"{currency}"}},"occurredAt":"{}"{key}}}"#,
        time(words[3])
    );
    let event = EventRow::read(&json).expect(&json);
    ingest::ingest(tx, project, vec![Ok(event)], |outcome| {
        outcome.expect("the operation accepts the event");
        Ok(())
    })
    .expect("the write succeeds");
}

/// Parses a sum such as `-5d+1ms` as a time relative to `NOON_MS`.
fn time(text: &str) -> Timestamp {
    let mut ms = 0;
    let mut rest = text;
    while !rest.is_empty() && rest != "0" {
        let end = rest[1..].find(['-', '+']).map_or(rest.len(), |end| end + 1);
        let (part, after) = rest.split_at(end);
        let unit = part.find(|letter: char| letter.is_ascii_alphabetic()).expect("the offset has a unit");
        let factor = match &part[unit..] {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            other => panic!("unknown unit {other}"),
        };
        ms += part[..unit].parse::<i64>().expect("the offset starts with a number") * factor;
        rest = after;
    }
    START.plus_ms(NOON_MS + ms)
}

/// Returns the mailing with this letter. A later letter means a newer mailing.
fn mailing(project: ProjectId, letter: &str) -> MailingId {
    let mut bytes = project.0;
    bytes[0] = letter.as_bytes()[0];
    MailingId::from_bytes(bytes)
}

/// Creates a project with the contacts 0 and 1, whose addresses are in `PEOPLE`.
pub fn project(tx: &mut WriteTx<'_>, number: u32) -> ProjectId {
    let mut bytes = [0xEE; 12];
    bytes[8..].copy_from_slice(&number.to_be_bytes());
    let project = ProjectId::from_bytes(bytes);
    upsert_by_email::resolve(tx, project, |tx, roll| {
        for email in PEOPLE {
            let added = upsert_by_email::new_contact(email.parse().expect("the address is valid"), Default::default())
                .expect("the contact is valid");
            roll.add(tx, added)?;
        }
        Ok::<_, crate::engine::store::Error>(())
    })
    .expect("the write succeeds");
    project
}

/// Runs all pending attribution work.
pub fn settle(tx: &mut WriteTx<'_>) {
    while reattribution::recheck(tx).expect("the write succeeds") {}
}

/// Returns the conversions and revenue attributed to each email, such as `A 1 50 USD, B 0 -5 EUR`.
pub fn credited(tx: &impl Read, project: ProjectId) -> String {
    let mut lines = BTreeMap::new();
    for letter in ["A", "B", "C"] {
        let totals = revenue::totals(tx, Scope::Mailing(mailing(project, letter))).expect("the store is readable");
        for (currency, revenue) in totals {
            let text = format!("{letter} {} {} {}", revenue.conversions, revenue.amount, currency.as_str());
            lines.insert((letter, currency), text);
        }
    }
    lines.into_values().collect::<Vec<_>>().join(", ")
}

const NONE: &str = "";

/// The name of each case, its arrivals, and the revenue attributed to each email afterward.
const CASES: &[(&str, &[&str], &str)] = &[
    // Clicks inside, outside and at the edges of the attribution window.
    ("an order without a click is not attributed", &["paid 50 USD 0"], NONE),
    ("a click an hour before", &["click A -1h", "paid 50 USD 0"], "A 1 50 USD"),
    ("a click a millisecond before", &["click A -1ms", "paid 50 USD 0"], "A 1 50 USD"),
    ("a click in the same millisecond", &["click A 0", "paid 50 USD 0"], "A 1 50 USD"),
    ("a click a millisecond after", &["click A +1ms", "paid 50 USD 0"], NONE),
    ("a click five days before", &["click A -5d", "paid 50 USD 0"], "A 1 50 USD"),
    ("a click just within five days", &["click A -5d+1ms", "paid 50 USD 0"], "A 1 50 USD"),
    ("a click just outside of five days", &["click A -5d-1ms", "paid 50 USD 0"], NONE),
    ("a click over midnight", &["click A -13h", "paid 50 USD 0"], "A 1 50 USD"),
    (
        "a past order is compared with the clicks of its own time",
        &["click A -3d", "click B -1h", "paid 50 USD -2d"],
        "A 1 50 USD",
    ),
    ("a past order with only later clicks", &["click B -1h", "paid 50 USD -2d"], NONE),
    ("an order a little ahead of the clock", &["click A 0", "paid 50 USD +5m"], "A 1 50 USD"),
    // The last click gets the credit.
    ("the last of two emails", &["click A -2h", "click B -1h", "paid 50 USD 0"], "B 1 50 USD"),
    ("the last of two emails, whichever is newer", &["click B -2h", "click A -1h", "paid 50 USD 0"], "A 1 50 USD"),
    ("the last click within the same hour", &["click A -30m", "click B -20m", "click A -10m", "paid 50 USD 0"], "A 1 50 USD"),
    ("a click after the order does not take it over", &["click A -1h", "click B +1m", "paid 50 USD 0"], "A 1 50 USD"),
    ("two clicks in one millisecond: the newer email", &["click B -1h", "click A -1h", "paid 50 USD 0"], "B 1 50 USD"),
    ("an email clicked often is credited once", &["click A -3h", "click A -2h", "click A -1h", "paid 50 USD 0"], "A 1 50 USD"),
    ("an old click expires, a newer one does not", &["click B -6d", "click A -4d", "paid 50 USD 0"], "A 1 50 USD"),
    ("three emails", &["click C -4d", "click A -2d", "click B -3d", "paid 50 USD 0"], "A 1 50 USD"),
    // Only the paying contact's own clicks get credit.
    ("another person's click gets no credit", &["click A -1h 2", "paid 50 USD 0"], NONE),
    ("each person's own click", &["click A -1h", "click B -1h 2", "paid 50 USD 0", "paid 7 USD 0 2 2"], "A 1 50 USD, B 1 7 USD"),
    (
        "the click of the payer gets the credit, not that of the refunded contact",
        &["click A -1h", "click B -1h 2", "paid 50 USD 0", "back 20 USD 0 1 2"],
        "A 1 30 USD",
    ),
    (
        "an order reported for two people belongs to the one who paid earlier",
        &["click A -1h", "click B -1h 2", "paid 50 USD -1m 1 2", "paid 50 USD 0"],
        "B 1 50 USD",
    ),
    // Clicks from before the recipient became a contact.
    ("a click from before", &["before A -1h", "paid 50 USD 0"], "A 1 50 USD"),
    ("the last click is after the person became a contact", &["before B -2h", "click A -1h", "paid 50 USD 0"], "A 1 50 USD"),
    ("the last click is before the person became a contact", &["click B -2h", "before A -1h", "paid 50 USD 0"], "A 1 50 USD"),
    ("a click from before at the edge", &["before A -5d", "paid 50 USD 0"], "A 1 50 USD"),
    ("a click from before outside of five days", &["before A -5d-1ms", "paid 50 USD 0"], NONE),
    ("another person's click from before", &["before A -1h 2", "paid 50 USD 0"], NONE),
    // Clicks by scanners.
    ("a scanner's click loses the credit", &["click A -1h", "paid 50 USD 0", "scanner A"], NONE),
    (
        "the click before a scanner's click gets the credit",
        &["click A -2h", "click B -1h", "paid 50 USD 0", "scanner B"],
        "A 1 50 USD",
    ),
    (
        "a scanner's click recognized before the order",
        &["click A -2h", "click B -1h", "scanner B", "paid 50 USD 0"],
        "A 1 50 USD",
    ),
    ("a person's click after the scanner's", &["click A -2h", "scanner A", "click A -1h", "paid 50 USD 0"], "A 1 50 USD"),
    // Clicks and events that arrive late, early or out of order.
    ("a click recorded only after the order", &["paid 50 USD 0", "click A -1h"], "A 1 50 USD"),
    ("a newer click recorded only after the order", &["click A -2h", "paid 50 USD 0", "click B -1h"], "B 1 50 USD"),
    ("an older click recorded only after the order", &["click B -1h", "paid 50 USD 0", "click A -2h"], "B 1 50 USD"),
    ("a late click outside the window", &["paid 50 USD 0", "click A -5d-1ms"], NONE),
    ("a refund before the payment", &["click A -1h", "back 20 USD +1m", "paid 50 USD 0"], "A 1 30 USD"),
    ("a refund before the payment before the click", &["back 20 USD +1m", "paid 50 USD 0", "click A -1h"], "A 1 30 USD"),
    ("an earlier payment reported late moves the window", &["click A -1h", "paid 50 USD 0", "paid 50 USD -2h"], NONE),
    (
        "an earlier payment reported late moves the attribution",
        &["click A -3h", "click B -1h", "paid 50 USD 0", "paid 50 USD -2h"],
        "A 1 50 USD",
    ),
    // Refunds with the ID of the paid order.
    (
        "a refund goes to the order's email, whatever has been clicked since",
        &["click A -1h", "paid 50 USD 0", "click B +1m", "back 50 USD +2m"],
        "A 1 0 USD",
    ),
    ("a refund long after the window", &["click A -9d", "paid 50 USD -9d", "back 20 USD 0"], "A 1 30 USD"),
    ("a refund of an unattributed order", &["paid 50 USD 0", "back 20 USD +1m"], NONE),
    ("a refund without any order", &["click A -1h", "back 20 USD 0"], NONE),
    (
        "a refund of more than the payment is subtracted in full",
        &["click A -1h", "paid 50 USD 0", "back 80 USD +1m"],
        "A 1 -30 USD",
    ),
    (
        "a refund and a cancellation of one order are both subtracted",
        &["click A -1h", "paid 50 USD 0", "back 50 USD +1m", "back 50 USD +2m"],
        "A 1 -50 USD",
    ),
    (
        "refunds of both orders",
        &["click A -1h", "paid 50 USD 0", "paid 9 USD 0 2", "back 20 USD +1m", "back 9 USD +1m 2"],
        "A 2 30 USD",
    ),
    // Refunds with a separate ID, and refunds without an ID.
    (
        "a refund with its own ID is taken from the last order",
        &["click A -1h", "paid 50 USD 0", "back 20 USD +1m r"],
        "A 1 30 USD",
    ),
    (
        "a refund without an ID is taken from the last order",
        &["click A -1h", "paid 50 USD 0", "back-none 20 USD +1m"],
        "A 1 30 USD",
    ),
    (
        "the last order is the last attributed one",
        &["click A -9d", "paid 50 USD -8d", "paid 9 USD 0 2", "back 20 USD +1m r"],
        "A 1 30 USD",
    ),
    (
        "the last order is the last one paid before the refund",
        &["click A -9d", "paid 50 USD -8d", "click B -1h", "paid 9 USD 0 2", "back 20 USD -7d r"],
        "A 1 30 USD, B 1 9 USD",
    ),
    (
        "the last of two orders",
        &["click A -9d", "paid 50 USD -8d", "click B -1h", "paid 9 USD 0 2", "back 20 USD +1m r"],
        "A 1 50 USD, B 1 -11 USD",
    ),
    ("a refund at the time of the order is after it", &["click A -1h", "paid 50 USD 0", "back 20 USD 0 r"], "A 1 30 USD"),
    ("a refund that is older than every order", &["click A -1h", "paid 50 USD 0", "back 20 USD -2h r"], "A 1 30 USD"),
    ("a refund before an order with another ID", &["back 20 USD +1m r", "click A -1h", "paid 50 USD 0"], "A 1 30 USD"),
    ("a refund before the order and its click", &["back 20 USD +1m r", "paid 50 USD 0", "click A -1h"], "A 1 30 USD"),
    ("a refund without an ID before the order", &["back-none 20 USD +1m", "paid 50 USD 0", "click A -1h"], "A 1 30 USD"),
    (
        "a refund moves to its own order once that is paid",
        &["click A -9d", "paid 50 USD -8d", "back 9 USD +1m 2", "click B -1h", "paid 9 USD 0 2"],
        "A 1 50 USD, B 1 0 USD",
    ),
    (
        "a refund moves with the order it is taken from",
        &["click A -2h", "paid 50 USD 0", "back 20 USD +1m r", "click B -1h"],
        "B 1 30 USD",
    ),
    (
        "a refund moves when a later order turns out to be the last",
        &["click A -9d", "paid 50 USD -8d", "back 20 USD +1m r", "paid 9 USD 0 2", "click B -1h"],
        "A 1 50 USD, B 1 -11 USD",
    ),
    (
        "a refund moves when the click of the last order was a scanner's",
        &["click A -9d", "paid 50 USD -8d", "click B -1h", "paid 9 USD 0 2", "back 20 USD +1m r", "scanner B"],
        "A 1 30 USD",
    ),
    ("a refund is not taken from another person's order", &["click A -1h", "paid 50 USD 0", "back 20 USD +1m r 2"], "A 1 50 USD"),
    (
        "an earlier payment by another person moves the order",
        &["click A -1h", "click B -1h 2", "paid 50 USD 0", "back 20 USD +1m r", "paid 50 USD -1m 1 2"],
        "B 1 50 USD",
    ),
    ("a refund without a click of its person", &["paid 50 USD 0", "back 20 USD +1m r"], NONE),
    (
        "the same refund again, with its own ID and without",
        &[
            "click A -1h",
            "paid 50 USD 0",
            "back 20 USD +1m r",
            "back 20 USD +1m r",
            "back-none 3 USD +1m",
            "back-none 3 USD +1m",
            "back-none 3 USD +2m",
        ],
        "A 1 24 USD",
    ),
    (
        "a refund in another currency than the order",
        &["click A -1h", "paid 50 USD 0", "back 5 EUR +1m r"],
        "A 0 -5 EUR, A 1 50 USD",
    ),
    // Events that are reported more than once.
    ("the same event again", &["click A -1h", "paid 50 USD 0", "paid 50 USD 0"], "A 1 50 USD"),
    ("the same refund again", &["click A -1h", "paid 50 USD 0", "back 20 USD +1m", "back 20 USD +1m"], "A 1 30 USD"),
    ("the same key with another amount", &["click A -1h", "paid-key 50 USD 0 k", "paid-key 90 USD -1m k"], "A 1 50 USD"),
    (
        "refunds with one amount and time but different keys are separate",
        &["click A -1h", "paid 50 USD 0", "back-key 20 USD +1m a", "back-key 20 USD +1m b"],
        "A 1 10 USD",
    ),
    (
        "a refund that is repeated without its key is one refund",
        &["click A -1h", "back 20 USD +1m", "paid 50 USD 0", "back-key 20 USD +1m a"],
        "A 1 30 USD",
    ),
    // Several orders and currencies.
    ("two orders", &["click A -1h", "paid 50 USD 0", "paid 0.10 USD +1m 2"], "A 2 50.1 USD"),
    ("two orders in two currencies", &["click A -1h", "paid 50 USD 0", "paid 45 EUR 0 2"], "A 1 45 EUR, A 1 50 USD"),
    (
        "two orders attributed to two emails",
        &["click A -2h", "paid 50 USD -1h", "click B -30m", "paid 7 USD 0 2"],
        "A 1 50 USD, B 1 7 USD",
    ),
    ("a refund in another currency", &["click A -1h", "paid 50 USD 0", "back 5 EUR +1m"], "A 0 -5 EUR, A 1 50 USD"),
    (
        "moving an attribution moves all currencies",
        &["click A -1h", "paid 50 USD 0", "back 5 EUR +1m", "click B -1m"],
        "B 0 -5 EUR, B 1 50 USD",
    ),
];

#[test]
fn attribution_matches_the_table() {
    let app = TestApp::new();
    app.clock.advance_ms(NOON_MS);
    for (number, (case, arrivals, expected)) in CASES.iter().enumerate() {
        let arrivals: Vec<Arrival> = arrivals.iter().map(|text| Arrival::new(*text)).collect();
        let credited = app
            .data()
            .store
            .write_blocking(move |tx| {
                let project = project(tx, number as u32);
                for arrival in &arrivals {
                    arrival.take(tx, project);
                }
                settle(tx);
                Ok::<_, ()>(credited(tx, project))
            })
            .expect("the write succeeds")
            .expect("the operation accepts the input");
        assert_eq!(credited, *expected, "{case}");
    }
}
