//! Lists the images of a project.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Failure, Limit, Offset, Operation, Page, PageNumber, Query, Spec, View, Window, needs_one};
use crate::features::projects::views::ProjectImageView;
use crate::features::projects::{READERS, images, require};
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;

pub struct ImagesList;

/// The page of images to return.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListImages {
    pub project_id: ProjectId,
    #[serde(default)]
    pub limit: Limit,
    /// The number of images to skip.
    pub offset: Option<Offset>,
    /// The number of the page to return, starting at 1. Use it instead of `offset`; if both are set, `offset` is ignored.
    pub page: Option<PageNumber>,
}

impl Operation for ImagesList {
    const SPEC: Spec = Spec::get("projects.images_list", "/v1/projects/{projectId}/images", needs_one(READERS))
        .client("projects.images.list")
        .summary("List a project's images")
        .about("Images that users added come first, newest first. After them come the images found on the project's pages.")
        .blocking()
        .fails(&[Code::NotFound]);
    type Input = ListImages;
    type Output = Page<ProjectImageView>;

    fn example() -> (Value, Self::Output) {
        let window = Window { limit: 20, offset: 0, paged: false };
        let page = Page { items: vec![ProjectImageView::sample()], total: 1, window };
        (json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "limit": 20 }), page)
    }
}

impl Query for ImagesList {
    fn run(view: &View<'_>, input: ListImages) -> Result<Self::Output, Failure> {
        require(view.tx, view.caller.account(), input.project_id)?;
        let window = Window::new(input.limit, input.offset, input.page);
        let all = images::all(view.tx, input.project_id)?;
        let total = all.len() as u64;
        Ok(Page { items: window.cut(all).into_iter().map(Into::into).collect(), total, window })
    }
}
