//! Cancels a campaign.

use serde_json::{Value, json};

use super::CampaignRef;
use crate::engine::api::response::WireTime;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::campaigns::act;
use crate::features::campaigns::model::{Action, CampaignStatus};
use crate::features::campaigns::views::{CampaignView, campaign_view};
use crate::features::sending;
use crate::vocab::codes::Code;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct Cancel;

impl Operation for Cancel {
    const SPEC: Spec = Spec::post("campaigns.cancel", "/v1/campaigns/{id}/cancel", needs(Permission::CampaignWrite))
        .summary("Cancel a campaign")
        .about(
            "A scheduled campaign does not start. If the campaign is being sent, the remaining recipients are skipped with the reason \
             `cancelled`; the outcome of messages in flight is still recorded.",
        )
        .rate(RouteGroup::Campaigns)
        .replay(Replay::Keyed)
        .fails(&[Code::NotFound, Code::WrongState]);
    type Input = CampaignRef;
    type Output = Done<CampaignView>;

    fn example() -> (Value, Self::Output) {
        let campaign = CampaignView {
            status: CampaignStatus::Cancelled,
            completed_at: Some(WireTime::sample()),
            ..CampaignView::sample_scheduled()
        };
        (json!({ "id": campaign.id }), Done(campaign))
    }
}

impl Command for Cancel {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: CampaignRef) -> Result<Self::Output, Failure> {
        let account = caller.account();
        let campaign = act(tx, account, input.key(), Action::Cancel, |tx, campaign, before| {
            if before == CampaignStatus::Cancelled {
                return Ok(());
            }
            campaign.check_at = None;
            campaign.completed_at = Some(tx.now());
            match campaign.mailing {
                Some(mailing) => sending::cancel(tx, account, mailing).map(drop),
                None => Ok(()),
            }
        })?;
        Ok(Done(campaign_view(tx, &caller.engine, account, campaign)?))
    }
}
