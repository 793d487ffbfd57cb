//! Determines which parts of an email's HTML are visible to readers.

use super::computed_style::pixels;
use super::dom::Dom;

/// The maximum width or height, in pixels, of an image that is treated as a tracking pixel or a spacer.
const TINY: f32 = 3.0;

/// Returns whether a character is white space or invisible, like those that pad preheaders.
pub fn is_filler(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2007}' | '\u{2060}' | '\u{feff}'
        )
}

/// Returns whether a string has visible characters.
pub fn shows(text: &str) -> bool {
    text.chars().any(|c| !is_filler(c))
}

/// Returns whether an image is a tracking pixel or a spacer.
pub fn is_tiny(dom: &Dom, node: usize) -> bool {
    let side = |name: &str| {
        let number = dom.attribute(node, name).and_then(|value| value.trim().trim_end_matches("px").parse::<f32>().ok());
        number.or_else(|| pixels(&dom.own_style(node, name)?, 0.0)).is_some_and(|side| side <= TINY)
    };
    side("width") || side("height")
}

/// Returns whether a node has no visible content outside the nodes `others`.
pub fn shows_nothing_but(dom: &Dom, node: usize, others: &[usize]) -> bool {
    let mut open = vec![node];
    while let Some(at) = open.pop() {
        if others.contains(&at) {
            continue;
        }
        let is_image = dom.name(at) == "img" && !is_tiny(dom, at);
        if is_image || dom.name(at) == "hr" || shows(dom.text(at)) {
            return false;
        }
        open.extend(dom.children(at).iter().rev());
    }
    true
}
