//! The request and response types of the pipeline, independent of sockets.
//!
//! Surfaces such as HTTP and the administration socket build an [`Incoming`] and write a [`Reply`].

use std::io;
use std::net::IpAddr;
use std::pin::Pin;

use bytes::{Bytes, BytesMut};
use futures_util::Stream;
use http::{HeaderMap, Method, StatusCode, Uri};

/// A request, as passed on by the surface that received it.
pub struct Incoming {
    pub method: Method,
    pub uri: Uri,
    pub headers: HeaderMap,
    pub body: Body,
    pub peer: Peer,
}

/// The sender of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    Network {
        address: IpAddr,
        tls: bool,
    },
    /// The operator of this machine, through the administration socket or in this process.
    Operator,
}

/// The body of a request: none, complete, or still arriving.
pub enum Body {
    Empty,
    Whole(Bytes),
    /// The chunks of the body as they arrive. The surface enforces its time limits inside the stream, and ends the stream with an error if
    /// a limit is exceeded.
    Stream {
        declared_bytes: Option<u64>,
        chunks: Pin<Box<dyn Stream<Item = Result<Bytes, BodyError>> + Send>>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyError {
    TooLarge,
    /// The body arrived too slowly, or stopped arriving.
    TooSlow,
    Broken,
}

impl Body {
    /// Returns the next chunk of the body, or `None` at the end.
    pub async fn next(&mut self) -> Option<Result<Bytes, BodyError>> {
        match std::mem::replace(self, Body::Empty) {
            Body::Empty => None,
            Body::Whole(bytes) => Some(Ok(bytes)),
            Body::Stream { declared_bytes, mut chunks } => {
                let item = std::future::poll_fn(|context| chunks.as_mut().poll_next(context)).await;
                *self = Body::Stream { declared_bytes, chunks };
                item
            }
        }
    }

    /// Returns the complete body if it has at most `limit` bytes.
    pub async fn collect(mut self, limit: usize) -> Result<Bytes, BodyError> {
        if let Body::Stream { declared_bytes: Some(declared), .. } = &self
            && *declared > limit as u64
        {
            return Err(BodyError::TooLarge);
        }
        let mut whole = BytesMut::new();
        let mut first = Bytes::new();
        while let Some(chunk) = self.next().await {
            let chunk = chunk?;
            if first.len() + whole.len() + chunk.len() > limit {
                return Err(BodyError::TooLarge);
            }
            // A body of a single chunk is returned without a copy.
            if first.is_empty() && whole.is_empty() {
                first = chunk;
                continue;
            }
            if whole.is_empty() {
                whole.extend_from_slice(&first);
                first = Bytes::new();
            }
            whole.extend_from_slice(&chunk);
        }
        Ok(if whole.is_empty() { first } else { whole.freeze() })
    }
}

/// The response to an [`Incoming`].
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: ReplyBody,
}

/// The response body: complete, or produced while it is sent.
pub enum ReplyBody {
    Whole(Bytes),
    Stream(Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>),
}

/// A handler of requests: the engine in production, or a replacement in the tests of a surface.
pub trait Service: Send + Sync + 'static {
    /// Handles one request. Errors are returned as replies.
    fn call(&self, request: Incoming) -> impl Future<Output = Reply> + Send;
}
