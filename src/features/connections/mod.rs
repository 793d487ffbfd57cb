//! Connections: accounts on other platforms that contacts are imported from (`assets/docs/connections.md`).
//!
//! A connection has the private API key of an account, sealed with the master key. Invariant: no response, log line or audit row contains a
//! key. An account can have several connections per platform, and a connection can be limited to one brand.
//!
//! `platform` has an adapter for each platform; `client` sends all requests. Everything else is the same for every platform.

mod choice;
mod client;
mod error;
mod importing;
mod key;
mod model;
pub mod ops;
mod platform;
mod store;
#[cfg(test)]
mod tests;
pub mod views;
pub mod worker;

pub use error::PlatformError;
pub use platform::scopes;
pub use store::sealed;
