//! The background colors of elements, and the thresholds for treating two colors as the same.

use scraper::ElementRef;

use super::cascade::{Styles, parent};
use crate::base::color;
use crate::base::text::Color;

/// The color difference below which two colors are indistinguishable.
pub const SAME: f32 = 0.02;
/// The color difference below which two similar colors are treated as the same color.
pub const ALIKE: f32 = 0.06;

/// Returns the color in a CSS value, if it is at least half opaque.
pub fn solid(value: &str) -> Option<Color> {
    color::first_in(value).filter(|rendered| rendered.alpha >= 0.5).map(|rendered| rendered.color)
}

pub fn attribute_color(element: ElementRef<'_>, name: &str) -> Option<Color> {
    let text = element.attr(name)?.trim();
    // Also accept colors without `#`, as in old pages.
    color::parse(text).or_else(|| color::parse(&format!("#{text}"))).map(|rendered| rendered.color)
}

/// Returns the background color of an element or of its nearest ancestor that sets one.
pub fn ground_of(element: ElementRef<'_>, styles: &Styles) -> Option<Color> {
    let mut at = Some(element);
    while let Some(element) = at {
        let own = styles.own(element, "background-color").and_then(|value| solid(&value));
        if let Some(own) = own.or_else(|| attribute_color(element, "bgcolor")) {
            return Some(own);
        }
        at = parent(element);
    }
    None
}
