//! Who may do what, how often, and whether it was done already.

pub mod audit;
pub mod rate_limit;
pub mod jwt;
pub mod keys;
pub mod links;
pub mod session_cache;
pub mod idempotency;
pub mod throttle;
pub mod token;
pub mod visit_buffer;
