//! The pages about mail services: connecting services that report bounces and complaints, instructions for each, and relay settings.

use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};

use crate::engine::api::{Created, Done};
use crate::features::mail_feedback;
use crate::features::mail_feedback::ops::test::MailServiceTested;
use crate::features::mail_feedback::views::{MailFeedbackView, MailFeedbackWithUrl};
use crate::features::sending;
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};
use crate::vocab::mail_services::{MAIL_SERVICES, MailService, MailServiceInfo};

/// The static information about a supported mail service.
#[derive(Clone, Debug, Serialize)]
struct ServiceCard {
    word: &'static str,
    name: &'static str,
    host: &'static str,
    relay: String,
    user: &'static str,
    password: &'static str,
    note: &'static str,
    header: &'static str,
    webhook: &'static str,
    secret: &'static str,
    /// Whether the user must enter a secret for the service's webhook.
    has_secret: bool,
    /// Whether the service reports through Amazon SNS topics.
    has_topics: bool,
    /// Whether the configured mail relay belongs to the service.
    relays: bool,
}

impl ServiceCard {
    fn new(info: &'static MailServiceInfo, relays: &[MailService]) -> Self {
        let host = info.hosts[0];
        let has_topics = info.service == MailService::AmazonSes;
        Self {
            word: info.word,
            name: info.name,
            host,
            relay: format!("smtp://USER:PASSWORD@{host}:{}", info.port).replace('*', "REGION"),
            user: info.user,
            password: info.password,
            note: info.relay_note,
            header: info.header,
            webhook: info.webhook,
            secret: info.secret,
            has_secret: !has_topics,
            has_topics,
            relays: relays.contains(&info.service),
        }
    }
}

/// The data of the form for a mail service. The stored secret is never sent to the browser.
#[derive(Default, Serialize)]
struct ServiceForm {
    act: String,
    service: String,
    name: String,
    topics: String,
}

#[derive(Serialize)]
pub struct MailServicesPage {
    form: ServiceForm,
    services: Vec<ServiceCard>,
    listed: Vec<ListedService>,
    made: Option<MailFeedbackWithUrl>,
    made_card: Option<ServiceCard>,
}

#[derive(Serialize)]
struct ListedService {
    name: &'static str,
    row: MailFeedbackView,
}

#[derive(Serialize)]
pub struct MailServicePage {
    form: ServiceForm,
    card: ServiceCard,
    row: MailFeedbackView,
    made: Option<MailFeedbackWithUrl>,
    tested: Option<MailServiceTested>,
}

#[cfg(test)]
fn listed(row: MailFeedbackView) -> ListedService {
    ListedService { name: row.service.info().name, row }
}

page_context!(MailServicesPage, "mail_services.html", {
    use crate::features::mail_feedback::views::MailFeedbackStatus;

    let cards =
        || -> Vec<ServiceCard> { MAIL_SERVICES.iter().map(|info| ServiceCard::new(info, &[MailService::Mailgun])).collect() };
    let page = |rows: Vec<MailFeedbackView>, made: Option<MailFeedbackWithUrl>| Self {
        form: ServiceForm { service: "postmark".into(), ..ServiceForm::default() },
        services: cards(),
        listed: rows.into_iter().map(listed).collect(),
        made_card: made.as_ref().map(|made| ServiceCard::new(made.mail_service.service.info(), &[])),
        made,
    };
    let waiting = || MailFeedbackView {
        status: MailFeedbackStatus::Waiting,
        name: None,
        last_event_at: None,
        ..MailFeedbackView::sample()
    };
    vec![page(vec![MailFeedbackView::sample(), waiting()], Some(MailFeedbackWithUrl::sample())), page(Vec::new(), None)]
});

page_context!(MailServicePage, "mail_service.html", {
    use crate::engine::api::Operation;
    use crate::engine::api::response::WireTime;
    use crate::engine::mail::feedback::Refusal;
    use crate::features::mail_feedback::views::{MailFeedbackStatus, RejectionView};

    let page = |row: MailFeedbackView| Self {
        form: ServiceForm::default(),
        card: ServiceCard::new(row.service.info(), &[]),
        row,
        made: None,
        tested: None,
    };
    let tested = mail_feedback::ops::test::Test::example().1.0;
    let refusal = Refusal::SignatureWrong;
    let rejecting = MailFeedbackView {
        status: MailFeedbackStatus::Rejecting,
        last_rejection: Some(RejectionView {
            at: WireTime::sample(),
            reason: refusal,
            message: refusal.sentence(MailService::Mailgun),
        }),
        ..MailFeedbackView::sample()
    };
    let amazon = MailFeedbackView {
        service: MailService::AmazonSes,
        secret_configured: false,
        secret_required: false,
        topic_arns: vec!["arn:aws:sns:us-east-1:123456789012:bounces".into()],
        confirmed_at: Some(WireTime::sample()),
        ..MailFeedbackView::sample()
    };
    let waiting = MailFeedbackView {
        status: MailFeedbackStatus::Waiting,
        secret_configured: false,
        last_event_at: None,
        ..MailFeedbackView::sample()
    };
    vec![
        Self { tested: Some(tested), ..page(rejecting) },
        Self { made: Some(MailFeedbackWithUrl::sample()), ..page(amazon) },
        page(waiting),
    ]
});

pub async fn show_all(visit: &Visit) -> Result<PageResponse, PageError> {
    all(visit, None, None).await
}

async fn all(visit: &Visit, made: Option<MailFeedbackWithUrl>, error: Option<PageError>) -> Result<PageResponse, PageError> {
    let found = visit.ask::<mail_feedback::ops::list::List>(json!({ "limit": 100 })).await?;
    let relays = sending::relay_services(&visit.api.0.settings);
    let form = &visit.form;
    let context = MailServicesPage {
        form: ServiceForm {
            act: form.get("act").to_owned(),
            service: form.get("service").to_owned(),
            name: form.get("name").to_owned(),
            topics: form.get("topics").to_owned(),
        },
        services: MAIL_SERVICES.iter().map(|info| ServiceCard::new(info, &relays)).collect(),
        listed: found.items.into_iter().map(|row| ListedService { name: row.service.info().name, row }).collect(),
        made_card: made.as_ref().map(|made| ServiceCard::new(made.mail_service.service.info(), &relays)),
        made,
    };
    Ok(PageResponse::draw_with(&context, error.as_ref()))
}

/// Adds a mail service. Its webhook URL is shown only in this response.
pub async fn create(visit: &Visit) -> Result<PageResponse, PageError> {
    let form = &visit.form;
    let mut input = json!({ "service": form.get("service"), "name": form.some("name"), "secret": form.some("secret") });
    if form.get("service") == MailService::AmazonSes.info().word {
        input["topicArns"] = topics(form.get("topics"));
        input["secret"] = Value::Null;
    }
    match visit.ask::<mail_feedback::ops::create::Create>(input).await {
        Ok(Created(made)) => all(visit, Some(made), None).await,
        Err(error) if is_to_correct(&error) => all(visit, None, Some(error)).await,
        Err(error) => Err(error),
    }
}

/// The result of the action that the user just submitted. The result is shown only once.
#[derive(Default)]
struct ActionResult {
    made: Option<MailFeedbackWithUrl>,
    tested: Option<MailServiceTested>,
}

pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    one(visit, ActionResult::default(), None).await
}

async fn one(visit: &Visit, result: ActionResult, error: Option<PageError>) -> Result<PageResponse, PageError> {
    let Done(row) = visit.ask::<mail_feedback::ops::get::Get>(json!({ "mailServiceId": visit.path_parameter("id") })).await?;
    let (form, is_sent) = (&visit.form, visit.form.get("act") == "update");
    let given = |name: &str, own: String| if is_sent { form.get(name).to_owned() } else { own };
    let context = MailServicePage {
        form: ServiceForm {
            act: form.get("act").to_owned(),
            service: row.service.info().word.to_owned(),
            name: given("name", row.name.clone().unwrap_or_default()),
            topics: given("topics", row.topic_arns.join("\n")),
        },
        card: ServiceCard::new(row.service.info(), &sending::relay_services(&visit.api.0.settings)),
        row,
        made: result.made,
        tested: result.tested,
    };
    Ok(PageResponse::draw_with(&context, error.as_ref()))
}

pub async fn send(visit: &Visit) -> Result<PageResponse, PageError> {
    let (form, id) = (&visit.form, visit.path_parameter("id"));
    let which = json!({ "mailServiceId": id });
    let act = form.get("act");
    let result = match act {
        "update" => update(visit).await.map(|()| ActionResult::default()),
        "test" => {
            let tested = visit.ask::<mail_feedback::ops::test::Test>(which).await;
            tested.map(|Done(tested)| ActionResult { tested: Some(tested), made: None })
        }
        "url" => {
            let input = json!({ "mailServiceId": id, "newUrl": true });
            let made = visit.ask::<mail_feedback::ops::update::Update>(input).await;
            made.map(|Done(made)| ActionResult { made: Some(made), tested: None })
        }
        "delete" => {
            visit.ask::<mail_feedback::ops::delete::Delete>(which).await?;
            return Ok(PageResponse::redirect(format!("/{}/settings/mail-services?done=delete", visit.environment)));
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
    let form = &visit.form;
    let mut input = json!({ "mailServiceId": visit.path_parameter("id"), "name": form.some("name") });
    // An empty field keeps the stored secret.
    if let Some(secret) = form.some("secret") {
        input["secret"] = secret.into();
    }
    if let Some(text) = form.some("topics") {
        input["topicArns"] = topics(text);
    }
    visit.ask::<mail_feedback::ops::update::Update>(input).await.map(drop)
}

/// Returns the SNS topic ARNs in a text field, one per line.
fn topics(text: &str) -> Value {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
}

/// Returns whether the user can correct the error on the page.
fn is_to_correct(error: &PageError) -> bool {
    matches!(error.status, StatusCode::BAD_REQUEST | StatusCode::CONFLICT)
}
