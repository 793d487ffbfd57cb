//! Lists the mail services that report events.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Failure, Limit, Offset, Operation, Page, PageNumber, Query, Spec, View, Window, needs};
use crate::features::mail_feedback::store;
use crate::features::mail_feedback::views::{MailFeedbackView, mail_feedback_view};
use crate::vocab::permissions::Permission;

pub struct List;

/// The page of mail services to return.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListMailServices {
    #[serde(default)]
    pub limit: Limit,
    /// The number of mail services to skip.
    pub offset: Option<Offset>,
    /// The page number, starting at 1. Use it instead of `offset`.
    pub page: Option<PageNumber>,
}

impl Operation for List {
    const SPEC: Spec = Spec::get("mail_feedback.list", "/v1/mail-services", needs(Permission::WebhookRead))
        .client("mail_services.list")
        .summary("List mail services")
        .about("Lists mail services, oldest first. The webhook URL of a mail service is returned only when the URL is created.");
    type Input = ListMailServices;
    type Output = Page<MailFeedbackView>;

    fn example() -> (Value, Self::Output) {
        let window = Window { limit: 20, offset: 0, paged: false };
        (json!({}), Page { items: vec![MailFeedbackView::sample()], total: 1, window })
    }
}

impl Query for List {
    fn run(view: &View<'_>, input: ListMailServices) -> Result<Self::Output, Failure> {
        let window = Window::new(input.limit, input.offset, input.page);
        let all = store::all(view.tx, view.caller.account())?;
        let total = all.len() as u64;
        let items = window.cut(all).iter().map(|row| mail_feedback_view(view.tx, row)).collect::<Result<_, _>>()?;
        Ok(Page { items, total, window })
    }
}
