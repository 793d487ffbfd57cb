//! Shows the HTML of a message in the built-in inbox as a page.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::http_types::Reply;
use crate::engine::api::operation::Media;
use crate::engine::api::{Bare, Context, Failure, Operation, Raw, RawRequest, Spec, needs, untrusted_html};
use crate::engine::mail::parsed::ParsedMessage;
use crate::features::projects;
use crate::features::sending::inbox;
use crate::vocab::codes::Code;
use crate::vocab::ids::MessageId;
use crate::vocab::permissions::Permission;

pub struct InboxHtml;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MessageHtmlRef {
    pub id: MessageId,
    /// Whether this server fetches remote images and shows them. If false, only images stored by Mailmill are shown.
    pub images: Option<bool>,
}

impl Operation for InboxHtml {
    const SPEC: Spec = Spec::get("sending.inbox_html", "/v1/inbox/{id}/html", needs(Permission::EmailRead)).client("inbox.html")
        .summary("Show a message from the built-in inbox as a page")
        .about("The page runs no scripts, submits no forms, and loads images from other servers only if `images` is true. Its links open \
             in a new window.")
        .fails(&[Code::NotFound]);
    type Input = MessageHtmlRef;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        (json!({ "id": "666666666666666666666666" }), Bare)
    }
}

impl Raw for InboxHtml {
    const MEDIA: Media = Media::gives("text/html; charset=utf-8");

    async fn run(context: Context, input: MessageHtmlRef, _: RawRequest) -> Result<Reply, Failure> {
        let account = context.caller.account();
        let html = context
            .read(move |tx| {
                inbox::require(tx, account, input.id)?;
                let html = ParsedMessage::of(&inbox::body(tx, input.id)?).html;
                html.ok_or_else(|| Failure::because(Code::NotFound, "The message has no HTML; read its plain text instead."))
            })
            .await?;
        let engine = &context.engine;
        let html = if input.images == Some(true) { projects::images_through_here(engine, html).await? } else { html };
        Ok(untrusted_html::document(&html, "private, no-store", untrusted_html::Images::Here(engine.base_url())))
    }
}
