//! Resumes a paused campaign.

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

pub struct Resume;

impl Operation for Resume {
    const SPEC: Spec = Spec::post("campaigns.resume", "/v1/campaigns/{id}/resume", needs(Permission::CampaignWrite))
        .summary("Resume a paused campaign")
        .about("Sending continues with the remaining recipients.")
        .rate(RouteGroup::Campaigns)
        .replay(Replay::Keyed)
        .fails(&[Code::NotFound, Code::WrongState, Code::OnHold]);
    type Input = CampaignRef;
    type Output = Done<CampaignView>;

    fn example() -> (Value, Self::Output) {
        let campaign = CampaignView::sample_in(CampaignStatus::Sending);
        (json!({ "id": campaign.id }), Done(campaign))
    }
}

impl Command for Resume {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: CampaignRef) -> Result<Self::Output, Failure> {
        let account = caller.account();
        let campaign = act(tx, account, input.key(), Action::Resume, |tx, campaign, before| match campaign.mailing {
            Some(mailing) if before == CampaignStatus::Paused => {
                sending::require_not_held(tx, &caller.engine.hold, account, mailing)?;
                sending::resume(tx, account, mailing).map(drop)
            }
            _ => Ok(()),
        })?;
        Ok(Done(campaign_view(tx, &caller.engine, account, campaign)?))
    }
}
