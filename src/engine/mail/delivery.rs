//! The input and the outcome of a delivery, as passed between the recipient rows and the transports.
//!
//! [`BeforeDot`] durably records the handoff just before the final dot of a message is sent. Until then, the other server certainly does
//! not have the message; afterward, only the other server knows whether it does. This module is independent of campaigns, contacts and
//! recipient rows.

use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::smtp::Reply;
use crate::base::email::EmailAddress;

/// The envelope of a message, as mail servers see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The envelope sender, which receives failure reports; empty if there is none.
    pub sender: String,
    pub recipient: EmailAddress,
    /// Whether the message itself has headers in UTF-8. UTF-8 in addresses is detected automatically.
    pub smtputf8: bool,
}

impl Envelope {
    /// Returns whether only servers that support SMTPUTF8 (RFC 6531) can accept this message.
    pub fn needs_smtputf8(&self) -> bool {
        self.smtputf8 || !self.sender.is_ascii() || !self.recipient.local().is_ascii()
    }
}

/// The server that a message is being handed over to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handoff {
    pub server: String,
    /// The server's address, if it is reached over the network.
    pub address: Option<SocketAddr>,
    /// Whether the connection to the server is encrypted.
    pub encrypted: bool,
}

/// The decision whether to send the final dot of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DotDecision {
    /// The handoff is durably recorded: send the dot.
    Go,
    /// Do not send the message.
    Abandon,
}

/// Decides whether the final dot of a message is sent, after the rest of the message has been sent. Called at most once per delivery.
pub trait BeforeDot: Send {
    /// Decides whether to send the final dot. The dot is sent only if the result is [`DotDecision::Go`]. The call is not interrupted if the
    /// connection fails or the service stops.
    fn ready(&mut self, how: &Handoff) -> impl Future<Output = DotDecision> + Send;
}

/// The stage that a delivery reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Stage {
    /// Finding the mail server.
    Route,
    Connect,
    Greeting,
    Hello,
    Tls,
    Login,
    Sender,
    Recipient,
    Data,
    Body,
    /// Waiting for the server's reply to the final dot.
    Dot,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cause {
    Reply(Reply),
    /// The settings name no server for the recipient's domain. Contains the reason.
    NoRoute(&'static str),
    /// No server accepted a connection. Contains the reason.
    Unreachable(String),
    /// DNS returned no usable address of a mail server. Contains the reason.
    Unresolved(String),
    /// The connection was lost. Contains the reason.
    Lost(String),
    /// The step did not finish within this duration.
    TimedOut(Duration),
    /// The server's reply is not valid SMTP. Contains the details.
    Garbled(String),
    /// A required secure connection could not be established. Contains the reason.
    Insecure(String),
    /// The login is not possible with the settings. Contains the reason.
    NoLogin(String),
    /// The server recently failed for the reason `why` and is paused for the duration `rest`, so no delivery was attempted.
    LeftAlone {
        why: String,
        rest: Duration,
    },
    /// The service is stopping, so the delivery was not attempted or was interrupted.
    Stopping,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reply(reply) => write!(f, "the mail server replied {reply}"),
            Self::NoRoute(why) => write!(f, "no mail server is configured for this recipient ({why})"),
            Self::Unreachable(why) => write!(f, "the mail server does not accept connections ({why})"),
            Self::Unresolved(why) => write!(f, "no usable address of the mail server was found ({why})"),
            Self::Lost(why) => write!(f, "the connection to the mail server was lost ({why})"),
            Self::TimedOut(after) => write!(f, "the mail server did not complete the step within {} seconds", after.as_secs()),
            Self::Garbled(what) => write!(f, "the mail server's reply is not valid SMTP ({what})"),
            Self::Insecure(why) => write!(f, "a secure connection to the mail server failed ({why})"),
            Self::NoLogin(why) => write!(f, "cannot log in to the mail server ({why})"),
            Self::LeftAlone { why, .. } => write!(f, "deliveries to the mail server are paused after a failure ({why})"),
            Self::Stopping => f.write_str("the service is stopping"),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryOutcome {
    /// The server accepted the message: it replied 2yz to the final dot.
    Accepted { reply: Reply },
    /// The message was certainly not accepted, and can be retried: for example, the server replied 4yz, or the connection failed before the
    /// dot.
    Deferred { stage: Stage, cause: Cause },
    /// The message was certainly not accepted, and is not retried: the server replied 5yz to `MAIL` or a later command, or this service
    /// rejected the message with a reply of its own.
    Refused { stage: Stage, reply: Reply },
    /// The service started to send the final dot, but received no valid reply, so the delivery is uncertain.
    Unknown { cause: Cause },
    /// [`BeforeDot`] decided not to send the final dot, so the message was certainly not accepted.
    Abandoned,
}
