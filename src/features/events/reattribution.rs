//! Updates the attribution of orders and the totals when an order is reported or the clicks of its contact change.
//!
//! Clicks are stored a moment after they happen. Events may be reported before the clicks are stored, or long after. When an order is
//! reported or its contact's clicks change, the order is attributed again from its stored facts. Refunds without a payment depend on the
//! contact's attributed orders. When one of these orders changes, a worker attributes the refunds again.

use super::attribution::{Attribution, Basis, attribute, window};
use crate::base::clock::Timestamp;
use crate::base::email::EmailAddress;
use crate::engine::api::{Engine, Failure};
use crate::engine::store::key::Key;
use crate::engine::store::{Read, Result, WriteTx};
use crate::features::contact_records;
use crate::features::contact_records::activity::{self, ContactKey};
use crate::features::contacts::noncontact_clicks;
use crate::features::customer_events;
use crate::features::customer_events::external_ids::{self, Digest};
use crate::features::revenue::{self, Credit, Order};
use crate::features::sending;
use crate::vocab::environment::Environment;
use crate::vocab::ids::ProjectId;
use crate::vocab::limits;

/// Saves an order's new state and updates its attribution.
pub fn reattribute(tx: &mut WriteTx<'_>, project: ProjectId, digest: Digest, (before, mut after): (&Order, Order)) -> Result<()> {
    match attribute(&after.facts) {
        None => (after.credit, after.counted) = (None, Default::default()),
        Some(attribution) => {
            after.credit = credit(tx, project, &attribution, before.credit)?;
            after.counted = if after.credit.is_some() { attribution.revenue } else { Default::default() };
        }
    }
    if after == *before {
        return Ok(());
    }
    let mailing = after.credit.as_ref().map(|credit| tracing::field::display(credit.mailing));
    tracing::debug!(%project, mailing, facts = after.facts.len(), "order attributed");
    let mailing_of = |tx: &WriteTx<'_>, id| Ok(sending::by_id(tx, id)?.map(|mailing| mailing.for_stats()));
    revenue::save(tx, (project, digest), before, &after, mailing_of)?;
    let (old, new) = (before.credited(), after.credited());
    if old != new {
        for (contact, _) in old.into_iter().chain(new) {
            credit_refunds_again(tx, (project, contact))?;
        }
    }
    Ok(())
}

/// Returns the email that an order is credited to. If the contact was deleted, the clicks are unknown, so the credit does not change.
fn credit(tx: &impl Read, project: ProjectId, attribution: &Attribution, before: Option<Credit>) -> Result<Option<Credit>> {
    let Some(number) = attribution.contact else { return Ok(before) };
    let Some(contact) = contact_records::by_number(tx, project, number)? else { return Ok(before) };
    let paid_at = match attribution.basis {
        Basis::Click { paid_at } => paid_at,
        Basis::LastOrder { refunded_at } => return revenue::last_credit(tx, project, number, refunded_at),
    };
    let as_contact = activity::last_click(tx, project, number, window(paid_at))?;
    let before_that = match EmailAddress::parse(&contact.email) {
        Ok(email) => noncontact_clicks::last_click(tx, project, &email, window(paid_at))?,
        Err(_) => None,
    };
    let Some((_, mailing)) = as_contact.max(before_that) else { return Ok(None) };
    let email = match sending::by_id(tx, mailing)? {
        Some(mailing) => sending::email_sent_to(tx, &mailing, number, &contact.email)?,
        None => None,
    };
    Ok(Some(Credit { mailing, email, paid_at }))
}

/// The progress of reattributing a contact's orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// The worker continues with the contact's orders after this order.
    Orders(Option<Digest>),
    /// The worker continues after this position in the list of refunds without a payment. Refunds come last, because their attribution
    /// depends on the orders.
    Refunds(Option<revenue::Place>),
}

impl Progress {
    fn bytes(self) -> Vec<u8> {
        match self {
            Self::Orders(after) => after.map_or_else(Vec::new, |digest| digest.to_vec()),
            Self::Refunds(None) => vec![0],
            Self::Refunds(Some(place)) => place.to_bytes(),
        }
    }

    /// Parses the progress. The length of the stored bytes identifies the variant.
    fn read(bytes: &[u8]) -> Self {
        match <(Timestamp, Digest)>::read(&mut &*bytes) {
            Some(place) => Self::Refunds(Some(place)),
            None if bytes.len() == 1 => Self::Refunds(None),
            None => Self::Orders(bytes.try_into().ok()),
        }
    }
}

/// If a contact has refunds without a payment, queues them for reattribution.
fn credit_refunds_again(tx: &mut WriteTx<'_>, contact: ContactKey) -> Result<()> {
    if revenue::unpaid(tx, contact.0, contact.1, None, 1)?.is_empty() {
        return Ok(());
    }
    let progress = activity::credit_again_from(tx, contact)?.map(|place| Progress::read(&place));
    if !matches!(progress, Some(Progress::Orders(_))) {
        activity::set_credit_again_from(tx, contact, Some(Progress::Refunds(None).bytes()));
    }
    Ok(())
}

/// Deletes events that are too old to be listed, and clicks by non-contacts that are too old to be attributed to an order. Returns whether
/// more may be left.
pub fn sweep(tx: &mut WriteTx<'_>) -> Result<bool> {
    let more = [customer_events::sweep(tx)?, noncontact_clicks::sweep(tx)?];
    Ok(more.contains(&true))
}

/// Reattributes the orders of some contacts. Returns whether more contacts may be waiting.
pub async fn step(engine: &Engine, environment: Environment) -> Result<bool, Failure> {
    let store = &engine.data(environment).store;
    if activity::click_changes(&store.read(), 1)?.is_empty() {
        return Ok(false);
    }
    store.write(|tx| recheck(tx).map_err(Failure::from)).await?
}

pub(super) fn recheck(tx: &mut WriteTx<'_>) -> Result<bool> {
    let changed = activity::click_changes(tx, limits::CLICK_CHANGES_PER_STEP)?;
    // Update the event index first, because it records which orders belong to a contact. Contacts of one project are adjacent in the queue.
    for of_project in changed.chunk_by(|(left, _), (right, _)| left == right) {
        let numbers = of_project.iter().map(|(_, number)| *number).collect();
        customer_events::merge_backlog_of(tx, of_project[0].0, &numbers)?;
    }
    let mut orders = 0;
    for contact in changed {
        orders += credit_again(tx, contact)?;
        if orders >= limits::CLICK_CHANGE_ORDERS_PER_STEP {
            break;
        }
    }
    Ok(!activity::click_changes(tx, 1)?.is_empty())
}

/// Reattributes some orders of a contact. Returns how many orders were processed.
fn credit_again(tx: &mut WriteTx<'_>, (project, number): ContactKey) -> Result<usize> {
    let limit = limits::CLICK_CHANGE_ORDERS_PER_STEP;
    let progress = Progress::read(&activity::credit_again_from(tx, (project, number))?.unwrap_or_default());
    let (digests, next) = match progress {
        Progress::Orders(after) => {
            let digests = external_ids::orders(tx, project, number, after, limit)?;
            let last = digests.last().copied().filter(|_| digests.len() == limit);
            (digests, Some(last.map_or(Progress::Refunds(None), |last| Progress::Orders(Some(last)))))
        }
        Progress::Refunds(after) => {
            let places = revenue::unpaid(tx, project, number, after, limit)?;
            let last = places.last().copied().filter(|_| places.len() == limit);
            (places.into_iter().map(|(_, digest)| digest).collect(), last.map(|last| Progress::Refunds(Some(last))))
        }
    };
    for digest in &digests {
        let Some(order) = revenue::find(tx, project, *digest)? else { continue };
        reattribute(tx, project, *digest, (&order, order.clone()))?;
    }
    let is_over = next == Some(Progress::Refunds(None)) && revenue::unpaid(tx, project, number, None, 1)?.is_empty();
    activity::set_credit_again_from(tx, (project, number), next.filter(|_| !is_over).map(Progress::bytes));
    Ok(digests.len())
}
