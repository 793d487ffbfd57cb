//! The SMTP client (RFC 5321): one connection, one message at a time, one recipient per message.
//!
//! It manages neither pools nor relays; it gets an open connection and returns how far the delivery came. Everything that a server can make
//! long, large or many is bounded.

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

/// Time limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For one address to accept a connection, and for a TLS handshake.
    pub connect: Duration,
    /// For the reply to a command, and for each chunk of a message to be sent.
    pub command: Duration,
    /// For the reply to the final dot.
    pub dot: Duration,
    /// For the reply to QUIT.
    pub quit: Duration,
    /// How long an unused connection is kept.
    pub idle: Duration,
    /// How long a delivery waits if no relay is available.
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
