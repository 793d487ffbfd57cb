//! Keeping orders and totals in step with what is known: when something is said of an order, and when clicks of its person change.
//!
//! Clicks are written a moment after they happen, and events may be reported before or long after. Whatever comes, the order is judged
//! anew from everything that is known of it.

use super::attribution::{Verdict, judge};
use crate::base::email::EmailAddress;
use crate::engine::api::{Engine, Failure};
use crate::engine::store::{Error, Read, Result, WriteTx};
use crate::features::contacts::identities::{self, Digest};
use crate::features::contacts::{self, activity, journal, strangers};
use crate::features::sending;
use crate::features::sending::orders::{self, Credit, Order};
use crate::vocab::environment::Environment;
use crate::vocab::ids::ProjectId;
use crate::vocab::limits;

/// Keep what an order has become and what it is credited to.
pub fn settle(tx: &mut WriteTx<'_>, project: ProjectId, digest: Digest, (before, mut after): (&Order, Order)) -> Result<()> {
    match judge(&after.facts) {
        None => (after.credit, after.counted) = (None, Default::default()),
        Some(verdict) => {
            after.credit = credit(tx, project, &verdict, before.credit)?;
            after.counted = if after.credit.is_some() { verdict.takings } else { Default::default() };
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
fn credit(tx: &impl Read, project: ProjectId, verdict: &Verdict, before: Option<Credit>) -> Result<Option<Credit>> {
    let Some(number) = verdict.contact else { return Ok(before) };
    let Some(contact) = contacts::by_number(tx, project, number)? else { return Ok(before) };
    let as_contact = activity::last_click(tx, project, number, verdict.window)?;
    let before_that = match EmailAddress::parse(&contact.email) {
        Ok(email) => strangers::last_click(tx, project, &email, verdict.window)?,
        Err(_) => None,
    };
    let Some((_, mailing)) = as_contact.max(before_that) else { return Ok(None) };
    let email = match sending::by_id(tx, mailing)? {
        Some(mailing) => sending::email_sent_to(tx, &mailing, number, &contact.email)?,
        None => None,
    };
    Ok(Some(Credit { mailing, email }))
}

/// Forget what is too old to be told or credited; true if there may be more.
pub fn sweep(tx: &mut WriteTx<'_>) -> Result<bool> {
    let more = [journal::sweep(tx)?, strangers::sweep(tx)?];
    Ok(more.contains(&true))
}

/// Judge orders of some contacts whose clicks have changed; true if there may be more.
pub async fn step(engine: &Engine, environment: Environment) -> Result<bool, Failure> {
    let store = &engine.world(environment).store;
    if activity::clickers(&store.read(), 1)?.is_empty() {
        return Ok(false);
    }
    store.write(|tx| look(tx).map_err(Failure::from)).await?
}

pub(super) fn look(tx: &mut WriteTx<'_>) -> Result<bool> {
    let clickers = activity::clickers(tx, limits::CLICKERS_PER_STEP)?;
    let mut looked = 0;
    // Clickers stand together by project. Their orders are looked for in the index.
    for of_project in clickers.chunk_by(|((left, _), _), ((right, _), _)| left == right) {
        let numbers = of_project.iter().map(|((_, number), _)| *number).collect();
        journal::bring_in_of(tx, of_project[0].0.0, &numbers)?;
    }
    for (clicker, stopped_at) in &clickers {
        let stopped_at = Digest::try_from(stopped_at.as_slice()).ok();
        let (project, number) = *clicker;
        let digests = identities::orders(tx, project, number, stopped_at, limits::CLICKER_ORDERS_PER_STEP)?;
        for digest in &digests {
            let Some(order) = orders::find(tx, project, *digest)? else { continue };
            settle(tx, project, *digest, (&order, order.clone()))?;
        }
        let has_more = digests.len() == limits::CLICKER_ORDERS_PER_STEP;
        activity::looked_at(tx, *clicker, digests.last().filter(|_| has_more).map(|last| last.to_vec()));
        looked += digests.len();
        if looked >= limits::CLICKER_ORDERS_PER_STEP {
            return Ok::<_, Error>(true);
        }
    }
    Ok(clickers.len() == limits::CLICKERS_PER_STEP)
}
