//! Receives a webhook from a connected store.

use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, StatusCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::secret::Secret;
use crate::engine::access::url_token::UrlToken;
use crate::engine::api::call::body_failure;
use crate::engine::api::http_types::{Reply, ReplyBody};
use crate::engine::api::operation::Takes;
use crate::engine::api::{Context, Done, Failure, Media, Operation, Raw, RawRequest, Spec, SuccessResponse, public};
use crate::features::storefront::incoming::{self, Received};
use crate::features::storefront::store;
use crate::vocab::codes::Code;
use crate::vocab::ids::kinds;
use crate::vocab::limits;

pub struct Receive;

/// The secret part of a webhook's URL.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StoreUrl {
    /// The secret token in the webhook URL.
    pub token: Secret<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct WebhookReceived {
    /// Whether the webhook had an effect.
    pub applied: bool,
    /// Whether the same webhook was received before. If so, this request had no effect.
    pub repeated: bool,
}

impl Operation for Receive {
    const SPEC: Spec = Spec::post("storefront.receive", "/storefront/{token}", public())
        .summary("Receive a webhook from a connected store")
        .about("The signature is checked as the platform's documentation specifies. The response is sent after the effects are stored.")
        .fails(&[Code::InvalidSignature, Code::NotFound]);
    type Input = StoreUrl;
    type Output = Done<WebhookReceived>;

    fn example() -> (Value, Self::Output) {
        (
            json!({ "token": "AWbxorMAAAABehssPWbxorMAAAAJehssPcsHq1ZyM8lD3kVvW0nQ2tY5eR7u" }),
            Done(WebhookReceived { applied: true, repeated: false }),
        )
    }
}

impl Raw for Receive {
    const MEDIA: Media = Media { takes: Takes::Nothing, gives: Media::JSON_TYPE, documented: false };

    async fn run(context: Context, input: StoreUrl, request: RawRequest) -> Result<Reply, Failure> {
        let engine = &context.engine;
        let token = UrlToken::<kinds::Store>::parse(input.token.expose()).ok_or_else(incoming::url_unknown)?;
        let found = store::find(&engine.data(token.environment).store.read(), token.account, token.id)?;
        let of = found.filter(|of| token.matches(&of.url_hash)).ok_or_else(incoming::url_unknown)?;
        // The memory for the body stays reserved until the webhook has been handled.
        let limit = limits::STORE_WEBHOOK_BYTES_MAX;
        let _room = engine.bodies.room(&request.body, limit).await?;
        let body = request.body.collect(limit).await.map_err(|error| body_failure(error, limit))?;
        let received = incoming::receive(engine, token.environment, of, (request.headers, body)).await?;
        let received = WebhookReceived { applied: received == Received::Applied, repeated: received == Received::Repeated };
        let encoded = Done(received).encode(&context.envelope);
        let mut headers = HeaderMap::with_capacity(2);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(Media::JSON_TYPE));
        headers.insert(CONTENT_LENGTH, HeaderValue::from(encoded.body.len()));
        Ok(Reply { status: StatusCode::OK, headers, body: ReplyBody::Whole(encoded.body.into()) })
    }
}
