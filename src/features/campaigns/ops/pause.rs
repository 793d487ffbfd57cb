//! Pauses a campaign that is being sent.

use serde_json::{Value, json};

use super::CampaignRef;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::campaigns::act;
use crate::features::campaigns::model::{Action, CampaignStatus};
use crate::features::campaigns::views::{CampaignView, campaign_view};
use crate::features::sending;
use crate::vocab::codes::Code;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct Pause;

impl Operation for Pause {
    const SPEC: Spec = Spec::post("campaigns.pause", "/v1/campaigns/{id}/pause", needs(Permission::CampaignWrite))
        .summary("Pause a campaign that is being sent")
        .about(
            "Nothing more is sent until you resume the campaign. The outcome of messages in flight is still recorded, and opens and \
             clicks are still counted.",
        )
        .rate(RouteGroup::Campaigns)
        .replay(Replay::Keyed)
        .fails(&[Code::NotFound, Code::WrongState]);
    type Input = CampaignRef;
    type Output = Done<CampaignView>;

    fn example() -> (Value, Self::Output) {
        let campaign = CampaignView::sample_in(CampaignStatus::Paused);
        (json!({ "id": campaign.id }), Done(campaign))
    }
}

impl Command for Pause {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: CampaignRef) -> Result<Self::Output, Failure> {
        let account = caller.account();
        let campaign = act(tx, account, input.key(), Action::Pause, |tx, campaign, before| match campaign.mailing {
            Some(mailing) if before != CampaignStatus::Paused => sending::pause(tx, account, mailing).map(drop),
            _ => Ok(()),
        })?;
        Ok(Done(campaign_view(tx, &caller.engine, account, campaign)?))
    }
}
