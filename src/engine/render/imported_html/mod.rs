//! Foreign emails, as HTML or as a mail file, made safe: what remains is HTML that neither acts, nor deceives, nor calls home.
//!
//! Elements, attributes, styles and addresses are kept if they are known to be harmless; everything else is taken away and told
//! about. It is meant for the worker process, since reading hostile HTML can cost a lot, and does not know who asks.

mod addresses;
mod clean;
mod colors;
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
mod visible;

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

pub use self::clean::html;
pub use self::edit::{Change, New};
pub use self::mail::mail;
pub use self::outline::{Image, Kind, Link, Outline, Part, Piece, TextPart};
pub use self::recolor::ColorTarget;
pub use self::text::of as text;
use super::html_limits::HtmlRefusal;

/// An email that was made safe, with changes made, and made safe again.
pub fn revise(html: &str, changes: &[Change]) -> Result<ImportedHtml, HtmlRefusal> {
    clean::html(&edit::edited(html, changes)?, &HashMap::new())
}

/// Different kinds of things taken away that are told one by one.
const KINDS_TOLD_MAX: usize = 60;

/// A foreign email, made safe.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedHtml {
    pub html: String,
    /// The same as text.
    pub text: String,
    /// What it says its language is.
    pub language: Option<String>,
    /// The subject of a mail, or the title of a page.
    pub subject: Option<String>,
    /// What was taken away, in words, with how often.
    pub removed: Vec<String>,
    /// What can be changed in it.
    pub outline: Outline,
}

/// Counts what is taken away.
#[derive(Debug, Default)]
pub struct RemovedCounts(BTreeMap<String, usize>);

impl RemovedCounts {
    /// One more of these.
    pub fn note(&mut self, what: &str) {
        if let Some(count) = self.0.get_mut(what) {
            *count += 1;
        } else if self.0.len() < KINDS_TOLD_MAX {
            self.0.insert(what.to_owned(), 1);
        }
    }

    /// All of it, in words.
    pub fn list(&self) -> Vec<String> {
        self.0.iter().map(|(what, count)| if *count == 1 { what.clone() } else { format!("{what} ({count} times)") }).collect()
    }
}
