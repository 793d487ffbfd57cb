//! Keeps a campaign's status in sync with its mailing.
//!
//! The mailing is the truth. A campaign that is on its way is brought in step with it by a worker, and by whoever looks at it sooner.

use super::model::{Action, Campaign, CampaignStatus, Outcome, after};
use super::store;
use crate::base::clock::Timestamp;
use crate::engine::store::{Read, Result, WriteTx};
use crate::features::sending::{self, Mailing, State, WaitReason};
use crate::vocab::ids::AccountId;

/// What the state of a mailing means for its campaign: what happened, when it was over, and what is to be said.
fn action_of(mailing: &Mailing) -> (Action, Option<Timestamp>, Option<String>) {
    match &mailing.state {
        // Every recipient was tried, and only retries are left. Recipients who get it by their own clocks may still wait for a first try.
        State::Waiting { reason: WaitReason::Deferred, .. } if mailing.local.is_none() => (Action::Finish, None, None),
        State::Planning | State::Sending | State::Waiting { reason: WaitReason::Deferred, .. } => (Action::Flow, None, None),
        State::Waiting { reason: WaitReason::Quota, until } => {
            let said = format!("The plan's emails for this day or month are used up; it goes on by itself at {until}.");
            (Action::Wait, None, Some(said))
        }
        State::Waiting { reason: WaitReason::Transport, until } => {
            let said = format!("There is no way out for mail at present; it is tried again by itself at {until}.");
            (Action::Wait, None, Some(said))
        }
        State::Paused => (Action::Pause, None, None),
        State::Finished { at } => (Action::Finish, Some(*at), None),
        State::Cancelled { at } => (Action::Cancel, Some(*at), None),
        State::Failed { reason, at } => (Action::Fail, Some(*at), Some(reason.clone())),
    }
}

/// The campaign in step with its mailing; `None` if it is already.
pub fn synced(campaign: &Campaign, mailing: &Mailing) -> Option<Campaign> {
    if !campaign.is_synced() {
        return None;
    }
    let (action, completed_at, error) = action_of(mailing);
    let status = match (campaign.status, action) {
        // Retries do not undo it.
        (CampaignStatus::Sent, Action::Flow | Action::Wait) => CampaignStatus::Sent,
        _ => match after(campaign.working_status(), action) {
            Outcome::To(status) => status,
            Outcome::No(_) => return None,
        },
    };
    let next = Campaign { status, completed_at, error, ..campaign.clone() };
    (next != *campaign).then(|| Campaign { updated_at: completed_at.unwrap_or(mailing.updated_at), ..next })
}

/// The campaign as it is this moment, whether or not the worker has seen it.
pub fn current(tx: &impl Read, account: AccountId, campaign: Campaign) -> Result<Campaign> {
    let Some(id) = campaign.mailing.filter(|_| campaign.is_synced()) else { return Ok(campaign) };
    let mailing = sending::find(tx, account, id)?;
    Ok(mailing.and_then(|mailing| synced(&campaign, &mailing)).unwrap_or(campaign))
}

/// Write down what has become of it meanwhile.
pub fn save_current(tx: &mut WriteTx<'_>, account: AccountId, campaign: Campaign) -> Result<Campaign> {
    let now = current(tx, account, campaign.clone())?;
    if now != campaign {
        store::save(tx, account, Some(&campaign), &now);
    }
    Ok(now)
}
