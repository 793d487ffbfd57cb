//! Lists the campaigns of a project.

use std::ops::ControlFlow;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::text::fold;
use crate::engine::api::{Failure, Limit, Offset, Operation, Page, PageNumber, Query, Spec, View, Window, needs};
use crate::features::campaigns::model::CampaignStatus;
use crate::features::campaigns::views::{CampaignView, campaign_view};
use crate::features::campaigns::{store, sync};
use crate::features::projects;
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct List;

/// The project, filters and page.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListCampaigns {
    /// The project that the campaigns belong to.
    pub project_id: ProjectId,
    /// Lists only campaigns with one of these statuses.
    pub status: Option<Vec<CampaignStatus>>,
    /// Lists only archived campaigns if true, or only campaigns that are not archived if false. If absent, lists all campaigns.
    pub archived: Option<bool>,
    /// Text to find in the names of campaigns, ignoring case.
    pub search: Option<String>,
    #[serde(default)]
    pub limit: Limit,
    /// The number of campaigns to skip.
    pub offset: Option<Offset>,
    /// The number of the page to return, starting at 1. Use it instead of `offset`; if both are set, `offset` is ignored.
    pub page: Option<PageNumber>,
}

impl Operation for List {
    const SPEC: Spec = Spec::get("campaigns.list", "/v1/campaigns", needs(Permission::CampaignRead))
        .summary("List campaigns")
        .about("Lists campaigns, newest first.")
        .rate(RouteGroup::Campaigns)
        .blocking()
        .fails(&[Code::NotFound]);
    type Input = ListCampaigns;
    type Output = Page<CampaignView>;

    fn example() -> (Value, Self::Output) {
        let window = Window { limit: 20, offset: 0, paged: false };
        let input = json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "status": ["draft", "scheduled"], "archived": false });
        (input, Page { items: vec![CampaignView::sample()], total: 1, window })
    }
}

impl Query for List {
    fn run(view: &View<'_>, input: ListCampaigns) -> Result<Self::Output, Failure> {
        let (tx, account, project) = (view.tx, view.caller.account(), input.project_id);
        projects::require(tx, account, project)?;
        let window = Window::new(input.limit, input.offset, input.page);
        let words = input.search.as_deref().map(|search| fold(search.trim())).filter(|search| !search.is_empty());
        let (mut total, mut found) = (0, Vec::new());
        store::visit(tx, account, project, |campaign| {
            let campaign = sync::current(tx, account, campaign)?;
            let fits = input.status.as_ref().is_none_or(|wanted| wanted.contains(&campaign.status))
                && input.archived.is_none_or(|archived| campaign.is_archived() == archived)
                && words.as_deref().is_none_or(|words| fold(&campaign.plan.name).contains(words));
            if fits {
                if total >= window.offset && found.len() < window.limit {
                    found.push(campaign);
                }
                total += 1;
            }
            Ok(ControlFlow::Continue(()))
        })?;
        let show = |campaign| campaign_view(tx, &view.caller.engine, account, campaign);
        let items = found.into_iter().map(show).collect::<Result<_, _>>()?;
        Ok(Page { items, total: total as u64, window })
    }
}
