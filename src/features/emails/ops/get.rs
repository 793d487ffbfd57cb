//! Returns one email.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::response::WireTime;
use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, needs_one};
use crate::engine::store::ReadTx;
use crate::features::emails::views::{EmailDetails, EmailView, SiblingView, Viewer};
use crate::features::emails::{READERS, require_email};
use crate::vocab::codes::Code;
use crate::vocab::ids::{ConversationId, EmailId, ProjectId};
use crate::vocab::rates::RouteGroup;

/// `emails.get`
pub struct Get;

/// The email.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EmailRef {
    pub email_id: EmailId,
    /// If set, the email must belong to this project.
    pub project_id: Option<ProjectId>,
}

impl EmailView {
    /// A value for examples.
    pub fn sample() -> Self {
        let id = EmailId::parse("66f1a2b3d4e5f60718293a4e").expect("24 hexadecimal characters");
        Self {
            id,
            email_id: id,
            conversation_id: ConversationId::parse("66f1a2b3d4e5f60718293a4d").expect("24 hexadecimal characters"),
            project_id: ProjectId::parse("66f1a2b3d4e5f60718293a4b").expect("24 hexadecimal characters"),
            message_id: format!("{id}-1"),
            slot_idx: 0,
            slot: 1,
            slot_uuid: "0d3f1f9a-6c1e-8b7a-9f63-0a7f6a3c2d11".into(),
            language: "en".into(),
            status: "ready",
            subject: "Welcome to Acme".into(),
            preheader: "Here is what you can look forward to.".into(),
            html: "<!doctype html><html lang=\"en\">…</html>".into(),
            text: "Welcome to Acme …".into(),
            send_offset_days: None,
            screenshot_url: None,
            screenshot_full_url: None,
            thumbnail_url: None,
            share_url: None,
            warnings: Vec::new(),
            error: None,
            favorite: false,
            version: 1,
            created_at: WireTime::sample(),
            updated_at: WireTime::sample(),
        }
    }
}

impl Operation for Get {
    const SPEC: Spec = Spec::get("emails.get", "/v1/emails/{emailId}", needs_one(READERS))
        .summary("Get an email")
        .rate(RouteGroup::Emails)
        .fails(&[Code::NotFound]);
    type Input = EmailRef;
    type Output = Done<EmailDetails>;

    fn example() -> (Value, Self::Output) {
        let email = EmailView::sample();
        let sibling = SiblingView { email_id: email.id, slot: 1, language: "en".into(), status: "ready" };
        let details = EmailDetails { email, document: None, series: vec![sibling] };
        (json!({ "emailId": "66f1a2b3d4e5f60718293a4e" }), Done(details))
    }
}

impl Async for Get {
    async fn run(context: Context, input: EmailRef) -> Result<Self::Output, Failure> {
        let account = context.caller.account();
        let engine = context.engine.clone();
        let query = move |tx: &ReadTx| {
            let email = require_email(tx, account, input.email_id, input.project_id)?;
            Viewer { engine: &engine, tx, account }.details(&email)
        };
        context.read(query).await.map(Done)
    }
}
