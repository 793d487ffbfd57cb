//! The page about an export, a bulk change or an API import of contacts: its progress and result.

use serde::Serialize;
use serde_json::{Value, json};

use super::audience::{Audience, AudienceContext};
use crate::engine::api::Done;
use crate::features::contacts;
use crate::features::contacts::ops::bulk::{BulkResult, RowError};
use crate::features::contacts::ops::bulk_change::ChangeResult;
use crate::features::contacts::ops::bulk_change_status::BulkChangeProgress;
use crate::features::contacts::ops::bulk_status::BulkProgress;
use crate::features::contacts::ops::export::ExportView;
use crate::surfaces::dashboard::template::{self, page_context};
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};

#[derive(Serialize)]
pub struct ContactJobPage {
    #[serde(flatten)]
    audience: AudienceContext,
    kind: &'static str,
    open: bool,
    status: &'static str,
    total: Option<u64>,
    processed: u64,
    /// The number of contacts in the export; `None` for other jobs.
    contacts: Option<u64>,
    result: Option<JobResult>,
    failure: Option<String>,
    download: String,
    expires: Value,
    created: Value,
}

#[derive(Serialize)]
#[serde(untagged)]
enum JobResult {
    Change(ChangeResult),
    // The API omits `errors` if the list is empty, but the template requires it.
    Import { success: u64, updated: u64, failed: u64, errors: Vec<RowError> },
}

impl From<BulkResult> for JobResult {
    fn from(BulkResult { success, updated, failed, errors }: BulkResult) -> Self {
        Self::Import { success, updated, failed, errors }
    }
}

impl ContactJobPage {
    fn new(audience: AudienceContext, kind: &'static str, status: &'static str, created: &impl Serialize) -> Self {
        Self {
            audience,
            kind,
            open: matches!(status, "pending" | "processing"),
            status,
            total: None,
            processed: 0,
            contacts: None,
            result: None,
            failure: None,
            download: String::new(),
            expires: Value::Null,
            created: template::context(created),
        }
    }

    fn of_export(audience: AudienceContext, job: ExportView) -> Self {
        Self {
            contacts: Some(job.contact_count),
            failure: job.error,
            download: own(job.download_url.as_deref()),
            expires: template::context(&job.download_expires_at),
            ..Self::new(audience, "export", job.status, &job.created_at)
        }
    }

    fn of_change(audience: AudienceContext, job: BulkChangeProgress) -> Self {
        Self {
            total: job.total,
            processed: job.processed,
            result: job.result.map(JobResult::Change),
            failure: job.error,
            ..Self::new(audience, "change", job.status, &job.created_at)
        }
    }

    fn of_bulk(audience: AudienceContext, job: BulkProgress) -> Self {
        Self {
            total: Some(job.total_contacts),
            processed: job.processed,
            result: job.result.0.map(JobResult::from),
            failure: job.error.0,
            ..Self::new(audience, "bulk", job.status, &job.created_at)
        }
    }
}

page_context!(ContactJobPage, "contact_job.html", {
    use crate::engine::api::Operation;

    let audience = || AudienceContext::sample("Contact export");
    let export = || Self::of_export(audience(), contacts::ops::export_status::ExportStatus::example().1.0);
    let change = || Self::of_change(audience(), contacts::ops::bulk_change_status::BulkChangeStatus::example().1.0);
    let bulk = || Self::of_bulk(audience(), contacts::ops::bulk_status::BulkStatus::example().1.0);
    vec![
        export(),
        Self { download: String::new(), ..export() },
        change(),
        Self { open: true, status: "processing", total: Some(10), ..change() },
        Self { open: true, status: "pending", total: None, ..change() },
        Self { failure: Some("The segment was deleted.".into()), ..change() },
        bulk(),
    ]
});

pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    let kind = visit.path_parameter("kind");
    if !["export", "change", "bulk"].contains(&kind) {
        return Err(PageError::not_found());
    }
    let Some(audience) = Audience::having::<contacts::ops::job::Job>(visit, |Done(it)| it.project_id).await? else {
        return Err(PageError::not_found());
    };
    let input = json!({ "jobId": visit.path_parameter("id"), "projectId": audience.id });
    let around = |title| audience.context(visit, title);
    let page = match kind {
        "export" => {
            let Done(job) = visit.ask::<contacts::ops::export_status::ExportStatus>(input).await?;
            ContactJobPage::of_export(around("Contact export"), job)
        }
        "change" => {
            let Done(job) = visit.ask::<contacts::ops::bulk_change_status::BulkChangeStatus>(input).await?;
            ContactJobPage::of_change(around("Bulk change"), job)
        }
        _ => {
            let Done(job) = visit.ask::<contacts::ops::bulk_status::BulkStatus>(input).await?;
            ContactJobPage::of_bulk(around("Contact import through the API"), job)
        }
    };
    Ok(audience.finish(visit, PageResponse::draw(&page)))
}

/// Returns the path of a link to this service. The host is omitted, because the browser may use a host other than that of the configured
/// base URL.
fn own(link: Option<&str>) -> String {
    let link = link.unwrap_or_default();
    link.find("/v1/").map(|at| link[at..].to_owned()).unwrap_or_default()
}
