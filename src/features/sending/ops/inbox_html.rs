//! The HTML of a message of the built-in inbox, as a page.

use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, StatusCode};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::operation::Media;
use crate::engine::api::wire::{Reply, ReplyBody};
use crate::engine::api::{Bare, Context, Failure, Operation, Raw, RawRequest, Spec, needs};
use crate::engine::mail::opened::Opened;
use crate::features::sending::inbox;
use crate::vocab::codes::Code;
use crate::vocab::ids::MessageId;
use crate::vocab::permissions::Permission;

/// `sending.inbox_html`
pub struct InboxHtml;

/// Which message.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MessagePage {
    pub id: MessageId,
}

impl Operation for InboxHtml {
    const SPEC: Spec = Spec::get("sending.inbox_html", "/v1/inbox/{id}/html", needs(Permission::EmailRead))
        .summary("Show a message of the built-in inbox as a page")
        .about("The page runs no scripts and sends nothing.")
        .fails(&[Code::NotFound]);
    type Input = MessagePage;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        (json!({ "id": "666666666666666666666666" }), Bare)
    }
}

impl Raw for InboxHtml {
    const MEDIA: Media = Media::gives("text/html; charset=utf-8");

    async fn run(context: Context, input: MessagePage, _: RawRequest) -> Result<Reply, Failure> {
        let account = context.caller.account();
        let html = context
            .read(move |tx| {
                inbox::require(tx, account, input.id)?;
                let html = Opened::of(&inbox::body(tx, input.id)?).html;
                html.ok_or_else(|| Failure::because(Code::NotFound, "The message has no HTML."))
            })
            .await?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        // Somebody's content under our name: it runs nothing and sends nothing; its links open, though.
        let policy =
            "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; img-src * data:; style-src 'unsafe-inline'";
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
        Ok(Reply { status: StatusCode::OK, headers, body: ReplyBody::Whole(html.into()) })
    }
}
