//! Revenue of emails as the API returns it: one main currency, the others listed separately and never added together.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::orders::Revenue;
use crate::base::amount::Amount;
use crate::base::currency::Currency;

/// Orders attributed to an email: the last one its recipient clicked in the five days before the order.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Conversion {
    /// Orders in `currency`, each counted once, including refunded ones.
    pub conversions: i64,
    /// Their revenue minus refunds, as an exact decimal.
    pub revenue: Amount,
    /// The currency with the most orders; the alphabetically first if there are several. ISO 4217.
    pub currency: Currency,
    /// Always `events`: reported with POST /v1/events.
    pub source: &'static str,
    /// Revenue in other currencies; absent if there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub other_currencies: Vec<ConversionInOtherCurrency>,
}

/// The same in another currency.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConversionInOtherCurrency {
    pub currency: Currency,
    pub conversions: i64,
    pub revenue: Amount,
}

impl Conversion {
    /// Returns the totals to show; `None` if there are none.
    pub fn of(totals: &BTreeMap<Currency, Revenue>) -> Option<Self> {
        // If several share the maximum, `max_by_key` returns the last one.
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

    /// An example for the API documents.
    pub fn sample() -> Self {
        let revenue = |conversions, amount| Revenue { conversions, amount: Amount::parse(amount).expect("a number") };
        let euro = "EUR".parse().expect("a currency");
        let totals = BTreeMap::from([(Currency::USD, revenue(12, "1043.4")), (euro, revenue(2, "89.9"))]);
        Self::of(&totals).expect("there is something")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(totals: &[(&str, i64, &str)]) -> String {
        let revenue = |(code, conversions, amount): &(&str, i64, &str)| {
            let amount = Amount::parse(amount).expect("a number");
            (code.parse().expect("a currency"), Revenue { conversions: *conversions, amount })
        };
        serde_json::to_string(&Conversion::of(&totals.iter().map(revenue).collect())).expect("JSON")
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
