//! Campaigns: an email to the contacts of a project, sent now or at a scheduled time, and its results.
//!
//! A campaign is prepared as a draft and started once. Starting a campaign creates a mailing in `sending`, which sends the messages. This
//! feature plans, starts and stops campaigns and reports on them. Invariants: a campaign starts at most once, because the transaction that
//! creates its mailing also compares and sets the campaign's status; this transaction also fixes the content; a campaign that has started
//! is never deleted.
//!
//! `features/tracking`, which depends on this feature, records opens, clicks and bounces in `features/engagement`. This feature reads the
//! counts from `features/engagement`.

mod in_progress;
mod launch;
pub mod logs;
pub mod model;
pub mod ops;
mod schedule;
pub mod stats;
mod store;
mod sync;
#[cfg(test)]
mod tests;
pub mod views;
mod warnings;
pub mod worker;

use serde_json::json;

use crate::engine::api::Failure;
use crate::engine::store::{Read, Result as StoreResult, WriteTx};
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, CampaignId, ProjectId};
use crate::vocab::permissions::Permission;

use model::{Action, Campaign, CampaignStatus, Transition, after};

pub use in_progress::list as in_progress;
pub use store::ROW_CHECKS;

/// The permissions that allow reading a campaign's results; an API key needs one of them.
const REPORT_READERS: &[Permission] = &[Permission::CampaignRead, Permission::EmailRead];

pub fn exists(tx: &impl Read, account: AccountId, id: CampaignId) -> StoreResult<bool> {
    Ok(store::find(tx, account, id)?.is_some())
}

/// Returns the account's campaign with this ID. If a project is given, the campaign must belong to the project.
fn require(tx: &impl Read, account: AccountId, id: CampaignId, project: Option<ProjectId>) -> Result<Campaign, Failure> {
    let found = store::find(tx, account, id)?.filter(|found| project.is_none_or(|project| found.project == project));
    let absent = || {
        let detail = match project {
            Some(_) => "The brand has no campaign with this ID.",
            None => "The account has no campaign with this ID.",
        };
        Failure::because(Code::NotFound, detail).see("campaigns.list", "GET /v1/campaigns lists a project's campaigns")
    };
    Ok(sync::current(tx, account, found.ok_or_else(absent)?)?)
}

/// Returns the status after `action`, or a failure that explains why the action is not allowed.
fn allowed(campaign: &Campaign, action: Action) -> Result<CampaignStatus, Failure> {
    match after(campaign.working_status(), action) {
        Transition::To(next) => Ok(next),
        Transition::No(reason) => {
            let status = campaign.status;
            let what = match status {
                CampaignStatus::Sent => "has already been sent",
                CampaignStatus::Failed => "has failed",
                CampaignStatus::Cancelled => "has been canceled",
                CampaignStatus::Draft => "is a draft",
                CampaignStatus::PendingReview => "is waiting for review",
                CampaignStatus::Scheduled => "is scheduled",
                CampaignStatus::Sending | CampaignStatus::Throttled => "is being sent",
                CampaignStatus::Paused => "is paused",
            };
            let detail = format!("The campaign {what}: {reason}.");
            Err(Failure::because(Code::WrongState, detail).with(json!({ "status": status.word() })))
        }
    }
}

/// Applies an action to a campaign if the campaign's status allows it. `change` receives the campaign with its new status, and its previous
/// status. `change` can refuse the action by returning a failure.
fn act(
    tx: &mut WriteTx<'_>,
    account: AccountId,
    (id, project): (CampaignId, Option<ProjectId>),
    action: Action,
    change: impl FnOnce(&mut WriteTx<'_>, &mut Campaign, CampaignStatus) -> Result<(), Failure>,
) -> Result<Campaign, Failure> {
    let before = sync::save_current(tx, account, require(tx, account, id, project)?)?;
    let mut after = Campaign { status: allowed(&before, action)?, ..before.clone() };
    change(tx, &mut after, before.status)?;
    if after != before {
        after.updated_at = tx.now();
        store::save(tx, account, Some(&before), &after);
    }
    Ok(after)
}
