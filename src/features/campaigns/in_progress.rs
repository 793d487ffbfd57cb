//! Campaigns that the worker advances: those being sent and those scheduled.

use super::model::Campaign;
use super::store;
use crate::base::clock::Timestamp;
use crate::engine::hold::HoldNumber;
use crate::engine::store::{Read, Result};
use crate::vocab::ids::{AccountId, CampaignId, MailingId};

/// A campaign in progress, or a scheduled one.
pub struct CampaignInProgress {
    pub account: AccountId,
    pub id: CampaignId,
    pub name: String,
    /// The status, as its wire name.
    pub status: &'static str,
    /// The scheduled start time, past or future.
    pub scheduled_at: Option<Timestamp>,
    /// The mailing that sends it, once it has started.
    pub mailing: Option<MailingId>,
    /// The last hold before it was scheduled.
    pub hold_number: HoldNumber,
}

/// Returns up to `limit` campaigns of all accounts: first those in progress, then the scheduled ones ordered by start time.
pub fn list(tx: &impl Read, limit: usize) -> Result<Vec<CampaignInProgress>> {
    let mut found = Vec::new();
    for (_, id, account) in store::due(tx, Timestamp(i64::MAX - 1), None, limit)? {
        let Some(Campaign { plan, status, schedule, mailing, hold_number, .. }) = store::find(tx, account, id)? else { continue };
        let scheduled_at = schedule.map(|schedule| schedule.at);
        found.push(CampaignInProgress {
            account,
            id,
            name: plan.name,
            status: status.word(),
            scheduled_at,
            mailing,
            hold_number,
        });
    }
    Ok(found)
}
