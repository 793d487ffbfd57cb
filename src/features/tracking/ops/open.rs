//! Serves the tracking pixel in a message and records that the pixel was loaded.

use bytes::Bytes;
use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::{Value, json};

use crate::engine::api::http_types::{Reply, ReplyBody};
use crate::engine::api::operation::Takes;
use crate::engine::api::{Bare, Context, Failure, Media, Operation, Raw, RawRequest, Spec, public};
use crate::features::sending::token::Purpose;
use crate::features::tracking::links::{self, MessageLink};

pub struct Open;

/// A GIF with one transparent pixel.
const POINT: [u8; 43] =
    *b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff\x21\xf9\x04\x01\x00\x00\x00\x00\x2c\x00\x00\x00\x00\
    \x01\x00\x01\x00\x00\x02\x02\x44\x01\x00\x3b";

impl Operation for Open {
    const SPEC: Spec = Spec::get("tracking.open", "/t/o/{token}", public()).summary("Load a message's tracking pixel").about(
        "Messages that track opens load this pixel as /t/o/TOKEN.gif. Opens are buffered in memory and stored shortly afterward.",
    );
    type Input = MessageLink;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        (json!({ "token": "AGb5c2rT0a1kLm9pQxYzAAAAB0w2ZkV1c3RPZg.gif" }), Bare)
    }
}

impl Raw for Open {
    const MEDIA: Media = Media { takes: Takes::Nothing, gives: "image/gif", documented: false };

    async fn run(context: Context, input: MessageLink, request: RawRequest) -> Result<Reply, Failure> {
        let text = input.token.strip_suffix(".gif").unwrap_or(&input.token);
        let token = links::read(&context.engine, text).filter(|token| token.purpose == Purpose::Open);
        if let Some(token) = token {
            links::note(&context.engine, token, None, context.now(), &request);
        }
        let mut headers = HeaderMap::with_capacity(3);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("image/gif"));
        headers.insert(CONTENT_LENGTH, HeaderValue::from(POINT.len()));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store, no-cache, must-revalidate, private, max-age=0"));
        // Always return an image, because a broken image would be visible to the recipient.
        let status = if token.is_some() { StatusCode::OK } else { StatusCode::NOT_FOUND };
        Ok(Reply { status, headers, body: ReplyBody::Whole(Bytes::from_static(&POINT)) })
    }
}
