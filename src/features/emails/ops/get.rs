//! Returns one email.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::response::WireTime;
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs_one};
use crate::features::emails::model::COMPOSER;
use crate::features::emails::views::{EmailDetails, EmailView, SiblingView, Viewer};
use crate::features::emails::{READERS, require_email};
use crate::vocab::codes::Code;
use crate::vocab::ids::{ConversationId, EmailId, ProjectId};
use crate::vocab::rates::RouteGroup;

pub struct Get;

/// The email to return.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EmailRef {
    pub email_id: EmailId,
    /// If given, the email must belong to the project with this ID.
    pub project_id: Option<ProjectId>,
}

impl EmailView {
    /// Returns an example for the documentation.
    pub fn sample() -> Self {
        let id = EmailId::parse("66f1a2b3d4e5f60718293a4e").expect("the sample ID is valid");
        Self {
            id,
            email_id: id,
            conversation_id: ConversationId::parse("66f1a2b3d4e5f60718293a4d").expect("the sample ID is valid"),
            project_id: ProjectId::parse("66f1a2b3d4e5f60718293a4b").expect("the sample ID is valid"),
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
            written_by: Some(COMPOSER.into()),
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
        .blocking()
        .fails(&[Code::NotFound]);
    type Input = EmailRef;
    type Output = Done<EmailDetails>;

    fn example() -> (Value, Self::Output) {
        let email = EmailView::sample();
        let sibling = SiblingView { email_id: email.id, slot: 1, language: "en".into(), status: "ready" };
        let details =
            EmailDetails { email, document: None, prompt: "Welcome new subscribers".into(), brief: None, series: vec![sibling] };
        (json!({ "emailId": "66f1a2b3d4e5f60718293a4e" }), Done(details))
    }
}

impl Query for Get {
    fn run(view: &View<'_>, input: EmailRef) -> Result<Self::Output, Failure> {
        let account = view.caller.account();
        let tx = view.tx;
        let email = require_email(tx, account, input.email_id, input.project_id)?;
        Viewer { engine: &view.caller.engine, tx, account }.details(&email).map(Done)
    }
}
