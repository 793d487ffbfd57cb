//! The OpenAPI document of this service.

use std::sync::OnceLock;

use bytes::Bytes;
use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::{Value, json};

use crate::engine::api::http_types::{Reply, ReplyBody};
use crate::engine::api::openapi;
use crate::engine::api::{Bare, Context, Failure, Media, NoInput, Operation, Raw, RawRequest, Spec, public};

pub struct OpenApi;

/// The document's bytes. Its paths are relative to its own location, so it is the same under every base URL.
static DOCUMENT: OnceLock<Bytes> = OnceLock::new();

impl Operation for OpenApi {
    const SPEC: Spec = Spec::get("system.openapi", "/openapi.json", public())
        .summary("Get the OpenAPI document")
        .about("OpenAPI 3.1, generated from the declarations that the service itself runs on.");
    type Input = NoInput;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        (json!({}), Bare)
    }
}

impl Raw for OpenApi {
    const MEDIA: Media = Media::gives(Media::JSON_TYPE);

    async fn run(context: Context, _: NoInput, _: RawRequest) -> Result<Reply, Failure> {
        let make = || openapi::document(context.engine.operations, None).to_string().into();
        let body = DOCUMENT.get_or_init(make).clone();
        let mut headers = HeaderMap::with_capacity(3);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=300"));
        Ok(Reply { status: StatusCode::OK, headers, body: ReplyBody::Whole(body) })
    }
}
