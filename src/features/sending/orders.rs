//! What people paid for and which email is credited with it, as it is kept.
//!
//! `events` writes these tables and knows the rules; they stand here because campaigns, which come before it, read the totals, and
//! because tracking, which comes before it, shows and erases what is kept of a person.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::days;
use crate::base::amount::Amount;
use crate::base::clock::Timestamp;
use crate::base::currency::Currency;
use crate::engine::store::{Order as Direction, Read, Record, Result, Table, WriteTx};
use crate::features::contacts::identities::Digest;
use crate::vocab::ids::{EmailId, MailingId, ProjectId};
use crate::vocab::tables;

const ORDERS: Table<(ProjectId, Digest), Order> = Table::new(tables::ORDERS);
const TOTALS: Table<(ScopeKey, [u8; 3]), Takings> = Table::new(tables::CONVERSIONS);

/// Mailing or email, and which.
type ScopeKey = (u8, [u8; 12]);

/// Something that was said of an order's money. Two that are equal are one that was said twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Fact {
    pub occurred_at: Timestamp,
    pub currency: Currency,
    /// Never negative.
    pub amount: Amount,
    /// Paid back, or not to be paid any more.
    pub is_refund: bool,
    /// The number of the contact; none when that person was erased.
    pub contact: Option<u32>,
}

/// An order: all that was said of it, and what of it stands in the totals.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The number of the contact that the order's id was last said of.
    pub named: Option<u32>,
    /// Sorted, each once.
    pub facts: Vec<Fact>,
    pub credit: Option<Credit>,
    /// What stands in the totals of the credited email.
    pub counted: BTreeMap<Currency, Takings>,
}

impl Record for Order {}

/// What an order is credited to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credit {
    pub mailing: MailingId,
    pub email: Option<EmailId>,
}

/// Orders, and what they brought, in one currency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Takings {
    pub conversions: i64,
    pub amount: Amount,
}

impl Record for Takings {}

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
    let mut changes: BTreeMap<(ScopeKey, Currency), Takings> = BTreeMap::new();
    for (order, sign) in [(before, -1), (after, 1)] {
        for scope in order.credit.iter().flat_map(Credit::scopes) {
            for (currency, takings) in &order.counted {
                let change = changes.entry((scope.key(), *currency)).or_default();
                change.conversions += sign * takings.conversions;
                change.amount = if sign < 0 { change.amount.minus(takings.amount) } else { change.amount.plus(takings.amount) };
            }
        }
    }
    for (order, sign) in [(before, -1), (after, 1)] {
        days::add_takings(tx, order, sign)?;
    }
    for ((scope, currency), change) in changes {
        let key = (scope, currency.bytes());
        let mut total = tx.get(TOTALS, &key)?.unwrap_or_default();
        total.conversions += change.conversions;
        total.amount = total.amount.plus(change.amount);
        if total == Takings::default() { tx.delete(TOTALS, &key) } else { tx.put(TOTALS, &key, &total) }
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
pub fn totals(tx: &impl Read, scope: Scope) -> Result<BTreeMap<Currency, Takings>> {
    let mut totals = BTreeMap::new();
    tx.visit(TOTALS, &TOTALS.under(&(scope.key(),)), Direction::Forward, |(_, currency), takings| {
        totals.extend(Currency::from_bytes(currency).map(|currency| (currency, takings)));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(totals)
}

/// An order does not name this contact any more, who is gone. What it is credited to stays: it is a number without a name.
pub fn forget(tx: &mut WriteTx<'_>, project: ProjectId, order: Digest, contact: u32) -> Result<()> {
    let Some(mut found) = find(tx, project, order)? else { return Ok(()) };
    found.named = found.named.filter(|number| *number != contact);
    for fact in &mut found.facts {
        fact.contact = fact.contact.filter(|number| *number != contact);
    }
    found.facts.sort_unstable();
    found.facts.dedup();
    tx.put(ORDERS, &(project, order), &found);
    Ok(())
}
