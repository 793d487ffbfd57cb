//! Resume a paused campaign.

use serde_json::{Value, json};

use super::WhichCampaign;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::campaigns::act;
use crate::features::campaigns::model::{Action, Status};
use crate::features::campaigns::views::{CampaignView, view};
use crate::features::sending;
use crate::vocab::codes::Code;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

/// `campaigns.resume`
pub struct Resume;

impl Operation for Resume {
    const SPEC: Spec = Spec::post("campaigns.resume", "/v1/campaigns/{id}/resume", needs(Permission::CampaignWrite))
        .summary("Resume a paused campaign")
        .about("It goes on with those who have not been sent to.")
        .rate(RouteGroup::Campaigns)
        .fails(&[Code::NotFound, Code::WrongState, Code::OnHold]);
    type Input = WhichCampaign;
    type Output = Done<CampaignView>;

    fn example() -> (Value, Self::Output) {
        let campaign = CampaignView::sample_in(Status::Sending);
        (json!({ "id": campaign.id }), Done(campaign))
    }
}

impl Command for Resume {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: WhichCampaign) -> Result<Self::Output, Failure> {
        let account = caller.account();
        let campaign = act(tx, account, input.key(), Action::Resume, |tx, campaign, before| match campaign.mailing {
            Some(mailing) if before == Status::Paused => {
                sending::require_not_held(tx, &caller.engine.hold, account, mailing)?;
                sending::resume(tx, account, mailing).map(drop)
            }
            _ => Ok(()),
        })?;
        Ok(Done(view(tx, &caller.engine, account, campaign)?))
    }
}
