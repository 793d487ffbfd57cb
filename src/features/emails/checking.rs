//! Checks every version of an email, and stores the result with the version.
//!
//! The checks run twice. Generated and imported emails, and edits with a prompt, are first checked without requests, which takes a fraction
//! of a second, so that an email that is ready has its scores and warnings. Then the worker checks the version again and requests the URLs
//! of its links, which can take seconds. Versions that users save block by block are checked only by the worker.

use std::sync::Arc;

use futures_util::stream::{self, StreamExt};
use serde_json::json;

use super::finding::Finding;
use super::generation::context::StageContext;
use super::model::{Email, Stage, VersionChecks};
use super::{postal_address, store, versions};
use crate::engine::api::{Engine, Failure};
use crate::engine::store::{self as rows, Read, WriteTx};
use crate::features::checks::CheckContext;
use crate::features::checks::model::{CheckFinding, EmailChecks, Scores, WORST_FINDINGS};
use crate::features::checks::run::{LinkRequests, run};
use crate::features::checks::source::CheckedEmail;
use crate::vocab::codes::Code;
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, EmailId, ProjectId};
use crate::vocab::limits;

/// The scores and the worst findings of an email's version.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckSummary {
    pub scores: Scores,
    /// At most three findings that are not ignored, the worst first.
    pub worst: Vec<CheckFinding>,
    pub links_requested: bool,
}

/// Returns the result of the checks of an email's version; `None` if the version has not been checked yet.
pub fn summary(tx: &impl Read, email: EmailId, version: u32) -> rows::Result<Option<CheckSummary>> {
    let Some(VersionChecks { checks, .. }) = store::checks(tx, email, version)? else { return Ok(None) };
    let ignored = store::ignored_findings(tx, email)?;
    let worst = checks.open(|id| ignored.contains_key(id)).take(WORST_FINDINGS).cloned().collect();
    Ok(Some(CheckSummary { scores: checks.scores, worst, links_requested: checks.links_requested }))
}

/// Returns whether an email waits for its first check.
pub fn is_awaited(tx: &impl Read, account: AccountId, id: EmailId) -> rows::Result<bool> {
    let Some(email) = store::email(tx, account, id)? else { return Ok(false) };
    Ok(store::checks(tx, id, email.version)?.is_none() && store::awaits_checks(tx, account, id)?)
}

/// Returns the warnings that the checks of an email's current version cause. `known` are the other warnings, which are not repeated.
pub fn warnings(tx: &impl Read, email: &Email, known: &[Finding]) -> rows::Result<Vec<Finding>> {
    let Some(VersionChecks { checks, .. }) = store::checks(tx, email.id, email.version)? else { return Ok(Vec::new()) };
    let ignored = store::ignored_findings(tx, email.id)?;
    let is_known = |finding: &CheckFinding| is_known(finding, known);
    Ok(checks.warnings(|id| ignored.contains_key(id)).filter(|finding| !is_known(finding)).map(Finding::from).collect())
}

/// Returns whether a warning already names the problem.
fn is_known(finding: &CheckFinding, known: &[Finding]) -> bool {
    const CHARACTERS_MIN: usize = 8;
    let has = |message: &str| known.iter().any(|warning| warning.message == message);
    let names = |text: &str| {
        text.chars().count() >= CHARACTERS_MIN && known.iter().any(|warning| warning.message.contains(text.trim_end_matches('…')))
    };
    finding.rule == "address_missing" && has(postal_address::MISSING) || finding.text.as_deref().is_some_and(names)
}

/// Checks an email without requests.
pub async fn first(
    context: &StageContext,
    account: AccountId,
    project: ProjectId,
    subject: Option<String>,
    html: &str,
) -> Result<EmailChecks, Failure> {
    let email = CheckedEmail { html: Arc::new(html.to_owned()), subject, project: Some(project), field: "emailId" };
    let context = CheckContext { engine: context.engine.clone(), data: context.data.clone(), account };
    run(&context, &email, LinkRequests::None).await
}

/// Stores the result of the checks without requests with the email's current version, and lets the worker request the links.
pub fn keep_first(tx: &mut WriteTx<'_>, account: AccountId, email: &Email, checks: EmailChecks) {
    store::save_checks(tx, email.id, email.version, &VersionChecks { checks, checked_at: tx.now() });
    store::request_checks(tx, account, email.id);
}

/// Checks the current version of an email, with requests, and stores the result. If the email has changed in the meantime, the result is
/// discarded and the email stays in the queue.
pub async fn check(context: &StageContext, account: AccountId, id: EmailId) -> Result<(), Failure> {
    let tx = context.data.store.read();
    let email = store::email(&tx, account, id)?.filter(|email| email.stage == Stage::Ready);
    let checked = match &email {
        Some(email) => {
            let html = postal_address::in_markup(&tx, email.project, versions::texts(&tx, email.id, email.version)?.html)?;
            let subject = store::version(&tx, email.id, email.version)?.map(|version| version.subject);
            Some(CheckedEmail { html: Arc::new(html), subject, project: Some(email.project), field: "emailId" })
        }
        None => None,
    };
    drop(tx);
    let environment = CheckContext { engine: context.engine.clone(), data: context.data.clone(), account };
    let checks = match &checked {
        Some(checked) => Some(run(&environment, checked, LinkRequests::Sent).await?),
        None => None,
    };
    let keep = move |tx: &mut WriteTx<'_>| -> Result<(), rows::Error> {
        let seen = email.map(|email| email.version);
        let current = store::email(tx, account, id)?.filter(|email| email.stage == Stage::Ready);
        if current.as_ref().map(|email| email.version) != seen {
            return Ok(());
        }
        if let (Some(email), Some(checks)) = (current, checks) {
            store::save_checks(tx, id, email.version, &VersionChecks { checks, checked_at: tx.now() });
        }
        store::close_checks(tx, account, id);
        Ok(())
    };
    Ok(context.data.store.write(keep).await??)
}

/// Checks emails that wait for it. Returns whether more emails may be waiting.
pub async fn step(engine: Arc<Engine>, environment: Environment) -> Result<bool, Failure> {
    let context = StageContext { data: engine.data(environment).clone(), engine };
    let open = store::open_checks(&context.data.store.read(), limits::EMAIL_CHECKS_PER_STEP)?;
    let is_more = open.len() == limits::EMAIL_CHECKS_PER_STEP;
    let checking = stream::iter(open).map(|(account, id)| {
        let context = &context;
        async move { check(context, account, id).await }
    });
    let mut done = checking.buffer_unordered(limits::EMAIL_CHECKS_AT_ONCE);
    let mut failed = None;
    while let Some(result) = done.next().await {
        failed = result.err().or(failed);
    }
    failed.map_or(Ok(is_more), Err)
}

/// Returns the failure for an email that has not been checked yet.
pub fn not_checked(id: EmailId) -> Failure {
    let detail = "The email has not been checked yet. The checks run in the background; try again in a few seconds.";
    Failure::because(Code::WrongState, detail)
        .see("emails.check", "POST /v1/emails/{emailId}/checks runs the checks now")
        .with(json!({ "emailId": id }))
}
