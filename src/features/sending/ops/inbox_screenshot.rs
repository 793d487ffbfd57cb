//! Takes a screenshot of a message in the built-in inbox.

use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, StatusCode};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::http_types::{Reply, ReplyBody};
use crate::engine::api::operation::Media;
use crate::engine::api::{Bare, Context, Failure, Operation, Raw, RawRequest, Spec, needs};
use crate::engine::mail::parsed::ParsedMessage;
use crate::features::emails;
use crate::features::sending::inbox;
use crate::vocab::codes::Code;
use crate::vocab::ids::MessageId;
use crate::vocab::permissions::Permission;

pub struct InboxScreenshot;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MessageScreenshot {
    pub id: MessageId,
}

impl Operation for InboxScreenshot {
    const SPEC: Spec = Spec::get("sending.inbox_screenshot", "/v1/inbox/{id}/screenshot", needs(Permission::EmailRead))
        .client("inbox.screenshot")
        .summary("Take a screenshot of a message in the built-in inbox")
        .about("Returns a PNG image of the whole message, 600 CSS pixels wide, with two image pixels per CSS pixel.")
        .fails(&[Code::NotFound, Code::NotExportable]);
    type Input = MessageScreenshot;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        (json!({ "id": "666666666666666666666666" }), Bare)
    }
}

impl Raw for InboxScreenshot {
    const MEDIA: Media = Media::gives("image/png");

    async fn run(context: Context, input: MessageScreenshot, _: RawRequest) -> Result<Reply, Failure> {
        let account = context.caller.account();
        let html = context
            .read(move |tx| {
                inbox::require(tx, account, input.id)?;
                let html = ParsedMessage::of(&inbox::body(tx, input.id)?).html;
                html.ok_or_else(|| {
                    Failure::because(Code::NotExportable, "The message has no HTML to render; read its plain text instead.")
                })
            })
            .await?;
        let png = emails::draw_png(&context.engine, &html).await?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("image/png"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, max-age=86400, immutable"));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        Ok(Reply { status: StatusCode::OK, headers, body: ReplyBody::Whole(png.into()) })
    }
}
