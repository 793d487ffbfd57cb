//! The list of agents' requests for keys, where users can deny waiting requests and revoke granted keys.

use serde::Serialize;
use serde_json::json;

use crate::engine::api::Done;
use crate::features::accounts;
use crate::features::accounts::agents::views::ApprovalView;
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};

#[derive(Serialize)]
pub struct ApprovalsPage {
    approvals: Vec<ApprovalView>,
}

page_context!(ApprovalsPage, "approvals.html", {
    use crate::engine::api::Operation;

    let approvals = accounts::ops::approval_list::ApprovalList::example().1.0.approvals;
    let page = |approvals| Self { approvals };
    vec![page(approvals), page(Vec::new())]
});

pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    let Done(data) = visit.ask::<accounts::ops::approval_list::ApprovalList>(json!({})).await?;
    let context = ApprovalsPage { approvals: data.approvals };
    Ok(PageResponse::draw(&context))
}

/// Handles a button in the list of agents' requests.
pub async fn send(visit: &Visit) -> Result<PageResponse, PageError> {
    let which = json!({ "id": visit.form.get("id") });
    let done = match visit.form.get("act") {
        "deny" => visit.ask::<accounts::ops::approval_deny::ApprovalDeny>(which).await.map(|_| "denied")?,
        "revoke" => visit.ask::<accounts::ops::approval_revoke::ApprovalRevoke>(which).await.map(|_| "revoked")?,
        _ => return Err(PageError::unknown_action()),
    };
    Ok(PageResponse::redirect(format!("{}?done={done}", visit.path)))
}
