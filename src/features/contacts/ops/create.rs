//! Adds a contact.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::email::EmailAddress;
use crate::engine::api::{Caller, Command, Created, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::contact_records::fields::{self, FieldValue};
use crate::features::contact_records::{self, ContactView, Viewer};
use crate::features::contacts::webhook_events;
use crate::features::contacts::write::{self, ContactInput, NewContactKey};
use crate::features::projects;
use crate::features::tags::{TagName, TagNumbers};
use crate::vocab::codes::Code;
use crate::vocab::contact_fields::{ProfileField, with_profile_fields};
use crate::vocab::contact_status::Status;
use crate::vocab::ids::{ContactId, ProjectId};
use crate::vocab::permissions::Permission;

pub struct Create;

with_profile_fields! { given
/// A new contact.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateContact {
    /// The ID of the contact's project.
    pub project_id: ProjectId,
    /// The contact's email. The contact keeps this spelling, without surrounding spaces. Unique in the project, ignoring case.
    pub email: EmailAddress,
} profile {
    /// Names of tags for the contact. Tags that do not exist are created.
    pub tags: Option<Vec<TagName>>,
    /// Any other data about the contact, by name.
    #[schemars(transform = fields::describe)]
    #[serde(default, deserialize_with = "fields::given")]
    pub custom_fields: Option<BTreeMap<String, FieldValue>>,
    /// The contact's status. The default is `subscribed`.
    pub status: Option<Status>,
} }

impl Operation for Create {
    const SPEC: Spec = Spec::post("contacts.create", "/v1/contacts", needs(Permission::AudienceWrite))
        .also_at(&["/v1/subscribers"])
        .summary("Add a contact")
        .about(
            "Emits subscriber.added. Returns 409 if a contact in the project has this email; data.id is then the ID of that contact.",
        )
        .replay(Replay::Keyed)
        .fails(&[Code::NotFound, Code::ContactExists, Code::LimitReached]);
    type Input = CreateContact;
    type Output = Created<ContactView>;

    fn example() -> (Value, Self::Output) {
        let mut input = json!({
            "projectId": "66f1a2b3d4e5f60718293a4b", "email": "ada@example.com", "tags": ["newsletter"],
            "customFields": { "plan": "pro" }, "status": "subscribed",
        });
        for field in ProfileField::ALL.iter().map(|field| field.spec()) {
            input[field.key] = field.sample.into();
        }
        (input, Created(ContactView::sample()))
    }
}

impl Command for Create {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, mut input: CreateContact) -> Result<Self::Output, Failure> {
        let project = input.project_id;
        projects::require(tx, caller.account(), project)?;
        let contact_input = ContactInput {
            profile: input.take_profile(),
            email: input.email,
            tags: input.tags.unwrap_or_default(),
            custom_fields: input.custom_fields.unwrap_or_default(),
            status: input.status,
        };
        contact_input.check()?;
        let normalized = contact_input.email.normalized();
        if let Some(existing) = contact_records::find_by_email(tx, project, &normalized)? {
            let failure = Failure::new(Code::ContactExists).with(json!({ "id": existing.id }));
            return Err(failure.see("contacts.update", format!("PATCH /v1/contacts/{} changes the contact", existing.id)));
        }
        let digest = contact_records::email_digest(&normalized);
        let contact = contact_records::change(tx, project, |tx, changes| {
            let number = write::next_number(tx, project)?;
            let key = NewContactKey::new(ContactId::numbered(tx.now(), number, tx.random()), digest);
            write::create(tx, changes, &mut TagNumbers::new(project), &key, (contact_input, &[])).map_err(Failure::from)
        })?;
        let created = Viewer::new(&*tx, caller, project).view(contact.clone())?;
        webhook_events::added(tx, caller, project, &contact, &created.tags);
        Ok(Created(created))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::TestApp;

    /// Regression test: a contact that was created with a suppressed address was shown as mailable, although every campaign skipped it.
    #[test]
    fn a_suppressed_contact_that_is_created_again_shows_as_suppressed() {
        let app = TestApp::new();
        app.post("/v1/suppressions", json!({ "email": "Ada@example.com", "reason": "complaint" })).data();
        let created = app.post_in("/v1/contacts", json!({ "email": "ada@example.com" })).data();
        assert_eq!((&created["status"], &created["suppression"]), (&json!("subscribed"), &json!("complaint")));
        let other = app.post_in("/v1/contacts", json!({ "email": "bob@example.com" })).data();
        assert_eq!(other["suppression"], json!(null));
        let again = app.post_in("/v1/contacts", json!({ "email": "bob@example.com" }));
        let change = format!("PATCH /v1/contacts/{} changes the contact", other["id"].as_str().expect("the contact has an ID"));
        assert!(again.refusal().2.contains(&change), "{}", again.refusal().2);
        let listed = app.get_in("/v1/contacts").data();
        let shown: Vec<_> =
            listed["contacts"].as_array().expect("the value is an array").iter().map(|contact| &contact["suppression"]).collect();
        assert!(shown.contains(&&json!("complaint")) && shown.contains(&&json!(null)), "{listed}");
    }
}
