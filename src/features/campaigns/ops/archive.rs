//! Archives a campaign.

use serde_json::{Value, json};

use super::CampaignRef;
use crate::engine::api::response::WireTime;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::campaigns::views::{CampaignView, campaign_view};
use crate::features::campaigns::{require, store, sync};
use crate::vocab::codes::Code;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct Archive;

impl Operation for Archive {
    const SPEC: Spec = Spec::post("campaigns.archive", "/v1/campaigns/{id}/archive", needs(Permission::CampaignWrite))
        .summary("Archive a campaign")
        .about(
            "Lists with archived=false no longer include the campaign. An archived campaign cannot be sent or scheduled, and does not \
             start at its scheduled time.",
        )
        .rate(RouteGroup::Campaigns)
        .replay(Replay::Keyed)
        .fails(&[Code::NotFound]);
    type Input = CampaignRef;
    type Output = Done<CampaignView>;

    fn example() -> (Value, Self::Output) {
        let campaign = CampaignView { archived: true, archived_at: Some(WireTime::sample()), ..CampaignView::sample() };
        (json!({ "id": campaign.id }), Done(campaign))
    }
}

impl Command for Archive {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: CampaignRef) -> Result<Self::Output, Failure> {
        let account = caller.account();
        let before = require(tx, account, input.id, input.project_id)?;
        let before = sync::save_current(tx, account, before)?;
        let mut after = before.clone();
        after.archived_at = before.archived_at.or(Some(tx.now()));
        if after != before {
            store::save(tx, account, Some(&before), &after);
        }
        Ok(Done(campaign_view(tx, &caller.engine, account, after)?))
    }
}
