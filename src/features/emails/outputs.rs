//! Renders the outputs of a document: HTML, MJML and text in the brand's theme, screenshots, and PDF.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::stream::{self, StreamExt};
use url::Url;

use super::document::{Email as Document, Violation};
use super::finding::Finding;
use super::model::{Conversation, Facts, Texts, VersionScreenshots};
use super::render;
use super::theme::Theme;
use crate::base::text::fold;
use crate::engine::api::{Engine, Failure};
use crate::engine::render::pixels::{self, HtmlPage, Paper, RenderError, Screenshot, Thumbnails};
use crate::engine::store::blobs::{self, Head};
use crate::engine::store::{Read, WriteTx};
use crate::features::projects;
use crate::vocab::codes::Code;
use crate::vocab::ids::AccountId;
use crate::vocab::limits;
use crate::vocab::placeholders;

/// The width, in CSS pixels, at which screenshots and PDFs are drawn: the width of an email on a desktop computer.
const WIDTH: u32 = 600;
/// The number of image pixels per CSS pixel, for high-density screens.
const DENSITY: f32 = 2.0;
/// The width of a thumbnail in a list of emails, in image pixels.
const THUMBNAIL_WIDTH: u32 = 320;

/// A document rendered as HTML, MJML and plain text.
#[derive(Clone, Debug, PartialEq)]
pub struct RenderedTexts {
    pub texts: Texts,
    pub facts: Facts,
    pub warnings: Vec<Finding>,
}

/// Renders a document in the theme of its brand. All emails in a conversation share its seed, which influences the layout if the document
/// names none.
pub fn render_texts(
    tx: &impl Read,
    account: AccountId,
    conversation: &Conversation,
    document: &Document,
) -> Result<RenderedTexts, Failure> {
    let brand = projects::brand(tx, account, conversation.project)?.map(|(_, brand)| brand).unwrap_or_default();
    let theme = Theme::new(&brand, document, conversation.seed);
    let rendered = render::render(document, &theme);
    let stats = render::stats(document, &theme);
    let facts =
        Facts { images: stats.image_count, buttons: stats.button_count, length: stats.estimated_length, colors: stats.colors };
    let avoided = avoided_words(&rendered.text, &brand.voice.avoid);
    let avoided = avoided.map(|word| Finding::note(format!("The text contains “{word}”, which the brand avoids. Replace it.")));
    let warnings = rendered.warnings.iter().map(|violation| note(document, violation)).chain(avoided).collect();
    let texts = Texts { html: rendered.html, mjml: Some(rendered.mjml), text: rendered.text };
    Ok(RenderedTexts { texts, facts, warnings })
}

/// Converts a violation in the document to a warning about the block that contains it.
fn note(document: &Document, violation: &Violation) -> Finding {
    let index = violation.path.strip_prefix("blocks[").and_then(|rest| rest.split(']').next()?.parse::<usize>().ok());
    let block = index.and_then(|index| document.blocks.get(index));
    Finding::note(violation.to_string()).in_block(block.map(|block| block.id().as_str()))
}

/// Returns the words and phrases in `avoid` that the text contains, ignoring case and punctuation.
fn avoided_words<'a>(text: &str, avoid: &'a [String]) -> impl Iterator<Item = &'a String> {
    let plain = |text: &str| {
        let words: Vec<String> =
            fold(text).split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect();
        format!(" {} ", words.join(" "))
    };
    let text = plain(text);
    avoid.iter().filter(move |word| text.contains(&plain(word)))
}

/// The screenshots of an email before they are stored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Screenshots {
    screenshot: Option<Vec<u8>>,
    thumbnail: Option<Vec<u8>>,
}

impl Screenshots {
    /// Stores the screenshots in the transaction that stores their version.
    pub fn keep(self, tx: &mut WriteTx<'_>) -> VersionScreenshots {
        let mut keep = |name: &str, png: Vec<u8>| {
            let head = Head { complete: true, bytes: 0, content_type: "image/png".into(), name: name.into(), expires_at: None };
            blobs::put(tx, head, &png)
        };
        let screenshot = self.screenshot.map(|png| keep("screenshot.png", png));
        VersionScreenshots { screenshot, thumbnail: self.thumbnail.map(|png| keep("thumbnail.png", png)) }
    }
}

/// Renders the screenshots of an email. Also returns warnings about content that the screenshots do not show. Returns an error only if the
/// renderer is busy. On any other failure, the email has no screenshots, and a warning contains the error.
pub async fn render_screenshots(engine: &Engine, html: &str) -> Result<(Screenshots, Vec<Finding>), Failure> {
    match shot(engine, html).await {
        Ok((shot, warnings)) => Ok((Screenshots { screenshot: Some(shot.png), thumbnail: shot.thumbnail }, warnings)),
        Err(RenderError::Busy) => Err(Failure::new(Code::Unavailable).after_seconds(1)),
        Err(fault) => Ok((Screenshots::default(), vec![Finding::note(fault.to_string())])),
    }
}

async fn shot(engine: &Engine, html: &str) -> Result<(Screenshot, Vec<Finding>), RenderError> {
    let page = page(engine, html).await?;
    let thumbnails = Thumbnails { top_width: Some(THUMBNAIL_WIDTH), full_width: None };
    let options = pixels::ScreenshotOptions { density: DENSITY, thumbnails, ..pixels::ScreenshotOptions::of(&[WIDTH]) };
    let drawn = engine.pixels.screenshots(&page, &options).await?;
    let warnings = drawn.warnings.iter().map(|warning| Finding::note(warning.to_string())).collect();
    let shot = drawn.made.into_iter().next().ok_or_else(|| RenderError::Unavailable("the renderer returned no image".into()))?;
    Ok((shot, warnings))
}

pub async fn png(engine: &Engine, html: &str) -> Result<Vec<u8>, Failure> {
    Ok(shot(engine, html).await.map_err(failure)?.0.png)
}

pub async fn pdf(engine: &Engine, html: &str, title: &str) -> Result<Vec<u8>, Failure> {
    let page = page(engine, html).await.map_err(failure)?;
    Ok(engine.pixels.pdf(&page, Paper::Roll { width: WIDTH }, title).await.map_err(failure)?.made)
}

fn failure(fault: RenderError) -> Failure {
    match fault {
        RenderError::Busy => Failure::because(Code::Unavailable, fault.to_string()).after_seconds(2),
        RenderError::Misused(_) | RenderError::Unavailable(_) => Failure::internal(fault),
        RenderError::Refused(_) | RenderError::Image(_) | RenderError::TooCostly | RenderError::Failed(_) => {
            Failure::because(Code::NotExportable, fault.to_string())
        }
    }
}

/// Returns a page that shows an email with the images that could be loaded. Like an email client, it shows the alt text of an image that
/// could not be loaded.
async fn page(engine: &Engine, html: &str) -> Result<HtmlPage, RenderError> {
    let html = placeholders::preview(html);
    let addresses = engine.pixels.image_addresses(&html).await?;
    let images = fetch_images(engine, addresses).await;
    Ok(HtmlPage { html, images })
}

/// Returns the image files by URL. Files that cannot be loaded or exceed the rendering limits are left out. The tracking pixel is not
/// loaded, because rendering an email does not count as opening it.
pub async fn fetch_images(engine: &Engine, addresses: Vec<String>) -> BTreeMap<String, Arc<Vec<u8>>> {
    let tracking = format!("{}/t/", engine.base_url());
    let web = addresses.into_iter().filter_map(|address| Some((Url::parse(&address).ok()?, address)));
    let web = web.filter(|(url, _)| matches!(url.scheme(), "http" | "https") && !url.as_str().starts_with(&tracking));
    let web = web.take(limits::DRAWN_IMAGES_FETCHED_MAX);
    let fetched = stream::iter(web.map(|(url, address)| async move { (address, projects::picture_file(engine, &url).await) }));
    let fetched: Vec<_> = fetched.buffer_unordered(limits::DRAWN_IMAGES_AT_ONCE).collect().await;
    let mut images = BTreeMap::new();
    let mut room = limits::DRAWN_IMAGES_BYTES_MAX;
    for (address, bytes) in fetched {
        if let Some(bytes) = bytes.filter(|bytes| bytes.len() <= room) {
            room -= bytes.len();
            images.insert(address, bytes);
        }
    }
    images
}
