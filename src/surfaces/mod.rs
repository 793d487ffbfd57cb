//! Ways in. No rules of their own.

pub mod cli;
pub mod dashboard;
pub mod http;
