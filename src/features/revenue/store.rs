//! The tables of orders and revenue, and all access to them.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::model::{Credit, Order, Revenue, Scope};
use crate::base::clock::Timestamp;
use crate::base::currency::Currency;
use crate::base::day;
use crate::engine::store::key::Key;
use crate::engine::store::{Order as Direction, Read, Result, RowCheck, Span, Table, WriteTx};
use crate::features::customer_events::external_ids::Digest;
use crate::features::engagement::{StatsMailing, StatsScope};
use crate::vocab::ids::{MailingId, ProjectId};
use crate::vocab::tables;

const ORDERS: Table<(ProjectId, Digest), Order> = Table::new(tables::ORDERS);
const DAYS: Table<(u8, [u8; 12], u32, [u8; 3]), Revenue> = Table::new(tables::REVENUE_DAYS);
const TOTALS: Table<(ScopeKey, [u8; 3]), Revenue> = Table::new(tables::CONVERSIONS);
/// The orders that are needed to attribute refunds, by contact.
const BY_CONTACT: Table<(ProjectId, u32, u8, Place), ()> = Table::new(tables::ORDERS_BY_CONTACT);

/// The checks that decode every row of these tables.
pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(ORDERS), RowCheck::of(DAYS), RowCheck::of(TOTALS), RowCheck::of(BY_CONTACT)];

/// The position of an order among its contact's orders: the time of the payment or, without a payment, of the first refund; and the order's
/// digest.
pub type Place = (Timestamp, Digest);

/// The marker in [`BY_CONTACT`] for an order that is paid and credited to an email.
const CREDITED: u8 = 0;
/// The marker in [`BY_CONTACT`] for an order that has refunds but no payment.
const UNPAID: u8 = 1;

/// The key of a scope: its kind (mailing or email) as a number, and the ID of the mailing or email.
type ScopeKey = (u8, [u8; 12]);

impl Scope {
    fn key(self) -> ScopeKey {
        match self {
            Scope::Mailing(id) => (0, id.0),
            Scope::Email(id) => (1, id.0),
        }
    }
}

/// Returns the key of an order's row in [`BY_CONTACT`], if the order has a row.
fn row(order: &Order, project: ProjectId, digest: Digest) -> Option<(ProjectId, u32, u8, Place)> {
    let kind = match (Order::payment(&order.facts), order.credit) {
        (Some(_), Some(_)) => CREDITED,
        (Some(_), None) => return None,
        (None, _) => UNPAID,
    };
    let fact = Order::payment(&order.facts).or(order.facts.first())?;
    Some((project, fact.contact?, kind, (fact.occurred_at, digest)))
}

fn scopes(credit: &Credit) -> impl Iterator<Item = Scope> + use<> {
    std::iter::once(Scope::Mailing(credit.mailing)).chain(credit.email.map(Scope::Email))
}

/// Returns the order whose ID has this digest, if it is stored.
pub fn find(tx: &impl Read, project: ProjectId, order: Digest) -> Result<Option<Order>> {
    tx.get(ORDERS, &(project, order))
}

/// Saves an order. Updates the totals and the daily totals of the credited mailings and emails: subtracts what the order contributed
/// before, and adds what it contributes now. `mailing_of` looks up a mailing.
pub fn save(
    tx: &mut WriteTx<'_>,
    (project, digest): (ProjectId, Digest),
    before: &Order,
    after: &Order,
    mailing_of: impl Fn(&WriteTx<'_>, MailingId) -> Result<Option<StatsMailing>>,
) -> Result<()> {
    put(tx, project, digest, before, after);
    if (before.credit, &before.counted) == (after.credit, &after.counted) {
        return Ok(());
    }
    let mut changes: BTreeMap<(ScopeKey, Currency), Revenue> = BTreeMap::new();
    for (order, sign) in [(before, -1), (after, 1)] {
        for scope in order.credit.iter().flat_map(scopes) {
            for (currency, revenue) in &order.counted {
                let change = changes.entry((scope.key(), *currency)).or_default();
                change.conversions += sign * revenue.conversions;
                change.amount = if sign < 0 { change.amount.minus(revenue.amount) } else { change.amount.plus(revenue.amount) };
            }
        }
    }
    for (order, sign) in [(before, -1), (after, 1)] {
        let Some(credit) = order.credit else { continue };
        if let Some(mailing) = mailing_of(tx, credit.mailing)? {
            add_day(tx, mailing, credit.paid_at, &order.counted, sign)?;
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

/// Adds an order's revenue to the totals of the day when it was paid; subtracts the revenue if `sign` is -1.
fn add_day(
    tx: &mut WriteTx<'_>,
    mailing: StatsMailing,
    paid_at: Timestamp,
    counted: &BTreeMap<Currency, Revenue>,
    sign: i64,
) -> Result<()> {
    let day = day::of(paid_at);
    for scope in mailing.scopes(day) {
        let (kind, id) = scope.key();
        for (currency, revenue) in counted {
            let key = (kind, id, day, currency.bytes());
            let mut total = tx.get(DAYS, &key)?.unwrap_or_default();
            total.conversions += sign * revenue.conversions;
            total.amount = if sign < 0 { total.amount.minus(revenue.amount) } else { total.amount.plus(revenue.amount) };
            if total == Revenue::default() { tx.delete(DAYS, &key) } else { tx.put(DAYS, &key, &total) }
        }
    }
    Ok(())
}

fn put(tx: &mut WriteTx<'_>, project: ProjectId, digest: Digest, before: &Order, after: &Order) {
    tx.put(ORDERS, &(project, digest), after);
    let (old, new) = (row(before, project, digest), row(after, project, digest));
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

/// Returns the credit from whose revenue a refund without a payment is subtracted. This is the credit of the contact's last credited order
/// that was paid no later than `by` or, if there is none, of the first credited order that was paid after `by`.
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

/// Returns the positions of up to `limit` orders of a contact that have refunds but no payment, starting after `after`.
pub fn unpaid(tx: &impl Read, project: ProjectId, contact: u32, after: Option<Place>, limit: usize) -> Result<Vec<Place>> {
    let mut span = BY_CONTACT.under(&(project, contact, UNPAID));
    if let Some(place) = after {
        span.from = (project, contact, UNPAID, place).to_bytes();
        // Appending a zero byte to the key gives the next possible key.
        span.from.push(0);
    }
    let rows = tx.list(BY_CONTACT, &span, Direction::Forward, limit)?;
    Ok(rows.into_iter().map(|((.., place), ())| place).collect())
}

/// Returns the revenue credited to a mailing or an email, by currency.
pub fn totals(tx: &impl Read, scope: Scope) -> Result<BTreeMap<Currency, Revenue>> {
    let mut totals = BTreeMap::new();
    tx.visit(TOTALS, &TOTALS.under(&(scope.key(),)), Direction::Forward, |(_, currency), revenue| {
        totals.extend(Currency::from_bytes(currency).map(|currency| (currency, revenue)));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(totals)
}

/// Removes a deleted contact from an order. The credit is kept but no longer identifies the contact. Refund keys, which callers choose
/// freely, are replaced with random keys, so that different refunds stay different.
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

/// Returns the daily revenue of an account or a mailing in each currency, from day `first` to day `last` inclusive, excluding days
/// without revenue.
pub fn totals_by_day(
    tx: &impl Read,
    scope: StatsScope,
    first: u32,
    last: u32,
) -> Result<BTreeMap<u32, BTreeMap<Currency, Revenue>>> {
    let (kind, id) = scope.key();
    let span = Span { from: (kind, id, first).to_bytes(), to: Some((kind, id, last + 1).to_bytes()) };
    let mut days: BTreeMap<u32, BTreeMap<Currency, Revenue>> = BTreeMap::new();
    tx.visit(DAYS, &span, Direction::Forward, |(_, _, day, currency), total| {
        days.entry(day).or_default().extend(Currency::from_bytes(currency).map(|currency| (currency, total)));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(days)
}
