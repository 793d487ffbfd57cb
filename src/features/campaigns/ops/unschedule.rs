//! Unschedules a campaign.

use serde_json::{Value, json};

use super::CampaignRef;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::campaigns::act;
use crate::features::campaigns::model::{Action, CampaignStatus};
use crate::features::campaigns::views::{CampaignView, campaign_view};
use crate::vocab::codes::Code;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct Unschedule;

impl Operation for Unschedule {
    const SPEC: Spec = Spec::post("campaigns.unschedule", "/v1/campaigns/{id}/unschedule", needs(Permission::CampaignWrite))
        .summary("Unschedule a campaign")
        .about("The campaign becomes a draft again.")
        .rate(RouteGroup::Campaigns)
        .replay(Replay::Keyed)
        .fails(&[Code::NotFound, Code::WrongState]);
    type Input = CampaignRef;
    type Output = Done<CampaignView>;

    fn example() -> (Value, Self::Output) {
        let campaign = CampaignView { status: CampaignStatus::Draft, ..CampaignView::sample() };
        (json!({ "id": campaign.id }), Done(campaign))
    }
}

impl Command for Unschedule {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: CampaignRef) -> Result<Self::Output, Failure> {
        let account = caller.account();
        let campaign = act(tx, account, input.key(), Action::Unschedule, |_, campaign, _| {
            campaign.schedule = None;
            campaign.check_at = None;
            campaign.error = None;
            Ok(())
        })?;
        Ok(Done(campaign_view(tx, &caller.engine, account, campaign)?))
    }
}
