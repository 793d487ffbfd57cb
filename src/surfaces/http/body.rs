//! Bodies on their way in and out: hyper's types on one side, those of the pipeline on the other.
//!
//! The time limits of a request body are enforced here, inside the stream, so that whoever reads it needs to know nothing
//! about them. Its size limit is not: that depends on the operation.

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

use super::pulse::{Pulse, Turn, UploadState};
use crate::engine::api::wire::{BodyError, ReplyBody};

/// A request body as the pipeline reads it.
pub struct Upload {
    body: Incoming,
    pulse: Arc<Pulse>,
    state: Arc<UploadState>,
    time_max: Duration,
    rate_min: u64,
    received_bytes: u64,
    waited: Duration,
    /// Since when the present chunk is waited for.
    waiting: Option<Instant>,
    /// Made at the first wait: most bodies are there before they are asked for.
    timer: Option<Pin<Box<Sleep>>>,
    ended: bool,
}

impl Upload {
    /// The stream over `body`. See [`super::Limits::body_time`] for `time_max` and `rate_min`.
    pub fn new(body: Incoming, pulse: Arc<Pulse>, state: Arc<UploadState>, time_max: Duration, rate_min: u64) -> Self {
        Self {
            body,
            pulse,
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

    /// How much longer the client may let us wait for the present chunk.
    fn patience(&self) -> Duration {
        let earned = Duration::from_millis(self.received_bytes.saturating_mul(1000) / self.rate_min);
        (self.time_max + earned).saturating_sub(self.waited).min(self.time_max)
    }

    /// The client is waited for: true if it has been for too long.
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
        self.timer.as_mut().expect("made when the wait began").as_mut().poll(context)
    }

    /// The wait is over.
    fn settle(&mut self) {
        if let Some(since) = self.waiting.take() {
            self.waited += since.elapsed();
            self.state.set_waiting(false);
        }
        self.pulse.progress();
        self.state.progress(&self.pulse);
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
                    // Trailers carry nothing that any operation knows; empty chunks tell a reader nothing.
                    if let Ok(chunk) = frame.into_data()
                        && !chunk.is_empty()
                    {
                        this.received_bytes += chunk.len() as u64;
                        return Poll::Ready(Some(Ok(chunk)));
                    }
                }
                Poll::Ready(Some(Err(_))) => {
                    this.end();
                    this.pulse.leave_unread();
                    return Poll::Ready(Some(Err(BodyError::Broken)));
                }
                Poll::Ready(None) => this.end(),
                Poll::Pending => {
                    std::task::ready!(this.poll_wait(context));
                    this.end();
                    this.pulse.leave_unread();
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
                self.pulse.leave_unread();
            }
        }
    }
}

/// A piece of a reply. The library takes whole replies at once and sends them as its client reads: until the piece is sent, the
/// connection knows of it.
pub struct Piece {
    bytes: Bytes,
    pulse: Option<Arc<Pulse>>,
}

impl Piece {
    fn new(bytes: Bytes, turn: Option<&Turn>) -> Self {
        let pulse = turn.map(|turn| Arc::clone(turn.pulse()));
        if let Some(pulse) = &pulse {
            pulse.activity().queue();
        }
        Self { bytes, pulse }
    }
}

impl Buf for Piece {
    fn remaining(&self) -> usize {
        self.bytes.remaining()
    }

    fn chunk(&self) -> &[u8] {
        self.bytes.chunk()
    }

    fn advance(&mut self, count: usize) {
        self.bytes.advance(count);
        if let Some(pulse) = &self.pulse {
            pulse.progress();
        }
    }

    fn copy_to_bytes(&mut self, length: usize) -> Bytes {
        if let Some(pulse) = &self.pulse {
            pulse.progress();
        }
        self.bytes.copy_to_bytes(length)
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        if let Some(pulse) = &self.pulse {
            pulse.activity().unqueue();
        }
    }
}

/// A reply's body as hyper sends it. Holds the request's [`Turn`], so that a request counts as running until the last of
/// its reply was taken. What was taken is a [`Piece`].
pub struct Outgoing {
    body: Content,
    turn: Option<Turn>,
}

enum Content {
    Whole(Bytes),
    Stream(Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>),
    Done,
}

impl Outgoing {
    /// A body that is there already.
    pub fn whole(bytes: Bytes) -> Self {
        Self { body: if bytes.is_empty() { Content::Done } else { Content::Whole(bytes) }, turn: None }
    }

    /// No body.
    pub fn empty() -> Self {
        Self { body: Content::Done, turn: None }
    }

    /// Hold `turn` until the body was taken.
    pub fn hold(&mut self, turn: Turn) {
        self.turn = Some(turn);
    }
}

impl From<ReplyBody> for Outgoing {
    fn from(body: ReplyBody) -> Self {
        match body {
            ReplyBody::Whole(bytes) => Self::whole(bytes),
            ReplyBody::Stream(stream) => Self { body: Content::Stream(stream), turn: None },
        }
    }
}

impl HttpBody for Outgoing {
    type Data = Piece;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Piece>>>> {
        let this = &mut *self;
        match std::mem::replace(&mut this.body, Content::Done) {
            Content::Done => Poll::Ready(None),
            Content::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(Piece::new(bytes, this.turn.as_ref()))))),
            Content::Stream(mut stream) => {
                // A panic here would take the whole connection with it, and on HTTP/2 the other requests on it.
                let polled = std::panic::catch_unwind(AssertUnwindSafe(|| stream.as_mut().poll_next(context)));
                let polled = polled.unwrap_or_else(|_| {
                    tracing::error!("the producer of a reply body panicked");
                    Poll::Ready(Some(Err(io::Error::other("the producer of the body panicked"))))
                });
                if let Poll::Ready(Some(Ok(_))) | Poll::Pending = polled {
                    this.body = Content::Stream(stream);
                }
                if let (Poll::Ready(_), Some(turn)) = (&polled, &this.turn) {
                    turn.pulse().progress();
                }
                polled.map(|item| item.map(|chunk| chunk.map(|bytes| Frame::data(Piece::new(bytes, this.turn.as_ref())))))
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
