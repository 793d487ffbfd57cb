//! The connection to a server: sends bytes and reads replies, each with a time limit, until the service stops.

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

/// A byte stream to a server, plain or encrypted.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// The stage of the shutdown. The stage only advances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopStage {
    Running,
    /// No new delivery starts.
    Draining,
    /// Sending and receiving end with an error.
    Cut,
}

/// The shutdown signal, as seen by one connection.
#[derive(Clone)]
pub struct Stop(pub watch::Receiver<StopStage>);

impl Stop {
    pub async fn reached(&mut self, ending: StopStage) {
        // The wait fails only if the transport was dropped, and then no delivery uses this connection.
        let _ = self.0.wait_for(|now| *now >= ending).await;
    }

    pub fn is(&self, ending: StopStage) -> bool {
        *self.0.borrow() >= ending
    }
}

/// Server activity other than a reply to a command.
#[derive(Debug, PartialEq, Eq)]
enum Unsolicited {
    Bytes,
    End,
    Error(String),
}

pub struct Connection {
    stream: Box<dyn Stream>,
    /// The received bytes; those from the position `at` on are unread.
    received: Vec<u8>,
    at: usize,
    stop: Stop,
}

impl Connection {
    pub fn new(stream: Box<dyn Stream>, stop: Stop) -> Self {
        Self { stream, received: Vec::new(), at: 0, stop }
    }

    pub fn has_unread(&self) -> bool {
        self.at < self.received.len()
    }

    /// Returns the bare stream, so that it can be encrypted. Fails if bytes are unread, because bytes received in clear text must not be
    /// treated as if they had arrived encrypted.
    pub fn into_stream(self) -> Result<Box<dyn Stream>, Cause> {
        if self.has_unread() {
            return Err(Cause::Garbled("unexpected data arrived before TLS started".to_owned()));
        }
        Ok(self.stream)
    }

    pub async fn send(&mut self, bytes: &[u8], limit: Duration) -> Result<(), Cause> {
        let stream = &mut self.stream;
        within(&mut self.stop, limit, async {
            stream.write_all(bytes).await?;
            stream.flush().await
        })
        .await
    }

    /// Sends the bytes while listening to the server. Returns an error if the server hangs up. If the server sends anything before all
    /// bytes are written, the remaining bytes are not sent; the call succeeds, and [`Self::has_unread`] then returns true.
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
            Some(Unsolicited::End) => Err(Cause::Lost("the mail server closed the connection".to_owned())),
            Some(Unsolicited::Error(why)) => Err(Cause::Lost(why)),
        }
    }

    /// Returns whether the server is still connected and has sent nothing unsolicited. Does not wait.
    pub async fn is_quiet(&mut self) -> bool {
        !self.has_unread() && self.listen().await.is_none()
    }

    /// Returns the server's unsolicited reply, or an error if the server closed the connection; [`None`] if the server has sent nothing.
    /// Does not wait for the server to send something, but waits up to `limit` for the rest of a reply that has started.
    pub async fn interjection(&mut self, limit: Duration) -> Option<Result<Reply, Cause>> {
        let heard = if self.has_unread() { Some(Unsolicited::Bytes) } else { self.listen().await };
        match heard? {
            Unsolicited::Bytes => Some(self.reply(limit).await),
            Unsolicited::End => Some(Err(Cause::Lost("the mail server closed the connection".to_owned()))),
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

    /// Reads the next reply, which must be complete within `limit`.
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
                            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the mail server closed the connection"));
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

/// Reads the bytes that are available, if there are any.
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

/// Returns the next complete line of the received bytes, without its line end.
fn next_line<'a>(received: &'a mut Vec<u8>, at: &mut usize) -> Result<Option<&'a [u8]>, String> {
    let Some(end) = received[*at..].iter().position(|byte| *byte == b'\n') else {
        if received.len() - *at > SMTP_REPLY_LINE_BYTES_MAX {
            return Err(format!("a reply line is longer than {SMTP_REPLY_LINE_BYTES_MAX} bytes"));
        }
        received.drain(..*at);
        *at = 0;
        return Ok(None);
    };
    let line = &received[*at..*at + end];
    *at += end + 1;
    Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
}

/// Returns the result of `io` if it finishes within `limit` and before all connections are cut.
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
