//! The combined report of all checks: one score, the checks that failed, and recommendations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::accessibility::AccessibilityAnalysis;
use super::compatibility::CompatibilityAnalysis;
use super::links::views::LinkAnalysis;
use super::spelling::SpellingAnalysis;
use super::views::{Severity, reduced};
use crate::engine::deliverability::category::Category;
use crate::engine::deliverability::result::Analysis;
use crate::engine::spelling::findings::FindingKind;

/// A check of an email.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "ValidationCheck")]
pub enum Check {
    Compatibility,
    Links,
    Spelling,
    Deliverability,
    Accessibility,
}

impl Check {
    /// All checks, in display order.
    pub const ALL: [Self; 5] = [Self::Compatibility, Self::Links, Self::Spelling, Self::Deliverability, Self::Accessibility];

    /// Returns the name of the check, in sentences and in the API.
    pub fn word(self) -> &'static str {
        match self {
            Self::Compatibility => "compatibility",
            Self::Links => "links",
            Self::Spelling => "spelling",
            Self::Deliverability => "deliverability",
            Self::Accessibility => "accessibility",
        }
    }

    /// Returns the weight of the check's score in the overall score.
    fn share(self) -> f64 {
        match self {
            Self::Compatibility | Self::Links => 0.25,
            Self::Deliverability => 0.2,
            Self::Spelling | Self::Accessibility => 0.15,
        }
    }
}

/// The results of all checks of an email. A check that was not requested, or that did not finish, is absent.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ValidationReport {
    /// The weighted mean of the scores of the checks that finished, from 0 to 100; less than 90 if a problem is critical, and absent if no
    /// check finished.
    pub overall_score: Option<u32>,
    pub compatibility: Option<CompatibilityAnalysis>,
    pub link_analysis: Option<LinkAnalysis>,
    pub spelling: Option<SpellingAnalysis>,
    pub deliverability: Option<Analysis>,
    pub accessibility: Option<AccessibilityAnalysis>,
    pub summary: ValidationSummary,
    pub recommendations: Recommendations,
    pub metadata: ValidationMetadata,
}

/// The totals of all checks, and which checks passed or failed.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ValidationSummary {
    /// The number of critical problems.
    pub critical_issues: usize,
    pub warnings: usize,
    /// The checks that passed.
    pub passed: Vec<Check>,
    /// The checks that failed, for example because of a critical problem or a spelling error.
    pub failed: Vec<Check>,
}

/// Recommendations, grouped by importance.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ValidationRecommendations")]
pub struct Recommendations {
    /// What to do before sending.
    pub critical: Vec<String>,
    /// Improvements that should be made before sending, if possible.
    pub important: Vec<String>,
    pub suggested: Vec<String>,
}

/// The checks that ran, and the time that they took.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ValidationMetadata {
    /// The time that all checks took, in milliseconds. The checks run in parallel, so this is not the sum of their times.
    pub total_processing_time: u64,
    /// The checks whose results the report contains.
    pub checks_performed: Vec<Check>,
    /// The requested checks that did not finish, or that finished only in part, with the reasons.
    pub checks_incomplete: Vec<IncompleteCheck>,
}

/// A check that did not finish, or that finished only in part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IncompleteCheck {
    pub check: Check,
    pub reason: String,
}

/// The results of the checks, from which the report is created.
#[derive(Debug, Default)]
pub struct Results {
    pub compatibility: Option<CompatibilityAnalysis>,
    pub links: Option<LinkAnalysis>,
    pub spelling: Option<SpellingAnalysis>,
    pub deliverability: Option<Analysis>,
    pub accessibility: Option<AccessibilityAnalysis>,
    pub incomplete: Vec<IncompleteCheck>,
}

/// The compatibility score below which the check fails.
const COMPATIBILITY_SCORE_MIN: u32 = 80;
/// The maximum number of recommendations of each importance.
const RECOMMENDATIONS_MAX: usize = 20;

impl ValidationReport {
    pub fn of(results: Results, total_processing_time: u64) -> Self {
        let mut summary = Summary::default();
        if let Some(report) = &results.compatibility {
            summary.compatibility(report);
        }
        if let Some(links) = &results.links {
            summary.links(links);
        }
        if let Some(spelling) = &results.spelling {
            summary.spelling(spelling);
        }
        if let Some(analysis) = &results.deliverability {
            summary.deliverability(analysis);
        }
        if let Some(accessibility) = &results.accessibility {
            summary.accessibility(accessibility);
        }
        let Summary { scores, totals, recommendations } = summary;
        let Results { compatibility, links, spelling, deliverability, accessibility, incomplete } = results;
        let checks_performed = scores.iter().map(|(check, _)| *check).collect();
        Self {
            overall_score: overall(&scores, totals.critical_issues > 0),
            compatibility,
            link_analysis: links,
            spelling,
            deliverability,
            accessibility,
            summary: totals,
            recommendations,
            metadata: ValidationMetadata { total_processing_time, checks_performed, checks_incomplete: incomplete },
        }
    }

    pub fn sample() -> Self {
        let results = Results {
            compatibility: Some(CompatibilityAnalysis::sample()),
            links: Some(LinkAnalysis::sample()),
            spelling: Some(SpellingAnalysis::sample()),
            deliverability: None,
            accessibility: Some(AccessibilityAnalysis::sample()),
            incomplete: Vec::new(),
        };
        Self::of(results, 260)
    }
}

/// Returns the weighted mean of the scores, reduced if a finding is critical; `None` if there are no scores.
pub fn overall(scores: &[(Check, u32)], has_critical: bool) -> Option<u32> {
    let shares: f64 = scores.iter().map(|(check, _)| check.share()).sum();
    let total: f64 = scores.iter().map(|(check, score)| check.share() * f64::from(*score)).sum();
    (shares > 0.0).then(|| reduced(total / shares, has_critical).round() as u32)
}

/// Returns the deliverability score, rounded to a whole number.
pub fn deliverability_score(analysis: &Analysis) -> u32 {
    analysis.prediction.score.clamp(0.0, 100.0).round() as u32
}

#[derive(Default)]
struct Summary {
    scores: Vec<(Check, u32)>,
    totals: ValidationSummary,
    recommendations: Recommendations,
}

impl Summary {
    fn add(&mut self, check: Check, score: u32, critical: usize, warnings: usize, has_failed: bool) {
        self.scores.push((check, score));
        self.totals.critical_issues += critical;
        self.totals.warnings += warnings;
        let list = if has_failed { &mut self.totals.failed } else { &mut self.totals.passed };
        list.push(check);
    }

    fn advise(&mut self, severity: Severity, text: String) {
        let list = match severity {
            Severity::Critical => &mut self.recommendations.critical,
            Severity::Warning => &mut self.recommendations.important,
            Severity::Info => &mut self.recommendations.suggested,
        };
        if list.len() < RECOMMENDATIONS_MAX && !list.contains(&text) {
            list.push(text);
        }
    }

    fn compatibility(&mut self, report: &CompatibilityAnalysis) {
        let clipped = usize::from(report.is_clipped());
        let score = report.score();
        let problems = report.problems();
        let warnings = problems.iter().filter(|problem| problem.severity() == Some(Severity::Warning)).count();
        self.add(Check::Compatibility, score, clipped, warnings, clipped > 0 || score < COMPATIBILITY_SCORE_MIN);
        if clipped > 0 {
            let text = "Shorten the HTML to less than 102 KB. Gmail cuts off longer emails, often before the unsubscribe link.";
            self.advise(Severity::Critical, text.to_owned());
        }
        for problem in &problems {
            if let (Some(severity), Some(fix)) = (problem.severity(), &problem.fix) {
                self.advise(severity, format!("{}: {fix}", problem.title));
            }
        }
    }

    fn links(&mut self, links: &LinkAnalysis) {
        let of = |severity| links.findings.iter().filter(move |finding| finding.severity == severity).count();
        let dead = links.summary.broken_links + links.summary.invalid_links + links.summary.blocked_links;
        let critical = dead + of(Severity::Critical);
        let warnings = links.summary.unreachable_links + of(Severity::Warning);
        self.add(Check::Links, links.score, critical, warnings, critical > 0);
        if dead > 0 {
            let text = if dead == 1 {
                "Repair 1 link that does not work.".to_owned()
            } else {
                format!("Repair {dead} links that do not work.")
            };
            self.advise(Severity::Critical, text);
        }
        links.findings.iter().for_each(|finding| self.advise(finding.severity, finding.fix.to_owned()));
    }

    fn spelling(&mut self, spelling: &SpellingAnalysis) {
        let style = spelling.errors.iter().filter(|error| error.kind == FindingKind::Style).count();
        let errors = spelling.errors.len() - style;
        self.add(Check::Spelling, spelling.score, 0, errors, errors > 0);
        for error in &spelling.errors {
            let severity = if error.kind == FindingKind::Style { Severity::Info } else { Severity::Warning };
            let text = match error.suggestions.first() {
                Some(suggestion) => format!("Line {}: replace \"{}\" with \"{suggestion}\".", error.line, error.word),
                None => format!("Line {}: check the spelling of \"{}\".", error.line, error.word),
            };
            self.advise(severity, text);
        }
    }

    fn deliverability(&mut self, analysis: &Analysis) {
        let advice = &analysis.recommendations;
        let is_spam = analysis.prediction.category == Category::Spam;
        let critical = advice.critical.len();
        self.add(
            Check::Deliverability,
            deliverability_score(analysis),
            critical,
            advice.important.len(),
            is_spam || critical > 0,
        );
        for (severity, texts) in
            [(Severity::Critical, &advice.critical), (Severity::Warning, &advice.important), (Severity::Info, &advice.suggested)]
        {
            texts.iter().for_each(|text| self.advise(severity, text.clone()));
        }
    }

    fn accessibility(&mut self, accessibility: &AccessibilityAnalysis) {
        let (critical, warnings) = (accessibility.summary.critical, accessibility.summary.warnings);
        self.add(Check::Accessibility, accessibility.score, critical, warnings, critical > 0);
        accessibility.findings.iter().for_each(|finding| self.advise(finding.severity, finding.fix.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_overall_score_is_the_mean_of_the_checks_that_finished() {
        assert_eq!(overall(&[], false), None);
        assert_eq!(overall(&[(Check::Spelling, 40)], false), Some(40));
        assert_eq!(overall(&[(Check::Links, 100), (Check::Compatibility, 50)], false), Some(75));
        assert_eq!(overall(&[(Check::Links, 100), (Check::Compatibility, 100)], true), Some(89));
    }

    #[test]
    fn a_check_with_a_critical_problem_fails_and_is_advised_first() {
        let report = ValidationReport::sample();
        assert_eq!(report.summary.passed, [Check::Compatibility]);
        assert_eq!(report.summary.failed, [Check::Links, Check::Spelling, Check::Accessibility]);
        assert_eq!(report.recommendations.critical[0], "Repair 1 link that does not work.");
    }
}
