//! Creates a campaign from a generated email, and edits one that has not started.

use http::StatusCode;
use serde_json::{Map, Value, json};

use super::form::{changes, chosen, entries, filled, shown};
use super::{around, audience, base, brand, campaign, items};
use crate::surfaces::dashboard::forms::Fields;
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit};
use crate::vocab::permissions::Permission;

/// Generations to choose from; older ones are on the emails page.
const GENERATIONS: usize = 50;

/// Shows the form for a new campaign or, without an email, the emails to choose from.
pub async fn new(visit: &Visit) -> Result<Outcome, PageError> {
    visit.need(Permission::CampaignWrite)?;
    match visit.query.some("emailId") {
        Some(email) => form_for(visit, email, None).await,
        None => choose(visit, &format!("{}/new", base(visit)), None).await,
    }
}

/// Shows the emails of a brand or series to choose from, for the form at `target`; `campaign` is the one to change.
async fn choose(visit: &Visit, target: &str, campaign: Option<&Value>) -> Result<Outcome, PageError> {
    let mut projects = items(visit.ask("projects.list", json!({ "limit": 100 })).await, "projects");
    // A campaign stays in its brand.
    projects.retain(|project| campaign.is_none_or(|campaign| project["id"] == campaign["projectId"]));
    let own = campaign.and_then(|campaign| campaign["projectId"].as_str());
    let wanted = own.or_else(|| visit.query.some("brand"));
    let project = wanted.or_else(|| projects.first()?["id"].as_str());
    let mut context = json!({
        "title": if campaign.is_some() { "Choose another email" } else { "New campaign" },
        "base": base(visit),
        "target": target,
        "address": visit.api.0.base_url(),
        "brands": projects.iter().map(|project| json!({ "id": project["id"], "name": project["name"] })).collect::<Vec<_>>(),
        "brand": project,
        "generations": [],
        "emails": [],
    });
    if let Some(conversation) = visit.query.some("conversationId") {
        let status = visit.ask("emails.status", json!({ "conversationId": conversation })).await?;
        let emails = places(status["result"]["emails"].as_array().map_or(&[][..], Vec::as_slice));
        if let [only] = emails.as_slice() {
            return Ok(Outcome::go(format!("{target}?emailId={}", only["id"].as_str().unwrap_or_default())));
        }
        context["emails"] = emails.into();
    } else if let Some(project) = project {
        let input = json!({ "projectId": project, "status": "completed", "limit": GENERATIONS });
        context["generations"] = items(Ok(visit.ask("emails.list", input).await?), "emails").into();
    }
    Ok(Outcome::page("campaign_choose.html", context))
}

/// Returns the emails of a series as choices: one per position, with its languages.
fn places(emails: &[Value]) -> Vec<Value> {
    let places = emails.chunk_by(|left, right| left["slot"] == right["slot"]);
    let line = |place: &[Value]| {
        let languages: Vec<&Value> = place.iter().map(|email| &email["language"]).collect();
        let Value::Object(email) = &place[0] else { return Value::Null };
        let mut line: Map<String, Value> = email.clone();
        line.retain(|name, _| ["id", "subject", "slot", "status"].contains(&name.as_str()));
        line.insert("languages".into(), json!(languages));
        Value::Object(line)
    };
    places.map(line).collect()
}

/// Returns the email of the form, with the languages of its position in the series.
fn brief(email: &Value) -> Value {
    let series = email["series"].as_array().into_iter().flatten();
    let ready = series.filter(|other| other["slot"] == email["slot"] && other["status"] == "ready");
    let languages: Vec<&Value> = ready.map(|other| &other["language"]).collect();
    json!({
        "id": email["id"], "subject": email["subject"], "preheader": email["preheader"], "language": email["language"],
        "languages": languages,
    })
}

async fn form_for(visit: &Visit, email: &str, error: Option<PageError>) -> Result<Outcome, PageError> {
    let email = visit.ask("emails.get", json!({ "emailId": email })).await?;
    let project = &email["projectId"];
    let mut context = filled(&visit.form, error.as_ref());
    if visit.form.get("csrf").is_empty() {
        let project = visit.ask("projects.get", json!({ "projectId": project })).await.unwrap_or_default();
        let sender = &project["defaultSender"];
        for (field, name) in [("from", "from"), ("from_name", "fromName"), ("reply_to", "replyTo")] {
            context.insert(field.into(), sender[name].as_str().unwrap_or_default().into());
        }
        context.insert("name".into(), email["subject"].clone());
        context.insert("audience".into(), "everyone".into());
    }
    context.insert("title".into(), "New campaign".into());
    context.insert("is_new".into(), true.into());
    context.insert("back".into(), format!("{}/new?brand={}", base(visit), project.as_str().unwrap_or_default()).into());
    context.insert("email".into(), brief(&email));
    context.insert("stray".into(), Value::Null);
    choices(visit, project, &mut context).await;
    Ok(page(context, error))
}

/// Creates a campaign.
pub async fn create(visit: &Visit) -> Result<Outcome, PageError> {
    let email = visit.form.get("email");
    let mut found = visit.ask("emails.get", json!({ "emailId": email })).await?;
    let (project, conversation) = (found["projectId"].take(), found["conversationId"].take());
    let mut input = match entries(&visit.form, &project) {
        Ok(input) => input,
        Err(error) => return form_for(visit, email, Some(error)).await,
    };
    input.retain(|_, value| !value.is_null());
    // With its conversation, each recipient gets the email in their language.
    input.insert("conversationId".into(), conversation);
    input.insert("emailId".into(), email.into());
    input.insert("projectId".into(), project);
    match visit.ask("campaigns.create", Value::Object(input)).await {
        Ok(made) => Ok(Outcome::go(format!("{}/{}?done=created", base(visit), made["id"].as_str().unwrap_or_default()))),
        Err(error) if is_correctable(&error) => form_for(visit, email, Some(error)).await,
        Err(error) => Err(error),
    }
}

/// Shows the form of an existing campaign, or the emails to choose from instead of its own.
pub async fn show(visit: &Visit) -> Result<Outcome, PageError> {
    visit.need(Permission::CampaignWrite)?;
    let campaign = campaign(visit).await?;
    if visit.query.some("choose").is_some() || visit.query.some("conversationId").is_some() {
        return choose(visit, &format!("{}/{}/edit", base(visit), visit.name("id")), Some(&campaign)).await;
    }
    edit(visit, campaign, None).await
}

async fn edit(visit: &Visit, campaign: Value, error: Option<PageError>) -> Result<Outcome, PageError> {
    let own = campaign["emailId"].as_str().unwrap_or_default();
    let wanted = visit.form.some("email").or_else(|| visit.query.some("emailId")).unwrap_or(own);
    let email = match visit.ask("emails.get", json!({ "emailId": wanted })).await {
        Ok(email) => email,
        Err(_) if wanted == own => Value::Null,
        Err(error) => return Err(error),
    };
    let mut context = filled(&visit.form, error.as_ref());
    if visit.form.get("csrf").is_empty() {
        let before = own_email(visit, &campaign).await;
        context.extend(shown(&campaign, &before).into_iter().map(|(field, value)| (field, value.into())));
    }
    context.extend(around(&campaign, "edit"));
    context.insert("is_new".into(), false.into());
    context.insert("back".into(), format!("{}/{}", base(visit), visit.name("id")).into());
    let email = if email.is_null() { json!({ "id": wanted, "languages": [] }) } else { brief(&email) };
    context.insert("email".into(), email);
    // A segment or tag that is not listed stays available.
    context.insert("stray".into(), json!({ "value": chosen(&campaign), "label": audience(visit, &campaign).await["name"] }));
    choices(visit, &campaign["projectId"], &mut context).await;
    Ok(page(context, error))
}

/// Returns a campaign's email; null if the user may not read it.
async fn own_email(visit: &Visit, campaign: &Value) -> Value {
    visit.ask("emails.get", json!({ "emailId": campaign["emailId"] })).await.unwrap_or_default()
}

/// Saves only the changes; what the form does not show stays as it is.
pub async fn change(visit: &Visit) -> Result<Outcome, PageError> {
    let campaign = campaign(visit).await?;
    let project = &campaign["projectId"];
    let mut before = entries(&Fields::of(shown(&campaign, &own_email(visit, &campaign).await)), project)?;
    before.insert("emailId".into(), campaign["emailId"].clone());
    let mut input = match entries(&visit.form, project) {
        Ok(input) => input,
        Err(error) => return edit(visit, campaign, Some(error)).await,
    };
    input.insert("emailId".into(), visit.form.some("email").map_or(campaign["emailId"].clone(), Value::from));
    let mut input = changes(input, &before);
    // These are required.
    for name in ["name", "from", "fromName"] {
        if input.get(name).is_some_and(Value::is_null) {
            input.insert(name.into(), "".into());
        }
    }
    if input.get("variables").is_some_and(Value::is_null) {
        input.insert("variables".into(), json!({}));
    }
    if let Some(email) = input.get("emailId").cloned() {
        let found = visit.ask("emails.get", json!({ "emailId": email })).await?;
        input.insert("conversationId".into(), found["conversationId"].clone());
    }
    input.insert("id".into(), visit.name("id").into());
    match visit.ask("campaigns.update", Value::Object(input)).await {
        Ok(_) => Ok(Outcome::go(format!("{}/{}?done=changed", base(visit), visit.name("id")))),
        Err(error) if is_correctable(&error) => edit(visit, campaign, Some(error)).await,
        Err(error) => Err(error),
    }
}

fn is_correctable(error: &PageError) -> bool {
    matches!(error.status, StatusCode::BAD_REQUEST | StatusCode::CONFLICT)
}

/// Adds the choices of the form.
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
    let mut topics: Vec<Value> = topics.iter().map(|topic| line(topic, "")).collect();
    // A topic that is no longer offered stays the campaign's own.
    if let Some(own) = context["topic"].as_str().filter(|own| !own.is_empty() && topics.iter().all(|topic| topic["id"] != *own)) {
        let name = visit.ask("topics.get", json!({ "id": own, "projectId": project })).await.unwrap_or_default()["name"].take();
        topics.push(json!({ "id": own, "name": if name.is_null() { own.into() } else { name } }));
    }
    context.insert("topics".into(), topics.into());
    context.insert("domains".into(), names.into());
    context.insert("brand".into(), brand(visit, project).await);
}

fn page(context: Map<String, Value>, error: Option<PageError>) -> Outcome {
    match error {
        Some(error) => Outcome::again("campaign_edit.html", Value::Object(context), &error),
        None => Outcome::page("campaign_edit.html", Value::Object(context)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_of_a_series_is_one_line_with_its_languages() {
        let email = |id: &str, slot: u8, language: &str| json!({ "id": id, "slot": slot, "language": language, "status": "ready", "subject": format!("Subject {id}"), "html": "<p>" });
        let lines = places(&[email("a", 1, "en"), email("b", 1, "de"), email("c", 2, "en")]);
        let line = |id: &str, slot: u8, languages: &[&str]| json!({ "id": id, "slot": slot, "status": "ready", "subject": format!("Subject {id}"), "languages": languages });
        assert_eq!(lines, [line("a", 1, &["en", "de"]), line("c", 2, &["en"])]);
        assert_eq!(places(&[]), [Value::Null; 0]);
    }
}
