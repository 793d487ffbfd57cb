//! The connection to a running server: one HTTP/1.1 request through its administration socket.
//!
//! This module implements only what such a request needs: a complete request body, a response with a length, and one request per
//! connection.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use bytes::Bytes;
use http::StatusCode;
use http::header::{CONTENT_LENGTH, HeaderMap, HeaderName, HeaderValue};

use crate::engine::api::http_types::{Body, Incoming, Reply, ReplyBody};

/// The maximum size of a response. Responses of operator operations are far smaller; a larger response is not from this service.
const REPLY_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Returns whether a server listens on the administration socket.
pub fn is_served(socket: &Path) -> bool {
    UnixStream::connect(socket).is_ok()
}

/// Sends the request and waits for the response. There is no timeout, because a large backup takes minutes.
pub fn call(socket: &Path, request: Incoming) -> io::Result<Reply> {
    let body = match request.body {
        Body::Empty => Bytes::new(),
        Body::Whole(bytes) => bytes,
        Body::Stream { .. } => return Err(io::Error::other("the command's request has a streamed body; report this bug")),
    };
    let mut stream = UnixStream::connect(socket)?;
    let mut head = format!(
        "{} {} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {}\r\n",
        request.method,
        request.uri,
        body.len()
    );
    for (name, value) in &request.headers {
        let value = value.to_str().map_err(io::Error::other)?;
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes())?;
    stream.write_all(&body)?;
    let mut answer = Vec::new();
    stream.take(REPLY_BYTES_MAX).read_to_end(&mut answer)?;
    read(&answer).ok_or_else(|| {
        io::Error::new(io::ErrorKind::UnexpectedEof, "the service did not complete its response; see the service's log")
    })
}

/// Parses the response in `bytes`; returns `None` if the response is incomplete.
fn read(bytes: &[u8]) -> Option<Reply> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let mut lines = std::str::from_utf8(&bytes[..end]).ok()?.split("\r\n");
    let status = lines.next()?.strip_prefix("HTTP/1.1 ")?.get(..3)?;
    let status = StatusCode::from_bytes(status.as_bytes()).ok()?;
    let mut headers = HeaderMap::new();
    for line in lines {
        let (name, value) = line.split_once(':')?;
        headers.append(name.parse::<HeaderName>().ok()?, HeaderValue::from_str(value.trim()).ok()?);
    }
    let length: usize = headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()?;
    let body = bytes.get(end + 4..end + 4 + length)?;
    Some(Reply { status, headers, body: ReplyBody::Whole(Bytes::copy_from_slice(body)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_is_read_in_full_or_not_at_all() {
        let answer = b"HTTP/1.1 201 Created\r\ncontent-type: application/json\r\nContent-Length: 2\r\n\r\n{}";
        let reply = read(answer).expect("the response is complete");
        assert_eq!((reply.status, reply.headers.len()), (StatusCode::CREATED, 2));
        assert!(matches!(reply.body, ReplyBody::Whole(body) if body == "{}"));
        for end in 0..answer.len() {
            assert!(read(&answer[..end]).is_none(), "cut at {end}");
        }
    }
}
