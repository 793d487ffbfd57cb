//! Ways in. No rules of their own.

pub mod http;
