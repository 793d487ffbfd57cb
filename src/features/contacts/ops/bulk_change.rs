//! Makes the same change to many contacts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::bulk::RowError;
use super::export::{ExportFilters, query};
use crate::engine::api::{BodySize, Caller, Command, Done, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::contacts::batch::Counts;
use crate::features::contacts::jobs::{self, Change, ContactEdits, Task};
use crate::features::tags::TagName;
use crate::features::{contact_records, projects};
use crate::vocab::codes::Code;
use crate::vocab::contact_status::Status;
use crate::vocab::ids::{ContactId, JobId, ProjectId, SegmentId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

pub struct BulkChange;

/// The contacts and the change. Select the contacts by `ids`, or set `all`, optionally limited by `segmentId` and `filters`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("allOf" = [
    { "anyOf": [
        { "required": ["ids"],
          "properties": { "ids": { "type": "array" }, "all": { "const": false }, "segmentId": { "type": "null" }, "filters": { "type": "null" } } },
        { "required": ["all"], "properties": { "all": { "const": true }, "ids": { "type": "null" } } },
    ] },
    { "anyOf": [
        { "required": ["addTags"], "properties": { "addTags": { "minItems": 1 }, "delete": { "const": false } } },
        { "required": ["removeTags"], "properties": { "removeTags": { "minItems": 1 }, "delete": { "const": false } } },
        { "required": ["status"], "properties": { "status": { "type": "string" }, "delete": { "const": false } } },
        { "required": ["delete"],
          "properties": { "delete": { "const": true }, "addTags": { "maxItems": 0 }, "removeTags": { "maxItems": 0 }, "status": { "type": "null" } } },
    ] },
]))]
pub struct BulkChangeRequest {
    /// The project that the contacts belong to.
    pub project_id: ProjectId,
    /// The IDs of 1 to 1,000 contacts. IDs that do not exist are ignored.
    #[schemars(length(min = 1, max = limits::CHANGE_IDS_MAX))]
    pub ids: Option<Vec<ContactId>>,
    /// True to select all contacts, optionally limited by `segmentId` and `filters`. Cannot be combined with `ids`.
    #[serde(default)]
    pub all: bool,
    /// With `all`, selects only contacts in this segment.
    pub segment_id: Option<SegmentId>,
    /// With `all`, selects only contacts that match these filters.
    pub filters: Option<ExportFilters>,
    /// Names of tags to add. Tags that do not exist are created.
    #[schemars(length(max = limits::TAGS_PER_CONTACT_MAX))]
    #[serde(default)]
    pub add_tags: Vec<TagName>,
    /// Names of tags to remove.
    #[schemars(length(max = limits::TAGS_PER_CONTACT_MAX))]
    #[serde(default)]
    pub remove_tags: Vec<TagName>,
    /// The new status. Every change is allowed; for example, this can resubscribe contacts who unsubscribed or bounced.
    pub status: Option<Status>,
    /// True to delete the contacts. Cannot be combined with other changes.
    #[serde(default)]
    pub delete: bool,
}

/// The result of the change, or the job that processes the contacts.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BulkChangeDone {
    /// The job's ID, if `all` was set. GET /v1/contacts/bulk-change/{jobId} returns the progress.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_id: Option<JobId>,
    #[schemars(extend("enum" = ["pending", "completed"]))]
    pub status: &'static str,
    /// The result of the change, if `ids` were given.
    pub result: Option<ChangeResult>,
}

/// The result of a bulk change.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangeResult {
    /// The number of contacts that were changed or deleted.
    pub changed: u64,
    /// The number of contacts that needed no change.
    pub unchanged: u64,
    /// The number of contacts that could not be changed.
    pub failed: u64,
    /// At most a thousand of the contacts that could not be changed, with the reasons. `index` is the contact's number in the project.
    pub errors: Vec<RowError>,
}

impl ChangeResult {
    /// Creates the result from a job's counts.
    pub fn of(counts: &Counts, errors: Vec<RowError>) -> Self {
        Self { changed: counts.updated, unchanged: counts.skipped, failed: counts.failed, errors }
    }
}

impl Operation for BulkChange {
    const SPEC: Spec = Spec::post("contacts.bulk_change", "/v1/contacts/bulk-change", needs(Permission::AudienceWrite)).client("contacts.bulk_changes.create")
        .summary("Make the same change to many contacts")
        .about(
            "Emits subscriber.unsubscribed for each contact that is unsubscribed or deleted; other changes emit no event. Contacts listed \
             in `ids` are changed immediately; `all` starts a job, which does not change contacts added later.",
        )
        .body(BodySize::Bulk)
        .replay(Replay::Keyed)
        .fails(&[Code::NotFound, Code::LimitReached]);
    type Input = BulkChangeRequest;
    type Output = Done<BulkChangeDone>;

    fn example() -> (Value, Self::Output) {
        let input = json!({
            "projectId": "66f1a2b3d4e5f60718293a4b", "ids": ["66f1a2b30000000a5c3e9d71"], "addTags": ["vip"],
        });
        let result = ChangeResult { changed: 1, ..ChangeResult::default() };
        (input, Done(BulkChangeDone { job_id: None, status: "completed", result: Some(result) }))
    }
}

impl Command for BulkChange {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: BulkChangeRequest) -> Result<Self::Output, Failure> {
        let (account, project) = (caller.account(), input.project_id);
        projects::require(tx, account, project)?;
        let edits = edits(&input)?;
        let Some(ids) = &input.ids else {
            if !input.all {
                return Err(Failure::field(
                    "ids",
                    "list the contacts' IDs, or set `all` to true to change all matching contacts",
                ));
            }
            let query = query(tx, project, input.segment_id, input.filters)?;
            let job = jobs::open(tx, account, project, Task::Change(Change::new(query, edits)))?;
            return Ok(Done(BulkChangeDone { job_id: Some(job.id), status: job.state.word(), result: None }));
        };
        if input.all || input.segment_id.is_some() || input.filters.is_some() {
            return Err(Failure::field(
                "ids",
                "`ids` cannot be combined with `all`, `segmentId` or `filters`; remove `ids` or the other fields",
            ));
        }
        let max = limits::CHANGE_IDS_MAX;
        if ids.is_empty() || ids.len() > max {
            return Err(Failure::field("ids", format_args!("list 1 to {max} IDs; this list has {}", ids.len())));
        }
        let mut numbers = Vec::with_capacity(ids.len());
        for id in ids {
            // Compare the whole ID, because a contact in another project can have the same number.
            numbers.extend(contact_records::find(tx, project, *id)?.map(|contact| contact.id.number()));
        }
        numbers.sort_unstable();
        numbers.dedup();
        let (counts, notes) = jobs::change::apply(tx, (account, project), &edits, &numbers)?;
        let errors = notes.into_iter().map(RowError::from).collect();
        let result = Some(ChangeResult::of(&counts, errors));
        Ok(Done(BulkChangeDone { job_id: None, status: "completed", result }))
    }
}

fn edits(input: &BulkChangeRequest) -> Result<ContactEdits, Failure> {
    let names = |field: &str, names: &[TagName]| match names.len() {
        found if found > limits::TAGS_PER_CONTACT_MAX => {
            let max = limits::TAGS_PER_CONTACT_MAX;
            Err(Failure::field(field, format_args!("list at most {max} tags; this list has {found}")))
        }
        _ => Ok(names.iter().map(|name| name.to_string()).collect::<Vec<_>>()),
    };
    let edits = ContactEdits {
        add_tags: names("addTags", &input.add_tags)?,
        remove_tags: names("removeTags", &input.remove_tags)?,
        status: input.status,
        delete: input.delete,
    };
    let changes = !edits.add_tags.is_empty() || !edits.remove_tags.is_empty() || edits.status.is_some();
    match (changes, edits.delete) {
        (true, true) => Err(Failure::field(
            "delete",
            "`delete` cannot be combined with other changes; set either `delete` or the other changes",
        )),
        (false, false) => {
            Err(Failure::field("addTags", "set at least one change: `addTags`, `removeTags`, `status` or `delete`"))
        }
        _ => Ok(edits),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::features::contacts::jobs;
    use crate::testing::TestApp;

    fn add(app: &TestApp, email: &str, tags: Value) -> Value {
        app.post_in("/v1/contacts", json!({ "email": email, "tags": tags })).data()["id"].clone()
    }

    fn get(app: &TestApp, id: &Value) -> Value {
        app.get_in(&format!("/v1/contacts/{}", id.as_str().expect("the contact has an id"))).data()
    }

    fn work(app: &TestApp) {
        while jobs::step(app.data()).expect("the step succeeds") {}
    }

    #[test]
    fn named_contacts_are_changed_at_once() {
        let app = TestApp::new();
        let (ada, bob) = (add(&app, "ada@example.com", json!(["old"])), add(&app, "bob@example.com", json!(["vip"])));
        let unknown = "66f1a2b3000000ff5c3e9d71";
        let change = json!({ "ids": [ada, bob, unknown], "addTags": ["vip"], "removeTags": ["old", "none"] });
        let done = app.post_in("/v1/contacts/bulk-change", change).data();
        let result = json!({ "changed": 1, "unchanged": 1, "failed": 0, "errors": [] });
        assert_eq!((&done["jobId"], &done["status"], &done["result"]), (&json!(null), &json!("completed"), &result));
        assert_eq!(get(&app, &ada)["tags"], json!(["vip"]));
        let change = json!({ "ids": [bob], "status": "unsubscribed" });
        app.post_in("/v1/contacts/bulk-change", change).data();
        assert_eq!(get(&app, &bob)["status"], "unsubscribed");
        let change = json!({ "ids": [ada], "delete": true });
        assert_eq!(app.post_in("/v1/contacts/bulk-change", change).data()["result"]["changed"], 1);
        assert_eq!(app.get_in("/v1/contacts").data()["total"], 1);
    }

    #[test]
    fn a_job_changes_all_contacts_that_match_a_filter_and_reports_its_progress() {
        let app = TestApp::new();
        for number in 0..30 {
            add(&app, &format!("p{number}@example.com"), if number % 3 == 0 { json!(["third"]) } else { json!([]) });
        }
        let tag = app.get_in("/v1/tags").data()["tags"][0]["id"].clone();
        let change = json!({ "all": true, "filters": { "tags": [tag] }, "status": "non-subscribed", "addTags": ["done"] });
        let started = app.post_in("/v1/contacts/bulk-change", change).data();
        let path = format!("/v1/contacts/bulk-change/{}", started["jobId"].as_str().expect("the response names a job"));
        let waiting = app.get(&path).data();
        assert_eq!((&waiting["status"], &waiting["total"], &waiting["result"]), (&json!("pending"), &json!(null), &json!(null)));
        work(&app);
        let done = app.get(&path).data();
        assert_eq!((&done["status"], &done["total"], &done["processed"]), (&json!("completed"), &json!(10), &json!(10)));
        assert_eq!(done["result"]["changed"], 10);
        assert_eq!(app.get_in("/v1/contacts?status=non-subscribed&tags=done").data()["total"], 10);
        assert_eq!(app.get_in("/v1/contacts?tags=done").data()["total"], 10);
    }

    #[test]
    fn all_contacts_can_be_deleted_in_parts_and_later_ones_stay() {
        let app = TestApp::new();
        for number in 0..25 {
            add(&app, &format!("p{number}@example.com"), json!([]));
        }
        let started = app.post_in("/v1/contacts/bulk-change", json!({ "all": true, "delete": true })).data();
        let mut late = false;
        while let Some(job) = jobs::open_jobs(&app.read()).expect("the store is readable").pop() {
            let jobs::Task::Change(change) = &job.task else { panic!("a change") };
            jobs::change::step_by(app.data(), &job, change, (3, 2)).expect("the step succeeds");
            if !late {
                add(&app, "late@example.com", json!([]));
                late = true;
            }
        }
        let path = format!("/v1/contacts/bulk-change/{}", started["jobId"].as_str().expect("the response names a job"));
        let done = app.get(&path).data();
        assert_eq!((&done["status"], &done["result"]["changed"]), (&json!("completed"), &json!(25)));
        let left = app.get_in("/v1/contacts").data();
        assert_eq!((&left["total"], &left["contacts"][0]["email"]), (&json!(1), &json!("late@example.com")));
    }

    #[test]
    fn a_request_without_changes_or_contacts_is_refused() {
        let app = TestApp::new();
        let id = add(&app, "ada@example.com", json!([]));
        for (body, field) in [
            (json!({ "ids": [id] }), "addTags: "),
            (json!({ "ids": [], "delete": true }), "ids: "),
            (json!({ "delete": true }), "ids: "),
            (json!({ "ids": [id], "all": true, "delete": true }), "ids: "),
            (json!({ "ids": [id], "delete": true, "status": "bounced" }), "delete: "),
            (json!({ "all": true, "delete": true, "filters": { "tags": ["66f1a2b3000000015c3e9d71"] } }), "filters: "),
        ] {
            let refused = app.post_in("/v1/contacts/bulk-change", body);
            assert_eq!(refused.refusal().0, 400);
            assert!(refused.refusal().2.starts_with(field), "{refused:?}");
        }
        assert_eq!(app.get_in("/v1/contacts").data()["total"], 1);
    }
}
