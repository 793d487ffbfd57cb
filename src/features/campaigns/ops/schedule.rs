//! Schedules a campaign.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::zone::Zone;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Replay, Spec, needs};
use crate::engine::hold;
use crate::engine::store::WriteTx;
use crate::features::campaigns::act;
use crate::features::campaigns::launch::{self, LaunchContext};
use crate::features::campaigns::model::{Action, Campaign, CampaignStatus, TimezoneMode};
use crate::features::campaigns::schedule::{StartTime, resolve};
use crate::features::campaigns::views::{CampaignView, campaign_view};
use crate::vocab::ids::{CampaignId, ProjectId};
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct Schedule;

/// The campaign and its start time.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScheduleCampaign {
    /// The campaign's ID.
    pub id: CampaignId,
    /// If given, the campaign must belong to this project.
    pub project_id: Option<ProjectId>,
    /// The start time, in ISO 8601 format. A time with an offset or Z is an exact moment; a time without an offset is a local time in the
    /// time zone `scheduledTimezone`.
    pub scheduled_at: StartTime,
    /// The IANA name of the time zone; former names are accepted too. The default is UTC.
    pub scheduled_timezone: Option<Zone>,
    /// Whose time zone applies. The default is `campaign`. With `recipient`, each contact gets the campaign at this local time in the
    /// contact's time zone: the value of the custom field `timezone` or `time_zone`, or else the time zone of the contact's country if the
    /// country has only one, or else the campaign's time zone.
    pub timezone_mode: Option<TimezoneMode>,
}

impl Operation for Schedule {
    const SPEC: Spec = Spec::post("campaigns.schedule", "/v1/campaigns/{id}/schedule", needs(Permission::CampaignWrite))
        .summary("Schedule a campaign")
        .about(
            "At the start time, the campaign sends the current version of its email to the audience at that time. If clocks skip the local \
             time, the start time moves forward by the gap. If the local time occurs twice, the first occurrence is used. \
             `scheduleNotice` reports both cases. Scheduling a scheduled campaign again changes its start time. If the campaign \
             cannot start when it is due, the status becomes pending_review, and `error` explains why.",
        )
        .rate(RouteGroup::Campaigns)
        .replay(Replay::Keyed)
        .fails(launch::FAILS);
    type Input = ScheduleCampaign;
    type Output = Done<CampaignView>;

    fn example() -> (Value, Self::Output) {
        let campaign = CampaignView::sample_scheduled();
        let input = json!({
            "id": campaign.id, "scheduledAt": "2026-01-31T09:30", "scheduledTimezone": campaign.scheduled_timezone,
        });
        (input, Done(campaign))
    }
}

impl Command for Schedule {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: ScheduleCampaign) -> Result<Self::Output, Failure> {
        let account = caller.account();
        let campaign = act(tx, account, (input.id, input.project_id), Action::Schedule, |tx, campaign, _| {
            let zone = input.scheduled_timezone.unwrap_or_else(Zone::utc);
            set(tx, LaunchContext::of(caller), campaign, (input.scheduled_at, &zone, input.timezone_mode.unwrap_or_default()))
        })?;
        Ok(Done(campaign_view(tx, &caller.engine, account, campaign)?))
    }
}

/// Sets the start time of a campaign; fails unless the campaign is ready to start.
pub fn set(
    tx: &mut WriteTx<'_>,
    context: LaunchContext<'_>,
    campaign: &mut Campaign,
    (at, zone, mode): (StartTime, &Zone, TimezoneMode),
) -> Result<(), Failure> {
    debug_assert_eq!(campaign.status, CampaignStatus::Scheduled);
    let schedule = resolve(at, zone, mode, tx.now())?;
    launch::check(tx, context, campaign)?;
    campaign.check_at = Some(schedule.begins_at().max(tx.now()));
    campaign.schedule = Some(schedule);
    campaign.hold_number = hold::last_number(tx)?;
    campaign.error = None;
    Ok(())
}
