//! The pages of the built-in inbox: messages as recipients would see them, and their source.

use serde::Serialize;
use serde_json::json;

use crate::engine::api::Done;
use crate::engine::api::page::Pagination;
use crate::features::sending;
use crate::features::sending::ops::inbox_get::{DkimSignature, MessageHeader, WholeMessage};
use crate::features::sending::views::MessageView;
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};

/// The names of the simulated recipients, and how each one reacts to a message.
const SIMULATED: [(&str, &str); 9] = [
    ("delivered", "accepts the message"),
    ("deferred", "defers the first attempt, then accepts the message"),
    ("mailbox-full", "defers every attempt"),
    ("hard-bounce", "rejects the message"),
    ("soft-bounce", "accepts the message, then returns a soft bounce"),
    ("complaint", "accepts the message and reports it as spam"),
    ("open", "opens the message"),
    ("click", "opens the message and clicks its first link"),
    ("unsubscribe", "unsubscribes with one click"),
];

#[derive(Serialize)]
pub struct InboxPage {
    messages: Vec<MessageView>,
    pagination: Pagination,
    pages: String,
    search: String,
    /// The ID of the send whose messages are listed; empty for all messages.
    send: String,
    simulated: Vec<SimulatedRecipient>,
}

#[derive(Serialize)]
struct SimulatedRecipient {
    name: &'static str,
    does: &'static str,
}

page_context!(InboxPage, "inbox.html", {
    let page = |messages, search: &str, send: &str| Self {
        messages,
        pagination: Pagination::sample(),
        pages: "?".into(),
        search: search.into(),
        send: send.into(),
        simulated: simulated(),
    };
    vec![page(vec![MessageView::sample()], "", "666666666666666666666666"), page(Vec::new(), "tea", ""), page(Vec::new(), "", "")]
});

fn simulated() -> Vec<SimulatedRecipient> {
    SIMULATED.map(|(name, does)| SimulatedRecipient { name, does }).into()
}

#[derive(Serialize)]
pub struct MessagePage {
    title: String,
    view: &'static str,
    images: bool,
    has_html: bool,
    message: MessageView,
    envelope_from: String,
    headers: Vec<MessageHeader>,
    text: Option<String>,
    links: Vec<String>,
    dkim: Vec<DkimSignature>,
}

impl MessagePage {
    fn new(whole: WholeMessage, view: &str, images: bool) -> Self {
        let has_html = whole.html.is_some();
        let view = match view {
            "phone" => "phone",
            "text" => "text",
            "headers" => "headers",
            _ if has_html => "mail",
            _ => "text",
        };
        let title = if whole.message.subject.is_empty() { "(no subject)" } else { &whole.message.subject };
        Self {
            title: title.to_owned(),
            view,
            images,
            has_html,
            message: whole.message,
            envelope_from: whole.envelope_from,
            headers: whole.headers,
            text: whole.text,
            links: whole.links,
            dkim: whole.dkim,
        }
    }
}

page_context!(MessagePage, "message.html", {
    use crate::engine::api::Operation;

    let whole = || sending::ops::inbox_get::InboxGet::example().1.0;
    let bare = || WholeMessage { html: None, text: None, links: Vec::new(), dkim: Vec::new(), ..whole() };
    vec![
        Self::new(whole(), "", false),
        Self::new(whole(), "phone", true),
        Self::new(whole(), "headers", false),
        Self::new(whole(), "text", false),
        Self::new(bare(), "headers", false),
        Self::new(bare(), "", false),
    ]
});

pub async fn list(visit: &Visit) -> Result<PageResponse, PageError> {
    let query = &visit.query;
    let input = json!({ "search": query.some("search"), "sendId": query.some("send"), "page": visit.page(), "limit": 50 });
    let found = visit.ask::<sending::ops::inbox_list::InboxList>(input).await?;
    let kept: Vec<(&str, &str)> =
        ["search", "send"].iter().filter_map(|name| query.some(name).map(|value| (*name, value))).collect();
    let base = serde_urlencoded::to_string(&kept).map(|kept| if kept.is_empty() { kept } else { kept + "&" }).unwrap_or_default();
    let context = InboxPage {
        pagination: found.pagination(),
        messages: found.items,
        pages: format!("?{base}"),
        search: query.get("search").to_owned(),
        send: query.get("send").to_owned(),
        simulated: simulated(),
    };
    Ok(PageResponse::draw(&context))
}

pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    let Done(whole) = visit.ask::<sending::ops::inbox_get::InboxGet>(json!({ "id": visit.path_parameter("id") })).await?;
    Ok(PageResponse::draw(&MessagePage::new(whole, visit.query.get("view"), visit.wants_images())))
}

/// Serves the HTML of a message as a document for a frame.
pub async fn mail(visit: &Visit) -> Result<PageResponse, PageError> {
    visit
        .forward::<sending::ops::inbox_html::InboxHtml>(
            json!({ "id": visit.path_parameter("id"), "images": visit.wants_images() }),
        )
        .await
}

pub async fn picture(visit: &Visit) -> Result<PageResponse, PageError> {
    visit.forward::<sending::ops::inbox_screenshot::InboxScreenshot>(json!({ "id": visit.path_parameter("id") })).await
}

pub async fn source(visit: &Visit) -> Result<PageResponse, PageError> {
    visit.forward::<sending::ops::inbox_raw::InboxRaw>(json!({ "id": visit.path_parameter("id") })).await
}

pub async fn delete(visit: &Visit) -> Result<PageResponse, PageError> {
    match visit.form.get("act") {
        "delete" => {
            visit.ask::<sending::ops::inbox_delete::InboxDelete>(json!({ "id": visit.path_parameter("id") })).await?;
            Ok(PageResponse::redirect(format!("/{}/inbox?done=deleted", visit.environment)))
        }
        _ => Err(PageError::unknown_action()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_simulated_recipient_is_described() {
        assert_eq!(SIMULATED.map(|(name, _)| name).to_vec(), sending::inbox::simulated_names());
    }
}
