//! Color arithmetic for themes: mixes colors, and makes a color legible on a background. The functions do not depend on how a color is
//! used.

use crate::base::color::{BLACK, LEGIBLE, WHITE, contrast};
use crate::base::text::Color;

/// Returns the saturation of a color, from 0 (gray) to 1.
pub fn saturation(color: Color) -> f64 {
    let most = color.red.max(color.green).max(color.blue);
    let least = color.red.min(color.green).min(color.blue);
    if most == 0 { 0.0 } else { f64::from(most - least) / f64::from(most) }
}

/// Mixes `share` of `other` into `one`.
pub fn mix(one: Color, other: Color, share: f64) -> Color {
    let blend = |one: u8, other: u8| (f64::from(one) * (1.0 - share) + f64::from(other) * share).round() as u8;
    Color { red: blend(one.red, other.red), green: blend(one.green, other.green), blue: blend(one.blue, other.blue) }
}

/// Returns black or white, whichever has more contrast with this background. The contrast is at least 4.58.
pub fn opposite(ground: Color) -> Color {
    if contrast(WHITE, ground) >= contrast(BLACK, ground) { WHITE } else { BLACK }
}

/// Returns white if it is legible on this background; otherwise, a soft black if that is legible; otherwise, the more legible of black and
/// white. White is preferred because brands usually put white text on medium-dark colors.
pub fn ink_on(ground: Color) -> Color {
    const SOFT_BLACK: Color = Color { red: 20, green: 20, blue: 22 };
    [WHITE, SOFT_BLACK].into_iter().find(|ink| contrast(*ink, ground) >= LEGIBLE).unwrap_or_else(|| opposite(ground))
}

/// Darkens a color on which white is almost legible until white is legible, because people expect white text on these colors. Returns
/// other colors unchanged.
pub fn under_white(color: Color) -> Color {
    const NEARLY: f64 = 3.0;
    if (NEARLY..LEGIBLE).contains(&contrast(WHITE, color)) { readable(color, WHITE, LEGIBLE) } else { color }
}

/// Returns the color if it has this contrast with the background, otherwise its nearest shade that has this contrast.
pub fn readable(color: Color, ground: Color, ratio: f64) -> Color {
    const STEPS: u32 = 40;
    if contrast(color, ground) >= ratio {
        return color;
    }
    let end = opposite(ground);
    let lighter = end == WHITE;
    let (hue, saturation, lightness) = to_hsl(color);
    let shade = |step: u32| {
        let share = f64::from(step) / f64::from(STEPS);
        let lightness = if lighter { lightness + (1.0 - lightness) * share } else { lightness * (1.0 - share) };
        from_hsl(hue, saturation, lightness)
    };
    (1..=STEPS).map(shade).find(|shade| contrast(*shade, ground) >= ratio).unwrap_or(end)
}

/// Returns the hue in sixths of the circle, and the saturation and lightness from 0 to 1. In this form, a color can be made lighter without
/// losing saturation, whereas mixing it with white would make it less saturated.
fn to_hsl(color: Color) -> (f64, f64, f64) {
    let [red, green, blue] = [color.red, color.green, color.blue].map(|channel| f64::from(channel) / 255.0);
    let (most, least) = (red.max(green).max(blue), red.min(green).min(blue));
    let (lightness, range) = ((most + least) / 2.0, most - least);
    if range == 0.0 {
        return (0.0, 0.0, lightness);
    }
    let saturation = range / (1.0 - (2.0 * lightness - 1.0).abs());
    let hue = if most == red {
        ((green - blue) / range).rem_euclid(6.0)
    } else if most == green {
        (blue - red) / range + 2.0
    } else {
        (red - green) / range + 4.0
    };
    (hue, saturation, lightness)
}

fn from_hsl(hue: f64, saturation: f64, lightness: f64) -> Color {
    let range = (1.0 - (2.0 * lightness - 1.0).abs()) * saturation;
    let middle = range * (1.0 - (hue % 2.0 - 1.0).abs());
    let (red, green, blue) = match hue as u8 {
        0 => (range, middle, 0.0),
        1 => (middle, range, 0.0),
        2 => (0.0, range, middle),
        3 => (0.0, middle, range),
        4 => (middle, 0.0, range),
        _ => (range, 0.0, middle),
    };
    let [red, green, blue] = [red, green, blue].map(|channel| ((channel + lightness - range / 2.0) * 255.0).round() as u8);
    Color { red, green, blue }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn color(text: &str) -> Color {
        text.parse().expect(text)
    }

    #[test]
    fn shades_keep_their_hue() {
        for text in ["#2F6B4F", "#D9526B", "#FFD400", "#123456", "#FF00FF", "#808080"] {
            let (hue, saturation, lightness) = to_hsl(color(text));
            assert_eq!(from_hsl(hue, saturation, lightness), color(text));
        }
        let light = readable(color("#2F6B4F"), BLACK, 7.0);
        assert!(light.green > light.red && saturation(light) > 0.2, "{light}");
    }

    #[test]
    fn readable_colors_have_the_contrast() {
        for ground in ["#FFFFFF", "#000000", "#767676", "#FFD400", "#1A73E8", "#808080"] {
            for text in ["#FFD400", "#FFFFFF", "#000000", "#7F7F7F", "#FF0000"] {
                assert!(contrast(readable(color(text), color(ground), LEGIBLE), color(ground)) >= LEGIBLE, "{text} on {ground}");
            }
            assert!(contrast(ink_on(color(ground)), color(ground)) >= LEGIBLE, "{ground}");
        }
        assert_eq!(readable(color("#1A1A1A"), WHITE, LEGIBLE), color("#1A1A1A"));
    }
}
