//! Decides which colors a color name can refer to.

use crate::base::color::{distance, seen};
use crate::base::text::Color;

/// A color that an instruction names or gives as a hexadecimal code.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Named {
    pub color: Color,
    /// Whether the color was entered as a hexadecimal code, which matches only this color. A name also matches similar colors.
    pub is_exact: bool,
}

/// The maximum differences in hue (in degrees), lightness and chroma between two colors with the same name.
const HUE: f32 = 28.0;
const LIGHTNESS: f32 = 0.25;
const CHROMA: f32 = 0.16;
/// The chroma below which a color is gray, so that its hue does not matter, and the maximum difference in lightness between two grays
/// with the same name.
const GRAY: f32 = 0.035;
const GRAY_LIGHTNESS: f32 = 0.16;
/// The maximum distance between two colors that look alike, regardless of their hue.
const ALIKE: f32 = 0.06;

impl Named {
    /// Returns whether this name or code can refer to the color.
    pub fn means(&self, color: Color) -> bool {
        if self.is_exact || self.color == color {
            return self.color == color;
        }
        let (name, own) = (seen(self.color), seen(color));
        if distance(self.color, color) <= ALIKE {
            return true;
        }
        let lightness = (name.lightness - own.lightness).abs();
        if name.chroma < GRAY || own.chroma < GRAY {
            return name.chroma < GRAY && own.chroma < GRAY && lightness <= GRAY_LIGHTNESS;
        }
        let turn = (name.hue - own.hue).abs();
        turn.min(360.0 - turn) <= HUE && lightness <= LIGHTNESS && (name.chroma - own.chroma).abs() <= CHROMA
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_means_the_colors_that_look_like_it() {
        let named = |hex: &str| Named { color: hex.parse().expect("the color is valid"), is_exact: false };
        let means = |name: &str, other: &str| named(name).means(other.parse().expect("the color is valid"));
        for (name, other) in [("#30B5B0", "#1CA7A6"), ("#30B5B0", "#40E0D0"), ("#C62828", "#E53935"), ("#12284C", "#1B2A49")] {
            assert!(means(name, other), "{name} {other}");
        }
        for (name, other) in [("#30B5B0", "#E2725B"), ("#30B5B0", "#2E7D32"), ("#12284C", "#1A73E8"), ("#616161", "#1A73E8")] {
            assert!(!means(name, other), "{name} {other}");
        }
        assert!(!Named { is_exact: true, ..named("#30B5B0") }.means("#30B5B1".parse().expect("the color is valid")));
    }
}
