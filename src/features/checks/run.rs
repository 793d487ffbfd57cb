//! Runs checks of an email in parallel: either all checks, to store the result with the email's version, or the checks of a [`Plan`].
//!
//! If the result is stored, the DNS records of the sender are not checked: the campaign determines the sender, and the sender's domain is
//! verified separately.

use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::CheckContext;
use super::accessibility::AccessibilityAnalysis;
use super::compatibility::CompatibilityAnalysis;
use super::deliverability::{self, Envelope};
use super::links::analyze as analyze_links;
use super::links::check::LinkOptions;
use super::model::EmailChecks;
use super::report::{Check, IncompleteCheck, Results};
use super::results;
use super::source::CheckedEmail;
use super::spelling::{self, SpellingOptions};
use crate::engine::api::Failure;
use crate::engine::deliverability::result::Analysis;
use crate::vocab::codes::Code;
use crate::vocab::limits;

/// Whether the URLs of an email are requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkRequests {
    /// No URL is requested: only the URLs themselves are checked.
    None,
    /// The URLs are requested, which takes a few seconds.
    Sent,
}

/// The sender for the deliverability check.
#[derive(Clone, Debug)]
pub enum Sender {
    /// The sender is unknown, so the check predicts only how providers judge the content.
    Unknown,
    /// The check also reads the DNS records of this sender's domain.
    Of(Envelope),
}

/// Which checks run, and how. A check whose value is `None` or false does not run.
pub struct Plan {
    /// The keys of the clients for the compatibility check. If empty, all clients are checked.
    pub compatibility: Option<Vec<String>>,
    pub links: Option<LinkRequests>,
    pub spelling: Option<SpellingOptions>,
    pub deliverability: Option<Sender>,
    pub accessibility: bool,
    /// The time that each check may take.
    pub limit: Duration,
    /// The time after which the link check sends no more requests. It is shorter than `limit`, so that the check can return the
    /// results that it has.
    pub links_limit: Duration,
    /// Whether a failure of a check makes the whole run fail. Otherwise, only the result of this check is missing.
    pub is_final: fn(&Failure) -> bool,
}

/// Runs all checks whose results are stored. A check that fails or takes too long has no score and is listed as incomplete with the reason.
/// Fails only if a check is temporarily unavailable, for example because the renderer is busy; the caller can then repeat the checks.
pub async fn stored(context: &CheckContext, email: &CheckedEmail, requests: LinkRequests) -> Result<EmailChecks, Failure> {
    let spelling = SpellingOptions { languages: Vec::new(), grammar: true, second_checkers: false, project: email.project };
    let limit = limits::EMAIL_CHECK_TIME;
    let plan = Plan {
        compatibility: Some(Vec::new()),
        links: Some(requests),
        spelling: Some(spelling),
        deliverability: Some(Sender::Unknown),
        accessibility: true,
        limit,
        links_limit: limit.saturating_sub(Duration::from_secs(1)),
        is_final: |failure| failure.code == Code::Unavailable,
    };
    let results = run(context, email, plan).await?;
    let checks = results::checks(&results, requests == LinkRequests::Sent);
    Ok(EmailChecks { incomplete: results.incomplete, ..checks })
}

/// Runs the checks of a plan in parallel, and returns when all have ended. Fails only if the failure of a check is final.
pub async fn run(context: &CheckContext, email: &CheckedEmail, plan: Plan) -> Result<Results, Failure> {
    let limit = plan.limit;
    // The futures are boxed, because they are large and would otherwise all be on the thread's stack.
    let compatibility = within(limit, plan.compatibility.map(|clients| Box::pin(compatibility(context, email, clients))));
    let options = |requests| link_options(requests, plan.links_limit);
    let links = within(limit, plan.links.map(|requests| Box::pin(analyze_links(context, email, options(requests)))));
    let spelling = within(limit, plan.spelling.map(|options| Box::pin(spelling::check(context, email, options))));
    let deliverability = within(limit, plan.deliverability.map(|sender| Box::pin(deliverability(context, email, sender))));
    let accessibility = within(limit, plan.accessibility.then(|| Box::pin(accessibility(context, email))));
    let (compatibility, links, spelling, deliverability, accessibility) =
        tokio::join!(compatibility, links, spelling, deliverability, accessibility);
    let mut incomplete_checks = IncompleteChecks { is_final: plan.is_final, incomplete: Vec::new() };
    let results = Results {
        compatibility: incomplete_checks.result(Check::Compatibility, compatibility)?,
        links: incomplete_checks.result(Check::Links, links)?,
        spelling: incomplete_checks.result(Check::Spelling, spelling.map(in_time))?,
        deliverability: incomplete_checks.result(Check::Deliverability, deliverability.map(in_time))?,
        accessibility: incomplete_checks.result(Check::Accessibility, accessibility)?,
        incomplete: Vec::new(),
    };
    let is_requested = plan.links == Some(LinkRequests::Sent);
    let unchecked = results.links.as_ref().and_then(|links| links.unchecked.clone()).filter(|_| is_requested);
    if let Some(reason) = unchecked {
        incomplete_checks.add(Check::Links, reason);
    }
    Ok(Results { incomplete: incomplete_checks.incomplete, ..results })
}

fn link_options(requests: LinkRequests, all: Duration) -> Option<LinkOptions> {
    (requests == LinkRequests::Sent).then_some(LinkOptions { follows: true, each: limits::LINK_CHECK_TIME, all })
}

async fn compatibility(
    context: &CheckContext,
    email: &CheckedEmail,
    clients: Vec<String>,
) -> Result<CompatibilityAnalysis, Failure> {
    let start = Instant::now();
    let json = email.compatibility(context, clients, "options.clients").await?;
    CompatibilityAnalysis::read(&json, start.elapsed())
}

async fn deliverability(context: &CheckContext, email: &CheckedEmail, sender: Sender) -> Result<Option<Analysis>, Failure> {
    match sender {
        Sender::Unknown => deliverability::content(context, email).await,
        Sender::Of(envelope) => deliverability::check(context, email, envelope).await,
    }
}

async fn accessibility(context: &CheckContext, email: &CheckedEmail) -> Result<AccessibilityAnalysis, Failure> {
    let inspection = email.inspect(context).await?;
    Ok(AccessibilityAnalysis::of(&inspection.accessibility))
}

/// The outcome of a check; `None` if the check was not requested.
type Checked<T> = Option<CheckOutcome<T>>;

enum CheckOutcome<T> {
    Done(T),
    Failed(Failure),
    Late,
}

/// Runs a check within its time limit.
async fn within<T>(limit: Duration, check: Option<impl Future<Output = Result<T, Failure>>>) -> Checked<T> {
    Some(match timeout(limit, check?).await {
        Ok(Ok(result)) => CheckOutcome::Done(result),
        Ok(Err(failure)) => CheckOutcome::Failed(failure),
        Err(_) => CheckOutcome::Late,
    })
}

/// Treats a check that returned no result as late, because a check returns no result only if it reached its own time limit.
fn in_time<T>(outcome: CheckOutcome<Option<T>>) -> CheckOutcome<T> {
    match outcome {
        CheckOutcome::Done(Some(result)) => CheckOutcome::Done(result),
        CheckOutcome::Done(None) | CheckOutcome::Late => CheckOutcome::Late,
        CheckOutcome::Failed(failure) => CheckOutcome::Failed(failure),
    }
}

/// Collects the checks that did not finish.
struct IncompleteChecks {
    is_final: fn(&Failure) -> bool,
    incomplete: Vec<IncompleteCheck>,
}

impl IncompleteChecks {
    fn add(&mut self, check: Check, reason: String) {
        self.incomplete.push(IncompleteCheck { check, reason });
    }

    /// Returns the result of a check; `None` if the check was not requested or is incomplete. Records why a check is incomplete. If a check
    /// failed and the failure is final, returns the failure as an error.
    fn result<T>(&mut self, check: Check, checked: Checked<T>) -> Result<Option<T>, Failure> {
        match checked {
            None => return Ok(None),
            Some(CheckOutcome::Done(result)) => return Ok(Some(result)),
            Some(CheckOutcome::Failed(failure)) if (self.is_final)(&failure) => return Err(failure),
            Some(CheckOutcome::Failed(failure)) => {
                tracing::warn!(?check, cause = failure.cause, "a check of an email failed");
                self.add(check, failure.sentence());
            }
            Some(CheckOutcome::Late) => self.add(check, "The check took too long. Run the checks again.".to_owned()),
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::sync::Arc;

    use super::*;
    use crate::testing::TestApp;

    fn plan(limit: Duration, links_limit: Duration) -> Plan {
        Plan {
            compatibility: Some(Vec::new()),
            links: Some(LinkRequests::Sent),
            spelling: Some(SpellingOptions::default()),
            deliverability: Some(Sender::Unknown),
            accessibility: true,
            limit,
            links_limit,
            is_final: |failure| failure.code == Code::Unavailable,
        }
    }

    #[test]
    fn checks_that_do_not_finish_are_named_and_the_others_have_results() {
        let app = TestApp::with(|settings| {
            settings.outbound.allow_networks = vec!["127.0.0.0/8".parse().expect("the value is a network")];
        });
        // A server that accepts connections and never responds.
        let silent = TcpListener::bind("127.0.0.1:0").expect("a loopback port can be bound");
        let address = silent.local_addr().expect("the listener is bound");
        let html = Arc::new(format!("<html lang=en><a href=\"http://{address}/\">Our shop</a></html>"));
        let email = CheckedEmail { html, subject: None, project: None, field: "html" };
        let context = CheckContext { engine: app.engine().clone(), data: app.data().clone(), account: app.account() };
        let checked =
            |limit, links_limit| app.wait(run(&context, &email, plan(limit, links_limit))).expect("no failure is final");

        let results = checked(Duration::from_secs(60), Duration::from_millis(300));
        let [incomplete] = results.incomplete.as_slice() else { panic!("{:?}", results.incomplete) };
        assert_eq!((incomplete.check, results.links.is_some()), (Check::Links, true));
        assert!(incomplete.reason.starts_with("1 link was not checked"), "{}", incomplete.reason);
        assert!(results.compatibility.is_some() && results.spelling.is_some());
        assert!(results.deliverability.is_some() && results.accessibility.is_some());

        // A check that does not end within its own limit has no result.
        let late = checked(Duration::from_millis(500), Duration::from_secs(60));
        let named: Vec<Check> = late.incomplete.iter().map(|one| one.check).collect();
        assert!(late.links.is_none() && named.contains(&Check::Links), "{named:?}");
    }
}
