//! Stored orders, and the revenue totals of the emails they are attributed to.
//!
//! `events` writes these tables and knows the rules. They are here because `campaigns` and `tracking`, which come before `events`, use
//! them: campaigns show the totals, and tracking exports and erases a contact's data.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::daily_stats;
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

/// When an order was paid, or when the first of its refunds occurred, and the order's digest.
pub type Place = (Timestamp, Digest);

/// In [`BY_CONTACT`]: an order that is paid and credited to an email.
const CREDITED: u8 = 0;
/// In [`BY_CONTACT`]: an order with refunds and no payment.
const UNPAID: u8 = 1;

/// Mailing or email, and its id.
type ScopeKey = (u8, [u8; 12]);

/// A reported payment or refund. Two equal facts are one fact reported twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PaymentFact {
    pub occurred_at: Timestamp,
    pub currency: Currency,
    /// Never negative.
    pub amount: Amount,
    /// A refund, or a canceled payment.
    pub is_refund: bool,
    /// The number of the contact; absent if the contact was erased.
    pub contact: Option<u32>,
    /// Distinguishes refunds of the same time and amount, if available. Payments have none: an order has one.
    pub key: Option<Digest>,
}

/// An order: its reported facts, and its share in the totals.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The number of the contact in the order's latest report.
    pub named: Option<u32>,
    /// Sorted, without duplicates.
    pub facts: Vec<PaymentFact>,
    pub credit: Option<Credit>,
    /// Its share in the totals of the credited email.
    pub counted: BTreeMap<Currency, Revenue>,
}

impl Record for Order {}

impl Order {
    /// Returns the payment that counts, if known: the earliest; at the same time, the first by currency and amount.
    pub fn payment(facts: &[PaymentFact]) -> Option<&PaymentFact> {
        facts.iter().find(|fact| !fact.is_refund)
    }

    /// Returns the contact and the credit, if the order is paid and credited.
    pub fn credited(&self) -> Option<(u32, Credit)> {
        Some((Self::payment(&self.facts)?.contact?, self.credit?))
    }

    /// Returns its row in [`BY_CONTACT`], if it has one.
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
    /// Returns whether both are equal, ignoring the keys of refunds.
    pub fn is_like(&self, other: &Self) -> bool {
        Self { key: None, ..*self } == Self { key: None, ..*other }
    }
}

/// What an order is attributed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credit {
    pub mailing: MailingId,
    pub email: Option<EmailId>,
    /// When the order was paid: charts show it on that day. For refunds without a payment, when the order they are subtracted from was
    /// paid.
    pub paid_at: Timestamp,
}

/// Orders and their revenue in one currency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revenue {
    pub conversions: i64,
    pub amount: Amount,
}

impl Record for Revenue {}

/// What totals belong to.
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

/// Returns the order whose id has this digest.
pub fn find(tx: &impl Read, project: ProjectId, order: Digest) -> Result<Option<Order>> {
    tx.get(ORDERS, &(project, order))
}

/// Saves an order and updates the totals of the emails it is credited to.
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

/// Returns the credit that refunds without a payment are subtracted from: the contact's last credited order paid by then, or else the first
/// one paid later.
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

/// Returns up to `limit` orders of a contact that have refunds and no payment, after `after`.
pub fn unpaid(tx: &impl Read, project: ProjectId, contact: u32, after: Option<Place>, limit: usize) -> Result<Vec<Place>> {
    let mut span = BY_CONTACT.under(&(project, contact, UNPAID));
    if let Some(place) = after {
        span.from = (project, contact, UNPAID, place).to_bytes();
        // Appending a zero byte gives the first key after this one.
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

/// Returns what is credited to a mailing or an email, by currency.
pub fn totals(tx: &impl Read, scope: Scope) -> Result<BTreeMap<Currency, Revenue>> {
    let mut totals = BTreeMap::new();
    tx.visit(TOTALS, &TOTALS.under(&(scope.key(),)), Direction::Forward, |(_, currency), revenue| {
        totals.extend(Currency::from_bytes(currency).map(|currency| (currency, revenue)));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(totals)
}

/// Removes a deleted contact from an order. The credit stays, without a name. Refund keys, which callers choose freely, become random, so
/// that different refunds stay different.
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
