//! Sets a project's default sender.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::email::EmailAddress;
use crate::base::text::ShortText;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::projects::model::DefaultSender;
use crate::features::projects::views::SenderView;
use crate::features::projects::{not_found, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

pub struct SenderUpdate;

/// The default sender to set.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewSender {
    pub project_id: ProjectId,
    /// The From address. Live mail requires an address at a verified domain.
    pub from: EmailAddress,
    /// The name shown with the From address.
    pub from_name: Option<ShortText<{ limits::SENDER_NAME_CHARACTERS_MAX }>>,
    /// The address that replies are sent to; the From address if absent.
    pub reply_to: Option<EmailAddress>,
}

/// The default sender after the change.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectSender {
    pub default_sender: SenderView,
}

impl Operation for SenderUpdate {
    const SPEC: Spec = Spec::put("projects.sender_update", "/v1/projects/{projectId}/sender", needs(Permission::ProjectWrite))
        .summary("Set a project's default sender")
        .about("Test sends and new campaigns use the default sender. If none is set, the project's first campaign sets it.")
        .fails(&[Code::NotFound]);
    type Input = NewSender;
    type Output = Done<ProjectSender>;

    fn example() -> (Value, Self::Output) {
        let input = json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "from": "hello@acme.example", "fromName": "Acme" });
        (input, Done(ProjectSender { default_sender: SenderView::sample() }))
    }
}

impl Command for SenderUpdate {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: NewSender) -> Result<Self::Output, Failure> {
        let account = caller.account();
        let mut project = store::find(tx, account, input.project_id)?.ok_or_else(not_found)?;
        let sender = DefaultSender {
            from: input.from.into_string(),
            from_name: input.from_name.map(ShortText::into_string),
            reply_to: input.reply_to.map(EmailAddress::into_string),
        };
        if project.sender.as_ref() != Some(&sender) {
            project.sender = Some(sender.clone());
            project.updated_at = tx.now();
            store::save(tx, account, &project);
        }
        Ok(Done(ProjectSender { default_sender: sender.into() }))
    }
}
