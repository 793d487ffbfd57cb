//! Removes an entry from a project's knowledge base.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::knowledge_update::find;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::projects::views::RemovalResult;
use crate::features::projects::{knowledge, require};
use crate::vocab::codes::Code;
use crate::vocab::ids::{KnowledgeId, ProjectId};
use crate::vocab::permissions::Permission;

pub struct KnowledgeRemove;

/// Identifies an entry in a project's knowledge base.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KnowledgeRef {
    pub project_id: ProjectId,
    pub entry_id: KnowledgeId,
}

impl Operation for KnowledgeRemove {
    const SPEC: Spec = Spec::delete(
        "projects.knowledge_remove",
        "/v1/projects/{projectId}/knowledge-base/{entryId}",
        needs(Permission::ProjectWrite),
    )
    .client("projects.knowledge.delete")
    .summary("Remove an entry from a project's knowledge base")
    .about("An entry from the project's pages does not return when the sites are imported again.")
    .fails(&[Code::NotFound]);
    type Input = KnowledgeRef;
    type Output = Done<RemovalResult>;

    fn example() -> (Value, Self::Output) {
        let input = json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "entryId": "66f1a2b3c4d5e6f708192a3b" });
        (input, Done(RemovalResult { message: message("How we roast") }))
    }
}

impl Command for KnowledgeRemove {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: KnowledgeRef) -> Result<Self::Output, Failure> {
        require(tx, caller.account(), input.project_id)?;
        let entry = find(tx, input.project_id, input.entry_id)?;
        knowledge::remove(tx, input.project_id, &entry);
        Ok(Done(RemovalResult { message: message(&entry.title) }))
    }
}

fn message(title: &str) -> String {
    format!("The entry \"{title}\" was removed from the knowledge base.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    #[test]
    fn a_removed_text_is_gone() {
        let app = TestApp::new();
        let path = format!("/v1/projects/{}/knowledge-base", app.project);
        let made = app.post(&path, json!({ "title": "Roasting", "content": "Twice." })).data();
        let own = format!("{path}/{}", made["id"].as_str().expect("the entry has an id"));
        assert!(app.delete(&own).data()["message"].as_str().is_some_and(|text| text.contains("Roasting")));
        assert_eq!((app.delete(&own).refusal().0, &app.get(&path).data()["total"]), (404, &json!(0)));
    }
}
