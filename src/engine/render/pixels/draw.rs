//! Draws with the built-in engine: turns a prepared email into screenshots or a PDF.
//!
//! Rendering usually runs in a worker process, which is confined so that hostile input can harm only its own rendering.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use image::RgbImage;
use takumi::prelude::{Error as DrawError, FromHtmlOptions, MeasuredNode, Node, RenderOptions, Viewport};
use takumi::unstable::base::style::StyleSheet;
use takumi::unstable::html::parse_html;
use takumi_pdf::{PageMargins, PageOptions, PdfMetadata, PdfOptions, UncoveredText};

use super::super::images;
use super::fonts::{self, ChosenFonts, FontFiles};
use super::glyphs::script;
use super::prepare::{GivenImages, Medium, PreparedEmail, prepare};
use super::{Paper, RenderError, Rendering, Screenshot, ScreenshotOptions, Warning};
use crate::vocab::limits::{DRAWN_HEIGHT_PX_MAX, DRAWN_LEVELS_MAX};

/// The maximum depth of the engine's own tree: the depth of the email, plus the levels that the engine adds around it.
const LEVELS: usize = DRAWN_LEVELS_MAX + 8;

pub struct Material<'a> {
    pub html: &'a str,
    pub images: &'a BTreeMap<String, Vec<u8>>,
    pub fonts: &'a FontFiles,
    /// The maximum number of image pixels to decode.
    pub pixels: u64,
}

struct Stage {
    node: Node,
    sheet: Arc<StyleSheet>,
    prepared: PreparedEmail,
    chosen: ChosenFonts,
}

impl Stage {
    fn set(material: &Material<'_>, medium: Medium) -> Result<Self, RenderError> {
        let mut prepared = prepare(material.html, &GivenImages { files: material.images, pixels: material.pixels }, medium)
            .map_err(RenderError::Refused)?;
        let options = FromHtmlOptions::builder().max_depth(LEVELS).build();
        let parsed = parse_html(&prepared.html, options).map_err(failed)?;
        let sheets = std::mem::take(&mut prepared.sheets);
        let sheet = Arc::new(StyleSheet::parse_owned_list_loosy(sheets));
        let chosen = fonts::choose(&prepared.characters, material.fonts).map_err(failed)?;
        Ok(Self { node: parsed.node, sheet, prepared, chosen })
    }

    fn options(&self, viewport: Viewport) -> RenderOptions<'_> {
        RenderOptions::builder()
            .viewport(viewport)
            .node(self.node.clone())
            .fonts(&self.chosen.fonts)
            .stylesheet(self.sheet.clone())
            .images(self.prepared.images.clone())
            .build()
    }

    fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let absent = &self.prepared.absent;
        if let Some(first) = absent.first() {
            warnings.push(Warning::ImagesAbsent { count: absent.len(), first: first.clone() });
        }
        if let Some(first) = self.prepared.unsound.first() {
            warnings.push(Warning::ImagesUnsound { count: self.prepared.unsound.len(), first: first.clone() });
        }
        if !self.prepared.undrawn.is_empty() {
            let elements = self.prepared.undrawn.iter().map(|name| (*name).to_owned()).collect();
            warnings.push(Warning::NotDrawn { elements });
        }
        let mut scripts: BTreeMap<&str, BTreeSet<char>> = BTreeMap::new();
        for c in &self.chosen.missing {
            scripts.entry(script(*c)).or_default().insert(*c);
        }
        warnings.extend(scripts.into_iter().map(|(script, characters)| Warning::GlyphsMissing {
            script: script.to_owned(),
            examples: characters.into_iter().take(8).collect(),
        }));
        warnings
    }
}

fn failed(error: impl std::fmt::Display) -> RenderError {
    RenderError::Failed(error.to_string())
}

/// Draws screenshots of an email, one for each width.
pub fn screenshots(material: &Material<'_>, options: &ScreenshotOptions) -> Result<Rendering<Vec<Screenshot>>, RenderError> {
    let stage = Stage::set(material, Medium { dark: options.dark, paper: false, density: options.density })?;
    let mut warnings = stage.warnings();
    if options.reports_dark_images {
        warnings.extend(dark_images(material, &stage.prepared.embedded));
    }
    let mut shots = Vec::with_capacity(options.widths.len());
    for width in &options.widths {
        let (layout, density) = if options.adapts() { adapted(&stage, *width, options)? } else { (*width, options.density) };
        let (picture, cut) = screenshot(&stage, layout, density, options.height_max)?;
        if cut {
            warnings.push(Warning::Cut { width: *width });
        }
        let small = |width: Option<u32>, is_full| width.map(|width| images::thumbnail(&picture, width, is_full)).transpose();
        let thumbnail = small(options.thumbnails.top_width, false).map_err(failed)?;
        let full_thumbnail = small(options.thumbnails.full_width, true).map_err(failed)?;
        let (width_px, height_px) = picture.dimensions();
        let png = images::png(&picture).map_err(failed)?;
        shots.push(Screenshot { width: *width, width_px, height_px, png, thumbnail, full_thumbnail });
    }
    Ok(Rendering { made: shots, warnings })
}

/// Returns the width of the layout in CSS pixels, and the number of image pixels per CSS pixel.
fn adapted(stage: &Stage, window: u32, options: &ScreenshotOptions) -> Result<(u32, f32), RenderError> {
    let measure = |width: u32| {
        let options = stage.options(Viewport::new((width, None::<u32>)));
        takumi::measure(options).map(|root| size(&root)).map_err(failed)
    };
    let (width, height) = measure(window)?;
    let layout = options.layout_width(window, width);
    let height = if layout == window { height } else { measure(layout)?.1 };
    Ok((layout, options.layout_density(window, layout, height)))
}

/// Returns the width and height of a layout in the pixels of its viewport. Ignores boxes narrower or lower than one pixel, such as hidden
/// text.
fn size(root: &MeasuredNode) -> (f32, f32) {
    let (mut width, mut height) = (0.0_f32, root.height);
    let mut nodes = vec![root];
    while let Some(node) = nodes.pop() {
        let [.., left, top] = node.transform;
        if node.height >= 1.0 && node.width >= 1.0 {
            width = width.max(left + node.width);
            height = height.max(top + node.height);
        }
        nodes.extend(&node.children);
    }
    (width, height)
}

/// Returns a warning if transparent images are invisible on a dark background. `embedded` contains the images that are embedded in the
/// HTML.
fn dark_images(material: &Material<'_>, embedded: &[(String, Arc<[u8]>)]) -> Option<Warning> {
    let is_dark = |file: &[u8]| images::ground(file, material.pixels) == Some(images::Ground::Light);
    let linked = material.images.iter().map(|(address, file)| (address, file.as_slice()));
    let all = linked.chain(embedded.iter().map(|(address, file)| (address, &**file)));
    let mut dark = all.filter(|(_, file)| is_dark(file)).map(|(address, _)| address);
    let first = dark.next()?.clone();
    Some(Warning::ImagesDark { count: 1 + dark.count(), first })
}

/// Draws one screenshot. Also returns whether the email is longer than the screenshot.
fn screenshot(stage: &Stage, width: u32, density: f32, height_max: u32) -> Result<(RgbImage, bool), RenderError> {
    let device = |css: u32| (css as f32 * density).round() as u32;
    let limit = device(height_max.min(DRAWN_HEIGHT_PX_MAX));
    let options = |height: Option<u32>| {
        let viewport = Viewport::new((device(width), height)).with_device_pixel_ratio(density);
        stage.options(viewport)
    };
    let (bitmap, mut cut) = match takumi::render(options(None)) {
        // The email is either taller than the tallest screenshot or has no height at all. If it has no height, one row of pixels is drawn.
        Err(DrawError::InvalidViewport) => {
            let (_, height) = takumi::measure(options(None)).map(|root| size(&root)).map_err(failed)?;
            let kept = (height.ceil() as u32).clamp(1, limit.max(1));
            (takumi::render(options(Some(kept))).map_err(failed)?, height > limit as f32)
        }
        drawn => (drawn.map_err(failed)?, false),
    };
    let (wide, mut high) = (bitmap.width(), bitmap.height());
    let mut pixels = bitmap.into_raw();
    if high > limit {
        (high, cut) = (limit, true);
        pixels.truncate(wide as usize * high as usize * 4);
    }
    Ok((on_white(pixels, wide, high), cut))
}

/// Fills transparent areas with white, as on screens. The buffer is converted in place, because at double density it takes up most of the
/// memory in use.
fn on_white(mut pixels: Vec<u8>, wide: u32, high: u32) -> RgbImage {
    let count = wide as usize * high as usize;
    for at in 0..count {
        let alpha = u32::from(pixels[4 * at + 3]);
        for part in 0..3 {
            let drawn = u32::from(pixels[4 * at + part]);
            pixels[3 * at + part] = ((drawn * alpha + 255 * (255 - alpha) + 127) / 255) as u8;
        }
    }
    pixels.truncate(3 * count);
    RgbImage::from_raw(wide, high, pixels).expect("an image has as many bytes as its size requires")
}

/// Draws an email as PDF, with selectable text.
pub fn pdf(material: &Material<'_>, paper: Paper, title: &str) -> Result<Rendering<Vec<u8>>, RenderError> {
    let stage = Stage::set(material, Medium { dark: false, paper: true, density: 1.0 })?;
    let metadata = PdfMetadata { title: Some(title.to_owned()), ..PdfMetadata::default() };
    let options = PdfOptions::builder()
        .fonts(&stage.chosen.fonts)
        .node(stage.node.clone())
        .stylesheet(stage.sheet.clone())
        .images(stage.prepared.images.clone())
        .uncovered_text(UncoveredText::Placeholder)
        .outline(true)
        .metadata(metadata);
    // The margins of the paper would shrink an email that already has margins.
    let bare = |page: PageOptions| PageOptions { margin: PageMargins::uniform(0.0), ..page };
    let made = match paper {
        Paper::A4 => takumi_pdf::render(options.page(bare(PageOptions::A4)).build()),
        Paper::Letter => takumi_pdf::render(options.page(bare(PageOptions::LETTER)).build()),
        Paper::Roll { width } => takumi_pdf::render(options.viewport(Viewport::new((width, None))).build()),
    };
    Ok(Rendering { made: made.map_err(failed)?, warnings: stage.warnings() })
}

/// Returns the URLs of the images in an email, each once.
pub fn image_addresses(html: &str) -> Result<Vec<String>, RenderError> {
    let medium = Medium { dark: false, paper: false, density: 1.0 };
    Ok(prepare(html, &GivenImages { files: &BTreeMap::new(), pixels: 0 }, medium).map_err(RenderError::Refused)?.absent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(html: &str, height_max: u32) -> (u32, Vec<Warning>) {
        let material = Material { html, images: &BTreeMap::new(), fonts: &FontFiles::default(), pixels: 0 };
        let options = ScreenshotOptions { height_max, ..ScreenshotOptions::of(&[600]) };
        let rendering = screenshots(&material, &options).expect("the email can be drawn");
        (rendering.made[0].height_px, rendering.warnings)
    }

    #[test]
    fn an_email_without_height_is_not_cut() {
        assert_eq!(drawn("<body style='margin:0'></body>", DRAWN_HEIGHT_PX_MAX), (1, Vec::new()));
    }

    #[test]
    fn a_long_email_is_cut() {
        for height in [300, 200_000] {
            let html = format!("<body style='margin:0'><div style='height:{height}px'></div></body>");
            assert_eq!(drawn(&html, 200), (200, vec![Warning::Cut { width: 600 }]), "{height}");
        }
    }
}
