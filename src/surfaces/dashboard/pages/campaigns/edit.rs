//! Creates a campaign from an email, and edits a campaign that has not started.

use std::collections::BTreeMap;

use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};

use super::form::{changes, chosen, entries, filled, in_form, shown};
use super::{BrandName, audience, base, brand, campaign};
use crate::engine::api::{Created, Done};
use crate::features::campaigns::views::CampaignView;
use crate::features::emails::views::{ConversationView, EmailDetails, EmailView};
use crate::features::{campaigns, domains, emails, projects, segments, tags, topics};
use crate::surfaces::dashboard::forms::Fields;
use crate::surfaces::dashboard::template::{self, page_context};
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};
use crate::vocab::ids::{EmailId, ProjectId};
use crate::vocab::permissions::Permission;

/// The number of recent generation requests from which the user can choose an email; the emails page also lists older requests.
const GENERATIONS: usize = 50;

/// The data of the page on which the user chooses an email.
#[derive(Serialize)]
pub struct ChoosePage {
    title: &'static str,
    base: String,
    /// The path of the form that the user continues to with the chosen email.
    target: String,
    brands: Vec<BrandName>,
    brand: Option<ProjectId>,
    generations: Vec<ConversationView>,
    /// The emails of the chosen series, one per position.
    emails: Vec<Place>,
}

/// An email's position in a series, with the languages in which the email exists.
#[derive(Debug, PartialEq, Serialize)]
struct Place {
    id: EmailId,
    subject: String,
    slot: u8,
    status: &'static str,
    languages: Vec<String>,
}

page_context!(ChoosePage, "campaign_choose.html", {
    use crate::engine::api::Operation;

    let generations = || emails::ops::list::List::example().1.items;
    let waiting = EmailView { status: "processing", slot: 2, ..EmailView::sample() };
    let page = |brands: Vec<BrandName>, generations, emails| Self {
        title: "New campaign",
        base: "/test/campaigns".into(),
        target: "/test/campaigns/new".into(),
        brand: brands.first().map(|brand| brand.id),
        brands,
        generations,
        emails,
    };
    vec![
        page(vec![BrandName::sample('b'), BrandName::sample('c')], generations(), Vec::new()),
        page(vec![BrandName::sample('b')], Vec::new(), Vec::new()),
        page(vec![BrandName::sample('b')], Vec::new(), places(vec![EmailView::sample(), waiting])),
        page(Vec::new(), Vec::new(), Vec::new()),
    ]
});

#[derive(Serialize)]
pub struct EditPage {
    title: String,
    #[serde(flatten)]
    fields: BTreeMap<String, String>,
    is_new: bool,
    back: String,
    email: EmailBrief,
    /// The campaign's segment or tag, if it is missing from `choices`.
    stray: Option<Stray>,
    campaign: Option<CampaignView>,
    #[serde(flatten)]
    choices: Choices,
}

/// The campaign's email, with the languages in which the email is ready.
#[derive(Serialize)]
struct EmailBrief {
    id: String,
    subject: Option<String>,
    preheader: Option<String>,
    language: Option<String>,
    languages: Vec<String>,
}

#[derive(Serialize)]
struct Stray {
    value: String,
    label: String,
}

/// The segments, tags and topics to choose from, the verified domains, and the brand's name.
#[derive(Serialize)]
struct Choices {
    segments: Vec<Choice>,
    tags: Vec<Choice>,
    topics: Vec<Choice>,
    domains: Vec<String>,
    brand: Option<String>,
}

#[derive(Serialize)]
struct Choice {
    id: String,
    name: String,
    count: Option<u64>,
}

page_context!(EditPage, "campaign_edit.html", {
    use crate::engine::api::Operation;

    let details = || emails::ops::get::Get::example().1.0;
    let choice = || Choice { id: "66f1a2b3000000015c3e9d71".into(), name: "VIPs".into(), count: Some(12) };
    let choices = |full: bool| Choices {
        segments: full.then(choice).into_iter().collect(),
        tags: full.then(choice).into_iter().collect(),
        topics: full.then(choice).into_iter().collect(),
        domains: full.then(|| "acme.example".to_owned()).into_iter().collect(),
        brand: full.then(|| "Acme".to_owned()),
    };
    let fields = |campaign: &CampaignView| {
        let mut fields = filled(&Fields::of(Vec::new()));
        fields.extend(shown(&template::context(campaign), &Value::Null));
        fields
    };
    let page = |campaign: CampaignView, choices| Self {
        title: "Edit campaign".into(),
        fields: fields(&campaign),
        is_new: false,
        back: "/test/campaigns/66f1a2b3d4e5f60718293a60".into(),
        email: EmailBrief { languages: vec!["en".into(), "de".into()], ..brief(&details()) },
        stray: Some(Stray { value: "segment:66f1a2b3000000015c3e9d72".into(), label: "Gone".into() }),
        campaign: Some(campaign),
        choices,
    };
    let scored = CampaignView { minimum_score: Some(80), ..CampaignView::sample() };
    vec![
        page(CampaignView::sample(), choices(true)),
        page(scored, choices(false)),
        Self { is_new: true, campaign: None, stray: None, ..page(CampaignView::sample(), choices(true)) },
    ]
});

/// Shows the form for a new campaign. If no email is chosen yet, shows the emails to choose from.
pub async fn new(visit: &Visit) -> Result<PageResponse, PageError> {
    visit.need(Permission::CampaignWrite)?;
    match visit.query.some("emailId") {
        Some(email) => form_for(visit, email, None).await,
        None => choose(visit, &format!("{}/new", base(visit)), None).await,
    }
}

/// Shows a brand's generation requests or, if the query contains a conversation ID, the emails of that request. With the chosen email, the
/// user continues to the form at `target`. `campaign` is the campaign being changed, if any.
async fn choose(visit: &Visit, target: &str, campaign: Option<&CampaignView>) -> Result<PageResponse, PageError> {
    let listed = visit.ask::<projects::ops::list::List>(json!({ "limit": 100 })).await;
    let mut projects = listed.map(|listed| listed.items).unwrap_or_default();
    // A campaign cannot move to a different brand.
    projects.retain(|project| campaign.is_none_or(|campaign| project.id == campaign.project_id));
    let wanted = campaign.map(|campaign| campaign.project_id);
    let wanted = wanted.or_else(|| visit.query.some("brand").and_then(ProjectId::parse));
    let project = wanted.or_else(|| projects.first().map(|project| project.id));
    let mut context = ChoosePage {
        title: if campaign.is_some() { "Choose another email" } else { "New campaign" },
        base: base(visit),
        target: target.to_owned(),
        brands: projects.into_iter().map(BrandName::of).collect(),
        brand: project,
        generations: Vec::new(),
        emails: Vec::new(),
    };
    if let Some(conversation) = visit.query.some("conversationId") {
        let Done(status) = visit.ask::<emails::ops::status::Status>(json!({ "conversationId": conversation })).await?;
        context.emails = places(status.result.map(|result| result.emails).unwrap_or_default());
        if let [only] = context.emails.as_slice() {
            return Ok(PageResponse::redirect(format!("{target}?emailId={}", only.id)));
        }
    } else if let Some(project) = project {
        let input = json!({ "projectId": project, "status": "completed", "limit": GENERATIONS });
        context.generations = visit.ask::<emails::ops::list::List>(input).await?.items;
    }
    Ok(PageResponse::draw(&context))
}

/// Groups the emails in a series by position: one entry per position, with the languages of its emails.
fn places(emails: Vec<EmailView>) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for email in emails {
        match places.last_mut().filter(|place| place.slot == email.slot) {
            Some(place) => place.languages.push(email.language),
            None => places.push(Place {
                id: email.id,
                subject: email.subject,
                slot: email.slot,
                status: email.status,
                languages: vec![email.language],
            }),
        }
    }
    places
}

fn brief(details: &EmailDetails) -> EmailBrief {
    let email = &details.email;
    let ready = details.series.iter().filter(|other| other.slot == email.slot && other.status == "ready");
    EmailBrief {
        id: email.id.to_string(),
        subject: Some(email.subject.clone()),
        preheader: Some(email.preheader.clone()),
        language: Some(email.language.clone()),
        languages: ready.map(|other| other.language.clone()).collect(),
    }
}

async fn form_for(visit: &Visit, email: &str, error: Option<PageError>) -> Result<PageResponse, PageError> {
    let Done(details) = visit.ask::<emails::ops::get::Get>(json!({ "emailId": email })).await?;
    let project = details.email.project_id;
    let mut fields = filled(&visit.form);
    if visit.form.get("csrf").is_empty() {
        let found = visit.ask::<projects::ops::get::Get>(json!({ "projectId": project })).await.ok();
        if let Some(sender) = found.and_then(|Done(project)| project.default_sender) {
            fields.insert("from".into(), sender.from);
            fields.insert("from_name".into(), sender.from_name.unwrap_or_default());
            fields.insert("reply_to".into(), sender.reply_to.unwrap_or_default());
        }
        fields.insert("name".into(), details.email.subject.clone());
        fields.insert("audience".into(), "everyone".into());
    }
    let context = EditPage {
        title: "New campaign".into(),
        choices: choices(visit, project, &fields["topic"]).await,
        fields,
        is_new: true,
        back: format!("{}/new?brand={project}", base(visit)),
        email: brief(&details),
        stray: None,
        campaign: None,
    };
    Ok(PageResponse::draw_with(&context, error.map(in_form).as_ref()))
}

pub async fn create(visit: &Visit) -> Result<PageResponse, PageError> {
    let email = visit.form.get("email");
    let Done(EmailDetails { email: found, .. }) = visit.ask::<emails::ops::get::Get>(json!({ "emailId": email })).await?;
    let project = template::context(&found.project_id);
    let mut input = match entries(&visit.form, &project) {
        Ok(input) => input,
        Err(error) => return form_for(visit, email, Some(error)).await,
    };
    input.retain(|_, value| !value.is_null());
    // A campaign with a conversation ID sends each recipient the email in the recipient's language.
    input.insert("conversationId".into(), template::context(&found.conversation_id));
    input.insert("emailId".into(), email.into());
    input.insert("projectId".into(), project);
    match visit.ask::<campaigns::ops::create::Create>(Value::Object(input)).await {
        Ok(Created(made)) => Ok(PageResponse::redirect(format!("{}/{}?done=created", base(visit), made.id))),
        Err(error) if is_correctable(&error) => form_for(visit, email, Some(error)).await,
        Err(error) => Err(error),
    }
}

/// Shows the form for an existing campaign, or the emails that can replace its email.
pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    visit.need(Permission::CampaignWrite)?;
    let campaign = campaign(visit).await?;
    if visit.query.some("choose").is_some() || visit.query.some("conversationId").is_some() {
        return choose(visit, &format!("{}/{}/edit", base(visit), visit.path_parameter("id")), Some(&campaign)).await;
    }
    edit(visit, campaign, None).await
}

async fn edit(visit: &Visit, campaign: CampaignView, error: Option<PageError>) -> Result<PageResponse, PageError> {
    let own = campaign.email_id.to_string();
    let wanted = visit.form.some("email").or_else(|| visit.query.some("emailId")).unwrap_or(&own);
    let email = match visit.ask::<emails::ops::get::Get>(json!({ "emailId": wanted })).await {
        Ok(Done(details)) => brief(&details),
        Err(_) if wanted == own => {
            EmailBrief { id: own.clone(), subject: None, preheader: None, language: None, languages: Vec::new() }
        }
        Err(error) => return Err(error),
    };
    let mut fields = filled(&visit.form);
    let said = template::context(&campaign);
    if visit.form.get("csrf").is_empty() {
        fields.extend(shown(&said, &own_email(visit, &campaign).await));
    }
    let choices = choices(visit, campaign.project_id, &fields["topic"]).await;
    // A segment or tag that `choices` does not list stays selectable while the campaign uses it.
    let stray = Stray { value: chosen(&said), label: audience(visit, &campaign).await.name };
    let context = EditPage {
        title: campaign.name.clone(),
        fields,
        is_new: false,
        back: format!("{}/{}", base(visit), visit.path_parameter("id")),
        email,
        stray: Some(stray).filter(|stray| !choices.has(&stray.value)),
        campaign: Some(campaign),
        choices,
    };
    Ok(PageResponse::draw_with(&context, error.map(in_form).as_ref()))
}

/// Returns a campaign's email, or null if the user may not read the email.
async fn own_email(visit: &Visit, campaign: &CampaignView) -> Value {
    let found = visit.ask::<emails::ops::get::Get>(json!({ "emailId": campaign.email_id })).await;
    found.map(|Done(details)| template::context(&details)).unwrap_or_default()
}

/// Updates the campaign with only the values that the user changed, so values without a form field stay unchanged.
pub async fn change(visit: &Visit) -> Result<PageResponse, PageError> {
    let view = campaign(visit).await?;
    let campaign = template::context(&view);
    let project = &campaign["projectId"];
    let mut before = entries(&Fields::of(shown(&campaign, &own_email(visit, &view).await)), project)?;
    before.insert("emailId".into(), campaign["emailId"].clone());
    let mut input = match entries(&visit.form, project) {
        Ok(input) => input,
        Err(error) => return edit(visit, view, Some(error)).await,
    };
    input.insert("emailId".into(), visit.form.some("email").map_or(campaign["emailId"].clone(), Value::from));
    let mut input = changes(input, &before);
    // The API requires these fields, so an empty field must cause an error instead of clearing the value.
    for name in ["name", "from", "fromName"] {
        if input.get(name).is_some_and(Value::is_null) {
            input.insert(name.into(), "".into());
        }
    }
    if input.get("variables").is_some_and(Value::is_null) {
        input.insert("variables".into(), json!({}));
    }
    if let Some(email) = input.get("emailId").cloned() {
        let Done(found) = visit.ask::<emails::ops::get::Get>(json!({ "emailId": email })).await?;
        input.insert("conversationId".into(), template::context(&found.email.conversation_id));
    }
    input.insert("id".into(), visit.path_parameter("id").into());
    match visit.ask::<campaigns::ops::update::Update>(Value::Object(input)).await {
        Ok(_) => Ok(PageResponse::redirect(format!("{}/{}?done=changed", base(visit), visit.path_parameter("id")))),
        Err(error) if is_correctable(&error) => edit(visit, view, Some(error)).await,
        Err(error) => Err(error),
    }
}

fn is_correctable(error: &PageError) -> bool {
    matches!(error.status, StatusCode::BAD_REQUEST | StatusCode::CONFLICT)
}

impl Choices {
    /// Returns whether the recipient select lists this value.
    fn has(&self, value: &str) -> bool {
        let has = |choices: &[Choice], id: &str| choices.iter().any(|choice| choice.id == id);
        match value.split_once(':') {
            Some(("segment", id)) => has(&self.segments, id),
            Some(("tag", id)) => has(&self.tags, id),
            _ => value == "everyone",
        }
    }
}

/// Returns the options that the user has permission to read. `topic` is the form's current topic.
async fn choices(visit: &Visit, project: ProjectId, topic: &str) -> Choices {
    let of = json!({ "projectId": project, "limit": 100 });
    let segments = visit.ask::<segments::ops::list::List>(of.clone()).await.map(|found| found.items).unwrap_or_default();
    let by_name = json!({ "projectId": project, "limit": 100, "sortBy": "name", "sortOrder": "asc" });
    let tags = visit.ask::<tags::ops::list::List>(by_name).await.map(|found| found.items).unwrap_or_default();
    let topics = visit.ask::<topics::ops::list::List>(of).await.map(|found| found.items).unwrap_or_default();
    let domains = visit.ask::<domains::ops::list::List>(json!({})).await.map(|found| found.data).unwrap_or_default();
    let mut topics: Vec<Choice> =
        topics.into_iter().map(|topic| Choice { id: topic.id.to_string(), name: topic.name, count: None }).collect();
    // The form's current topic remains selectable even if the list does not contain it.
    if !topic.is_empty() && topics.iter().all(|other| other.id != topic) {
        let found = visit.ask::<topics::ops::get::Get>(json!({ "id": topic, "projectId": project })).await;
        let name = found.map_or_else(|_| topic.to_owned(), |Done(found)| found.name);
        topics.push(Choice { id: topic.to_owned(), name, count: None });
    }
    Choices {
        segments: segments
            .into_iter()
            .map(|segment| Choice { id: segment.id.to_string(), name: segment.name, count: segment.count })
            .collect(),
        tags: tags
            .into_iter()
            .map(|tag| Choice { id: tag.id.to_string(), name: tag.name, count: Some(tag.subscriber_count) })
            .collect(),
        topics,
        domains: domains.into_iter().filter(|domain| domain.is_verified).map(|domain| domain.domain).collect(),
        brand: brand(visit, project).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_of_a_series_is_one_line_with_its_languages() {
        let id =
            |last: char| EmailId::parse(&format!("66f1a2b3d4e5f60718293a4{last}")).expect("an ID has 24 hexadecimal characters");
        let email = |last, slot, language: &str| EmailView {
            id: id(last),
            slot,
            language: language.into(),
            status: "ready",
            subject: format!("Subject {last}"),
            ..EmailView::sample()
        };
        let lines = places(vec![email('a', 1, "en"), email('b', 1, "de"), email('c', 2, "en")]);
        let line = |last, slot, languages: &[&str]| Place {
            id: id(last),
            subject: format!("Subject {last}"),
            slot,
            status: "ready",
            languages: languages.iter().map(|language| (*language).to_owned()).collect(),
        };
        assert_eq!(lines, [line('a', 1, &["en", "de"]), line('c', 2, &["en"])]);
        assert_eq!(places(Vec::new()), []);
    }
}
