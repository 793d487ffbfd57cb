//! Brings back a brand from the restored state.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, manager};
use crate::features::accounts;
use crate::features::restores::model::RestoreMode;
use crate::features::restores::requests::{self, Choice};
use crate::features::restores::views::RestoreView;
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;

pub struct Apply;

/// The brand to bring back, and how.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ApplyRestore {
    /// The brand's ID in the restored state.
    pub project_id: ProjectId,
    /// `missing` brings back missing objects and changes nothing else. `replace` also replaces the brand's current values, objects and
    /// contact fields with those in the restored state; emails get a new version. `copy` creates a second brand beside the existing one.
    #[serde(default)]
    pub mode: RestoreMode,
    /// Whether to bring back contacts as well.
    #[serde(default = "yes")]
    pub contacts: bool,
    /// Whether to bring back contacts that were deleted after the time of the restored state. Deleting a contact erases a person's data, so
    /// use this only if the contacts were deleted by mistake.
    #[serde(default)]
    pub deleted_contacts: bool,
}

pub(super) fn yes() -> bool {
    true
}

impl ApplyRestore {
    pub(super) fn choice(&self) -> Choice {
        let Self { project_id: project, mode, contacts, deleted_contacts } = *self;
        Choice { project, mode, contacts, deleted_contacts }
    }
}

impl Operation for Apply {
    const SPEC: Spec = Spec::post("restores.apply", "/v1/system/restores/apply", manager())
        .summary("Bring back a brand")
        .about(
            "Brings back the brand with its knowledge base, images, products, saved blocks, tags, topics, segments, finished emails and \
             contacts. Campaigns, messages, customer events, statistics, webhooks and connections are not restored, and nothing is sent. \
             Existing contacts keep their status and topic choices. Contacts who unsubscribed or bounced after the restored time do not \
             come back as subscribed. Returns immediately; GET /v1/system/restores shows the result. Requires a restore with the status \
             ready. Only the installation's own account, which is the first account, may use this operation.",
        )
        .fails(&[Code::NotFound, Code::WrongState, Code::LimitReached]);
    type Input = ApplyRestore;
    type Output = Done<RestoreView>;

    fn example() -> (Value, Self::Output) {
        (json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "mode": "missing" }), Done(RestoreView::completed_sample()))
    }
}

impl Async for Apply {
    async fn run(context: Context, input: ApplyRestore) -> Result<Self::Output, Failure> {
        let account = context.caller.account();
        accounts::require_installations(&context.engine.control.read(), account)?;
        let restore = requests::apply(&context, &Self::SPEC, Some(account), input.choice()).await?;
        Ok(Done(requests::view(&context.engine, Some(account), restore)?))
    }
}
