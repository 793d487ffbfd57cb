//! Colors in CSS syntax, and their properties: contrast, similarity and name. The functions are pure.
//!
//! Contrast is computed as in WCAG 2, regardless of what the color is used for.

use super::text::Color;

/// The maximum nesting depth of gradients and `light-dark()`, which bounds the recursion.
const DEPTH_MAX: u8 = 4;
/// The contrast that WCAG AA requires for body text.
pub const LEGIBLE: f64 = 4.5;

pub const WHITE: Color = Color { red: 255, green: 255, blue: 255 };
pub const BLACK: Color = Color { red: 0, green: 0, blue: 0 };
/// A near-black for text.
const SOFT_BLACK: Color = Color { red: 0x1a, green: 0x1a, blue: 0x1a };

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlphaColor {
    pub color: Color,
    /// The opacity, from 0 to 1.
    pub alpha: f32,
}

/// A color in OKLCH: lightness 0 to 1, chroma 0 to about 0.4, hue in degrees.
#[derive(Clone, Copy, Debug)]
pub struct Oklch {
    pub lightness: f32,
    pub chroma: f32,
    pub hue: f32,
}

/// Parses a CSS color value: a hexadecimal color, `transparent`, a color name, or `rgb()`, `hsl()`, `oklch()` or `oklab()`.
pub fn parse(text: &str) -> Option<AlphaColor> {
    let text = text.trim().to_ascii_lowercase();
    if let Some(hex) = text.strip_prefix('#') {
        let (red, green, blue, alpha) = cssparser::color::parse_hash_color(hex.as_bytes()).ok()?;
        return Some(AlphaColor { color: Color { red, green, blue }, alpha });
    }
    if text == "transparent" {
        return Some(AlphaColor { color: WHITE, alpha: 0.0 });
    }
    if let Some((name, rest)) = text.split_once('(') {
        return function(name.trim(), rest.strip_suffix(')')?);
    }
    let (red, green, blue) = cssparser::color::parse_named_color(&text).ok()?;
    Some(AlphaColor { color: Color { red, green, blue }, alpha: 1.0 })
}

fn function(name: &str, arguments: &str) -> Option<AlphaColor> {
    let spaced = arguments.replace(['/', ','], " ");
    let parts: Vec<&str> = spaced.split_whitespace().collect();
    let [first, second, third] = *parts.first_chunk::<3>()?;
    let alpha = parts.get(3).map_or(Some(1.0), |alpha| number(alpha, 1.0))?.clamp(0.0, 1.0);
    let color = match name {
        "rgb" | "rgba" => {
            let channel = |text| number(text, 255.0).map(byte);
            Color { red: channel(first)?, green: channel(second)?, blue: channel(third)? }
        }
        "hsl" | "hsla" => hsl(number(first, 360.0)?, number(second, 100.0)? / 100.0, number(third, 100.0)? / 100.0),
        "oklch" => {
            let (chroma, hue) = (number(second, 0.4)?, number(third, 360.0)?.to_radians());
            oklab(number(first, 1.0)?, chroma * hue.cos(), chroma * hue.sin())
        }
        "oklab" => oklab(number(first, 1.0)?, number(second, 0.4)?, number(third, 0.4)?),
        _ => return None,
    };
    Some(AlphaColor { color, alpha })
}

/// Parses a number. A percentage is converted to a fraction of `whole`.
fn number(text: &str, whole: f32) -> Option<f32> {
    let text = text.trim_end_matches("deg");
    let value: f32 = match text.strip_suffix('%') {
        Some(percent) => percent.parse::<f32>().ok()? / 100.0 * whole,
        None if text == "none" => 0.0,
        None => text.parse().ok()?,
    };
    value.is_finite().then_some(value)
}

fn byte(value: f32) -> u8 {
    value.round().clamp(0.0, 255.0) as u8
}

fn hsl(hue: f32, saturation: f32, lightness: f32) -> Color {
    let channel = |shift: f32| {
        let k = (shift + hue.rem_euclid(360.0) / 30.0) % 12.0;
        let lightness = lightness.clamp(0.0, 1.0);
        let amplitude = saturation.clamp(0.0, 1.0) * lightness.min(1.0 - lightness);
        byte((lightness - amplitude * (k - 3.0).min(9.0 - k).clamp(-1.0, 1.0)) * 255.0)
    };
    Color { red: channel(0.0), green: channel(8.0), blue: channel(4.0) }
}

fn oklab(lightness: f32, a: f32, b: f32) -> Color {
    let cube = |value: f32| value * value * value;
    let l = cube(lightness + 0.396_337_78 * a + 0.215_803_76 * b);
    let m = cube(lightness - 0.105_561_346 * a - 0.063_854_17 * b);
    let s = cube(lightness - 0.089_484_18 * a - 1.291_485_5 * b);
    let channel = |linear: f32| {
        let linear = linear.clamp(0.0, 1.0);
        byte(if linear <= 0.003_130_8 { linear * 12.92 } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 } * 255.0)
    };
    Color {
        red: channel(4.076_741_7 * l - 3.307_711_6 * m + 0.230_969_94 * s),
        green: channel(-1.268_438 * l + 2.609_757_4 * m - 0.341_319_38 * s),
        blue: channel(-0.004_196_086_3 * l - 0.703_418_6 * m + 1.707_614_7 * s),
    }
}

/// Returns the first color in a CSS value with several parts, such as a shorthand or a gradient.
pub fn first_in(value: &str) -> Option<AlphaColor> {
    first_within(value, 0)
}

fn first_within(value: &str, depth: u8) -> Option<AlphaColor> {
    let value = value.trim();
    if depth > DEPTH_MAX {
        return None;
    }
    if let Some(painted) = parse(value) {
        return Some(painted);
    }
    let mut rest = value;
    while !rest.is_empty() {
        let end = token_end(rest);
        let token = &rest[..end];
        if let Some(painted) = parse(token) {
            return Some(painted);
        }
        let inner = token.split_once('(').filter(|(name, _)| name.ends_with("gradient") || *name == "light-dark");
        if let Some(found) = inner.and_then(|(_, inner)| first_within(inner.strip_suffix(')').unwrap_or(inner), depth + 1)) {
            return Some(found);
        }
        rest = rest[end..].trim_start_matches([' ', ',', '/', '\n', '\t']);
    }
    None
}

/// Returns the byte position where the first token ends. A token ends at whitespace, a comma or a slash outside parentheses.
fn token_end(text: &str) -> usize {
    let mut depth = 0_u32;
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ' ' | ',' | '/' | '\n' | '\t' if depth == 0 => return at.max(1),
            _ => {}
        }
    }
    text.len()
}

/// Returns the relative luminance of a color, from 0 for black to 1 for white.
pub fn luminance(color: Color) -> f64 {
    0.2126 * linear(color.red) + 0.7152 * linear(color.green) + 0.0722 * linear(color.blue)
}

fn linear(channel: u8) -> f64 {
    let share = f64::from(channel) / 255.0;
    if share <= 0.040_45 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
}

/// Returns the contrast between two colors, from 1 for equal colors to 21 for black and white.
pub fn contrast(one: Color, other: Color) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// Returns white or a soft black, whichever has more contrast with `ground`.
pub fn readable_on(ground: Color) -> Color {
    if contrast(SOFT_BLACK, ground) >= contrast(WHITE, ground) { SOFT_BLACK } else { WHITE }
}

pub fn seen(color: Color) -> Oklch {
    let [red, green, blue] = [color.red, color.green, color.blue].map(|channel| linear(channel) as f32);
    let l = (0.412_221_46 * red + 0.536_332_55 * green + 0.051_445_995 * blue).cbrt();
    let m = (0.211_903_5 * red + 0.680_699_5 * green + 0.107_396_96 * blue).cbrt();
    let s = (0.088_302_46 * red + 0.281_718_85 * green + 0.629_978_7 * blue).cbrt();
    let lightness = 0.210_454_26 * l + 0.793_617_8 * m - 0.004_072_047 * s;
    let a = 1.977_998_5 * l - 2.428_592_2 * m + 0.450_593_7 * s;
    let b = 0.025_904_037 * l + 0.782_771_77 * m - 0.808_675_77 * s;
    Oklch { lightness, chroma: a.hypot(b), hue: b.atan2(a).to_degrees().rem_euclid(360.0) }
}

/// Returns the perceived difference between two colors, as their distance in OKLab. Below 0.05, the difference is hardly visible; above
/// 0.2, it is clear.
pub fn distance(one: Color, other: Color) -> f32 {
    let (one, other) = (seen(one), seen(other));
    let point = |seen: Oklch| (seen.chroma * seen.hue.to_radians().cos(), seen.chroma * seen.hue.to_radians().sin());
    let ((a, b), (c, d)) = (point(one), point(other));
    ((one.lightness - other.lightness).powi(2) + (a - c).powi(2) + (b - d).powi(2)).sqrt()
}

/// Returns whether people would name a color by its hue, and not call it gray, black or white.
pub fn is_vivid(color: Color) -> bool {
    let seen = seen(color);
    seen.chroma >= 0.045 && (0.12..0.96).contains(&seen.lightness)
}

/// Returns whether a color is visibly not gray. A dark color needs less chroma than a light color, because the maximum chroma of dark
/// colors is lower.
pub fn has_hue(color: Color) -> bool {
    let seen = seen(color);
    is_vivid(color) || seen.chroma >= 0.03 && (0.12..0.5).contains(&seen.lightness)
}

/// Returns an English word for a color: its hue, or `black`, `gray` or `white`.
pub fn word(color: Color) -> &'static str {
    let Oklch { lightness, chroma, hue } = seen(color);
    if chroma < 0.035 {
        return match lightness {
            light if light < 0.25 => "black",
            light if light < 0.85 => "gray",
            _ => "white",
        };
    }
    match hue as u32 {
        0..=15 | 345..=360 => "pink",
        16..=38 => "red",
        39..=75 if lightness < 0.55 => "brown",
        39..=65 => "orange",
        66..=85 if lightness > 0.85 && chroma < 0.07 => "beige",
        66..=112 => "yellow",
        113..=172 => "green",
        173..=215 => "turquoise",
        216..=285 => "blue",
        _ => "purple",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> String {
        parse(text).map_or_else(|| "none".to_owned(), |painted| painted.color.to_string())
    }

    #[test]
    fn every_color_syntax_is_parsed() {
        for (text, expected) in [
            ("#0a7", "#00AA77"),
            ("#0A7B5CFF", "#0A7B5C"),
            ("rebeccapurple", "#663399"),
            ("rgb(10, 20, 30)", "#0A141E"),
            ("rgba(10 20 30 / 50%)", "#0A141E"),
            ("rgb(100% 0% 50%)", "#FF0080"),
            ("hsl(210, 50%, 40%)", "#336699"),
            ("hsl(210deg 50% 40%)", "#336699"),
            ("hsl(210 50 40)", "#336699"),
            ("hsla(345,38%,42%,1)", "#944257"),
            ("oklch(0.628 0.2577 29.23)", "#FF0000"),
            ("oklch(62.8% 64.4% 29.23)", "#FF0000"),
            ("url(a.png)", "none"),
            ("var(--x)", "none"),
        ] {
            assert_eq!(hex(text), expected, "{text}");
        }
        assert_eq!(parse("rgba(0,0,0,.25)").map(|painted| painted.alpha), Some(0.25));
    }

    #[test]
    fn the_first_color_of_a_shorthand_or_gradient_is_found() {
        for (text, expected) in [
            ("no-repeat url('a b.png') #123456", "#123456"),
            ("linear-gradient(90deg, #ff0000 0%, blue)", "#FF0000"),
            ("center / cover, rgba(1, 2, 3, 1)", "#010203"),
            ("none", "none"),
            ("", "none"),
        ] {
            assert_eq!(first_in(text).map_or("none".to_owned(), |painted| painted.color.to_string()), expected, "{text}");
        }
    }

    #[test]
    fn contrast_and_names_match_perception() {
        let color = |text: &str| parse(text).expect(text).color;
        assert!((contrast(color("#000"), color("#fff")) - 21.0).abs() < 0.01);
        assert!((contrast(color("#777777"), WHITE) - 4.48).abs() < 0.01);
        assert_eq!(readable_on(color("#ffee00")), SOFT_BLACK);
        assert_eq!(readable_on(color("#003366")), WHITE);
        for (text, expected) in [
            ("#ffffff", "white"),
            ("#0f0f0f", "black"),
            ("#808080", "gray"),
            ("#d32f2f", "red"),
            ("#1565c0", "blue"),
            ("#2e7d32", "green"),
            ("#6d4c41", "brown"),
            ("#fbc02d", "yellow"),
            ("#fb8c00", "orange"),
            ("#7b1fa2", "purple"),
            ("#00897b", "turquoise"),
            ("#ec407a", "pink"),
        ] {
            assert_eq!(word(color(text)), expected, "{text}");
        }
        assert!(distance(color("#112233"), color("#112234")) < 0.02 && distance(color("#f00"), color("#00f")) > 0.3);
    }
}
