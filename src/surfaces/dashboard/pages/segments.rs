//! Segments: the list, and the filter editor with a live count of matching contacts.

use std::collections::BTreeMap;

use http::StatusCode;
use serde_json::{Value, json};

use super::audience::{self, Audience};
use super::contacts::STATUSES;
use super::segment_form::{self, BuiltFilter, Row, TagIds};
use crate::surfaces::dashboard::route::{Route, closed};
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit};
use crate::vocab::limits;

/// Its pages.
pub const ROUTES: &[Route] = &[
    closed("/{environment}/segments").get(|visit| Box::pin(list(visit))).post(|visit| Box::pin(remove(visit))),
    closed("/{environment}/segments/new").get(|visit| Box::pin(show(visit))).post(|visit| Box::pin(send(visit))),
    closed("/{environment}/segments/{id}").get(|visit| Box::pin(show(visit))).post(|visit| Box::pin(send(visit))),
];

const PER_PAGE: u64 = 20;
/// The maximum number of rows: the conditions a tree may have, and groups around them.
const ROWS_MAX: usize = 2 * limits::SEGMENT_CONDITIONS_MAX;
/// Members shown beside the count.
const MEMBERS: u64 = 5;
/// Contacts that are searched for names of custom fields.
const LOOKED_AT: u64 = 2_000;

/// Shows the list. Counting is slow, so counts load separately.
async fn list(visit: &Visit) -> Result<Outcome, PageError> {
    let Some(audience) = Audience::of(visit).await? else { return Ok(audience::none(visit, "Segments")) };
    let count = visit.query.get("count") == "1";
    let offset = audience::offset(visit, PER_PAGE);
    let input = json!({ "projectId": audience.id, "limit": PER_PAGE, "offset": offset, "count": count });
    let found = visit.ask("segments.list", input).await?;
    let mut context = audience.context(visit, "Segments");
    let page = visit.query.get("page");
    let path = audience.path(&visit.path, &[]);
    context.insert("pages_base".into(), format!("{path}{}", if path.contains('?') { "&" } else { "?" }).into());
    context.insert("counted".into(), count.into());
    context.insert("count_path".into(), audience.path(&visit.path, &[("page", page), ("count", "1")]).into());
    context.insert("segments".into(), found["segments"].clone());
    context.insert("pagination".into(), found["pagination"].clone());
    Ok(audience.page(visit, "segments.html", context, None))
}

/// Deletes a segment.
async fn remove(visit: &Visit) -> Result<Outcome, PageError> {
    let Some(audience) = Audience::of(visit).await? else { return Err(PageError::not_found()) };
    visit.ask("segments.delete", json!({ "id": visit.form.get("id"), "projectId": audience.id })).await?;
    Ok(Outcome::go(audience.path(&format!("/{}/segments", visit.environment), &[("done", "delete")])))
}

/// The state of the editor.
struct Draft {
    name: String,
    description: String,
    rows: Vec<Row>,
    /// The matching contacts, if counted.
    count: Value,
}

/// Shows a new or saved segment.
async fn show(visit: &Visit) -> Result<Outcome, PageError> {
    let is_new = visit.name("id").is_empty();
    let found = if is_new { Audience::of(visit).await? } else { Audience::having(visit, "segments.project").await? };
    let audience = match found {
        Some(audience) => audience,
        None if is_new => return Ok(audience::none(visit, "New segment")),
        None => return Err(PageError::not_found()),
    };
    let draft = match visit.name("id") {
        "" => {
            let rows = segment_form::rows_of(&json!({ "match": "all" }), &BTreeMap::new());
            let rows = rows.into_iter().chain([Row::fresh(1)]).collect();
            Draft { name: String::new(), description: String::new(), rows, count: Value::Null }
        }
        id => {
            let saved = visit.ask("segments.get", json!({ "id": id, "projectId": audience.id, "count": false })).await?;
            let named = tag_names(visit, &audience.id, &saved["filters"]).await?;
            let text = |field: &str| saved[field].as_str().unwrap_or_default().to_owned();
            let rows = segment_form::rows_of(&saved["filters"], &named);
            Draft { name: text("name"), description: text("description"), rows, count: Value::Null }
        }
    };
    page(visit, &audience, &draft, None, None).await
}

async fn tag_names(visit: &Visit, project: &str, tree: &Value) -> Result<BTreeMap<String, String>, PageError> {
    let mut named = BTreeMap::new();
    for id in segment_form::ids_in(tree) {
        match visit.ask("tags.get", json!({ "id": id, "projectId": project })).await {
            Ok(tag) => drop(named.insert(id, tag["name"].as_str().unwrap_or_default().to_owned())),
            // It was deleted in the meantime.
            Err(error) if error.status == StatusCode::NOT_FOUND => {}
            Err(error) => return Err(error),
        }
    }
    Ok(named)
}

async fn page(
    visit: &Visit,
    audience: &Audience,
    draft: &Draft,
    error: Option<&PageError>,
    wrong_row: Option<usize>,
) -> Result<Outcome, PageError> {
    let is_new = visit.name("id").is_empty();
    let mut context = audience.context(visit, if is_new { "New segment" } else { &draft.name });
    let catalog = visit.ask("contacts.field_catalog", json!({ "projectId": audience.id, "examine": LOOKED_AT })).await?;
    let custom = catalog["entries"].as_array().into_iter().flatten().filter(|entry| entry["auto"] == false);
    let custom: Vec<Value> = custom.map(|entry| entry["key"].clone()).take(100).collect();
    let events = visit.ask("events.names", json!({ "projectId": audience.id, "limit": limits::PAGE_LIMIT_MAX })).await?;
    let topics = audience::topics(visit, &audience.id).await?;
    let rows: Vec<Value> = draft.rows.iter().enumerate().map(|(at, row)| drawn(row, wrong_row == Some(at), &topics)).collect();
    context.insert("is_new".into(), is_new.into());
    context.insert("id".into(), visit.name("id").into());
    context.insert("name".into(), draft.name.as_str().into());
    context.insert("description".into(), draft.description.as_str().into());
    context.insert("rows".into(), rows.into());
    context.insert("count".into(), draft.count.clone());
    context.insert("custom_fields".into(), custom.into());
    context.insert("event_names".into(), events["names"].clone());
    context.insert("tag_names".into(), audience::tag_names(visit, &audience.id).await?.0.into());
    context.insert("topics".into(), json!(topics));
    context.insert("statuses".into(), json!(STATUSES));
    context.insert("levels_max".into(), limits::SEGMENT_LEVELS_MAX.into());
    Ok(audience.page(visit, "segment_edit.html", context, error))
}

fn drawn(row: &Row, is_wrong: bool, topics: &[(String, String)]) -> Value {
    json!({
        "stray": stray(row, topics),
        "depth": row.depth, "combine": row.combine, "what": row.what, "name": row.name, "mode": row.mode, "value": row.value,
        "more": row.more, "unit": row.unit, "campaign": row.campaign, "input": row.input(), "modes": row.modes(), "wrong": is_wrong,
    })
}

/// Returns the text for a topic value that is not among the choices: several topics, or a deleted one.
fn stray(row: &Row, topics: &[(String, String)]) -> Option<String> {
    let ids: Vec<&str> = row.value.split(',').collect();
    let is_id = |id: &&str| id.len() == 24 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let name = |id: &str| topics.iter().find(|(known, _)| known == id).map(|(_, name)| name.as_str());
    let is_odd = row.what == "topic" && ids.iter().all(is_id) && (ids.len() > 1 || name(ids[0]).is_none());
    is_odd.then(|| ids.iter().map(|id| name(id).unwrap_or("a deleted topic")).collect::<Vec<_>>().join(" or "))
}

/// Handles the form: adds or removes rows, counts matching contacts, or saves.
async fn send(visit: &Visit) -> Result<Outcome, PageError> {
    let Some(audience) = Audience::of(visit).await? else { return Err(PageError::not_found()) };
    let form = &visit.form;
    let mut rows = segment_form::sent(form, ROWS_MAX);
    segment_form::press(&mut rows, form.get("do"));
    rows.truncate(ROWS_MAX);
    let (name, description) = (form.get("name").to_owned(), form.get("description").to_owned());
    let mut draft = Draft { name, description, rows, count: Value::Null };
    let asked = match form.get("do") {
        "count" => counted(visit, &audience, &mut draft).await.map(|()| None),
        "save" => save(visit, &audience, &draft).await.map(Some),
        "delete" => return remove_this(visit, &audience).await,
        _ => Ok(None),
    };
    match asked {
        Ok(Some(outcome)) => Ok(outcome),
        Ok(None) => page(visit, &audience, &draft, None, None).await,
        Err((error, row)) if audience::can_correct(&error) => {
            if form.get("do") != "count" {
                return page(visit, &audience, &draft, Some(&error), row).await;
            }
            // The user is still editing, so an incomplete filter is not an error.
            draft.count = json!({ "wrong": error.message });
            let unfinished = PageError { status: StatusCode::OK, ..error };
            page(visit, &audience, &draft, Some(&unfinished), row).await
        }
        Err((error, _)) => Err(error),
    }
}

async fn remove_this(visit: &Visit, audience: &Audience) -> Result<Outcome, PageError> {
    visit.ask("segments.delete", json!({ "id": visit.name("id"), "projectId": audience.id })).await?;
    Ok(Outcome::go(audience.path(&format!("/{}/segments", visit.environment), &[("done", "delete")])))
}

/// An error, and its row.
type RowError = (PageError, Option<usize>);

/// Builds the filter tree of the rows, with the ids of its tags.
async fn build(visit: &Visit, audience: &Audience, rows: &[Row]) -> Result<BuiltFilter, RowError> {
    let mut ids = TagIds::new();
    let at = |row: usize| move |error: PageError| (error, Some(row));
    for (index, row) in rows.iter().enumerate().filter(|(_, row)| row.what == "tag" && !row.is_group()) {
        let wrong = |message: &str| (PageError::plain(StatusCode::BAD_REQUEST, message), Some(index));
        let named = segment_form::tags_of(std::slice::from_ref(row));
        if named.is_empty() {
            return Err(wrong("Enter a tag."));
        }
        for name in named {
            let tag = audience::tag_named(visit, &audience.id, &name).await.map_err(at(index))?;
            let tag = tag.ok_or_else(|| wrong(&format!("The tag “{name}” doesn't exist.")))?;
            ids.insert(name, tag["id"].as_str().unwrap_or_default().to_owned());
        }
    }
    for (index, row) in rows.iter().enumerate().filter(|(_, row)| ["custom", "event"].contains(&row.what.as_str())) {
        if row.name.is_empty() && !row.is_group() {
            let message = if row.what == "event" { "Enter an event name." } else { "Enter a custom field name." };
            return Err((PageError::plain(StatusCode::BAD_REQUEST, message), Some(index)));
        }
    }
    if let Some(index) = rows.iter().position(|row| !row.is_group() && row.input() != "nothing" && row.value.is_empty()) {
        return Err((PageError::plain(StatusCode::BAD_REQUEST, "Enter a value, or remove the condition."), Some(index)));
    }
    Ok(segment_form::build(rows, &ids))
}

/// Returns an error in the tree with its row.
fn located(error: PageError, built: &BuiltFilter) -> RowError {
    let row = built.row_of(&error.field).filter(|row| *row > 0);
    (error, row)
}

async fn counted(visit: &Visit, audience: &Audience, draft: &mut Draft) -> Result<(), RowError> {
    let built = build(visit, audience, &draft.rows).await?;
    let input = json!({ "projectId": audience.id, "filters": built.tree, "limit": MEMBERS });
    draft.count = visit.ask("segments.preview", input).await.map_err(|error| located(error, &built))?;
    draft.count["wrong"] = "".into();
    Ok(())
}

async fn save(visit: &Visit, audience: &Audience, draft: &Draft) -> Result<Outcome, RowError> {
    let built = build(visit, audience, &draft.rows).await?;
    let mut input = json!({
        "projectId": audience.id, "name": draft.name, "description": draft.description, "filters": built.tree,
    });
    let saved = match visit.name("id") {
        "" => visit.ask("segments.create", input).await,
        id => {
            input["id"] = id.into();
            visit.ask("segments.update", input).await
        }
    };
    let saved = saved.map_err(|error| match error.code.as_str() {
        "NAME_TAKEN" => (PageError { field: "name".into(), ..error }, None),
        _ => located(error, &built),
    })?;
    let path = format!("/{}/segments/{}", visit.environment, saved["id"].as_str().unwrap_or_default());
    Ok(Outcome::go(audience.path(&path, &[("done", "save")])))
}
