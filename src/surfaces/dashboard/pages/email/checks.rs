//! The page with an email's checks: the scores, and each check's findings with their remedies.

use serde::Serialize;
use serde_json::{Value, json};

use super::{EmailHead, email, is_shown};
use crate::engine::api::Done;
use crate::features::checks::report::Check;
use crate::features::checks::views::Severity;
use crate::features::emails;
use crate::features::emails::ops::checks::{EmailChecksView, FindingView};
use crate::features::emails::views::EmailDetails;
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};

#[derive(Serialize)]
pub struct ChecksPage {
    #[serde(flatten)]
    head: EmailHead,
    checks: Value,
    groups: Vec<Group>,
    ignored: Vec<FindingView>,
}

/// The findings of one check, without those that the user ignores.
#[derive(Serialize)]
struct Group {
    word: &'static str,
    label: &'static str,
    score: Option<u32>,
    findings: Vec<FindingView>,
    /// The findings of severity `info`, which the page shows as suggestions.
    suggestions: Vec<FindingView>,
}

page_context!(ChecksPage, "email_checks.html", {
    use crate::engine::api::Operation;

    let sample = || emails::ops::checks::Checks::example().1.0;
    let page = |checks, status| Self::new(EmailHead::sample("checks", status), checks);
    let ignored = || {
        let mut checks = sample();
        checks.findings.iter_mut().for_each(|one| one.ignored = true);
        checks
    };
    let unchecked = |pending| EmailChecksView { checked_at: None, findings: Vec::new(), pending, ..sample() };
    let waits = EmailChecksView { pending: true, links_requested: false, ..sample() };
    vec![
        page(sample(), "ready"),
        page(ignored(), "ready"),
        page(waits, "ready"),
        page(unchecked(true), "ready"),
        page(unchecked(false), "ready"),
        page(unchecked(false), "processing"),
    ]
});

impl ChecksPage {
    fn new(head: EmailHead, mut checks: EmailChecksView) -> Self {
        let scores = checks.scores;
        let (ignored, open): (Vec<_>, Vec<_>) = std::mem::take(&mut checks.findings).into_iter().partition(|one| one.ignored);
        let mut groups: Vec<Group> = Check::ALL
            .into_iter()
            .map(|check| Group {
                word: check.word(),
                label: label(check),
                score: scores.of(check),
                findings: Vec::new(),
                suggestions: Vec::new(),
            })
            .collect();
        for one in open {
            if let Some(group) = groups.iter_mut().find(|group| group.word == one.finding.check.word()) {
                let is_small = one.finding.severity == Severity::Info;
                if is_small { &mut group.suggestions } else { &mut group.findings }.push(one);
            }
        }
        Self { head, checks: serde_json::to_value(checks).unwrap_or_default(), groups, ignored }
    }
}

fn label(check: Check) -> &'static str {
    match check {
        Check::Compatibility => "Email clients",
        Check::Links => "Links",
        Check::Spelling => "Spelling",
        Check::Deliverability => "Deliverability",
        Check::Accessibility => "Accessibility",
    }
}

pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    draw(visit, None).await
}

async fn draw(visit: &Visit, error: Option<PageError>) -> Result<PageResponse, PageError> {
    let EmailDetails { email, series, .. } = email(visit).await?;
    let Done(checks) = visit.ask::<emails::ops::checks::Checks>(json!({ "emailId": visit.path_parameter("id") })).await?;
    let page = ChecksPage::new(EmailHead::new(&email, series, "checks"), checks);
    Ok(PageResponse::draw_with(&page, error.as_ref()))
}

/// Fixes a finding, ignores it or stops ignoring it, or repeats the checks.
pub async fn send(visit: &Visit) -> Result<PageResponse, PageError> {
    let (id, form) = (visit.path_parameter("id"), &visit.form);
    let finding = form.get("finding");
    let (asked, done) = match form.get("act") {
        "check" => (visit.ask::<emails::ops::check::Check>(json!({ "emailId": id })).await.map(drop), "checked"),
        "fix" => {
            let version = form.get("version").parse::<u32>().map_err(|_| PageError::not_found())?;
            let input = json!({ "emailId": id, "findingId": finding, "version": version });
            (visit.ask::<emails::ops::finding_fix::FindingFix>(input).await.map(drop), "fixed")
        }
        act @ ("ignore" | "notice") => {
            let input = json!({ "emailId": id, "findingId": finding, "ignored": act == "ignore" });
            let done = if act == "ignore" { "ignored" } else { "noticed" };
            (visit.ask::<emails::ops::finding_ignore::FindingIgnore>(input).await.map(drop), done)
        }
        _ => return Err(PageError::unknown_action()),
    };
    match asked {
        Ok(()) => Ok(PageResponse::redirect(format!("{}?done={done}", visit.path))),
        Err(error) if is_shown(&error) => draw(visit, Some(error)).await,
        Err(error) => Err(error),
    }
}
