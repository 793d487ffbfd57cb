//! Returns the status of an asynchronous edit.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::response::WireTime;
use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, needs_one};
use crate::engine::store::ReadTx;
use crate::features::emails::views::{EditView, Viewer};
use crate::features::emails::{READERS, require_email, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::{ConversationId, EditId, EmailId};
use crate::vocab::rates::RouteGroup;

/// `emails.edit_status`
pub struct EditStatus;

/// The edit and its email.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EditRef {
    pub email_id: EmailId,
    pub edit_id: EditId,
}

impl EditView {
    /// A value for examples.
    pub fn sample() -> Self {
        Self {
            edit_id: EditId::parse("66f1a2b3d4e5f60718293a4f").expect("24 hexadecimal characters"),
            email_id: EmailId::parse("66f1a2b3d4e5f60718293a4e").expect("24 hexadecimal characters"),
            conversation_id: ConversationId::parse("66f1a2b3d4e5f60718293a4d").expect("24 hexadecimal characters"),
            status: "processing",
            stage: "editing",
            created_at: WireTime::sample(),
            updated_at: WireTime::sample(),
            poll_after_ms: 1000,
            error: None,
            changes_may_have_been_saved: None,
            done: Vec::new(),
            result: None,
        }
    }
}

impl Operation for EditStatus {
    const SPEC: Spec = Spec::get("emails.edit_status", "/v1/emails/{emailId}/edits/{editId}", needs_one(READERS))
        .summary("Get the status of an edit")
        .rate(RouteGroup::Emails)
        .fails(&[Code::NotFound]);
    type Input = EditRef;
    type Output = Done<EditView>;

    fn example() -> (Value, Self::Output) {
        (json!({ "emailId": "66f1a2b3d4e5f60718293a4e", "editId": "66f1a2b3d4e5f60718293a4f" }), Done(EditView::sample()))
    }
}

impl Async for EditStatus {
    async fn run(context: Context, input: EditRef) -> Result<Self::Output, Failure> {
        let account = context.caller.account();
        let engine = context.engine.clone();
        let query = move |tx: &ReadTx| {
            let email = require_email(tx, account, input.email_id, None)?;
            let edit = store::edit(tx, account, input.edit_id)?.filter(|edit| edit.email == email.id);
            let edit = edit.ok_or_else(|| Failure::because(Code::NotFound, "The email has no edit with this id."))?;
            Viewer { engine: &engine, tx, account }.edit(&edit, &email)
        };
        context.read(query).await.map(Done)
    }
}
