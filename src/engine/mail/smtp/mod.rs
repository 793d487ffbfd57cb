//! The SMTP client (RFC 5321): one connection, one message at a time, one recipient per message.
//!
//! It knows no pools and no relays; it is handed an open connection and says how far it came. Everything a server can make long, large
//! or many is bounded.

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

/// How long is waited for what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For one address to take a connection, and for a TLS handshake.
    pub connect: Duration,
    /// For the reply to a command, and for each piece of a message to be taken.
    pub command: Duration,
    /// For the reply to the final dot.
    pub dot: Duration,
    /// For the reply to a goodbye.
    pub quit: Duration,
    /// How long an unused connection is kept.
    pub idle: Duration,
    /// How long a delivery waits for relays that are all out of order.
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
