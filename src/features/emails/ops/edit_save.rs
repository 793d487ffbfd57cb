//! Saves a previewed edit without running the edit again.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::text::ShortText;
use crate::engine::api::{Async, Context, Done, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::{ReadTx, WriteTx};
use crate::features::emails::views::{EmailView, Viewer};
use crate::features::emails::{edits, require_email};
use crate::vocab::codes::Code;
use crate::vocab::ids::{EditId, EmailId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

/// The operation `emails.edit_save`.
pub struct EditSave;

/// The preview to save.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SaveEdit {
    pub email_id: EmailId,
    /// The `previewId` of the preview.
    pub edit_id: EditId,
    /// A name for the new version.
    pub label: Option<ShortText<{ limits::EDIT_LABEL_CHARACTERS_MAX }>>,
}

impl Operation for EditSave {
    const SPEC: Spec = Spec::post("emails.edit_save", "/v1/emails/{emailId}/edits/{editId}/save", needs(Permission::EmailWrite))
        .client("emails.edits.save")
        .summary("Save a previewed edit")
        .about(
            "Saves the email of the latest preview as a new version, without running the edit again. If the email has changed since the \
                preview, the response is 409 and nothing is saved.",
        )
        .rate(RouteGroup::Emails)
        .replay(Replay::Keyed)
        .fails(&[Code::NotFound, Code::EditFailed, Code::VersionConflict]);
    type Input = SaveEdit;
    type Output = Done<EmailView>;

    fn example() -> (Value, Self::Output) {
        let input = json!({ "emailId": "66f1a2b3d4e5f60718293a4e", "editId": "66f1a2b3d4e5f60718293a4f" });
        (input, Done(EmailView { version: 2, ..EmailView::sample() }))
    }
}

impl Async for EditSave {
    async fn run(context: Context, input: SaveEdit) -> Result<Self::Output, Failure> {
        let account = context.caller.account();
        let SaveEdit { email_id: id, edit_id: edit, label } = input;
        let label = label.filter(|label| !label.is_empty()).map(|label| label.to_string());
        let save = move |tx: &mut WriteTx<'_>| {
            let email = require_email(tx, account, id, None)?;
            edits::save_previewed(tx, account, email, edit, label)
        };
        context.write(&Self::SPEC, save).await?;
        let engine = context.engine.clone();
        let query = move |tx: &ReadTx| {
            let email = require_email(tx, account, id, None)?;
            Viewer { engine: &engine, tx, account }.email(&email)
        };
        context.read(query).await.map(Done)
    }
}
