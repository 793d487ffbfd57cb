//! The page with the list of campaigns.

use serde::Serialize;
use serde_json::json;

use super::{BrandName, base};
use crate::engine::api::Done;
use crate::features::campaigns::ops::overview::CampaignLine;
use crate::features::{campaigns, projects};
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};
use crate::vocab::ids::CampaignId;

/// The filters of the list, each with its value in the URL, its label, and the matching campaign statuses.
const STATES: [(&str, &str, &[&str]); 6] = [
    ("draft", "Drafts", &["draft"]),
    ("scheduled", "Scheduled", &["scheduled"]),
    ("sending", "Sending", &["sending", "throttled", "paused"]),
    ("sent", "Sent", &["sent"]),
    ("attention", "Needs attention", &["pending_review", "failed"]),
    ("cancelled", "Canceled", &["cancelled"]),
];
const PER_PAGE: usize = 25;

#[derive(Serialize)]
pub struct CampaignsPage {
    base: String,
    lines: Vec<Line>,
    next: Option<CampaignId>,
    is_first: bool,
    is_filtered: bool,
    is_archive: bool,
    kept: String,
    q: String,
    state: String,
    states: [(&'static str, &'static str); STATES.len()],
    brand: String,
    brands: Vec<BrandName>,
}

#[derive(Serialize)]
struct Line {
    #[serde(flatten)]
    line: CampaignLine,
    brand: Option<String>,
}

fn states() -> [(&'static str, &'static str); STATES.len()] {
    STATES.map(|(word, label, _)| (word, label))
}

page_context!(CampaignsPage, "campaigns.html", {
    use crate::features::campaigns::model::CampaignStatus;
    use crate::features::campaigns::stats::CampaignStats;
    use crate::features::campaigns::views::CampaignView;

    let line = |campaign, brand: Option<&str>| Line {
        line: CampaignLine { campaign, stats: CampaignStats::sample() },
        brand: brand.map(str::to_owned),
    };
    let page = |lines, is_filtered, is_archive| Self {
        base: "/test/campaigns".into(),
        lines,
        next: None,
        is_first: true,
        is_filtered,
        is_archive,
        kept: String::new(),
        q: String::new(),
        state: "sent".into(),
        states: states(),
        brand: String::new(),
        brands: vec![BrandName::sample('b'), BrandName::sample('c')],
    };
    let lines = || {
        vec![
            line(CampaignView::sample(), Some("Acme")),
            line(CampaignView::sample_scheduled(), None),
            line(CampaignView::sample_in(CampaignStatus::Sent), None),
        ]
    };
    vec![
        page(lines(), false, false),
        Self { is_first: false, next: Some(CampaignView::sample().id), ..page(lines(), true, true) },
        page(Vec::new(), true, false),
        page(Vec::new(), false, true),
        page(Vec::new(), false, false),
    ]
});

pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    let query = &visit.query;
    let (search, state, brand) = (query.some("q"), query.some("state"), query.some("brand"));
    let is_archive = query.get("archived") == "yes";
    let chosen = STATES.iter().find(|(word, _, _)| Some(*word) == state);
    let input = json!({
        "search": search,
        "status": chosen.map(|(_, _, states)| states),
        "projectId": brand,
        "archived": is_archive,
        "before": query.some("before"),
        "limit": PER_PAGE,
    });
    let Done(part) = visit.ask::<campaigns::ops::overview::Overview>(input).await?;
    let listed = visit.ask::<projects::ops::list::List>(json!({ "limit": 100 })).await;
    let brands: Vec<BrandName> = listed.map_or(Vec::new(), |listed| listed.items.into_iter().map(BrandName::of).collect());
    let line = |line: CampaignLine| Line {
        brand: brands.iter().find(|brand| brand.id == line.campaign.project_id).map(|brand| brand.name.clone()),
        line,
    };
    let lines = part.campaigns.into_iter().map(line).collect();
    let kept = [("q", search), ("state", state), ("brand", brand), ("archived", is_archive.then_some("yes"))];
    let kept: Vec<(&str, &str)> = kept.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    let context = CampaignsPage {
        base: base(visit),
        lines,
        next: part.next,
        is_first: query.some("before").is_none(),
        is_filtered: search.is_some() || state.is_some() || brand.is_some(),
        is_archive,
        kept: serde_urlencoded::to_string(kept).unwrap_or_default(),
        q: search.unwrap_or_default().to_owned(),
        state: state.unwrap_or_default().to_owned(),
        states: states(),
        brand: brand.unwrap_or_default().to_owned(),
        brands,
    };
    Ok(PageResponse::draw(&context))
}
