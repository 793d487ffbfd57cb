//! Tags: the list, how many contacts have each, and creating and renaming them.

use serde_json::json;

use super::audience::{self, Audience};
use crate::surfaces::dashboard::route::{Route, closed};
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit};

/// Its pages.
pub const ROUTES: &[Route] =
    &[closed("/{environment}/tags").get(|visit| Box::pin(show(visit))).post(|visit| Box::pin(send(visit)))];

const PER_PAGE: u64 = 50;

/// The list and the form.
async fn show(visit: &Visit) -> Result<Outcome, PageError> {
    let Some(audience) = Audience::of(visit).await? else { return Ok(audience::none(visit, "Tags")) };
    page(visit, &audience, None).await
}

async fn page(visit: &Visit, audience: &Audience, error: Option<&PageError>) -> Result<Outcome, PageError> {
    let search = visit.query.get("search");
    let input = json!({
        "projectId": audience.id, "search": visit.query.some("search"), "sortBy": "name", "sortOrder": "asc", "limit": PER_PAGE,
        "offset": audience::offset(visit, PER_PAGE),
    });
    let found = visit.ask("tags.list", input).await?;
    let mut context = audience.context(visit, "Tags");
    let path = audience.path(&visit.path, &[("search", search)]);
    context.insert("pages_base".into(), format!("{path}{}", if path.contains('?') { "&" } else { "?" }).into());
    context.insert("search".into(), search.into());
    context.insert("tags".into(), found["tags"].clone());
    context.insert("pagination".into(), found["pagination"].clone());
    let sent = |name: &str| if error.is_some() { visit.form.get(name).to_owned() } else { String::new() };
    for name in ["id", "name", "color", "description"] {
        context.insert(name.into(), sent(name).into());
    }
    Ok(audience.page(visit, "tags.html", context, error))
}

/// Creates, changes or deletes a tag.
async fn send(visit: &Visit) -> Result<Outcome, PageError> {
    let Some(audience) = Audience::of(visit).await? else { return Err(PageError::not_found()) };
    let form = &visit.form;
    let mut input = json!({ "projectId": audience.id });
    let operation = match form.get("act") {
        "delete" => {
            input["id"] = form.get("id").into();
            "tags.delete"
        }
        act @ ("create" | "update") => {
            // A browser's color field always has a value; it counts only if the checkbox is set.
            let color = form.some("color").filter(|_| !form.get("colored").is_empty());
            (input["name"], input["color"], input["description"]) =
                (form.get("name").into(), json!(color), json!(form.some("description")));
            if act == "create" {
                "tags.create"
            } else {
                input["id"] = form.get("id").into();
                "tags.update"
            }
        }
        _ => return Err(PageError::not_found()),
    };
    match visit.ask(operation, input).await {
        Ok(_) => Ok(Outcome::go(audience.path(&visit.path, &[("done", form.get("act"))]))),
        Err(error) if audience::can_correct(&error) => page(visit, &audience, Some(&error)).await,
        Err(error) => Err(error),
    }
}
