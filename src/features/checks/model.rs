//! The result of all checks of an email, as stored with the email's version.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::report::{Check, IncompleteCheck};
use super::views::{PlaceView, Severity};

/// The scores of an email, from 0 to 100. If a check did not finish, its score is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CheckScores")]
pub struct Scores {
    /// The weighted mean of the scores of the checks that finished; less than 90 if a finding is critical. A campaign's minimum score
    /// refers to this score.
    pub overall: Option<u32>,
    pub compatibility: Option<u32>,
    pub links: Option<u32>,
    pub spelling: Option<u32>,
    pub deliverability: Option<u32>,
    pub accessibility: Option<u32>,
}

impl Scores {
    pub fn of(&self, check: Check) -> Option<u32> {
        match check {
            Check::Compatibility => self.compatibility,
            Check::Links => self.links,
            Check::Spelling => self.spelling,
            Check::Deliverability => self.deliverability,
            Check::Accessibility => self.accessibility,
        }
    }

    pub fn sample() -> Self {
        let [compatibility, links, spelling, deliverability, accessibility] = [98, 100, 70, 100, 88].map(Some);
        Self { overall: Some(92), compatibility, links, spelling, deliverability, accessibility }
    }
}

/// A problem that a check found in an email.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckFinding {
    /// The ID of the finding, which stays the same in later versions of the email while the problem exists.
    pub id: String,
    pub check: Check,
    /// The name of the rule for programs, such as `image_alt`; for the compatibility check, the slug of the feature at caniemail.com.
    pub rule: String,
    pub severity: Severity,
    /// The problem, in one sentence.
    pub message: String,
    /// The effect that recipients notice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<String>,
    /// How to resolve the problem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// The word, URL or excerpt that the finding is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The replacement for the word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// Whether Mailmill can resolve the problem, by using the suggestion or by replacing a part of the source.
    pub fixable: bool,
    /// What Mailmill does to resolve the problem, such as `Replace “recieve” with “receive”`. Absent if only a user can resolve it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub automatic_fix: Option<String>,
    /// The number of occurrences.
    pub count: usize,
    /// The first occurrences in the HTML.
    pub occurrences: Vec<PlaceView>,
    /// The URL of a page about the problem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The weight of the finding among findings of the same severity.
    pub weight: f64,
}

impl CheckFinding {
    pub fn sample() -> Self {
        Self {
            id: "3f9a51c07be2".into(),
            check: Check::Spelling,
            rule: "UNKNOWN_WORD".into(),
            severity: Severity::Warning,
            message: "“recieve” is misspelled.".into(),
            effect: None,
            fix: Some("Replace it with “receive”.".into()),
            text: Some("recieve".into()),
            suggestion: Some("receive".into()),
            fixable: true,
            automatic_fix: Some("Replace “recieve” with “receive”".into()),
            count: 1,
            occurrences: vec![PlaceView { excerpt: "You will recieve your order on Friday".into(), ..PlaceView::sample() }],
            url: None,
            weight: 30.0,
        }
    }
}

/// The result of all checks of an email.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EmailChecks {
    pub scores: Scores,
    /// The findings, most severe first.
    pub findings: Vec<CheckFinding>,
    /// Whether the URLs of the email were requested. If not, only the URLs themselves were checked.
    pub links_requested: bool,
    /// The checks that did not finish, or finished only in part.
    pub incomplete: Vec<IncompleteCheck>,
}

/// The maximum number of findings that are listed for an email, and for each of the campaign's own texts, on a campaign's launch page, in a
/// dry run, and in the error for a score below the minimum.
pub const WORST_FINDINGS: usize = 3;
/// The maximum number of findings that become warnings of the email. More would hide the warnings about its content.
const WARNINGS_MAX: usize = 8;

/// Groups of rules that find the same problem, mostly rules of different checks. Lists of all findings leave out a finding if a rule before
/// it in its group has a finding too.
const SAME_PROBLEM: [&[(Check, &str)]; 7] = [
    &[(Check::Links, "unsubscribe_missing"), (Check::Deliverability, "unsubscribe_missing")],
    &[
        (Check::Accessibility, "linked_image_alt"),
        (Check::Accessibility, "image_alt"),
        (Check::Links, "linked_image_without_alt"),
    ],
    &[(Check::Accessibility, "contrast_light"), (Check::Deliverability, "hidden_low_contrast")],
    &[(Check::Accessibility, "link_invisible"), (Check::Deliverability, "hidden_low_contrast")],
    &[(Check::Compatibility, "clipped"), (Check::Deliverability, "html_large")],
    &[(Check::Links, "shortener"), (Check::Deliverability, "link_shortener")],
    &[(Check::Links, "ip_host"), (Check::Deliverability, "link_numeric_host")],
];

impl EmailChecks {
    /// Returns the findings that are not ignored and do not repeat the problem of another finding, most severe first.
    pub fn open<'a>(&'a self, is_ignored: impl Fn(&str) -> bool + 'a) -> impl Iterator<Item = &'a CheckFinding> {
        self.findings.iter().filter(move |finding| !is_ignored(&finding.id) && !self.is_repetition(finding))
    }

    /// Returns the most severe findings, except those with the severity `Info`, for the warnings of the email.
    pub fn warnings<'a>(&'a self, is_ignored: impl Fn(&str) -> bool + 'a) -> impl Iterator<Item = &'a CheckFinding> {
        self.open(is_ignored).filter(|finding| finding.severity != Severity::Info).take(WARNINGS_MAX)
    }

    fn is_repetition(&self, finding: &CheckFinding) -> bool {
        let is = |(check, rule): &(Check, &str), other: &CheckFinding| other.check == *check && other.rule == *rule;
        SAME_PROBLEM.iter().any(|row| match row.iter().position(|one| is(one, finding)) {
            Some(place) => row[..place].iter().any(|first| self.findings.iter().any(|other| is(first, other))),
            None => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_that_two_checks_find_is_reported_once() {
        let finding = |check, rule: &str| CheckFinding { id: rule.into(), check, rule: rule.into(), ..CheckFinding::sample() };
        let checks = EmailChecks {
            findings: vec![
                finding(Check::Links, "linked_image_without_alt"),
                finding(Check::Accessibility, "image_alt"),
                finding(Check::Deliverability, "unsubscribe_missing"),
            ],
            ..EmailChecks::default()
        };
        let open =
            |ignored: &'static str| checks.open(move |id| id == ignored).map(|finding| finding.rule.clone()).collect::<Vec<_>>();
        assert_eq!(open(""), ["image_alt", "unsubscribe_missing"]);
        assert_eq!(open("image_alt"), ["unsubscribe_missing"]);
    }

    #[test]
    fn warnings_leave_out_what_readers_do_not_notice_and_are_bounded() {
        let info = CheckFinding { severity: Severity::Info, ..CheckFinding::sample() };
        let checks = EmailChecks {
            findings: std::iter::once(info).chain((0..20).map(|_| CheckFinding::sample())).collect(),
            ..EmailChecks::default()
        };
        assert_eq!(checks.warnings(|_| false).count(), WARNINGS_MAX);
        assert!(checks.warnings(|_| false).all(|finding| finding.severity != Severity::Info));
    }
}
