//! Adds an entry to a project's knowledge base.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::text::{LongText, Name, SOME_TEXT, ShortText};
use crate::engine::api::{BodySize, Caller, Command, Created, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::projects::knowledge::{self, Entry, KnowledgeOrigin};
use crate::features::projects::views::KnowledgeView;
use crate::features::projects::{Site, require};
use crate::vocab::codes::Code;
use crate::vocab::ids::{KnowledgeId, ProjectId};
use crate::vocab::limits::{
    FILE_NAME_CHARACTERS_MAX, KNOWLEDGE_CONTENT_CHARACTERS_MAX, KNOWLEDGE_ENTRIES_MAX, KNOWLEDGE_TITLE_CHARACTERS_MAX,
};
use crate::vocab::permissions::Permission;

pub struct KnowledgeAdd;

pub type Content = LongText<KNOWLEDGE_CONTENT_CHARACTERS_MAX>;
pub type Title = Name<KNOWLEDGE_TITLE_CHARACTERS_MAX>;
/// The name of the file from which an entry was created.
pub type FileName = ShortText<FILE_NAME_CHARACTERS_MAX>;

/// The entry to add.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewKnowledge {
    pub project_id: ProjectId,
    pub title: Title,
    /// The content of the entry, as plain text or Markdown.
    #[schemars(extend("pattern" = SOME_TEXT))]
    pub content: Content,
    /// The name of the file from which the entry was created.
    pub source_file_name: Option<FileName>,
    /// The origin of the entry. The default is `manual`.
    pub reference_origin: Option<ReferenceOrigin>,
    /// An HTML preview of the entry. It is stored and returned unchanged.
    pub preview_html: Option<Content>,
    pub thumbnail_url: Option<Site>,
    pub screenshot_url: Option<Site>,
}

/// The origin of an entry that a caller adds.
#[derive(Clone, Copy)]
pub struct ReferenceOrigin(KnowledgeOrigin);

const ORIGINS: [(&str, KnowledgeOrigin); 3] =
    [("favorite", KnowledgeOrigin::Favorite), ("upload", KnowledgeOrigin::Upload), ("manual", KnowledgeOrigin::Manual)];

impl std::str::FromStr for ReferenceOrigin {
    type Err = &'static str;

    fn from_str(given: &str) -> Result<Self, Self::Err> {
        let known = ORIGINS.iter().find(|(word, _)| *word == given);
        known.map(|(_, origin)| Self(*origin)).ok_or("must be `favorite`, `upload` or `manual`")
    }
}

impl<'de> Deserialize<'de> for ReferenceOrigin {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        crate::base::serde_str::deserialize(deserializer, "favorite, upload or manual")
    }
}

impl JsonSchema for ReferenceOrigin {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ReferenceOrigin".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": ORIGINS.map(|(word, _)| word) })
    }
}

impl Operation for KnowledgeAdd {
    const SPEC: Spec = Spec::post(
        "projects.knowledge_add",
        "/v1/projects/{projectId}/knowledge-base",
        needs(Permission::ProjectWrite),
    ).client("projects.knowledge.create")
    .summary("Add an entry to a project's knowledge base")
    .about("Emails that are generated afterward can use the entry. Adding the same title and content again returns the existing entry.")
    .replay(Replay::Keyed)
    .body(BodySize::Bulk)
    .fails(&[Code::NotFound, Code::LimitReached]);
    type Input = NewKnowledge;
    type Output = Created<KnowledgeView>;

    fn example() -> (Value, Self::Output) {
        let entry = KnowledgeView::sample();
        let input = json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "title": entry.title, "content": entry.content });
        (input, Created(entry))
    }
}

impl Command for KnowledgeAdd {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: NewKnowledge) -> Result<Self::Output, Failure> {
        let project = input.project_id;
        require(tx, caller.account(), project)?;
        if input.content.is_empty() {
            return Err(Failure::field("content", "the content is empty; enter some text"));
        }
        let all = knowledge::all(tx, project)?;
        if let Some(same) = all.iter().find(|entry| entry.title == *input.title && entry.content == *input.content) {
            return Ok(Created(same.clone().into()));
        }
        if all.len() >= KNOWLEDGE_ENTRIES_MAX {
            let detail = format!("A knowledge base can have at most {KNOWLEDGE_ENTRIES_MAX} entries. Remove an entry first.");
            return Err(Failure::because(Code::LimitReached, detail));
        }
        let text = |text: String| Some(text).filter(|text| !text.is_empty());
        let entry = Entry {
            id: KnowledgeId::make(tx.now(), tx.random()),
            title: input.title.to_string(),
            content: input.content.to_string(),
            origin: input.reference_origin.map_or(KnowledgeOrigin::Manual, |origin| origin.0),
            url: None,
            source_file_name: input.source_file_name.and_then(|name| text(name.into_string())),
            preview_html: input.preview_html.and_then(|html| text(html.to_string())),
            thumbnail_url: input.thumbnail_url.map(|url| url.as_str().to_owned()),
            screenshot_url: input.screenshot_url.map(|url| url.as_str().to_owned()),
            date: tx.now(),
        };
        knowledge::save(tx, project, &entry);
        Ok(Created(entry.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    fn path(app: &TestApp) -> String {
        format!("/v1/projects/{}/knowledge-base", app.project)
    }

    #[test]
    fn adding_a_text_twice_creates_one_entry() {
        let app = TestApp::new();
        let body =
            json!({ "title": "Roasting", "content": "Twice a week.", "referenceOrigin": "upload", "sourceFileName": "r.md" });
        let made = app.post(&path(&app), body.clone()).data();
        assert_eq!((&made["referenceOrigin"], &made["sourceFileName"]), (&json!("upload"), &json!("r.md")));
        assert_eq!(app.post(&path(&app), body).data()["id"], made["id"]);
        let listed = app.get(&path(&app)).data();
        assert_eq!((&listed["total"], &listed["entries"][0]), (&json!(1), &made));
    }

    #[test]
    fn invalid_texts_are_rejected_with_the_field() {
        let app = TestApp::new();
        for (body, field) in [
            (json!({ "title": " ", "content": "a" }), "title"),
            (json!({ "title": "a", "content": " " }), "content"),
            (json!({ "title": "a", "content": "a", "referenceOrigin": "website" }), "referenceOrigin"),
            (json!({ "title": "a", "content": "a".repeat(100_001) }), "content"),
        ] {
            let answer = app.post(&path(&app), body);
            let (status, _, detail) = answer.refusal();
            assert!(status == 400 && detail.starts_with(field), "{detail}");
        }
    }
}
