//! Emails as pictures and PDF.
//!
//! [`Pixels`] is the face: it is handed HTML and the files of its images, and gives back files and warnings. Who draws is behind
//! the [`Renderer`] port: the engine that is built in, in a worker process of its own for each email, or a Chromium. Nothing here
//! ever fetches anything: whoever asks looks up [`Pixels::image_addresses`], fetches what may be fetched, and hands it in.

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

/// An email to be drawn.
#[derive(Clone, Debug, Default)]
pub struct Page {
    pub html: String,
    /// Files by the address that the HTML names, whatever kind of address it is.
    pub images: BTreeMap<String, Vec<u8>>,
}

/// How pictures are taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScreenshotOptions {
    /// Widths of the window, in pixels of the style sheet; one picture each.
    pub widths: Vec<u32>,
    /// Pixels of the picture for one of the style sheet.
    pub density: f32,
    /// Whether the reader prefers dark colours.
    pub dark: bool,
    /// Width of a small copy of each picture's top.
    pub thumbnail_width: Option<u32>,
}

impl ScreenshotOptions {
    /// Plain pictures of these widths.
    pub fn of(widths: &[u32]) -> Self {
        Self { widths: widths.to_vec(), density: 1.0, dark: false, thumbnail_width: None }
    }
}

/// One picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Screenshot {
    /// The width that was asked for.
    pub width: u32,
    pub width_px: u32,
    pub height_px: u32,
    pub png: Vec<u8>,
    pub thumbnail: Option<Vec<u8>>,
}

/// What a PDF is laid out on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Paper {
    A4,
    Letter,
    /// One page, as long as the email and this many pixels wide.
    Roll {
        width: u32,
    },
}

/// What was made, and what whoever looks at it should know.
#[derive(Clone, Debug, PartialEq)]
pub struct Rendering<T> {
    pub made: T,
    pub warnings: Vec<Warning>,
}

/// Something about an email that its picture cannot show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Warning {
    /// Characters that no font has a glyph for.
    GlyphsMissing { script: String, examples: String },
    /// Images that nothing was given for; their texts stand in their places.
    ImagesAbsent { count: usize, first: String },
    /// Images that are broken, too large, or of a kind that mail clients do not show.
    ImagesUnsound { count: usize, first: String },
    /// The email is longer than the picture of this width.
    Cut { width: u32 },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let others = |count: usize| if count > 1 { format!(" and {} others", count - 1) } else { String::new() };
        match self {
            Self::GlyphsMissing { script, examples } => write!(
                f,
                "No font here has the {script} characters {examples}: the picture shows boxes, recipients see them. Set \
                 rendering.fonts to a folder with fonts for them, like Noto's."
            ),
            Self::ImagesAbsent { count, first } => {
                write!(f, "Shown with blocked images: {first}{} could not be loaded.", others(*count))
            }
            Self::ImagesUnsound { count, first } => write!(
                f,
                "The image {first}{} cannot be shown: use sound PNG, JPEG, GIF or WebP files of reasonable size.",
                others(*count)
            ),
            Self::Cut { width } => write!(f, "The email is longer than its picture at {width} pixels, which was cut."),
        }
    }
}

/// Why nothing was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RenderError {
    /// The HTML is out of bounds; the caller can mend it.
    Refused(HtmlRefusal),
    /// The order makes no sense; a mistake of whoever asked.
    Misused(String),
    /// The file of an image is at fault, for this reason.
    Image(String),
    /// Too many wait already, or this one has waited too long; later it will work.
    Busy,
    /// It took too much time or memory, or made the drawing engine fall: the HTML is odd.
    TooCostly,
    /// The engine says no, in its own words.
    Failed(String),
    /// The worker process or the Chromium does not start or makes no sense.
    Unavailable(String),
}

impl fmt::Display for RenderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Misused(what) => f.write_str(what),
            Self::Image(reason) => write!(f, "The image cannot be used: {reason}."),
            Self::Busy => f.write_str("Too many emails are being drawn; try again in a few seconds."),
            Self::TooCostly => f.write_str("The email takes too much time or memory to draw; simplify its HTML and styles."),
            Self::Failed(why) => write!(f, "The email cannot be drawn: {why}"),
            Self::Unavailable(why) => write!(f, "Emails cannot be drawn at present: {why}"),
        }
    }
}

impl std::error::Error for RenderError {}

/// A drawing that is under way. Dropping it ends whatever process works on it.
pub type RenderFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, RenderError>> + Send + 'a>>;

/// Whatever draws emails.
pub trait Renderer: Send + Sync {
    /// Pictures of an email.
    fn screenshots<'a>(&'a self, page: &'a Page, options: &'a ScreenshotOptions) -> RenderFuture<'a, Rendering<Vec<Screenshot>>>;
    /// An email as PDF, its text as text.
    fn pdf<'a>(&'a self, page: &'a Page, paper: Paper, title: &'a str) -> RenderFuture<'a, Rendering<Vec<u8>>>;
}

/// Drawing, and reading HTML that may be hostile, for everybody who needs it.
pub struct Pixels {
    renderer: Arc<dyn Renderer>,
    workers: Arc<Workers>,
}

impl Pixels {
    /// With the engine that is built in.
    pub fn embedded(workers: Workers) -> Self {
        let workers = Arc::new(workers);
        Self { renderer: workers.clone(), workers }
    }

    /// With a Chromium for the drawing, and the workers for all that must not reach it.
    pub fn with_chromium(options: chromium::Options, workers: Workers) -> Self {
        let workers = Arc::new(workers);
        Self { renderer: Arc::new(Chromium::new(options, workers.clone())), workers }
    }

    /// Pictures of an email, one for each width, in that order.
    pub async fn screenshots(&self, page: &Page, options: &ScreenshotOptions) -> Result<Rendering<Vec<Screenshot>>, RenderError> {
        check_page(page)?;
        check_options(options)?;
        self.renderer.screenshots(page, options).await
    }

    /// An email as PDF, its text as text.
    pub async fn pdf(&self, page: &Page, paper: Paper, title: &str) -> Result<Rendering<Vec<u8>>, RenderError> {
        check_page(page)?;
        if let Paper::Roll { width } = paper {
            check_width(width)?;
        }
        self.renderer.pdf(page, paper, title).await
    }

    /// The addresses of the images that an email shows, each once, as the HTML names them: what to hand in with it.
    pub async fn image_addresses(&self, html: &str) -> Result<Vec<String>, RenderError> {
        self.workers.image_addresses(html).await
    }

    /// Foreign HTML, made safe: nothing in it acts, deceives or calls home. Says what was taken away.
    pub async fn clean_html(&self, html: &str) -> Result<ImportedHtml, RenderError> {
        self.workers.clean_html(html).await
    }

    /// HTML that was made safe, with changes made, and made safe again.
    pub async fn revise_html(&self, html: &str, changes: Vec<Change>) -> Result<ImportedHtml, RenderError> {
        self.workers.revise_html(html, changes).await
    }

    /// A mail file (.eml), made safe like HTML: its HTML with the images beside it, or its text.
    pub async fn clean_mail(&self, file: &[u8]) -> Result<ImportedHtml, RenderError> {
        self.workers.clean_mail(file).await
    }

    /// An uploaded image made fit for emails, and what was measured of it.
    pub async fn prepare_upload(&self, file: &[u8]) -> Result<(ImageFile, ImageMeasurements), RenderError> {
        self.workers.prepare_upload(file).await
    }

    /// The size and colours of an image that was served with this content type.
    pub async fn measure_image(&self, file: &[u8], content_type: &str) -> Result<ImageMeasurements, RenderError> {
        self.workers.measure_image(file, content_type).await
    }

    /// A small copy of an image, for lists.
    pub async fn preview_image(&self, file: &[u8]) -> Result<ImageFile, RenderError> {
        self.workers.preview_image(file).await
    }

    /// What confines the worker processes, as one of them finds it; none if the work is done in this process.
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
        return Err(RenderError::Misused(format!("Ask for 1 to {DRAWN_WIDTHS_MAX} widths at a time.")));
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

/// What worker processes need to know.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// This program: workers are further processes of it. Without it the work is done in this process, which a hostile email
    /// can then exhaust: for tests and tools only.
    pub program: Option<PathBuf>,
    /// A folder with further fonts.
    pub fonts: Option<PathBuf>,
    /// Workers run also where the kernel cannot confine them.
    pub unconfined: bool,
}
