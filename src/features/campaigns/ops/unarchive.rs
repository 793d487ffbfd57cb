//! Unarchives a campaign.

use serde_json::{Value, json};

use super::CampaignRef;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::campaigns::model::Campaign;
use crate::features::campaigns::views::{CampaignView, campaign_view};
use crate::features::campaigns::{require, store, sync};
use crate::vocab::codes::Code;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct Unarchive;

impl Operation for Unarchive {
    const SPEC: Spec = Spec::post("campaigns.unarchive", "/v1/campaigns/{id}/unarchive", needs(Permission::CampaignWrite))
        .summary("Unarchive a campaign")
        .about("Returns 409 if the campaign is not archived.")
        .rate(RouteGroup::Campaigns)
        .replay(Replay::Keyed)
        .fails(&[Code::NotFound, Code::WrongState]);
    type Input = CampaignRef;
    type Output = Done<CampaignView>;

    fn example() -> (Value, Self::Output) {
        let campaign = CampaignView::sample();
        (json!({ "id": campaign.id }), Done(campaign))
    }
}

impl Command for Unarchive {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: CampaignRef) -> Result<Self::Output, Failure> {
        let account = caller.account();
        let before = require(tx, account, input.id, input.project_id)?;
        let before = sync::save_current(tx, account, before)?;
        if !before.is_archived() {
            let detail = "The campaign is not archived, so it cannot be unarchived.";
            return Err(Failure::because(Code::WrongState, detail).with(json!({ "status": before.status.word() })));
        }
        let after = Campaign { archived_at: None, ..before.clone() };
        if after != before {
            store::save(tx, account, Some(&before), &after);
        }
        Ok(Done(campaign_view(tx, &caller.engine, account, after)?))
    }
}
