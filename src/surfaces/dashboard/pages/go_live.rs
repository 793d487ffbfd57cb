//! The pages that copy a brand from the test environment to the live environment ("go live").

use serde::Serialize;
use serde_json::json;

use super::brands::word;
use crate::engine::api::Done;
use crate::engine::api::response::WireTime;
use crate::features::go_live::ops::{checklist, copy};
use crate::features::go_live::{CopyCounts, CopyReport, GoLiveStep, GoLiveView};
use crate::features::projects;
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};
use crate::vocab::codes::Code;

/// The maximum number of brands that the page lists. Users with more brands can start from a brand's page.
const BRANDS_MAX: u64 = 50;

#[derive(Serialize)]
pub struct ChooseBrandPage {
    brands: Vec<BrandChoice>,
}

#[derive(Serialize)]
struct BrandChoice {
    id: String,
    name: String,
    domain: String,
}

page_context!(ChooseBrandPage, "go_live_choose.html", {
    let brand = || BrandChoice { id: "66f1a2b3d4e5f60718293a4b".into(), name: "Acme".into(), domain: "acme.example".into() };
    vec![Self { brands: vec![brand(), brand()] }, Self { brands: Vec::new() }]
});

#[derive(Serialize)]
pub struct GoLivePage {
    id: String,
    name: String,
    steps: Vec<GoLiveStep>,
    /// The number of completed checklist steps.
    ready: usize,
    /// The number of contacts in the test environment.
    contacts: u64,
    /// Whether the user has chosen to copy contacts too.
    wants_contacts: bool,
    /// The ID of the live copy of this brand.
    live: Option<String>,
    /// The time of the last copy to the live environment.
    copied_at: Option<WireTime>,
    /// A different live brand with the same website.
    twin: Option<Twin>,
    /// Whether the page shows the report of a copy that just finished.
    is_report: bool,
    skipped: Vec<String>,
    contacts_after: Option<u32>,
    /// The number of objects of each kind in the copy that just finished or, without a report, in the last copy.
    counts: Vec<CountLine>,
}

#[derive(Serialize)]
struct Twin {
    id: String,
    name: String,
}

#[derive(Serialize)]
struct CountLine {
    label: String,
    created: u64,
    updated: u64,
    unchanged: u64,
}

page_context!(GoLivePage, "go_live.html", {
    let twin = || Twin { id: "66f1a2b3d4e5f60718293a4c".into(), name: "Acme".into() };
    let mut continued = CopyReport::sample();
    (continued.contacts_after, continued.skipped) = (Some(20_000), vec!["The segment Fans was not copied.".into()]);
    let fresh = GoLiveView { live_project_id: None, copied_at: None, copied: Vec::new(), ..GoLiveView::sample() };
    vec![
        GoLivePage { wants_contacts: true, ..page(fresh, Some(twin()), None) },
        page(GoLiveView::sample(), None, Some(continued)),
        page(GoLiveView::sample(), None, None),
    ]
});

fn page(view: GoLiveView, twin: Option<Twin>, report: Option<CopyReport>) -> GoLivePage {
    let is_report = report.is_some();
    let (copied, skipped, contacts_after) = match report {
        Some(report) => (report.copied, report.skipped, report.contacts_after),
        None => (view.copied, Vec::new(), None),
    };
    let line = |counts: CopyCounts| {
        let kind = word(&counts.kind);
        let label = kind[..1].to_uppercase() + &kind[1..];
        CountLine { label, created: counts.created, updated: counts.updated, unchanged: counts.unchanged }
    };
    GoLivePage {
        id: view.project_id.to_string(),
        name: view.name,
        ready: view.steps.iter().filter(|step| step.done).count(),
        steps: view.steps,
        contacts: view.contacts,
        wants_contacts: false,
        live: view.live_project_id.map(|id| id.to_string()),
        copied_at: view.copied_at,
        twin,
        is_report,
        skipped,
        contacts_after,
        counts: copied.into_iter().map(line).collect(),
    }
}

/// Lists the active test brands. If there is only one, redirects to the page on which it goes live.
pub async fn choose(visit: &Visit) -> Result<PageResponse, PageError> {
    let found = visit.ask::<projects::ops::list::List>(json!({ "limit": BRANDS_MAX, "status": "active" })).await?;
    if let [only] = found.items.as_slice() {
        return Ok(PageResponse::redirect(format!("/test/brands/{}/go-live", only.id)));
    }
    let choice = |brand: projects::ProjectView| BrandChoice { id: brand.id.to_string(), name: brand.name, domain: brand.domain };
    Ok(PageResponse::draw(&ChooseBrandPage { brands: found.items.into_iter().map(choice).collect() }))
}

/// Shows the requirements that a brand must meet before it goes live.
pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    draw(visit, None, None).await
}

async fn draw(visit: &Visit, report: Option<CopyReport>, error: Option<PageError>) -> Result<PageResponse, PageError> {
    let Done(view) = visit.ask::<checklist::Checklist>(json!({ "projectId": visit.path_parameter("id") })).await?;
    let twin = error.as_ref().filter(|error| error.code == Some(Code::BrandExists)).and_then(|error| {
        let data = error.data.as_ref()?;
        Some(Twin { id: data["projectId"].as_str()?.to_owned(), name: data["name"].as_str()?.to_owned() })
    });
    // The page itself explains a conflict with another live brand, so the error is not shown again.
    let shown = error.as_ref().filter(|_| twin.is_none());
    let wants_contacts = error.is_some() && visit.form.get("contacts") == "yes";
    Ok(PageResponse::draw_with(&GoLivePage { wants_contacts, ..page(view, twin, report) }, shown))
}

/// Copies the brand to the live environment and shows the report.
pub async fn send(visit: &Visit) -> Result<PageResponse, PageError> {
    let form = &visit.form;
    let input = json!({
        "projectId": visit.path_parameter("id"), "contacts": form.get("contacts") == "yes",
        "contactsAfter": form.some("after").and_then(|after| after.parse::<u32>().ok()), "liveProjectId": form.some("into"),
    });
    match visit.ask::<copy::Copy>(input).await {
        Ok(Done(report)) => draw(visit, Some(report), None).await,
        Err(error) if matches!(error.status.as_u16(), 400 | 409) => draw(visit, None, Some(error)).await,
        Err(error) => Err(error),
    }
}
