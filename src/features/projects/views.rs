//! Projects on the wire.

use schemars::JsonSchema;
use serde::Serialize;

use super::model::{Logos, Project, Status};
use crate::engine::api::Listed;
use crate::engine::api::answer::Moment;
use crate::vocab::ids::ProjectId;

/// A brand: contacts, segments, campaigns and emails live inside one.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectView {
    pub id: ProjectId,
    /// The same as `id`, for clients that look for it here.
    #[serde(rename = "_id")]
    pub also_id: ProjectId,
    pub name: String,
    /// What the brand does; filled in by the import.
    pub description: Option<String>,
    /// How far the import has come: `active` projects can be used in full.
    pub status: Status,
    /// The host of the first imported address, without `www.`.
    pub domain: String,
    /// The sites it was imported from.
    pub urls: Vec<String>,
    pub logo_urls: LogosView,
    /// A picture of the first page.
    pub screenshot_url: Option<String>,
    /// Why the import failed, if it did.
    pub error: Option<String>,
    pub created_at: Moment,
    pub updated_at: Moment,
}

/// Where the logos are; `null` where there is none.
#[derive(Serialize, JsonSchema)]
pub struct LogosView {
    pub primary: Option<String>,
    pub secondary: Option<String>,
    pub favicon: Option<String>,
}

impl Listed for ProjectView {
    const PLURAL: &'static str = "projects";
    const ARRAY_WHEN_PAGED: bool = false;
}

impl ProjectView {
    /// A project as the documents show it.
    pub fn sample() -> Self {
        let id = ProjectId::parse("66f1a2b3d4e5f60718293a4b").expect("24 hexadecimal characters");
        Self {
            id,
            also_id: id,
            name: "Acme".into(),
            description: None,
            status: Status::Pending,
            domain: "acme.example".into(),
            urls: vec!["https://www.acme.example/".into()],
            logo_urls: LogosView { primary: None, secondary: None, favicon: None },
            screenshot_url: None,
            error: None,
            created_at: Moment::sample(),
            updated_at: Moment::sample(),
        }
    }
}

/// A project for the wire.
pub fn view(project: Project) -> ProjectView {
    let Logos { primary, secondary, favicon } = project.logos;
    ProjectView {
        id: project.id,
        also_id: project.id,
        name: project.name,
        description: project.description,
        status: project.status,
        domain: project.domain,
        urls: project.urls,
        logo_urls: LogosView { primary, secondary, favicon },
        screenshot_url: project.screenshot_url,
        error: project.error,
        created_at: Moment(project.created_at),
        updated_at: Moment(project.updated_at),
    }
}
