//! Change a contact.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::locale::{CountryCode, LanguageTag};
use crate::base::patch::Patch;
use crate::base::phone::Phone;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::contacts::fields::{self, FieldValue};
use crate::features::contacts::model::{Contact, Status};
use crate::features::contacts::profile::ContactProfile;
use crate::features::contacts::store;
use crate::features::contacts::tags::{TagName, TagNumbers};
use crate::features::contacts::views::{ContactView, Viewer};
use crate::features::contacts::webhook_events::{self, Source};
use crate::features::contacts::write::{self, PersonName};
use crate::features::projects;
use crate::vocab::codes::Code;
use crate::vocab::ids::{ContactId, ProjectId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

/// `contacts.update`
pub struct Update;

/// The change. Fields that are not given stay as they are; `null` clears a field.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ContactPatch {
    /// The contact's id.
    pub id: ContactId,
    /// The contact's project.
    pub project_id: ProjectId,
    #[serde(default)]
    pub first_name: Patch<PersonName>,
    #[serde(default)]
    pub last_name: Patch<PersonName>,
    /// Free-form; `null` clears it.
    #[serde(default)]
    pub phone: Patch<Phone>,
    /// ISO 3166-1 alpha-2.
    #[serde(default)]
    pub country: Patch<CountryCode>,
    /// ISO 639-1 or BCP 47.
    #[serde(default)]
    pub language: Patch<LanguageTag>,
    /// All tags the contact should have. Tags that do not exist are created.
    pub tags: Option<Vec<TagName>>,
    /// Merged into the existing fields: fields that are not included stay, `null` removes one, an empty object removes all.
    #[schemars(transform = fields::describe)]
    #[serde(default, deserialize_with = "fields::given")]
    pub custom_fields: Option<BTreeMap<String, FieldValue>>,
    /// An explicit status change: the only way to resubscribe an unsubscribed or bounced contact.
    pub status: Option<Status>,
}

impl Operation for Update {
    const SPEC: Spec = Spec::patch("contacts.update", "/v1/contacts/{id}", needs(Permission::AudienceWrite))
        .also_at(&["/v1/subscribers/{id}"])
        .summary("Change a contact")
        .about(
            "Emits subscriber.updated, and subscriber.unsubscribed when the status becomes unsubscribed. An update that changes \
                nothing emits nothing.",
        )
        .fails(&[Code::NotFound, Code::LimitReached]);
    type Input = ContactPatch;
    type Output = Done<ContactView>;

    fn example() -> (Value, Self::Output) {
        let input = json!({
            "id": "66f1a2b30000000a5c3e9d71", "projectId": "66f1a2b3d4e5f60718293a4b", "phone": null,
            "customFields": { "plan": "free" },
        });
        (input, Done(ContactView { phone: None.into(), ..ContactView::sample() }))
    }
}

impl Command for Update {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: ContactPatch) -> Result<Self::Output, Failure> {
        let project = input.project_id;
        projects::require(tx, caller.account(), project)?;
        let before = store::find(tx, project, input.id)?.ok_or(Code::NotFound)?;
        let mut after = patched(tx, &before, input)?;
        if after.differs(&before) {
            after.updated_at = tx.now();
            store::change(tx, project, |tx, changes| {
                changes.replace(tx, &before, &after);
                Ok::<_, Failure>(())
            })?;
            webhook_events::updated(tx, caller, project, &after);
            webhook_events::status_changed(tx, (caller.account(), project), Source::of(caller), &before, &after);
        }
        Ok(Done(Viewer::new(&*tx, caller, project).view(after)?))
    }
}

fn patched(tx: &mut WriteTx<'_>, before: &Contact, input: ContactPatch) -> Result<Contact, Failure> {
    let mut after = before.clone();
    let ContactPatch { first_name, last_name, phone, country, language, custom_fields, .. } = input;
    ContactProfile { first_name, last_name, phone, country, language, custom_fields }.apply(&mut after)?;
    if let Some(names) = input.tags {
        if names.len() > limits::TAGS_PER_CONTACT_MAX {
            return Err(write::too_many_tags().into());
        }
        let mut numbers = TagNumbers::new(input.project_id);
        after.tags = numbers.of(tx, names.iter().map(|name| &**name))?.map_err(write::tag_limit_reached)?;
    }
    if let Some(status) = input.status {
        after.set_status(status, tx.now());
    }
    Ok(after)
}
