//! The pages about webhooks: the endpoints that receive events, their health, and the deliveries.

use http::StatusCode;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::engine::api::page::Pagination;
use crate::engine::api::{Created, Done};
use crate::features::webhooks;
use crate::features::webhooks::ops::stats::StatsView;
use crate::features::webhooks::ops::test::WebhookTested;
use crate::features::webhooks::views::{DeliveryView, WebhookView, WebhookWithSecret};
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};

const HOUR_MS: i64 = 60 * 60 * 1000;
/// The number of deliveries on a page. It is small, because each delivery lists its attempts.
const DELIVERIES_SHOWN: u32 = 20;

#[derive(Serialize)]
struct WebhookForm {
    act: String,
    url: String,
    description: String,
    headers: String,
    standard: &'static str,
    events: Vec<EventChoice>,
}

#[derive(Serialize)]
struct EventChoice {
    #[serde(rename = "type")]
    kind: String,
    description: &'static str,
    #[serde(rename = "optIn")]
    opt_in: bool,
    chosen: bool,
}

#[derive(Serialize)]
pub struct WebhooksPage {
    #[serde(flatten)]
    form: WebhookForm,
    webhooks: Vec<WebhookView>,
    stats: StatsView,
    made: Option<WebhookWithSecret>,
}

#[derive(Serialize)]
pub struct WebhookPage {
    #[serde(flatten)]
    form: WebhookForm,
    webhook: WebhookView,
    from: String,
    to: String,
    made: Option<WebhookWithSecret>,
    tested: Option<WebhookTested>,
    deliveries: Vec<DeliveryView>,
    pagination: Pagination,
    status: &'static str,
    /// Whether the page refreshes itself because a delivery is in progress.
    moves: bool,
}

#[cfg(test)]
impl WebhookForm {
    fn sample(act: &str) -> Self {
        let event =
            |kind: &str, chosen| EventChoice { kind: kind.into(), description: "A contact was added.", opt_in: chosen, chosen };
        Self {
            act: act.into(),
            url: "https://acme.example/hooks".into(),
            description: String::new(),
            headers: "X-Shop: 7".into(),
            standard: "yes",
            events: vec![event("subscriber.added", true), event("campaign.sent", false)],
        }
    }
}

#[cfg(test)]
fn with_secret() -> WebhookWithSecret {
    WebhookWithSecret { webhook: WebhookView::sample(), secret: "whsec_AAAA".into() }
}

page_context!(WebhooksPage, "webhooks.html", {
    use crate::engine::api::Operation;

    let stats = || webhooks::ops::stats::Stats::example().1.0;
    let page = |webhooks, stats, made| Self { form: WebhookForm::sample("create"), webhooks, stats, made };
    let paused = WebhookView { paused_until: WebhookView::sample().last_triggered_at, ..WebhookView::sample() };
    let off = WebhookView { active: false, description: None, ..WebhookView::sample() };
    let none = StatsView { success_rate: None, average_response_time: None, days: Vec::new(), ..stats() };
    vec![
        page(vec![WebhookView::sample(), paused, off], stats(), Some(with_secret())),
        page(vec![WebhookView::sample()], none, None),
        page(Vec::new(), stats(), None),
    ]
});

page_context!(WebhookPage, "webhook.html", {
    use crate::engine::api::Operation;
    use crate::features::webhooks::model::{DeliveryStatus, PauseReason};

    let delivery = DeliveryView::sample;
    let page = |act: &str| Self {
        form: WebhookForm::sample(act),
        webhook: WebhookView::sample(),
        from: "2026-01-31T10:05".into(),
        to: String::new(),
        made: None,
        tested: None,
        deliveries: vec![delivery(), DeliveryView { status: DeliveryStatus::Pending, attempt_log: Vec::new(), ..delivery() }],
        pagination: Pagination::sample(),
        status: "",
        moves: true,
    };
    let at = WebhookView::sample().last_triggered_at;
    let paused = |reason| WebhookView {
        paused_until: at,
        pause_reason: Some(reason),
        previous_secret_expires_at: at,
        ..WebhookView::sample()
    };
    let tested = webhooks::ops::test::Test::example().1.0;
    vec![
        Self { tested: Some(tested), ..page("") },
        Self { made: Some(with_secret()), webhook: paused(PauseReason::Gone), ..page("rotate") },
        Self { deliveries: Vec::new(), status: "failed", ..page("update") },
        Self { deliveries: Vec::new(), ..page("redeliver") },
    ]
});

pub async fn show_all(visit: &Visit) -> Result<PageResponse, PageError> {
    all(visit, None, None).await
}

async fn all(visit: &Visit, made: Option<WebhookWithSecret>, error: Option<PageError>) -> Result<PageResponse, PageError> {
    let listed = visit.ask::<webhooks::ops::list::List>(json!({ "limit": 100 })).await?;
    let Done(stats) = visit.ask::<webhooks::ops::stats::Stats>(json!({})).await?;
    // After a webhook is created, the form is empty again, so that the user does not submit it twice.
    let chosen = if made.is_some() { Vec::new() } else { visit.form.all("event") };
    let mut form = entered(visit, &chosen).await?;
    if made.is_some() {
        form.url.clear();
        form.description.clear();
        form.headers.clear();
        form.standard = "";
    }
    let context = WebhooksPage { form, webhooks: listed.items, stats, made };
    Ok(PageResponse::draw_with(&context, error.map(in_form).as_ref()))
}

/// Creates a webhook. Its secret is shown only in this response.
pub async fn create(visit: &Visit) -> Result<PageResponse, PageError> {
    let made = match wanted(visit) {
        Ok(input) => visit.ask::<webhooks::ops::create::Create>(input).await,
        Err(error) => Err(error),
    };
    match made {
        Ok(Created(made)) => all(visit, Some(made), None).await,
        Err(error) if is_to_correct(&error) => all(visit, None, Some(error)).await,
        Err(error) => Err(error),
    }
}

/// The result of the action that the user has just submitted. Only the next response shows it.
#[derive(Default)]
struct ActionResult {
    made: Option<WebhookWithSecret>,
    tested: Option<WebhookTested>,
}

pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    one(visit, ActionResult::default(), None).await
}

async fn one(visit: &Visit, result: ActionResult, error: Option<PageError>) -> Result<PageResponse, PageError> {
    let id = visit.path_parameter("id");
    let Done(webhook) = visit.ask::<webhooks::ops::get::Get>(json!({ "webhookId": id })).await?;
    let status = ["pending", "success", "failed", "cancelled"].into_iter().find(|word| *word == visit.query.get("status"));
    let input = json!({ "webhookId": id, "status": status, "limit": DELIVERIES_SHOWN, "page": visit.page() });
    let found = visit.ask::<webhooks::ops::deliveries::Deliveries>(input).await?;
    let is_pending = |delivery: &DeliveryView| delivery.completed_at.is_none();
    let moves = found.items.iter().any(is_pending) || webhook.redelivery.as_ref().is_some_and(|it| it.completed_at.is_none());
    let is_sent = visit.form.get("act") == "update";
    let chosen: Vec<&str> =
        if is_sent { visit.form.all("event") } else { webhook.events.iter().map(|event| event.word()).collect() };
    let mut form = entered(visit, &chosen).await?;
    if !is_sent {
        let line = |(name, value): (&String, &String)| format!("{name}: {value}");
        form.url = webhook.url.clone();
        form.description = webhook.description.clone().unwrap_or_default();
        form.headers = webhook.custom_headers.iter().map(line).collect::<Vec<_>>().join("\n");
        form.standard = if webhook.standard_signature { "yes" } else { "" };
    }
    let yesterday = visit.api.0.clock.now().plus_ms(-24 * HOUR_MS);
    let context = WebhookPage {
        form,
        webhook,
        from: visit.form.some("from").map_or_else(|| local(yesterday), str::to_owned),
        to: visit.form.get("to").to_owned(),
        made: result.made,
        tested: result.tested,
        pagination: found.pagination(),
        deliveries: found.items,
        status: status.unwrap_or_default(),
        moves,
    };
    Ok(PageResponse::draw_with(&context, error.map(in_form).as_ref()))
}

pub async fn send(visit: &Visit) -> Result<PageResponse, PageError> {
    let (form, id) = (&visit.form, visit.path_parameter("id"));
    let which = json!({ "webhookId": id });
    let act = form.get("act");
    let result = match act {
        "update" => update(visit).await.map(|()| ActionResult::default()),
        "on" | "off" => {
            let input = json!({ "webhookId": id, "active": act == "on" });
            visit.ask::<webhooks::ops::update::Update>(input).await.map(|_| ActionResult::default())
        }
        "test" => {
            let tested = visit.ask::<webhooks::ops::test::Test>(which).await;
            tested.map(|Done(tested)| ActionResult { tested: Some(tested), made: None })
        }
        "rotate" => {
            let input = json!({ "webhookId": id, "graceHours": hours(form.get("grace")) });
            let made = visit.ask::<webhooks::ops::rotate_secret::RotateSecret>(input).await;
            made.map(|Done(made)| ActionResult { made: Some(made), tested: None })
        }
        "retry" => {
            let input = json!({ "webhookId": id, "deliveryId": form.get("delivery") });
            visit.ask::<webhooks::ops::retry::Retry>(input).await.map(|_| ActionResult::default())
        }
        "redeliver" => {
            let to = form.some("to").map(moment);
            let input = json!({ "webhookId": id, "from": moment(form.get("from")), "to": to, "all": form.get("all") == "yes" });
            visit.ask::<webhooks::ops::redeliver::Redeliver>(input).await.map(|_| ActionResult::default())
        }
        "delete" => {
            visit.ask::<webhooks::ops::delete::Delete>(which).await?;
            return Ok(PageResponse::redirect(format!("/{}/settings/webhooks?done=delete", visit.environment)));
        }
        _ => return Err(PageError::unknown_action()),
    };
    match result {
        Ok(result) if result.made.is_some() || result.tested.is_some() => one(visit, result, None).await,
        Ok(_) => Ok(PageResponse::redirect(format!("{}?done={act}", visit.path))),
        Err(error) if is_to_correct(&error) => one(visit, ActionResult::default(), Some(error)).await,
        Err(error) => Err(error),
    }
}

async fn update(visit: &Visit) -> Result<(), PageError> {
    let mut input = wanted(visit)?;
    input["webhookId"] = visit.path_parameter("id").into();
    visit.ask::<webhooks::ops::update::Update>(input).await.map(drop)
}

/// Returns the form's values as an operation's input.
fn wanted(visit: &Visit) -> Result<Value, PageError> {
    let form = &visit.form;
    Ok(json!({
        "url": form.get("url"), "events": form.all("event"), "description": form.some("description"),
        "customHeaders": headers(form.get("headers"))?, "standardSignature": form.get("standard") == "yes",
    }))
}

/// Parses header lines of the form `Name: value`.
fn headers(text: &str) -> Result<Value, PageError> {
    let mut headers = Map::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let Some((name, value)) = line.split_once(':') else {
            let message = "Enter each header on its own line, like “X-Shop: 7”.";
            return Err(PageError { field: "customHeaders".into(), ..PageError::plain(StatusCode::BAD_REQUEST, message) });
        };
        headers.insert(name.trim().to_owned(), value.trim().into());
    }
    Ok(Value::Object(headers))
}

/// Returns the submitted form with all event types. A subscribed type that is no longer emitted is included, so that saving the form
/// keeps the subscription.
async fn entered(visit: &Visit, chosen: &[&str]) -> Result<WebhookForm, PageError> {
    let known = visit.ask::<webhooks::ops::events::Events>(json!({})).await?.data;
    let choice = |event: webhooks::ops::events::EventType| EventChoice {
        kind: event.kind.word().to_owned(),
        description: event.description,
        opt_in: event.opt_in,
        chosen: chosen.contains(&event.kind.word()),
    };
    let mut events: Vec<EventChoice> = known.events.into_iter().map(choice).collect();
    for word in chosen {
        if !events.iter().any(|event| event.kind == *word) {
            events.push(EventChoice {
                kind: (*word).to_owned(),
                description: "Mailmill no longer sends this event.",
                opt_in: true,
                chosen: true,
            });
        }
    }
    let form = &visit.form;
    Ok(WebhookForm {
        act: form.get("act").to_owned(),
        url: form.get("url").to_owned(),
        description: form.get("description").to_owned(),
        headers: form.get("headers").to_owned(),
        standard: if form.get("standard") == "yes" { "yes" } else { "" },
        events,
    })
}

/// Replaces the field of an error about a custom header with the form field that contains all custom headers.
fn in_form(error: PageError) -> PageError {
    if error.field.starts_with("customHeaders") { error.in_field("customHeaders") } else { error }
}

/// Returns whether the user can correct the error on the page.
fn is_to_correct(error: &PageError) -> bool {
    matches!(error.status, StatusCode::BAD_REQUEST | StatusCode::CONFLICT)
}

/// Returns the number of hours that the old secret stays valid. Text that is not a number is returned unchanged, so that the operation
/// rejects it.
fn hours(text: &str) -> Value {
    text.parse::<u64>().map_or_else(|_| text.into(), Value::from)
}

/// Converts the value of a `datetime-local` input to a UTC timestamp. The page states that times are in UTC.
fn moment(text: &str) -> String {
    match text.len() {
        16 => format!("{text}:00Z"),
        19 => format!("{text}Z"),
        _ => text.to_owned(),
    }
}

fn local(at: crate::base::clock::Timestamp) -> String {
    at.to_string().chars().take(16).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_parsed_by_line_and_a_line_without_a_colon_is_an_error() {
        assert_eq!(
            headers("X-Shop: 7\r\n\r\n Authorization: Bearer a:b ").ok(),
            Some(json!({ "X-Shop": "7", "Authorization": "Bearer a:b" }))
        );
        let error = headers("X-Shop 7").expect_err("a line without a colon is rejected");
        assert_eq!((error.status, error.field.as_str()), (StatusCode::BAD_REQUEST, "customHeaders"));
    }

    #[test]
    fn date_time_fields_are_utc() {
        assert_eq!(
            (moment("2026-01-31T10:05").as_str(), moment("2026-01-31T10:05:09").as_str()),
            ("2026-01-31T10:05:00Z", "2026-01-31T10:05:09Z")
        );
        assert_eq!(moment("soon"), "soon");
    }
}
