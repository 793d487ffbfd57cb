//! What people paid for and which email is credited with it, as it is kept.
//!
//! `events` writes these tables and knows the rules; they stand here because campaigns, which come before it, read the totals, and
//! because tracking, which comes before it, shows and erases what is kept of a person.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::daily_stats;
use crate::base::amount::Amount;
use crate::base::clock::Timestamp;
use crate::base::currency::Currency;
use crate::engine::store::{Order as Direction, Read, Record, Result, Table, WriteTx, codec};
use crate::features::contacts::external_ids::Digest;
use crate::vocab::ids::{EmailId, MailingId, ProjectId};
use crate::vocab::tables;

const ORDERS: Table<(ProjectId, Digest), Order> = Table::new(tables::ORDERS);
const TOTALS: Table<(ScopeKey, [u8; 3]), Revenue> = Table::new(tables::CONVERSIONS);

/// Mailing or email, and which.
type ScopeKey = (u8, [u8; 12]);

/// Something that was said of an order's money. Two that are equal are one that was said twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PaymentFact {
    pub occurred_at: Timestamp,
    pub currency: Currency,
    /// Never negative.
    pub amount: Amount,
    /// Paid back, or not to be paid any more.
    pub is_refund: bool,
    /// The number of the contact; none when that person was erased.
    pub contact: Option<u32>,
    /// What tells a refund from another of the same time and amount, if anything does. Payments have none: an order has one.
    pub key: Option<Digest>,
}

/// An order: all that was said of it, and what of it stands in the totals.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The number of the contact that the order's id was last said of.
    pub named: Option<u32>,
    /// Sorted, each once.
    pub facts: Vec<PaymentFact>,
    pub credit: Option<Credit>,
    /// What stands in the totals of the credited email.
    pub counted: BTreeMap<Currency, Revenue>,
}

impl Record for Order {
    const VERSION: u8 = 2;

    fn upgrade(version: u8, bytes: &[u8]) -> Option<Self> {
        /// Without keys.
        #[derive(Deserialize)]
        struct FirstVersion {
            named: Option<u32>,
            facts: Vec<(Timestamp, Currency, Amount, bool, Option<u32>)>,
            credit: Option<Credit>,
            counted: BTreeMap<Currency, Revenue>,
        }
        let FirstVersion { named, facts, credit, counted } = (version == 1).then(|| codec::decode_fields(bytes)).flatten()?;
        let facts = facts.into_iter().map(|(occurred_at, currency, amount, is_refund, contact)| PaymentFact {
            occurred_at,
            currency,
            amount,
            is_refund,
            contact,
            key: None,
        });
        Some(Self { named, facts: facts.collect(), credit, counted })
    }
}

impl Order {
    /// The payment that counts, if one is known: the earliest, of several at the same time the first by currency and amount.
    pub fn payment(facts: &[PaymentFact]) -> Option<&PaymentFact> {
        facts.iter().find(|fact| !fact.is_refund)
    }
}

impl PaymentFact {
    /// Whether another says the same, apart from what tells refunds from each other.
    pub fn is_like(&self, other: &Self) -> bool {
        Self { key: None, ..*self } == Self { key: None, ..*other }
    }
}

/// What an order is credited to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credit {
    pub mailing: MailingId,
    pub email: Option<EmailId>,
}

/// Orders, and what they brought, in one currency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revenue {
    pub conversions: i64,
    pub amount: Amount,
}

impl Record for Revenue {}

/// Whose totals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Mailing(MailingId),
    /// All mailings of an email.
    Email(EmailId),
}

impl Scope {
    fn key(self) -> ScopeKey {
        match self {
            Scope::Mailing(id) => (0, id.0),
            Scope::Email(id) => (1, id.0),
        }
    }
}

/// The order whose id has this digest.
pub fn find(tx: &impl Read, project: ProjectId, order: Digest) -> Result<Option<Order>> {
    tx.get(ORDERS, &(project, order))
}

/// Keep an order, and let the totals of what it is credited to follow.
pub fn save(tx: &mut WriteTx<'_>, project: ProjectId, key: Digest, before: &Order, after: &Order) -> Result<()> {
    tx.put(ORDERS, &(project, key), after);
    if (before.credit, &before.counted) == (after.credit, &after.counted) {
        return Ok(());
    }
    let mut changes: BTreeMap<(ScopeKey, Currency), Revenue> = BTreeMap::new();
    for (order, sign) in [(before, -1), (after, 1)] {
        for scope in order.credit.iter().flat_map(Credit::scopes) {
            for (currency, revenue) in &order.counted {
                let change = changes.entry((scope.key(), *currency)).or_default();
                change.conversions += sign * revenue.conversions;
                change.amount = if sign < 0 { change.amount.minus(revenue.amount) } else { change.amount.plus(revenue.amount) };
            }
        }
    }
    for (order, sign) in [(before, -1), (after, 1)] {
        daily_stats::add_revenue(tx, order, sign)?;
    }
    for ((scope, currency), change) in changes {
        let key = (scope, currency.bytes());
        let mut total = tx.get(TOTALS, &key)?.unwrap_or_default();
        total.conversions += change.conversions;
        total.amount = total.amount.plus(change.amount);
        if total == Revenue::default() { tx.delete(TOTALS, &key) } else { tx.put(TOTALS, &key, &total) }
    }
    Ok(())
}

impl Credit {
    fn scopes(&self) -> Vec<Scope> {
        let email = self.email.map(Scope::Email);
        std::iter::once(Scope::Mailing(self.mailing)).chain(email).collect()
    }
}

/// What is credited to a mailing or an email, by currency.
pub fn totals(tx: &impl Read, scope: Scope) -> Result<BTreeMap<Currency, Revenue>> {
    let mut totals = BTreeMap::new();
    tx.visit(TOTALS, &TOTALS.under(&(scope.key(),)), Direction::Forward, |(_, currency), revenue| {
        totals.extend(Currency::from_bytes(currency).map(|currency| (currency, revenue)));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(totals)
}

/// An order does not name this contact any more, who is gone. What it is credited to stays: it is a number without a name. Keys, which
/// callers put together from what they like, become any others: refunds are told apart as before.
pub fn forget(tx: &mut WriteTx<'_>, project: ProjectId, order: Digest, contact: u32) -> Result<()> {
    let Some(mut found) = find(tx, project, order)? else { return Ok(()) };
    found.named = found.named.filter(|number| *number != contact);
    for fact in found.facts.iter_mut().filter(|fact| fact.contact == Some(contact)) {
        fact.contact = None;
        fact.key = fact.key.map(|_| tx.random().bytes());
    }
    found.facts.sort_unstable();
    found.facts.dedup();
    tx.put(ORDERS, &(project, order), &found);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::store::codec::Value;

    /// An order as the first version wrote it.
    #[derive(Serialize, Deserialize)]
    struct Before {
        named: Option<u32>,
        facts: Vec<(Timestamp, Currency, Amount, bool, Option<u32>)>,
        credit: Option<Credit>,
        counted: BTreeMap<Currency, Revenue>,
    }

    impl Record for Before {}

    #[test]
    fn an_order_of_the_first_version_is_read() {
        let amount = Amount::parse("0.5").expect("a number");
        let fact = |is_refund| (Timestamp(5), Currency::USD, amount, is_refund, Some(7));
        let counted = BTreeMap::from([(Currency::USD, Revenue { conversions: 1, amount })]);
        let before = Before { named: Some(9), facts: vec![fact(false), fact(true)], credit: None, counted: counted.clone() };
        let (mut bytes, mut again) = (Vec::new(), Vec::new());
        before.encode(&mut bytes);
        let order = Order::decode(&bytes).expect("it is read");
        assert_eq!((order.named, order.credit, &order.counted), (Some(9), None, &counted));
        let told: Vec<_> = order.facts.iter().map(|fact| (fact.is_refund, fact.amount, fact.contact, fact.key)).collect();
        assert_eq!(told, [(false, amount, Some(7), None), (true, amount, Some(7), None)]);
        order.encode(&mut again);
        assert_eq!(Order::decode(&again), Some(order));
    }
}
