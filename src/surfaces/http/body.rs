//! Request and reply bodies: conversion between hyper's types and the pipeline's types.
//!
//! The stream of a request body enforces the time limits, so its readers do not need to. It does not enforce the size limit, which depends
//! on the operation.

use std::future::Future;
use std::io;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Buf, Bytes};
use futures_util::Stream;
use http_body::{Body as HttpBody, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep};

use super::activity::{ConnectionActivity, RunningRequest, UploadState};
use crate::engine::api::http_types::{BodyError, ReplyBody};

/// A request body as a stream of chunks for the pipeline.
pub struct Upload {
    body: Incoming,
    activity: Arc<ConnectionActivity>,
    state: Arc<UploadState>,
    time_max: Duration,
    rate_min: u64,
    received_bytes: u64,
    waited: Duration,
    /// When the current wait for the client started.
    waiting: Option<Instant>,
    /// The timer for the current wait. It is created at the first wait, because most bodies arrive before they are read and need no timer.
    timer: Option<Pin<Box<Sleep>>>,
    ended: bool,
}

impl Upload {
    /// Creates a stream over `body`. [`super::Limits::body_time`] describes `time_max` and `rate_min`.
    pub fn new(
        body: Incoming,
        activity: Arc<ConnectionActivity>,
        state: Arc<UploadState>,
        time_max: Duration,
        rate_min: u64,
    ) -> Self {
        Self {
            body,
            activity,
            state,
            time_max,
            rate_min: rate_min.max(1),
            received_bytes: 0,
            waited: Duration::ZERO,
            waiting: None,
            timer: None,
            ended: false,
        }
    }

    /// Returns how much longer the stream may wait for the current chunk.
    fn patience(&self) -> Duration {
        let earned = Duration::from_millis(self.received_bytes.saturating_mul(1000) / self.rate_min);
        (self.time_max + earned).saturating_sub(self.waited).min(self.time_max)
    }

    /// Starts or continues to wait for the client. Returns `Ready` when the client has exceeded the time limit.
    fn poll_wait(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.waiting.is_none() {
            let now = Instant::now();
            self.waiting = Some(now);
            self.state.set_waiting(true);
            let deadline = now + self.patience();
            match &mut self.timer {
                Some(timer) => timer.as_mut().reset(deadline),
                None => self.timer = Some(Box::pin(tokio::time::sleep_until(deadline))),
            }
        }
        self.timer.as_mut().expect("the timer was created when the wait started").as_mut().poll(context)
    }

    fn settle(&mut self) {
        if let Some(since) = self.waiting.take() {
            self.waited += since.elapsed();
            self.state.set_waiting(false);
        }
        self.activity.progress();
        self.state.progress(&self.activity);
    }

    fn end(&mut self) {
        self.settle();
        self.ended = true;
        self.state.set_ended();
    }
}

impl Stream for Upload {
    type Item = Result<Bytes, BodyError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        while !this.ended {
            match Pin::new(&mut this.body).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => {
                    this.settle();
                    // Trailers and empty chunks are skipped, because no operation uses them.
                    if let Ok(chunk) = frame.into_data()
                        && !chunk.is_empty()
                    {
                        this.received_bytes += chunk.len() as u64;
                        return Poll::Ready(Some(Ok(chunk)));
                    }
                }
                Poll::Ready(Some(Err(_))) => {
                    this.end();
                    this.activity.leave_unread();
                    return Poll::Ready(Some(Err(BodyError::Broken)));
                }
                Poll::Ready(None) => this.end(),
                Poll::Pending => {
                    std::task::ready!(this.poll_wait(context));
                    this.end();
                    this.activity.leave_unread();
                    return Poll::Ready(Some(Err(BodyError::TooSlow)));
                }
            }
        }
        Poll::Ready(None)
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if !self.ended {
            self.state.set_ended();
            if !self.body.is_end_stream() {
                self.activity.leave_unread();
            }
        }
    }
}

/// A chunk of a reply. hyper buffers a whole reply and sends it as the client reads; each chunk reports when it has been sent.
pub struct ReplyChunk {
    bytes: Bytes,
    activity: Option<Arc<ConnectionActivity>>,
}

impl ReplyChunk {
    fn new(bytes: Bytes, turn: Option<&RunningRequest>) -> Self {
        let activity = turn.map(|turn| Arc::clone(turn.activity()));
        if let Some(activity) = &activity {
            activity.activity().queue();
        }
        Self { bytes, activity }
    }
}

impl Buf for ReplyChunk {
    fn remaining(&self) -> usize {
        self.bytes.remaining()
    }

    fn chunk(&self) -> &[u8] {
        self.bytes.chunk()
    }

    fn advance(&mut self, count: usize) {
        self.bytes.advance(count);
        if let Some(activity) = &self.activity {
            activity.progress();
        }
    }

    fn copy_to_bytes(&mut self, length: usize) -> Bytes {
        if let Some(activity) = &self.activity {
            activity.progress();
        }
        self.bytes.copy_to_bytes(length)
    }
}

impl Drop for ReplyChunk {
    fn drop(&mut self) {
        if let Some(activity) = &self.activity {
            activity.activity().unqueue();
        }
    }
}

/// The body of a reply. It holds the [`RunningRequest`], so the request counts as running until hyper has taken the whole reply. Each
/// chunk that hyper takes is a [`ReplyChunk`].
pub struct ResponseBody {
    body: Content,
    turn: Option<RunningRequest>,
}

enum Content {
    Whole(Bytes),
    Stream(Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>),
    Done,
}

impl ResponseBody {
    pub fn whole(bytes: Bytes) -> Self {
        Self { body: if bytes.is_empty() { Content::Done } else { Content::Whole(bytes) }, turn: None }
    }

    pub fn empty() -> Self {
        Self { body: Content::Done, turn: None }
    }

    /// Keeps the running request until hyper has taken the whole body.
    pub fn hold(&mut self, turn: RunningRequest) {
        self.turn = Some(turn);
    }
}

impl From<ReplyBody> for ResponseBody {
    fn from(body: ReplyBody) -> Self {
        match body {
            ReplyBody::Whole(bytes) => Self::whole(bytes),
            ReplyBody::Stream(stream) => Self { body: Content::Stream(stream), turn: None },
        }
    }
}

impl HttpBody for ResponseBody {
    type Data = ReplyChunk;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<ReplyChunk>>>> {
        let this = &mut *self;
        match std::mem::replace(&mut this.body, Content::Done) {
            Content::Done => Poll::Ready(None),
            Content::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(ReplyChunk::new(bytes, this.turn.as_ref()))))),
            Content::Stream(mut stream) => {
                // A panic here would end the whole connection and, over HTTP/2, all of its other requests.
                let polled = std::panic::catch_unwind(AssertUnwindSafe(|| stream.as_mut().poll_next(context)));
                let polled = polled.unwrap_or_else(|_| {
                    tracing::error!("the producer of a response body panicked");
                    Poll::Ready(Some(Err(io::Error::other("the producer of the body panicked"))))
                });
                if let Poll::Ready(Some(Ok(_))) | Poll::Pending = polled {
                    this.body = Content::Stream(stream);
                }
                if let (Poll::Ready(_), Some(turn)) = (&polled, &this.turn) {
                    turn.activity().progress();
                }
                polled.map(|item| item.map(|chunk| chunk.map(|bytes| Frame::data(ReplyChunk::new(bytes, this.turn.as_ref())))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.body, Content::Done)
    }

    fn size_hint(&self) -> SizeHint {
        match &self.body {
            Content::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Content::Stream(_) => SizeHint::default(),
            Content::Done => SizeHint::with_exact(0),
        }
    }
}
