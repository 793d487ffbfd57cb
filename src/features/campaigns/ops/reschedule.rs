//! Changes the start time of a campaign that is scheduled or pending review.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::schedule::set;
use crate::base::zone::Zone;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::campaigns::act;
use crate::features::campaigns::launch::{self, LaunchContext};
use crate::features::campaigns::model::{Action, TimezoneMode};
use crate::features::campaigns::schedule::StartTime;
use crate::features::campaigns::views::{CampaignView, campaign_view};
use crate::vocab::ids::{CampaignId, ProjectId};
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct Reschedule;

/// The campaign and its new start time.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RescheduleCampaign {
    /// The campaign's ID.
    pub id: CampaignId,
    /// If given, the campaign must belong to this project.
    pub project_id: Option<ProjectId>,
    /// The new start time, in ISO 8601 format. A time with an offset or Z is an exact moment; a time without an offset is a local time in
    /// the time zone `scheduledTimezone`.
    pub scheduled_at: StartTime,
    /// The IANA name of the new time zone. If absent, the time zone stays unchanged.
    pub scheduled_timezone: Option<Zone>,
    /// Whose time zone applies: the campaign's, or each recipient's own. If absent, the mode stays unchanged.
    pub timezone_mode: Option<TimezoneMode>,
}

impl Operation for Reschedule {
    const SPEC: Spec = Spec::post("campaigns.reschedule", "/v1/campaigns/{id}/reschedule", needs(Permission::CampaignWrite))
        .summary("Reschedule a campaign")
        .about(
            "Changes the start time of a campaign that is scheduled or pending review. Without scheduledTimezone, the campaign keeps \
             its time zone; without timezoneMode, it keeps its mode. Fails if the campaign is a draft; schedule a draft with \
             POST /v1/campaigns/{id}/schedule.",
        )
        .rate(RouteGroup::Campaigns)
        .replay(Replay::Keyed)
        .fails(launch::FAILS);
    type Input = RescheduleCampaign;
    type Output = Done<CampaignView>;

    fn example() -> (Value, Self::Output) {
        let campaign = CampaignView::sample_scheduled();
        (json!({ "id": campaign.id, "scheduledAt": "2026-01-31T09:30" }), Done(campaign))
    }
}

impl Command for Reschedule {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: RescheduleCampaign) -> Result<Self::Output, Failure> {
        let account = caller.account();
        let campaign = act(tx, account, (input.id, input.project_id), Action::Reschedule, |tx, campaign, _| {
            let known = campaign.schedule.as_ref();
            let zone = input.scheduled_timezone.or_else(|| Zone::parse(&known?.zone).ok()).unwrap_or_else(Zone::utc);
            let mode = input.timezone_mode.or(known.map(|known| known.mode)).unwrap_or_default();
            set(tx, LaunchContext::of(caller), campaign, (input.scheduled_at, &zone, mode))
        })?;
        Ok(Done(campaign_view(tx, &caller.engine, account, campaign)?))
    }
}
