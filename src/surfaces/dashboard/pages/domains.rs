//! Pages about sending domains: the list, DNS records and their verification, tracking, and DKIM keys.

use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};

use crate::engine::api::{Created, Done};
use crate::features::domains;
use crate::features::domains::views::DomainView;
use crate::surfaces::dashboard::template::{self, page_context};
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};

/// The names of the UTM parameters, without the prefix `utm_`.
const MARKS: [&str; 5] = ["source", "medium", "campaign", "term", "content"];

#[derive(Serialize)]
pub struct DomainsPage {
    domain: String,
    from_name: String,
    root: String,
    domains: Vec<DomainView>,
}

#[derive(Serialize)]
pub struct DomainPage {
    title: String,
    act: String,
    utm: &'static str,
    source: String,
    medium: String,
    campaign: String,
    term: String,
    content: String,
    /// Whether the page refreshes automatically.
    waits: bool,
    domain: DomainView,
}

page_context!(DomainsPage, "domains.html", {
    let page = |domains| Self { domain: "example.com".into(), from_name: String::new(), root: String::new(), domains };
    let waiting = DomainView { checked_at: None, rotating: true, stream: None, ..DomainView::sample() };
    vec![page(vec![DomainView::sample(), waiting]), page(Vec::new())]
});

page_context!(DomainPage, "domain.html", {
    let page = |domain: DomainView, act: &str, utm| Self {
        title: domain.domain.clone(),
        act: act.into(),
        utm,
        source: "news".into(),
        medium: String::new(),
        campaign: String::new(),
        term: String::new(),
        content: String::new(),
        waits: true,
        domain,
    };
    let new = DomainView { is_verified: false, status_reason: None, stream: None, ..DomainView::sample() };
    vec![
        page(DomainView::sample(), "tracking", "yes"),
        page(new, "", ""),
        page(DomainView { rotating: true, ..DomainView::sample() }, "", ""),
    ]
});

pub async fn show_all(visit: &Visit) -> Result<PageResponse, PageError> {
    all(visit, None).await
}

async fn all(visit: &Visit, error: Option<PageError>) -> Result<PageResponse, PageError> {
    let domains = visit.ask::<domains::ops::list::List>(json!({})).await?.data;
    let context = DomainsPage {
        domain: visit.form.get("domain").to_owned(),
        from_name: visit.form.get("from_name").to_owned(),
        root: visit.form.get("root").to_owned(),
        domains,
    };
    Ok(PageResponse::draw_with(&context, error.as_ref()))
}

/// Adds a sending domain, or the two subdomains for transactional and marketing mail.
pub async fn add(visit: &Visit) -> Result<PageResponse, PageError> {
    let form = &visit.form;
    let made = match form.get("act") {
        "setup" => {
            let (root, from_name) = (form.get("domain"), form.some("from_name"));
            let input = json!({ "rootDomain": root, "fromName": from_name, "vanityRootFrom": form.get("root") == "yes" });
            visit.ask::<domains::ops::setup::Setup>(input).await.map(|Created(parts)| parts.marketing)
        }
        "create" => {
            let made = visit.ask::<domains::ops::create::Create>(json!({ "domain": form.get("domain") })).await;
            made.map(|Created(domain)| domain)
        }
        _ => return Err(PageError::unknown_action()),
    };
    match made {
        Ok(made) => Ok(PageResponse::redirect(format!("{}/{}?done={}", visit.path, made.domain, form.get("act")))),
        Err(error) if is_to_correct(&error) => all(visit, Some(error)).await,
        Err(error) => Err(error),
    }
}

pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    one(visit, None).await
}

async fn one(visit: &Visit, error: Option<PageError>) -> Result<PageResponse, PageError> {
    let Done(domain) = visit.ask::<domains::ops::get::Get>(json!({ "domain": visit.path_parameter("domain") })).await?;
    let is_sent = visit.form.get("act") == "tracking";
    let now = template::context(&domain.utm);
    let value = |mark: &str| match is_sent {
        true => visit.form.get(mark).to_owned(),
        false => now[mark].as_str().unwrap_or_default().to_owned(),
    };
    let is_marked = match is_sent {
        true => visit.form.get("utm") == "yes",
        false => domain.utm.as_ref().is_some_and(|utm| utm.enabled != Some(false)),
    };
    let [source, medium, campaign, term, content] = MARKS.map(value);
    let context = DomainPage {
        title: domain.domain.clone(),
        act: visit.form.get("act").to_owned(),
        utm: if is_marked { "yes" } else { "" },
        source,
        medium,
        campaign,
        term,
        content,
        waits: template::context(&domain.status) == "pending" || domain.rotating,
        domain,
    };
    Ok(PageResponse::draw_with(&context, error.as_ref()))
}

pub async fn send(visit: &Visit) -> Result<PageResponse, PageError> {
    let which = json!({ "domain": visit.path_parameter("domain") });
    let act = visit.form.get("act");
    let done = match act {
        "verify" => visit.ask::<domains::ops::verify::Verify>(which).await.map(drop),
        "rotate" => visit.ask::<domains::ops::rotate::Rotate>(which).await.map(drop),
        "tracking" => visit.ask::<domains::ops::update::Update>(tracking(visit)).await.map(drop),
        "delete" => {
            visit.ask::<domains::ops::delete::Delete>(which).await?;
            return Ok(PageResponse::redirect(format!("/{}/domains?done=delete", visit.environment)));
        }
        _ => return Err(PageError::unknown_action()),
    };
    match done {
        Ok(()) => Ok(PageResponse::redirect(format!("{}?done={act}", visit.path))),
        Err(error) if is_to_correct(&error) => one(visit, Some(error)).await,
        Err(error) => Err(error),
    }
}

fn tracking(visit: &Visit) -> Value {
    let form = &visit.form;
    let is_ticked = |name: &str| form.get(name) == "yes";
    let utm = match is_ticked("utm") {
        true => MARKS.iter().filter_map(|mark| Some(((*mark).to_owned(), Value::from(form.some(mark)?)))).collect(),
        false => Value::Null,
    };
    json!({
        "domain": visit.path_parameter("domain"), "openTracking": is_ticked("opens"), "clickTracking": is_ticked("clicks"),
        "brandedTracking": is_ticked("branded"), "utm": utm,
    })
}

/// Returns whether the user can correct the error on the page.
fn is_to_correct(error: &PageError) -> bool {
    matches!(error.status, StatusCode::BAD_REQUEST | StatusCode::CONFLICT)
}
