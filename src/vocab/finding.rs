//! The findings of a check of an installation, with their remedies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One finding of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// What was checked: `clock`, `disk`, `transport`, `reverse dns`, or the name of a sending domain.
    pub subject: String,
    pub verdict: Verdict,
    /// The finding itself.
    pub said: String,
    /// How to fix it.
    pub remedy: Option<String>,
}

/// The severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Good,
    /// Not relevant with these settings, or could not be checked.
    Skipped,
    /// Works, but could be better.
    Warning,
    /// Mail, or something else, does not work.
    Problem,
}

impl Finding {
    /// A check that passed.
    pub fn good(subject: impl Into<String>, said: impl Into<String>) -> Self {
        Self { subject: subject.into(), verdict: Verdict::Good, said: said.into(), remedy: None }
    }

    /// A check that was skipped.
    pub fn skipped(subject: impl Into<String>, said: impl Into<String>) -> Self {
        Self { verdict: Verdict::Skipped, ..Self::good(subject, said) }
    }

    /// Something that could be better.
    pub fn warning(subject: impl Into<String>, said: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { verdict: Verdict::Warning, remedy: Some(remedy.into()), ..Self::good(subject, said) }
    }

    /// Something that does not work.
    pub fn problem(subject: impl Into<String>, said: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { verdict: Verdict::Problem, ..Self::warning(subject, said, remedy) }
    }
}
