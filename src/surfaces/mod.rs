//! Ways in. No rules of their own.

pub mod asking;
pub mod cli;
pub mod dashboard;
pub mod demo;
pub mod http;
