//! Edits an email with a prompt.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use crate::base::text::{LongText, SOME_TEXT, ShortText};
use crate::engine::api::{Async, Context, Done, Failure, Operation, Replay, Spec, needs};
use crate::engine::hold;
use crate::engine::store::{ReadTx, WriteTx};
use crate::features::emails::generation::context::StageContext;
use crate::features::emails::model::{Edit as Row, EditState, Email, Stage};
use crate::features::emails::ops::generate::choose_model;
use crate::features::emails::views::{EditView, EditedEmail, EmailView, Viewer};
use crate::features::emails::{edits, require_email, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, EditId, EmailId, ProjectId};
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;
use crate::vocab::{limits, tables};

pub struct Edit;

/// The email to edit, the change, and options for making and saving the change.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EditEmail {
    pub email_id: EmailId,
    /// If given, the email must belong to the project with this ID.
    pub project_id: Option<ProjectId>,
    /// The change to make, in plain words, such as "make the button green and shorten the intro".
    #[schemars(extend("pattern" = SOME_TEXT))]
    pub prompt: LongText<{ limits::PROMPT_CHARACTERS_MAX }>,
    /// The model that makes the change: `composer`, or the name of a language model in the settings. If absent, the model that was
    /// requested for the email's generation is used; if that model is no longer configured, the default model is used.
    pub model: Option<String>,
    /// A name for the new version.
    pub label: Option<ShortText<{ limits::EDIT_LABEL_CHARACTERS_MAX }>>,
    /// Whether to respond immediately with the unfinished edit, whose status can be polled, instead of waiting for the edited email.
    #[serde(default, rename = "async")]
    pub is_async: bool,
    /// Whether to return the changed email without saving it. A preview ignores `async` and `label`, and can be saved
    /// with its `previewId`.
    #[serde(default)]
    pub preview: bool,
}

/// The edited email. With `async`, or if the edit takes longer than 20 seconds, the unfinished edit instead, whose status can be polled.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum EmailEditResult {
    Email(Box<EditedEmail>),
    Operation(Box<EditView>),
}

impl Operation for Edit {
    const SPEC: Spec = Spec::post("emails.edit", "/v1/emails/{emailId}/edit", needs(Permission::EmailWrite)).client("emails.edits.create")
        .summary("Edit an email with a prompt")
        .about(
            "Returns the changed email, and lists what was done and what was not. With `async`, or after 20 seconds, it returns the edit \
             instead; poll the edit with GET /v1/emails/{emailId}/edits/{editId}. With `preview`, it returns the changed email without \
             saving it, and a `previewId` with which you can save the change. Earlier versions can be restored. A prompt that is not \
             understood changes nothing.",
        )
        .rate(RouteGroup::Emails)
        .replay(Replay::Keyed)
        .fails(&[Code::NotFound, Code::EditFailed, Code::LimitReached, Code::ModelNotConfigured]);
    type Input = EditEmail;
    type Output = Done<EmailEditResult>;

    fn example() -> (Value, Self::Output) {
        let input = json!({ "emailId": "66f1a2b3d4e5f60718293a4e", "prompt": "Make the button green and shorten the intro" });
        let done = vec!["Changed the color of: button → #2E7D32.".to_owned()];
        let not_done = vec!["“shorten the intro” was not applied: the email has no filler.".to_owned()];
        (
            input,
            Done(EmailEditResult::Email(Box::new(EditedEmail {
                email: EmailView::sample(),
                document: None,
                done,
                not_done,
                preview_id: None,
            }))),
        )
    }
}

impl Async for Edit {
    async fn run(context: Context, input: EditEmail) -> Result<Self::Output, Failure> {
        let account = context.caller.account();
        if input.prompt.is_empty() {
            return Err(Failure::field("prompt", "must not be empty; describe the change"));
        }
        let deadline = Instant::now() + Duration::from_millis(limits::EDIT_WAIT_MS);
        let is_async = input.is_async;
        let model = choose_model(input.model.as_deref(), &context.engine.models)?;
        if input.preview {
            return preview(&context, account, &input, model, deadline).await.map(Done);
        }
        let id = context.write(&Self::SPEC, move |tx| open(tx, account, &input, model)).await?;
        loop {
            let store = context.data().store.clone();
            // Subscribe before reading the edit, so that no change in between is missed.
            let changed = store.changed(tables::EMAIL_EDITS).notified();
            let row = store::edit(&store.read(), account, id)?;
            let row = row.ok_or_else(|| Failure::internal("an edit that was just created is missing; report this bug"))?;
            let is_over = matches!(row.state, EditState::Completed(_) | EditState::Failed(_));
            if is_async || is_over || timeout_at(deadline, changed).await.is_err() {
                return answer(&context, account, row, is_async).await.map(Done);
            }
        }
    }
}

/// Returns the email as the edit would change it.
async fn preview(
    context: &Context,
    account: AccountId,
    input: &EditEmail,
    model: Option<String>,
    deadline: Instant,
) -> Result<EmailEditResult, Failure> {
    let (id, project) = (input.email_id, input.project_id);
    let engine = context.engine.clone();
    let query = move |tx: &ReadTx| {
        let email = require_email(tx, account, id, project)?;
        require_ready(&email)?;
        let view = Viewer { engine: &engine, tx, account }.email(&email)?;
        Ok((email, view))
    };
    let (email, view) = context.read(query).await?;
    let stages = StageContext { engine: context.engine.clone(), data: context.data().clone() };
    let previewing = edits::preview(&stages, account, &email, &input.prompt, model.as_deref());
    let late = || {
        Failure::because(
            Code::EditFailed,
            "The preview took too long. Apply the edit without a preview; you can restore the earlier version afterward.",
        )
    };
    let made = timeout_at(deadline, previewing).await.map_err(|_| late())??;
    let (id, made) = made.map_err(|reason| Failure::because(Code::EditFailed, reason))?;
    let project = email.project;
    let shown = context.read(move |tx| Ok(made.shown(tx, project, view, id)?)).await?;
    Ok(EmailEditResult::Email(Box::new(shown)))
}

fn require_ready(email: &Email) -> Result<(), Failure> {
    let detail =
        "Only finished emails can be edited. Wait until the email is ready or, if its generation failed, generate it again.";
    if email.stage == Stage::Ready { Ok(()) } else { Err(Failure::because(Code::EditFailed, detail)) }
}

fn open(tx: &mut WriteTx<'_>, account: AccountId, input: &EditEmail, model: Option<String>) -> Result<EditId, Failure> {
    let email = require_email(tx, account, input.email_id, input.project_id)?;
    require_ready(&email)?;
    let max = limits::EDITS_WAITING_MAX;
    if store::open_edits(tx, max)?.len() >= max {
        let detail = format!("{max} edits are already queued or running. Try again when some have finished.");
        return Err(Failure::because(Code::LimitReached, detail));
    }
    let row = Row {
        id: EditId::make(tx.now(), tx.random()),
        email: email.id,
        account,
        prompt: input.prompt.to_string(),
        model,
        label: input.label.as_ref().filter(|label| !label.is_empty()).map(|label| label.to_string()),
        state: EditState::Pending,
        done: Vec::new(),
        not_done: Vec::new(),
        attempts: 0,
        hold_number: hold::last_number(tx)?,
        created_at: tx.now(),
        updated_at: tx.now(),
    };
    store::open_edit(tx, &row);
    Ok(row.id)
}

async fn answer(context: &Context, account: AccountId, row: Row, is_async: bool) -> Result<EmailEditResult, Failure> {
    let engine = context.engine.clone();
    let query = move |tx: &ReadTx| {
        let email = require_email(tx, account, row.email, None)?;
        let viewer = Viewer { engine: &engine, tx, account };
        match &row.state {
            EditState::Completed(_) if !is_async => {
                let (done, not_done) = (row.done.clone(), row.not_done.clone());
                let email = viewer.email(&email)?;
                Ok(EmailEditResult::Email(Box::new(EditedEmail { email, document: None, done, not_done, preview_id: None })))
            }
            EditState::Failed(reason) if !is_async => {
                Err(Failure::because(Code::EditFailed, reason.clone()).with(json!({ "editId": row.id })))
            }
            _ => Ok(EmailEditResult::Operation(Box::new(viewer.edit(&row, &email)?))),
        }
    };
    context.read(query).await
}
