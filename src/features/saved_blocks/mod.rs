//! Saved blocks: blocks that users saved under a name in a brand, for use in other emails.

pub mod ops;
mod store;
pub mod views;

pub use store::{ROW_CHECKS, all, save};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::clock::Timestamp;
use crate::base::text::{Name, fold};
use crate::engine::api::Failure;
use crate::engine::store::{Read, Record};
use crate::features::emails::document::{Email as Document, Violation, forget_names, name_blocks};
use crate::vocab::codes::Code;
use crate::vocab::ids::{ProjectId, SavedBlockId};
use crate::vocab::limits;

pub type BlockName = Name<{ limits::SAVED_BLOCK_NAME_CHARACTERS_MAX }>;

/// A saved block as stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedBlock {
    pub id: SavedBlockId,
    pub name: String,
    /// The block as JSON, without IDs: a block receives new IDs in each document.
    pub block: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Record for SavedBlock {}

fn find(tx: &impl Read, project: ProjectId, id: SavedBlockId) -> Result<SavedBlock, Failure> {
    store::get(tx, project, id)?.ok_or_else(|| {
        Failure::because(Code::NotFound, "The brand has no saved block with this ID.")
            .see("saved_blocks.list", "GET /v1/projects/{projectId}/blocks lists the saved blocks")
    })
}

/// Fails if another saved block of the brand has this name, ignoring case.
fn check_name(tx: &impl Read, project: ProjectId, name: &str, own: Option<SavedBlockId>) -> Result<(), Failure> {
    let taken = store::all(tx, project)?.into_iter().find(|block| fold(&block.name) == fold(name) && Some(block.id) != own);
    match taken {
        None => Ok(()),
        Some(taken) => {
            let detail = format!("another saved block has the name {:?}; choose a different name", taken.name);
            Err(Failure::because(Code::NameTaken, detail).in_field("name").with(json!({ "id": taken.id })))
        }
    }
}

/// Returns a block in its stored form. Fails if the block is invalid, or is a header or footer, which cannot be saved.
fn checked(block: &Value) -> Result<String, Failure> {
    let mut block = block.clone();
    forget_names(&mut block);
    if matches!(block["type"].as_str(), Some("header" | "footer")) {
        return Err(Failure::field(
            "block.type",
            "headers and footers cannot be saved, because an email has exactly one of each; save a different block",
        ));
    }
    // Check the block in an email with a header and a footer: the block is valid if this email is valid.
    let frame = [
        json!({ "type": "header", "id": "frame-header", "name": "A" }),
        json!({ "type": "footer", "id": "frame-footer", "sender": "A", "unsubscribe": "A" }),
    ];
    let mut named = block.clone();
    name_blocks(&json!({ "blocks": frame }), &mut named);
    let [header, footer] = frame;
    let email = json!({
        "version": 1, "language": "en", "direction": "ltr", "purpose": "announcement", "subject": "A", "preheader": "A", "style": {},
        "blocks": [header, named, footer],
    });
    match Document::from_json(&email) {
        Ok(_) => Ok(block.to_string()),
        Err(found) => {
            let Violation { path, problem, .. } = &found[0];
            let inside = path.strip_prefix("blocks[1]").unwrap_or_default();
            Err(Failure::field(&format!("block{inside}"), problem))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::TestApp;

    fn path(app: &TestApp) -> String {
        format!("/v1/projects/{}/blocks", app.project)
    }

    #[test]
    fn a_block_is_saved_listed_renamed_and_deleted() {
        let app = TestApp::new();
        let block = json!({ "type": "columns", "id": "c", "columns": [
            { "blocks": [{ "type": "text", "id": "c1", "text": "Left" }] }, { "blocks": [{ "type": "divider", "id": "c2" }] },
        ] });
        let made = app.post(&path(&app), json!({ "name": "Two columns", "block": block })).data();
        assert_eq!(made["block"]["columns"][0]["blocks"][0], json!({ "type": "text", "text": "Left" }));
        let one = format!("{}/{}", path(&app), made["id"].as_str().expect("the block has an ID"));
        assert_eq!(app.patch(&one, json!({ "name": "Columns" })).data()["name"], "Columns");
        let listed = app.get(&path(&app)).data();
        assert_eq!((&listed["total"], &listed["blocks"][0]["name"]), (&json!(1), &json!("Columns")));
        assert_eq!(app.delete(&one).data()["deleted"], true);
        assert_eq!(app.delete(&one).refusal().0, 404);
        assert_eq!(app.get(&path(&app)).data()["total"], 0);
    }

    #[test]
    fn names_are_unique_and_blocks_are_checked() {
        let app = TestApp::new();
        let save = |name: &str, block: serde_json::Value| app.post(&path(&app), json!({ "name": name, "block": block }));
        let text = json!({ "type": "text", "text": "Hello" });
        let first = save("Hello", text.clone()).data();
        let again = save("hello", text.clone());
        assert_eq!((again.refusal().1, &again.body["data"]["id"]), ("NAME_TAKEN", &first["id"]));
        for (block, expected) in [
            (json!({ "type": "text", "text": "" }), "block.text: is empty"),
            (json!({ "type": "turn" }), "block.type: is \"turn\""),
            (json!({ "type": "footer", "sender": "A", "unsubscribe": "A" }), "block.type: headers and footers cannot be saved"),
            (json!([]), "block"),
        ] {
            let answer = save("Other", block);
            assert!(answer.refusal().0 == 400 && answer.refusal().2.starts_with(expected), "{:?}", answer.refusal());
        }
    }

    #[test]
    fn a_project_has_a_limited_number_of_saved_blocks() {
        let app = TestApp::new();
        let text = json!({ "type": "text", "text": "Hello" });
        for number in 0..crate::vocab::limits::SAVED_BLOCKS_MAX {
            app.post(&path(&app), json!({ "name": format!("Block {number}"), "block": text })).data();
        }
        assert_eq!(app.post(&path(&app), json!({ "name": "One more", "block": text })).refusal().1, "LIMIT_REACHED");
    }
}
