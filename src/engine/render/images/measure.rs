//! Measures images: their size, their dominant colors, and the backgrounds on which they are visible. This module does no I/O.

use std::collections::HashMap;

use image::{DynamicImage, RgbaImage};
use serde::{Deserialize, Serialize};

use crate::base::color::{self, contrast, distance};
use crate::base::text::Color;
use crate::vocab::limits::DECODED_IMAGE_SIDE_MAX;

/// The maximum side length, in pixels, of the scaled-down copy on which colors are counted.
const SAMPLE_SIDE: u32 = 64;
/// The maximum number of colors that a measurement reports.
const COLORS_MAX: usize = 5;
/// The smallest share of the area that a color must cover to be reported.
const SHARE_MIN: f32 = 0.03;
/// An image is treated as transparent if more than this share of its area is transparent; semitransparent pixels count in proportion to
/// their transparency. Other images are assumed to contain a background.
const CLEAR_SHARE_MIN: f32 = 0.02;
/// The minimum opacity, from 0 to 255, of pixels whose color is measured. The color of a more transparent pixel comes mostly from the
/// background.
const SEEN_ALPHA_MIN: u8 = 64;
/// The minimum contrast for a logo to be visible. WCAG requires 3 for graphics, but parts of a logo may have less. A dark green such as
/// #1f4d3a on `DARK` is below this minimum.
const SEEN_CONTRAST: f64 = 2.5;
/// The minimum share of a logo's pixels that must be visible.
const SEEN_SHARE: f32 = 0.75;

const LIGHT: Color = Color { red: 255, green: 255, blue: 255 };
const DARK: Color = Color { red: 0x12, green: 0x12, blue: 0x12 };

/// The background on which an image is visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ground {
    /// A light background, because the image is transparent and dark.
    Light,
    /// A dark background, because the image is transparent and light.
    Dark,
    /// Any background: the image has its own background, or is visible on both light and dark ones.
    Any,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImageMeasurements {
    pub width: u32,
    pub height: u32,
    /// The dominant colors, sorted by covered area, largest first.
    pub colors: Vec<Color>,
    pub ground: Ground,
    /// Whether parts of the image are transparent.
    pub is_clear: bool,
    /// The approximate number of distinct colors: few in logos and illustrations, and many in photos.
    pub variety: usize,
}

pub fn measure(picture: &DynamicImage) -> ImageMeasurements {
    let (width, height) = (picture.width(), picture.height());
    let sample = picture.thumbnail(SAMPLE_SIDE, SAMPLE_SIDE).to_rgba8();
    measured(width, height, &sample)
}

pub fn is_drawing(bytes: &[u8], content_type: &str) -> bool {
    content_type.contains("svg") || String::from_utf8_lossy(&bytes[..bytes.len().min(1024)]).contains("<svg")
}

fn measured(width: u32, height: u32, sample: &RgbaImage) -> ImageMeasurements {
    let total = sample.pixels().len().max(1) as f32;
    // In the small copy, the thin lines of a large image are semitransparent. Therefore the total coverage is measured, not the number of
    // transparent pixels.
    let covered = sample.pixels().map(|pixel| f32::from(pixel.0[3]) / 255.0).sum::<f32>() / total;
    let is_clear = 1.0 - covered > CLEAR_SHARE_MIN;
    let seen: Vec<Color> = sample
        .pixels()
        .filter(|pixel| pixel.0[3] >= SEEN_ALPHA_MIN)
        .map(|pixel| Color { red: pixel.0[0], green: pixel.0[1], blue: pixel.0[2] })
        .collect();
    let (colors, variety) = dominant(&seen);
    let ground = if is_clear { ground(&seen) } else { Ground::Any };
    ImageMeasurements { width, height, colors, ground, is_clear, variety }
}

/// Returns the background on which more of these pixels are visible, or `Any` if enough of them are visible on both.
fn ground(seen: &[Color]) -> Ground {
    let share = |ground: Color| {
        let visible = seen.iter().filter(|pixel| contrast(**pixel, ground) >= SEEN_CONTRAST).count();
        visible as f32 / seen.len().max(1) as f32
    };
    match (share(LIGHT), share(DARK)) {
        (light, dark) if light >= SEEN_SHARE && dark >= SEEN_SHARE => Ground::Any,
        (light, dark) if light >= dark => Ground::Light,
        _ => Ground::Dark,
    }
}

/// Returns the colors that cover the most area, with similar ones combined, and the approximate number of distinct colors.
fn dominant(seen: &[Color]) -> (Vec<Color>, usize) {
    let mut cells: HashMap<(u8, u8, u8), (u32, [u32; 3])> = HashMap::new();
    for pixel in seen {
        let cell = cells.entry((pixel.red >> 4, pixel.green >> 4, pixel.blue >> 4)).or_default();
        cell.0 += 1;
        for (sum, channel) in cell.1.iter_mut().zip([pixel.red, pixel.green, pixel.blue]) {
            *sum += u32::from(channel);
        }
    }
    let variety = cells.len();
    let mean = |(count, sums): (u32, [u32; 3])| {
        let channel = |sum: u32| (sum / count) as u8;
        (count, Color { red: channel(sums[0]), green: channel(sums[1]), blue: channel(sums[2]) })
    };
    let mut cells: Vec<(u32, Color)> = cells.into_values().map(mean).collect();
    cells.sort_by_key(|(count, color)| (std::cmp::Reverse(*count), color.red, color.green, color.blue));
    let mut groups: Vec<(u32, Color)> = Vec::new();
    for (count, color) in cells {
        match groups.iter_mut().find(|(_, other)| distance(*other, color) < 0.1) {
            Some(group) => group.0 += count,
            None => groups.push((count, color)),
        }
    }
    groups.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    let least = seen.len() as f32 * SHARE_MIN;
    let colors =
        groups.into_iter().filter(|(count, _)| *count as f32 >= least).take(COLORS_MAX).map(|(_, color)| color).collect();
    (colors, variety)
}

/// Measures an SVG image without rendering it: the size and the colors in its source are enough.
pub fn measure_drawing(text: &str) -> Result<ImageMeasurements, &'static str> {
    let start = text.find("<svg").ok_or("the file is not an SVG image; use a file that contains an <svg> element")?;
    let tag = text[start..].split('>').next().unwrap_or_default();
    let attribute = |name: &str| {
        let at = tag.find(&format!(" {name}=")).or_else(|| tag.find(&format!("\n{name}=")))? + name.len() + 2;
        let quote = tag[at..].chars().next().filter(|mark| matches!(mark, '"' | '\''))?;
        tag[at + 1..].split(quote).next()
    };
    let pixels = |text: &str| {
        let number: f32 = text.trim().trim_end_matches("px").parse().ok()?;
        (number.is_finite() && number >= 1.0).then_some(number.min(DECODED_IMAGE_SIDE_MAX as f32) as u32)
    };
    let viewed: Vec<f32> =
        attribute("viewBox").unwrap_or_default().split([' ', ',']).filter_map(|number| number.trim().parse().ok()).collect();
    let side = |name: &str, index: usize| {
        attribute(name)
            .and_then(pixels)
            .or_else(|| viewed.get(index).filter(|side| **side >= 1.0).map(|side| side.min(DECODED_IMAGE_SIDE_MAX as f32) as u32))
    };
    let (width, height) = side("width", 2)
        .zip(side("height", 3))
        .ok_or("the SVG image has no size in pixels; set its viewBox, or its width and height")?;
    let mut painted = painted(text);
    if painted.is_empty() {
        // Shapes without a color are drawn in black.
        painted.push(Color { red: 0, green: 0, blue: 0 });
    }
    let ground = ground(&painted);
    let mut colors: Vec<Color> = Vec::new();
    for color in painted {
        if !colors.contains(&color) {
            colors.push(color);
        }
    }
    let variety = colors.len();
    colors.truncate(COLORS_MAX);
    Ok(ImageMeasurements { width, height, colors, ground, is_clear: true, variety })
}

/// Returns the visible colors in an SVG image: twice for each use in an area or gradient, and once for each use in a line.
fn painted(text: &str) -> Vec<Color> {
    let mut found = Vec::new();
    for (mark, weight) in [("fill=", 2), ("stroke=", 1), ("stop-color=", 2), ("fill:", 2), ("stroke:", 1), ("stop-color:", 2)] {
        for (at, _) in text.match_indices(mark) {
            let rest = text[at + mark.len()..].trim_start_matches(['"', '\'', ' ']);
            let value = rest.split(['"', '\'', ';', '}', '>']).next().unwrap_or_default();
            let paint = color::parse(value.trim().trim_matches(['"', '\''])).filter(|paint| paint.alpha > 0.3);
            found.extend(paint.iter().flat_map(|paint| std::iter::repeat_n(paint.color, weight)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use image::Rgba;

    use super::*;

    fn picture(width: u32, height: u32, paint: impl Fn(u32, u32) -> [u8; 4]) -> DynamicImage {
        RgbaImage::from_fn(width, height, |x, y| Rgba(paint(x, y))).into()
    }

    #[test]
    fn size_and_colors_of_an_image_are_measured() {
        let picture = picture(300, 100, |x, _| if x < 200 { [200, 30, 40, 255] } else { [250, 250, 250, 255] });
        let measured = measure(&picture);
        assert_eq!((measured.width, measured.height, measured.ground, measured.is_clear), (300, 100, Ground::Any, false));
        let words: Vec<&str> = measured.colors.iter().map(|color| color::word(*color)).collect();
        assert_eq!(words, ["red", "white"]);
    }

    #[test]
    fn a_transparent_logo_needs_the_opposite_background() {
        for (paint, ground) in
            [([0, 0, 0, 255], Ground::Light), ([255, 255, 255, 255], Ground::Dark), ([220, 60, 40, 255], Ground::Any)]
        {
            let picture = picture(64, 64, |x, y| if (x / 8 + y / 8) % 2 == 0 { paint } else { [0, 0, 0, 0] });
            assert_eq!(measure(&picture).ground, ground, "{paint:?}");
        }
    }

    #[test]
    fn size_and_colors_of_an_svg_are_measured() {
        let drawing = r##"<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 40"><path fill="#fff" d=""/></svg>"##;
        let measured = measure_drawing(drawing).expect("the SVG can be read");
        assert_eq!((measured.width, measured.height, measured.ground), (120, 40, Ground::Dark));
        let plain = r#"<svg width="24" height="24"><path d=""/></svg>"#;
        assert_eq!(measure_drawing(plain).expect("the SVG can be read").ground, Ground::Light);
    }

    #[test]
    fn the_dominant_color_of_a_drawing_decides_its_background() {
        let drawing = r##"<svg width="190" height="44"><path fill="#1f4d3a"/><path stroke="#faf6ee" fill="none"/><circle fill="#c8663f"/>
            <text fill="#1f4d3a">Leaf</text></svg>"##;
        let measured = measure_drawing(drawing).expect("the SVG can be read");
        assert_eq!((measured.ground, measured.colors.len()), (Ground::Light, 3));
    }

    #[test]
    fn a_damaged_drawing_is_measured_or_rejected() {
        let drawing = r##"<svg viewBox="0 0 120 40" width='1e9'><path fill="#fff" stroke='red' style="fill:rgb(1,2,3)"/></svg>"##;
        for end in 0..drawing.len() {
            let _ = measure_drawing(&drawing[..end]);
            let _ = measure_drawing(&drawing[end..]);
        }
        let vast = measure_drawing("<svg width='9e30' height='20'/>").expect("the SVG can be read");
        assert_eq!((vast.width, vast.height), (DECODED_IMAGE_SIDE_MAX, 20));
    }
}
