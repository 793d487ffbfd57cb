//! Lists the messages of the built-in inbox.

use std::ops::ControlFlow;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::text::fold;
use crate::engine::api::{Failure, Limit, Offset, Operation, Page, PageNumber, Query, Spec, View, Window, needs};
use crate::features::sending::inbox;
use crate::features::sending::views::MessageView;
use crate::vocab::ids::MailingId;
use crate::vocab::permissions::Permission;

pub struct InboxList;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListMessages {
    /// Return only messages to this address.
    pub to: Option<String>,
    /// Return only messages that contain this text in the subject or in an address.
    pub search: Option<String>,
    /// Return only messages of the send or batch with this ID.
    pub send_id: Option<MailingId>,
    #[serde(default)]
    pub limit: Limit,
    /// The number of messages to skip.
    pub offset: Option<Offset>,
    /// The page number, starting at 1. Use it instead of `offset`.
    pub page: Option<PageNumber>,
}

impl Operation for InboxList {
    const SPEC: Spec = Spec::get("sending.inbox_list", "/v1/inbox", needs(Permission::EmailRead)).client("inbox.list")
        .summary("List the built-in inbox")
        .about(
            "Lists the messages sent with test keys and, in development mode, with live keys, newest first. Recipients at \
             simulator.mailmill.example behave as their names say: delivered, deferred (at the first attempt), mailbox-full (deferred at \
             every attempt), hard-bounce, soft-bounce, complaint, open, click, unsubscribe.",
        )
        .blocking();
    type Input = ListMessages;
    type Output = Page<MessageView>;

    fn example() -> (Value, Self::Output) {
        let window = Window { limit: 20, offset: 0, paged: false };
        (json!({ "to": "ada@example.com", "limit": 20 }), Page { items: vec![MessageView::sample()], total: 1, window })
    }
}

impl Query for InboxList {
    fn run(view: &View<'_>, input: ListMessages) -> Result<Self::Output, Failure> {
        let window = Window::new(input.limit, input.offset, input.page);
        let (to, search) = (input.to.as_deref().map(fold), input.search.as_deref().map(fold));
        let mut items = Vec::new();
        let mut total = 0;
        inbox::all(view.tx, view.caller.account(), |head| {
            let is_to = to.as_ref().is_none_or(|to| fold(&head.to) == *to);
            let is_of = input.send_id.is_none_or(|id| head.mailing == id);
            let has = |text: &str| [&head.subject, &head.to, &head.from].into_iter().any(|field| fold(field).contains(text));
            if is_to && is_of && search.as_deref().is_none_or(has) {
                if total >= window.offset && items.len() < window.limit {
                    items.push(head.into());
                }
                total += 1;
            }
            ControlFlow::Continue(())
        })?;
        Ok(Page { items, total: total as u64, window })
    }
}
