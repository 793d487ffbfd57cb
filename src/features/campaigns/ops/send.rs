//! Sends a campaign now.

use serde_json::{Value, json};

use super::CampaignRef;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::campaigns::act;
use crate::features::campaigns::launch::{self, LaunchContext};
use crate::features::campaigns::model::{Action, CampaignStatus};
use crate::features::campaigns::views::{CampaignView, campaign_view};
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct Send;

impl Operation for Send {
    const SPEC: Spec = Spec::post("campaigns.send", "/v1/campaigns/{id}/send", needs(Permission::CampaignWrite))
        .summary("Send a campaign now")
        .about(
            "Returns as soon as the campaign is stored for sending; check the progress with GET /v1/campaigns/{id}. The content can no \
             longer change. A campaign can be sent only once: a second request fails with 409, or returns the same response if it has \
             the Idempotency-Key of the first request. A scheduled campaign is sent now instead.",
        )
        .rate(RouteGroup::Campaigns)
        .replay(Replay::Keyed)
        .fails(launch::FAILS);
    type Input = CampaignRef;
    type Output = Done<CampaignView>;

    fn example() -> (Value, Self::Output) {
        let campaign = CampaignView::sample_in(CampaignStatus::Sending);
        (json!({ "id": campaign.id }), Done(campaign))
    }
}

impl Command for Send {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: CampaignRef) -> Result<Self::Output, Failure> {
        let account = caller.account();
        let campaign = act(tx, account, input.key(), Action::Send, |tx, campaign, _| {
            campaign.schedule = None;
            launch::start(tx, LaunchContext::of(caller), campaign)
        })?;
        Ok(Done(campaign_view(tx, &caller.engine, account, campaign)?))
    }
}
