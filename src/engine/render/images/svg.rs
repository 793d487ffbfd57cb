//! Draws SVG logos as PNG, because few email clients show SVG.
//!
//! A few hundred bytes of SVG can keep a processor busy for hours. Therefore, SVG files are drawn in worker processes, except in tests and
//! tools. Drawing reads no files: images inside the SVG are left out, and text uses the built-in fonts.

use std::sync::Arc;

use image::{Rgba, RgbaImage};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{self, FontResolver, ImageHrefResolver, Options, Tree, fontdb};

use super::super::pixels::font_families;
use crate::base::text::Color;
use crate::vocab::limits::{DRAWN_LOGO_HEIGHT_MAX, DRAWN_LOGO_HEIGHT_MIN, DRAWN_LOGO_WIDTH_MAX, PREVIEW_DRAWING_BYTES_MAX};

/// The number of image pixels per CSS pixel.
const DENSITY: f32 = 2.0;
/// The space around a logo on a background, as a share of the logo's height.
const MARGIN: f32 = 0.2;
/// Parts of font names that identify serif fonts.
const SERIFS: [&str; 12] = [
    "serif",
    "georgia",
    "times",
    "garamond",
    "playfair",
    "baskerville",
    "bodoni",
    "didot",
    "caslon",
    "lora",
    "fraunces",
    "cormorant",
];

/// Draws an SVG file at twice its size, or larger if it is small, but not above the maximum width and height. Without a background, the
/// drawing is transparent and has no margins; on a background, it has margins.
pub fn draw(file: &[u8], background: Option<Color>) -> Result<RgbaImage, String> {
    if file.len() > PREVIEW_DRAWING_BYTES_MAX {
        return Err(format!("the SVG file is larger than {} KiB; use a smaller file", PREVIEW_DRAWING_BYTES_MAX / 1024));
    }
    let tree = Tree::from_data(file, &options())
        .map_err(|error| format!("the SVG file cannot be read ({error}); use a different file"))?;
    let (width, height) = (tree.size().width(), tree.size().height());
    let most = (DRAWN_LOGO_WIDTH_MAX as f32 / width).min(DRAWN_LOGO_HEIGHT_MAX as f32 / height);
    let scale = DENSITY.max(DRAWN_LOGO_HEIGHT_MIN as f32 / height).min(most);
    if background.is_some() {
        return drawn(&tree, scale, background);
    }
    let whole = trimmed(&drawn(&tree, scale, None)?);
    // Without its transparent margins, the drawing can be smaller than the minimum height, so draw it again at a larger scale.
    let larger = (scale * DRAWN_LOGO_HEIGHT_MIN as f32 / whole.height() as f32).min(most);
    if larger <= scale { Ok(whole) } else { drawn(&tree, larger, None).map(|drawn| trimmed(&drawn)) }
}

fn drawn(tree: &Tree, scale: f32, background: Option<Color>) -> Result<RgbaImage, String> {
    let (width, height) = (tree.size().width(), tree.size().height());
    let margin = background.map_or(0, |_| (height * scale * MARGIN).ceil() as u32);
    let side = |length: f32| (length * scale).round().max(1.0) as u32 + 2 * margin;
    let mut pixels = Pixmap::new(side(width), side(height))
        .ok_or("the SVG image has an invalid size; set its viewBox, or its width and height")?;
    let place = Transform::from_scale(scale, scale).post_translate(margin as f32, margin as f32);
    resvg::render(tree, place, &mut pixels.as_mut());
    if pixels.pixels().iter().all(|pixel| pixel.alpha() == 0) {
        return Err("the SVG image shows no shapes or text (images inside it are not drawn); use a different file".to_owned());
    }
    if let Some(Color { red, green, blue }) = background {
        let mut ground = Pixmap::new(pixels.width(), pixels.height())
            .ok_or("the SVG image has an invalid size; set its viewBox, or its width and height")?;
        ground.fill(resvg::tiny_skia::Color::from_rgba8(red, green, blue, 255));
        ground.draw_pixmap(0, 0, pixels.as_ref(), &Default::default(), Transform::identity(), None);
        pixels = ground;
    }
    let plain = pixels.pixels().iter().map(|pixel| pixel.demultiply());
    let bytes = plain.flat_map(|pixel| [pixel.red(), pixel.green(), pixel.blue(), pixel.alpha()]).collect();
    RgbaImage::from_raw(pixels.width(), pixels.height(), bytes)
        .ok_or("the SVG image could not be drawn completely; use a PNG file".to_owned())
}

/// Returns the image without its transparent margins, which would make a logo look small and misaligned.
fn trimmed(drawn: &RgbaImage) -> RgbaImage {
    let seen = drawn.enumerate_pixels().filter(|(_, _, Rgba(pixel))| pixel[3] > 0).map(|(x, y, _)| (x, y));
    let (mut left, mut top, mut right, mut bottom) = (u32::MAX, u32::MAX, 0, 0);
    for (x, y) in seen {
        (left, top, right, bottom) = (left.min(x), top.min(y), right.max(x), bottom.max(y));
    }
    image::imageops::crop_imm(drawn, left, top, right + 1 - left, bottom + 1 - top).to_image()
}

fn options() -> Options<'static> {
    let mut fonts = fontdb::Database::new();
    for (_, faces, _) in font_families() {
        for face in faces {
            fonts.load_font_source(fontdb::Source::Binary(Arc::new(*face)));
        }
    }
    let select_font: usvg::FontSelectionFn<'static> = Box::new(|font, fonts| {
        let named = font.families().iter().filter_map(|family| match family {
            usvg::FontFamily::Named(name) => Some(name.to_lowercase()),
            usvg::FontFamily::Serif => Some("serif".to_owned()),
            usvg::FontFamily::Monospace => Some("mono".to_owned()),
            _ => None,
        });
        let first = named.into_iter().next().unwrap_or_default();
        let is_serif = !first.contains("sans") && SERIFS.iter().any(|serif| first.contains(serif));
        let family = match () {
            () if first.contains("mono") || first.contains("courier") => "Liberation Mono",
            () if is_serif => "Liberation Serif",
            () => "Liberation Sans",
        };
        let weight = fontdb::Weight(if font.weight() >= 550 { 700 } else { 400 });
        let style = match font.style() {
            usvg::FontStyle::Normal => fontdb::Style::Normal,
            usvg::FontStyle::Italic | usvg::FontStyle::Oblique => fontdb::Style::Italic,
        };
        let query = fontdb::Query { families: &[fontdb::Family::Name(family)], weight, stretch: fontdb::Stretch::Normal, style };
        fonts.query(&query)
    });
    Options {
        font_family: "Liberation Sans".to_owned(),
        font_resolver: FontResolver { select_font, ..FontResolver::default() },
        fontdb: Arc::new(fonts),
        image_href_resolver: ImageHrefResolver { resolve_data: Box::new(|_, _, _| None), resolve_string: Box::new(|_, _| None) },
        ..Options::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Task, perform};
    use super::*;

    const MARK: &str = r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 40"><rect x="10" width="100" height="40" fill="#3d5c66"/></svg>"##;

    #[test]
    fn a_logo_is_drawn_at_twice_its_size_transparent_and_on_a_background() {
        let clear = draw(MARK.as_bytes(), None).expect("the logo can be drawn");
        assert_eq!(clear.dimensions(), (240, 96), "at least as high as an email needs, without empty margins");
        assert_eq!(clear.get_pixel(120, 48).0, [0x3d, 0x5c, 0x66, 255]);
        let small = r#"<svg xmlns="http://www.w3.org/2000/svg" width="220" height="48"><path d="M0 8h40v32H0z"/></svg>"#;
        assert_eq!(draw(small.as_bytes(), None).expect("the logo can be drawn").dimensions(), (120, 96), "despite the margins");
        let white = Color { red: 255, green: 255, blue: 255 };
        let plate = draw(MARK.as_bytes(), Some(white)).expect("the logo can be drawn");
        assert!(plate.width() > 288 && plate.pixels().all(|pixel| pixel.0[3] == 255));
        assert_eq!(
            (plate.get_pixel(0, 0).0, plate.get_pixel(plate.width() / 2, plate.height() / 2).0),
            ([255; 4], [0x3d, 0x5c, 0x66, 255])
        );
    }

    #[test]
    fn texts_are_drawn_with_the_built_in_fonts() {
        let text = |family: &str| {
            let svg = format!(
                "<svg xmlns='http://www.w3.org/2000/svg' width='160' height='40'><text y='30' font-size='28' font-family='{family}'>Tide</text></svg>"
            );
            draw(svg.as_bytes(), None).expect("the logo can be drawn")
        };
        assert!(text("Fraunces, serif") != text("Inter, sans-serif"), "a serif font replaces a serif font");
    }

    #[test]
    fn a_drawing_stays_within_the_limits_and_reads_no_files() {
        let wide = r#"<svg xmlns="http://www.w3.org/2000/svg" width="9000" height="2"><path d="M0 0h9000v2H0z"/></svg>"#;
        assert_eq!(draw(wide.as_bytes(), None).expect("the logo can be drawn").dimensions(), (DRAWN_LOGO_WIDTH_MAX, 1));
        let file = r#"<svg xmlns="http://www.w3.org/2000/svg" width="90" height="20"><image href="/etc/passwd" width="9" height="9"/></svg>"#;
        for nothing in [file, "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>", "<svg/>", "<html>", ""] {
            assert!(draw(nothing.as_bytes(), None).is_err(), "{nothing}");
        }
        let (done, bytes) = perform(&Task::DrawLogo { background: None }, MARK.as_bytes(), 0).expect("the logo can be drawn");
        let measured = done.measured.expect("the logo is measured");
        assert_eq!((measured.width, image::load_from_memory(&bytes).expect("a PNG").width()), (240, 240));
    }
}
