//! The result of a link check, as the API returns it.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::check::{CheckedLinks, CheckedUrl, Unchecked};
use super::findings::{self, LinkFinding, LinkRule, days_left};
use super::model::LinkStatus;
use crate::base::clock::Timestamp;
use crate::engine::render::inspect::{LinkKind, Links};
use crate::features::checks::views::{PlaceView, Severity, score};
use crate::vocab::limits;

/// The links in an email, with the result of their check.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LinkAnalysis {
    /// The number of distinct URLs.
    pub total_links: usize,
    /// The total number of uses of URLs in the email.
    pub total_occurrences: usize,
    /// The score from 0 to 100; 100 if no problem was found, and less than 90 with a critical finding or a link that does not work.
    pub score: u32,
    /// The URLs with their kind, such as link or image.
    pub checked_links: Vec<CheckedLinkView>,
    /// The problems, other than broken links, that readers and spam filters notice, most severe first.
    pub findings: Vec<LinkFindingView>,
    pub summary: LinkSummary,
    /// Recommendations, most important first.
    pub recommendations: Vec<String>,
    pub metadata: LinkMetadata,
    /// A sentence with the number of links that were not checked, and the reason. Absent if all links were checked.
    #[serde(skip)]
    pub unchecked: Option<String>,
}

/// A URL of the email.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CheckedLink")]
pub struct CheckedLinkView {
    /// The URL as written.
    pub url: String,
    pub kind: LinkKind,
    pub status: LinkStatus,
    /// The HTTP status of the final response.
    pub status_code: Option<u16>,
    /// The time that the requests took, in milliseconds. Absent if no requests were sent.
    pub response_time: Option<u64>,
    /// Why the link is neither `ok` nor `redirected`.
    pub error: Option<String>,
    /// The URL to which the redirects lead. If the check does not follow redirects, the target of the first redirect.
    pub final_url: Option<String>,
    /// The URLs that redirected, in order.
    pub hops: Vec<HopView>,
    /// The number of days until the certificate of the first encrypted host expires: the URL's own host or, for an unencrypted URL, a host
    /// to which it redirects.
    pub certificate_days_left: Option<i64>,
    /// The content type of the final response.
    pub content_type: Option<String>,
    /// The size of the content in bytes, if the server states it.
    pub content_bytes: Option<u64>,
    /// The visible text of the first link to the URL, or the alt text of the images in that link.
    pub text: String,
    /// The number of uses of the URL.
    pub count: usize,
    /// Whether the URL is only in conditional comments, so that only Outlook for Windows uses it.
    pub outlook_only: bool,
    /// The first uses of the URL.
    pub occurrences: Vec<PlaceView>,
}

/// A URL that redirects, with the status of its response.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "LinkHop")]
pub struct HopView {
    pub url: String,
    pub status_code: u16,
}

/// A finding about the links.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "LinkFinding")]
pub struct LinkFindingView {
    /// A fixed name for programs, such as `shortener`.
    pub rule: &'static str,
    pub severity: Severity,
    pub message: String,
    /// How to resolve the finding.
    pub fix: &'static str,
    /// The URL that the finding is about; absent if the finding is about several URLs or the whole email.
    pub url: Option<String>,
    /// The number of uses that the finding is about.
    pub count: usize,
    /// The first uses that the finding is about.
    pub occurrences: Vec<PlaceView>,
}

/// The number of URLs with each status.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LinkSummary {
    pub ok_links: usize,
    pub redirected_links: usize,
    pub broken_links: usize,
    pub unreachable_links: usize,
    pub unverifiable_links: usize,
    pub blocked_links: usize,
    pub invalid_links: usize,
    pub skipped_links: usize,
    /// The average response time in milliseconds; 0 if no request was sent.
    pub average_response_time: u64,
}

/// How long the check took, and how much it covered.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LinkMetadata {
    /// The time that the whole check took, in milliseconds.
    pub processing_time: u64,
    /// The number of URLs that were requested.
    pub links_checked: usize,
    /// The number of URLs that were not requested.
    pub links_skipped: usize,
    /// Whether every URL that needs a request was checked. False, for example, if the time limit or the limit of 200 URLs was reached.
    pub complete: bool,
}

/// Returns the maximum number of points that all findings with this severity cost together.
fn weight(severity: Severity) -> f64 {
    match severity {
        Severity::Critical => 30.0,
        Severity::Warning => 10.0,
        Severity::Info => 2.0,
    }
}
const BROKEN_WEIGHT: f64 = 60.0;
const BLOCKED_WEIGHT: f64 = 30.0;
const UNREACHABLE_WEIGHT: f64 = 10.0;

impl LinkAnalysis {
    pub fn of(links: &Links, checked: &CheckedLinks, now: Timestamp, time: Duration) -> Self {
        let found = findings::findings(links, &checked.urls, now);
        let summary = summary(&checked.urls);
        let requested = checked.urls.iter().filter(|one| one.report.is_some()).count();
        let is_cut = links.total > links.uses.len();
        let is_limited = checked.urls.iter().any(|one| one.unchecked == Some(Unchecked::TooMany));
        let max = limits::LINKS_INSPECTED_MAX;
        let rest = || is_cut.then(|| format!("The email has more than {max} links. The others were not checked."));
        Self {
            total_links: checked.urls.len(),
            total_occurrences: links.total,
            score: links_score(&summary, &found),
            checked_links: checked.urls.iter().map(|one| link_view(links, one, now)).collect(),
            recommendations: recommendations(&summary, &found),
            findings: found.into_iter().map(|finding| finding_view(links, finding)).collect(),
            metadata: LinkMetadata {
                processing_time: milliseconds(time),
                links_checked: requested,
                links_skipped: checked.urls.len() - requested,
                complete: checked.is_complete && !is_cut && !is_limited,
            },
            unchecked: checked.unchecked().or_else(rest),
            summary,
        }
    }

    pub fn sample() -> Self {
        let link = CheckedLinkView {
            url: "https://shop.example.com/spring".into(),
            kind: LinkKind::Link,
            status: LinkStatus::Broken,
            status_code: Some(404),
            response_time: Some(183),
            error: Some("The page does not exist (status 404).".into()),
            final_url: None,
            hops: Vec::new(),
            certificate_days_left: Some(61),
            content_type: Some("text/html".into()),
            content_bytes: None,
            text: "See the spring sale".into(),
            count: 1,
            outlook_only: false,
            occurrences: vec![PlaceView::sample()],
        };
        let rule = LinkRule::UnsubscribeMissing;
        let finding = LinkFindingView {
            rule: rule.id(),
            severity: rule.severity(),
            message: "The email has no unsubscribe link.".into(),
            fix: rule.fix(),
            url: None,
            count: 0,
            occurrences: Vec::new(),
        };
        let summary = LinkSummary { broken_links: 1, average_response_time: 183, ..LinkSummary::default() };
        Self {
            total_links: 1,
            total_occurrences: 1,
            score: 55,
            checked_links: vec![link],
            recommendations: vec!["Repair 1 broken link.".into(), rule.fix().into()],
            findings: vec![finding],
            summary,
            metadata: LinkMetadata { processing_time: 240, links_checked: 1, links_skipped: 0, complete: true },
            unchecked: None,
        }
    }
}

pub fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn links_score(summary: &LinkSummary, found: &[LinkFinding]) -> u32 {
    let mut problems = vec![
        (BROKEN_WEIGHT, summary.broken_links + summary.invalid_links),
        (BLOCKED_WEIGHT, summary.blocked_links),
        (UNREACHABLE_WEIGHT, summary.unreachable_links),
    ];
    for finding in found {
        problems.push((weight(finding.rule.severity()), 1));
    }
    // Count problems with the same weight as occurrences of one problem: `score` halves the cost of each further occurrence, so many minor
    // findings cannot cost all points.
    let mut shared: Vec<(f64, usize)> = Vec::new();
    for (weight, count) in problems {
        match shared.iter_mut().find(|(known, _)| *known == weight) {
            Some((_, known)) => *known += count,
            None => shared.push((weight, count)),
        }
    }
    let dead = summary.broken_links + summary.invalid_links + summary.blocked_links;
    score(shared, dead > 0 || found.iter().any(|finding| finding.rule.severity() == Severity::Critical))
}

fn summary(urls: &[CheckedUrl]) -> LinkSummary {
    let mut summary = LinkSummary::default();
    for one in urls {
        *match one.status {
            LinkStatus::Ok => &mut summary.ok_links,
            LinkStatus::Redirected => &mut summary.redirected_links,
            LinkStatus::Broken => &mut summary.broken_links,
            LinkStatus::Unreachable => &mut summary.unreachable_links,
            LinkStatus::Unverifiable => &mut summary.unverifiable_links,
            LinkStatus::Blocked => &mut summary.blocked_links,
            LinkStatus::Invalid => &mut summary.invalid_links,
            LinkStatus::Skipped => &mut summary.skipped_links,
        } += 1;
    }
    let times: Vec<u64> = urls.iter().filter_map(|one| Some(milliseconds(one.report.as_ref()?.time))).collect();
    summary.average_response_time = times.iter().sum::<u64>().checked_div(times.len() as u64).unwrap_or_default();
    summary
}

fn link_view(links: &Links, one: &CheckedUrl, now: Timestamp) -> CheckedLinkView {
    let first = one.uses.first().and_then(|index| links.uses.get(*index));
    let report = one.report.as_ref();
    let trail = report.map(|report| &report.probe.trail);
    let response = report.and_then(|report| report.probe.outcome.as_ref().ok());
    let hops = trail.map(|trail| &trail.hops).into_iter().flatten();
    let target = response.and_then(|response| response.redirects_to.as_ref());
    let target = target.or_else(|| trail.filter(|trail| !trail.hops.is_empty()).map(|trail| &trail.url));
    CheckedLinkView {
        url: one.url.clone(),
        kind: first.map_or(LinkKind::Link, |first| first.kind),
        status: one.status,
        status_code: response.map(|response| response.status.as_u16()),
        response_time: report.map(|report| milliseconds(report.time)),
        error: one.error.clone(),
        final_url: target.map(ToString::to_string),
        hops: hops.map(|hop| HopView { url: hop.url.to_string(), status_code: hop.status.as_u16() }).collect(),
        certificate_days_left: trail.and_then(|trail| Some(days_left(trail.certificate_expires?, now))),
        content_type: response.and_then(|response| response.content_type.clone()),
        content_bytes: response.and_then(|response| response.content_bytes),
        text: first.map(|first| first.text.clone()).unwrap_or_default(),
        count: one.uses.len(),
        outlook_only: one.uses.iter().all(|index| links.uses.get(*index).is_some_and(|one| one.outlook_only)),
        occurrences: places(links, &one.uses),
    }
}

fn finding_view(links: &Links, finding: LinkFinding) -> LinkFindingView {
    let LinkFinding { rule, message, url, uses } = finding;
    let (severity, fix) = (rule.severity(), rule.fix());
    LinkFindingView { rule: rule.id(), severity, message, fix, url, count: uses.len(), occurrences: places(links, &uses) }
}

fn places(links: &Links, uses: &[usize]) -> Vec<PlaceView> {
    let found = uses.iter().filter_map(|index| links.uses.get(*index)).filter(|one| one.place.line > 0);
    found.take(limits::PLACES_PER_FINDING_MAX).map(|one| PlaceView::from(&one.place)).collect()
}

fn recommendations(summary: &LinkSummary, found: &[LinkFinding]) -> Vec<String> {
    let counted = |count: usize, one: &str, many: &str| match count {
        0 => None,
        1 => Some(one.to_owned()),
        _ => Some(many.replace('#', &count.to_string())),
    };
    let mut all: Vec<String> = [
        counted(summary.broken_links, "Repair 1 broken link.", "Repair # broken links."),
        counted(summary.invalid_links, "Correct 1 invalid URL.", "Correct # invalid URLs."),
        counted(
            summary.blocked_links,
            "Replace 1 link that recipients cannot open.",
            "Replace # links that recipients cannot open.",
        ),
        counted(
            summary.unreachable_links,
            "Check 1 link again, because its server could not be reached or asked to wait.",
            "Check # links again, because their servers could not be reached or asked to wait.",
        ),
        counted(
            summary.unverifiable_links,
            "Check 1 link in a browser, because programs cannot check it.",
            "Check # links in a browser, because programs cannot check them.",
        ),
    ]
    .into_iter()
    .flatten()
    .collect();
    for finding in found.iter().filter(|finding| finding.rule.severity() != Severity::Info) {
        let fix = finding.rule.fix().to_owned();
        if !all.contains(&fix) {
            all.push(fix);
        }
    }
    all
}
