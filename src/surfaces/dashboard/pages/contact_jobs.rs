//! Exports and bulk changes of contacts: progress and result.

use serde_json::{Value, json};

use super::audience::Audience;
use crate::surfaces::dashboard::route::{Route, closed};
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit};

/// Its pages.
pub const ROUTES: &[Route] = &[closed("/{environment}/contacts/jobs/{kind}/{id}").get(|visit| Box::pin(show(visit)))];

/// Shows the progress.
async fn show(visit: &Visit) -> Result<Outcome, PageError> {
    let (title, operation) = match visit.name("kind") {
        "export" => ("Contact export", "contacts.export_status"),
        "change" => ("Bulk change of contacts", "contacts.bulk_change_status"),
        "bulk" => ("Contact import through the API", "contacts.bulk_status"),
        _ => return Err(PageError::not_found()),
    };
    let Some(audience) = Audience::having(visit, "contacts.job").await? else { return Err(PageError::not_found()) };
    let job = visit.ask(operation, json!({ "jobId": visit.name("id"), "projectId": audience.id })).await?;
    let open = matches!(job["status"].as_str(), Some("pending" | "processing"));
    let total = job.get("total").or(job.get("totalContacts")).cloned().unwrap_or_default();
    let mut context = audience.context(visit, title);
    context.insert("kind".into(), visit.name("kind").into());
    context.insert("open".into(), open.into());
    context.insert("total".into(), total);
    context.insert("processed".into(), job.get("processed").cloned().unwrap_or_default());
    context.insert("contacts".into(), job.get("contactCount").cloned().unwrap_or_default());
    context.insert("result".into(), job.get("result").cloned().unwrap_or_default());
    context.insert("error".into(), job.get("error").cloned().unwrap_or_default());
    context.insert("status".into(), job["status"].clone());
    context.insert("download".into(), own(job.get("downloadUrl")).into());
    context.insert("expires".into(), job.get("downloadExpiresAt").cloned().unwrap_or_default());
    context.insert("created".into(), job["createdAt"].clone());
    Ok(audience.page(visit, "contact_job.html", context, None))
}

/// Returns the path of a link to this service: the browser may use another host name than the configured base URL.
fn own(link: Option<&Value>) -> String {
    let link = link.and_then(Value::as_str).unwrap_or_default();
    link.find("/v1/").map(|at| link[at..].to_owned()).unwrap_or_default()
}
