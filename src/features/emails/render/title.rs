//! Renders headings and the titles of blocks.

use super::block_context::BlockContext;
use super::cells::Cell;
use super::inline;
use crate::features::emails::document::HeadingLevel;
use crate::features::emails::theme::design::HeadingForm;

pub fn block_title(set: BlockContext<'_>, text: &str) -> Vec<Cell> {
    titled(set, text, HeadingLevel::Section)
}

/// Returns the cells of a heading of this level.
pub fn titled(set: BlockContext<'_>, text: &str, level: HeadingLevel) -> Vec<Cell> {
    let html = inline::words(text);
    let (tag, size) = match level {
        HeadingLevel::Title => return vec![set.words(0, "h1", "title", "tx", html)],
        HeadingLevel::Small => return vec![set.words(0, "h3", "small", "tx", html)],
        HeadingLevel::Section => ("h2", "section"),
    };
    let words = |gap| set.words(gap, tag, size, "tx", html.clone());
    match set.design().heading {
        HeadingForm::Plain => vec![words(0)],
        HeadingForm::Ruled => vec![set.rule(0, "100%", 1, false), words(26)],
        HeadingForm::Short => vec![words(0), set.rule(18, "36px", 1, true)],
        HeadingForm::Tab => vec![set.rule(0, "44px", 4, true), words(18)],
    }
}
