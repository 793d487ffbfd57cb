//! Deletes a contact.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::get::ContactRef;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::contact_records;
use crate::features::contacts::deletion;
use crate::features::contacts::webhook_events::Source;
use crate::features::projects;
use crate::vocab::codes::Code;
use crate::vocab::ids::ContactId;
use crate::vocab::permissions::Permission;

pub struct Delete;

/// The result of deleting a contact.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeletedContact {
    /// The ID of the deleted contact.
    pub id: ContactId,
    /// Always true; a failed deletion returns an error instead.
    pub deleted: bool,
}

impl Operation for Delete {
    const SPEC: Spec = Spec::delete("contacts.delete", "/v1/contacts/{id}", needs(Permission::AudienceWrite))
        .also_at(&["/v1/subscribers/{id}"])
        .summary("Delete a contact")
        .about(
            "Emits subscriber.unsubscribed with action \"deleted\". Other data about the contact is erased in the background, usually \
             within seconds: sent emails, activity, customer events, messages in the built-in inbox, pending webhook events, and \
             responses kept for idempotent retries. Anonymous counts remain. If the contact had unsubscribed, bounced or complained, a \
             keyed hash of its address remains too, so that it is not mailed again by mistake.",
        )
        .fails(&[Code::NotFound]);
    type Input = ContactRef;
    type Output = Done<DeletedContact>;

    fn example() -> (Value, Self::Output) {
        let id = ContactId::parse("66f1a2b30000000a5c3e9d71").expect("the id has 24 hexadecimal characters");
        (json!({ "id": id, "projectId": "66f1a2b3d4e5f60718293a4b" }), Done(DeletedContact { id, deleted: true }))
    }
}

impl Command for Delete {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: ContactRef) -> Result<Self::Output, Failure> {
        let project = input.project_id;
        projects::require(tx, caller.account(), project)?;
        let contact = contact_records::find(tx, project, input.id)?.ok_or(Code::NotFound)?;
        deletion::delete(tx, (caller.account(), project), &contact, Source::of(caller))?;
        Ok(Done(DeletedContact { id: contact.id, deleted: true }))
    }
}
