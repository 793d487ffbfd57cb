//! Exports contacts to a file.

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use crate::engine::api::response::WireTime;
use crate::engine::api::{Caller, Command, Done, Engine, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::{Read, WriteTx};
use crate::features::contacts::jobs::{self, ContactQuery, Job, State, Task};
use crate::features::filters::FilterTree;
use crate::features::{projects, segments};
use crate::vocab::codes::Code;
use crate::vocab::ids::{JobId, ProjectId, SegmentId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct Export;

/// Selects the contacts to export. If only the project is given, all its contacts are exported.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExportRequest {
    pub project_id: ProjectId,
    /// Exports only contacts in this segment.
    pub segment_id: Option<SegmentId>,
    /// Exports only contacts that match these filters.
    pub filters: Option<ExportFilters>,
}

/// Filters like those of a segment, and words to search for.
#[derive(Debug, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub struct ExportFilters {
    /// Words to find in email, names, company, phone, city, tags and custom fields.
    pub search: Option<String>,
    #[schemars(flatten)]
    pub conditions: FilterTree,
}

impl<'de> Deserialize<'de> for ExportFilters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Parse by hand, because serde's `flatten` would accept unknown names.
        let mut given = serde_json::Map::<String, Value>::deserialize(deserializer)?;
        let search = match given.remove("search") {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text),
            Some(_) => return Err(D::Error::custom("search: must be a string")),
        };
        let conditions = serde_path_to_error::deserialize(Value::Object(given))
            .map_err(|error| D::Error::custom(format_args!("{}: {}", error.path(), error.inner())))?;
        Ok(Self { search, conditions })
    }
}

/// An export and its status.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExportView {
    pub job_id: JobId,
    pub project_id: ProjectId,
    #[schemars(extend("enum" = ["pending", "processing", "completed", "failed"]))]
    pub status: &'static str,
    /// The number of contacts in the file; 0 until the file has been written.
    pub contact_count: u64,
    pub file_name: String,
    pub created_at: WireTime,
    pub completed_at: Option<WireTime>,
    /// The URL of the file. Anyone who has the URL can download the file. Absent if there is no file or the URL has expired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub download_url: Option<String>,
    /// When the download link and the file expire.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub download_expires_at: Option<WireTime>,
    /// Why the export failed, and what to do; absent if it did not fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Returns the view of an export without the download link.
pub fn export_view(job: &Job, export: &jobs::Export) -> ExportView {
    ExportView {
        job_id: job.id,
        project_id: job.project,
        status: job.state.word(),
        contact_count: job.counts.total,
        file_name: export.file_name.clone(),
        created_at: WireTime(job.created_at),
        completed_at: job.completed_at.map(WireTime),
        download_url: None,
        download_expires_at: None,
        error: job.state.reason(),
    }
}

/// Returns the path of an export's file. The download link contains a signature of this path.
pub fn file_path(id: JobId) -> String {
    format!("/v1/contacts/exports/{id}/file")
}

/// Returns the view of an export, with the download link while the link is valid.
pub fn view_with_link(engine: &Engine, job: &Job, export: &jobs::Export) -> ExportView {
    let mut view = export_view(job, export);
    if let (State::Completed, Some(completed_at)) = (&job.state, job.completed_at) {
        let expires_at = completed_at.plus_ms(limits::EXPORT_LINK_MS);
        if engine.clock.now() < expires_at {
            let path = file_path(job.id);
            let token = engine.links.sign(&path, expires_at);
            view.download_url = Some(format!("{}{path}?token={token}", engine.base_url()));
            view.download_expires_at = Some(WireTime(expires_at));
        }
    }
    view
}

impl ExportView {
    pub fn sample() -> Self {
        let job_id = JobId::parse("66f1a2b3d4e5f60718293a4c").expect("the id has 24 hexadecimal characters");
        Self {
            job_id,
            project_id: ProjectId::parse("66f1a2b3d4e5f60718293a4b").expect("the id has 24 hexadecimal characters"),
            status: "pending",
            contact_count: 0,
            file_name: "contacts-2026-01-01.csv".into(),
            created_at: WireTime::sample(),
            completed_at: None,
            download_url: None,
            download_expires_at: None,
            error: None,
        }
    }
}

impl Operation for Export {
    const SPEC: Spec = Spec::post("contacts.export", "/v1/contacts/exports", needs(Permission::AudienceRead))
        .client("contacts.exports.create")
        .summary("Export contacts to a CSV file")
        .about(
            "GET /v1/contacts/exports/{jobId} returns the status and, for one hour after the export is complete, the link to the \
             file. An apostrophe is added before cells that a spreadsheet would interpret as formulas; imports remove the apostrophe.",
        )
        .rate(RouteGroup::Imports)
        .replay(Replay::Keyed)
        .fails(&[Code::NotFound, Code::LimitReached]);
    type Input = ExportRequest;
    type Output = Done<ExportView>;

    fn example() -> (Value, Self::Output) {
        let input = json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "filters": { "status": "subscribed", "search": "ada" } });
        (input, Done(ExportView::sample()))
    }
}

impl Command for Export {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: ExportRequest) -> Result<Self::Output, Failure> {
        let project = input.project_id;
        projects::require(tx, caller.account(), project)?;
        let query = query(tx, project, input.segment_id, input.filters)?;
        let date: String = tx.now().to_string().chars().take(10).collect();
        let export = jobs::Export { query, file_name: format!("contacts-{date}.csv"), file: None };
        let job = jobs::open(tx, caller.account(), project, Task::Export(export.clone()))?;
        Ok(Done(export_view(&job, &export)))
    }
}

/// Checks the segment and the filters of a request, and returns them as a contact query.
pub fn query(
    tx: &impl Read,
    project: ProjectId,
    segment: Option<SegmentId>,
    filters: Option<ExportFilters>,
) -> Result<ContactQuery, Failure> {
    if let Some(segment) = segment {
        segments::require(tx, project, segment)?;
    }
    let mut query = ContactQuery { segment, ..ContactQuery::default() };
    if let Some(filters) = filters {
        filters.conditions.check("filters")?.check_names(tx, project, "filters")?;
        query.filters = Some(serde_json::to_string(&filters.conditions).expect("a filter tree can be written as JSON"));
        query.search = checked_search(filters.search)?;
    }
    Ok(query)
}

fn checked_search(text: Option<String>) -> Result<Option<String>, Failure> {
    let max = limits::SEARCH_CHARACTERS_MAX;
    let text = text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    match text {
        Some(text) if text.chars().count() > max => {
            Err(Failure::field("filters.search", format_args!("use at most {max} characters")))
        }
        text => Ok(text),
    }
}
