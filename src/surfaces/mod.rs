//! The surfaces: HTTP, dashboard and command line. They have no rules of their own.

pub mod cli;
pub mod dashboard;
pub mod demo;
pub mod http;
pub mod internal_call;
