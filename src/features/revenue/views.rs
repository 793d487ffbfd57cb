//! Revenue of emails as the API returns it: one main currency, with other currencies listed separately and never added up.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::model::Revenue;
use crate::base::amount::Amount;
use crate::base::currency::Currency;

/// The orders attributed to an email. An order is attributed to the last email that the contact clicked in the five days before the order.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Conversion {
    /// The number of orders in `currency`, including refunded orders. Each order is counted once.
    pub conversions: i64,
    /// The revenue of the orders in `currency` minus refunds, as an exact decimal.
    pub revenue: Amount,
    /// The currency with the most orders, as an ISO 4217 code. If several currencies tie, this is the first of them in alphabetical order.
    pub currency: Currency,
    /// How the orders were reported; always `events`, because orders are reported as customer events.
    pub source: &'static str,
    /// The orders in other currencies; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub other_currencies: Vec<ConversionInOtherCurrency>,
}

/// The orders in another currency that are attributed to an email.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConversionInOtherCurrency {
    pub currency: Currency,
    pub conversions: i64,
    pub revenue: Amount,
}

impl Conversion {
    /// Returns the view of these totals; returns `None` if there are no totals.
    pub fn of(totals: &BTreeMap<Currency, Revenue>) -> Option<Self> {
        // If several currencies tie, the first one in alphabetical order is the main currency. Reverse the order, because `max_by_key`
        // returns the last of several maximums.
        let (main, revenue) = totals.iter().rev().max_by_key(|(_, revenue)| revenue.conversions)?;
        let others = totals.iter().filter(|(currency, _)| *currency != main);
        Some(Self {
            conversions: revenue.conversions,
            revenue: revenue.amount,
            currency: *main,
            source: "events",
            other_currencies: others
                .map(|(currency, revenue)| ConversionInOtherCurrency {
                    currency: *currency,
                    conversions: revenue.conversions,
                    revenue: revenue.amount,
                })
                .collect(),
        })
    }

    /// Returns an example for the documentation.
    pub fn sample() -> Self {
        let revenue =
            |conversions, amount| Revenue { conversions, amount: Amount::parse(amount).expect("the value is a number") };
        let euro = "EUR".parse().expect("the currency is valid");
        let totals = BTreeMap::from([(Currency::USD, revenue(12, "1043.4")), (euro, revenue(2, "89.9"))]);
        Self::of(&totals).expect("the example has totals")
    }
}

/// The orders and revenue in one currency.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RevenueView {
    pub currency: Currency,
    pub conversions: i64,
    pub revenue: Amount,
}

impl RevenueView {
    pub fn of((currency, revenue): (&Currency, &Revenue)) -> Self {
        Self { currency: *currency, conversions: revenue.conversions, revenue: revenue.amount }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(totals: &[(&str, i64, &str)]) -> String {
        let revenue = |(code, conversions, amount): &(&str, i64, &str)| {
            let amount = Amount::parse(amount).expect("the value is a number");
            (code.parse().expect("the currency is valid"), Revenue { conversions: *conversions, amount })
        };
        serde_json::to_string(&Conversion::of(&totals.iter().map(revenue).collect())).expect("the value can be written as JSON")
    }

    #[test]
    fn the_currency_with_most_orders_comes_first_then_alphabetical_order() {
        assert_eq!(shown(&[]), "null");
        assert_eq!(shown(&[("USD", 1, "10.10")]), r#"{"conversions":1,"revenue":10.1,"currency":"USD","source":"events"}"#);
        let three = shown(&[("USD", 2, "1"), ("EUR", 3, "-0.5"), ("CHF", 3, "7")]);
        assert!(
            three.starts_with(r#"{"conversions":3,"revenue":7,"currency":"CHF","source":"events","otherCurrencies":["#),
            "{three}"
        );
        assert!(three.contains(r#"{"currency":"EUR","conversions":3,"revenue":-0.5}"#), "{three}");
    }
}
