//! Orders, the mailings they are credited to, and their revenue.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::base::amount::Amount;
use crate::base::clock::Timestamp;
use crate::base::currency::Currency;
use crate::engine::store::Record;
use crate::features::customer_events::external_ids::Digest;
use crate::vocab::ids::{EmailId, MailingId};

/// A reported payment or refund. Two equal facts are the same payment or refund reported twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PaymentFact {
    pub occurred_at: Timestamp,
    pub currency: Currency,
    /// The amount, which is never negative.
    pub amount: Amount,
    /// Whether this is a refund or a canceled payment rather than a payment.
    pub is_refund: bool,
    /// The number of the contact who placed the order; absent if the contact was erased.
    pub contact: Option<u32>,
    /// A key that distinguishes refunds with the same time and amount, if one was reported. A payment has no key, because only the
    /// earliest payment of an order counts.
    pub key: Option<Digest>,
}

/// An order: its reported facts, and its contribution to the totals.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The number of the contact in the latest report of the order.
    pub named: Option<u32>,
    /// The payments and refunds, sorted and without duplicates.
    pub facts: Vec<PaymentFact>,
    pub credit: Option<Credit>,
    /// The order's contribution to the totals of the credited email.
    pub counted: BTreeMap<Currency, Revenue>,
}

impl Record for Order {}

impl Order {
    /// Returns the order's payment, if there is one: the earliest fact that is not a refund. Facts with the same time are ordered by
    /// currency and amount.
    pub fn payment(facts: &[PaymentFact]) -> Option<&PaymentFact> {
        facts.iter().find(|fact| !fact.is_refund)
    }

    /// Returns the contact and the credit of an order that is paid and credited.
    pub fn credited(&self) -> Option<(u32, Credit)> {
        Some((Self::payment(&self.facts)?.contact?, self.credit?))
    }
}

impl PaymentFact {
    /// Returns whether both facts are equal, ignoring their keys.
    pub fn is_like(&self, other: &Self) -> bool {
        Self { key: None, ..*self } == Self { key: None, ..*other }
    }
}

/// The mailing and email to which an order is attributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credit {
    pub mailing: MailingId,
    pub email: Option<EmailId>,
    /// When the order was paid; charts show the order on this day. If an order has refunds but no payment, this is the payment time of the
    /// order from whose revenue the refunds are subtracted.
    pub paid_at: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Mailing(MailingId),
    /// All mailings that send this email.
    Email(EmailId),
}

/// The number of orders and their revenue, in one currency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revenue {
    pub conversions: i64,
    pub amount: Amount,
}

impl Record for Revenue {}
