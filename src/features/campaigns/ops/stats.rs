//! Returns a campaign's statistics.

use serde_json::{Value, json};

use super::CampaignRef;
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs_one};
use crate::features::campaigns::stats::{self, CampaignStats as Numbers};
use crate::features::campaigns::{REPORT_READERS, require};
use crate::vocab::codes::Code;
use crate::vocab::rates::RouteGroup;

pub struct Stats;

impl Operation for Stats {
    const SPEC: Spec = Spec::get("campaigns.stats", "/v1/campaigns/{id}/stats", needs_one(REPORT_READERS))
        .summary("Get a campaign's statistics")
        .about(
            "bounceRate is a percentage of the messages that were sent or rejected; the other rates are percentages of the delivered \
             messages. Every recipient is in exactly one of totalSent, queued, deferred, failed, unknown and skipped.",
        )
        .rate(RouteGroup::Campaigns)
        .fails(&[Code::NotFound]);
    type Input = CampaignRef;
    type Output = Done<Numbers>;

    fn example() -> (Value, Self::Output) {
        (json!({ "id": "66f1a2b3d4e5f60718293a60" }), Done(Numbers::sample()))
    }
}

impl Query for Stats {
    fn run(view: &View<'_>, input: CampaignRef) -> Result<Self::Output, Failure> {
        let campaign = require(view.tx, view.caller.account(), input.id, input.project_id)?;
        Ok(Done(stats::of(view.tx, &campaign, view.now)?))
    }
}
