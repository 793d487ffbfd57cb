//! Stored orders, and the totals of the emails that are credited with them.
//!
//! `events` writes these tables and knows the rules. They are here because `campaigns` and `tracking`, which come before `events`, use
//! them: campaigns show the totals, and tracking exports and erases what is stored about a person.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

pub use super::model::Revenue;
use super::{daily_stats, store};
use crate::base::amount::Amount;
use crate::base::clock::Timestamp;
use crate::base::currency::Currency;
use crate::engine::store::key::Key;
use crate::engine::store::{Order as Direction, Read, Record, Result, Span, Table, WriteTx};
use crate::features::contacts::external_ids::Digest;
use crate::vocab::ids::{EmailId, MailingId, ProjectId};
use crate::vocab::tables;

const ORDERS: Table<(ProjectId, Digest), Order> = Table::new(tables::ORDERS);
const TOTALS: Table<(ScopeKey, [u8; 3]), Revenue> = Table::new(tables::CONVERSIONS);
/// The orders of a contact that refunds depend on.
const BY_CONTACT: Table<(ProjectId, u32, u8, Place), ()> = Table::new(tables::ORDERS_BY_CONTACT);

/// When an order was paid, or when the first of its refunds occurred; and which order it is.
pub type Place = (Timestamp, Digest);

/// In [`BY_CONTACT`]: an order that is paid and credited to an email.
const CREDITED: u8 = 0;
/// In [`BY_CONTACT`]: an order with refunds and no payment.
const UNPAID: u8 = 1;

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

impl Record for Order {}

impl Order {
    /// The payment that counts, if one is known: the earliest, of several at the same time the first by currency and amount.
    pub fn payment(facts: &[PaymentFact]) -> Option<&PaymentFact> {
        facts.iter().find(|fact| !fact.is_refund)
    }

    /// Whose order it is and what it is credited to, if it is paid and credited.
    pub fn credited(&self) -> Option<(u32, Credit)> {
        Some((Self::payment(&self.facts)?.contact?, self.credit?))
    }

    /// Its row in [`BY_CONTACT`], if it has one.
    fn row(&self, project: ProjectId, digest: Digest) -> Option<(ProjectId, u32, u8, Place)> {
        let kind = match (Self::payment(&self.facts), self.credit) {
            (Some(_), Some(_)) => CREDITED,
            (Some(_), None) => return None,
            (None, _) => UNPAID,
        };
        let fact = Self::payment(&self.facts).or(self.facts.first())?;
        Some((project, fact.contact?, kind, (fact.occurred_at, digest)))
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
    /// When the order was paid: charts show it on that day. For refunds without a payment, when the order was paid that they are
    /// taken from.
    pub paid_at: Timestamp,
}

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

/// Save an order and update the totals of the emails it is credited to.
pub fn save(tx: &mut WriteTx<'_>, project: ProjectId, digest: Digest, before: &Order, after: &Order) -> Result<()> {
    put(tx, project, digest, before, after);
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
        let Some(credit) = order.credit else { continue };
        if let Some(mailing) = store::by_id(tx, credit.mailing)? {
            daily_stats::add_revenue(tx, &mailing, credit.paid_at, &order.counted, sign)?;
        }
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

fn put(tx: &mut WriteTx<'_>, project: ProjectId, digest: Digest, before: &Order, after: &Order) {
    tx.put(ORDERS, &(project, digest), after);
    let (old, new) = (before.row(project, digest), after.row(project, digest));
    if old == new {
        return;
    }
    if let Some(row) = old {
        tx.delete(BY_CONTACT, &row);
    }
    if let Some(row) = new {
        tx.put(BY_CONTACT, &row, &());
    }
}

/// What refunds without a payment are taken from: of the contact's credited orders the last one paid by then, or else the first one
/// paid later.
pub fn last_credit(tx: &impl Read, project: ProjectId, contact: u32, by: Timestamp) -> Result<Option<Credit>> {
    let credited = BY_CONTACT.under(&(project, contact, CREDITED));
    let later = (project, contact, CREDITED, (by.plus_ms(1), Digest::default())).to_bytes();
    let before = Span { from: credited.from, to: Some(later.clone()) };
    let after = Span { from: later, to: credited.to };
    for (span, direction) in [(before, Direction::Backward), (after, Direction::Forward)] {
        if let Some(((.., (_, digest)), ())) = tx.list(BY_CONTACT, &span, direction, 1)?.pop() {
            return Ok(find(tx, project, digest)?.and_then(|order| order.credit));
        }
    }
    Ok(None)
}

/// Up to `limit` orders of a contact that have refunds and no payment, those after a place.
pub fn unpaid(tx: &impl Read, project: ProjectId, contact: u32, after: Option<Place>, limit: usize) -> Result<Vec<Place>> {
    let mut span = BY_CONTACT.under(&(project, contact, UNPAID));
    if let Some(place) = after {
        span.from = (project, contact, UNPAID, place).to_bytes();
        // A key starts after this one if it continues it.
        span.from.push(0);
    }
    let rows = tx.list(BY_CONTACT, &span, Direction::Forward, limit)?;
    Ok(rows.into_iter().map(|((.., place), ())| place).collect())
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

/// Remove a deleted contact from an order. What the order is credited to stays: it is a number without a name. Keys, which callers make
/// of what they like, become random ones, so that different refunds stay different.
pub fn forget(tx: &mut WriteTx<'_>, project: ProjectId, digest: Digest, contact: u32) -> Result<()> {
    let Some(before) = find(tx, project, digest)? else { return Ok(()) };
    let mut after = before.clone();
    after.named = after.named.filter(|number| *number != contact);
    for fact in after.facts.iter_mut().filter(|fact| fact.contact == Some(contact)) {
        fact.contact = None;
        fact.key = fact.key.map(|_| tx.random().bytes());
    }
    after.facts.sort_unstable();
    after.facts.dedup();
    put(tx, project, digest, &before, &after);
    Ok(())
}
