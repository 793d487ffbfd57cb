//! The background worker for campaigns: starts campaigns that are due, and syncs running campaigns with their mailings.
//!
//! Every step reads the queue again, so a restart needs no recovery: a campaign whose start time passed during downtime is due and starts
//! once, like any other campaign.

use std::sync::Arc;

use super::launch::{self, LaunchContext};
use super::model::{Action, Campaign, CampaignStatus, Transition, after};
use super::{store, sync};
use crate::base::clock::Timestamp;
use crate::engine::api::{Engine, Failure};
use crate::engine::runner::Step;
use crate::engine::store::{ReadTx, WriteTx};
use crate::features::emails;
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, CampaignId};
use crate::vocab::limits;

/// Processes all campaigns that are due now. A campaign that fails does not block the others: the first error is returned at the end, and
/// the next step tries the failed campaigns again.
pub async fn step(engine: Arc<Engine>, environment: Environment) -> Result<Step, Failure> {
    let store = engine.data(environment).store.clone();
    let (mut last, mut failed) = (None, None);
    loop {
        let found = {
            let (store, engine) = (store.clone(), engine.clone());
            let poll = move || changed(&store.read(), &engine, last);
            tokio::task::spawn_blocking(poll).await.map_err(Failure::internal)??
        };
        failed = failed.or(found.failed);
        for (id, account) in found.changed {
            let engine = engine.clone();
            let advanced = store.write(move |tx| {
                let context = LaunchContext { engine: &engine, environment, account };
                advance(tx, context, id)
            });
            if let Err(failure) = advanced.await.map_err(Failure::from).and_then(|advanced| advanced) {
                tracing::error!(campaign = %id, "a campaign could not be started or synced and will be retried");
                failed.get_or_insert(failure);
            }
        }
        match found.next {
            Some(next) => last = Some(next),
            None => return failed.map_or(Ok(Step::Done), Err),
        }
    }
}

struct Found {
    /// The campaigns that are due to start, or whose status does not match the state of their mailing.
    changed: Vec<(CampaignId, AccountId)>,
    /// The error of the first campaign that could not be read.
    failed: Option<Failure>,
    /// The key of the last campaign that was read from the queue; `None` if the queue contains no more campaigns that are due.
    next: Option<(Timestamp, CampaignId, AccountId)>,
}

/// Reads the part of the queue after `last`, and finds the campaigns in it that must start or whose status must change.
fn changed(tx: &ReadTx, engine: &Engine, last: Option<(Timestamp, CampaignId, AccountId)>) -> Result<Found, Failure> {
    let due = store::due(tx, engine.clock.now(), last, limits::CAMPAIGNS_PER_STEP)?;
    let next = due.last().copied().filter(|_| due.len() == limits::CAMPAIGNS_PER_STEP);
    let (mut changed, mut failed) = (Vec::new(), None);
    for (_, id, account) in due {
        match has_changed(tx, engine, (id, account)) {
            Ok(true) => changed.push((id, account)),
            Ok(false) => {}
            Err(failure) => {
                tracing::error!(campaign = %id, "a campaign could not be read and will be retried");
                failed.get_or_insert(failure);
            }
        }
    }
    Ok(Found { changed, failed, next })
}

/// Returns whether a campaign that is due must start, or has a status that does not match the state of its mailing.
fn has_changed(tx: &ReadTx, engine: &Engine, (id, account): (CampaignId, AccountId)) -> Result<bool, Failure> {
    let Some(campaign) = store::find(tx, account, id)? else { return Ok(false) };
    if campaign.status == CampaignStatus::Scheduled {
        // A campaign that was scheduled before the hold does not start automatically. Campaigns in progress are still synced.
        return Ok(!engine.hold.holds(campaign.hold_number));
    }
    Ok(sync::current(tx, account, campaign.clone())? != campaign)
}

/// Starts a campaign that is due, or stores its current state.
fn advance(tx: &mut WriteTx<'_>, context: LaunchContext<'_>, id: CampaignId) -> Result<(), Failure> {
    let account = context.account;
    let Some(campaign) = store::find(tx, account, id)? else { return Ok(()) };
    // A request may have changed the campaign after the worker read the queue.
    let is_due = campaign.status == CampaignStatus::Scheduled && campaign.check_at.is_some_and(|at| at <= tx.now());
    if !is_due {
        sync::save_current(tx, account, campaign)?;
        return Ok(());
    }
    if awaits_edit(tx, account, &campaign)? {
        let check_at = Some(tx.now().plus_ms(limits::CAMPAIGN_EDIT_CHECK_MS));
        store::save(tx, account, Some(&campaign), &Campaign { check_at, ..campaign.clone() });
        return Ok(());
    }
    let Transition::To(status) = after(campaign.status, Action::Start) else { return Ok(()) };
    let mut started = Campaign { status, updated_at: tx.now(), ..campaign.clone() };
    match launch::start(tx, context, &mut started) {
        Ok(()) => store::save(tx, account, Some(&campaign), &started),
        // A user cannot fix an internal error, so the worker retries the start.
        Err(failure) if failure.code.info().status >= 500 => return Err(failure),
        Err(failure) => hold(tx, account, &campaign, &failure),
    }
    Ok(())
}

/// Returns whether the start must wait because one of the campaign's emails is being edited, or because the campaign requires a minimum
/// score and the current version of an email is still queued for checks. The wait after the start time is limited.
fn awaits_edit(tx: &WriteTx<'_>, account: AccountId, campaign: &Campaign) -> Result<bool, Failure> {
    let begins_at = campaign.schedule.as_ref().map_or(tx.now(), |schedule| schedule.begins_at());
    let is_patient = tx.now().ms_since(begins_at) < limits::CAMPAIGN_EDIT_AWAITED_MS;
    for email in &campaign.plan.emails {
        let awaits_score = campaign.plan.minimum_score.is_some() && emails::checking::is_awaited(tx, account, *email)?;
        if is_patient && (awaits_score || emails::is_being_edited(tx, *email)?) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Records why the campaign cannot start. The campaign then waits until a user acts.
fn hold(tx: &mut WriteTx<'_>, account: AccountId, campaign: &Campaign, failure: &Failure) {
    tx.roll_back();
    let Transition::To(status) = after(campaign.status, Action::Hold) else { return };
    let error = failure.sentence();
    let held = Campaign { status, error: Some(error), check_at: None, updated_at: tx.now(), ..campaign.clone() };
    store::save(tx, account, Some(campaign), &held);
}
