//! Types shared by the results of all checks: positions in the source, and severities.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::render::inspect::SourceRange;
use crate::vocab::limits;

/// How serious a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "FindingSeverity")]
pub enum Severity {
    /// The email does not work for some recipients. Resolve the problem before sending.
    Critical,
    /// The email works less well for some recipients.
    Warning,
    /// The email could be better.
    Info,
}

/// A place in the source of the email. Lines and columns start at 1; columns count characters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SourcePlace")]
pub struct PlaceView {
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    /// The column after the last character.
    pub end_column: u32,
    /// The source text, shortened.
    pub excerpt: String,
}

impl From<&SourceRange> for PlaceView {
    fn from(place: &SourceRange) -> Self {
        let SourceRange { line, column, end_line, end_column, excerpt } = place.clone();
        Self { line, column, end_line, end_column, excerpt }
    }
}

impl PlaceView {
    pub fn sample() -> Self {
        let excerpt = "<a href=\"https://shop.example.com/spring\">".to_owned();
        Self { line: 12, column: 5, end_line: 12, end_column: 47, excerpt }
    }
}

/// Returns the score of a check, which starts at 100 and loses points for each problem. The first occurrence of a problem costs half of its
/// `weight`, the second a quarter, and so on, so resolving an occurrence never lowers the score. A critical problem lowers the score
/// further.
pub fn score(problems: impl IntoIterator<Item = (f64, usize)>, has_critical: bool) -> u32 {
    let lost: f64 =
        problems.into_iter().map(|(weight, count)| weight * (1.0 - 0.5_f64.powi(i32::try_from(count).unwrap_or(i32::MAX)))).sum();
    reduced((100.0 - lost).clamp(0.0, 100.0), has_critical).round() as u32
}

/// Returns a score, reduced if there is a critical problem.
pub fn reduced(score: f64, has_critical: bool) -> f64 {
    if has_critical { score * limits::CRITICAL_SCORE_SHARE } else { score }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repairing_an_occurrence_never_lowers_the_score() {
        assert_eq!(score([], false), 100);
        let scores: Vec<u32> = (0..8).map(|count| score([(40.0, count), (10.0, 1)], false)).collect();
        assert!(scores.windows(2).all(|pair| pair[1] <= pair[0]), "{scores:?}");
        assert_eq!((scores[0], scores[1], score([(90.0, 9), (90.0, 9)], false)), (95, 75, 0));
    }

    /// Regression test: an email with a critical finding could have a score of 98.
    #[test]
    fn a_critical_problem_keeps_the_score_below_90_and_other_repairs_still_raise_it() {
        let scores: Vec<u32> = (0..4).rev().map(|count| score([(2.0, 1), (40.0, count)], true)).collect();
        assert!(scores.windows(2).all(|pair| pair[0] < pair[1]) && scores[3] < 90, "{scores:?}");
        assert!(score([(40.0, 0)], false) > score([(40.0, 0)], true));
    }
}
