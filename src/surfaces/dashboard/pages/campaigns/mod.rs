//! Pages about campaigns: the list, the forms to create and edit, the dry run, and the report.

pub mod detail;
pub mod edit;
mod form;
pub mod launch;
pub mod list;
pub mod report;

use serde::Serialize;
use serde_json::json;

use crate::base::zone::Zone;
use crate::engine::api::Done;
use crate::features::campaigns::model::{CampaignStatus, RecipientType};
use crate::features::campaigns::views::CampaignView;
use crate::features::projects::views::ProjectView;
use crate::features::{campaigns, projects, segments, tags};
use crate::surfaces::dashboard::visit::{PageError, Visit};
use crate::vocab::ids::ProjectId;

fn base(visit: &Visit) -> String {
    format!("/{}/campaigns", visit.environment)
}

/// Returns the campaign whose ID is in the URL.
async fn campaign(visit: &Visit) -> Result<CampaignView, PageError> {
    Ok(visit.ask::<campaigns::ops::get::Get>(json!({ "id": visit.path_parameter("id") })).await?.0)
}

/// The header that all pages about a campaign share: the campaign and the tabs.
#[derive(Serialize)]
struct CampaignHead {
    is_open: bool,
    has_started: bool,
    tab: &'static str,
    /// The scheduled time in the campaign's time zone.
    wall: Option<String>,
    here: String,
    campaign: CampaignView,
}

impl CampaignHead {
    fn new(campaign: CampaignView, here: String, tab: &'static str) -> Self {
        let is_open =
            matches!(campaign.status, CampaignStatus::Draft | CampaignStatus::PendingReview | CampaignStatus::Scheduled);
        Self {
            is_open,
            has_started: campaign.batch_id.is_some(),
            tab,
            wall: wall(&campaign).map(|(day, time)| format!("{day}, {time}")),
            here,
            campaign,
        }
    }

    fn of(visit: &Visit, campaign: CampaignView, tab: &'static str) -> Self {
        let here = format!("{}/{}", base(visit), visit.path_parameter("id"));
        Self::new(campaign, here, tab)
    }

    #[cfg(test)]
    fn sample(campaign: CampaignView, tab: &'static str) -> Self {
        Self::new(campaign, "/test/campaigns/66f1a2b3d4e5f60718293a60".into(), tab)
    }
}

/// Returns the date and the time (`HH:MM`) of the schedule in the campaign's time zone.
fn wall(campaign: &CampaignView) -> Option<(String, String)> {
    let zone = Zone::parse(campaign.scheduled_timezone.as_deref()?).ok()?;
    let shown = zone.shows(campaign.scheduled_at?.0).to_string();
    let (day, time) = shown.split_once('T')?;
    Some((day.to_owned(), time.chars().take(5).collect()))
}

#[derive(Serialize)]
struct BrandName {
    id: ProjectId,
    name: String,
}

impl BrandName {
    fn of(project: ProjectView) -> Self {
        Self { id: project.id, name: project.name }
    }

    /// Returns a sample brand whose ID ends with the digit `last`.
    #[cfg(test)]
    fn sample(last: char) -> Self {
        let id = ProjectId::parse(&format!("66f1a2b3d4e5f60718293a4{last}")).expect("an ID has 24 hexadecimal characters");
        Self { id, name: "Acme".into() }
    }
}

/// The kind and name of a campaign's recipients, such as a segment.
#[derive(Serialize)]
struct AudienceName {
    kind: &'static str,
    name: String,
}

/// Returns the kind and name of a campaign's recipients. The name is `deleted` if the segment or tag no longer exists, or the recipient
/// ID if the user may not read the segment or tag.
async fn audience(visit: &Visit, campaign: &CampaignView) -> AudienceName {
    let names = json!({ "id": campaign.recipient_id, "projectId": campaign.project_id });
    let is_everyone = campaign.recipient_id.0 == campaign.project_id.0;
    let (kind, asked) = match campaign.recipient_type {
        RecipientType::Audience if is_everyone => {
            return AudienceName { kind: "everyone", name: "All of the brand's contacts".into() };
        }
        RecipientType::Tag => ("tag", visit.ask::<tags::ops::get::Get>(names).await.map(|Done(tag)| tag.name)),
        RecipientType::Segment | RecipientType::Audience => {
            ("segment", visit.ask::<segments::ops::get::Get>(names).await.map(|Done(segment)| segment.name))
        }
    };
    let name = match asked {
        Ok(name) => name,
        Err(error) if error.status == http::StatusCode::NOT_FOUND => "deleted".into(),
        Err(_) => campaign.recipient_id.to_string(),
    };
    AudienceName { kind, name }
}

/// Returns the brand's name; `None` if the brand cannot be read, for example without permission.
async fn brand(visit: &Visit, project: ProjectId) -> Option<String> {
    let asked = visit.ask::<projects::ops::get::Get>(json!({ "projectId": project })).await;
    asked.ok().map(|Done(project)| project.name)
}
