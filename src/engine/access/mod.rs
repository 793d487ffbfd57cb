//! Access control: authentication, rate limits, idempotency and the audit log.

pub mod access_tokens;
pub mod audit;
pub mod idempotency;
pub mod jwt;
pub mod keys;
pub mod last_writes;
pub mod links;
pub mod rate_limit;
pub mod session_cache;
pub mod throttle;
pub mod token;
pub mod url_token;
pub mod visit_buffer;
