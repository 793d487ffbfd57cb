//! Reads lines and bytes from a connection, and sends replies. Each of these operations has a time limit.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

use crate::vocab::limits;

/// The byte stream underlying a connection.
pub trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

pub struct Connection<S> {
    stream: S,
    /// Bytes that have been read but not used.
    ahead: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadError {
    Closed,
    /// The client sent or received nothing for too long.
    TooSlow,
    TooLong,
    /// The line ends in a line feed without a carriage return, or contains another carriage return.
    BareEnd,
}

impl<S: Stream> Connection<S> {
    pub fn new(stream: S) -> Self {
        Self { stream, ahead: Vec::new() }
    }

    /// Returns the underlying stream, unless bytes were read ahead.
    pub fn into_stream(self) -> Option<S> {
        self.ahead.is_empty().then_some(self.stream)
    }

    /// Returns whether the client has sent more bytes without waiting for our reply.
    pub fn is_prefetch(&self) -> bool {
        !self.ahead.is_empty()
    }

    /// Reads the next line, and returns it without its line end.
    pub async fn line(&mut self) -> Result<Vec<u8>, ReadError> {
        loop {
            if let Some(end) = self.ahead.iter().position(|byte| *byte == b'\n') {
                let mut line: Vec<u8> = self.ahead.drain(..=end).collect();
                line.pop();
                return if line.pop() == Some(b'\r') && !line.contains(&b'\r') { Ok(line) } else { Err(ReadError::BareEnd) };
            }
            if self.ahead.len() > limits::INBOUND_LINE_BYTES_MAX {
                return Err(ReadError::TooLong);
            }
            self.read_more(limits::INBOUND_COMMAND_TIME).await?;
        }
    }

    /// Returns the next available bytes.
    pub async fn chunk(&mut self) -> Result<Vec<u8>, ReadError> {
        if self.ahead.is_empty() {
            self.read_more(limits::INBOUND_CHUNK_TIME).await?;
        }
        Ok(std::mem::take(&mut self.ahead))
    }

    /// Puts back bytes that were not needed, so that they are read next.
    pub fn put_back(&mut self, rest: &[u8]) {
        self.ahead = [rest, &self.ahead].concat();
    }

    pub async fn say(&mut self, reply: &str) -> Result<(), ReadError> {
        let said = async {
            self.stream.write_all(reply.as_bytes()).await?;
            self.stream.flush().await
        };
        match timeout(limits::INBOUND_CHUNK_TIME, said).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(ReadError::Closed),
            Err(_) => Err(ReadError::TooSlow),
        }
    }

    async fn read_more(&mut self, time: std::time::Duration) -> Result<(), ReadError> {
        let mut chunk = [0; 16 * 1024];
        let read: io::Result<usize> = match timeout(time, self.stream.read(&mut chunk)).await {
            Ok(read) => read,
            Err(_) => return Err(ReadError::TooSlow),
        };
        match read {
            Ok(0) | Err(_) => Err(ReadError::Closed),
            Ok(length) => {
                self.ahead.extend_from_slice(&chunk[..length]);
                Ok(())
            }
        }
    }
}
