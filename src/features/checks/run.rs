//! Runs all checks of an email, for the result that is stored with its version.
//!
//! The DNS records of the sender are not checked: the campaign determines the sender, and the sender's domain is verified separately.

use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::CheckContext;
use super::accessibility::AccessibilityAnalysis;
use super::compatibility::CompatibilityAnalysis;
use super::deliverability::content;
use super::links::analyze as analyze_links;
use super::links::check::LinkOptions;
use super::model::EmailChecks;
use super::report::{Check, IncompleteCheck, Results};
use super::results;
use super::source::CheckedEmail;
use super::spelling::{self, SpellingOptions};
use crate::engine::api::Failure;
use crate::vocab::codes::Code;
use crate::vocab::limits;

/// Whether the URLs of an email are requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkRequests {
    /// No URL is requested: only the URLs themselves are checked.
    None,
    /// The URLs are requested, which takes some seconds.
    Sent,
}

/// Runs all checks in parallel. A check that fails or takes too long is left out of the scores, with the reason. Returns an error only if
/// the renderer is busy, because the checks can then be repeated.
pub async fn run(context: &CheckContext, email: &CheckedEmail, requests: LinkRequests) -> Result<EmailChecks, Failure> {
    let limit = limits::EMAIL_CHECK_TIME;
    let options = (requests == LinkRequests::Sent).then_some(LinkOptions {
        follows: true,
        each: limits::LINK_CHECK_TIME,
        // The link check ends in time, with a partial result.
        all: limit.saturating_sub(Duration::from_secs(1)),
    });
    let compatibility = timeout(limit, async {
        let start = Instant::now();
        let json = email.compatibility(context, Vec::new(), "clients").await?;
        CompatibilityAnalysis::read(&json, start.elapsed())
    });
    let links = timeout(limit, analyze_links(context, email, options));
    let wanted = SpellingOptions { languages: Vec::new(), grammar: true, second_checkers: false, project: email.project };
    let spelling = timeout(limit, spelling::check(context, email, wanted));
    let deliverability = timeout(limit, content(context, email));
    let accessibility = timeout(limit, async {
        let inspection = email.inspect(context).await?;
        Ok::<_, Failure>(AccessibilityAnalysis::of(&inspection.accessibility))
    });
    let (compatibility, links, spelling, deliverability, accessibility) =
        tokio::join!(compatibility, links, spelling, deliverability, accessibility);
    let mut incomplete = Vec::new();
    let results = Results {
        compatibility: settled(Check::Compatibility, compatibility, &mut incomplete)?,
        links: settled(Check::Links, links, &mut incomplete)?,
        spelling: settled(Check::Spelling, spelling, &mut incomplete)?.flatten(),
        deliverability: settled(Check::Deliverability, deliverability, &mut incomplete)?.flatten(),
        accessibility: settled(Check::Accessibility, accessibility, &mut incomplete)?,
        incomplete: Vec::new(),
    };
    for (check, is_missing) in
        [(Check::Spelling, results.spelling.is_none()), (Check::Deliverability, results.deliverability.is_none())]
    {
        if is_missing && !incomplete.iter().any(|one| one.check == check) {
            incomplete.push(IncompleteCheck { check, reason: LATE.to_owned() });
        }
    }
    let is_cut = requests == LinkRequests::Sent && results.links.as_ref().is_some_and(|links| !links.metadata.complete);
    if is_cut {
        let reason = "Some links could not be checked. Run the checks again.".to_owned();
        incomplete.push(IncompleteCheck { check: Check::Links, reason });
    }
    Ok(EmailChecks { incomplete, ..results::checks(&results, requests == LinkRequests::Sent) })
}

const LATE: &str = "The check took too long. Run the checks again.";

/// Returns the result of a check. A failed check is added to `incomplete`; the renderer being busy is an error.
fn settled<T>(
    check: Check,
    result: Result<Result<T, Failure>, tokio::time::error::Elapsed>,
    incomplete: &mut Vec<IncompleteCheck>,
) -> Result<Option<T>, Failure> {
    let reason = match result {
        Ok(Ok(result)) => return Ok(Some(result)),
        Ok(Err(failure)) if failure.code == Code::Unavailable => return Err(failure),
        Ok(Err(failure)) => {
            tracing::warn!(?check, cause = failure.cause, "a check of an email failed");
            failure.sentence()
        }
        Err(_) => LATE.to_owned(),
    };
    incomplete.push(IncompleteCheck { check, reason });
    Ok(None)
}
