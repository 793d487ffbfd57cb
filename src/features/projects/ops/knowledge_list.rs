//! Lists the knowledge base of a project.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Failure, Limit, Offset, Operation, Page, PageNumber, Query, Spec, View, Window, needs_one};
use crate::features::projects::views::KnowledgeView;
use crate::features::projects::{READERS, knowledge, require};
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;

pub struct KnowledgeList;

/// The page of entries to return.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListKnowledge {
    pub project_id: ProjectId,
    #[serde(default)]
    pub limit: Limit,
    /// The number of entries to skip.
    pub offset: Option<Offset>,
    /// The number of the page to return, starting at 1. Use it instead of `offset`; if both are set, `offset` is ignored.
    pub page: Option<PageNumber>,
}

impl Operation for KnowledgeList {
    const SPEC: Spec = Spec::get("projects.knowledge_list", "/v1/projects/{projectId}/knowledge-base", needs_one(READERS))
        .client("projects.knowledge.list")
        .summary("List a project's knowledge base")
        .about(
            "Lists entries, newest first. Includes entries from the project's own pages, with the `referenceOrigin` `website`.",
        )
        .blocking()
        .fails(&[Code::NotFound]);
    type Input = ListKnowledge;
    type Output = Page<KnowledgeView>;

    fn example() -> (Value, Self::Output) {
        let window = Window { limit: 20, offset: 0, paged: false };
        let page = Page { items: vec![KnowledgeView::sample()], total: 1, window };
        (json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "limit": 20 }), page)
    }
}

impl Query for KnowledgeList {
    fn run(view: &View<'_>, input: ListKnowledge) -> Result<Self::Output, Failure> {
        require(view.tx, view.caller.account(), input.project_id)?;
        let window = Window::new(input.limit, input.offset, input.page);
        let all = knowledge::all(view.tx, input.project_id)?;
        let total = all.len() as u64;
        Ok(Page { items: window.cut(all).into_iter().map(Into::into).collect(), total, window })
    }
}
