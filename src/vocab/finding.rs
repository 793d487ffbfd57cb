//! What a look at an installation finds, and what to do about it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What one look found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// What was looked at: `clock`, `disk`, `transport`, `reverse dns`, or the name of a sending domain.
    pub subject: String,
    pub verdict: Verdict,
    /// What is so.
    pub said: String,
    /// What to do about it.
    pub remedy: Option<String>,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Good,
    /// Does not matter with these settings, or could not be looked at.
    Skipped,
    /// Works, but could be better.
    Warning,
    /// Mail, or more, does not work.
    Problem,
}

impl Finding {
    /// All is well.
    pub fn good(subject: impl Into<String>, said: impl Into<String>) -> Self {
        Self { subject: subject.into(), verdict: Verdict::Good, said: said.into(), remedy: None }
    }

    /// Nothing to say.
    pub fn skipped(subject: impl Into<String>, said: impl Into<String>) -> Self {
        Self { verdict: Verdict::Skipped, ..Self::good(subject, said) }
    }

    /// It could be better.
    pub fn warning(subject: impl Into<String>, said: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { verdict: Verdict::Warning, remedy: Some(remedy.into()), ..Self::good(subject, said) }
    }

    /// It does not work.
    pub fn problem(subject: impl Into<String>, said: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { verdict: Verdict::Problem, ..Self::warning(subject, said, remedy) }
    }
}
