//! Tests that the attribution does not depend on the sequence in which clicks, payments and refunds arrive, or on when the worker runs.

use proptest::prelude::*;
use proptest::sample::select;

use super::attribution::{Arrival, credited, project, settle};
use crate::testing::TestApp;

const NOON_MS: i64 = 10 * 24 * 60 * 60 * 1000;

/// Returns the attribution after the arrivals. Each bit in `looks` determines whether the worker runs after the arrival at that position.
fn outcome(app: &TestApp, number: u32, arrivals: Vec<Arrival>, looks: u32) -> String {
    let store = &app.data().store;
    let written = store.write_blocking(move |tx| {
        let project = project(tx, number);
        for (place, arrival) in arrivals.iter().enumerate() {
            arrival.take(tx, project);
            if looks & (1 << place) != 0 {
                settle(tx);
            }
        }
        settle(tx);
        Ok::<_, ()>(credited(tx, project))
    });
    written.expect("the write succeeds").expect("the operation accepts the input")
}

/// Returns all permutations of this many items (Heap's algorithm).
fn orders(many: usize) -> Vec<Vec<usize>> {
    fn permute(end: usize, places: &mut Vec<usize>, all: &mut Vec<Vec<usize>>) {
        if end <= 1 {
            all.push(places.clone());
            return;
        }
        for place in 0..end {
            permute(end - 1, places, all);
            places.swap(if end.is_multiple_of(2) { place } else { 0 }, end - 1);
        }
    }
    let mut all = Vec::new();
    permute(many, &mut (0..many).collect(), &mut all);
    all
}

#[test]
fn all_720_orders_of_six_arrivals_give_the_same_result() {
    let app = TestApp::new();
    app.clock.advance_ms(NOON_MS);
    let arrivals =
        ["click A -3h", "click B -1h", "paid 50 USD 0", "paid 50 USD -2h", "back 20 USD +1m", "back 5 EUR -4h"].map(Arrival::new);
    let orders = orders(arrivals.len());
    assert_eq!(orders.len(), 720);
    for (number, order) in orders.iter().enumerate() {
        let arrivals: Vec<Arrival> = order.iter().map(|place| arrivals[*place].clone()).collect();
        let looks = (number as u32).wrapping_mul(0x9E37_79B9) >> 26;
        assert_eq!(outcome(&app, number as u32, arrivals, looks), "A 0 -5 EUR, A 1 30 USD", "{order:?}");
    }
}

fn arrival() -> impl Strategy<Value = String> {
    let times = vec!["-6d", "-5d-1ms", "-5d", "-2d", "-3h", "-1h", "-1h+1ms", "-1ms", "0"];
    let click = (select(vec!["A", "B", "C"]), select(times.clone()), 1..3_u8)
        .prop_map(|(email, time, person)| format!("click {email} {time} {person}"));
    let amounts = vec!["0", "0.1", "20", "49.99", "50"];
    // An order's number determines its contact. Otherwise, two contacts could pay the same order at the same time, and the result would
    // depend on the sequence.
    let money = |what: &'static str| {
        (select(amounts.clone()), select(vec!["USD", "EUR"]), select(times.clone()), 1..5_u8).prop_map(
            move |(amount, currency, time, order)| format!("{what} {amount} {currency} {time} {order} {}", order % 2 + 1),
        )
    };
    // Events with the same key have the same content. Otherwise, the result would depend on which event arrives first.
    let keyed = (select(amounts.clone()), select(times.clone()), 1..3_u8)
        .prop_map(|(amount, time, key)| format!("back-key {amount} USD {time} {amount}{time}{key} 2"));
    let without_order = (select(amounts.clone()), select(times.clone()), 1..3_u8)
        .prop_map(|(amount, time, person)| format!("back-none {amount} USD {time} {person}"));
    prop_oneof![2 => click, 2 => money("paid"), 1 => money("back"), 1 => keyed, 1 => without_order]
}

#[test]
fn any_arrivals_in_any_order_with_repeats_give_the_same_result() {
    let app = TestApp::new();
    app.clock.advance_ms(NOON_MS);
    let number = std::cell::Cell::new(0);
    let next = || {
        number.set(number.get() + 1);
        number.get()
    };
    // About 38% of the cases attribute an order to an email. With only 300 cases, the check at the end would fail in one in twenty runs.
    let config = ProptestConfig { failure_persistence: None, cases: 400, ..ProptestConfig::default() };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let attributed = std::cell::Cell::new(0);
    let cases = (prop::collection::vec(arrival(), 2..12), any::<u32>(), any::<u32>());
    let cases = cases.prop_flat_map(|(arrivals, looks, again)| {
        (Just(arrivals.clone()), Just(arrivals).prop_shuffle(), Just(looks), Just(again))
    });
    runner
        .run(&cases, |(arrivals, shuffled, looks, again)| {
            let all = |texts: &[String]| texts.iter().map(Arrival::new).collect::<Vec<_>>();
            let expected = outcome(&app, next(), all(&arrivals), 0);
            let repeats = shuffled.iter().enumerate().filter(|(place, _)| again & (1 << place) != 0);
            let mut other = all(&shuffled);
            other.extend(repeats.map(|(_, text)| Arrival::new(text)));
            prop_assert_eq!(outcome(&app, next(), other, looks), &*expected, "{:?}", shuffled);
            attributed.set(attributed.get() + u32::from(!expected.is_empty()));
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(attributed.get() > 100, "only {} cases attributed anything", attributed.get());
}
