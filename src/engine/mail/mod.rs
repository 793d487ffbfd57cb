//! Mail protocols and formats: messages, signatures, transports and DNS lookups.

pub mod body;
pub mod delivery;
pub mod dkim;
pub mod dkim_verify;
pub mod dns;
pub mod feedback;
pub mod headers;
pub mod inbound;
pub mod message;
pub mod parsed;
pub mod smtp;
pub mod transport;
