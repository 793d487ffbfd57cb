//! What a delivery is given and what it can come to: the port between the ledger and whatever carries mail.
//!
//! The whole point is the moment before the final dot of a message. Until then the other server certainly does not have it; from then
//! on, only the other server knows. So the ledger is called at that moment ([`BeforeDot`]) and writes down durably that the message
//! is being handed over; only then the dot is sent. Nothing here knows campaigns, contacts or the ledger.

use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::smtp::Reply;
use crate::base::email::EmailAddress;

/// From whom and to whom, as mail servers see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The address to which failures are reported; empty for nobody.
    pub sender: String,
    pub recipient: EmailAddress,
    /// Whether the message itself has headers in UTF-8. Addresses that need it are seen without being told.
    pub smtputf8: bool,
}

impl Envelope {
    /// Whether only servers that understand SMTPUTF8 (RFC 6531) can take this.
    pub fn needs_smtputf8(&self) -> bool {
        self.smtputf8 || !self.sender.is_ascii() || !self.recipient.local().is_ascii()
    }
}

/// To whom a message is being handed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handoff {
    /// The name of the server.
    pub server: String,
    /// Its address, if it is reached by network.
    pub address: Option<SocketAddr>,
    /// Whether the connection is encrypted.
    pub encrypted: bool,
}

/// Whether the final dot is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DotDecision {
    /// It is durably written down that this message is being handed over.
    Go,
    /// It must not go out.
    Abandon,
}

/// Asked when all of the message but its final dot was sent, at most once per delivery.
pub trait BeforeDot: Send {
    /// The message goes out only if this says [`DotDecision::Go`]. It is never cut short, whatever happens to the connection.
    fn ready(&mut self, how: &Handoff) -> impl Future<Output = DotDecision> + Send;
}

/// How far a delivery was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Stage {
    /// Looking for the server.
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
    /// The dot was sent, and the reply to it is meant.
    Dot,
}

/// What stopped a delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cause {
    /// The server said no.
    Reply(Reply),
    /// No server takes a connection; why.
    Unreachable(String),
    /// The name of the domain or of its servers could not be looked up; why.
    Unresolved(String),
    /// The connection ended; why.
    Lost(String),
    /// The server said nothing for this long.
    TimedOut(Duration),
    /// What the server said is no SMTP.
    Garbled(String),
    /// No secure connection could be made where one is demanded; why.
    Insecure(String),
    /// The server offers no way to log in that the settings allow; why.
    NoLogin(String),
    /// It could not be reached a moment ago, for this reason, and is left alone for so long: nothing was tried.
    LeftAlone { why: String, rest: Duration },
    /// The service stops.
    Stopping,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reply(reply) => write!(f, "it said {reply}"),
            Self::Unreachable(why) => write!(f, "it takes no connection ({why})"),
            Self::Unresolved(why) => write!(f, "its name could not be looked up ({why})"),
            Self::Lost(why) => write!(f, "the connection ended ({why})"),
            Self::TimedOut(after) => write!(f, "it said nothing for {} seconds", after.as_secs()),
            Self::Garbled(what) => write!(f, "what it said is no SMTP ({what})"),
            Self::Insecure(why) => write!(f, "no secure connection could be made ({why})"),
            Self::NoLogin(why) => write!(f, "no login is possible ({why})"),
            Self::LeftAlone { why, .. } => write!(f, "it is left alone for a while after failures ({why})"),
            Self::Stopping => f.write_str("the service stops"),
        }
    }
}

/// What a delivery came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The server has it: 2yz to the dot.
    Accepted { reply: Reply },
    /// Certainly not accepted, may be tried again: 4yz anywhere, or any failure before the dot.
    Deferred { stage: Stage, cause: Cause },
    /// Certainly not accepted, final for this recipient: 5yz from `MAIL` on, or said by us on the server's behalf.
    Refused { stage: Stage, reply: Reply },
    /// The dot was begun, and no reply that can be understood followed: nobody here knows.
    Unknown { cause: Cause },
    /// [`BeforeDot`] said so. Certainly not accepted.
    Abandoned,
}
