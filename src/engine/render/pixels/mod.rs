//! Renders emails as screenshots and PDF.
//!
//! [`Pixels`] takes HTML and its image files, and returns files and warnings. The [`Renderer`] that it uses is either the built-in engine,
//! which draws each email in its own worker process, or an installed Chromium. This module fetches no files: the caller gets
//! [`Pixels::image_addresses`], fetches the allowed URLs, and passes in the files.

pub mod chromium;
pub mod client_views;
mod draw;
mod fonts;
mod glyphs;
mod notices;
mod prepare;
mod process;
mod protocol;
mod sandbox;
mod worker;

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use self::chromium::Chromium;
use self::client_views::ClientView;
pub(super) use self::fonts::families as font_families;
pub use self::notices::notices;
pub use self::process::Workers;
pub use self::sandbox::{Confinement, Layer, filter_calls, isolate};
pub use self::worker::{WorkerOptions, run as run_worker};
use super::html_limits::HtmlRefusal;
use super::image_name::image_name;
use super::images::{Crop, ImageFile, ImageMeasurements};
use super::imported_html::{Change, ImportedHtml};
use super::inspect::Inspection;
use crate::base::text::Color;
use crate::engine::clients::report::Shares;
use crate::vocab::limits::{
    DRAWN_HEIGHT_PX_MAX, DRAWN_IMAGES_BYTES_MAX, DRAWN_WIDTH_PX_MAX, DRAWN_WIDTH_PX_MIN, DRAWN_WIDTHS_MAX,
};

/// The maximum width, in CSS pixels, of an email that is scaled down to the window, as on phones. If an email is wider, the rest is cut
/// off.
const SCALED_WIDTH_PX_MAX: f32 = 1_000.0;

#[derive(Clone, Debug, Default)]
pub struct HtmlPage {
    pub html: String,
    /// The image files by their URL in the HTML, in any format.
    pub images: BTreeMap<String, Arc<Vec<u8>>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScreenshotOptions {
    /// The widths of the window in CSS pixels; each results in one screenshot.
    pub widths: Vec<u32>,
    /// The number of image pixels per CSS pixel.
    pub density: f32,
    /// Whether the reader prefers dark colors.
    pub dark: bool,
    /// The maximum height of screenshots in CSS pixels. Taller screenshots are cut off.
    pub height_max: u32,
    /// Whether an email that is wider than the window is scaled down, as on phones.
    pub scales_wide: bool,
    /// The maximum number of image pixels in a screenshot. If a screenshot would have more, it is drawn with a lower density.
    pub pixels_max: Option<u32>,
    /// The thumbnails to create for each screenshot.
    pub thumbnails: Thumbnails,
    /// Whether to report images that are invisible on a dark background.
    pub reports_dark_images: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thumbnails {
    /// The width, in pixels, of a thumbnail of the screenshot's top, or `None` to create no such thumbnail.
    pub top_width: Option<u32>,
    /// The width, in pixels, of a thumbnail of the whole screenshot, or `None` to create no such thumbnail.
    pub full_width: Option<u32>,
}

impl ScreenshotOptions {
    /// Returns the options for plain screenshots of these widths.
    pub fn of(widths: &[u32]) -> Self {
        Self {
            widths: widths.to_vec(),
            density: 1.0,
            dark: false,
            height_max: DRAWN_HEIGHT_PX_MAX,
            scales_wide: false,
            pixels_max: None,
            thumbnails: Thumbnails::default(),
            reports_dark_images: false,
        }
    }
}

impl ScreenshotOptions {
    /// Returns whether the width or density of the layout depends on the size of the content.
    fn adapts(&self) -> bool {
        self.scales_wide || self.pixels_max.is_some()
    }

    /// Returns the width of the layout in CSS pixels; `content` is the width of the email's content when it is laid out in this
    /// window.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "widths have few digits"
    )]
    fn layout_width(&self, window: u32, content: f32) -> u32 {
        let is_wide = self.scales_wide && content > window as f32 + 1.0;
        if is_wide { (content.min(SCALED_WIDTH_PX_MAX).ceil() as u32).max(window) } else { window }
    }

    /// Returns the number of image pixels per CSS pixel for a layout with this width and height, in CSS pixels.
    #[expect(clippy::cast_precision_loss, reason = "sizes have few digits")]
    fn layout_density(&self, window: u32, layout: u32, height: f32) -> f32 {
        let density = self.density * window as f32 / layout as f32;
        let pixels = layout as f32 * height.clamp(1.0, self.height_max as f32) * density * density;
        let most = self.pixels_max.map_or(pixels, |most| most as f32);
        if pixels > most { density * (most / pixels).sqrt() } else { density }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Screenshot {
    /// The requested width of the window, in CSS pixels.
    pub width: u32,
    pub width_px: u32,
    pub height_px: u32,
    pub png: Vec<u8>,
    pub thumbnail: Option<Vec<u8>>,
    /// A small copy of the whole screenshot.
    pub full_thumbnail: Option<Vec<u8>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Paper {
    A4,
    Letter,
    /// A single page, as long as the email and `width` CSS pixels wide.
    Roll {
        width: u32,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct Rendering<T> {
    pub made: T,
    pub warnings: Vec<Warning>,
}

/// A problem found while rendering an email, such as a part that the screenshot or PDF does not show correctly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Warning {
    /// Characters without a glyph in any font.
    GlyphsMissing { script: String, examples: String },
    /// Images without a file, whose alternative text is shown instead.
    ImagesAbsent { count: usize, first: String },
    /// Images that are damaged, too large, or in a format that email clients do not support.
    ImagesUnsound { count: usize, first: String },
    /// Elements that some clients show, but that are not drawn.
    NotDrawn { elements: Vec<String> },
    /// The email is too long for the screenshot with this width, so the screenshot is cut off.
    Cut { width: u32 },
    /// Transparent images with dark content, which are invisible on a dark background.
    ImagesDark { count: usize, first: String },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GlyphsMissing { script, examples } => write!(
                f,
                "No installed font has the {script} characters {examples}: the rendering shows boxes, but recipients see the characters. Set \
                 rendering.fonts to a folder that contains fonts for this script, such as the Noto fonts."
            ),
            Self::ImagesAbsent { count, first } => {
                write!(f, "{} could not be loaded and {} missing from the rendering.", images(*count, first), are(*count))
            }
            Self::ImagesUnsound { count, first } => {
                write!(f, "{} cannot be shown. Use valid PNG, JPEG, GIF or WebP files of reasonable size.", images(*count, first))
            }
            Self::ImagesDark { count: 1, first } => write!(
                f,
                "The {} is dark on a transparent background, so it is hard to see in dark mode. Give it a light outline or a \
                 solid background.",
                image_name(first)
            ),
            Self::ImagesDark { count, first } => write!(
                f,
                "{} are dark on transparent backgrounds, so they are hard to see in dark mode. Give them light outlines or solid backgrounds.",
                images(*count, first)
            ),
            Self::NotDrawn { elements } => {
                write!(f, "The rendering does not draw {} elements, but recipients may see them.", elements.join(" and "))
            }
            Self::Cut { width } => {
                write!(f, "At a width of {width} pixels, the email is too long for a screenshot, so the screenshot is cut off.")
            }
        }
    }
}

/// Returns the subject of a sentence about images: the name of the first image and, if there are more, how many.
fn images(count: usize, first: &str) -> String {
    let name = image_name(first);
    if count > 1 { format!("The {name} and {} more", count - 1) } else { format!("The {name}") }
}

fn are(count: usize) -> &'static str {
    if count > 1 { "are" } else { "is" }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RenderError {
    /// The HTML exceeds a limit. The caller can shorten or simplify it.
    Refused(HtmlRefusal),
    /// The request itself is invalid, which is the caller's mistake.
    Misused(String),
    /// The image file cannot be used. Contains the reason.
    Image(String),
    /// Too many requests are waiting, or this request has waited too long. A retry may succeed.
    Busy,
    /// Rendering took too much time or memory, or crashed the rendering engine, because the HTML is unusual.
    TooCostly,
    /// The rendering engine returned an error. Contains its message.
    Failed(String),
    /// The worker process or Chromium could not start, or returned invalid data.
    Unavailable(String),
}

impl fmt::Display for RenderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Misused(what) => f.write_str(what),
            Self::Image(reason) => write!(f, "The image cannot be used: {reason}."),
            Self::Busy => f.write_str("Too many emails and images are being rendered. Try again in a few seconds."),
            Self::TooCostly => f.write_str(
                "The email takes too much time or memory to render; simplify its HTML and styles, or use smaller images.",
            ),
            Self::Failed(why) => write!(f, "The email cannot be rendered: {why}"),
            Self::Unavailable(why) => write!(f, "Emails and images cannot be rendered right now ({why}); try again later."),
        }
    }
}

impl std::error::Error for RenderError {}

/// A future with the result of a rendering. Dropping the future stops the process that draws.
pub type RenderFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, RenderError>> + Send + 'a>>;

pub trait Renderer: Send + Sync {
    fn screenshots<'a>(
        &'a self,
        page: &'a HtmlPage,
        options: &'a ScreenshotOptions,
    ) -> RenderFuture<'a, Rendering<Vec<Screenshot>>>;
    /// Draws an email as PDF, with selectable text.
    fn pdf<'a>(&'a self, page: &'a HtmlPage, paper: Paper, title: &'a str) -> RenderFuture<'a, Rendering<Vec<u8>>>;
}

/// The service that draws emails, and parses untrusted HTML and images.
pub struct Pixels {
    renderer: Arc<dyn Renderer>,
    workers: Arc<Workers>,
    /// The confinement of Chromium, if Chromium is used.
    chromium_sandbox: Option<Layer>,
}

impl Pixels {
    /// Creates the service with the built-in engine.
    pub fn embedded(workers: Workers) -> Self {
        let workers = Arc::new(workers);
        Self { renderer: workers.clone(), workers, chromium_sandbox: None }
    }

    /// Creates the service with Chromium for rendering, and with worker processes for all tasks that must not reach Chromium.
    pub fn with_chromium(options: chromium::Options, workers: Workers) -> Self {
        let workers = Arc::new(workers);
        let renderer = Arc::new(Chromium::new(options, workers.clone()));
        Self { renderer, workers, chromium_sandbox: Some(chromium::sandbox()) }
    }

    /// Draws screenshots of an email, one for each width, in that order.
    pub async fn screenshots(
        &self,
        page: &HtmlPage,
        options: &ScreenshotOptions,
    ) -> Result<Rendering<Vec<Screenshot>>, RenderError> {
        check_page(page)?;
        check_options(options)?;
        self.renderer.screenshots(page, options).await
    }

    /// Draws an email as PDF, with selectable text.
    pub async fn pdf(&self, page: &HtmlPage, paper: Paper, title: &str) -> Result<Rendering<Vec<u8>>, RenderError> {
        check_page(page)?;
        if let Paper::Roll { width } = paper {
            check_width(width)?;
        }
        self.renderer.pdf(page, paper, title).await
    }

    /// Returns the URLs of the images in an email, each once and as written in the HTML. These URLs are the keys of the files to pass in.
    pub async fn image_addresses(&self, html: &str) -> Result<Vec<String>, RenderError> {
        self.workers.image_addresses(html).await
    }

    /// Sanitizes imported HTML, so that it runs no scripts and loads nothing except images. Also returns descriptions of the removed
    /// content.
    pub async fn clean_html(&self, html: &str) -> Result<ImportedHtml, RenderError> {
        self.workers.clean_html(html).await
    }

    /// Finds the URLs and the accessibility problems in an email's HTML, with their positions in the source.
    pub async fn inspect(&self, html: &str) -> Result<Inspection, RenderError> {
        self.workers.inspect(html).await
    }

    /// Checks an email's compatibility with the clients that have these keys, or with all clients if `clients` is empty. Returns the JSON
    /// of the [`crate::engine::clients::report::Report`].
    pub async fn compatibility(&self, html: &str, clients: Vec<String>) -> Result<Vec<u8>, RenderError> {
        self.workers.compatibility(html, clients).await
    }

    pub fn tables_digest(&self) -> [u8; 32] {
        self.workers.tables_digest()
    }

    /// Transforms an email's HTML into what the clients on these devices show.
    pub async fn client_views(&self, html: &str, devices: Vec<String>) -> Result<Vec<ClientView>, RenderError> {
        self.workers.client_views(html, devices).await
    }

    /// Applies edits to sanitized HTML, and sanitizes the result.
    pub async fn revise_html(&self, html: &str, changes: Vec<Change>) -> Result<ImportedHtml, RenderError> {
        self.workers.revise_html(html, changes).await
    }

    /// Sanitizes a mail file (.eml): its HTML with the attached images, or else its plain text.
    pub async fn clean_mail(&self, file: &[u8]) -> Result<ImportedHtml, RenderError> {
        self.workers.clean_mail(file).await
    }

    /// Converts an uploaded image, or a part of it, for emails, and measures the result.
    pub async fn prepare_upload(&self, file: &[u8], crop: Option<Crop>) -> Result<(ImageFile, ImageMeasurements), RenderError> {
        self.workers.prepare_upload(file, crop).await
    }

    /// Measures the size and colors of an image that was served with this content type.
    pub async fn measure_image(&self, file: &[u8], content_type: &str) -> Result<ImageMeasurements, RenderError> {
        self.workers.measure_image(file, content_type).await
    }

    /// Draws an SVG logo as PNG, transparent or on a background, and measures the result.
    pub async fn draw_logo(&self, file: &[u8], background: Option<Color>) -> Result<(ImageFile, ImageMeasurements), RenderError> {
        self.workers.draw_logo(file, background).await
    }

    /// Creates a small copy of an image, for lists.
    pub async fn preview_image(&self, file: &[u8]) -> Result<ImageFile, RenderError> {
        self.workers.preview_image(file).await
    }

    /// Runs the [`FeatureTask`] in a worker process, and returns its result.
    pub async fn run_feature(&self, input: &[u8]) -> Result<Vec<u8>, RenderError> {
        self.workers.run_feature(input).await
    }

    /// Returns the confinement of the worker processes, as reported by one of them, and of Chromium; `None` if the work runs in this
    /// process.
    pub async fn confinement(&self) -> Result<Option<Confinement>, RenderError> {
        let mut found = self.workers.confinement().await?;
        if let Some(found) = &mut found {
            found.layers.extend(self.chromium_sandbox.clone());
        }
        Ok(found)
    }
}

fn check_page(page: &HtmlPage) -> Result<(), RenderError> {
    let bytes: usize = page.images.values().map(|file| file.len()).sum();
    if bytes > DRAWN_IMAGES_BYTES_MAX {
        return Err(RenderError::Misused(format!(
            "The images total {bytes} bytes; reduce them to at most {DRAWN_IMAGES_BYTES_MAX} bytes."
        )));
    }
    Ok(())
}

fn check_options(options: &ScreenshotOptions) -> Result<(), RenderError> {
    if options.widths.is_empty() || options.widths.len() > DRAWN_WIDTHS_MAX {
        return Err(RenderError::Misused(format!("Request 1 to {DRAWN_WIDTHS_MAX} widths at a time.")));
    }
    if !(0.5..=3.0).contains(&options.density) {
        return Err(RenderError::Misused("The density must be between 0.5 and 3.".to_owned()));
    }
    options.widths.iter().copied().try_for_each(check_width)
}

fn check_width(width: u32) -> Result<(), RenderError> {
    if (DRAWN_WIDTH_PX_MIN..=DRAWN_WIDTH_PX_MAX).contains(&width) {
        return Ok(());
    }
    Err(RenderError::Misused(format!("A width must be between {DRAWN_WIDTH_PX_MIN} and {DRAWN_WIDTH_PX_MAX} pixels.")))
}

/// A task that a feature runs in worker processes: decodes the input, and returns the encoded result, or `None` if it cannot produce a
/// result, for example because the input is invalid.
pub type FeatureTask = fn(&[u8]) -> Option<Vec<u8>>;

#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The executable of this program, which each worker process runs. If `None`, the work runs in this process, where a hostile email can
    /// exhaust memory and time, so use `None` only in tests and tools.
    pub program: Option<PathBuf>,
    /// A folder with additional fonts.
    pub fonts: Option<PathBuf>,
    /// Whether workers run even if the kernel cannot confine them.
    pub unconfined: bool,
    /// The content of a newer `caniemail.json`, which replaces the built-in support tables.
    pub clients: Option<Arc<Vec<u8>>>,
    /// Each client's share of opens, by which compatibility reports weight the clients. If empty, the built-in assumed shares apply.
    pub shares: Shares,
    /// The feature task, if the work runs in this process. Worker processes have their own copy of the task.
    pub feature: Option<FeatureTask>,
}
