//! Lists the versions of an email.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::response::WireTime;
use crate::engine::api::{Failure, Limit, Offset, Operation, Page, PageNumber, Query, Spec, View, Window, needs_one};
use crate::features::emails::views::{VersionView, Viewer};
use crate::features::emails::{READERS, require_email, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::{EmailId, ProjectId};
use crate::vocab::rates::RouteGroup;

pub struct Versions;

/// The email whose versions to list, and the page of the list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListVersions {
    pub email_id: EmailId,
    /// If given, the email must belong to the project with this ID.
    pub project_id: Option<ProjectId>,
    #[serde(default)]
    pub limit: Limit,
    /// The number of versions to skip.
    pub offset: Option<Offset>,
    /// The number of the page to return, starting at 1. Use it instead of `offset`; if both are set, `offset` is ignored.
    pub page: Option<PageNumber>,
}

impl VersionView {
    /// Returns an example for the documentation.
    pub fn sample() -> Self {
        Self {
            version: 2,
            origin: "edited",
            prompt: Some("Make the button green".into()),
            label: None,
            restored_version: None,
            subject: "Welcome to Acme".into(),
            screenshot_url: None,
            thumbnail_url: None,
            current: true,
            created_at: WireTime::sample(),
        }
    }
}

impl Operation for Versions {
    const SPEC: Spec = Spec::get("emails.versions", "/v1/emails/{emailId}/versions", needs_one(READERS))
        .client("emails.versions.list")
        .summary("List the versions of an email")
        .about(
            "Lists the stored versions, newest first. Each saved edit creates a version. An autosave can replace the previous autosave. \
             Restore a version with POST /v1/emails/{emailId}/versions/{version}/restore.",
        )
        .rate(RouteGroup::Emails)
        .blocking()
        .fails(&[Code::NotFound]);
    type Input = ListVersions;
    type Output = Page<VersionView>;

    fn example() -> (Value, Self::Output) {
        let window = Window { limit: 20, offset: 0, paged: false };
        let page = Page { items: vec![VersionView::sample()], total: 2, window };
        (json!({ "emailId": "66f1a2b3d4e5f60718293a4e", "limit": 1 }), Page { window: Window { limit: 1, ..window }, ..page })
    }
}

impl Query for Versions {
    fn run(view: &View<'_>, input: ListVersions) -> Result<Self::Output, Failure> {
        let account = view.caller.account();
        let tx = view.tx;
        let email = require_email(tx, account, input.email_id, input.project_id)?;
        let versions = store::versions(tx, email.id)?;
        let viewer = Viewer { engine: &view.caller.engine, tx, account };
        let views: Vec<VersionView> = versions.iter().map(|version| viewer.version(&email, version)).collect();
        let window = Window::new(input.limit, input.offset, input.page);
        Ok(Page { total: views.len() as u64, items: window.cut(views), window })
    }
}
