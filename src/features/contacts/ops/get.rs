//! Returns one contact.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::features::contact_records::{self, ContactView, Viewer};
use crate::features::projects;
use crate::vocab::codes::Code;
use crate::vocab::ids::{ContactId, ProjectId};
use crate::vocab::permissions::Permission;

pub struct Get;

/// Selects a contact.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ContactRef {
    /// The contact's ID.
    pub id: ContactId,
    /// The ID of the contact's project.
    pub project_id: ProjectId,
}

impl Operation for Get {
    const SPEC: Spec = Spec::get("contacts.get", "/v1/contacts/{id}", needs(Permission::AudienceRead))
        .summary("Get a contact")
        .also_at(&["/v1/subscribers/{id}"])
        .fails(&[Code::NotFound]);
    type Input = ContactRef;
    type Output = Done<ContactView>;

    fn example() -> (Value, Self::Output) {
        let input = json!({ "id": "66f1a2b30000000a5c3e9d71", "projectId": "66f1a2b3d4e5f60718293a4b" });
        (input, Done(ContactView::sample()))
    }
}

impl Query for Get {
    fn run(view: &View<'_>, input: ContactRef) -> Result<Self::Output, Failure> {
        projects::require(view.tx, view.caller.account(), input.project_id)?;
        let contact = contact_records::find(view.tx, input.project_id, input.id)?.ok_or(Code::NotFound)?;
        Ok(Done(Viewer::new(view.tx, view.caller, input.project_id).view(contact)?))
    }
}
