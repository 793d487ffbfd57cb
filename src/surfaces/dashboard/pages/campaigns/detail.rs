//! The page about a campaign: its settings, its progress, and the available actions.

use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};

use super::{AudienceName, CampaignHead, audience, base, brand, campaign};
use crate::engine::api::{Created, Done};
use crate::features::campaigns::model::CampaignStatus;
use crate::features::campaigns::stats::CampaignStats;
use crate::features::campaigns::views::CampaignView;
use crate::features::{campaigns, emails, topics};
use crate::surfaces::dashboard::charts;
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};

#[derive(Serialize)]
pub struct CampaignPage {
    #[serde(flatten)]
    head: CampaignHead,
    images: bool,
    audience: AudienceName,
    brand: Option<String>,
    topic: Option<String>,
    is_moving: bool,
    /// The segments of the progress bar: a recipient count per delivery status.
    progress: Value,
    stats: Option<CampaignStats>,
    /// The signed-in user's email address, the default recipient of test sends.
    own: String,
    emails: String,
    /// The number of recipients that the notice about a test send or a resend states.
    many: u64,
}

page_context!(CampaignPage, "campaign.html", {
    let page = |campaign: CampaignView, stats: Option<CampaignStats>| Self {
        is_moving: is_moving(&campaign),
        head: CampaignHead { has_started: stats.is_some(), ..CampaignHead::sample(campaign, "campaign") },
        images: false,
        audience: AudienceName { kind: "tag", name: "vip".into() },
        brand: Some("Acme".into()),
        topic: Some("Updates".into()),
        progress: progress(stats.as_ref()),
        stats,
        own: "ada@example.com".into(),
        emails: String::new(),
        many: 2,
    };
    let uncertain = || CampaignStats { unknown: 2, deferred: 1, ..CampaignStats::sample() };
    let in_status = CampaignView::sample_in;
    let archived = CampaignView { archived: true, error: Some("No sender.".into()), ..in_status(CampaignStatus::Failed) };
    vec![
        page(CampaignView::sample(), None),
        page(CampaignView::sample_scheduled(), None),
        page(in_status(CampaignStatus::Sending), Some(uncertain())),
        page(in_status(CampaignStatus::Paused), Some(uncertain())),
        page(in_status(CampaignStatus::Sent), Some(CampaignStats::sample())),
        page(archived, None),
    ]
});

fn is_moving(campaign: &CampaignView) -> bool {
    matches!(campaign.status, CampaignStatus::Sending | CampaignStatus::Throttled)
}

pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    draw(visit, None).await
}

async fn draw(visit: &Visit, error: Option<PageError>) -> Result<PageResponse, PageError> {
    let campaign = campaign(visit).await?;
    let stats = match campaign.batch_id {
        Some(_) => Some(visit.ask::<campaigns::ops::stats::Stats>(json!({ "id": visit.path_parameter("id") })).await?.0),
        None => None,
    };
    let topic = match campaign.topic_id {
        Some(id) => visit.ask::<topics::ops::get::Get>(json!({ "id": id, "projectId": campaign.project_id })).await.ok(),
        None => None,
    };
    let context = CampaignPage {
        images: visit.wants_images(),
        audience: audience(visit, &campaign).await,
        brand: brand(visit, campaign.project_id).await,
        topic: topic.map(|Done(topic)| topic.name),
        is_moving: is_moving(&campaign),
        progress: progress(stats.as_ref()),
        stats,
        own: visit.session.as_ref().map(|session| session.user.email.to_string()).unwrap_or_default(),
        emails: visit.form.get("emails").to_owned(),
        many: visit.query.get("many").parse().unwrap_or(0),
        head: CampaignHead::of(visit, campaign, "campaign"),
    };
    Ok(PageResponse::draw_with(&context, error.as_ref()))
}

/// Returns the segments of the progress bar: a recipient count per delivery status.
fn progress(stats: Option<&CampaignStats>) -> Value {
    let many = |of: fn(&CampaignStats) -> u64| stats.map_or(0, of);
    charts::parts(&[
        ("sent", "Sent", many(|stats| stats.total_sent)),
        ("failed", "Failed", many(|stats| stats.failed)),
        ("unknown", "Delivery uncertain", many(|stats| stats.unknown)),
        ("skipped", "Left out", many(|stats| stats.skipped)),
        ("deferred", "Delayed", many(|stats| stats.deferred)),
        ("queued", "Queued", many(|stats| stats.queued)),
    ])
}

pub async fn send(visit: &Visit) -> Result<PageResponse, PageError> {
    let (id, act) = (visit.path_parameter("id"), visit.form.get("act"));
    let here = format!("{}/{id}", base(visit));
    let which = json!({ "id": id });
    let asked = match act {
        "pause" => visit.ask::<campaigns::ops::pause::Pause>(which).await.map(|_| format!("{here}?done={act}")),
        "resume" => visit.ask::<campaigns::ops::resume::Resume>(which).await.map(|_| format!("{here}?done={act}")),
        "cancel" => visit.ask::<campaigns::ops::cancel::Cancel>(which).await.map(|_| format!("{here}?done={act}")),
        "archive" => visit.ask::<campaigns::ops::archive::Archive>(which).await.map(|_| format!("{here}?done={act}")),
        "unarchive" => visit.ask::<campaigns::ops::unarchive::Unarchive>(which).await.map(|_| format!("{here}?done={act}")),
        "unschedule" => visit.ask::<campaigns::ops::unschedule::Unschedule>(which).await.map(|_| format!("{here}?done={act}")),
        "resend" => {
            let resent = visit.ask::<campaigns::ops::resend_unknown::ResendUnknown>(which).await;
            resent.map(|Done(resent)| format!("{here}?done=resend&many={}", resent.resent))
        }
        "duplicate" => {
            let made = visit.ask::<campaigns::ops::duplicate::Duplicate>(which).await;
            made.map(|Created(made)| format!("{}/{}/edit", base(visit), made.id))
        }
        "delete" => visit.ask::<campaigns::ops::delete::Delete>(which).await.map(|_| format!("{}?done=deleted", base(visit))),
        "test" => {
            let emails: Vec<&str> =
                visit.form.get("emails").split([',', ';', ' ', '\n', '\r']).filter(|part| !part.is_empty()).collect();
            let asked = visit.ask::<campaigns::ops::test::Test>(json!({ "id": id, "emails": emails })).await;
            asked.map(|_| format!("{here}?done=test&many={}", emails.len()))
        }
        _ => return Err(PageError::unknown_action()),
    };
    match asked {
        Ok(to) => Ok(PageResponse::redirect(to)),
        Err(error) if matches!(error.status, StatusCode::BAD_REQUEST | StatusCode::CONFLICT) => draw(visit, Some(error)).await,
        Err(error) => Err(error),
    }
}

/// Returns the campaign's email as an HTML document for a frame. Merge fields show their default values, or their names if they have no
/// default.
pub async fn frame(visit: &Visit) -> Result<PageResponse, PageError> {
    let campaign = campaign(visit).await?;
    visit.forward::<emails::ops::html::Html>(json!({ "emailId": campaign.email_id, "images": visit.wants_images() })).await
}
