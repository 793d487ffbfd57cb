//! The page about tags: the list with contact counts, and the forms that create, edit and delete tags.

use serde::Serialize;
use serde_json::json;

use super::audience::{self, Audience, AudienceContext};
use crate::engine::api::page::Pagination;
use crate::features::tags;
use crate::features::tags::views::TagView;
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};

const PER_PAGE: u64 = 50;

#[derive(Serialize)]
pub struct TagsPage {
    #[serde(flatten)]
    audience: AudienceContext,
    pages_base: String,
    search: String,
    tags: Vec<TagView>,
    pagination: Pagination,
    id: String,
    name: String,
    color: String,
    description: String,
}

page_context!(TagsPage, "tags.html", {
    let tag = TagView::sample();
    let full = |id: &str| Self {
        audience: AudienceContext::sample("Tags"),
        pages_base: "/test/tags?".into(),
        search: String::new(),
        tags: vec![tag.clone(), TagView { color: None, description: None, ..tag.clone() }],
        pagination: Pagination::sample(),
        id: id.into(),
        name: "vip".into(),
        color: "#1A73E8".into(),
        description: String::new(),
    };
    let own = tag.id.to_string();
    vec![
        full(""),
        full(&own),
        Self { tags: Vec::new(), ..full("") },
        Self { tags: Vec::new(), search: "fair".into(), ..full("") },
    ]
});

pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    let Some(audience) = Audience::of(visit).await? else { return Ok(audience::none("Tags")) };
    page(visit, &audience, None).await
}

async fn page(visit: &Visit, audience: &Audience, error: Option<&PageError>) -> Result<PageResponse, PageError> {
    let search = visit.query.get("search");
    let input = json!({
        "projectId": audience.id, "search": visit.query.some("search"), "sortBy": "name", "sortOrder": "asc", "limit": PER_PAGE,
        "offset": audience::offset(visit, PER_PAGE),
    });
    let found = visit.ask::<tags::ops::list::List>(input).await?;
    let sent = |name: &str| if error.is_some() { visit.form.get(name).to_owned() } else { String::new() };
    let context = TagsPage {
        audience: audience.context(visit, "Tags"),
        pages_base: audience.pages_base(visit, &[("search", search)]),
        search: search.to_owned(),
        pagination: found.pagination(),
        tags: found.items,
        id: sent("id"),
        name: sent("name"),
        color: sent("color"),
        description: sent("description"),
    };
    Ok(audience.finish(visit, PageResponse::draw_with(&context, error)))
}

/// Creates, changes or deletes a tag.
pub async fn send(visit: &Visit) -> Result<PageResponse, PageError> {
    let Some(audience) = Audience::of(visit).await? else { return Err(PageError::not_found()) };
    let form = &visit.form;
    let mut input = json!({ "projectId": audience.id });
    let done = match form.get("act") {
        "delete" => {
            input["id"] = form.get("id").into();
            visit.ask::<tags::ops::delete::Delete>(input).await.map(drop)
        }
        act @ ("create" | "update") => {
            // A color input always submits a value, so the color is used only if the check box is selected.
            let color = form.some("color").filter(|_| !form.get("colored").is_empty());
            (input["name"], input["color"], input["description"]) =
                (form.get("name").into(), json!(color), json!(form.some("description")));
            if act == "create" {
                visit.ask::<tags::ops::create::Create>(input).await.map(drop)
            } else {
                input["id"] = form.get("id").into();
                visit.ask::<tags::ops::update::Update>(input).await.map(drop)
            }
        }
        _ => return Err(PageError::unknown_action()),
    };
    match done {
        Ok(()) => Ok(PageResponse::redirect(audience.path(&visit.path, &[("done", form.get("act"))]))),
        Err(error) if audience::can_correct(&error) => page(visit, &audience, Some(&error)).await,
        Err(error) => Err(error),
    }
}
