//! Draws with an installed Chromium, for operators who want screenshots exactly as Chromium draws them.
//!
//! One browser is started when the first email is drawn, and draws one email at a time. Scripts are off, and no files are fetched. A
//! browser that is slow, returns invalid data or has drawn many emails is stopped and replaced.

mod browser;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use data_url::forgiving_base64;
use serde_json::{Value, json};
use tokio::sync::Mutex;
use tokio::time::timeout;

use self::browser::{BASE, Browser};
use super::super::images;
use super::{
    HtmlPage, Layer, Paper, RenderError, RenderFuture, Renderer, Rendering, Screenshot, ScreenshotOptions, Warning, Workers,
};
use crate::vocab::limits::{DRAWING_TIME, DRAWINGS_WAITING_MAX, DRAWN_HEIGHT_PX_MAX, DRAWN_IMAGE_PIXELS_MAX};

/// The number of CSS pixels per inch of paper.
const PX_PER_INCH: f64 = 96.0;
/// A script that finishes when every image of the page has been decoded or has failed.
const IMAGES_READY: &str = "Promise.all(Array.from(document.images, image => image.decode().catch(() => 0))).then(() => 0)";

#[derive(Clone, Debug)]
pub struct Options {
    pub program: PathBuf,
    /// A folder for Chromium's profile and fonts, which no other program uses.
    pub folder: PathBuf,
    /// A folder with additional fonts.
    pub fonts: Option<PathBuf>,
    /// Whether Chromium runs even if its sandbox does not work.
    pub unconfined: bool,
}

/// The rendering engine that uses Chromium, with at most one browser.
pub struct Chromium {
    options: Options,
    /// The worker processes that create the thumbnails, because this process decodes no images. Chromium and the workers share one budget
    /// of pixels.
    workers: Arc<Workers>,
    browser: Mutex<Option<Browser>>,
    waiting: AtomicUsize,
}

struct Tab<'a> {
    browser: &'a mut Browser,
    target: String,
    session: String,
}

/// Returns the state of Chromium's own sandbox, which does not work for root.
pub fn sandbox() -> Layer {
    // SAFETY: the call only returns the user ID of this process, and cannot fail.
    let is_root = unsafe { libc::geteuid() } == 0;
    let off = is_root.then(|| "it does not work for root".to_owned());
    Layer { name: "Chromium's sandbox".to_owned(), is_required: true, off }
}

impl Chromium {
    /// Creates the engine without starting a browser.
    pub fn new(options: Options, workers: Arc<Workers>) -> Self {
        Self { options, workers, browser: Mutex::new(None), waiting: AtomicUsize::new(0) }
    }

    /// Draws a page as soon as the browser is free and the budget has enough pixels for the page's images.
    async fn draw<T>(
        &self,
        page: &HtmlPage,
        work: impl AsyncFnOnce(&mut Browser) -> Result<T, RenderError>,
    ) -> Result<T, RenderError> {
        struct Waits<'a>(&'a AtomicUsize);
        impl Drop for Waits<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::Relaxed);
            }
        }
        let waits = Waits(&self.waiting);
        if self.waiting.fetch_add(1, Ordering::Relaxed) > DRAWINGS_WAITING_MAX {
            return Err(RenderError::Busy);
        }
        let mut turn = self.browser.lock().await;
        drop(waits);
        let _pixels = self.workers.reserve(page).await?;
        // The browser stays outside the mutex while it draws, so that it is dropped if the rendering is aborted or fails.
        let mut browser = match turn.take().filter(|browser| browser.drawings_left > 0) {
            Some(browser) => browser,
            None => self.start()?,
        };
        browser.drawings_left -= 1;
        let done = timeout(DRAWING_TIME, work(&mut browser)).await.unwrap_or(Err(RenderError::TooCostly));
        if done.is_ok() {
            *turn = Some(browser);
        }
        done
    }

    fn start(&self) -> Result<Browser, RenderError> {
        let Options { program, folder, fonts, unconfined } = &self.options;
        let sandbox = sandbox();
        if let Some(why) = sandbox.off.as_ref().filter(|_| !unconfined) {
            return Err(RenderError::Unavailable(format!(
                "Chromium's sandbox is unavailable: {why}; run the service as another user or, if all input is trusted, set \
                 rendering.require_confinement = false to run Chromium without the sandbox"
            )));
        }
        Browser::start(program, (folder, fonts.as_deref().map(Path::new)), sandbox.off.is_none())
    }
}

impl Renderer for Chromium {
    fn screenshots<'a>(
        &'a self,
        page: &'a HtmlPage,
        options: &'a ScreenshotOptions,
    ) -> RenderFuture<'a, Rendering<Vec<Screenshot>>> {
        Box::pin(async move {
            let mut drawn = self.draw(page, async |browser| screenshots(browser, page, options).await).await?;
            for screenshot in &mut drawn.made {
                if let Some(width) = options.thumbnails.top_width {
                    screenshot.thumbnail = Some(self.workers.thumbnail(&screenshot.png, width, false).await?);
                }
                if let Some(width) = options.thumbnails.full_width {
                    screenshot.full_thumbnail = Some(self.workers.thumbnail(&screenshot.png, width, true).await?);
                }
            }
            Ok(drawn)
        })
    }

    fn pdf<'a>(&'a self, page: &'a HtmlPage, paper: Paper, _title: &'a str) -> RenderFuture<'a, Rendering<Vec<u8>>> {
        Box::pin(self.draw(page, async move |browser| pdf(browser, page, paper).await))
    }
}

async fn screenshots(
    browser: &mut Browser,
    page: &HtmlPage,
    options: &ScreenshotOptions,
) -> Result<Rendering<Vec<Screenshot>>, RenderError> {
    let mut tab = Tab::open(browser, page).await?;
    let scheme = if options.dark { "dark" } else { "light" };
    let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
    tab.call("Emulation.setEmulatedMedia", json!({ "media": "screen", "features": features })).await?;
    let mut made = Vec::new();
    let mut cut = Vec::new();
    for (number, width) in options.widths.iter().enumerate() {
        tab.set_width(*width, f64::from(options.density)).await?;
        if number == 0 {
            tab.show(page).await?;
        }
        let mut layout = *width;
        let (content, mut height) = tab.size().await?;
        if options.adapts() {
            layout = options.layout_width(*width, content as f32);
            if layout != *width {
                tab.set_width(layout, f64::from(options.density)).await?;
                height = tab.size().await?.1;
            }
            let density = options.layout_density(*width, layout, height as f32);
            tab.set_width(layout, f64::from(density)).await?;
        }
        let kept = height.min(options.height_max).min(DRAWN_HEIGHT_PX_MAX);
        if kept < height {
            cut.push(Warning::Cut { width: *width });
        }
        let clip = json!({ "x": 0, "y": 0, "width": layout, "height": kept, "scale": 1 });
        let wanted = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
        let png = bytes(tab.call("Page.captureScreenshot", wanted).await?)?;
        let (width_px, height_px) = image_size(&png)?;
        made.push(Screenshot { width: *width, width_px, height_px, png, thumbnail: None, full_thumbnail: None });
    }
    let mut warnings = tab.close().await?;
    warnings.append(&mut cut);
    Ok(Rendering { made, warnings })
}

async fn pdf(browser: &mut Browser, page: &HtmlPage, paper: Paper) -> Result<Rendering<Vec<u8>>, RenderError> {
    let mut tab = Tab::open(browser, page).await?;
    // PDFs also use the styles for screens, because emails are designed for screens.
    tab.call("Emulation.setEmulatedMedia", json!({ "media": "screen" })).await?;
    let (width, height) = match paper {
        Paper::A4 => (210.0 / 25.4, Some(297.0 / 25.4)),
        Paper::Letter => (8.5, Some(11.0)),
        Paper::Roll { width } => (f64::from(width) / PX_PER_INCH, None),
    };
    tab.set_width((width * PX_PER_INCH).round() as u32, 1.0).await?;
    tab.show(page).await?;
    let height = match height {
        Some(height) => height,
        // The paper is slightly longer than the email, because otherwise the end of the email would be on a second page.
        None => f64::from(tab.size().await?.1.min(DRAWN_HEIGHT_PX_MAX) + 1) / PX_PER_INCH,
    };
    let wanted = json!({
        "printBackground": true, "paperWidth": width, "paperHeight": height,
        "marginTop": 0, "marginBottom": 0, "marginLeft": 0, "marginRight": 0
    });
    let made = bytes(tab.call("Page.printToPDF", wanted).await?)?;
    Ok(Rendering { made, warnings: tab.close().await? })
}

impl<'a> Tab<'a> {
    async fn open(browser: &'a mut Browser, page: &HtmlPage) -> Result<Self, RenderError> {
        // As in the workers, images beyond the budget, and images whose number of pixels is unknown, are not drawn.
        let mut left = DRAWN_IMAGE_PIXELS_MAX;
        let mut fits = |file: &[u8]| {
            let rest = Some(images::pixels(file)).filter(|pixels| *pixels > 0).and_then(|pixels| left.checked_sub(pixels));
            left = rest.unwrap_or(left);
            rest.is_some()
        };
        browser.provide(page.images.iter().filter(|(_, file)| fits(file)));
        let target = browser.call(None, "Target.createTarget", json!({ "url": "about:blank" })).await?;
        let target = text(&target, "targetId")?;
        let attached = browser.call(None, "Target.attachToTarget", json!({ "targetId": target, "flatten": true })).await?;
        let session = text(&attached, "sessionId")?;
        let mut tab = Self { browser, target, session };
        tab.call("Page.enable", json!({})).await?;
        tab.call("Emulation.setScriptExecutionDisabled", json!({ "value": true })).await?;
        tab.call("Fetch.enable", json!({ "patterns": [{ "urlPattern": "*" }] })).await?;
        Ok(tab)
    }

    async fn call(&mut self, method: &str, parameters: Value) -> Result<Value, RenderError> {
        self.browser.call(Some(&self.session), method, parameters).await
    }

    async fn set_width(&mut self, width: u32, density: f64) -> Result<(), RenderError> {
        // The window has the minimum height, because a screenshot is at least as tall as its window.
        let metrics = json!({ "width": width, "height": 1, "deviceScaleFactor": density, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", metrics).await.map(|_| ())
    }

    async fn show(&mut self, page: &HtmlPage) -> Result<(), RenderError> {
        let frames = self.call("Page.getFrameTree", json!({})).await?;
        let frame = text(&frames["frameTree"]["frame"], "id")?;
        // Draw every email in standards mode, as most email clients do.
        let html = format!("<!doctype html><base href=\"{BASE}\">{}", page.html);
        self.call("Page.setDocumentContent", json!({ "frameId": frame, "html": html })).await?;
        self.call("Runtime.evaluate", json!({ "expression": IMAGES_READY, "awaitPromise": true })).await.map(|_| ())
    }

    /// Returns the width and height of the content in CSS pixels.
    async fn size(&mut self) -> Result<(u32, u32), RenderError> {
        let metrics = self.call("Page.getLayoutMetrics", json!({})).await?;
        let side = |name: &str| {
            let pixels = metrics["cssContentSize"][name].as_f64().unwrap_or_default();
            pixels.clamp(1.0, f64::from(u32::MAX)).round() as u32
        };
        Ok((side("width"), side("height")))
    }

    async fn close(self) -> Result<Vec<Warning>, RenderError> {
        self.browser.call(None, "Target.closeTarget", json!({ "targetId": self.target })).await?;
        let refused = self.browser.take_refused();
        let absent = refused.first().map(|first| Warning::ImagesAbsent { count: refused.len(), first: first.clone() });
        Ok(absent.into_iter().collect())
    }
}

fn text(value: &Value, name: &str) -> Result<String, RenderError> {
    let found = value[name].as_str().map(str::to_owned);
    found.ok_or_else(|| RenderError::Unavailable(format!("Chromium returned no {name}")))
}

fn bytes(value: Value) -> Result<Vec<u8>, RenderError> {
    let data = text(&value, "data")?;
    forgiving_base64::decode_to_vec(data.as_bytes())
        .map_err(|_| RenderError::Unavailable("Chromium returned invalid data".to_owned()))
}

fn image_size(png: &[u8]) -> Result<(u32, u32), RenderError> {
    let size = imagesize::blob_size(png)
        .map_err(|error| RenderError::Unavailable(format!("Chromium returned an invalid image: {error}")))?;
    Ok((size.width as u32, size.height as u32))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn chromium(folder: &Path, workers: Workers, unconfined: bool) -> Chromium {
        let options = Options { program: folder.join("no-chromium"), folder: folder.join("profile"), fonts: None, unconfined };
        Chromium::new(options, Arc::new(workers))
    }

    fn page(has_image: bool) -> HtmlPage {
        let mut file = std::io::Cursor::new(Vec::new());
        image::RgbImage::new(40, 30).write_to(&mut file, image::ImageFormat::Png).expect("the image can be written");
        let images = has_image.then(|| ("a.png".to_owned(), Arc::new(file.into_inner())));
        HtmlPage { html: "<img src=a.png>".to_owned(), images: images.into_iter().collect() }
    }

    #[tokio::test]
    async fn images_need_pixels_from_the_budget_of_the_workers() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let chromium = chromium(folder.path(), Workers::used_up(Duration::from_millis(10)), true);
        let busy = chromium.pdf(&page(true), Paper::A4, "").await.expect_err("there are no pixels");
        assert_eq!(busy, RenderError::Busy);
        let absent = chromium.pdf(&page(false), Paper::A4, "").await.expect_err("there is no Chromium");
        assert!(matches!(absent, RenderError::Unavailable(_)), "a page without images needs no pixels: {absent}");
    }

    /// Regression test: as root, Chromium ran with `--no-sandbox` although confinement was required.
    #[tokio::test]
    async fn without_its_sandbox_it_runs_only_if_the_settings_allow_it() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        for unconfined in [false, true] {
            let chromium = chromium(folder.path(), Workers::new(super::super::Options::default()), unconfined);
            let error = chromium.pdf(&page(false), Paper::A4, "").await.expect_err("there is no Chromium").to_string();
            let is_refused = sandbox().off.is_some() && !unconfined;
            let part = if is_refused { "sandbox is unavailable" } else { "could not start Chromium" };
            assert!(error.contains(part), "{error}");
        }
    }
}
