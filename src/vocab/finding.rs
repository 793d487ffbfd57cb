//! The findings of an installation's self-check, with their remedies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One finding of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The subject of the check, such as `clock`, `ports`, `tls` or `reverse dns`, or the name of a sending domain.
    pub subject: String,
    pub verdict: Verdict,
    /// What the check found.
    pub said: String,
    /// How to fix the problem, or how to make the improvement if the verdict is a warning; absent for other verdicts.
    pub remedy: Option<String>,
}

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Good,
    /// The check does not apply to these settings, or was not possible.
    Skipped,
    /// The subject works, but could be improved.
    Warning,
    /// Mail or another function does not work.
    Problem,
}

impl Finding {
    pub fn good(subject: impl Into<String>, said: impl Into<String>) -> Self {
        Self { subject: subject.into(), verdict: Verdict::Good, said: said.into(), remedy: None }
    }

    pub fn skipped(subject: impl Into<String>, said: impl Into<String>) -> Self {
        Self { verdict: Verdict::Skipped, ..Self::good(subject, said) }
    }

    /// Returns a finding about something that works but could be improved.
    pub fn warning(subject: impl Into<String>, said: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { verdict: Verdict::Warning, remedy: Some(remedy.into()), ..Self::good(subject, said) }
    }

    /// Returns a finding about something that does not work.
    pub fn problem(subject: impl Into<String>, said: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { verdict: Verdict::Problem, ..Self::warning(subject, said, remedy) }
    }
}
