//! Returns the project of a contact, for callers that know only the contact's ID, for example from a log or a link.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::features::contact_records;
use crate::features::projects::{self, OwningProject};
use crate::vocab::codes::Code;
use crate::vocab::ids::ContactId;
use crate::vocab::permissions::Permission;

pub struct Project;

/// Selects a contact.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ContactIdOnly {
    /// The contact's ID.
    pub id: ContactId,
}

impl Operation for Project {
    const SPEC: Spec = Spec::get("contacts.project", "/v1/contacts/{id}/project", needs(Permission::AudienceRead))
        .client("contacts.get_project")
        .summary("Get the project of a contact")
        .about(
            "All other operations on a single contact also require the project ID, so store both IDs instead of calling this \
             operation each time.",
        )
        .blocking()
        .fails(&[Code::NotFound]);
    type Input = ContactIdOnly;
    type Output = Done<OwningProject>;

    fn example() -> (Value, Self::Output) {
        (json!({ "id": "66f1a2b30000000a5c3e9d71" }), Done(OwningProject::sample()))
    }
}

impl Query for Project {
    fn run(view: &View<'_>, input: ContactIdOnly) -> Result<Self::Output, Failure> {
        let has = |tx: &_, project| Ok(contact_records::find(tx, project, input.id)?.is_some());
        let project_id = projects::having(view.tx, view.caller.account(), has)?.ok_or(Code::NotFound)?;
        Ok(Done(OwningProject { project_id }))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::TestApp;

    #[test]
    fn a_contact_is_found_in_any_project() {
        let app = TestApp::new();
        let other = app.another_project();
        let made = |project: &str, email: &str| {
            let made = app.post("/v1/contacts", json!({ "projectId": project, "email": email })).data();
            made["id"].as_str().expect("the contact has an id").to_owned()
        };
        let own = app.project.to_string();
        for project in [own.as_str(), &other.to_string()] {
            // The contacts in the two projects have the same number, so only the rest of the ID distinguishes them.
            let id = made(project, "ada@example.com");
            assert_eq!(app.get(&format!("/v1/contacts/{id}/project")).data(), json!({ "projectId": project }));
        }
        assert_eq!(app.get("/v1/contacts/66f1a2b3e5f60718293a4b5c/project").refusal().0, 404);
    }
}
