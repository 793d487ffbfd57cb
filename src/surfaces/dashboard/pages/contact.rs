//! The page about a contact: profile, subscriptions and timeline.

use http::header::{CONTENT_DISPOSITION, HeaderValue};
use serde::Serialize;
use serde_json::{Value, json};

use super::audience::{self, Audience, AudienceContext};
use super::contact_form::{CustomRow, ProfileRow, STATUSES, custom_rows, custom_sent, profile_rows, read_profile};
use crate::engine::api::Done;
use crate::engine::api::response::WireTime;
use crate::features::contact_records::ContactView;
use crate::features::contacts::ops::topics::TopicChoice;
use crate::features::tracking::ops::timeline::{TimelineEntry, TimelineKind};
use crate::features::{contacts, tracking};
use crate::surfaces::dashboard::template::{self, page_context};
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};
use crate::vocab::ids::CampaignId;

/// The number of timeline entries on a page.
const ENTRIES: u64 = 30;
#[derive(Serialize)]
pub struct ContactPage {
    #[serde(flatten)]
    audience: AudienceContext,
    profile: Vec<ProfileRow>,
    custom: Vec<CustomRow>,
    /// The cursor for older timeline entries; `None` if there are none.
    more: Option<String>,
    /// Whether the page shows older timeline entries instead of the newest ones.
    older: bool,
    entries: Vec<HistoryEntry>,
    contact: ContactView,
    topics: Vec<TopicChoice>,
    statuses: &'static [(&'static str, &'static str)],
    tag_names: Vec<String>,
    tag: String,
}

#[derive(Serialize)]
struct HistoryEntry {
    at: WireTime,
    kind: TimelineKind,
    text: String,
    subject: Option<String>,
    detail: Option<String>,
    campaign: Option<CampaignId>,
    order: Option<String>,
    facts: Vec<Fact>,
    /// The order's amount in `currency`, as the event contains it.
    value: Value,
    currency: String,
}

#[derive(Serialize)]
struct Fact {
    name: String,
    value: String,
}

page_context!(ContactPage, "contact.html", {
    use crate::engine::api::Operation;
    use crate::features::suppressions::Reason;

    let contact = ContactView::sample;
    let history = || tracking::ops::timeline::Timeline::example().1.0;
    let choices = || contacts::ops::topics::Topics::example().1.0.topics;
    let page = |contact: ContactView| Self {
        audience: AudienceContext::sample(&contact.email),
        profile: profile_rows(|_| ""),
        custom: CustomRow::samples(),
        more: Some("0123".into()),
        older: true,
        entries: history().entries.into_iter().map(entry).collect(),
        contact,
        topics: choices(),
        statuses: &STATUSES,
        tag_names: vec!["vip".into()],
        tag: String::new(),
    };
    let bare = ContactView { tags: Vec::new(), unsubscribed_at: Some(contact().created_at), ..contact() };
    let suppressed = |reason| ContactView { suppression: Some(reason), ..contact() };
    vec![
        page(contact()),
        Self { topics: Vec::new(), more: None, ..page(bare) },
        page(suppressed(Reason::BounceHard)),
        page(suppressed(Reason::Unsubscribe)),
    ]
});

pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    let Some(audience) = Audience::having::<contacts::ops::project::Project>(visit, |Done(it)| it.project_id).await? else {
        return Err(PageError::not_found());
    };
    draw(visit, &audience, None).await
}

fn asked(visit: &Visit, audience: &Audience) -> Value {
    json!({ "id": visit.path_parameter("id"), "projectId": audience.id })
}

async fn draw(visit: &Visit, audience: &Audience, error: Option<&PageError>) -> Result<PageResponse, PageError> {
    let project = &audience.id;
    let Done(contact) = visit.ask::<contacts::ops::get::Get>(asked(visit, audience)).await?;
    let Done(choices) = visit.ask::<contacts::ops::topics::Topics>(asked(visit, audience)).await?;
    let mut part = asked(visit, audience);
    (part["limit"], part["cursor"]) = (ENTRIES.into(), json!(visit.query.some("cursor")));
    let Done(timeline) = visit.ask::<tracking::ops::timeline::Timeline>(part).await?;
    let saving = error.is_some() && visit.form.get("act") == "save";
    let now = template::context(&contact);
    let value = |key: &str| if saving { visit.form.get(key) } else { now[key].as_str().unwrap_or_default() };
    let context = ContactPage {
        audience: audience.context(visit, &contact.email),
        profile: profile_rows(value),
        custom: custom_rows(visit, project, &now["customFields"]).await?,
        more: timeline.next_cursor,
        older: !visit.query.get("cursor").is_empty(),
        entries: timeline.entries.into_iter().map(entry).collect(),
        contact,
        topics: choices.topics,
        statuses: &STATUSES,
        tag_names: audience::tag_names(visit, project).await?.0,
        tag: visit.form.get("tag").to_owned(),
    };
    Ok(audience.finish(visit, PageResponse::draw_with(&context, error)))
}

/// Converts a timeline entry to its text and details for the page.
fn entry(entry: TimelineEntry) -> HistoryEntry {
    let event = template::context(&entry.event);
    let text = match entry.kind {
        TimelineKind::Created => "Added",
        TimelineKind::Sent => "Sent",
        TimelineKind::Opened => "Opened",
        TimelineKind::Clicked => "Clicked a link in",
        TimelineKind::Bounced => "Bounced",
        TimelineKind::Complained => "Reported as spam",
        TimelineKind::Unsubscribed => "Unsubscribed",
        TimelineKind::Event => event["name"].as_str().unwrap_or_default(),
    };
    let properties = event["properties"].as_object();
    let first = |names: &[&str]| names.iter().find_map(|name| properties?.get(*name)).cloned().unwrap_or_default();
    let is_shown = |name: &str| !["value", "total", "amount", "currency"].contains(&name);
    let plain = |(name, value): (&String, &Value)| {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(_) | Value::Bool(_) => value.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => return None,
        };
        is_shown(name).then(|| Fact { name: name.clone(), value: text.chars().take(200).collect() })
    };
    HistoryEntry {
        at: entry.at,
        kind: entry.kind,
        text: text.to_owned(),
        subject: entry.subject,
        detail: entry.detail,
        campaign: entry.campaign_id,
        order: event["identifiers"]["externalOrderId"].as_str().map(str::to_owned),
        facts: properties.into_iter().flatten().filter_map(plain).take(6).collect(),
        value: first(&["value", "total", "amount"]),
        currency: first(&["currency"]).as_str().unwrap_or_default().to_owned(),
    }
}

pub async fn send(visit: &Visit) -> Result<PageResponse, PageError> {
    let Some(audience) = Audience::of(visit).await? else { return Err(PageError::not_found()) };
    match act(visit, &audience).await {
        Ok(()) if visit.form.get("act") == "erase" => {
            let list = format!("/{}/contacts", visit.environment);
            Ok(PageResponse::redirect(audience.path(&list, &[("done", "erase"), ("changed", "1")])))
        }
        Ok(()) => Ok(PageResponse::redirect(audience.path(&visit.path, &[("done", visit.form.get("act"))]))),
        Err(error) if audience::can_correct(&error) => draw(visit, &audience, Some(&error)).await,
        Err(error) => Err(error),
    }
}

async fn act(visit: &Visit, audience: &Audience) -> Result<(), PageError> {
    let (form, mut input) = (&visit.form, asked(visit, audience));
    let changed =
        |what: &str, value: Value| json!({ "projectId": audience.id, "ids": [visit.path_parameter("id")], what: value });
    match form.get("act") {
        "save" => {
            let Done(contact) = visit.ask::<contacts::ops::get::Get>(input.clone()).await?;
            read_profile(form, &mut input);
            let custom = custom_sent(form, &template::context(&contact.custom_fields))?;
            if !custom.is_empty() {
                input["customFields"] = custom.into();
            }
            visit.ask::<contacts::ops::update::Update>(input).await?;
        }
        "status" => {
            input["status"] = form.get("status").into();
            visit.ask::<contacts::ops::update::Update>(input).await?;
        }
        "tag" => {
            let names = audience::names(form.get("tag"));
            if names.is_empty() {
                let error = PageError::plain(http::StatusCode::BAD_REQUEST, "Enter a tag first.");
                return Err(PageError { field: "tag".into(), ..error });
            }
            let Done(done) = visit.ask::<contacts::ops::bulk_change::BulkChange>(changed("addTags", json!(names))).await?;
            if let Some(error) = done.result.as_ref().and_then(|result| result.errors.first()) {
                return Err(PageError::plain(http::StatusCode::BAD_REQUEST, &error.error).in_field("tag"));
            }
        }
        "untag" => {
            visit.ask::<contacts::ops::bulk_change::BulkChange>(changed("removeTags", json!([form.get("name")]))).await?;
        }
        "topic-on" | "topic-off" => {
            let choice = json!({ "id": form.get("topic"), "subscriberId": visit.path_parameter("id"), "projectId": audience.id });
            match form.get("act") {
                "topic-on" => visit.ask::<contacts::ops::topic_subscribe::TopicSubscribe>(choice).await.map(drop)?,
                _ => visit.ask::<contacts::ops::topic_unsubscribe::TopicUnsubscribe>(choice).await.map(drop)?,
            }
        }
        "erase" if form.get("sure").is_empty() => {
            let message = "To erase the contact, select “Permanently erase this contact's data”.";
            return Err(PageError { field: "sure".into(), ..PageError::plain(http::StatusCode::BAD_REQUEST, message) });
        }
        "erase" => {
            visit.ask::<contacts::ops::delete::Delete>(input).await?;
        }
        _ => return Err(PageError::unknown_action()),
    }
    Ok(())
}

/// Serves all stored data of the contact as a download.
pub async fn data(visit: &Visit) -> Result<PageResponse, PageError> {
    let Some(audience) = Audience::having::<contacts::ops::project::Project>(visit, |Done(it)| it.project_id).await? else {
        return Err(PageError::not_found());
    };
    let mut response = visit.forward::<tracking::ops::personal_data::PersonalData>(asked(visit, &audience)).await?;
    if let PageResponse::Forwarded(reply) = &mut response {
        let id: String = visit.path_parameter("id").chars().filter(char::is_ascii_alphanumeric).collect();
        let name = HeaderValue::from_str(&format!("attachment; filename=\"contact-{id}.json\""));
        reply.headers.insert(CONTENT_DISPOSITION, name.expect("a contact ID has only letters and digits"));
    }
    Ok(response)
}
