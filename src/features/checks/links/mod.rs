//! Checks the links in an email: which of them work, and which problems readers and spam filters notice.
//!
//! `check` requests URLs through [`crate::engine::fetch`], which also checks the addresses of redirects. `model` determines the statuses
//! that need no request, and which URLs get no GET request because opening them could change something, such as a subscription.

pub mod check;
pub mod findings;
pub mod model;
#[cfg(test)]
mod tests;
pub mod views;

use tokio::time::Instant;

use self::check::{LinkChecker, LinkOptions};
use self::views::LinkAnalysis;
use super::CheckContext;
use super::source::CheckedEmail;
use crate::engine::api::Failure;

/// Checks the links in an email. Requests their URLs only if `options` are given.
pub async fn analyze(
    context: &CheckContext,
    email: &CheckedEmail,
    options: Option<LinkOptions>,
) -> Result<LinkAnalysis, Failure> {
    let start = Instant::now();
    let inspection = email.inspect(context).await?;
    let engine = &context.engine;
    let now = engine.clock.now();
    let checker = LinkChecker { fetch: &engine.fetch, probes: &engine.link_probes, base: engine.base_url(), now };
    let checked = match options {
        Some(options) => checker.check(&inspection.links, options).await,
        None => checker.read(&inspection.links),
    };
    Ok(LinkAnalysis::of(&inspection.links, &checked, now, start.elapsed()))
}
