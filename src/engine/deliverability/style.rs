//! The properties of an element's style that decide whether its text is visible.

use super::bounded;

/// An opaque color.
type Color = [u8; 3];

/// The contrast ratio below which text cannot be read. WCAG 2 requires 4.5.
const CONTRAST_MIN: f32 = 1.2;
/// The largest font size, in pixels, that is treated as invisible.
const TINY_PIXELS: f32 = 2.0;
/// The offset in pixels, horizontal or vertical, at or below which content is outside the visible area.
const OFF_SCREEN_PIXELS: f32 = -500.0;

/// How a passage is hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concealment {
    /// Hidden with `display: none`, `visibility: hidden`, the `hidden` attribute, transparency, or a height of at most 1 pixel with
    /// hidden overflow.
    NotDisplayed,
    /// A font size of at most 2 pixels.
    Tiny,
    /// Text in nearly the color of its background.
    LowContrast,
    OffScreen,
}

/// The style of an element, limited to the properties that the check tracks.
#[derive(Clone, Copy, Debug)]
pub struct TextStyle {
    /// Whether the element's text is not part of the message, as in a `title` element.
    pub is_ignored: bool,
    is_displayed: bool,
    is_off_screen: bool,
    font_pixels: f32,
    color: Color,
    /// The background color, or `None` if the background is an image or a gradient.
    background: Option<Color>,
    /// Whether a style sets `max-height` or `height` to at most 1 pixel. The content is hidden only if the style also hides overflow.
    has_no_height: bool,
    hides_overflow: bool,
}

impl Default for TextStyle {
    fn default() -> Self {
        Self {
            is_ignored: false,
            is_displayed: true,
            is_off_screen: false,
            font_pixels: 16.0,
            color: [0, 0, 0],
            background: Some([255, 255, 255]),
            has_no_height: false,
            hides_overflow: false,
        }
    }
}

impl TextStyle {
    /// Returns the style that a child element with this name inherits.
    pub fn inherit(self, name: &str) -> Self {
        let collapsed = self.has_no_height && self.hides_overflow;
        let mut style =
            Self { is_displayed: self.is_displayed && !collapsed, has_no_height: false, hides_overflow: false, ..self };
        match name {
            "a" => style.color = [0, 0, 238],
            "title" | "script" | "style" | "template" | "select" | "textarea" | "noscript" | "svg" => style.is_ignored = true,
            _ => {}
        }
        style
    }

    /// Applies an attribute of the element.
    pub fn apply(&mut self, name: &str, value: &str) {
        match name {
            "style" => self.apply_style(bounded(value, 4_096)),
            "hidden" => self.is_displayed = false,
            "bgcolor" => self.background = color(value).or(self.background),
            "background" if !value.is_empty() => self.background = None,
            "color" | "text" => self.color = color(value).unwrap_or(self.color),
            _ => {}
        }
    }

    fn apply_style(&mut self, style: &str) {
        for declaration in style.split(';').take(100) {
            let Some((name, value)) = declaration.split_once(':') else { continue };
            let value = value.to_ascii_lowercase();
            let value = value.trim().trim_end_matches("!important").trim();
            match name.trim().to_ascii_lowercase().as_str() {
                "display" if value == "none" => self.is_displayed = false,
                "visibility" if value == "hidden" => self.is_displayed = false,
                "opacity" if value.parse().is_ok_and(|opacity: f32| opacity < 0.05) => self.is_displayed = false,
                "max-height" | "height" if pixels(value, 16.0).is_some_and(|size| size <= 1.0) => self.has_no_height = true,
                "overflow" if value == "hidden" => self.hides_overflow = true,
                "font-size" => self.font_pixels = pixels(value, self.font_pixels).unwrap_or(16.0),
                "text-indent" | "left" | "top" | "margin-left" => {
                    self.is_off_screen |= pixels(value, 16.0).is_some_and(|distance| distance <= OFF_SCREEN_PIXELS);
                }
                "color" if value == "transparent" => self.is_displayed = false,
                "color" => self.color = color(value).unwrap_or(self.color),
                "background-image" if value != "none" => self.background = None,
                "background" | "background-color" => self.apply_background(value),
                _ => {}
            }
        }
    }

    fn apply_background(&mut self, value: &str) {
        if value.contains("url(") || value.contains("gradient") {
            self.background = None;
        } else if let Some(found) = color(value).or_else(|| value.split_whitespace().find_map(color)) {
            self.background = Some(found);
        }
    }

    /// Returns how the style hides text, if it does.
    pub fn concealment(&self) -> Option<Concealment> {
        if !self.is_displayed || (self.has_no_height && self.hides_overflow) {
            return Some(Concealment::NotDisplayed);
        }
        if self.is_off_screen {
            return Some(Concealment::OffScreen);
        }
        if self.font_pixels <= TINY_PIXELS {
            return Some(Concealment::Tiny);
        }
        let background = self.background?;
        (contrast(self.color, background) < CONTRAST_MIN).then_some(Concealment::LowContrast)
    }
}

/// Returns a length in pixels. `base` is the font size that relative lengths refer to.
fn pixels(value: &str, base: f32) -> Option<f32> {
    let unit = value.find(|c: char| c.is_ascii_alphabetic() || c == '%').unwrap_or(value.len());
    let (number, unit) = value.split_at_checked(unit)?;
    let number: f32 = number.trim().parse().ok()?;
    match unit {
        "px" => Some(number),
        "" if number == 0.0 => Some(0.0),
        "pt" => Some(number * 4.0 / 3.0),
        "em" => Some(number * base),
        "rem" => Some(number * 16.0),
        "%" => Some(number * base / 100.0),
        _ => None,
    }
}

/// Parses a hexadecimal color, `rgb()`, or one of the color names that emails use.
fn color(value: &str) -> Option<Color> {
    let value = value.trim().to_ascii_lowercase();
    if let Some(inside) = value.strip_prefix("rgb(").and_then(|rest| rest.strip_suffix(')')) {
        let mut channels = inside.split([',', ' ']).filter(|one| !one.is_empty()).map(str::parse);
        return Some([channels.next()?.ok()?, channels.next()?.ok()?, channels.next()?.ok()?]);
    }
    let named = match value.as_str() {
        "white" => "ffffff",
        "black" => "000000",
        "red" => "ff0000",
        "blue" => "0000ff",
        "green" => "008000",
        "yellow" => "ffff00",
        "gray" | "grey" => "808080",
        "silver" => "c0c0c0",
        "navy" => "000080",
        "maroon" => "800000",
        other => other.strip_prefix('#').unwrap_or(other),
    };
    let digits: Vec<u8> =
        named.chars().map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect::<Option<_>>()?;
    match *digits.as_slice() {
        [r, g, b] => Some([r * 17, g * 17, b * 17]),
        [r, s, g, h, b, c] => Some([r * 16 + s, g * 16 + h, b * 16 + c]),
        _ => None,
    }
}

/// Returns the contrast ratio between two colors (WCAG 2.2, "contrast ratio").
fn contrast(one: Color, other: Color) -> f32 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

fn luminance(color: Color) -> f32 {
    let [red, green, blue] = color.map(|channel| {
        let value = f32::from(channel) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_and_lengths_are_read() {
        assert_eq!(color("#FFF"), Some([255, 255, 255]));
        assert_eq!(color("rgb(1, 2, 3)"), Some([1, 2, 3]));
        assert_eq!(color("#12"), None);
        assert_eq!(pixels("12pt", 10.0), Some(16.0));
        assert_eq!(pixels("50%", 10.0), Some(5.0));
        assert!(contrast([255, 255, 255], [0, 0, 0]) > 20.9);
    }
}
