//! Ways in. No rules of their own.

pub mod internal_call;
pub mod cli;
pub mod dashboard;
pub mod demo;
pub mod http;
