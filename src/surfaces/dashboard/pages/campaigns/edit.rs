//! Making a campaign of a generated email, and changing one that has not begun.

use http::StatusCode;
use serde_json::{Map, Value, json};

use super::{around, audience, base, brand, campaign, items};
use crate::surfaces::dashboard::visit::{Outcome, Trouble, Visit, entered};

/// What the form is called in the page's own words: field of the form, field of the interface.
const FIELDS: [(&str, &str); 9] = [
    ("name", "name"),
    ("audience", "recipientId"),
    ("from", "from"),
    ("from_name", "fromName"),
    ("reply_to", "replyTo"),
    ("subject", "subject"),
    ("preheader", "preheaderText"),
    ("topic", "topicId"),
    ("unknown", "unknown"),
];
/// Generations to choose from; an older one is found on the page of emails.
const GENERATIONS: usize = 50;

/// The form for a new campaign; without an email, what it could be made of.
pub async fn new(visit: &Visit) -> Result<Outcome, Trouble> {
    match visit.query.some("emailId") {
        Some(email) => form_for(visit, email, None).await,
        None => choose(visit).await,
    }
}

/// Emails to choose from: of a brand, or of a series.
async fn choose(visit: &Visit) -> Result<Outcome, Trouble> {
    let projects = items(visit.ask("projects.list", json!({ "limit": 100 })).await, "projects");
    let wanted = visit.query.some("brand");
    let project = wanted.or_else(|| projects.first()?["id"].as_str());
    let mut context = json!({
        "title": "New campaign",
        "base": base(visit),
        "address": visit.api.0.base_url(),
        "brands": projects.iter().map(|project| json!({ "id": project["id"], "name": project["name"] })).collect::<Vec<_>>(),
        "brand": project,
        "generations": [],
        "emails": [],
    });
    if let Some(conversation) = visit.query.some("conversationId") {
        let status = visit.ask("emails.status", json!({ "conversationId": conversation })).await?;
        let emails: Vec<Value> = status["result"]["emails"].as_array().into_iter().flatten().map(brief).collect();
        if let [only] = emails.as_slice() {
            return Ok(Outcome::go(format!("{}/new?emailId={}", base(visit), only["id"].as_str().unwrap_or_default())));
        }
        context["emails"] = emails.into();
    } else if let Some(project) = project {
        let input = json!({ "projectId": project, "status": "completed", "limit": GENERATIONS });
        context["generations"] = items(Ok(visit.ask("emails.list", input).await?), "emails").into();
    }
    Ok(Outcome::page("campaign_choose.html", context))
}

/// An email as a line to choose.
fn brief(email: &Value) -> Value {
    json!({
        "id": email["id"], "subject": email["subject"], "slot": email["slot"], "language": email["language"], "status": email["status"],
    })
}

async fn form_for(visit: &Visit, email: &str, trouble: Option<Trouble>) -> Result<Outcome, Trouble> {
    let email = visit.ask("emails.get", json!({ "emailId": email })).await?;
    let project = &email["projectId"];
    let mut context = filled(&visit.form, trouble.as_ref());
    if visit.form.get("csrf").is_empty() {
        // As the last campaign of the brand was sent.
        let last = visit.ask("campaigns.overview", json!({ "projectId": project, "limit": 1 })).await.unwrap_or_default();
        let last = &last["campaigns"][0]["campaign"];
        for (field, name) in [("from", "from"), ("from_name", "fromName"), ("reply_to", "replyTo")] {
            context.insert(field.into(), last[name].as_str().unwrap_or_default().into());
        }
        context.insert("name".into(), email["subject"].clone());
        context.insert("audience".into(), "everyone".into());
    }
    context.insert("title".into(), "New campaign".into());
    context.insert("is_new".into(), true.into());
    context.insert("back".into(), format!("{}/new?brand={}", base(visit), project.as_str().unwrap_or_default()).into());
    context.insert("email".into(), json!({ "id": email["id"], "subject": email["subject"], "preheader": email["preheader"] }));
    context.insert("stray".into(), Value::Null);
    choices(visit, project, &mut context).await;
    Ok(page(context, trouble))
}

/// A new campaign.
pub async fn create(visit: &Visit) -> Result<Outcome, Trouble> {
    let email = visit.form.get("email");
    let mut input = entries(visit, &visit.ask("emails.get", json!({ "emailId": email })).await?["projectId"]);
    input.retain(|_, value| !value.is_null());
    input.insert("emailId".into(), email.into());
    match visit.ask("campaigns.create", Value::Object(input)).await {
        Ok(made) => Ok(Outcome::go(format!("{}/{}?done=created", base(visit), made["id"].as_str().unwrap_or_default()))),
        Err(trouble) if is_correctable(&trouble) => form_for(visit, email, Some(trouble)).await,
        Err(trouble) => Err(trouble),
    }
}

/// The form for a campaign that there is.
pub async fn show(visit: &Visit) -> Result<Outcome, Trouble> {
    edit(visit, None).await
}

async fn edit(visit: &Visit, trouble: Option<Trouble>) -> Result<Outcome, Trouble> {
    let campaign = campaign(visit).await?;
    let email = visit.ask("emails.get", json!({ "emailId": campaign["emailId"] })).await.unwrap_or_default();
    let mut context = filled(&visit.form, trouble.as_ref());
    if visit.form.get("csrf").is_empty() {
        for (field, name) in FIELDS {
            context.insert(field.into(), campaign[name].as_str().unwrap_or_default().into());
        }
        context.insert("audience".into(), chosen(&campaign).into());
        // The email's own are not the campaign's: left empty, they stay the email's.
        for (field, name, own) in [("subject", "subject", "subject"), ("preheader", "preheaderText", "preheader")] {
            if campaign[name] == email[own] {
                context.insert(field.into(), "".into());
            }
        }
    }
    context.extend(around(&campaign, "edit"));
    context.insert("is_new".into(), false.into());
    context.insert("back".into(), format!("{}/{}", base(visit), visit.name("id")).into());
    context.insert(
        "email".into(),
        json!({ "id": campaign["emailId"], "subject": email["subject"], "preheader": email["preheader"] }),
    );
    // A segment or tag that is not among those to choose from stays one to choose.
    context.insert("stray".into(), json!({ "value": chosen(&campaign), "label": audience(visit, &campaign).await["name"] }));
    choices(visit, &campaign["projectId"], &mut context).await;
    Ok(page(context, trouble))
}

/// Keep what was changed.
pub async fn change(visit: &Visit) -> Result<Outcome, Trouble> {
    let campaign = campaign(visit).await?;
    let mut input = entries(visit, &campaign["projectId"]);
    input.insert("id".into(), visit.name("id").into());
    // Of these there is always one.
    input.retain(|name, value| !(value.is_null() && matches!(name.as_str(), "name" | "from" | "fromName")));
    match visit.ask("campaigns.update", Value::Object(input)).await {
        Ok(_) => Ok(Outcome::go(format!("{}/{}?done=changed", base(visit), visit.name("id")))),
        Err(trouble) if is_correctable(&trouble) => edit(visit, Some(trouble)).await,
        Err(trouble) => Err(trouble),
    }
}

fn is_correctable(trouble: &Trouble) -> bool {
    matches!(trouble.status, StatusCode::BAD_REQUEST | StatusCode::CONFLICT)
}

/// What was entered, and what is wrong with it, by the fields of the form.
fn filled(form: &crate::surfaces::dashboard::forms::Fields, trouble: Option<&Trouble>) -> Map<String, Value> {
    let mut context = entered(form, &FIELDS.map(|(field, _)| field), trouble);
    let field = trouble.map_or("", |trouble| trouble.field.as_str());
    let field = if field == "recipientType" { "recipientId" } else { field };
    let own = FIELDS.iter().find(|(_, name)| *name == field).map_or(field, |(own, _)| own);
    context.insert("wrong_field".into(), own.into());
    context
}

/// What the form says, by the names of the interface; what is empty is null.
fn entries(visit: &Visit, project: &Value) -> Map<String, Value> {
    let form = &visit.form;
    let mut input: Map<String, Value> = FIELDS
        .iter()
        .filter(|(field, _)| *field != "audience")
        .map(|(field, name)| ((*name).to_owned(), form.some(field).map_or(Value::Null, Value::from)))
        .collect();
    let (kind, id) = form.get("audience").split_once(':').unwrap_or((form.get("audience"), ""));
    let (kind, id) = if kind == "everyone" { ("audience", project.clone()) } else { (kind, id.into()) };
    input.insert("projectId".into(), project.clone());
    input.insert("recipientType".into(), kind.into());
    input.insert("recipientId".into(), id);
    input
}

/// Whom a campaign is for, as the form's select says it.
fn chosen(campaign: &Value) -> String {
    match campaign["recipientType"].as_str() {
        Some("audience") if campaign["recipientId"] == campaign["projectId"] => "everyone".into(),
        kind => format!("{}:{}", kind.unwrap_or("segment"), campaign["recipientId"].as_str().unwrap_or_default()),
    }
}

/// What there is to choose from.
async fn choices(visit: &Visit, project: &Value, context: &mut Map<String, Value>) {
    let of = json!({ "projectId": project, "limit": 100 });
    let segments = items(visit.ask("segments.list", of.clone()).await, "segments");
    let tags = items(
        visit.ask("tags.list", json!({ "projectId": project, "limit": 100, "sortBy": "name", "sortOrder": "asc" })).await,
        "tags",
    );
    let topics = items(visit.ask("topics.list", of).await, "topics");
    let domains = visit.ask("domains.list", json!({})).await.unwrap_or_default();
    let verified = domains.as_array().into_iter().flatten().filter(|domain| domain["isVerified"] == true);
    let names: Vec<Value> = verified.map(|domain| domain["domain"].clone()).collect();
    let all: Vec<String> = segments
        .iter()
        .map(|segment| format!("segment:{}", segment["id"].as_str().unwrap_or_default()))
        .chain(tags.iter().map(|tag| format!("tag:{}", tag["id"].as_str().unwrap_or_default())))
        .chain(["everyone".to_owned()])
        .collect();
    if context["stray"]["value"].as_str().is_some_and(|stray| all.iter().any(|value| value == stray)) {
        context.insert("stray".into(), Value::Null);
    }
    let line = |item: &Value, count: &str| json!({ "id": item["id"], "name": item["name"], "count": item[count] });
    context.insert("segments".into(), segments.iter().map(|segment| line(segment, "count")).collect());
    context.insert("tags".into(), tags.iter().map(|tag| line(tag, "subscriberCount")).collect());
    context.insert("topics".into(), topics.iter().map(|topic| line(topic, "")).collect());
    context.insert("domains".into(), names.into());
    context.insert("brand".into(), brand(visit, project).await);
}

fn page(context: Map<String, Value>, trouble: Option<Trouble>) -> Outcome {
    match trouble {
        Some(trouble) => Outcome::again("campaign_edit.html", Value::Object(context), &trouble),
        None => Outcome::page("campaign_edit.html", Value::Object(context)),
    }
}
