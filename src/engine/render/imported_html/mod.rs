//! Sanitizes imported emails, given as HTML or as a mail file, so that the resulting HTML runs no scripts and loads nothing except images.
//!
//! Elements, attributes, styles and URLs that are known to be harmless are kept; all others are removed, and most of them are reported. The
//! sanitizer runs in the worker process, because parsing hostile HTML can be expensive.

mod addresses;
mod clean;
mod colors;
pub(super) mod computed_style;
pub(super) mod dom;
mod edit;
mod mail;
mod outline;
mod outlook;
mod recolor;
mod styles;
#[cfg(test)]
mod tests;
mod text;
pub(super) mod visible;

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

pub use self::clean::html;
pub use self::edit::{Change, New};
pub use self::mail::{MailSource, mail, source as mail_source};
pub use self::outline::{Image, Link, Outline, Part, TextPart, TextPartKind, TextRun};
pub use self::recolor::ColorTarget;
pub use self::text::of as text;
use super::html_limits::HtmlRefusal;

/// Applies edits to a sanitized email, and sanitizes the result.
pub fn revise(html: &str, changes: &[Change]) -> Result<ImportedHtml, HtmlRefusal> {
    clean::html(&edit::edited(html, changes)?, &HashMap::new())
}

/// The maximum number of kinds of removed content that are listed.
const KINDS_LISTED_MAX: usize = 60;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedHtml {
    pub html: String,
    /// The content of the email as plain text.
    pub text: String,
    /// The language that the HTML declares.
    pub language: Option<String>,
    /// The subject of a message, or the title of an HTML page.
    pub subject: Option<String>,
    /// Descriptions of the removed content, with counts.
    pub removed: Vec<String>,
    pub outline: Outline,
}

/// Counts how many times each kind of content was removed.
#[derive(Debug, Default)]
pub struct RemovedCounts(BTreeMap<String, usize>);

impl RemovedCounts {
    pub fn note(&mut self, what: &str) {
        if let Some(count) = self.0.get_mut(what) {
            *count += 1;
        } else if self.0.len() < KINDS_LISTED_MAX {
            self.0.insert(what.to_owned(), 1);
        }
    }

    /// Returns a description of each kind of removed content, with its count if it is greater than one.
    pub fn list(&self) -> Vec<String> {
        self.0.iter().map(|(what, count)| if *count == 1 { what.clone() } else { format!("{what} ({count} times)") }).collect()
    }
}
