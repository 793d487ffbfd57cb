//! Keeping orders and totals in step with what is known: when something is said of an order, and when clicks of its person change.
//!
//! Clicks are written a moment after they happen, and events may be reported before or long after. Whatever comes, the order is judged
//! anew from everything that is known of it.

use super::attribution::{Attribution, attribute};
use crate::base::email::EmailAddress;
use crate::engine::api::{Engine, Failure};
use crate::engine::store::{Error, Read, Result, WriteTx};
use crate::features::contacts::external_ids::{self, Digest};
use crate::features::contacts::{self, activity, customer_events, noncontact_clicks};
use crate::features::sending;
use crate::features::sending::orders::{self, Credit, Order};
use crate::vocab::environment::Environment;
use crate::vocab::ids::ProjectId;
use crate::vocab::limits;

/// Save an order and credit it again.
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
    tracing::debug!(%project, mailing, facts = after.facts.len(), "order credited");
    orders::save(tx, project, digest, before, &after)
}

/// The email that is credited: the last one clicked. Of a person who is gone nothing is known any more: it stays as it was.
fn credit(tx: &impl Read, project: ProjectId, attribution: &Attribution, before: Option<Credit>) -> Result<Option<Credit>> {
    let Some(number) = attribution.contact else { return Ok(before) };
    let Some(contact) = contacts::by_number(tx, project, number)? else { return Ok(before) };
    let as_contact = activity::last_click(tx, project, number, attribution.window)?;
    let before_that = match EmailAddress::parse(&contact.email) {
        Ok(email) => noncontact_clicks::last_click(tx, project, &email, attribution.window)?,
        Err(_) => None,
    };
    let Some((_, mailing)) = as_contact.max(before_that) else { return Ok(None) };
    let email = sending::by_id(tx, mailing)?.and_then(|mailing| mailing.email);
    Ok(Some(Credit { mailing, email }))
}

/// Forget what is too old to be told or credited; true if there may be more.
pub fn sweep(tx: &mut WriteTx<'_>) -> Result<bool> {
    let more = [customer_events::sweep(tx)?, noncontact_clicks::sweep(tx)?];
    Ok(more.contains(&true))
}

/// Attribute again the orders of some contacts whose clicks have changed; true if there may be more.
pub async fn step(engine: &Engine, environment: Environment) -> Result<bool, Failure> {
    let store = &engine.data(environment).store;
    if activity::click_changes(&store.read(), 1)?.is_empty() {
        return Ok(false);
    }
    store.write(|tx| recheck(tx).map_err(Failure::from)).await?
}

pub(super) fn recheck(tx: &mut WriteTx<'_>) -> Result<bool> {
    let changed = activity::click_changes(tx, limits::CLICK_CHANGES_PER_STEP)?;
    let mut checked = 0;
    // Clickers stand together by project. Their orders are looked for in the index.
    for of_project in changed.chunk_by(|((left, _), _), ((right, _), _)| left == right) {
        let numbers = of_project.iter().map(|((_, number), _)| *number).collect();
        customer_events::merge_backlog_of(tx, of_project[0].0.0, &numbers)?;
    }
    for (contact, stopped_at) in &changed {
        let stopped_at = Digest::try_from(stopped_at.as_slice()).ok();
        let (project, number) = *contact;
        let digests = external_ids::orders(tx, project, number, stopped_at, limits::CLICK_CHANGE_ORDERS_PER_STEP)?;
        for digest in &digests {
            let Some(order) = orders::find(tx, project, *digest)? else { continue };
            reattribute(tx, project, *digest, (&order, order.clone()))?;
        }
        let has_more = digests.len() == limits::CLICK_CHANGE_ORDERS_PER_STEP;
        activity::click_change_done(tx, *contact, digests.last().filter(|_| has_more).map(|last| last.to_vec()));
        checked += digests.len();
        if checked >= limits::CLICK_CHANGE_ORDERS_PER_STEP {
            return Ok::<_, Error>(true);
        }
    }
    Ok(changed.len() == limits::CLICK_CHANGES_PER_STEP)
}
