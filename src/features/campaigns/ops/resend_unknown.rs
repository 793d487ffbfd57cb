//! Sends a campaign's messages again to the recipients whose delivery is unknown.

use schemars::JsonSchema;
use serde::Serialize;
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

pub struct ResendUnknown;

/// The result of a resend.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CampaignResent {
    /// The number of recipients to whom the message will be sent again.
    pub resent: u64,
    pub campaign: CampaignView,
}

impl Operation for ResendUnknown {
    const SPEC: Spec = Spec::post("campaigns.resend_unknown", "/v1/campaigns/{id}/resend-unknown", needs(Permission::CampaignWrite))
        .summary("Send again to recipients whose delivery is unknown")
        .about(
            "If the process or a connection fails during a handoff, it is uncertain whether a recipient has the message. Recipients who already have the message get a second copy with the same Message-ID.",
        )
        .rate(RouteGroup::Campaigns)
        .replay(Replay::Keyed)
        .fails(&[Code::NotFound, Code::WrongState, Code::OnHold]);
    type Input = CampaignRef;
    type Output = Done<CampaignResent>;

    fn example() -> (Value, Self::Output) {
        let campaign = CampaignView::sample_in(CampaignStatus::Sending);
        (json!({ "id": campaign.id }), Done(CampaignResent { resent: 3, campaign }))
    }
}

impl Command for ResendUnknown {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: CampaignRef) -> Result<Self::Output, Failure> {
        let account = caller.account();
        let mut resent = 0;
        let campaign = act(tx, account, input.key(), Action::ResendUnknown, |tx, campaign, before| {
            let mailing =
                campaign.mailing.ok_or_else(|| Failure::internal("a started campaign has no mailing; report this bug"))?;
            sending::require_not_held(tx, &caller.engine.hold, account, mailing)?;
            resent = sending::resend_unknown(tx, account, mailing)?;
            match resent {
                // No deliveries are unknown, so the campaign keeps its previous status.
                0 => campaign.status = before,
                _ => campaign.completed_at = None,
            }
            Ok(())
        })?;
        Ok(Done(CampaignResent { resent, campaign: campaign_view(tx, &caller.engine, account, campaign)? }))
    }
}
