//! Unsubscribe a contact.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::set_status::{Success, retag, save};
use crate::base::email::EmailAddress;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::contacts::tags::TagName;
use crate::features::contacts::webhook_events::{self, Action, Source};
use crate::features::contacts::{store, subscription};
use crate::features::projects;
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;
use crate::vocab::permissions::Permission;

/// `contacts.unsubscribe`
pub struct Unsubscribe;

/// The contact, and what to unsubscribe it from.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UnsubscribeRequest {
    /// The contact's email.
    pub email: EmailAddress,
    /// The contact's project.
    pub project_id: ProjectId,
    /// True or absent: unsubscribe from everything. False: only leave `tags`.
    pub all_lists: Option<bool>,
    /// Names of tags to leave when `allLists` is false.
    pub tags: Option<Vec<TagName>>,
}

impl Operation for Unsubscribe {
    const SPEC: Spec = Spec::post("contacts.unsubscribe", "/v1/subscribers/unsubscribe", needs(Permission::AudienceWrite))
        .also_at(&["/v1/contacts/unsubscribe"])
        .summary("Unsubscribe a contact")
        .takes_tokens()
        .about(
            "Emits subscriber.unsubscribed with action \"unsubscribed\", or \"tags_left\" if it only leaves tags. Repeating it \
             changes nothing and emits nothing.",
        )
        .fails(&[Code::NotFound]);
    type Input = UnsubscribeRequest;
    type Output = Done<Success>;

    fn example() -> (Value, Self::Output) {
        let input = json!({ "email": "ada@example.com", "projectId": "66f1a2b3d4e5f60718293a4b", "allLists": true });
        (input, Done(Success { success: true }))
    }
}

impl Command for Unsubscribe {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: UnsubscribeRequest) -> Result<Self::Output, Failure> {
        let project = input.project_id;
        projects::require(tx, caller.account(), project)?;
        let before = store::find_by_email(tx, project, &input.email.normalised())?.ok_or(Code::NotFound)?;
        let names = input.tags.unwrap_or_default();
        let mut after = before.clone();
        if !input.all_lists.unwrap_or(true) {
            if names.is_empty() {
                return Err(Failure::field("tags", "give the tags to leave, or set allLists to true"));
            }
            retag(tx, project, &mut after, &names, false)?;
            if after.differs(&before) {
                webhook_events::unsubscribed(tx, (caller.account(), project), &after, Action::TagsLeft, Source::of(caller));
            }
            save(tx, project, &before, after)?;
            return Ok(Done(Success { success: true }));
        }
        subscription::unsubscribe(tx, (caller.account(), project), &before, Source::of(caller))?;
        Ok(Done(Success { success: true }))
    }
}
