//! Lists the favorite emails in a project, which users can choose as references for new emails.

use std::ops::ControlFlow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::api::{Counted, Failure, Operation, Query, Spec, View, needs_one};
use crate::features::emails::views::{EmailView, Viewer};
use crate::features::emails::{READERS, store};
use crate::features::projects;
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;
use crate::vocab::limits;
use crate::vocab::rates::RouteGroup;

pub struct References;

/// The project whose favorite emails to list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListReferences {
    pub project_id: ProjectId,
}

/// The favorite emails in a project. To use an email as a reference, pass its `conversationId` as the `referenceId` of a generation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReferencesView {
    /// The favorite emails, newest first; at most 100.
    pub favorites: Vec<EmailView>,
    pub total: usize,
}

impl Operation for References {
    const SPEC: Spec = Spec::get("emails.references", "/v1/projects/{projectId}/references", needs_one(READERS))
        .client("projects.references")
        .summary("List favorite emails")
        .about("To use a favorite as a pattern, generate emails with the favorite's `conversationId` as `referenceId`.")
        .rate(RouteGroup::Emails)
        .blocking()
        .fails(&[Code::NotFound]);
    type Input = ListReferences;
    type Output = Counted<ReferencesView>;

    fn example() -> (Value, Self::Output) {
        let favorite = EmailView { favorite: true, ..EmailView::sample() };
        (
            json!({ "projectId": "66f1a2b3d4e5f60718293a4b" }),
            Counted { data: ReferencesView { favorites: vec![favorite], total: 1 }, count: 1 },
        )
    }
}

impl Query for References {
    fn run(view: &View<'_>, input: ListReferences) -> Result<Self::Output, Failure> {
        let account = view.caller.account();
        let tx = view.tx;
        projects::require(tx, account, input.project_id)?;
        let mut emails = Vec::new();
        store::visit_conversations(tx, account, input.project_id, |conversation| {
            emails.extend(store::emails(tx, account, conversation.id)?.into_iter().filter(|email| email.favorite));
            let is_full = emails.len() >= limits::PAGE_LIMIT_MAX as usize;
            Ok(if is_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        emails.truncate(limits::PAGE_LIMIT_MAX as usize);
        let viewer = Viewer { engine: &view.caller.engine, tx, account };
        let favorites = emails.iter().map(|email| viewer.email(email)).collect::<Result<Vec<_>, _>>()?;
        let count = favorites.len();
        Ok(Counted { data: ReferencesView { favorites, total: count }, count })
    }
}
