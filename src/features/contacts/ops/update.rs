//! Changes a contact.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::contact_records::fields::{self, FieldValue};
use crate::features::contact_records::{self, Contact, ContactView, Viewer};
use crate::features::contacts::profile::merge_custom_fields;
use crate::features::contacts::webhook_events::{self, Source};
use crate::features::contacts::write;
use crate::features::projects;
use crate::features::tags::{TagName, TagNumbers};
use crate::vocab::codes::Code;
use crate::vocab::contact_fields::with_profile_fields;
use crate::vocab::contact_status::Status;
use crate::vocab::ids::{ContactId, ProjectId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

pub struct Update;

with_profile_fields! { patch
/// The changes to a contact. Omitted fields stay unchanged; `null` clears a field.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ContactPatch {
    /// The contact's ID.
    pub id: ContactId,
    /// The ID of the contact's project.
    pub project_id: ProjectId,
} profile {
    /// All tags that the contact should have. Tags that do not exist are created.
    pub tags: Option<Vec<TagName>>,
    /// Custom fields to merge: omitted fields stay unchanged, `null` removes a field, and an empty object removes all fields.
    #[schemars(transform = fields::describe)]
    #[serde(default, deserialize_with = "fields::given")]
    pub custom_fields: Option<BTreeMap<String, FieldValue>>,
    /// The new status. Every change is allowed; for example, this can resubscribe a contact who unsubscribed or bounced.
    pub status: Option<Status>,
} }

impl Operation for Update {
    const SPEC: Spec = Spec::patch("contacts.update", "/v1/contacts/{id}", needs(Permission::AudienceWrite))
        .also_at(&["/v1/subscribers/{id}"])
        .summary("Change a contact")
        .about(
            "Emits subscriber.updated, and subscriber.unsubscribed when the status becomes unsubscribed. An update that changes \
                nothing emits no event.",
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
        let before = contact_records::find(tx, project, input.id)?.ok_or(Code::NotFound)?;
        let mut after = patched(tx, &before, input)?;
        if after.differs(&before) {
            after.updated_at = tx.now();
            contact_records::change(tx, project, |tx, changes| {
                changes.replace(tx, &before, &after);
                Ok::<_, Failure>(())
            })?;
            webhook_events::updated(tx, caller, project, &after);
            webhook_events::status_changed(tx, (caller.account(), project), Source::of(caller), &before, &after);
        }
        Ok(Done(Viewer::new(&*tx, caller, project).view(after)?))
    }
}

fn patched(tx: &mut WriteTx<'_>, before: &Contact, mut input: ContactPatch) -> Result<Contact, Failure> {
    let mut after = before.clone();
    input.patch_profile(&mut after.profile);
    merge_custom_fields(&mut after, input.custom_fields)?;
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
