//! The pages about incoming webhooks: the URLs to which other systems send contacts and events, and the received requests.

use http::StatusCode;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::audience::{self, Audience, AudienceContext};
use crate::engine::api::{Created, Done};
use crate::features::hooks::model::HookKind;
use crate::features::hooks::ops::test::HookTested;
use crate::features::hooks::views::{HookDeliveryView, HookView, HookWithUrl};
use crate::features::topics::views::TopicView;
use crate::features::{hooks, topics};
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};

#[derive(Default, Serialize)]
struct HookForm {
    act: String,
    kind: String,
    name: String,
    mapping: String,
    event_name: String,
    tags: String,
    topic: String,
    consent: String,
    redirect: String,
    signature_header: String,
}

impl HookForm {
    fn sent(visit: &Visit) -> Self {
        let get = |name: &str| visit.form.get(name).to_owned();
        Self {
            act: get("act"),
            kind: get("kind"),
            name: get("name"),
            mapping: get("mapping"),
            event_name: get("event_name"),
            tags: get("tags"),
            topic: get("topic"),
            consent: get("consent"),
            redirect: get("redirect"),
            signature_header: get("signature_header"),
        }
    }

    fn of(hook: &HookView) -> Self {
        let lines: Vec<String> = hook.mapping.iter().map(|(field, path)| format!("{field} = {path}")).collect();
        Self {
            act: String::new(),
            kind: if hook.kind == HookKind::Contacts { "contacts" } else { "events" }.into(),
            name: hook.name.clone(),
            mapping: lines.join("\n"),
            event_name: hook.event_name.clone().unwrap_or_default(),
            tags: hook.tags.join(", "),
            topic: hook.topic_id.map(|id| id.to_string()).unwrap_or_default(),
            consent: hook.consent_source.clone().unwrap_or_default(),
            redirect: hook.redirect_url.clone().unwrap_or_default(),
            signature_header: hook.signature_header.clone().unwrap_or_default(),
        }
    }
}

#[derive(Serialize)]
pub struct HooksPage {
    #[serde(flatten)]
    audience: AudienceContext,
    form: HookForm,
    topics: Vec<TopicView>,
    hooks: Vec<HookView>,
    made: Option<HookWithUrl>,
}

#[derive(Serialize)]
pub struct HookPage {
    form: HookForm,
    topics: Vec<TopicView>,
    hook: HookView,
    made: Option<HookWithUrl>,
    deliveries: Vec<HookDeliveryView>,
    /// The sample request body with which the user tested the mapping.
    body: String,
    tested: Option<TestResult>,
}

/// The result of testing the mapping. `input` is the mapped contact or event as indented JSON.
#[derive(Serialize)]
struct TestResult {
    success: bool,
    field: Option<String>,
    reason: Option<String>,
    input: String,
}

impl TestResult {
    fn new(tested: HookTested) -> Self {
        let HookTested { success, field, reason, input } = tested;
        Self { success, field, reason, input: format!("{input:#}") }
    }
}

page_context!(HooksPage, "hooks.html", {
    let page = |hooks: Vec<HookView>, made: Option<HookWithUrl>| Self {
        audience: AudienceContext::sample("Incoming webhooks"),
        form: HookForm { kind: "contacts".into(), ..HookForm::default() },
        topics: vec![TopicView::sample()],
        hooks,
        made,
    };
    let off = HookView { active: false, kind: HookKind::Events, last_received_at: None, ..HookView::sample() };
    vec![page(vec![HookView::sample(), off], Some(HookWithUrl::sample())), page(Vec::new(), None)]
});

page_context!(HookPage, "hook.html", {
    use crate::engine::api::Operation;

    let deliveries = || hooks::ops::deliveries::Deliveries::example().1.0.deliveries;
    let page = |hook: HookView, deliveries: Vec<HookDeliveryView>| Self {
        form: HookForm::of(&hook),
        topics: vec![TopicView::sample()],
        hook,
        made: None,
        deliveries,
        body: String::new(),
        tested: None,
    };
    let events = HookView { kind: HookKind::Events, active: false, last_received_at: None, ..HookView::sample() };
    let tested = Some(TestResult::new(hooks::ops::test::Test::example().1.0));
    let signed = HookView { signature_header: Some("Typeform-Signature".into()), ..HookView::sample() };
    vec![
        Self { made: Some(HookWithUrl::sample()), ..page(signed, deliveries()) },
        Self { tested, body: "{}".into(), ..page(events, Vec::new()) },
    ]
});

pub async fn show_all(visit: &Visit) -> Result<PageResponse, PageError> {
    match Audience::of(visit).await? {
        Some(audience) => all(visit, &audience, None, None).await,
        None => Ok(audience::none("Incoming webhooks")),
    }
}

async fn all(
    visit: &Visit,
    audience: &Audience,
    made: Option<HookWithUrl>,
    error: Option<PageError>,
) -> Result<PageResponse, PageError> {
    let found = visit.ask::<hooks::ops::list::List>(json!({ "limit": 100, "projectId": audience.id })).await?;
    let form = if error.is_some() { HookForm::sent(visit) } else { HookForm::default() };
    let context = HooksPage {
        audience: audience.context(visit, "Incoming webhooks"),
        form,
        topics: topics_of(visit, &audience.id).await?,
        hooks: found.items,
        made,
    };
    Ok(audience.finish(visit, PageResponse::draw_with(&context, error.as_ref())))
}

async fn topics_of(visit: &Visit, project: &str) -> Result<Vec<TopicView>, PageError> {
    let input = json!({ "projectId": project, "limit": 100 });
    Ok(visit.ask::<topics::ops::list::List>(input).await?.items)
}

/// Creates an incoming webhook. Only the response page shows the webhook's URL.
pub async fn create(visit: &Visit) -> Result<PageResponse, PageError> {
    let Some(audience) = Audience::of(visit).await? else { return Err(PageError::not_found()) };
    let mut input = values(visit);
    input["projectId"] = audience.id.clone().into();
    input["kind"] = visit.form.get("kind").into();
    match visit.ask::<hooks::ops::create::Create>(input).await {
        Ok(Created(made)) => all(visit, &audience, Some(made), None).await,
        Err(error) if is_to_correct(&error) => all(visit, &audience, None, Some(error)).await,
        Err(error) => Err(error),
    }
}

/// The result of the action that the user just submitted. The result is shown only once.
#[derive(Default)]
struct ActionResult {
    made: Option<HookWithUrl>,
    tested: Option<HookTested>,
}

pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    one(visit, ActionResult::default(), None).await
}

async fn one(visit: &Visit, result: ActionResult, error: Option<PageError>) -> Result<PageResponse, PageError> {
    let which = json!({ "hook": visit.path_parameter("id") });
    let Done(hook) = visit.ask::<hooks::ops::get::Get>(which.clone()).await?;
    let Done(found) = visit.ask::<hooks::ops::deliveries::Deliveries>(which).await?;
    let act = visit.form.get("act").to_owned();
    let form = if act == "update" { HookForm::sent(visit) } else { HookForm { act, ..HookForm::of(&hook) } };
    let topics = topics_of(visit, &hook.project_id.to_string()).await?;
    let context = HookPage {
        form: HookForm { kind: HookForm::of(&hook).kind, ..form },
        topics,
        hook,
        made: result.made,
        deliveries: found.deliveries,
        body: visit.form.get("body").to_owned(),
        tested: result.tested.map(TestResult::new),
    };
    Ok(PageResponse::draw_with(&context, error.as_ref()))
}

pub async fn send(visit: &Visit) -> Result<PageResponse, PageError> {
    let id = visit.path_parameter("id");
    let act = visit.form.get("act");
    let result = match act {
        "update" => update(visit).await.map(|()| ActionResult::default()),
        "test" => test(visit).await.map(|tested| ActionResult { tested: Some(tested), made: None }),
        "url" => {
            change(visit, json!({ "hook": id, "newUrl": true })).await.map(|made| ActionResult { made: Some(made), tested: None })
        }
        "on" | "off" => change(visit, json!({ "hook": id, "active": act == "on" })).await.map(|_| ActionResult::default()),
        "delete" => {
            visit.ask::<hooks::ops::delete::Delete>(json!({ "hook": id })).await?;
            return Ok(PageResponse::redirect(format!("/{}/settings/incoming?done=delete", visit.environment)));
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

async fn change(visit: &Visit, input: Value) -> Result<HookWithUrl, PageError> {
    visit.ask::<hooks::ops::update::Update>(input).await.map(|Done(changed)| changed)
}

async fn update(visit: &Visit) -> Result<(), PageError> {
    let Done(hook) = visit.ask::<hooks::ops::get::Get>(json!({ "hook": visit.path_parameter("id") })).await?;
    let mut input = values(visit);
    input["hook"] = visit.path_parameter("id").into();
    // An empty field keeps the stored secret, unless the signature header changes.
    if visit.form.get("signature_secret").is_empty() && hook.signature_header.as_deref() == visit.form.some("signature_header") {
        input.as_object_mut().expect("the values are an object").remove("signature");
    }
    change(visit, input).await.map(drop)
}

async fn test(visit: &Visit) -> Result<HookTested, PageError> {
    let body: Value = serde_json::from_str(visit.form.get("body")).unwrap_or_else(|_| visit.form.get("body").into());
    let tested = visit.ask::<hooks::ops::test::Test>(json!({ "hook": visit.path_parameter("id"), "body": body })).await;
    tested.map(|Done(tested)| tested)
}

/// Returns the form's values that can be changed after creation, as an operation's input.
fn values(visit: &Visit) -> Value {
    let form = &visit.form;
    let tags: Vec<&str> = form.get("tags").split(',').map(str::trim).filter(|tag| !tag.is_empty()).collect();
    json!({
        "name": form.get("name"),
        "mapping": mapping(form.get("mapping")),
        "eventName": form.some("event_name"),
        "tags": tags,
        "topicId": form.some("topic"),
        "consentSource": form.some("consent"),
        "redirectUrl": form.some("redirect"),
        "signature": form.some("signature_header").map(|header| json!({ "header": header, "secret": form.get("signature_secret") })),
    })
}

/// Parses the mapping in a text field: one `field = path` per line. A line without a path gets an empty path, so that the API rejects
/// the line and its error names the field.
fn mapping(text: &str) -> Map<String, Value> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let pair = |line: &str| {
        let (field, path) = line.split_once('=').unwrap_or((line, ""));
        (field.trim().to_owned(), Value::from(path.trim()))
    };
    lines.map(pair).collect()
}

/// Returns whether the user can correct the error on the page.
fn is_to_correct(error: &PageError) -> bool {
    matches!(error.status, StatusCode::BAD_REQUEST | StatusCode::CONFLICT)
}
