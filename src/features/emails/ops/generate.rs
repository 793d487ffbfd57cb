//! Starts the generation of one email or a series, in one or several languages. The emails are written in the background.

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::bounded::Bounded;
use crate::base::locale::LanguageTag;
use crate::base::text::{LongText, SOME_TEXT};
use crate::engine::api::{Caller, Command, Created, Engine, Failure, Operation, Replay, Spec, needs};
use crate::engine::hold;
use crate::engine::language_model::Models;
use crate::engine::outbox::{self, NewEvent};
use crate::engine::store::WriteTx;
use crate::features::emails::brief::Brief;
use crate::features::emails::generation::context::date;
use crate::features::emails::model::{Conversation, GenerationRequest, Source, State, Visibility};
use crate::features::emails::{check_length, conversation_not_found, given_brief, store};
use crate::features::projects::{self, Site};
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, ConversationId, ProjectId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;
use crate::vocab::webhook_events::WebhookEvent;

pub struct Generate;

/// The brand, and the content and options of the emails to generate.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewConversation {
    /// The project of the brand that sends the emails.
    pub project_id: ProjectId,
    /// The purpose of the emails, and every fact that the emails must contain: offers, codes, dates, names and links. Required unless there
    /// is a brief.
    #[schemars(extend("pattern" = SOME_TEXT))]
    #[serde(default)]
    pub prompt: Option<LongText<{ limits::PROMPT_CHARACTERS_MAX }>>,
    /// The content of the emails, part by part, as `POST /v1/projects/emails/brief` returns it. The emails are written from the brief, and
    /// the spans of the brief refer to the prompt. To correct a fact, change its `text` and omit its `value`: sentences in the brief that
    /// contain the old text are corrected, too. If absent, the brief is read from the prompt.
    #[serde(default)]
    pub brief: Option<Brief>,
    /// The images to use in the emails.
    #[schemars(length(max = limits::PROMPT_IMAGES_MAX))]
    #[serde(default)]
    pub images: Vec<GivenImage>,
    /// The model: `composer` for the built-in composer, or the name of a language model in the settings. If absent, the default model is
    /// used.
    pub model: Option<String>,
    /// Whether pages that the prompt links to may be read. The default is true.
    pub web_mode: Option<bool>,
    /// The languages in which each email is generated, as BCP 47 tags. The email in the first language is the original, and the emails in
    /// the other languages are its translations. The default is the language of the brief or the prompt.
    #[schemars(length(max = limits::EMAIL_LANGUAGES_MAX))]
    #[serde(default)]
    pub languages: Vec<LanguageTag>,
    /// Who may see the emails without an API key. The default is `private`.
    #[serde(default)]
    pub visibility: Visibility,
    /// A conversation whose emails serve as a reference for the style of the new emails.
    pub reference_id: Option<ConversationId>,
    /// The number of emails. If absent, it is inferred from the prompt.
    pub count: Option<Count>,
}

type Count = Bounded<1, { limits::EMAILS_PER_SERIES_MAX as u64 }>;

/// An image to use in the emails.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GivenImage {
    pub source: ImageSource,
}

/// The source of an image.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
pub enum ImageSource {
    /// The image at this URL.
    Url { url: Site },
}

/// An accepted generation request.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AcceptedGeneration {
    pub conversation_id: ConversationId,
    #[schemars(extend("enum" = ["pending"]))]
    pub status: &'static str,
    /// The next step, as a sentence for users.
    pub message: String,
    /// The URL to poll for the status.
    pub link: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference_id: Option<ConversationId>,
}

impl AcceptedGeneration {
    /// Returns the response for a new conversation.
    pub fn of(conversation: &Conversation, base_url: &str) -> Self {
        let id = conversation.id;
        let path = format!("/v1/projects/emails/{id}/status");
        Self {
            conversation_id: id,
            status: State::Pending.word(),
            message: format!("The request was accepted. Check its progress with GET {path}."),
            link: format!("{base_url}{path}"),
            count: conversation.wanted.count,
            reference_id: conversation.wanted.reference,
        }
    }

    /// Returns an example for the documentation.
    pub fn sample() -> Self {
        let id = ConversationId::parse("66f1a2b3d4e5f60718293a4d").expect("the sample ID is valid");
        Self {
            conversation_id: id,
            status: State::Pending.word(),
            message: format!("The request was accepted. Check its progress with GET /v1/projects/emails/{id}/status."),
            link: format!("https://mail.example.com/v1/projects/emails/{id}/status"),
            count: Some(3),
            reference_id: None,
        }
    }
}

impl Operation for Generate {
    const SPEC: Spec = Spec::post("emails.generate", "/v1/projects/emails/generate", needs(Permission::EmailWrite))
        .summary("Generate emails")
        .about(
            "Returns immediately and generates the emails in the background. Emits email.generation.started, then \
                email.generation.completed or email.generation.failed.",
        )
        .rate(RouteGroup::Emails)
        .replay(Replay::Keyed)
        .fails(&[Code::NotFound, Code::WrongState, Code::LimitReached, Code::ModelNotConfigured]);
    type Input = NewConversation;
    type Output = Created<AcceptedGeneration>;

    fn example() -> (Value, Self::Output) {
        let input = json!({
            "projectId": "66f1a2b3d4e5f60718293a4b",
            "prompt": "Welcome series for new subscribers, with 10% off the first order and the code HELLO10",
            "languages": ["en"], "count": 3,
        });
        (input, Created(AcceptedGeneration::sample()))
    }
}

impl Command for Generate {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: NewConversation) -> Result<Self::Output, Failure> {
        let wanted = input.wanted(&caller.engine, date(tx.now()))?;
        if let Some(reason) = projects::import_failure(tx, caller.account(), input.project_id)? {
            let retry = format!("POST /v1/projects/import/{}/retry imports it again", input.project_id);
            let failure = Failure::because(Code::WrongState, no_brand(&reason)).see("projects.import_retry", retry);
            return Err(failure.with(json!({ "status": "error" })));
        }
        let conversation = open(tx, caller.account(), input.project_id, wanted)?;
        emit_started(tx, caller.account(), &conversation);
        Ok(Created(AcceptedGeneration::of(&conversation, caller.engine.base_url())))
    }
}

impl NewConversation {
    /// Returns the request in its stored form.
    fn wanted(&self, engine: &Engine, today: Date) -> Result<GenerationRequest, Failure> {
        let prompt = self.prompt.as_deref().unwrap_or_default().to_owned();
        if prompt.is_empty() && self.brief.is_none() {
            return Err(Failure::field("prompt", "describe the email, or set `brief`"));
        }
        let brief = self.brief.as_ref().map(|brief| given_brief::read(brief, &prompt, today)).transpose()?;
        check_length("images", self.images.len(), limits::PROMPT_IMAGES_MAX)?;
        check_length("languages", self.languages.len(), limits::EMAIL_LANGUAGES_MAX)?;
        let mut languages: Vec<String> = Vec::new();
        for language in &self.languages {
            if !languages.iter().any(|known| known == language.as_str()) {
                languages.push(language.as_str().to_owned());
            }
        }
        Ok(GenerationRequest {
            prompt,
            brief,
            model: choose_model(self.model.as_deref(), &engine.models)?
                .unwrap_or_else(|| engine.models.default_name().to_owned()),
            on_failure: engine.settings.language_model.on_failure,
            languages,
            count: self.count.map(|count| count.get() as u8),
            images: self.images.iter().map(|GivenImage { source: ImageSource::Url { url } }| url.as_str().to_owned()).collect(),
            reference: self.reference_id,
            web: self.web_mode.unwrap_or(true),
            pages: Vec::new(),
            visibility: self.visibility,
            source: Source::Prompt,
        })
    }
}

/// Returns the name of the requested model; `None` if the request names no model. Returns an error if no model has this name.
pub fn choose_model(named: Option<&str>, models: &Models) -> Result<Option<String>, Failure> {
    let Some(name) = named.map(str::trim).filter(|name| !name.is_empty()) else { return Ok(None) };
    let known = models.names();
    if known.contains(&name) {
        return Ok(Some(name.to_owned()));
    }
    let known: Vec<String> = known.iter().map(|name| format!("{name:?}")).collect();
    let detail = format!("there is no model {name:?}; use one of {}, or omit `model`", known.join(", "));
    Err(Failure::because(Code::ModelNotConfigured, detail).in_field("model"))
}

/// Returns why no email can be written for a brand whose import failed.
pub fn no_brand(reason: &str) -> String {
    format!("The import of the brand failed, so emails cannot be generated: {reason}")
}

/// Adds a conversation to the store and to the queue. Returns an error if too many generations of the project are unfinished.
pub fn open(
    tx: &mut WriteTx<'_>,
    account: AccountId,
    project: ProjectId,
    wanted: GenerationRequest,
) -> Result<Conversation, Failure> {
    projects::require(tx, account, project)?;
    let max = limits::CONVERSATIONS_WAITING_PER_PROJECT_MAX;
    if store::waiting(tx, project)? >= max {
        let detail = format!("{max} generations for this brand are already queued or running. Wait until one has finished.");
        return Err(Failure::because(Code::LimitReached, detail));
    }
    if let Some(reference) = wanted.reference {
        let found = store::conversation(tx, account, reference)?.filter(|found| found.project == project);
        found.ok_or_else(|| conversation_not_found(Some(project)))?;
    }
    let conversation = Conversation {
        id: ConversationId::make(tx.now(), tx.random()),
        project,
        wanted,
        state: State::Pending,
        title: None,
        plan: None,
        seed: u64::from_be_bytes(tx.random().bytes()),
        usage: Default::default(),
        hold_number: hold::last_number(tx)?,
        created_at: tx.now(),
        updated_at: tx.now(),
    };
    store::open(tx, account, &conversation);
    Ok(conversation)
}

/// Emits the webhook event that reports the start of a generation.
fn emit_started(tx: &mut WriteTx<'_>, account: AccountId, conversation: &Conversation) {
    let Conversation { id, project, wanted, .. } = conversation;
    let data = json!({
        "conversationId": id, "projectId": project, "prompt": wanted.prompt, "model": wanted.model, "languages": wanted.languages,
        "count": wanted.count,
    });
    let kind = WebhookEvent::EmailGenerationStarted;
    outbox::emit(tx, NewEvent { kind, account, project: Some(*project), conversation: Some(id.to_string()), data });
}
