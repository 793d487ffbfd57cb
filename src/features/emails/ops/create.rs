//! Creates an email from a starter design or a document, without a prompt.

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::clock::Timestamp;
use crate::base::locale::LanguageTag;
use crate::engine::api::{Async, Context, Created, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::{ReadTx, WriteTx};
use crate::features::emails::document::Email as Document;
use crate::features::emails::generation::context::date;
use crate::features::emails::generation::stages::new_email;
use crate::features::emails::model::{COMPOSER, Conversation, Email, GenerationRequest, Source, Stage, State, Visibility};
use crate::features::emails::views::{EmailDetails, EmailView, SiblingView, Viewer};
use crate::features::emails::{designs, direct, require_email, store};
use crate::features::projects;
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, ConversationId, ProjectId};
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;
use crate::vocab::settings::OnFailure;

/// The operation `emails.create`.
pub struct Create;

/// The email to create, from a starter design or a complete document.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewEmail {
    /// The project of the brand that sends the email.
    pub project_id: ProjectId,
    /// The name of a starter design; `blank` if both `design` and `document` are absent. The brand's header and footer are added.
    pub design: Option<String>,
    /// The email's document: typed blocks, starting with a header and ending with a footer.
    pub document: Option<Value>,
    /// The language of a design's header and footer, as a BCP 47 tag. The default is the brand's main language. The text of designs is in
    /// English.
    pub language: Option<LanguageTag>,
    /// Who may see the email without an API key. The default is `private`.
    #[serde(default)]
    pub visibility: Visibility,
}

impl Operation for Create {
    const SPEC: Spec = Spec::post("emails.create", "/v1/emails", needs(Permission::EmailWrite))
        .summary("Create an email from a design or a document")
        .about("The email is ready immediately. Its screenshots follow within seconds.")
        .rate(RouteGroup::Emails)
        .replay(Replay::Keyed)
        .fails(&[Code::NotFound]);
    type Input = NewEmail;
    type Output = Created<EmailDetails>;

    fn example() -> (Value, Self::Output) {
        let email = EmailView::sample();
        let sibling = SiblingView { email_id: email.id, slot: 1, language: "en".into(), status: "ready" };
        let details = EmailDetails { email, document: None, prompt: String::new(), brief: None, series: vec![sibling] };
        (json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "design": "blank" }), Created(details))
    }
}

impl Async for Create {
    async fn run(context: Context, input: NewEmail) -> Result<Self::Output, Failure> {
        let account = context.caller.account();
        let by = direct::author(&context.caller.principal)?;
        let (now, random, visibility) = (context.now(), context.engine.random.clone(), input.visibility);
        let (id, seed) = (ConversationId::make(now, random.as_ref()), u64::from_be_bytes(random.bytes()));
        let prepare = move |tx: &ReadTx| {
            projects::require(tx, account, input.project_id)?;
            let document = document(tx, account, &input, date(now))?;
            let conversation = conversation(id, input.project_id, &document, visibility, (seed, now));
            let made = direct::render(tx, account, &conversation, document)?;
            Ok((conversation, made))
        };
        let (conversation, made) = context.read(prepare).await?;
        let save = move |tx: &mut WriteTx<'_>| {
            projects::require(tx, account, conversation.project)?;
            store::open(tx, account, &conversation);
            // The email is complete, so there is nothing to generate.
            store::close(tx, account, conversation.id);
            let email = new_email(tx, &conversation, 0, made.document.language.as_str(), None);
            let email = Email { stage: Stage::Ready, version: 1, versions: 1, ..email };
            direct::begin(tx, account, &email, made, by);
            Ok(email.id)
        };
        let id = context.write(&Self::SPEC, save).await?;
        let engine = context.engine.clone();
        let query = move |tx: &ReadTx| {
            let email = require_email(tx, account, id, None)?;
            Viewer { engine: &engine, tx, account }.details(&email)
        };
        context.read(query).await.map(Created)
    }
}

/// Returns the requested document.
fn document(tx: &ReadTx, account: AccountId, input: &NewEmail, today: Date) -> Result<Document, Failure> {
    match (&input.design, &input.document) {
        (Some(_), Some(_)) => Err(Failure::field("document", "set either `design` or `document`, not both")),
        (None, Some(document)) => Document::from_json(document).map_err(|found| direct::invalid(&found)),
        (design, None) => {
            let name = design.as_deref().unwrap_or(designs::BLANK);
            designs::written(tx, account, input.project_id, name, input.language, today)
        }
    }
}

/// Returns the conversation of an email that was created without a prompt.
pub fn conversation(
    id: ConversationId,
    project: ProjectId,
    document: &Document,
    visibility: Visibility,
    (seed, now): (u64, Timestamp),
) -> Conversation {
    let wanted = GenerationRequest {
        prompt: String::new(),
        brief: None,
        model: COMPOSER.to_owned(),
        on_failure: OnFailure::Fail,
        languages: vec![document.language.as_str().to_owned()],
        count: Some(1),
        images: Vec::new(),
        reference: None,
        web: false,
        pages: Vec::new(),
        visibility,
        source: Source::Document,
    };
    let title = Some(document.subject.as_str().to_owned());
    let state = State::Completed;
    Conversation {
        id,
        project,
        wanted,
        state,
        title,
        plan: None,
        seed,
        usage: Default::default(),
        hold_number: 0,
        created_at: now,
        updated_at: now,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    #[test]
    fn an_email_is_created_from_a_document() {
        let app = TestApp::new();
        let mut document = Document::sample().to_json();
        document["subject"] = json!("From the API");
        let made = app.post_in("/v1/emails", json!({ "document": document })).data();
        assert_eq!((&made["subject"], &made["version"], &made["status"]), (&json!("From the API"), &json!(1), &json!("ready")));
        assert_eq!(made["document"]["blocks"][0]["id"], "header");
        let listed = app.get_in("/v1/projects/emails").data();
        assert_eq!(
            (&listed["emails"][0]["title"], &listed["emails"][0]["status"]),
            (&json!("From the API"), &json!("completed"))
        );
        document["blocks"][1]["button"]["href"] = json!("nowhere");
        let answer = app.post_in("/v1/emails", json!({ "document": document, "design": "blank" }));
        assert_eq!(answer.refusal().2, "document: set either `design` or `document`, not both");
        let answer = app.post_in("/v1/emails", json!({ "document": document }));
        assert!(answer.refusal().2.starts_with("document.blocks[1].button.href: "), "{:?}", answer.refusal());
        let answer = app.post_in("/v1/emails", json!({ "design": "none" }));
        assert!(answer.refusal().2.starts_with("design: the design \"none\" does not exist; use one of blank"));
    }
}
