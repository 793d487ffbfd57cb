//! The input and the outcome of a delivery: the interface between the recipient rows and the transports.
//!
//! The critical moment is the one before the final dot of a message. Before it, the other server certainly does not have the message; after
//! it, only the other server knows. So the sender of the mailing is called at that moment ([`BeforeDot`]) and durably records the handoff;
//! only then is the dot sent. Campaigns, contacts and recipient rows are not known here.

use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::smtp::Reply;
use crate::base::email::EmailAddress;

/// The envelope of a message, as mail servers see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The address for failure reports; empty for none.
    pub sender: String,
    pub recipient: EmailAddress,
    /// Whether the message itself has headers in UTF-8. UTF-8 addresses are detected automatically.
    pub smtputf8: bool,
}

impl Envelope {
    /// Whether only servers that support SMTPUTF8 (RFC 6531) can accept this.
    pub fn needs_smtputf8(&self) -> bool {
        self.smtputf8 || !self.sender.is_ascii() || !self.recipient.local().is_ascii()
    }
}

/// The server that a message is being handed over to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handoff {
    /// The name of the server.
    pub server: String,
    /// Its address, if it is reached over the network.
    pub address: Option<SocketAddr>,
    /// Whether the connection is encrypted.
    pub encrypted: bool,
}

/// The decision about the final dot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DotDecision {
    /// The handoff is durably recorded: send the dot.
    Go,
    /// The message must not be sent.
    Abandon,
}

/// Called when all of the message but its final dot was sent, at most once per delivery.
pub trait BeforeDot: Send {
    /// The message is sent only if this returns [`DotDecision::Go`]. It is never interrupted, whatever happens to the connection.
    fn ready(&mut self, how: &Handoff) -> impl Future<Output = DotDecision> + Send;
}

/// The stage that a delivery reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Stage {
    /// Finding the server.
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
    /// The dot was sent; the server's reply to it.
    Dot,
}

/// The cause that stopped a delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cause {
    /// A negative reply of the server.
    Reply(Reply),
    /// No server accepts a connection; with the cause.
    Unreachable(String),
    /// The name of the domain or of its servers could not be resolved; with the cause.
    Unresolved(String),
    /// The connection was lost; with the cause.
    Lost(String),
    /// The server sent nothing for this long.
    TimedOut(Duration),
    /// The server's reply is not SMTP.
    Garbled(String),
    /// A required secure connection could not be established; with the cause.
    Insecure(String),
    /// The server offers no login method that the settings allow; with the cause.
    NoLogin(String),
    /// The server recently failed for this reason, and is paused for this long: nothing was attempted.
    LeftAlone { why: String, rest: Duration },
    /// The service is stopping.
    Stopping,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reply(reply) => write!(f, "it replied {reply}"),
            Self::Unreachable(why) => write!(f, "it does not accept connections ({why})"),
            Self::Unresolved(why) => write!(f, "its name could not be resolved ({why})"),
            Self::Lost(why) => write!(f, "the connection was lost ({why})"),
            Self::TimedOut(after) => write!(f, "it sent nothing for {} seconds", after.as_secs()),
            Self::Garbled(what) => write!(f, "its reply is not valid SMTP ({what})"),
            Self::Insecure(why) => write!(f, "a secure connection failed ({why})"),
            Self::NoLogin(why) => write!(f, "login is not possible ({why})"),
            Self::LeftAlone { why, .. } => write!(f, "it is paused for a while after failures ({why})"),
            Self::Stopping => f.write_str("the service is stopping"),
        }
    }
}

/// The outcome of a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The server has accepted it: 2yz to the dot.
    Accepted { reply: Reply },
    /// Certainly not accepted, may be retried: 4yz anywhere, or any failure before the dot.
    Deferred { stage: Stage, cause: Cause },
    /// Certainly not accepted, final for this recipient: 5yz from `MAIL` on, or decided by us on the server's behalf.
    Refused { stage: Stage, reply: Reply },
    /// Sending the dot has started, and no understandable reply followed: the delivery is uncertain.
    Unknown { cause: Cause },
    /// [`BeforeDot`] decided so. Certainly not accepted.
    Abandoned,
}

impl Outcome {
    /// Whether the outcome is about the transport rather than this recipient: another recipient would have had the same.
    pub fn concerns_the_way(&self) -> bool {
        match self {
            Self::Deferred { stage, cause } => *stage < Stage::Sender || !matches!(cause, Cause::Reply(_)),
            Self::Accepted { .. } | Self::Refused { .. } | Self::Unknown { .. } | Self::Abandoned => false,
        }
    }
}
