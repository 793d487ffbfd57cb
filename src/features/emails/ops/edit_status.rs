//! Returns the status of an asynchronous edit.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::response::WireTime;
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs_one};
use crate::features::emails::views::{EditView, Viewer};
use crate::features::emails::{READERS, require_email, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::{ConversationId, EditId, EmailId};
use crate::vocab::rates::RouteGroup;

pub struct EditStatus;

/// The edit and its email.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EditRef {
    pub email_id: EmailId,
    pub edit_id: EditId,
}

impl EditView {
    /// Returns an example for the documentation.
    pub fn sample() -> Self {
        Self {
            edit_id: EditId::parse("66f1a2b3d4e5f60718293a4f").expect("the sample ID is valid"),
            email_id: EmailId::parse("66f1a2b3d4e5f60718293a4e").expect("the sample ID is valid"),
            conversation_id: ConversationId::parse("66f1a2b3d4e5f60718293a4d").expect("the sample ID is valid"),
            status: "processing",
            stage: "editing",
            created_at: WireTime::sample(),
            updated_at: WireTime::sample(),
            poll_after_ms: 1000,
            error: None,
            changes_may_have_been_saved: None,
            prompt: "Make the button green and shorten the intro".into(),
            done: Vec::new(),
            not_done: Vec::new(),
            result: None,
        }
    }
}

impl Operation for EditStatus {
    const SPEC: Spec = Spec::get("emails.edit_status", "/v1/emails/{emailId}/edits/{editId}", needs_one(READERS))
        .client("emails.edits.get")
        .summary("Get the status of an edit")
        .rate(RouteGroup::Emails)
        .blocking()
        .fails(&[Code::NotFound]);
    type Input = EditRef;
    type Output = Done<EditView>;

    fn example() -> (Value, Self::Output) {
        (json!({ "emailId": "66f1a2b3d4e5f60718293a4e", "editId": "66f1a2b3d4e5f60718293a4f" }), Done(EditView::sample()))
    }
}

impl Query for EditStatus {
    fn run(view: &View<'_>, input: EditRef) -> Result<Self::Output, Failure> {
        let account = view.caller.account();
        let tx = view.tx;
        let email = require_email(tx, account, input.email_id, None)?;
        let edit = store::edit(tx, account, input.edit_id)?.filter(|edit| edit.email == email.id);
        let edit = edit.ok_or_else(|| Failure::because(Code::NotFound, "The email has no edit with this ID."))?;
        Viewer { engine: &view.caller.engine, tx, account }.edit(&edit, &email).map(Done)
    }
}
