//! Forms with a file that is too large for memory. This module reads the first field, which contains the CSRF token, and streams the rest
//! of the form to an operation.
//!
//! A multipart form is a sequence of parts between boundary lines, so the form remains valid without its first part.

use bytes::{Bytes, BytesMut};
use futures_util::stream::{self, StreamExt};
use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};

use super::error::PageError;
use super::forms::Fields;

use crate::engine::api::http_types::Body;
use crate::vocab::limits;

/// Reads the CSRF token at the start of the form. Returns a form with only the token, the request's content type, and a body with the rest
/// of the form.
pub async fn begin(headers: &HeaderMap, mut body: Body) -> Result<(Fields, (HeaderValue, Body)), PageError> {
    let content_type = headers.get(CONTENT_TYPE).cloned();
    let boundary = content_type.as_ref().and_then(|value| multer::parse_boundary(value.to_str().ok()?).ok());
    let (Some(content_type), Some(boundary)) = (content_type, boundary) else {
        return Err(PageError::plain(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "The form was sent in an unexpected format, so nothing was changed. Go back, reload the form, and submit it again.",
        ));
    };
    let mut start = BytesMut::new();
    let token = loop {
        match first_part(&start, &boundary) {
            Part::Whole { value, end } => {
                let token = String::from_utf8_lossy(&start[value]).into_owned();
                break (token, start.split_off(end).freeze());
            }
            Part::Unfinished if start.len() <= limits::DASHBOARD_TOKEN_BYTES_MAX => match body.next().await {
                Some(Ok(chunk)) => start.extend_from_slice(&chunk),
                Some(Err(_)) | None => return Err(PageError::broken_form()),
            },
            Part::Unfinished | Part::Other => return Err(PageError::invalid_form()),
        }
    };
    let (token, rest) = token;
    let form = Fields::of(vec![("csrf".to_owned(), token)]);
    Ok((form, (content_type, chained(rest, body))))
}

/// Returns a body of `first` followed by the rest of `body`.
fn chained(first: Bytes, body: Body) -> Body {
    let rest = stream::unfold(body, |mut body| async move { body.next().await.map(|chunk| (chunk, body)) });
    Body::Stream { declared_bytes: None, chunks: Box::pin(stream::iter([Ok(first)]).chain(rest)) }
}

/// The result of parsing the first part of a form while its bytes arrive.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    /// The part is the CSRF token. `value` is the range of the token, and `end` is the offset of the boundary line after the part.
    Whole { value: std::ops::Range<usize>, end: usize },
    /// The part may be the CSRF token; more input is needed.
    Unfinished,
    /// The part is not the CSRF token.
    Other,
}

fn first_part(start: &[u8], boundary: &str) -> Part {
    let open = format!("--{boundary}\r\n");
    let close = format!("\r\n--{boundary}");
    if start.len() < open.len() {
        return Part::Unfinished;
    }
    if !start.starts_with(open.as_bytes()) {
        return Part::Other;
    }
    let Some(head) = find(&start[open.len()..], b"\r\n\r\n") else { return Part::Unfinished };
    let value_at = open.len() + head + 4;
    if find(&start[open.len()..value_at], b"name=\"csrf\"").is_none() {
        return Part::Other;
    }
    let Some(length) = find(&start[value_at..], close.as_bytes()) else { return Part::Unfinished };
    // The boundary line after the token starts the rest of the form.
    Part::Whole { value: value_at..value_at + length, end: value_at + length + 2 }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: &str = "--b1\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\nabc\r\n--b1\r\nContent-Disposition: \
                        form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\nemail\n--b1--\r\n--b1--\r\n";

    fn given(content_type: &'static str, chunk: usize) -> (HeaderMap, Body) {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        let chunks: Vec<_> = FORM.as_bytes().chunks(chunk).map(|part| Ok(Bytes::from_static(part))).collect();
        (headers, Body::Stream { declared_bytes: None, chunks: Box::pin(stream::iter(chunks)) })
    }

    #[tokio::test]
    async fn the_token_is_removed_from_the_form_for_any_chunk_size() {
        let rest_of = FORM.find("\r\n--b1\r\n").expect("the form has a second part") + 2;
        for chunk in 1..FORM.len() {
            let (headers, body) = given("multipart/form-data; boundary=b1", chunk);
            let (form, (_, rest)) = begin(&headers, body).await.expect("the form is valid");
            assert_eq!(form.get("csrf"), "abc");
            let rest = rest.collect(10_000).await.expect("the rest of the form can be read");
            assert_eq!(rest, &FORM.as_bytes()[rest_of..], "in chunks of {chunk}");
        }
    }

    #[tokio::test]
    async fn a_form_that_does_not_start_with_the_token_is_refused() {
        for content_type in ["multipart/form-data; boundary=b2", "multipart/form-data", "application/x-www-form-urlencoded"] {
            let (headers, body) = given(content_type, 1_000);
            assert!(begin(&headers, body).await.is_err(), "{content_type}");
        }
        assert_eq!(first_part(b"--b1\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\nx", "b1"), Part::Other);
    }
}
