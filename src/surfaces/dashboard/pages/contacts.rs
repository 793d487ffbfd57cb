//! Contacts: search, add one, and change many.

use serde_json::{Map, Value, json};

use super::audience::{self, Audience};
use super::contact::{custom_rows, custom_sent};
use crate::surfaces::dashboard::forms::Fields;
use crate::surfaces::dashboard::route::{Route, closed};
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit, entered};
use crate::vocab::permissions::Permission;

/// Its pages.
pub const ROUTES: &[Route] = &[
    closed("/{environment}/contacts").get(|visit| Box::pin(show(visit))).post(|visit| Box::pin(send(visit))),
    closed("/{environment}/contacts/new").get(|visit| Box::pin(new(visit))).post(|visit| Box::pin(add(visit))),
];

/// Contacts on one page.
const PER_PAGE: u64 = 50;
/// The filters of the list.
const FILTERS: [&str; 5] = ["search", "status", "tag", "segment", "sort"];
/// Fields of a contact's form.
pub const PROFILE: [&str; 5] = ["firstName", "lastName", "phone", "country", "language"];
/// Statuses with their labels.
pub const STATUSES: [(&str, &str); 4] = [
    ("subscribed", "Subscribed"),
    ("unsubscribed", "Unsubscribed"),
    ("bounced", "Bounced"),
    ("non-subscribed", "Not subscribed"),
];

/// The list.
async fn show(visit: &Visit) -> Result<Outcome, PageError> {
    let Some(audience) = Audience::of(visit).await? else { return Ok(audience::none(visit, "Contacts")) };
    page(visit, &audience, &visit.query, None).await
}

/// Renders the list with these filters.
async fn page(visit: &Visit, audience: &Audience, filters: &Fields, error: Option<&PageError>) -> Result<Outcome, PageError> {
    let project = &audience.id;
    let mut input = json!({
        "projectId": project, "search": filters.some("search"), "status": filters.some("status"),
        "segmentId": filters.some("segment"), "limit": PER_PAGE, "offset": audience::offset(visit, PER_PAGE),
    });
    if let Some(tag) = filters.some("tag") {
        input["tags"] = json!([tag]).to_string().into();
    }
    match filters.get("sort") {
        "oldest" => (input["sortBy"], input["sortOrder"]) = ("createdAt".into(), "asc".into()),
        "changed" => input["sortBy"] = "updatedAt".into(),
        _ => {}
    }
    let found = visit.ask("contacts.list", input).await?;
    let (tags, all_tags) = audience::tag_names(visit, project).await?;
    let mut context = audience.context(visit, "Contacts");
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    for name in FILTERS {
        pairs.push((name, filters.get(name)));
        context.insert(name.into(), filters.get(name).into());
    }
    let narrowed = pairs[..4].iter().any(|(_, value)| !value.is_empty());
    let path = audience.path(&visit.path, &pairs);
    let base = format!("{path}{}", if path.contains('?') { "&" } else { "?" });
    context.insert("pages_base".into(), base.into());
    context.insert("narrowed".into(), narrowed.into());
    context.insert("contacts".into(), found["contacts"].clone());
    context.insert("pagination".into(), found["pagination"].clone());
    context.insert("counts".into(), counts(visit, project).await?);
    context.insert("statuses".into(), json!(STATUSES));
    context.insert("segments".into(), audience::segments(visit, project).await?.into());
    context.insert("tags".into(), tags.into());
    context.insert("all_tags".into(), all_tags.into());
    context.insert("changed".into(), visit.query.get("changed").into());
    context.insert("failed".into(), visit.query.get("failed").into());
    for name in ["bulk_tag", "bulk_status", "which"] {
        context.insert(name.into(), visit.form.get(name).into());
    }
    context.insert("chosen".into(), json!(visit.form.all("contact")));
    Ok(audience.page(visit, "contacts.html", context, error))
}

/// Returns how many contacts have each status, from stored counts.
async fn counts(visit: &Visit, project: &str) -> Result<Value, PageError> {
    let mut counts = Vec::new();
    for (status, label) in [("", "All")].into_iter().chain(STATUSES) {
        let status = Some(status).filter(|status| !status.is_empty());
        let found = visit.ask("contacts.list", json!({ "projectId": project, "status": status, "limit": 1 })).await?;
        counts.push(json!({ "status": status, "label": label, "count": found["total"] }));
    }
    Ok(counts.into())
}

/// Handles a bulk action.
async fn send(visit: &Visit) -> Result<Outcome, PageError> {
    let Some(audience) = Audience::of(visit).await? else { return Err(PageError::not_found()) };
    match act(visit, &audience).await {
        Ok(outcome) => Ok(outcome),
        Err(error) if audience::can_correct(&error) => page(visit, &audience, &visit.form, Some(&error)).await,
        Err(error) => Err(error),
    }
}

async fn act(visit: &Visit, audience: &Audience) -> Result<Outcome, PageError> {
    let form = &visit.form;
    // Each row sends its id and its email address.
    let chosen: Vec<(&str, &str)> = form.all("contact").into_iter().filter_map(|row| row.split_once(' ')).collect();
    let all = form.get("which") == "all";
    if !all && chosen.is_empty() {
        return Err(wrong("contact", "Select at least one contact, or choose all."));
    }
    let filters = if all { conditions(visit, audience).await? } else { json!({}) };
    if form.get("act") == "export" {
        let emails: Vec<&str> = chosen.iter().map(|(_, email)| *email).collect();
        let filters = match all {
            true => filters,
            false => json!({ "filters": { "fields": [{ "key": "email", "mode": "is", "values": emails }] } }),
        };
        let job = visit.ask("contacts.export", with(filters, &audience.id)).await?;
        return Ok(to_job(visit, audience, "export", &job["jobId"]));
    }
    let mut input = match all {
        true => with(filters, &audience.id),
        false => json!({ "projectId": audience.id, "ids": chosen.iter().map(|(id, _)| *id).collect::<Vec<_>>() }),
    };
    input["all"] = all.into();
    change(form, &mut input)?;
    let done = visit.ask("contacts.bulk_change", input).await?;
    if all {
        return Ok(to_job(visit, audience, "change", &done["jobId"]));
    }
    let mut pairs: Vec<(&str, &str)> = FILTERS.iter().map(|name| (*name, form.get(name))).collect();
    let (changed, failed) = (done["result"]["changed"].to_string(), done["result"]["failed"].to_string());
    pairs.extend([("done", form.get("act")), ("changed", changed.as_str()), ("failed", failed.as_str())]);
    Ok(Outcome::go(audience.path(&visit.path, &pairs)))
}

fn change(form: &Fields, input: &mut Value) -> Result<(), PageError> {
    let tags = audience::names(form.get("bulk_tag"));
    match form.get("act") {
        "tag" | "untag" if tags.is_empty() => return Err(wrong("bulk_tag", "Enter a tag first.")),
        "tag" => input["addTags"] = json!(tags),
        "untag" => input["removeTags"] = json!(tags),
        "status" if form.get("bulk_status").is_empty() => return Err(wrong("bulk_status", "Choose a status first.")),
        "status" => input["status"] = form.get("bulk_status").into(),
        "delete" if form.get("sure").is_empty() => {
            return Err(wrong("sure", "To delete the contacts, select “Yes, delete them”. You can't undo this."));
        }
        "delete" => input["delete"] = true.into(),
        _ => return Err(PageError::not_found()),
    }
    Ok(())
}

fn wrong(field: &str, message: &str) -> PageError {
    PageError { field: field.into(), ..PageError::plain(http::StatusCode::BAD_REQUEST, message) }
}

fn with(mut input: Value, project: &str) -> Value {
    input["projectId"] = project.into();
    input
}

fn to_job(visit: &Visit, audience: &Audience, kind: &str, id: &Value) -> Outcome {
    let id = id.as_str().unwrap_or_default();
    Outcome::go(audience.path(&format!("/{}/contacts/jobs/{kind}/{id}", visit.environment), &[]))
}

/// Converts the list's filters to those of a job.
async fn conditions(visit: &Visit, audience: &Audience) -> Result<Value, PageError> {
    let form = &visit.form;
    let mut filters = Map::new();
    if let Some(search) = form.some("search") {
        filters.insert("search".into(), search.into());
    }
    if let Some(status) = form.some("status") {
        filters.insert("status".into(), status.into());
    }
    if let Some(name) = form.some("tag") {
        let tag = audience::tag_named(visit, &audience.id, name).await?;
        let tag = tag.ok_or_else(|| wrong("tag", "This tag no longer exists, so nothing was changed."))?;
        filters.insert("tags".into(), json!([tag["id"]]));
    }
    Ok(json!({ "filters": filters, "segmentId": form.some("segment") }))
}

/// The form for a new contact.
async fn new(visit: &Visit) -> Result<Outcome, PageError> {
    visit.need(Permission::AudienceWrite)?;
    let Some(audience) = Audience::of(visit).await? else { return Ok(audience::none(visit, "New contact")) };
    form(visit, &audience, None).await
}

async fn form(visit: &Visit, audience: &Audience, error: Option<&PageError>) -> Result<Outcome, PageError> {
    let mut context = audience.context(visit, "New contact");
    context.append(&mut entered(&visit.form, &["email", "status", "tags"], None));
    context.append(&mut entered(&visit.form, &PROFILE, None));
    context.insert("custom".into(), custom_rows(visit, &audience.id, &Value::Null).await?);
    context.insert("statuses".into(), json!(STATUSES));
    context.insert("tag_names".into(), audience::tag_names(visit, &audience.id).await?.0.into());
    Ok(audience.page(visit, "contact_new.html", context, error))
}

/// Add a contact.
async fn add(visit: &Visit) -> Result<Outcome, PageError> {
    let Some(audience) = Audience::of(visit).await? else { return Err(PageError::not_found()) };
    let fields = &visit.form;
    let asked = match custom_sent(fields, &Value::Null) {
        Ok(custom) => {
            let mut input = json!({
                "projectId": audience.id, "email": fields.get("email"), "status": fields.some("status"),
                "tags": audience::names(fields.get("tags")), "customFields": custom,
            });
            for name in PROFILE {
                input[name] = json!(fields.some(name));
            }
            visit.ask("contacts.create", input).await
        }
        Err(error) => Err(error),
    };
    match asked {
        Ok(made) => {
            let path = format!("/{}/contacts/{}", visit.environment, made["id"].as_str().unwrap_or_default());
            Ok(Outcome::go(audience.path(&path, &[("done", "added")])))
        }
        Err(error) if audience::can_correct(&error) => {
            let field = if error.code == "CONTACT_EXISTS" { "email".to_owned() } else { error.field.clone() };
            form(visit, &audience, Some(&PageError { field, ..error })).await
        }
        Err(error) => Err(error),
    }
}
