//! The page on which users accept or reject the changes that a repeated import found.

use serde::Serialize;
use serde_json::json;

use super::brand_parts::{is_shown, prepare};
use super::brands::BrandHead;
use crate::engine::api::Done;
use crate::features::projects;
use crate::features::projects::importing::changes::ChangeState;
use crate::features::projects::ops::import_changes::ImportChangeView;
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};

#[derive(Serialize)]
pub struct ChangesPage {
    #[serde(flatten)]
    head: BrandHead,
    pending: Vec<ImportChangeView>,
    /// The values that users set, which imports do not change.
    kept: Vec<ImportChangeView>,
}

page_context!(ChangesPage, "brand_changes.html", {
    let page = |pending, kept| Self { head: BrandHead::sample("overview", "active"), pending, kept };
    let change = || projects::ops::import_changes::ImportChangesView::sample().changes.remove(0);
    let color = ImportChangeView { id: "palette.primary".into(), before: None, now: Some("#1F6B52".into()), ..change() };
    vec![page(vec![change(), color], vec![change()]), page(Vec::new(), Vec::new())]
});

pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    draw(visit, None).await
}

async fn draw(visit: &Visit, error: Option<PageError>) -> Result<PageResponse, PageError> {
    let (_, head) = prepare(visit, "overview").await?;
    let input = json!({ "projectId": visit.path_parameter("id") });
    let Done(found) = visit.ask::<projects::ops::import_changes::ImportChangesGet>(input).await?;
    let (pending, kept) = found.changes.into_iter().partition(|change| change.state == ChangeState::Pending);
    Ok(PageResponse::draw_with(&ChangesPage { head, pending, kept }, error.as_ref()))
}

/// Stores the user's decisions: one for all changes, or one for each.
pub async fn send(visit: &Visit) -> Result<PageResponse, PageError> {
    let all = visit.form.all("change");
    let decided = |wanted: &str| -> Vec<&str> {
        let is_wanted = |id: &&str| match visit.form.get("act") {
            "accept" => wanted == "accept",
            "keep" => wanted == "keep",
            _ => visit.form.get(&format!("decision.{id}")) == wanted,
        };
        all.iter().copied().filter(is_wanted).collect()
    };
    let input = json!({ "projectId": visit.path_parameter("id"), "accept": decided("accept"), "keep": decided("keep") });
    match visit.ask::<projects::ops::import_decide::ImportDecide>(input).await {
        Ok(Done(left)) if left.pending == 0 => {
            Ok(PageResponse::redirect(format!("/{}/brands/{}?done=decided", visit.environment, visit.path_parameter("id"))))
        }
        Ok(_) => Ok(PageResponse::redirect(visit.path.clone())),
        Err(error) if is_shown(&error) => draw(visit, Some(error)).await,
        Err(error) => Err(error),
    }
}
