//! The byte stream below hyper, with features that hyper lacks.
//!
//! 1. **A time limit for request headers that starts with their first byte.** hyper's own limit also runs while a kept-alive connection is
//!    idle, so a single limit would have to cover both.
//!
//! 2. **Error responses in the API's format** where hyper would write an empty 400 or 431, or no response at all (408).
//!
//! 3. **Tracking of bytes that are not flushed**: hyper takes a whole reply out of the body at once, and the client may read it
//!    slowly.
//!
//! 4. **A close that lets the client read the response**: the client's remaining input is read and discarded for a moment, because closing
//!    a socket with unread input makes the kernel discard the response in transit.
//!
//! Of HTTP/1.1 messages, this module interprets only the first line of an error response. HTTP/2 is passed through unchanged.

use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::time::{Instant, Sleep};

use super::activity::ConnectionActivity;
use super::answer::{Answers, Refusal};
use super::options::Limits;
use crate::engine::admission::Activity;

/// The maximum size of a bare error response, in bytes. hyper's longest is about 120 bytes; the headers of the surface's own responses
/// alone are longer.
const BARE_ANSWER_BYTES_MAX: usize = 192;

pub struct GuardedStream<I> {
    io: I,
    /// The bytes read for protocol detection, which hyper reads first.
    replay: Bytes,
    /// The surface's own response that remains to be written before the connection ends.
    out: Bytes,
    heads: Option<HeadGuard>,
}

/// Limits the time for the headers of HTTP/1.1 requests, and tracks whether replies are flushed.
struct HeadGuard {
    activity: Arc<ConnectionActivity>,
    answers: Arc<Answers>,
    time_max: Duration,
    /// The number of started requests when bytes last arrived outside of a request. While it equals the current number of started requests,
    /// those bytes are an unfinished head. The value starts at 0, because a new connection starts with a head.
    heard_at: u32,
    /// Whether any byte has arrived. A client that has sent nothing gets no error response.
    spoke: bool,
    armed: bool,
    expired: bool,
    timer: Option<Pin<Box<Sleep>>>,
}

impl HeadGuard {
    /// Returns whether part of a head has arrived. The first call that finds part of a head starts the timer. Except for the first head of
    /// a connection, a head that arrives in a single read, as nearly all do, needs no timer.
    fn in_head(&mut self) -> bool {
        let in_head = self.heard_at == self.activity.started();
        if in_head && !self.armed {
            let deadline = Instant::now() + self.time_max;
            match &mut self.timer {
                Some(timer) => timer.as_mut().reset(deadline),
                None => self.timer = Some(Box::pin(tokio::time::sleep_until(deadline))),
            }
        }
        self.armed = in_head;
        in_head
    }

    fn poll_expired(&mut self, context: &mut Context<'_>) -> Poll<()> {
        match &mut self.timer {
            Some(timer) => timer.as_mut().poll(context),
            None => Poll::Pending,
        }
    }
}

impl<I> GuardedStream<I> {
    pub fn http1(io: I, replay: Bytes, activity: Arc<ConnectionActivity>, answers: Arc<Answers>, header_time: Duration) -> Self {
        let heads = HeadGuard {
            activity,
            answers,
            time_max: header_time,
            heard_at: 0,
            spoke: !replay.is_empty(),
            armed: false,
            expired: false,
            timer: None,
        };
        Self { io, replay, out: Bytes::new(), heads: Some(heads) }
    }

    pub fn http2(io: I, replay: Bytes) -> Self {
        Self { io, replay, out: Bytes::new(), heads: None }
    }
}

impl<I: AsyncRead + AsyncWrite + Unpin> GuardedStream<I> {
    /// Closes the connection so that the client can still read the last response, or immediately if another connection needs its slot.
    pub async fn finish(mut self, limits: &Limits, activity: &Activity) {
        activity.begin_to_close();
        let closing = async {
            self.shutdown().await?;
            let mut left = limits.linger_bytes;
            let mut scrap = [0; 8 * 1024];
            while left > 0 {
                let read = self.io.read(&mut scrap).await?;
                if read == 0 {
                    break;
                }
                left = left.saturating_sub(read);
            }
            io::Result::Ok(())
        };
        tokio::select! {
            biased;
            // If the orderly close takes too long or fails, the connection is dropped.
            _ = tokio::time::timeout(limits.linger_time, closing) => {}
            () = activity.asked_to_close() => {}
        }
    }

    /// Writes the surface's pending response, if there is one.
    fn poll_out(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.out.is_empty() {
            let written = ready!(Pin::new(&mut self.io).poll_write(context, &self.out))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.out.advance(written);
        }
        Poll::Ready(Ok(()))
    }

    /// Records that reply bytes are not flushed yet. Until they are flushed, closing the connection would truncate the reply.
    fn note_write(&self) {
        if let Some(guard) = &self.heads {
            guard.activity.write();
        }
    }

    fn wrote(&self, polled: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let (Some(guard), Poll::Ready(Ok(1..))) = (&self.heads, &polled) {
            guard.activity.progress();
        }
        polled
    }

    /// If `bytes` are hyper's bare error response, replaces them with the surface's own response and returns the number of replaced bytes.
    fn replace(&mut self, bytes: &[u8]) -> Option<usize> {
        if bytes.len() > BARE_ANSWER_BYTES_MAX {
            return None;
        }
        let guard = self.heads.as_ref()?;
        self.out = guard.answers.message(bare_answer(bytes)?);
        Some(bytes.len())
    }
}

/// Returns the error that hyper's bare response reports; `None` for other bytes. Bare responses lack the security headers that the surface
/// adds.
fn bare_answer(bytes: &[u8]) -> Option<Refusal> {
    let status = bytes.strip_prefix(b"HTTP/1.1 ")?.get(..4)?;
    let refusal = match status {
        b"400 " => Refusal::Malformed,
        b"414 " => Refusal::UriTooLong,
        b"431 " => Refusal::HeadersTooLarge,
        _ => return None,
    };
    let text = std::str::from_utf8(bytes).ok()?;
    (text.contains("content-length: 0\r\n") && !text.contains("x-content-type-options")).then_some(refusal)
}

impl<I: AsyncRead + AsyncWrite + Unpin> AsyncRead for GuardedStream<I> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if !this.replay.is_empty() {
            let length = this.replay.len().min(buffer.remaining());
            buffer.put_slice(&this.replay.split_to(length));
            return Poll::Ready(Ok(()));
        }
        let Some(guard) = this.heads.as_mut().filter(|guard| guard.activity.running() == 0) else {
            return Pin::new(&mut this.io).poll_read(context, buffer);
        };
        if guard.expired {
            return Poll::Ready(Ok(()));
        }
        let in_head = guard.in_head();
        let before = buffer.filled().len();
        let polled = Pin::new(&mut this.io).poll_read(context, buffer);
        if buffer.filled().len() > before {
            guard.heard_at = guard.activity.started();
            guard.spoke = true;
        }
        if in_head && polled.is_pending() {
            ready!(guard.poll_expired(context));
            guard.expired = true;
            if guard.spoke {
                this.out = guard.answers.message(Refusal::SlowHeaders);
            }
            // hyper interprets this empty read as the end of the input, and closes the connection.
            return Poll::Ready(Ok(()));
        }
        polled
    }
}

impl<I: AsyncRead + AsyncWrite + Unpin> AsyncWrite for GuardedStream<I> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if let Some(length) = self.replace(bytes) {
            return Poll::Ready(Ok(length));
        }
        self.note_write();
        let polled = Pin::new(&mut self.io).poll_write(context, bytes);
        self.wrote(polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let [only] = slices
            && let Some(length) = self.replace(only)
        {
            return Poll::Ready(Ok(length));
        }
        self.note_write();
        let polled = Pin::new(&mut self.io).poll_write_vectored(context, slices);
        self.wrote(polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_out(context))?;
        ready!(Pin::new(&mut self.io).poll_flush(context))?;
        if let Some(guard) = &self.heads {
            guard.activity.flushed();
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_out(context))?;
        ready!(Pin::new(&mut self.io).poll_flush(context))?;
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}
