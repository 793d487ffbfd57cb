//! Duplicates a campaign as a draft.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::create::draft;
use super::{CampaignName, check_room};
use crate::engine::api::{Caller, Command, Created, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::campaigns::model::Plan;
use crate::features::campaigns::views::{CampaignView, campaign_view};
use crate::features::campaigns::{require, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::{CampaignId, ProjectId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct Duplicate;

/// The campaign to copy, and the name of the copy.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DuplicateCampaign {
    /// The campaign's ID.
    pub id: CampaignId,
    /// If given, the campaign must belong to this project.
    pub project_id: Option<ProjectId>,
    /// The name of the copy. The default is the original name followed by "(copy)".
    pub name: Option<CampaignName>,
}

impl Operation for Duplicate {
    const SPEC: Spec = Spec::post("campaigns.duplicate", "/v1/campaigns/{id}/duplicate", needs(Permission::CampaignWrite))
        .summary("Duplicate a campaign as a draft")
        .about("The copy has all settings of the original except its name and schedule. The original can have any status.")
        .rate(RouteGroup::Campaigns)
        .replay(Replay::Keyed)
        .fails(&[Code::NotFound, Code::LimitReached]);
    type Input = DuplicateCampaign;
    type Output = Created<CampaignView>;

    fn example() -> (Value, Self::Output) {
        let campaign = CampaignView { name: "Winter teas (copy)".into(), ..CampaignView::sample() };
        (json!({ "id": "66f1a2b3d4e5f60718293a5f" }), Created(campaign))
    }
}

impl Command for Duplicate {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: DuplicateCampaign) -> Result<Self::Output, Failure> {
        let account = caller.account();
        let pattern = require(tx, account, input.id, input.project_id)?;
        check_room(store::count(tx, pattern.project, limits::CAMPAIGNS_PER_PROJECT_MAX)?)?;
        let name = input.name.map_or_else(|| copied(&pattern.plan.name), |name| name.to_string());
        let campaign = draft(tx, pattern.project, Plan { name, ..pattern.plan });
        store::save(tx, account, None, &campaign);
        Ok(Created(campaign_view(tx, &caller.engine, account, campaign)?))
    }
}

/// Returns the name of a copy, shortened to the maximum length.
fn copied(name: &str) -> String {
    const MARK: &str = " (copy)";
    let kept: String = name.chars().take(limits::CAMPAIGN_NAME_CHARACTERS_MAX - MARK.len()).collect();
    format!("{}{MARK}", kept.trim_end())
}
