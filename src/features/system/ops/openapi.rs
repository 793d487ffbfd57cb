//! The OpenAPI document of this very service.

use std::sync::OnceLock;

use bytes::Bytes;
use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::openapi;
use crate::engine::api::wire::{Reply, ReplyBody};
use crate::engine::api::{Bare, Context, Failure, Media, Operation, Raw, RawRequest, Spec, public};

pub struct OpenApi;

/// Nothing to choose.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wanted {}

/// The document's bytes: the table of operations and the public address do not change while the process lives.
static DOCUMENT: OnceLock<Bytes> = OnceLock::new();

impl Operation for OpenApi {
    const SPEC: Spec = Spec::get("system.openapi", "/openapi.json", public())
        .summary("Get the OpenAPI document")
        .about("OpenAPI 3.1, made from the declarations that the service itself runs on.");
    type Input = Wanted;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        (json!({}), Bare)
    }
}

impl Raw for OpenApi {
    const MEDIA: Media = Media::gives(Media::JSON_TYPE);

    async fn run(context: Context, _: Wanted, _: RawRequest) -> Result<Reply, Failure> {
        let engine = &context.engine;
        let make = || openapi::document(engine.operations, engine.settings.server.public_url.as_deref()).to_string().into();
        let body = DOCUMENT.get_or_init(make).clone();
        let mut headers = HeaderMap::with_capacity(3);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=300"));
        Ok(Reply { status: StatusCode::OK, headers, body: ReplyBody::Whole(body) })
    }
}
