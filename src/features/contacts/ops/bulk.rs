//! Adds or updates many contacts.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::engine::api::{BodySize, Caller, Command, Done, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::contacts::batch::RowNote;
use crate::features::contacts::jobs::bulk::{self, BulkRow, Rows};
use crate::features::contacts::jobs::{self, Task};
use crate::features::contacts::webhook_events::{self, Source};
use crate::features::projects;
use crate::vocab::codes::Code;
use crate::vocab::ids::{JobId, ProjectId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

pub struct Bulk;

/// The contacts to add or update, each in the same form as when a single contact is added.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BulkRequest {
    /// The project of the contacts.
    pub project_id: ProjectId,
    /// 1 to 50,000 contacts. An invalid contact is reported in the response and does not affect the others.
    pub subscribers: Many,
}

/// The contacts in the request: parsed if the request processes them, or kept as JSON if a job will process them.
pub enum Many {
    AtOnce(Rows),
    Later(Vec<String>),
}

impl<'de> Deserialize<'de> for Many {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ManyVisitor)
    }
}

struct ManyVisitor;

impl<'de> Visitor<'de> for ManyVisitor {
    type Value = Many;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of contacts")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Many, A::Error> {
        let max = limits::BULK_MAX;
        let mut rows: Vec<String> = Vec::new();
        while let Some(row) = items.next_element::<Box<RawValue>>()? {
            if rows.len() == max {
                return Err(A::Error::custom(format_args!(
                    "send at most {max} contacts; for more, upload a file to /v1/contacts/imports"
                )));
            }
            rows.push(Box::<str>::from(row).into_string());
        }
        if rows.is_empty() {
            return Err(A::Error::custom("send at least one contact"));
        }
        if rows.len() > limits::BULK_AT_ONCE_MAX {
            return Ok(Many::Later(rows));
        }
        Ok(Many::AtOnce(bulk::read_all((0..).zip(rows.iter().map(String::as_str)))))
    }
}

impl JsonSchema for Many {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Many".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let row = generator.subschema_for::<BulkRow>();
        json_schema!({ "type": "array", "minItems": 1, "maxItems": limits::BULK_MAX, "items": row })
    }
}

/// The result of the request: the counts, or the job that processes the contacts.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum BulkChangeResult {
    Counts(BulkResult),
    Job(BulkStarted),
}

/// The result of a bulk write.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BulkResult {
    /// The number of accepted contacts: new, changed, or already up to date.
    pub success: u64,
    /// The number of refused contacts.
    pub failed: u64,
    /// The number of contacts in `success` that already existed and were changed.
    pub updated: u64,
    /// Notes on individual contacts, at most a thousand: why a contact was refused, or why its status was not changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub errors: Vec<RowError>,
}

/// A note on one contact.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RowError {
    /// The position of the contact in the request, starting at 0; in the result of a bulk change, the contact's number in the project.
    pub index: u32,
    /// The contact's email, if the row contains one.
    pub email: Option<String>,
    /// The invalid field; empty if the whole row is invalid.
    pub field: String,
    /// What is wrong with the row and what was expected, or why the contact's status was not changed.
    pub error: String,
}

impl From<RowNote> for RowError {
    fn from(note: RowNote) -> Self {
        Self { index: note.row, email: note.email, field: note.field, error: note.error }
    }
}

/// The job that processes the contacts if a request contains too many for an immediate response.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BulkStarted {
    pub job_id: JobId,
    /// Always `processing`.
    pub status: &'static str,
    pub total_contacts: u64,
    pub message: String,
}

impl Operation for Bulk {
    const SPEC: Spec = Spec::post("contacts.bulk", "/v1/contacts/bulk", needs(Permission::AudienceWrite)).client("contacts.bulk.create")
        .also_at(&["/v1/subscribers/bulk"])
        .summary("Add or update many contacts")
        .about(
            "A contact whose email the project already has is updated: new values replace existing values, tags are added, customFields \
                are merged, and the status changes only if that does not override the contact's own choice. Up to \
                5,000 contacts are processed immediately; a larger request becomes a job. Emits subscriber.unsubscribed for each contact \
                that \
                becomes unsubscribed, and subscriber.bulk_imported once, when all rows have been processed.",
        )
        .body(BodySize::Bulk)
        .replay(Replay::Keyed)
        .fails(&[Code::NotFound, Code::LimitReached]);
    type Input = BulkRequest;
    type Output = Done<BulkChangeResult>;

    fn example() -> (Value, Self::Output) {
        let input = json!({
            "projectId": "66f1a2b3d4e5f60718293a4b",
            "subscribers": [
                { "email": "ada@example.com", "firstName": "Ada", "tags": ["newsletter"] },
                { "email": "grace@example.com", "status": "subscribed" },
            ],
        });
        (input, Done(BulkChangeResult::Counts(BulkResult { success: 2, failed: 0, updated: 0, errors: Vec::new() })))
    }
}

impl Command for Bulk {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: BulkRequest) -> Result<Self::Output, Failure> {
        let project = input.project_id;
        projects::require(tx, caller.account(), project)?;
        let rows = match input.subscribers {
            Many::AtOnce(rows) => rows,
            Many::Later(rows) => {
                let total = rows.len();
                let task = Task::Bulk(jobs::Bulk { rows: total as u32, next: 0 });
                let job = jobs::open(tx, caller.account(), project, task)?;
                jobs::put_rows(tx, job.id, rows);
                return Ok(Done(BulkChangeResult::Job(BulkStarted {
                    job_id: job.id,
                    status: "processing",
                    total_contacts: total as u64,
                    message: format!("Processing {total} contacts; check the progress with GET /v1/contacts/bulk/{}.", job.id),
                })));
            }
        };
        let (counts, notes) = bulk::apply(tx, (caller.account(), project), rows, Source::of(caller))?;
        let reported = jobs::bulk_counts(&counts);
        webhook_events::bulk_imported(tx, (caller.account(), project), reported, None);
        let errors = notes.into_iter().map(RowError::from).collect();
        Ok(Done(BulkChangeResult::Counts(BulkResult {
            success: reported.success,
            failed: reported.failed,
            updated: reported.updated,
            errors,
        })))
    }
}
