//! Emails as screenshots and PDF.
//!
//! [`Pixels`] is the interface: it takes HTML and its image files, and returns files and warnings. The [`Renderer`] behind it is either the
//! built-in engine, in a worker process for each email, or a Chromium. Nothing here fetches anything: the caller gets
//! [`Pixels::image_addresses`], fetches the allowed ones, and passes them in.

pub mod chromium;
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
pub use self::notices::notices;
pub use self::process::Workers;
pub use self::sandbox::{Confinement, Layer, filter_calls, isolate};
pub use self::worker::{WorkerOptions, run as run_worker};
use super::html_limits::HtmlRefusal;
use super::images::{ImageFile, ImageMeasurements};
use super::imported_html::{Change, ImportedHtml};
use crate::vocab::limits::{DRAWN_IMAGES_BYTES_MAX, DRAWN_WIDTH_PX_MAX, DRAWN_WIDTH_PX_MIN, DRAWN_WIDTHS_MAX};

/// An email to draw.
#[derive(Clone, Debug, Default)]
pub struct Page {
    pub html: String,
    /// Files by the URL in the HTML, of any kind.
    pub images: BTreeMap<String, Vec<u8>>,
}

/// The options of screenshots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScreenshotOptions {
    /// The widths of the window in CSS pixels; one screenshot each.
    pub widths: Vec<u32>,
    /// Image pixels per CSS pixel.
    pub density: f32,
    /// Whether the reader prefers dark colors.
    pub dark: bool,
    /// The width of a thumbnail of each screenshot's top.
    pub thumbnail_width: Option<u32>,
}

impl ScreenshotOptions {
    /// Plain screenshots of these widths.
    pub fn of(widths: &[u32]) -> Self {
        Self { widths: widths.to_vec(), density: 1.0, dark: false, thumbnail_width: None }
    }
}

/// One screenshot.
#[derive(Clone, Debug, PartialEq)]
pub struct Screenshot {
    /// The requested width.
    pub width: u32,
    pub width_px: u32,
    pub height_px: u32,
    pub png: Vec<u8>,
    pub thumbnail: Option<Vec<u8>>,
}

/// The paper size of a PDF.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Paper {
    A4,
    Letter,
    /// One page, as long as the email and this many pixels wide.
    Roll {
        width: u32,
    },
}

/// The result, with warnings for the user.
#[derive(Clone, Debug, PartialEq)]
pub struct Rendering<T> {
    pub made: T,
    pub warnings: Vec<Warning>,
}

/// A part of an email that its screenshot cannot show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Warning {
    /// Characters without a glyph in any font.
    GlyphsMissing { script: String, examples: String },
    /// Images without a file; their alternative texts are shown instead.
    ImagesAbsent { count: usize, first: String },
    /// Images that are damaged, too large, or of a kind that mail clients do not show.
    ImagesUnsound { count: usize, first: String },
    /// The email is longer than the screenshot of this width.
    Cut { width: u32 },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let others = |count: usize| if count > 1 { format!(" and {} others", count - 1) } else { String::new() };
        match self {
            Self::GlyphsMissing { script, examples } => write!(
                f,
                "No installed font has the {script} characters {examples}: the picture shows boxes, but recipients see them. Set \
                 rendering.fonts to a folder with fonts for them, like Noto's."
            ),
            Self::ImagesAbsent { count, first } => {
                write!(f, "Shown with blocked images: {first}{} could not be loaded.", others(*count))
            }
            Self::ImagesUnsound { count, first } => write!(
                f,
                "The image {first}{} cannot be shown: use valid PNG, JPEG, GIF or WebP files of reasonable size.",
                others(*count)
            ),
            Self::Cut { width } => write!(f, "The email is longer than its picture at {width} pixels, which was cut."),
        }
    }
}

/// Why drawing failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RenderError {
    /// The HTML exceeds a limit; the caller can fix it.
    Refused(HtmlRefusal),
    /// The request is invalid, which is the caller's mistake.
    Misused(String),
    /// The image file is the problem, for this reason.
    Image(String),
    /// Too many requests wait already, or this one has waited too long; a retry may succeed.
    Busy,
    /// It needed too much time or memory, or crashed the drawing engine: the HTML is unusual.
    TooCostly,
    /// The engine returned an error, with its message.
    Failed(String),
    /// The worker process or the Chromium does not start or returns invalid data.
    Unavailable(String),
}

impl fmt::Display for RenderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Misused(what) => f.write_str(what),
            Self::Image(reason) => write!(f, "The image cannot be used: {reason}."),
            Self::Busy => f.write_str("Too many emails are being drawn; try again in a few seconds."),
            Self::TooCostly => f.write_str("The email needs too much time or memory to draw; simplify its HTML and styles."),
            Self::Failed(why) => write!(f, "The email cannot be drawn: {why}"),
            Self::Unavailable(why) => write!(f, "Emails cannot be drawn now: {why}"),
        }
    }
}

impl std::error::Error for RenderError {}

/// A running drawing. Dropping it ends its process.
pub type RenderFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, RenderError>> + Send + 'a>>;

/// A drawing engine for emails.
pub trait Renderer: Send + Sync {
    /// Draws screenshots of an email.
    fn screenshots<'a>(&'a self, page: &'a Page, options: &'a ScreenshotOptions) -> RenderFuture<'a, Rendering<Vec<Screenshot>>>;
    /// Draws an email as PDF, with selectable text.
    fn pdf<'a>(&'a self, page: &'a Page, paper: Paper, title: &'a str) -> RenderFuture<'a, Rendering<Vec<u8>>>;
}

/// The service for drawing, and for parsing hostile HTML.
pub struct Pixels {
    renderer: Arc<dyn Renderer>,
    workers: Arc<Workers>,
}

impl Pixels {
    /// With the built-in engine.
    pub fn embedded(workers: Workers) -> Self {
        let workers = Arc::new(workers);
        Self { renderer: workers.clone(), workers }
    }

    /// With a Chromium for drawing, and workers for everything that must not reach it.
    pub fn with_chromium(options: chromium::Options, workers: Workers) -> Self {
        let workers = Arc::new(workers);
        Self { renderer: Arc::new(Chromium::new(options, workers.clone())), workers }
    }

    /// Screenshots of an email, one for each width, in that order.
    pub async fn screenshots(&self, page: &Page, options: &ScreenshotOptions) -> Result<Rendering<Vec<Screenshot>>, RenderError> {
        check_page(page)?;
        check_options(options)?;
        self.renderer.screenshots(page, options).await
    }

    /// An email as PDF, with selectable text.
    pub async fn pdf(&self, page: &Page, paper: Paper, title: &str) -> Result<Rendering<Vec<u8>>, RenderError> {
        check_page(page)?;
        if let Paper::Roll { width } = paper {
            check_width(width)?;
        }
        self.renderer.pdf(page, paper, title).await
    }

    /// The URLs of the images in an email, each once, as in the HTML: the keys of the files to pass in.
    pub async fn image_addresses(&self, html: &str) -> Result<Vec<String>, RenderError> {
        self.workers.image_addresses(html).await
    }

    /// Sanitizes imported HTML: nothing in it executes, deceives or tracks. Also returns what was removed.
    pub async fn clean_html(&self, html: &str) -> Result<ImportedHtml, RenderError> {
        self.workers.clean_html(html).await
    }

    /// Applies edits to sanitized HTML, and sanitizes the result.
    pub async fn revise_html(&self, html: &str, changes: Vec<Change>) -> Result<ImportedHtml, RenderError> {
        self.workers.revise_html(html, changes).await
    }

    /// Sanitizes a mail file (.eml): its HTML with the attached images, or its text.
    pub async fn clean_mail(&self, file: &[u8]) -> Result<ImportedHtml, RenderError> {
        self.workers.clean_mail(file).await
    }

    /// Converts an uploaded image for emails, and measures it.
    pub async fn prepare_upload(&self, file: &[u8]) -> Result<(ImageFile, ImageMeasurements), RenderError> {
        self.workers.prepare_upload(file).await
    }

    /// The size and colors of an image that was served with this content type.
    pub async fn measure_image(&self, file: &[u8], content_type: &str) -> Result<ImageMeasurements, RenderError> {
        self.workers.measure_image(file, content_type).await
    }

    /// A small copy of an image, for lists.
    pub async fn preview_image(&self, file: &[u8]) -> Result<ImageFile, RenderError> {
        self.workers.preview_image(file).await
    }

    /// The confinement of the worker processes, as reported by one of them; `None` if the work runs in this process.
    pub async fn confinement(&self) -> Result<Option<Confinement>, RenderError> {
        self.workers.confinement().await
    }
}

fn check_page(page: &Page) -> Result<(), RenderError> {
    let bytes: usize = page.images.values().map(Vec::len).sum();
    if bytes > DRAWN_IMAGES_BYTES_MAX {
        return Err(RenderError::Misused(format!(
            "The images have {bytes} bytes together; at most {DRAWN_IMAGES_BYTES_MAX} are drawn."
        )));
    }
    Ok(())
}

fn check_options(options: &ScreenshotOptions) -> Result<(), RenderError> {
    if options.widths.is_empty() || options.widths.len() > DRAWN_WIDTHS_MAX {
        return Err(RenderError::Misused(format!("Request 1 to {DRAWN_WIDTHS_MAX} widths at a time.")));
    }
    if !(0.5..=3.0).contains(&options.density) {
        return Err(RenderError::Misused("The density must be from 0.5 to 3.".to_owned()));
    }
    options.widths.iter().copied().try_for_each(check_width)
}

fn check_width(width: u32) -> Result<(), RenderError> {
    if (DRAWN_WIDTH_PX_MIN..=DRAWN_WIDTH_PX_MAX).contains(&width) {
        return Ok(());
    }
    Err(RenderError::Misused(format!("A width must be from {DRAWN_WIDTH_PX_MIN} to {DRAWN_WIDTH_PX_MAX} pixels.")))
}

/// The options of worker processes.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// This program: workers are further processes of it. Without it the work runs in this process, which a hostile email can then exhaust:
    /// for tests and tools only.
    pub program: Option<PathBuf>,
    /// A folder with additional fonts.
    pub fonts: Option<PathBuf>,
    /// Workers run even if the kernel cannot confine them.
    pub unconfined: bool,
}
