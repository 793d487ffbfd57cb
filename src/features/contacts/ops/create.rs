//! Add a contact.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::email::EmailAddress;
use crate::base::locale::{CountryCode, LanguageTag};
use crate::base::phone::Phone;
use crate::engine::api::{Caller, Command, Created, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::contacts::fields::{self, FieldValue};
use crate::features::contacts::model::Status;
use crate::features::contacts::tags::{TagName, TagNumbers};
use crate::features::contacts::views::{ContactView, Viewer};
use crate::features::contacts::write::{self, ContactInput, NewContactKey, PersonName};
use crate::features::contacts::{store, webhook_events};
use crate::features::projects;
use crate::vocab::codes::Code;
use crate::vocab::ids::{ContactId, ProjectId};
use crate::vocab::permissions::Permission;

/// `contacts.create`
pub struct Create;

/// A new contact.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateContact {
    /// The contact's project.
    pub project_id: ProjectId,
    /// Stored as given. Unique in the project, ignoring case.
    pub email: EmailAddress,
    pub first_name: Option<PersonName>,
    pub last_name: Option<PersonName>,
    /// Free-form.
    pub phone: Option<Phone>,
    /// ISO 3166-1 alpha-2.
    pub country: Option<CountryCode>,
    /// ISO 639-1 or BCP 47.
    pub language: Option<LanguageTag>,
    /// Names of tags. Tags that do not exist are created.
    pub tags: Option<Vec<TagName>>,
    /// Anything else you know about the contact.
    #[schemars(transform = fields::describe)]
    #[serde(default, deserialize_with = "fields::given")]
    pub custom_fields: Option<BTreeMap<String, FieldValue>>,
    /// `subscribed` if absent.
    pub status: Option<Status>,
}

impl Operation for Create {
    const SPEC: Spec = Spec::post("contacts.create", "/v1/contacts", needs(Permission::AudienceWrite))
        .also_at(&["/v1/subscribers"])
        .summary("Add a contact")
        .about("Emits subscriber.added. An email that the project already has is refused with 409; data.id is the id of its contact.")
        .replay(Replay::Keyed)
        .fails(&[Code::NotFound, Code::ContactExists, Code::LimitReached]);
    type Input = CreateContact;
    type Output = Created<ContactView>;

    fn example() -> (Value, Self::Output) {
        let input = json!({
            "projectId": "66f1a2b3d4e5f60718293a4b", "email": "ada@example.com", "firstName": "Ada", "lastName": "Lovelace",
            "phone": "+44 20 7946 0958", "country": "GB", "language": "en-GB", "tags": ["newsletter"],
            "customFields": { "plan": "pro" }, "status": "subscribed",
        });
        (input, Created(ContactView::sample()))
    }
}

impl Command for Create {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: CreateContact) -> Result<Self::Output, Failure> {
        let project = input.project_id;
        projects::require(tx, caller.account(), project)?;
        let contact_input = ContactInput {
            email: input.email,
            first_name: input.first_name,
            last_name: input.last_name,
            phone: input.phone,
            country: input.country,
            language: input.language,
            tags: input.tags.unwrap_or_default(),
            custom_fields: input.custom_fields.unwrap_or_default(),
            status: input.status,
        };
        contact_input.check()?;
        let normalised = contact_input.email.normalised();
        if let Some(existing) = store::find_by_email(tx, project, &normalised)? {
            return Err(Failure::new(Code::ContactExists).with(json!({ "id": existing.id })));
        }
        let digest = store::email_digest(&normalised);
        let contact = store::change(tx, project, |tx, changes| {
            let number = write::next_number(tx, project)?;
            let key = NewContactKey { id: ContactId::numbered(tx.now(), number, tx.random()), digest };
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

    /// Regression: a contact that was deleted and created again looked mailable, although every campaign skipped it.
    #[test]
    fn a_suppressed_contact_that_is_created_again_shows_as_suppressed() {
        let app = TestApp::new();
        app.post("/v1/suppressions", json!({ "email": "Ada@example.com", "reason": "complaint" })).data();
        let created = app.post_in("/v1/contacts", json!({ "email": "ada@example.com" })).data();
        assert_eq!((&created["status"], &created["suppression"]), (&json!("subscribed"), &json!("complaint")));
        let other = app.post_in("/v1/contacts", json!({ "email": "bob@example.com" })).data();
        assert_eq!(other["suppression"], json!(null));
        let listed = app.get_in("/v1/contacts").data();
        let shown: Vec<_> =
            listed["contacts"].as_array().expect("a list").iter().map(|contact| &contact["suppression"]).collect();
        assert!(shown.contains(&&json!("complaint")) && shown.contains(&&json!(null)), "{listed}");
    }
}
