//! RULES: the value of an order, and the email that the order is attributed to. The results depend only on the reported events and the
//! clicks, not on the sequence in which they arrive.
//!
//! 1. The earliest payment of an order is its conversion. Other payments of the same order count as repeats.
//! 2. A paid order is credited to the email that its contact clicked last in the five days before the payment, both ends included. Of two
//!    clicks in the same millisecond, the click in the newer email is used.
//! 3. Refunds and cancellations are subtracted as reported, even if they exceed the payment. Amounts in different currencies are never
//!    added. Two refunds with the same time and amount are separate if their keys differ. A refund without a key is treated as a repeat of
//!    a refund with a key.
//! 4. A refund is taken from the email that its own order is credited to, whichever arrives first. If no payment of that order is known,
//!    because shops number refunds themselves or the payment has not arrived yet, the refund is taken from the contact's last credited
//!    order: the last order paid by the time of the first refund or, if there is none, the first order paid later.

use std::collections::BTreeMap;

use crate::base::clock::Timestamp;
use crate::base::currency::Currency;
use crate::base::period::Period;
use crate::features::revenue::{Order, PaymentFact, Revenue};
use crate::vocab::limits::CONVERSION_WINDOW_MS;

/// The result of attributing an order: its contact, its revenue, and the fact that determines which email is credited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribution {
    /// The contact who paid or, if no payment is known, who received the refund; `None` if the contact was erased.
    pub contact: Option<u32>,
    pub basis: Basis,
    /// The amounts that the order adds to the totals of the attributed email.
    pub revenue: BTreeMap<Currency, Revenue>,
}

/// The fact that determines which email an order is attributed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The contact's last click in the five days before this payment.
    Click { paid_at: Timestamp },
    /// The contact's last attributed order at the time of this refund, because no payment of the refunded order is known.
    LastOrder { refunded_at: Timestamp },
}

/// Returns the attribution of an order from its reported facts, which must be sorted and without duplicates; `None` if there are no
/// facts.
pub fn attribute(facts: &[PaymentFact]) -> Option<Attribution> {
    let mut revenue: BTreeMap<Currency, Revenue> = BTreeMap::new();
    for (place, fact) in facts.iter().enumerate().filter(|(_, fact)| fact.is_refund) {
        // If facts differ only in their keys, the fact without a key comes first.
        let is_repeat = fact.key.is_none() && facts.get(place + 1).is_some_and(|next| next.is_like(fact));
        if is_repeat {
            continue;
        }
        let refunded = revenue.entry(fact.currency).or_default();
        refunded.amount = refunded.amount.minus(fact.amount);
    }
    let payment = Order::payment(facts);
    if let Some(payment) = payment {
        let paid = revenue.entry(payment.currency).or_default();
        paid.conversions = 1;
        paid.amount = paid.amount.plus(payment.amount);
    }
    revenue.retain(|_, revenue| *revenue != Revenue::default());
    let (contact, basis) = match payment {
        Some(payment) => (payment.contact, Basis::Click { paid_at: payment.occurred_at }),
        None => facts.first().map(|first| (first.contact, Basis::LastOrder { refunded_at: first.occurred_at }))?,
    };
    Some(Attribution { contact, basis, revenue })
}

/// Returns the period in which a click counts toward an order that was paid at this time.
pub fn window(paid_at: Timestamp) -> Period {
    Period { from: paid_at.plus_ms(-CONVERSION_WINDOW_MS), to: paid_at.plus_ms(1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::amount::Amount;
    use crate::features::customer_events::external_ids::digest;

    const MINUTE: i64 = 60_000;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    const NOON: Timestamp = Timestamp(1_767_268_800_000);

    fn fact(text: &str) -> PaymentFact {
        let mut words = text.split(' ');
        let mut next = || words.next().expect("a fact has a kind, an amount, a currency and minutes");
        let (what, amount, currency, minutes) = (next(), next(), next(), next());
        let key = words.next().map(digest);
        PaymentFact {
            occurred_at: NOON.plus_ms(minutes.parse::<i64>().expect("the minutes are a number") * MINUTE),
            currency: currency.parse().expect("the currency is valid"),
            amount: Amount::parse(amount).expect("the amount is valid"),
            is_refund: what == "back",
            contact: Some(1),
            key,
        }
    }

    /// Returns the conversions and revenue as text, such as "1 49.9 USD".
    fn result_of(facts: &[&str]) -> String {
        let mut facts: Vec<PaymentFact> = facts.iter().map(|text| fact(text)).collect();
        facts.sort_unstable();
        facts.dedup();
        let Some(attribution) = attribute(&facts) else { return "nothing".into() };
        let each = attribution
            .revenue
            .iter()
            .map(|(currency, revenue)| format!("{} {} {}", revenue.conversions, revenue.amount, currency.as_str()));
        each.collect::<Vec<_>>().join(", ")
    }

    /// TABLE: the reported facts about an order, and the expected conversions and revenue.
    const CASES: &[(&str, &[&str], &str)] = &[
        ("a payment is a conversion", &["paid 49.90 USD 0"], "1 49.9 USD"),
        ("a payment of zero is a conversion", &["paid 0 USD 0"], "1 0 USD"),
        ("a payment reported twice is one conversion", &["paid 49.90 USD 0", "paid 49.90 USD 0"], "1 49.9 USD"),
        ("a later payment belongs to the same order", &["paid 49.90 USD 0", "paid 49.90 USD 5"], "1 49.9 USD"),
        ("the earliest payment is used, not the largest", &["paid 10 USD 0", "paid 99 USD 5"], "1 10 USD"),
        ("the earliest payment is used, even if it arrives last", &["paid 99 USD 5", "paid 10 USD 0"], "1 10 USD"),
        ("at the same time, the first payment by currency is used", &["paid 10 USD 0", "paid 10 EUR 0"], "1 10 EUR"),
        ("at the same time, the smaller payment in a currency is used", &["paid 12 USD 0", "paid 10 USD 0"], "1 10 USD"),
        ("a full refund leaves zero, and the order", &["paid 50 USD 0", "back 50 USD 9"], "1 0 USD"),
        ("a partial refund leaves the rest", &["paid 50 USD 0", "back 20 USD 9"], "1 30 USD"),
        ("partial refunds add up", &["paid 50 USD 0", "back 20 USD 9", "back 5 USD 10"], "1 25 USD"),
        ("two equal refunds at different times are separate", &["paid 50 USD 0", "back 20 USD 9", "back 20 USD 10"], "1 10 USD"),
        ("two equal refunds at one time are one refund", &["paid 50 USD 0", "back 20 USD 9", "back 20 USD 9"], "1 30 USD"),
        (
            "two equal refunds at one time with different keys are separate",
            &["paid 50 USD 0", "back 20 USD 9 a", "back 20 USD 9 b"],
            "1 10 USD",
        ),
        (
            "two equal refunds at one time with one key are one refund",
            &["paid 50 USD 0", "back 20 USD 9 a", "back 20 USD 9 a"],
            "1 30 USD",
        ),
        (
            "a refund that is repeated without its key is one refund",
            &["paid 50 USD 0", "back 20 USD 9 a", "back 20 USD 9", "back 20 USD 9 b"],
            "1 10 USD",
        ),
        (
            "keys of refunds with other times and amounts have no effect",
            &["paid 50 USD 0", "back 20 USD 9", "back 5 USD 9 a"],
            "1 25 USD",
        ),
        ("a refund of more than the payment is subtracted in full", &["paid 50 USD 0", "back 80 USD 9"], "1 -30 USD"),
        ("a refund and a cancellation are both subtracted", &["paid 50 USD 0", "back 50 USD 9", "back 50 USD 10"], "1 -50 USD"),
        ("a refund alone is a negative amount", &["back 50 USD 0"], "0 -50 USD"),
        ("several refunds alone are negative amounts", &["back 50 USD 0", "back 5 EUR 1", "back 1 USD 2"], "0 -5 EUR, 0 -51 USD"),
        ("a repeated refund is subtracted once", &["back 50 USD 0 a", "back 50 USD 0 a", "back 50 USD 0"], "0 -50 USD"),
        ("a refund that is reported before its payment is subtracted", &["back 20 USD 9", "paid 50 USD 0"], "1 30 USD"),
        ("a refund that is older than its payment is subtracted", &["back 20 USD -9", "paid 50 USD 0"], "1 30 USD"),
        ("a refund of zero changes nothing", &["paid 50 USD 0", "back 0 USD 9"], "1 50 USD"),
        ("a refund in another currency is separate", &["paid 50 USD 0", "back 20 EUR 9"], "0 -20 EUR, 1 50 USD"),
        (
            "each currency is separate",
            &["paid 50 USD 0", "back 20 EUR 9", "back 10 USD 9", "back 1 CHF 9"],
            "0 -1 CHF, 0 -20 EUR, 1 40 USD",
        ),
        ("a refund of zero in another currency changes nothing", &["paid 50 USD 0", "back 0 EUR 9"], "1 50 USD"),
        ("a currency without decimals", &["paid 5000 JPY 0", "back 1 JPY 9"], "1 4999 JPY"),
        ("a currency with three decimals", &["paid 1.234 KWD 0", "back 0.001 KWD 9"], "1 1.233 KWD"),
        ("tenths are exact", &["paid 0.3 USD 0", "back 0.1 USD 1", "back 0.1 USD 2", "back 0.1 USD 3"], "1 0 USD"),
        (
            "the digits of a binary fraction are exact",
            &["paid 59.970000000000006 USD 0", "back 0.000000000000006 USD 1"],
            "1 59.97 USD",
        ),
        ("a large sum keeps its last digit", &["paid 999999999999.99 USD 0", "back 0.01 USD 1"], "1 999999999999.98 USD"),
        ("a second payment in another currency belongs to the same order", &["paid 50 USD 0", "paid 45 EUR 5"], "1 50 USD"),
        (
            "a refund in the currency of the second payment",
            &["paid 50 USD 0", "paid 45 EUR 5", "back 45 EUR 9"],
            "0 -45 EUR, 1 50 USD",
        ),
        ("an earlier payment reported late moves the order", &["paid 50 USD 0", "back 50 USD 9", "paid 60 USD -5"], "1 10 USD"),
        ("an order without reports has no result", &[], "nothing"),
    ];

    #[test]
    fn orders_match_the_table() {
        for (case, facts, expected) in CASES {
            assert_eq!(result_of(facts), *expected, "{case}");
            let mut turned: Vec<&str> = facts.to_vec();
            turned.reverse();
            assert_eq!(result_of(&turned), *expected, "{case}, reported in reverse");
        }
    }

    #[test]
    fn a_payment_is_attributed_by_click_and_a_lone_refund_by_the_last_order() {
        let basis = |facts: &[&str]| {
            let mut facts: Vec<PaymentFact> = facts.iter().map(|text| fact(text)).collect();
            facts.sort_unstable();
            attribute(&facts).map(|attribution| attribution.basis)
        };
        let later = NOON.plus_ms(MINUTE);
        assert_eq!(basis(&["back 5 USD 0", "paid 5 USD 1"]), Some(Basis::Click { paid_at: later }));
        assert_eq!(basis(&["back 5 USD 2", "back 5 USD 1"]), Some(Basis::LastOrder { refunded_at: later }));
    }

    #[test]
    fn the_window_is_five_days_with_both_ends() {
        for (after, inside) in [
            (-5 * DAY - 1, false),
            (-5 * DAY, true),
            (-5 * DAY + 1, true),
            (-HOUR, true),
            (-1, true),
            (0, true),
            (1, false),
            (HOUR, false),
        ] {
            assert_eq!(window(NOON).contains(NOON.plus_ms(after)), inside, "{after}");
        }
    }
}
