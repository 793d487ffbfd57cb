//! Lists the generations of a project.

use std::ops::ControlFlow;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::text::fold;
use crate::engine::api::response::WireTime;
use crate::engine::api::{Failure, Limit, Offset, Operation, Page, PageNumber, Query, Spec, View, Window, needs_one};
use crate::engine::store::{Read, Result as StoreResult};
use crate::features::emails::model::{Conversation, State};
use crate::features::emails::views::{ConversationView, Viewer, title};
use crate::features::emails::{READERS, store};
use crate::features::projects;
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, ConversationId, ProjectId};
use crate::vocab::rates::RouteGroup;

pub struct List;

/// The project, filters and page of the conversations to return.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListConversations {
    /// The project that the conversations belong to.
    pub project_id: ProjectId,
    /// If given, only conversations with this status are listed.
    pub status: Option<StateWord>,
    /// If given, only conversations are listed whose title or prompt, or the subject of one of their emails, contains this text, ignoring
    /// case.
    pub search: Option<String>,
    /// Whether to list only conversations with a favorite email.
    #[serde(default)]
    pub favorite: bool,
    #[serde(default)]
    pub limit: Limit,
    /// The number of conversations to skip.
    pub offset: Option<Offset>,
    /// The number of the page to return, starting at 1. Use it instead of `offset`; if both are set, `offset` is ignored.
    pub page: Option<PageNumber>,
}

/// The status of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StateWord {
    Pending,
    Processing,
    Completed,
    Failed,
}

impl StateWord {
    fn is(self, state: &State) -> bool {
        let own = match state {
            State::Pending => Self::Pending,
            State::Processing => Self::Processing,
            State::Completed => Self::Completed,
            State::Failed(_) => Self::Failed,
        };
        self == own
    }
}

impl Operation for List {
    const SPEC: Spec = Spec::get("emails.list", "/v1/projects/emails", needs_one(READERS))
        .summary("List email conversations")
        .about(
            "Lists conversations, newest first. A conversation has one or more emails; the list shows the subject and thumbnail of its \
             first email.",
        )
        .rate(RouteGroup::Emails)
        .blocking()
        .fails(&[Code::NotFound]);
    type Input = ListConversations;
    type Output = Page<ConversationView>;

    fn example() -> (Value, Self::Output) {
        let window = Window { limit: 20, offset: 0, paged: false };
        let view = ConversationView {
            conversation_id: ConversationId::parse("66f1a2b3d4e5f60718293a4d").expect("the sample ID is valid"),
            title: "Welcome".into(),
            subject: Some("Welcome to Acme".into()),
            preview_text: Some("Here is what you can look forward to.".into()),
            status: "completed",
            screenshot_url: None,
            thumbnail_url: None,
            email_count: 1,
            favorite: false,
            created_at: WireTime::sample(),
            updated_at: WireTime::sample(),
        };
        (json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "search": "welcome" }), Page { items: vec![view], total: 1, window })
    }
}

impl Query for List {
    fn run(view: &View<'_>, input: ListConversations) -> Result<Self::Output, Failure> {
        let account = view.caller.account();
        let tx = view.tx;
        projects::require(tx, account, input.project_id)?;
        let window = Window::new(input.limit, input.offset, input.page);
        let words = input.search.as_deref().map(|search| fold(search.trim())).filter(|search| !search.is_empty());
        let (mut total, mut found) = (0, Vec::new());
        store::visit_conversations(tx, account, input.project_id, |conversation| {
            let mut fits = input.status.is_none_or(|status| status.is(&conversation.state));
            if fits && input.favorite {
                fits = store::emails(tx, account, conversation.id)?.iter().any(|email| email.favorite);
            }
            if let Some(words) = words.as_deref().filter(|_| fits) {
                fits = mentions(tx, account, &conversation, words)?;
            }
            if fits {
                if total >= window.offset && found.len() < window.limit {
                    found.push(conversation);
                }
                total += 1;
            }
            Ok(ControlFlow::Continue(()))
        })?;
        let viewer = Viewer { engine: &view.caller.engine, tx, account };
        let items = found.iter().map(|conversation| viewer.conversation(conversation)).collect::<Result<_, _>>()?;
        Ok(Page { items, total: total as u64, window })
    }
}

/// Returns whether the conversation's title or prompt, or the subject of one of its emails, contains `words`.
fn mentions(tx: &impl Read, account: AccountId, conversation: &Conversation, words: &str) -> StoreResult<bool> {
    if fold(&title(conversation)).contains(words) || fold(&conversation.wanted.prompt).contains(words) {
        return Ok(true);
    }
    for email in store::emails(tx, account, conversation.id)? {
        let version = store::version(tx, email.id, email.version)?;
        if version.is_some_and(|version| fold(&version.subject).contains(words)) {
            return Ok(true);
        }
    }
    Ok(false)
}
