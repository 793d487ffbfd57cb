//! Sanitizes imported emails, as HTML or as a mail file: the resulting HTML neither executes, nor deceives, nor tracks.
//!
//! Elements, attributes, styles and URLs are kept if they are known to be harmless; everything else is removed and reported. It runs in the
//! worker process, because parsing hostile HTML can be expensive.

mod addresses;
mod clean;
mod computed_style;
mod dom;
mod edit;
mod mail;
mod outline;
mod recolor;
mod styles;
#[cfg(test)]
mod tests;
mod text;

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

pub use self::clean::html;
pub use self::edit::{Change, ColorTarget, New};
pub use self::mail::mail;
pub use self::outline::{Image, Kind, Link, Outline, Part, Piece, TextPart};
pub use self::text::of as text;
use super::html_limits::HtmlRefusal;

/// Applies edits to a sanitized email, and sanitizes the result.
pub fn revise(html: &str, changes: &[Change]) -> Result<ImportedHtml, HtmlRefusal> {
    clean::html(&edit::edited(html, changes)?, &HashMap::new())
}

/// The number of different kinds of removed content that are listed.
const KINDS_TOLD_MAX: usize = 60;

/// A sanitized email.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedHtml {
    pub html: String,
    /// The same content as plain text.
    pub text: String,
    /// The declared language.
    pub language: Option<String>,
    /// The subject of a message, or the title of a page.
    pub subject: Option<String>,
    /// Descriptions of removed content, with counts.
    pub removed: Vec<String>,
    /// The editable content.
    pub outline: Outline,
}

/// Counts removed content.
#[derive(Debug, Default)]
pub struct RemovedCounts(BTreeMap<String, usize>);

impl RemovedCounts {
    /// Counts one more of a kind.
    pub fn note(&mut self, what: &str) {
        if let Some(count) = self.0.get_mut(what) {
            *count += 1;
        } else if self.0.len() < KINDS_TOLD_MAX {
            self.0.insert(what.to_owned(), 1);
        }
    }

    /// All counts as descriptions.
    pub fn list(&self) -> Vec<String> {
        self.0.iter().map(|(what, count)| if *count == 1 { what.clone() } else { format!("{what} ({count} times)") }).collect()
    }
}
