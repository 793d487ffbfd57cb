//! The checks of an email before it is sent: compatibility with email clients, links, spelling, deliverability and accessibility.
//!
//! A worker process parses the HTML for the checks of compatibility, links and accessibility ([`crate::engine::render::inspect`]). This
//! feature evaluates the results, and sends the requests that the checks need. [`run::run`] runs the checks of an email; the feature
//! `emails` stores their result with the email's version, and `validation` has the operations that check an email on request.

pub mod accessibility;
pub mod compatibility;
mod context;
pub mod deliverability;
pub mod links;
pub mod model;
pub mod report;
pub mod results;
pub mod rules;
pub mod run;
mod second_checkers;
pub mod source;
pub mod spelling;
pub mod views;

pub use context::CheckContext;
