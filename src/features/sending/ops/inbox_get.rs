//! A message of the built-in inbox, opened.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::engine::mail::opened::Opened;
use crate::features::sending::inbox;
use crate::features::sending::template::links;
use crate::features::sending::views::MessageView;
use crate::vocab::codes::Code;
use crate::vocab::ids::MessageId;
use crate::vocab::permissions::Permission;

/// `sending.inbox_get`
pub struct InboxGet;

/// Which message.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WantedMessage {
    pub id: MessageId,
}

/// A message with all that it says.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WholeMessage {
    pub message: MessageView,
    /// The envelope sender, to which bounces would return.
    pub envelope_from: String,
    /// As they would have gone out, in their order.
    pub headers: Vec<MessageHeader>,
    pub text: Option<String>,
    pub html: Option<String>,
    /// Where the links of the HTML lead, each once.
    pub links: Vec<String>,
}

/// A header of a message.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MessageHeader {
    pub name: String,
    pub value: String,
}

impl Operation for InboxGet {
    const SPEC: Spec = Spec::get("sending.inbox_get", "/v1/inbox/{id}", needs(Permission::EmailRead))
        .summary("Open a message of the built-in inbox")
        .heavy()
        .fails(&[Code::NotFound]);
    type Input = WantedMessage;
    type Output = Done<WholeMessage>;

    fn example() -> (Value, Self::Output) {
        let message = WholeMessage {
            message: MessageView::sample(),
            envelope_from: "b+aaaa@bounces.example.com".into(),
            headers: vec![MessageHeader { name: "Subject".into(), value: "Your order".into() }],
            text: Some("It is on its way.".into()),
            html: Some("<p>It is <a href=\"https://example.com/t/c/AAAA\">on its way</a>.</p>".into()),
            links: vec!["https://example.com/t/c/AAAA".into()],
        };
        (json!({ "id": "666666666666666666666666" }), Done(message))
    }
}

impl Query for InboxGet {
    fn run(view: &View<'_>, input: WantedMessage) -> Result<Self::Output, Failure> {
        let head = inbox::require(view.tx, view.caller.account(), input.id)?;
        let Opened { headers, html, text } = Opened::of(&inbox::body(view.tx, input.id)?);
        let headers = headers.into_iter().map(|(name, value)| MessageHeader { name, value }).collect();
        let links = html.as_deref().map(|html| links::rewrite(html).links).unwrap_or_default();
        let envelope_from = head.sender.clone();
        Ok(Done(WholeMessage { message: head.into(), envelope_from, headers, text, html, links }))
    }
}
