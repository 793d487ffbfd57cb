//! Everything that stands on one ground, in colors that can be seen on it.
//!
//! A ground is made from its color and the brand's wishes; whatever of these cannot be read is replaced by its nearest readable
//! shade. So contrast holds by construction, in light and in dark, for every layout.

use serde::Serialize;

use super::color::{self, ink_on, mix, readable, saturation, under_white};
use crate::base::color::{LEGIBLE, WHITE, contrast};
use crate::base::text::Color;

/// A ground and what stands on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Ground {
    pub ground: Color,
    pub text: Color,
    /// Captions, legal lines.
    pub muted: Color,
    /// Hairlines and borders: seen, not read.
    pub line: Color,
    /// Links, eyebrows: the brand's color as far as it can be read here.
    pub accent: Color,
    /// Rules, bars and frames: the brand's color as far as it can be seen here.
    pub mark: Color,
    pub button: Color,
    pub on_button: Color,
}

/// What a brand would like to have on its grounds.
#[derive(Clone, Copy, Debug)]
pub struct PreferredColors {
    pub text: Color,
    pub primary: Color,
    /// A second color, for small things.
    pub accent: Option<Color>,
    pub button: Color,
    pub on_button: Option<Color>,
}

/// Running text is easier to read with more contrast than the least.
const COMFORTABLE: f64 = 8.0;
/// A button with less contrast to its ground than this is not seen as one, unless it is so much more colorful: yellow on white.
const VISIBLE: f64 = 1.7;
const COLOURFUL: f64 = 0.35;
/// Below this contrast the readable shade of a color is another color: that of yellow is brown.
const KINDRED: f64 = 2.2;
/// Buttons on dark grounds have at least this contrast to them.
const LIT: f64 = 3.2;
/// Below this a lit color is a gray.
const SHINING: f64 = 0.5;

/// Whether a field or mark of this color stands out from the ground.
pub fn is_seen(color: Color, ground: Color) -> bool {
    contrast(color, ground) >= VISIBLE || saturation(color) - saturation(ground) > COLOURFUL
}

impl Ground {
    /// What stands on `ground`.
    pub fn new(ground: Color, wishes: &PreferredColors) -> Self {
        let ink = color::opposite(ground);
        // A text color for light grounds turns over on dark ones.
        let turned = contrast(wishes.text, ground) < LEGIBLE;
        let text = if turned { mix(ink, ground, 0.06) } else { wishes.text };
        let text = readable(text, ground, COMFORTABLE.min(contrast(ink, ground)));
        let muted = readable(mix(text, ground, 0.32), ground, LEGIBLE + 0.3);
        let accent =
            [Some(wishes.primary), wishes.accent].into_iter().flatten().find(|color| contrast(*color, ground) >= LEGIBLE);
        let kindred = contrast(wishes.primary, ground) >= KINDRED;
        let accent = accent.unwrap_or(if kindred { readable(wishes.primary, ground, LEGIBLE) } else { text });
        let seen = |color: &Color| is_seen(*color, ground);
        let mark = if seen(&wishes.primary) { wishes.primary } else { accent };
        let dark = ink == WHITE;
        // On dark grounds a dark button would look switched off: it is lit, and white if it has no color that could shine.
        let lit = |button: Color| match contrast(button, ground) {
            enough if !dark || enough >= LIT => button,
            _ if saturation(button) < SHINING => text,
            _ => readable(button, ground, LIT),
        };
        let button = [wishes.button, wishes.primary].map(lit).into_iter().find(seen).unwrap_or(text);
        let wished = wishes.on_button.filter(|on| button == wishes.button && contrast(*on, button) >= LEGIBLE);
        let darker = under_white(button);
        let button = if wished.is_none() && is_seen(darker, ground) { darker } else { button };
        let on_button = wished.unwrap_or_else(|| ink_on(button));
        Self { ground, text, muted, line: mix(text, ground, 0.86), accent, mark, button, on_button }
    }

    /// A ground in a strong color, where buttons are light or dark instead of colored.
    pub fn band(ground: Color) -> Self {
        let ground = under_white(ground);
        let text = ink_on(ground);
        let muted = readable(mix(text, ground, 0.2), ground, LEGIBLE);
        let on_button = if text == WHITE { readable(ground, text, LEGIBLE) } else { ink_on(text) };
        Self { ground, text, muted, line: mix(text, ground, 0.7), accent: text, mark: text, button: text, on_button }
    }

    /// Each pair of a text and what it stands on.
    pub fn pairs(&self) -> [(Color, Color); 4] {
        [(self.text, self.ground), (self.muted, self.ground), (self.accent, self.ground), (self.on_button, self.button)]
    }
}
