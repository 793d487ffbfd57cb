//! The line to a server: bytes out, replies in, each within its time, and cut when the service stops.
//!
//! It does not know what is said.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::sync::watch;
use tokio::time::timeout;

use super::reply::{Reply, ReplyParser};
use crate::engine::mail::delivery::Cause;
use crate::vocab::limits::SMTP_REPLY_LINE_BYTES_MAX;

/// A connection, plain or encrypted.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// How far the end has come. Only ever raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopStage {
    /// Normal work.
    Running,
    /// Nothing new begins.
    Draining,
    /// Everything is given up at once.
    Cut,
}

/// The signal to stop, as one connection sees it.
#[derive(Clone)]
pub struct Stop(pub watch::Receiver<StopStage>);

impl Stop {
    /// Wait for this.
    pub async fn reached(&mut self, ending: StopStage) {
        // Who could raise it is gone, then so is whoever waits for this connection.
        let _ = self.0.wait_for(|now| *now >= ending).await;
    }

    /// Whether it has come to this.
    pub fn is(&self, ending: StopStage) -> bool {
        *self.0.borrow() >= ending
    }
}

/// What comes from the server without being asked for.
#[derive(Debug, PartialEq, Eq)]
enum Unsolicited {
    Bytes,
    End,
    Error(String),
}

/// The line.
pub struct Connection {
    stream: Box<dyn Stream>,
    /// What has come in, from `at` on not yet looked at.
    received: Vec<u8>,
    at: usize,
    stop: Stop,
}

impl Connection {
    pub fn new(stream: Box<dyn Stream>, stop: Stop) -> Self {
        Self { stream, received: Vec::new(), at: 0, stop }
    }

    /// Whether bytes have come in that nobody has looked at.
    pub fn has_unread(&self) -> bool {
        self.at < self.received.len()
    }

    /// The bare connection, for encrypting it. Nothing may be unread: what came in clear must not be taken for what comes encrypted.
    pub fn into_stream(self) -> Result<Box<dyn Stream>, Cause> {
        if self.has_unread() {
            return Err(Cause::Garbled("it said more than asked before the encryption".to_owned()));
        }
        Ok(self.stream)
    }

    /// Send all of this.
    pub async fn send(&mut self, bytes: &[u8], limit: Duration) -> Result<(), Cause> {
        let stream = &mut self.stream;
        within(&mut self.stop, limit, async {
            stream.write_all(bytes).await?;
            stream.flush().await
        })
        .await
    }

    /// Send all of this while listening: a server that speaks in the middle of a message, or hangs up, is not sent the rest.
    pub async fn send_listening(&mut self, bytes: &[u8], limit: Duration) -> Result<(), Cause> {
        let (stream, received) = (&mut self.stream, &mut self.received);
        let mut rest = bytes;
        let writing = poll_fn(|context| {
            loop {
                if rest.is_empty() {
                    return Pin::new(&mut *stream).poll_flush(context).map_ok(|()| None);
                }
                match Pin::new(&mut *stream).poll_write(context, rest) {
                    Poll::Ready(Ok(0)) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                    Poll::Ready(Ok(count)) => rest = &rest[count..],
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                    Poll::Pending => break,
                }
            }
            poll_heard(stream, received, context).map(|heard| Ok(Some(heard)))
        });
        match within(&mut self.stop, limit, writing).await? {
            None | Some(Unsolicited::Bytes) => Ok(()),
            Some(Unsolicited::End) => Err(Cause::Lost("it hung up".to_owned())),
            Some(Unsolicited::Error(why)) => Err(Cause::Lost(why)),
        }
    }

    /// Whether the server is there and has said nothing that nobody asked for. Does not wait.
    pub async fn is_quiet(&mut self) -> bool {
        !self.has_unread() && self.listen().await.is_none()
    }

    /// What the server has said unasked, without waiting: its words, or that it is gone. [`None`] if it waits for us.
    pub async fn interjection(&mut self, limit: Duration) -> Option<Result<Reply, Cause>> {
        let heard = if self.has_unread() { Some(Unsolicited::Bytes) } else { self.listen().await };
        match heard? {
            Unsolicited::Bytes => Some(self.reply(limit).await),
            Unsolicited::End => Some(Err(Cause::Lost("it hung up".to_owned()))),
            Unsolicited::Error(why) => Some(Err(Cause::Lost(why))),
        }
    }

    async fn listen(&mut self) -> Option<Unsolicited> {
        let (stream, received) = (&mut self.stream, &mut self.received);
        poll_fn(|context| match poll_heard(stream, received, context) {
            Poll::Ready(heard) => Poll::Ready(Some(heard)),
            Poll::Pending => Poll::Ready(None),
        })
        .await
    }

    /// The next reply, whole within `limit`.
    pub async fn reply(&mut self, limit: Duration) -> Result<Reply, Cause> {
        let (stream, received, at) = (&mut self.stream, &mut self.received, &mut self.at);
        let reading = async {
            let mut assembly = ReplyParser::default();
            loop {
                let line = match next_line(received, at) {
                    Err(what) => return Ok(Err(what)),
                    Ok(line) => line,
                };
                match line.map(|line| assembly.take(line)) {
                    Some(Ok(Some(reply))) => return Ok(Ok(reply)),
                    Some(Ok(None)) => {}
                    Some(Err(what)) => return Ok(Err(what)),
                    None => {
                        if stream.read_buf(received).await? == 0 {
                            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it hung up"));
                        }
                    }
                }
            }
        };
        let read = within(&mut self.stop, limit, reading).await?;
        if self.at == self.received.len() {
            self.received.clear();
            self.at = 0;
        }
        read.map_err(Cause::Garbled)
    }
}

/// Read what is there, if anything.
fn poll_heard(stream: &mut Box<dyn Stream>, received: &mut Vec<u8>, context: &mut std::task::Context<'_>) -> Poll<Unsolicited> {
    let mut bytes = [0; 512];
    let mut buffer = ReadBuf::new(&mut bytes);
    match Pin::new(stream).poll_read(context, &mut buffer) {
        Poll::Pending => Poll::Pending,
        Poll::Ready(Err(error)) => Poll::Ready(Unsolicited::Error(error.to_string())),
        Poll::Ready(Ok(())) if buffer.filled().is_empty() => Poll::Ready(Unsolicited::End),
        Poll::Ready(Ok(())) => {
            received.extend_from_slice(buffer.filled());
            Poll::Ready(Unsolicited::Bytes)
        }
    }
}

/// The next whole line that was received, without its end.
fn next_line<'a>(received: &'a mut Vec<u8>, at: &mut usize) -> Result<Option<&'a [u8]>, String> {
    let Some(end) = received[*at..].iter().position(|byte| *byte == b'\n') else {
        if received.len() - *at > SMTP_REPLY_LINE_BYTES_MAX {
            return Err(format!("a line of more than {SMTP_REPLY_LINE_BYTES_MAX} bytes"));
        }
        received.drain(..*at);
        *at = 0;
        return Ok(None);
    };
    let line = &received[*at..*at + end];
    *at += end + 1;
    Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
}

/// What `io` comes to within `limit`, unless everything is cut first.
async fn within<T>(stop: &mut Stop, limit: Duration, io: impl Future<Output = io::Result<T>>) -> Result<T, Cause> {
    tokio::select! {
        biased;
        done = timeout(limit, io) => match done {
            Ok(done) => done.map_err(|error| Cause::Lost(error.to_string())),
            Err(_) => Err(Cause::TimedOut(limit)),
        },
        () = stop.reached(StopStage::Cut) => Err(Cause::Stopping),
    }
}
