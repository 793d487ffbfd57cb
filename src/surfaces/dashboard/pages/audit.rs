//! The page with the audit log.

use serde::Serialize;
use serde_json::json;

use crate::engine::api::Done;
use crate::features::accounts;
use crate::features::accounts::ops::audit_list::AuditEntry;
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};

/// The data of one page of the audit log.
#[derive(Serialize)]
pub struct AuditPage {
    /// Whether the page shows changes to this environment's data rather than to the account.
    is_data: bool,
    entries: Vec<AuditLine>,
    next: Option<String>,
    first: bool,
}

#[derive(Serialize)]
struct AuditLine {
    #[serde(flatten)]
    entry: AuditEntry,
    does: String,
}

page_context!(AuditPage, "audit.html", {
    use crate::engine::api::Operation;
    use crate::features::accounts::ops::audit_list::AuditActor;

    let entries = || accounts::ops::audit_list::AuditList::example().1.0.entries;
    let line = |entry: AuditEntry| AuditLine { entry, does: "Create a tag".into() };
    let full =
        Self { is_data: true, entries: entries().into_iter().map(line).collect(), next: Some("0123".into()), first: false };
    let by = |by| entries().into_iter().map(|entry| line(AuditEntry { by, who: None, ..entry })).collect();
    vec![
        full,
        Self { is_data: false, entries: by(AuditActor::Operator), next: None, first: true },
        Self { is_data: false, entries: Vec::new(), next: None, first: true },
    ]
});

/// Shows the actions on the account, or on the data of the selected environment.
pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    let is_data = visit.query.get("in") == "data";
    let part = is_data.then(|| visit.environment.word());
    let before = visit.query.some("before");
    let input = json!({ "in": part, "limit": 50, "before": before });
    let Done(log) = visit.ask::<accounts::ops::audit_list::AuditList>(input).await?;
    let entries = log.entries.into_iter().map(|entry| AuditLine { does: does(visit, &entry.operation), entry }).collect();
    let context = AuditPage { is_data, entries, next: log.next, first: before.is_none() };
    Ok(PageResponse::draw(&context))
}

/// Returns an operation's summary, or the operation's ID if the operation no longer exists.
fn does(visit: &Visit, id: &str) -> String {
    let entry = visit.api.operations().iter().find(|entry| entry.spec.id == id);
    entry.map_or(id, |entry| entry.spec.summary).to_owned()
}
