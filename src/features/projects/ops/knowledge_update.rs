//! Changes an entry in a project's knowledge base.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::knowledge_add::{Content, FileName, Title};
use crate::base::text::SOME_TEXT;
use crate::engine::api::{BodySize, Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::{Read, WriteTx};
use crate::features::projects::knowledge::{self, Entry, KnowledgeOrigin};
use crate::features::projects::require;
use crate::features::projects::views::KnowledgeView;
use crate::vocab::codes::Code;
use crate::vocab::ids::{KnowledgeId, ProjectId};
use crate::vocab::permissions::Permission;

pub struct KnowledgeUpdate;

/// The changes to an entry. Omitted fields stay unchanged.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KnowledgePatch {
    pub project_id: ProjectId,
    pub entry_id: KnowledgeId,
    pub title: Option<Title>,
    /// The content of the entry, as plain text or Markdown.
    #[schemars(extend("pattern" = SOME_TEXT))]
    pub content: Option<Content>,
    /// The name of the file from which the entry was created; an empty string clears it.
    pub source_file_name: Option<FileName>,
}

impl Operation for KnowledgeUpdate {
    const SPEC: Spec = Spec::put(
        "projects.knowledge_update",
        "/v1/projects/{projectId}/knowledge-base/{entryId}",
        needs(Permission::ProjectWrite),
    ).client("projects.knowledge.update")
    .summary("Change an entry in a project's knowledge base")
    .about("If you change an entry that was read from a site, the entry becomes your own: importing the site again does not replace it.")
    .body(BodySize::Bulk)
    .fails(&[Code::NotFound]);
    type Input = KnowledgePatch;
    type Output = Done<KnowledgeView>;

    fn example() -> (Value, Self::Output) {
        let entry = KnowledgeView::sample();
        let input = json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "entryId": entry.id, "title": entry.title });
        (input, Done(entry))
    }
}

impl Command for KnowledgeUpdate {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: KnowledgePatch) -> Result<Self::Output, Failure> {
        let project = input.project_id;
        require(tx, caller.account(), project)?;
        let before = find(tx, project, input.entry_id)?;
        let mut after = before.clone();
        if let Some(title) = input.title {
            after.title = title.to_string();
        }
        match input.content {
            Some(content) if content.is_empty() => {
                return Err(Failure::field("content", "the content is empty; enter some text, or remove the entry"));
            }
            Some(content) => after.content = content.to_string(),
            None => {}
        }
        if let Some(name) = input.source_file_name {
            after.source_file_name = Some(name.into_string()).filter(|name| !name.is_empty());
        }
        if after != before {
            if after.origin == KnowledgeOrigin::Website {
                after.origin = KnowledgeOrigin::Manual;
            }
            after.date = tx.now();
            knowledge::save(tx, project, &after);
        }
        Ok(Done(after.into()))
    }
}

/// Returns the entry with this ID, or a not-found failure.
pub fn find(tx: &impl Read, project: ProjectId, id: KnowledgeId) -> Result<Entry, Failure> {
    let absent = || Failure::because(Code::NotFound, "The knowledge base has no entry with this ID.");
    knowledge::find(tx, project, id)?.ok_or_else(absent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    #[test]
    fn only_given_fields_change_and_texts_of_other_projects_are_not_found() {
        let app = TestApp::new();
        let path = format!("/v1/projects/{}/knowledge-base", app.project);
        let made = app.post(&path, json!({ "title": "Roasting", "content": "Twice.", "sourceFileName": "r.md" })).data();
        let id = made["id"].as_str().expect("the entry has an id").to_owned();
        app.clock.advance_ms(1_000);
        let changed = app.put(&format!("{path}/{id}"), json!({ "content": "Daily.", "sourceFileName": "" })).data();
        assert_eq!((&changed["title"], &changed["content"]), (&json!("Roasting"), &json!("Daily.")));
        assert_eq!(changed["sourceFileName"], json!(null));
        assert_ne!(changed["date"], made["date"]);
        let other = app.another_project();
        assert_eq!(app.put(&format!("/v1/projects/{other}/knowledge-base/{id}"), json!({})).refusal().0, 404);
    }
}
