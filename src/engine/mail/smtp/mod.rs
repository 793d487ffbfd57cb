//! The SMTP client (RFC 5321): one connection, one message at a time, one recipient per message.
//!
//! The client manages neither pools nor relays: it receives an open connection, and returns how far the delivery got. A reply with too many
//! lines, or with a line that is too long, is an error.

mod auth;
mod capabilities;
mod connection;
mod dot_stuffing;
mod reply;
mod session;
mod tls;

use std::time::Duration;

pub use auth::{Credentials, Mechanism};
pub use connection::{Stop, StopStage, Stream};
pub use reply::{EnhancedCode, Reply};
pub use session::{ConnectError, Session, SessionOptions, TlsDemand, TlsInfo, TransactionResult};
pub use tls::TlsConnectors;

use crate::vocab::limits;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// The time limit for finding a server's addresses, for connecting to one address, and for a TLS handshake.
    pub connect: Duration,
    /// The time limit for the reply to a command, and for sending each chunk of a message.
    pub command: Duration,
    /// The time limit for the reply to the final dot of a message.
    pub dot: Duration,
    /// The time limit for the reply to QUIT.
    pub quit: Duration,
    /// How long an unused connection is kept open.
    pub idle: Duration,
    /// How long a delivery waits for a relay if none is available.
    pub patience: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: limits::SMTP_CONNECT_TIME,
            command: limits::SMTP_COMMAND_TIME,
            dot: limits::SMTP_DOT_TIME,
            quit: limits::SMTP_QUIT_TIME,
            idle: limits::SMTP_IDLE_TIME,
            patience: limits::SMTP_PATIENCE,
        }
    }
}
