//! Connections: accounts on other platforms, from which contacts are imported and to which emails are exported
//! (`assets/docs/connections.md`).
//!
//! A connection has the private API key or the tokens of an account, sealed with the master key. Invariant: no response, log line or audit
//! row contains them. An account can have several connections per platform, and a connection can be limited to one brand.
//!
//! `platform` has an adapter per platform for imports, and `templates` one for exports. `client` sends their requests, and `oauth` sends
//! the requests for tokens.

mod choice;
mod client;
mod credentials;
mod error;
mod fields;
mod importing;
mod model;
pub mod oauth;
pub mod ops;
mod platform;
mod preview;
mod response;
mod sources;
mod store;
pub mod templates;
#[cfg(test)]
mod tests;
pub mod views;
pub mod worker;

pub use choice::{ConnectionChoice, choose, connect_url, usable};
pub use error::PlatformError;
pub use fields::checked as checked_fields;
pub use importing::{ImportPlan, label, start_with};
pub use platform::{export_scopes, scopes};
#[cfg(any(test, fuzzing))]
pub use platform::{read_pages, read_response};
pub use response::{LimitedList, has_too_many_values, retry_after};
pub use sources::{SourceRef, checked as checked_sources};
pub use store::ROW_CHECKS;
pub use store::exported::ROW_CHECKS as EXPORT_ROW_CHECKS;
pub use store::sealed;
