//! Returns the OpenAPI document of this service.

use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::{Value, json};

use crate::engine::api::http_types::{Reply, ReplyBody};
use crate::engine::api::{Bare, Context, Failure, Media, NoInput, Operation, Raw, RawRequest, Spec, public};

pub struct OpenApi;

impl Operation for OpenApi {
    const SPEC: Spec = Spec::get("system.openapi", "/openapi.json", public())
        .summary("Get the OpenAPI document")
        .about("The document is OpenAPI 3.1, generated from the same declarations that the service itself uses.");
    type Input = NoInput;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        (json!({}), Bare)
    }
}

impl Raw for OpenApi {
    const MEDIA: Media = Media::gives(Media::JSON_TYPE);

    async fn run(context: Context, _: NoInput, _: RawRequest) -> Result<Reply, Failure> {
        let body = context.engine.openapi.clone();
        let mut headers = HeaderMap::with_capacity(3);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=300"));
        Ok(Reply { status: StatusCode::OK, headers, body: ReplyBody::Whole(body) })
    }
}
