//! Inspects an email's HTML for validation: finds the URLs and the accessibility problems, with their positions in the source.
//!
//! The HTML can be hostile, so this code runs in a worker process. It does not decide what the findings mean for a user.

pub mod accessibility;
mod cache;
mod contrast;
pub mod links;
pub mod source;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use self::accessibility::{AccessibilityProblem, AccessibilityRule};
pub use self::cache::InspectionCache;
pub use self::links::{LinkKind, LinkUse, Links};
pub use self::source::SourceRange;
use super::html_limits::{self, HtmlRefusal};
use super::imported_html::dom::Dom;
use crate::base::source::Lines;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inspection {
    pub links: Links,
    pub accessibility: Vec<AccessibilityProblem>,
}

/// Inspects HTML, or returns why it is too large or too complex.
pub fn inspect(source: &str) -> Result<Inspection, HtmlRefusal> {
    html_limits::admit(source)?;
    let dom = Dom::read(&source::marked(source))?;
    let lines = Lines::new(source);
    Ok(Inspection { links: links::links(source, &dom, &lines), accessibility: accessibility::problems(&dom, &lines) })
}
