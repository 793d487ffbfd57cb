//! Deletes contacts by email.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::email::EmailKey;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::contacts::deletion::remove;
use crate::features::contacts::webhook_events::{self, Action, Source};
use crate::features::{contact_records, projects};
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

pub struct BulkDelete;

/// The contacts to delete.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BulkDeleteRequest {
    /// The project of the contacts.
    pub project_id: ProjectId,
    /// The emails of 1 to 1,000 contacts.
    #[schemars(length(min = 1, max = 1000))]
    pub emails: Vec<EmailKey>,
}

/// The result of deleting contacts.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeletedContacts {
    /// The number of deleted contacts.
    pub deleted: u64,
    /// The given emails that do not belong to any contact in the project.
    pub not_found: Vec<String>,
}

impl Operation for BulkDelete {
    const SPEC: Spec = Spec::post("contacts.bulk_delete", "/v1/contacts/bulk-delete", needs(Permission::AudienceWrite))
        .also_at(&["/v1/subscribers/bulk-delete"])
        .summary("Delete contacts by email")
        .about("Emits subscriber.unsubscribed with action \"deleted\" for each deleted contact.")
        .replay(Replay::Keyed)
        .fails(&[Code::NotFound]);
    type Input = BulkDeleteRequest;
    type Output = Done<DeletedContacts>;

    fn example() -> (Value, Self::Output) {
        let input = json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "emails": ["ada@example.com", "unknown@example.com"] });
        (input, Done(DeletedContacts { deleted: 1, not_found: vec!["unknown@example.com".into()] }))
    }
}

impl Command for BulkDelete {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: BulkDeleteRequest) -> Result<Self::Output, Failure> {
        let project = input.project_id;
        projects::require(tx, caller.account(), project)?;
        let max = limits::BULK_DELETE_MAX;
        if input.emails.is_empty() || input.emails.len() > max {
            let found = input.emails.len();
            return Err(Failure::field("emails", format_args!("list 1 to {max} email addresses; this list has {found}")));
        }
        let (mut gone, mut not_found, mut seen) = (Vec::new(), Vec::new(), BTreeSet::new());
        contact_records::change(tx, project, |tx, changes| {
            for (index, email) in input.emails.iter().enumerate() {
                let normalized = email.normalized();
                if !seen.insert(normalized.clone()) {
                    continue;
                }
                match contact_records::find_by_email(tx, project, &normalized)? {
                    Some(contact) => {
                        remove(tx, changes, caller.account(), &contact)?;
                        gone.push(contact);
                    }
                    None => match email.problem() {
                        Some(problem) => return Err(Failure::field(&format!("emails[{index}]"), problem)),
                        None => not_found.push(email.as_str().to_owned()),
                    },
                }
            }
            Ok::<_, Failure>(())
        })?;
        for contact in &gone {
            webhook_events::unsubscribed(tx, (caller.account(), project), contact, Action::Deleted, Source::of(caller));
        }
        Ok(Done(DeletedContacts { deleted: gone.len() as u64, not_found }))
    }
}
