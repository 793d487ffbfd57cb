//! Downloads a message from the built-in inbox.

use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, StatusCode};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::http_types::{Reply, ReplyBody};
use crate::engine::api::operation::Media;
use crate::engine::api::{Bare, Context, Failure, Operation, Raw, RawRequest, Spec, needs};
use crate::features::sending::inbox;
use crate::vocab::codes::Code;
use crate::vocab::ids::MessageId;
use crate::vocab::permissions::Permission;

pub struct InboxRaw;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RawMessageRef {
    pub id: MessageId,
}

impl Operation for InboxRaw {
    const SPEC: Spec = Spec::get("sending.inbox_raw", "/v1/inbox/{id}/raw", needs(Permission::EmailRead))
        .client("inbox.raw")
        .summary("Download a message from the built-in inbox")
        .about("Returns the exact bytes that would have been sent, including signatures.")
        .fails(&[Code::NotFound]);
    type Input = RawMessageRef;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        (json!({ "id": "666666666666666666666666" }), Bare)
    }
}

impl Raw for InboxRaw {
    const MEDIA: Media = Media::gives("message/rfc822");

    async fn run(context: Context, input: RawMessageRef, _: RawRequest) -> Result<Reply, Failure> {
        let account = context.caller.account();
        let bytes = context
            .read(move |tx| {
                inbox::require(tx, account, input.id)?;
                Ok(inbox::body(tx, input.id)?)
            })
            .await?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("message/rfc822"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        let name = format!("attachment; filename=\"{}.eml\"", input.id);
        headers.insert(CONTENT_DISPOSITION, HeaderValue::from_str(&name).map_err(Failure::internal)?);
        Ok(Reply { status: StatusCode::OK, headers, body: ReplyBody::Whole(bytes.into()) })
    }
}
