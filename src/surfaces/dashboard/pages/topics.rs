//! The page about topics: the kinds of mail that contacts can subscribe to.

use serde::Serialize;
use serde_json::{Value, json};

use super::audience::{self, Audience, AudienceContext};
use crate::engine::api::page::Pagination;
use crate::features::topics::views::TopicView;
use crate::features::{contacts, topics};
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};
use crate::vocab::limits;

#[derive(Serialize)]
pub struct TopicsPage {
    #[serde(flatten)]
    audience: AudienceContext,
    pages_base: String,
    topics: Vec<TopicView>,
    pagination: Pagination,
    total_contacts: u64,
    id: String,
    name: String,
    description: String,
    default: String,
    visibility: String,
    order: String,
}

page_context!(TopicsPage, "topics.html", {
    let full = |id: String| Self {
        audience: AudienceContext::sample("Topics"),
        pages_base: "/test/topics?".into(),
        topics: vec![TopicView::sample(), TopicView { is_active: false, description: None, ..TopicView::sample() }],
        pagination: Pagination::sample(),
        total_contacts: 1_280,
        id,
        name: "Updates".into(),
        description: String::new(),
        default: "opt_in".into(),
        visibility: "public".into(),
        order: "10".into(),
    };
    vec![full(String::new()), full(TopicView::sample().id.to_string()), Self { topics: Vec::new(), ..full(String::new()) }]
});

pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    let Some(audience) = Audience::of(visit).await? else { return Ok(audience::none("Topics")) };
    page(visit, &audience, None).await
}

async fn page(visit: &Visit, audience: &Audience, error: Option<&PageError>) -> Result<PageResponse, PageError> {
    let limit = limits::PAGE_LIMIT_MAX;
    let input =
        json!({ "projectId": audience.id, "includeInactive": true, "limit": limit, "offset": audience::offset(visit, limit) });
    let found = visit.ask::<topics::ops::list::List>(input).await?;
    let all_contacts = visit.ask::<contacts::ops::list::List>(json!({ "projectId": audience.id, "limit": 1 })).await?;
    let sent = |name: &str| if error.is_some() { visit.form.get(name).to_owned() } else { String::new() };
    let context = TopicsPage {
        audience: audience.context(visit, "Topics"),
        pages_base: audience.pages_base(visit, &[]),
        pagination: found.pagination(),
        topics: found.items,
        total_contacts: all_contacts.total,
        id: sent("id"),
        name: sent("name"),
        description: sent("description"),
        default: sent("default"),
        visibility: sent("visibility"),
        order: sent("order"),
    };
    Ok(audience.finish(visit, PageResponse::draw_with(&context, error)))
}

/// Creates, changes or deletes a topic.
pub async fn send(visit: &Visit) -> Result<PageResponse, PageError> {
    let Some(audience) = Audience::of(visit).await? else { return Err(PageError::not_found()) };
    let form = &visit.form;
    let mut input = json!({ "projectId": audience.id, "id": form.get("id") });
    let done = match form.get("act") {
        "delete" => visit.ask::<topics::ops::delete::Delete>(input).await.map(drop),
        act @ ("create" | "update") => {
            input["name"] = form.get("name").into();
            input["description"] = json!(form.some("description"));
            input["defaultSubscription"] = json!(form.some("default"));
            input["visibility"] = json!(form.some("visibility"));
            match form.some("order").map(str::parse::<u64>) {
                None => {}
                Some(Ok(order)) => input["displayOrder"] = order.into(),
                Some(Err(_)) => {
                    let error = PageError::plain(
                        http::StatusCode::BAD_REQUEST,
                        "The order must be 0 or a positive whole number, such as 10.",
                    );
                    let error = PageError { field: "displayOrder".into(), ..error };
                    return page(visit, &audience, Some(&error)).await;
                }
            }
            if act == "create" {
                input.as_object_mut().and_then(|input| input.remove("id"));
                visit.ask::<topics::ops::create::Create>(input).await.map(drop)
            } else {
                input["isActive"] = Value::Bool(!form.get("active").is_empty());
                visit.ask::<topics::ops::update::Update>(input).await.map(drop)
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
