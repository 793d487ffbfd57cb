//! The warnings about an email. One type represents violations of the contract, findings of the checks, and notes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::features::checks::model::CheckFinding;
use crate::features::checks::report::Check;
use crate::features::emails::brief::Span;
use crate::features::emails::document::Change;

/// A warning about an email.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "EmailWarning")]
pub struct Finding {
    pub kind: FindingKind,
    /// The problem and, in most cases, the remedy, worded for users.
    pub message: String,
    /// The text that the warning concerns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The span of the text in the prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
    /// The ID of the block that the warning concerns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<String>,
    /// The change that adds the missing text to the email.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub add: Option<Change>,
    /// The change that removes the text that must not be in the email.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remove: Option<Change>,
    /// The text to send to POST /v1/emails/{emailId}/brief, which adds it to the brief, so that the email may contain it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accept: Option<String>,
    /// The ID of the finding in GET /v1/emails/{emailId}/checks, if a check found the problem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check_finding: Option<String>,
}

/// The subject of a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// The email lacks a fact from the brief.
    FactMissing,
    /// The email repeats a code, a product or a sentence.
    FactRepeated,
    /// A number or date has a different role than in the brief.
    FactMisused,
    /// The email lacks text or a link that the brief prescribes: the subject, the preheader, the headline, the button or the signature.
    TextMissing,
    /// The email violates a constraint in the brief, such as a maximum number of words or a word to avoid.
    ConstraintBroken,
    /// The email contains an instruction that was meant for the writer.
    InstructionPrinted,
    /// The email contains a number, date, code, name or link that is neither in the brief nor in the brand data.
    NotInBrief,
    /// The subject, the preheader, the headline or another title is cut off, starts with punctuation, or has an unmatched quotation mark or
    /// bracket.
    LineIncomplete,
    /// The email leaves out text from the prompt, for example because the meaning of the text is unclear.
    Unclear,
    /// The built-in composer cannot translate text from the brief into the email's language, so the email leaves it out.
    NotTranslated,
    /// Any other problem, or advice for improving the email.
    Note,
    /// Some email clients do not support a part of the email.
    Compatibility,
    /// A link does not work, or readers or spam filters may distrust it.
    Links,
    /// A word is misspelled or does not fit its sentence.
    Spelling,
    /// Mailbox providers may classify the email as spam.
    Deliverability,
    /// Some readers cannot perceive or use a part of the email.
    Accessibility,
}

impl From<Check> for FindingKind {
    fn from(check: Check) -> Self {
        match check {
            Check::Compatibility => Self::Compatibility,
            Check::Links => Self::Links,
            Check::Spelling => Self::Spelling,
            Check::Deliverability => Self::Deliverability,
            Check::Accessibility => Self::Accessibility,
        }
    }
}

impl From<&CheckFinding> for Finding {
    fn from(found: &CheckFinding) -> Self {
        let CheckFinding { id, check, message, text, .. } = found;
        Self { text: text.clone(), check_finding: Some(id.clone()), ..Self::new((*check).into(), message.clone()) }
    }
}

impl FindingKind {
    /// Returns whether an edit is rejected if it causes a finding of this kind. Edits can remove facts and violate constraints, because
    /// their instructions are newer than the brief.
    pub fn binds_edits(self) -> bool {
        matches!(self, Self::FactMisused | Self::InstructionPrinted | Self::NotInBrief | Self::LineIncomplete)
    }
}

impl Finding {
    pub fn new(kind: FindingKind, message: String) -> Self {
        Self { kind, message, text: None, span: None, block: None, add: None, remove: None, accept: None, check_finding: None }
    }

    /// Returns a warning of the kind `Note`.
    pub fn note(message: impl Into<String>) -> Self {
        Self::new(FindingKind::Note, message.into())
    }

    pub fn about(mut self, text: &str, span: Option<Span>) -> Self {
        (self.text, self.span) = (Some(text.to_owned()), span);
        self
    }

    pub fn acceptable(mut self, text: &str) -> Self {
        self.accept = Some(text.to_owned());
        self
    }

    pub fn in_block(mut self, block: Option<&str>) -> Self {
        self.block = block.map(str::to_owned);
        self
    }
}
