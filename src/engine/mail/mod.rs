//! Mail as machines handle it: what a message looks like, who signs it, what carries it, the name system around it.
//!
//! It knows no campaign, no contact and no account.

pub mod body;
pub mod delivery;
pub mod dkim;
pub mod dkim_verify;
pub mod dns;
pub mod headers;
pub mod inbound;
pub mod message;
pub mod parsed;
pub mod smtp;
pub mod transport;
