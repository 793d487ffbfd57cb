//! Returns a campaign.

use serde_json::{Value, json};

use super::CampaignRef;
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::features::campaigns::require;
use crate::features::campaigns::views::{CampaignView, campaign_view};
use crate::vocab::codes::Code;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct Get;

impl Operation for Get {
    const SPEC: Spec = Spec::get("campaigns.get", "/v1/campaigns/{id}", needs(Permission::CampaignRead))
        .summary("Get a campaign")
        .rate(RouteGroup::Campaigns)
        .blocking()
        .fails(&[Code::NotFound]);
    type Input = CampaignRef;
    type Output = Done<CampaignView>;

    fn example() -> (Value, Self::Output) {
        let campaign = CampaignView::sample();
        (json!({ "id": campaign.id }), Done(campaign))
    }
}

impl Query for Get {
    fn run(view: &View<'_>, input: CampaignRef) -> Result<Self::Output, Failure> {
        let account = view.caller.account();
        let campaign = require(view.tx, account, input.id, input.project_id)?;
        Ok(Done(campaign_view(view.tx, &view.caller.engine, account, campaign)?))
    }
}
