//! Topics: kinds of mail that contacts choose.

use serde_json::{Value, json};

use super::audience::{self, Audience};
use crate::surfaces::dashboard::route::{Route, closed};
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit};
use crate::vocab::limits;

/// Its pages.
pub const ROUTES: &[Route] =
    &[closed("/{environment}/topics").get(|visit| Box::pin(show(visit))).post(|visit| Box::pin(send(visit)))];

const FIELDS: [&str; 6] = ["id", "name", "description", "default", "visibility", "order"];

/// The list and the form.
async fn show(visit: &Visit) -> Result<Outcome, PageError> {
    let Some(audience) = Audience::of(visit).await? else { return Ok(audience::none(visit, "Topics")) };
    page(visit, &audience, None).await
}

async fn page(visit: &Visit, audience: &Audience, error: Option<&PageError>) -> Result<Outcome, PageError> {
    let limit = limits::PAGE_LIMIT_MAX;
    let input =
        json!({ "projectId": audience.id, "includeInactive": true, "limit": limit, "offset": audience::offset(visit, limit) });
    let found = visit.ask("topics.list", input).await?;
    let everybody = visit.ask("contacts.list", json!({ "projectId": audience.id, "limit": 1 })).await?;
    let mut context = audience.context(visit, "Topics");
    let path = audience.path(&visit.path, &[]);
    context.insert("pages_base".into(), format!("{path}{}", if path.contains('?') { "&" } else { "?" }).into());
    context.insert("topics".into(), found["topics"].clone());
    context.insert("pagination".into(), found["pagination"].clone());
    context.insert("everybody".into(), everybody["total"].clone());
    for name in FIELDS {
        let sent = if error.is_some() { visit.form.get(name) } else { "" };
        context.insert(name.into(), sent.into());
    }
    Ok(audience.page(visit, "topics.html", context, error))
}

/// Creates, changes or deletes a topic.
async fn send(visit: &Visit) -> Result<Outcome, PageError> {
    let Some(audience) = Audience::of(visit).await? else { return Err(PageError::not_found()) };
    let form = &visit.form;
    let mut input = json!({ "projectId": audience.id, "id": form.get("id") });
    let operation = match form.get("act") {
        "delete" => "topics.delete",
        act @ ("create" | "update") => {
            input["name"] = form.get("name").into();
            input["description"] = json!(form.some("description"));
            input["defaultSubscription"] = json!(form.some("default"));
            input["visibility"] = json!(form.some("visibility"));
            match form.some("order").map(str::parse::<u64>) {
                None => {}
                Some(Ok(order)) => input["displayOrder"] = order.into(),
                Some(Err(_)) => {
                    let error = PageError::plain(http::StatusCode::BAD_REQUEST, "The order must be a whole number, like 10.");
                    let error = PageError { field: "displayOrder".into(), ..error };
                    return page(visit, &audience, Some(&error)).await;
                }
            }
            if act == "create" {
                input.as_object_mut().and_then(|input| input.remove("id"));
                "topics.create"
            } else {
                input["isActive"] = Value::Bool(!form.get("active").is_empty());
                "topics.update"
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
