//! The page with the suppression list: addresses that get no email from any brand, or only transactional email.

use serde::Serialize;
use serde_json::json;

use super::audience;
use crate::engine::api::page::Pagination;
use crate::features::suppressions;
use crate::features::suppressions::views::SuppressionView;
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};

const PER_PAGE: u64 = 50;
/// The reasons for a suppression, each with its API value, its label, and whether users can choose it.
const REASONS: [(&str, &str, bool); 5] = [
    ("manual", "Added manually", true),
    ("unsubscribe", "Unsubscribed", true),
    ("bounce_hard", "Hard bounce", true),
    ("complaint", "Spam complaint", true),
    ("erased", "Erased", false),
];

#[derive(Serialize)]
pub struct SuppressionsPage {
    root: String,
    reason: String,
    search: String,
    /// Whether the user searched for an incomplete address.
    unfinished: bool,
    reasons: [(&'static str, &'static str, bool); 5],
    pages_base: String,
    suppressions: Vec<SuppressionView>,
    pagination: Option<Pagination>,
    email: String,
    note: String,
    given: String,
}

page_context!(SuppressionsPage, "suppressions.html", {
    let full = || Self {
        root: "/test".into(),
        reason: String::new(),
        search: String::new(),
        unfinished: false,
        reasons: REASONS,
        pages_base: "/test/suppressions?".into(),
        suppressions: vec![SuppressionView::sample()],
        pagination: Some(Pagination::sample()),
        email: String::new(),
        note: String::new(),
        given: String::new(),
    };
    vec![
        full(),
        Self { email: "ada".into(), ..full() },
        Self { suppressions: Vec::new(), pagination: None, search: "ada".into(), unfinished: true, ..full() },
        Self { suppressions: Vec::new(), ..full() },
    ]
});

pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    page(visit, None).await
}

async fn page(visit: &Visit, error: Option<&PageError>) -> Result<PageResponse, PageError> {
    let (reason, search) = (visit.query.get("reason"), visit.query.get("search"));
    let mut input =
        json!({ "reason": visit.query.some("reason"), "limit": PER_PAGE, "offset": audience::offset(visit, PER_PAGE) });
    // Addresses are stored as hashes, so a search finds only complete addresses.
    if search.contains('@') {
        input["email"] = search.into();
    }
    let (suppressions, pagination, unfinished) = match visit.ask::<suppressions::ops::list::List>(input).await {
        Ok(found) => {
            let pagination = found.pagination();
            (found.items, Some(pagination), !search.is_empty() && !search.contains('@'))
        }
        // The search text contains an @ but is not a valid address, so the list is empty.
        Err(error) if error.field == "email" => (Vec::new(), None, true),
        Err(error) => return Err(error),
    };
    let base = serde_urlencoded::to_string([("reason", reason), ("search", search)]).unwrap_or_default();
    let sent = |name: &str| if error.is_some() { visit.form.get(name).to_owned() } else { String::new() };
    let context = SuppressionsPage {
        root: format!("/{}", visit.environment),
        reason: reason.to_owned(),
        search: search.to_owned(),
        unfinished,
        reasons: REASONS,
        pages_base: format!("{}?{base}&", visit.path),
        suppressions,
        pagination,
        email: sent("email"),
        note: sent("note"),
        given: sent("given"),
    };
    Ok(PageResponse::draw_with(&context, error))
}

/// Adds an address to the suppression list, or removes one.
pub async fn send(visit: &Visit) -> Result<PageResponse, PageError> {
    let form = &visit.form;
    let asked = match form.get("act") {
        "add" => {
            let reason = form.some("given").unwrap_or("manual");
            let input = json!({ "email": form.get("email"), "reason": reason, "note": form.some("note") });
            visit.ask::<suppressions::ops::create::Create>(input).await.map(drop)
        }
        "remove" => visit.ask::<suppressions::ops::delete::Delete>(json!({ "email": form.get("email") })).await.map(drop),
        _ => return Err(PageError::unknown_action()),
    };
    match asked {
        Ok(_) => Ok(PageResponse::redirect(format!("{}?done={}", visit.path, form.get("act")))),
        Err(error) if audience::can_correct(&error) => page(visit, Some(&error)).await,
        Err(error) => Err(error),
    }
}
