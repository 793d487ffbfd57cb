//! Returns the status of a generation and its emails.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::response::WireTime;
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs_one};
use crate::features::emails::model::COMPOSER;
use crate::features::emails::views::{GenerationProgress, GenerationStatus, Viewer};
use crate::features::emails::{READERS, conversation_not_found, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::{ConversationId, ProjectId};
use crate::vocab::rates::RouteGroup;
use crate::vocab::settings::OnFailure;

pub struct Status;

/// The conversation whose status to return.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConversationRef {
    pub conversation_id: ConversationId,
    /// If given, the conversation must belong to this project.
    pub project_id: Option<ProjectId>,
}

impl Operation for Status {
    const SPEC: Spec = Spec::get("emails.status", "/v1/projects/emails/{conversationId}/status", needs_one(READERS))
        .summary("Get the status of a generation")
        .about(
            "Poll every two seconds until `status` is `completed` or `failed`. A completed generation has at least one email that is \
             ready; failed emails have an error.",
        )
        .rate(RouteGroup::Emails)
        .blocking()
        .fails(&[Code::NotFound]);
    type Input = ConversationRef;
    type Output = Done<GenerationStatus>;

    fn example() -> (Value, Self::Output) {
        let conversation_id = ConversationId::parse("66f1a2b3d4e5f60718293a4d").expect("the sample ID is valid");
        let view = GenerationStatus {
            conversation_id,
            project_id: ProjectId::parse("66f1a2b3d4e5f60718293a4b").expect("the sample ID is valid"),
            status: "pending",
            progress: GenerationProgress { stage: "waiting", step: 1, steps: 10, percentage: 0 },
            title: "Welcome series".into(),
            prompt: "Welcome series for new subscribers".into(),
            brief: None,
            model: COMPOSER.into(),
            on_failure: OnFailure::Fail,
            created_at: WireTime::sample(),
            updated_at: WireTime::sample(),
            error: None,
            result: None,
        };
        (json!({ "conversationId": conversation_id }), Done(view))
    }
}

impl Query for Status {
    fn run(view: &View<'_>, input: ConversationRef) -> Result<Self::Output, Failure> {
        let account = view.caller.account();
        let tx = view.tx;
        let found = store::conversation(tx, account, input.conversation_id)?;
        let found = found.filter(|found| input.project_id.is_none_or(|project| found.project == project));
        let conversation = found.ok_or_else(|| conversation_not_found(input.project_id))?;
        Viewer { engine: &view.caller.engine, tx, account }.status(&conversation).map(Done)
    }
}
