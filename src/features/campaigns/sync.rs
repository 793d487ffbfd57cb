//! Keeps a campaign's status in sync with its mailing.
//!
//! The state of the mailing is authoritative. A worker syncs each running campaign with its mailing. If a campaign is read before the
//! worker has synced it, its current state is computed.

use super::model::{Action, Campaign, CampaignStatus, Transition, after};
use super::store;
use crate::base::clock::Timestamp;
use crate::engine::store::{Read, Result, WriteTx};
use crate::features::sending::{self, Mailing, State, WaitReason};
use crate::vocab::ids::AccountId;

/// Returns how the mailing's state affects its campaign: the action, the time when the mailing finished, and the message to show.
fn action_of(mailing: &Mailing) -> (Action, Option<Timestamp>, Option<String>) {
    match &mailing.state {
        // If all recipients have the same start time, only retries are left. If each recipient's time zone determines the start, some
        // recipients may still be waiting for the first attempt.
        State::Waiting { reason: WaitReason::Deferred, .. } if mailing.local.is_none() => (Action::Finish, None, None),
        State::Planning | State::Sending | State::Waiting { reason: WaitReason::Deferred, .. } => (Action::Flow, None, None),
        State::Waiting { reason: WaitReason::Quota, until } => {
            let said =
                format!("The plan's email quota for this day or month is used up; sending continues automatically at {until}.");
            (Action::Wait, None, Some(said))
        }
        State::Waiting { reason: WaitReason::Transport, until } => {
            let said = format!(
                "Mail cannot be sent at the moment: no mail transport is available, the sending domain is not verified, or the messages \
                 could not be prepared. The service retries automatically at {until}."
            );
            (Action::Wait, None, Some(said))
        }
        State::Paused => (Action::Pause, None, None),
        State::Finished { at } => (Action::Finish, Some(*at), None),
        State::Cancelled { at } => (Action::Cancel, Some(*at), None),
        State::Failed { reason, at } => (Action::Fail, Some(*at), Some(reason.clone())),
    }
}

/// Returns the campaign with the status that its mailing implies; `None` if the campaign is already in sync.
pub fn synced(campaign: &Campaign, mailing: &Mailing) -> Option<Campaign> {
    if !campaign.is_synced() {
        return None;
    }
    let (action, completed_at, error) = action_of(mailing);
    let status = match (campaign.status, action) {
        // Retries do not undo the `Sent` status.
        (CampaignStatus::Sent, Action::Flow | Action::Wait) => CampaignStatus::Sent,
        _ => match after(campaign.working_status(), action) {
            Transition::To(status) => status,
            Transition::No(_) => return None,
        },
    };
    let next = Campaign { status, completed_at, error, ..campaign.clone() };
    (next != *campaign).then(|| Campaign { updated_at: completed_at.unwrap_or(mailing.updated_at), ..next })
}

/// Returns the campaign in its current state, whether or not the worker has synced it.
pub fn current(tx: &impl Read, account: AccountId, campaign: Campaign) -> Result<Campaign> {
    let Some(id) = campaign.mailing.filter(|_| campaign.is_synced()) else { return Ok(campaign) };
    let mailing = sending::find(tx, account, id)?;
    Ok(mailing.and_then(|mailing| synced(&campaign, &mailing)).unwrap_or(campaign))
}

/// Stores the campaign's current state if it differs from the stored state, and returns the current state.
pub fn save_current(tx: &mut WriteTx<'_>, account: AccountId, campaign: Campaign) -> Result<Campaign> {
    let now = current(tx, account, campaign.clone())?;
    if now != campaign {
        store::save(tx, account, Some(&campaign), &now);
    }
    Ok(now)
}
