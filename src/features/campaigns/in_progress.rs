//! Lists the campaigns that the campaign worker advances: campaigns that are being sent, and scheduled campaigns.

use super::model::Campaign;
use super::store;
use crate::base::clock::Timestamp;
use crate::engine::hold::HoldNumber;
use crate::engine::store::{Read, Result};
use crate::vocab::ids::{AccountId, CampaignId, MailingId};

/// A scheduled campaign, or a campaign whose status follows the progress of its mailing.
pub struct CampaignInProgress {
    pub account: AccountId,
    pub id: CampaignId,
    pub name: String,
    /// The name of the campaign's status in the API.
    pub status: &'static str,
    /// The scheduled start time, which may be in the past.
    pub scheduled_at: Option<Timestamp>,
    /// The mailing that sends the campaign, once the campaign has started.
    pub mailing: Option<MailingId>,
    /// The number of the last hold on sending that started before the campaign was scheduled; 0 if there was none.
    pub hold_number: HoldNumber,
}

/// Returns up to `limit` campaigns of all accounts: first the campaigns whose status follows the progress of their mailing, and then the
/// scheduled campaigns in the order of their next start attempt.
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
