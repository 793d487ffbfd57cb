//! The page that restores one brand from the continuous backup: the user chooses a time and a brand, reviews the differences, and
//! restores the brand.

use serde::Serialize;
use serde_json::{Value, json};

use super::brands::word;
use crate::engine::api::Done;
use crate::features::restores::ops::{apply, discard, get, preview, start};
use crate::features::restores::views::{BrandPreview, RestoreView};
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};

#[derive(Serialize)]
pub struct RestorePage {
    /// The newest restore; `None` if there was none.
    restore: Option<RestoreView>,
    /// The comparison of the chosen brand's data in the backup with its current data.
    preview: Option<BrandPreview>,
    /// For each kind of object: how many objects the backup contains, how many of these are now missing, and how many still exist.
    kinds: Vec<PreviewLine>,
    /// The number of objects of each kind that the restore created, updated, or left unchanged.
    restored: Vec<ResultLine>,
    /// The point in time that the user entered.
    at: String,
    mode: String,
}

#[derive(Serialize)]
struct PreviewLine {
    label: String,
    then: u64,
    missing: u64,
    existing: u64,
}

#[derive(Serialize)]
struct ResultLine {
    label: String,
    created: u64,
    updated: u64,
    unchanged: u64,
}

page_context!(RestorePage, "restore.html", {
    let page = |restore, preview| page(restore, preview, String::new(), String::new());
    let preparing = || RestoreView { status: "preparing", brands: Vec::new(), ..RestoreView::sample() };
    let mut missing = BrandPreview::sample();
    missing.exists = false;
    missing.contacts.deleted = 0;
    vec![
        page(None, None),
        page(Some(preparing()), None),
        page(Some(RestoreView { progress: Some(Default::default()), ..preparing() }), None),
        page(Some(RestoreView::sample()), None),
        page(Some(RestoreView { brands: Vec::new(), exact: false, ..RestoreView::sample() }), None),
        page(Some(RestoreView::sample()), Some(BrandPreview::sample())),
        page(Some(RestoreView::sample()), Some(missing)),
        page(Some(RestoreView { status: "copying", ..RestoreView::completed_sample() }), None),
        page(Some(RestoreView::completed_sample()), None),
        page(Some(RestoreView { status: "failed", error: Some("The disk is full.".into()), ..preparing() }), None),
    ]
});

fn page(restore: Option<RestoreView>, preview: Option<BrandPreview>, at: String, mode: String) -> RestorePage {
    let label = |kind: &str| kind[..1].to_uppercase() + &kind[1..];
    let mut kinds: Vec<PreviewLine> = Vec::new();
    if let Some(preview) = &preview {
        kinds.extend(preview.kinds.iter().map(|line| {
            let (then, missing, existing) = (line.in_backup, line.missing, line.existing);
            PreviewLine { label: label(&word(&line.kind)), then, missing, existing }
        }));
        let contacts = &preview.contacts;
        // Deleted contacts count as missing, although not all of them can be restored.
        let missing = contacts.missing + contacts.deleted + contacts.erased;
        let (then, existing) = (contacts.in_backup, contacts.existing);
        kinds.push(PreviewLine { label: "Contacts".into(), then, missing, existing });
    }
    let result = restore.as_ref().and_then(|restore| restore.result.as_ref());
    let restored = result.into_iter().flat_map(|result| &result.restored).map(|counts| {
        let (created, updated, unchanged) = (counts.created, counts.updated, counts.unchanged);
        ResultLine { label: label(&word(&counts.kind)), created, updated, unchanged }
    });
    RestorePage { restored: restored.collect(), restore, preview, kinds, at, mode }
}

/// Shows the newest restore and, if the restore is ready and the query contains a brand, a preview of that brand.
pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    draw(visit, None).await
}

async fn draw(visit: &Visit, error: Option<PageError>) -> Result<PageResponse, PageError> {
    let Done(status) = visit.ask::<get::Get>(json!({})).await?;
    let is_ready = status.restore.as_ref().is_some_and(|restore| restore.status == "ready");
    let preview = match visit.query.some("brand").filter(|_| is_ready) {
        Some(brand) => Some(visit.ask::<preview::Preview>(json!({ "projectId": brand })).await?.0),
        None => None,
    };
    let (at, mode) = (visit.form.get("at").to_owned(), visit.form.get("mode").to_owned());
    Ok(PageResponse::draw_with(&page(status.restore, preview, at, mode), error.as_ref()))
}

/// Prepares or discards a restore, or restores the brand in the query.
pub async fn send(visit: &Visit) -> Result<PageResponse, PageError> {
    let form = &visit.form;
    let done = match form.get("act") {
        "start" => {
            let at = form.some("at").map_or(Value::Null, Value::from);
            visit.ask::<start::Start>(json!({ "at": at })).await.map(drop)
        }
        "discard" => visit.ask::<discard::Discard>(json!({})).await.map(drop),
        "apply" => {
            let input = json!({
                "projectId": visit.query.get("brand"), "mode": form.get("mode"), "contacts": form.get("contacts") == "yes",
                "deletedContacts": form.get("deleted") == "yes",
            });
            visit.ask::<apply::Apply>(input).await.map(drop)
        }
        _ => return Err(PageError::unknown_action()),
    };
    match done {
        Ok(()) => Ok(PageResponse::redirect(visit.path.clone())),
        Err(error) if matches!(error.status.as_u16(), 400 | 409) => draw(visit, Some(error)).await,
        Err(error) => Err(error),
    }
}
