//! Lists the account's latest campaigns with their statistics.

use std::ops::ControlFlow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::text::fold;
use crate::engine::api::{Done, Failure, Limit, Operation, Query, Spec, View, needs};
use crate::features::campaigns::model::CampaignStatus;
use crate::features::campaigns::stats::{self, CampaignStats};
use crate::features::campaigns::views::{CampaignView, campaign_view};
use crate::features::campaigns::{store, sync};
use crate::features::projects;
use crate::vocab::codes::Code;
use crate::vocab::ids::{CampaignId, ProjectId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct Overview;

/// The filters and the page of campaigns to return.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OverviewRequest {
    /// Lists only campaigns in this project. If absent, lists the campaigns of all projects.
    pub project_id: Option<ProjectId>,
    /// Lists only campaigns with one of these statuses.
    pub status: Option<Vec<CampaignStatus>>,
    /// Lists only archived campaigns if true, or only campaigns that are not archived if false. If absent, lists all campaigns.
    pub archived: Option<bool>,
    /// Text to find in the names of campaigns, ignoring case.
    pub search: Option<String>,
    #[serde(default)]
    pub limit: Limit,
    /// The value of `next` from the previous page.
    pub before: Option<CampaignId>,
}

/// A page of campaigns, newest first.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CampaignsOverview {
    pub campaigns: Vec<CampaignLine>,
    /// The value of `before` that returns the next page; absent on the last page.
    pub next: Option<CampaignId>,
}

/// A campaign with its statistics.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CampaignLine {
    pub campaign: CampaignView,
    pub stats: CampaignStats,
}

impl Operation for Overview {
    const SPEC: Spec = Spec::get("campaigns.overview", "/v1/campaigns/overview", needs(Permission::CampaignRead))
        .summary("List campaigns of all projects with their statistics")
        .about(
            "Lists campaigns, newest first. If few campaigns match, a page can have fewer campaigns than requested, or none, even \
             though more pages follow.",
        )
        .rate(RouteGroup::Campaigns)
        .blocking()
        .fails(&[Code::NotFound]);
    type Input = OverviewRequest;
    type Output = Done<CampaignsOverview>;

    fn example() -> (Value, Self::Output) {
        let campaign = CampaignView::sample_in(CampaignStatus::Sent);
        let part = CampaignsOverview {
            next: Some(campaign.id),
            campaigns: vec![CampaignLine { campaign, stats: CampaignStats::sample() }],
        };
        (json!({ "limit": 1, "archived": false }), Done(part))
    }
}

impl Query for Overview {
    fn run(view: &View<'_>, input: OverviewRequest) -> Result<Self::Output, Failure> {
        let (tx, account) = (view.tx, view.caller.account());
        if let Some(project) = input.project_id {
            projects::require(tx, account, project)?;
        }
        let words = input.search.as_deref().map(|search| fold(search.trim())).filter(|search| !search.is_empty());
        let (mut scanned, mut last, mut next, mut found) = (0, None, None, Vec::new());
        store::visit_latest(tx, account, input.before, |campaign| {
            if found.len() == input.limit.0 as usize || scanned == limits::CAMPAIGNS_SCANNED_MAX {
                next = last;
                return Ok(ControlFlow::Break(()));
            }
            scanned += 1;
            last = Some(campaign.id);
            let campaign = sync::current(tx, account, campaign)?;
            let fits = input.project_id.is_none_or(|project| campaign.project == project)
                && input.status.as_ref().is_none_or(|wanted| wanted.contains(&campaign.status))
                && input.archived.is_none_or(|archived| campaign.is_archived() == archived)
                && words.as_deref().is_none_or(|words| fold(&campaign.plan.name).contains(words));
            if fits {
                found.push(campaign);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        let show = |campaign| {
            let stats = stats::of(tx, &campaign, view.now)?;
            Ok::<_, Failure>(CampaignLine { campaign: campaign_view(tx, &view.caller.engine, account, campaign)?, stats })
        };
        Ok(Done(CampaignsOverview { campaigns: found.into_iter().map(show).collect::<Result<_, _>>()?, next }))
    }
}
