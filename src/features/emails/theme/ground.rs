//! The colors of one background and of the content on it.
//!
//! The colors are derived from the background color and the brand's preferred colors. An illegible preferred color is replaced with a
//! legible one, in light and in dark mode.

use serde::Serialize;

use super::color::{self, ink_on, mix, readable, saturation, under_white};
use crate::base::color::{LEGIBLE, WHITE, contrast};
use crate::base::text::Color;

/// A background and the colors on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Ground {
    pub ground: Color,
    pub text: Color,
    /// The color of captions and legal text.
    pub muted: Color,
    /// The color of hairlines and borders, which need less contrast than text.
    pub line: Color,
    /// The color of links and eyebrows: a color of the brand or its nearest legible shade, or the text color.
    pub accent: Color,
    /// The color of rules, bars and frames: the brand's color if it is visible, otherwise the link color.
    pub mark: Color,
    pub button: Color,
    pub on_button: Color,
}

#[derive(Clone, Copy, Debug)]
pub struct PreferredColors {
    pub text: Color,
    pub primary: Color,
    /// A second color for small elements.
    pub accent: Option<Color>,
    pub button: Color,
    pub on_button: Option<Color>,
}

/// The preferred contrast of running text. It exceeds the minimum, because long text is easier to read with more contrast.
const COMFORTABLE: f64 = 8.0;
/// The minimum contrast between a button or mark and its background. It does not apply if the saturation of the button or mark exceeds that
/// of the background by more than [`COLORFUL`], as for yellow on white.
const VISIBLE: f64 = 1.7;
const COLORFUL: f64 = 0.35;
/// The minimum contrast between a color and its background for the color's legible shade to look like the same color. Yellow on white has
/// less contrast: its legible shade is brown.
const KINDRED: f64 = 2.2;
/// The minimum contrast between buttons and dark or colored backgrounds.
const LIT: f64 = 3.2;
/// The saturation below which a lightened color looks gray.
const SHINING: f64 = 0.5;

/// Returns whether a field or mark of this color stands out from the background.
pub fn is_seen(color: Color, ground: Color) -> bool {
    contrast(color, ground) >= VISIBLE || saturation(color) - saturation(ground) > COLORFUL
}

impl Ground {
    /// Derives the colors on `ground`.
    pub fn new(ground: Color, wishes: &PreferredColors) -> Self {
        let ink = color::opposite(ground);
        // A text color that is illegible on this background is replaced with a color close to white or black.
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
        // On a dark background, a dark button would look disabled, so the button is lightened. A button whose color has little saturation
        // gets the text color instead.
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

    /// Derives the colors on a strongly colored background, where buttons have a neutral color unless the brand's button color stands out.
    pub fn band(ground: Color, wishes: &PreferredColors) -> Self {
        let ground = under_white(ground);
        let text = ink_on(ground);
        let muted = readable(mix(text, ground, 0.2), ground, LEGIBLE);
        let on_text = if text == WHITE { readable(ground, text, LEGIBLE) } else { ink_on(text) };
        let own = under_white(wishes.button);
        let (button, on_button) = if contrast(own, ground) >= LIT { (own, ink_on(own)) } else { (text, on_text) };
        Self { ground, text, muted, line: mix(text, ground, 0.7), accent: text, mark: text, button, on_button }
    }

    /// Returns each pair of a text color and its background.
    pub fn pairs(&self) -> [(Color, Color); 4] {
        [(self.text, self.ground), (self.muted, self.ground), (self.accent, self.ground), (self.on_button, self.button)]
    }
}
