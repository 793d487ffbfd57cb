//! Ways in. No rules of their own.

pub mod cli;
pub mod dashboard;
pub mod demo;
pub mod http;
pub mod internal_call;
