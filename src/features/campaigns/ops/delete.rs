//! Deletes a campaign that is a draft or is waiting for review.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::CampaignRef;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::campaigns::model::Action;
use crate::features::campaigns::{allowed, require, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::CampaignId;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct Delete;

/// The campaign that was deleted.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeletedCampaign {
    pub id: CampaignId,
    pub deleted: bool,
}

impl Operation for Delete {
    const SPEC: Spec = Spec::delete("campaigns.delete", "/v1/campaigns/{id}", needs(Permission::CampaignWrite))
        .summary("Delete a draft")
        .about("Only campaigns with the status draft or pending_review can be deleted. Archive other campaigns instead.")
        .rate(RouteGroup::Campaigns)
        .fails(&[Code::NotFound, Code::WrongState]);
    type Input = CampaignRef;
    type Output = Done<DeletedCampaign>;

    fn example() -> (Value, Self::Output) {
        let id = CampaignId::parse("66f1a2b3d4e5f60718293a60").expect("the sample ID is valid");
        (json!({ "id": id }), Done(DeletedCampaign { id, deleted: true }))
    }
}

impl Command for Delete {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: CampaignRef) -> Result<Self::Output, Failure> {
        let account = caller.account();
        let campaign = require(tx, account, input.id, input.project_id)?;
        allowed(&campaign, Action::Delete)?;
        store::delete(tx, account, &campaign);
        Ok(Done(DeletedCampaign { id: campaign.id, deleted: true }))
    }
}
