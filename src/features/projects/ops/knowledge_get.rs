//! Returns one entry in a project's knowledge base.

use serde_json::{Value, json};

use super::knowledge_remove::KnowledgeRef;
use super::knowledge_update::find;
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs_one};
use crate::features::projects::views::KnowledgeView;
use crate::features::projects::{READERS, require};
use crate::vocab::codes::Code;

pub struct KnowledgeGet;

impl Operation for KnowledgeGet {
    const SPEC: Spec =
        Spec::get("projects.knowledge_get", "/v1/projects/{projectId}/knowledge-base/{entryId}", needs_one(READERS))
            .client("projects.knowledge.get")
            .summary("Get an entry in a project's knowledge base")
            .fails(&[Code::NotFound]);
    type Input = KnowledgeRef;
    type Output = Done<KnowledgeView>;

    fn example() -> (Value, Self::Output) {
        let entry = KnowledgeView::sample();
        (json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "entryId": entry.id }), Done(entry))
    }
}

impl Query for KnowledgeGet {
    fn run(view: &View<'_>, input: KnowledgeRef) -> Result<Self::Output, Failure> {
        require(view.tx, view.caller.account(), input.project_id)?;
        Ok(Done(find(view.tx, input.project_id, input.entry_id)?.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    #[test]
    fn a_text_is_found_only_in_its_own_project() {
        let app = TestApp::new();
        let path = format!("/v1/projects/{}/knowledge-base", app.project);
        let made = app.post(&path, json!({ "title": "Roasting", "content": "Twice." })).data();
        let id = made["id"].as_str().expect("the entry has an id").to_owned();
        assert_eq!(app.get(&format!("{path}/{id}")).data(), made);
        let other = app.another_project();
        assert_eq!(app.get(&format!("/v1/projects/{other}/knowledge-base/{id}")).refusal().0, 404);
    }
}
