//! Draws the devices of waiting previews, in steps that can be repeated.
//!
//! Claiming a preview counts as an attempt. Each rendering is stored when it is finished, so after a crash, the preview continues with the
//! devices that are still waiting.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{self, FuturesUnordered, StreamExt};
use tokio::time::Instant;

use super::lifecycle;
use super::model::{DrawingState, Picture, Preview, Source};
use super::store;
use crate::engine::api::{Engine, EnvironmentData, Failure};
use crate::engine::clients::devices::{self, Category, Device};
use crate::engine::clients::transform::Note;
use crate::engine::render::pixels::client_views::{self, ClientView};
use crate::engine::render::pixels::{HtmlPage, RenderError, Rendering, Screenshot, ScreenshotOptions, Thumbnails, Warning};
use crate::engine::runner::Step;
use crate::engine::store::{self as rows, ReadTx, WriteTx, blobs};
use crate::features::emails;
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, DrawingId, PreviewId};
use crate::vocab::{limits, placeholders, tables};

/// The maximum total size, in bytes, of the views that one worker process creates, estimated from the size of the email. A process returns
/// at most 32 MiB, which leaves room for views that are larger than the email.
const VIEWS_BYTES_MAX: usize = 8 * 1024 * 1024;
/// The maximum number of image pixels per CSS pixel. Phone screens have three, but the dashboard shows pictures at a smaller size.
const DENSITY_MAX: f32 = 2.0;
/// The maximum width, in CSS pixels, of a window that is treated as a phone. On phones, mail apps and browsers scale wide emails down.
const PHONE_WIDTH_PX_MAX: u32 = 500;
/// The pause before a preview is retried if no worker process was free.
const BUSY_PAUSE: Duration = Duration::from_secs(1);
/// The error for a waiting device that this version does not support.
const UNSUPPORTED_DEVICE: &str =
    "This version of Mailmill does not support this device. Create a new preview with a different device.";

#[derive(Clone)]
struct Studio {
    engine: Arc<Engine>,
    data: Arc<EnvironmentData>,
}

/// A preview that is being drawn.
struct Running {
    id: PreviewId,
    account: AccountId,
    drawings: Vec<DrawingId>,
}

/// Draws waiting previews in parallel, preferably from different accounts.
pub async fn draw(engine: Arc<Engine>, environment: Environment) -> Result<Step, Failure> {
    let studio = Studio { data: engine.data(environment).clone(), engine };
    let mut work = FuturesUnordered::new();
    let mut started: HashSet<PreviewId> = HashSet::new();
    let mut running: Vec<Running> = Vec::new();
    let mut failed = None;
    loop {
        // Subscribe before reading the queue, so that no addition in between is missed.
        let added = Box::pin(studio.data.store.changed(tables::PREVIEW_QUEUE).notified());
        while running.len() < limits::EMAIL_PREVIEWS_AT_ONCE && started.len() < limits::EMAIL_PREVIEWS_PER_STEP {
            let Some(next) = next(&studio.data.store.read(), &started, &running)? else { break };
            let (id, account, studio) = (next.id, next.account, studio.clone());
            started.insert(id);
            running.push(next);
            work.push(async move { (id, studio.preview(account, id).await) });
        }
        if running.is_empty() {
            return failed.map_or(Ok(Step::more_if(started.len() >= limits::EMAIL_PREVIEWS_PER_STEP)), Err);
        }
        tokio::select! {
            Some((id, result)) = work.next() => {
                running.retain(|one| one.id != id);
                // Leave a failed preview for the next step, and let the other previews finish.
                failed = result.err().or(failed);
            }
            () = added, if running.len() < limits::EMAIL_PREVIEWS_AT_ONCE && started.len() < limits::EMAIL_PREVIEWS_PER_STEP => {}
        }
    }
}

/// Returns the oldest preview that has not been started, from the accounts with the fewest running previews. A preview that shares a
/// waiting rendering with a running preview is not returned.
fn next(tx: &ReadTx, started: &HashSet<PreviewId>, running: &[Running]) -> Result<Option<Running>, Failure> {
    let mut queue = store::queued(tx)?;
    queue.retain(|(id, _)| !started.contains(id));
    queue.sort_by_key(|(id, account)| (running.iter().filter(|one| one.account == *account).count(), *id));
    for (id, account) in queue {
        let preview = store::preview(tx, account, id)?;
        let drawings: Vec<DrawingId> = preview.iter().flat_map(|preview| &preview.devices).map(|device| device.drawing).collect();
        if !running.iter().any(|one| one.drawings.iter().any(|drawing| drawings.contains(drawing))) {
            return Ok(Some(Running { id, account, drawings }));
        }
    }
    Ok(None)
}

struct Waiting {
    device: &'static Device,
    drawing: DrawingId,
}

/// The email and the waiting devices of a claimed preview.
struct Claimed {
    source: Source,
    waiting: Vec<Waiting>,
}

impl Studio {
    /// Draws the waiting devices of a preview.
    async fn preview(&self, account: AccountId, id: PreviewId) -> Result<(), Failure> {
        if let Some(claimed) = self.claim(account, id).await? {
            let html = placeholders::preview(&claimed.source.html);
            match self.views(&html, claimed.source.text.as_deref(), &claimed.waiting).await {
                Ok(views) => self.pictures(account, id, claimed.waiting, views).await?,
                Err(RenderError::Busy) => return self.postpone(account, id).await,
                Err(error) => {
                    for waiting in &claimed.waiting {
                        self.fail(account, id, waiting.drawing, error.to_string()).await?;
                    }
                }
            }
        }
        let close = move |tx: &mut WriteTx<'_>| lifecycle::close_if_done(tx, account, id);
        if self.data.store.write(close).await?? {
            return Ok(());
        }
        self.postpone(account, id).await
    }

    /// Counts an attempt and returns the waiting devices. After too many attempts, the waiting devices fail.
    async fn claim(&self, account: AccountId, id: PreviewId) -> Result<Option<Claimed>, Failure> {
        let claim = move |tx: &mut WriteTx<'_>| -> Result<Option<Claimed>, rows::Error> {
            let Some(mut preview) = store::preview(tx, account, id)? else { return Ok(None) };
            preview.attempts += 1;
            let (attempts, source) = (preview.attempts, preview.source);
            store::save(tx, account, &preview);
            let source = source.map(|source| blobs::bytes(tx, source)).transpose()?.flatten();
            let source: Option<Source> = source.and_then(|json| serde_json::from_slice(&json).ok());
            let problem = match &source {
                None => Some("The preview's email cannot be read. Create a new preview."),
                Some(_) if attempts > limits::EMAIL_PREVIEW_ATTEMPTS_MAX => {
                    Some("Rendering was interrupted repeatedly. Create a new preview. If that fails too, simplify the email.")
                }
                Some(_) => None,
            };
            let mut waiting = Vec::new();
            for (key, drawing) in waiting_devices(tx, account, &preview)? {
                match (devices::find(&key), problem) {
                    (Some(device), None) => waiting.push(Waiting { device, drawing }),
                    (_, problem) => {
                        let reason = problem.unwrap_or(UNSUPPORTED_DEVICE).to_owned();
                        lifecycle::finish(tx, account, id, drawing, Err::<fn(&mut WriteTx<'_>) -> Picture, _>(reason))?;
                    }
                }
            }
            Ok(source.filter(|_| !waiting.is_empty()).map(|source| Claimed { source, waiting }))
        };
        Ok(self.data.store.write(claim).await??)
    }

    /// Takes back the last counted attempt, because no worker process was free, and waits a moment.
    async fn postpone(&self, account: AccountId, id: PreviewId) -> Result<(), Failure> {
        let give_back = move |tx: &mut WriteTx<'_>| -> Result<(), rows::Error> {
            if let Some(mut preview) = store::preview(tx, account, id)? {
                preview.attempts = preview.attempts.saturating_sub(1);
                store::save(tx, account, &preview);
            }
            Ok(())
        };
        self.data.store.write(give_back).await??;
        tokio::time::sleep(BUSY_PAUSE).await;
        Ok(())
    }

    /// Returns the email as the client of each waiting device shows it, in the order of the devices.
    async fn views(&self, html: &str, text: Option<&str>, waiting: &[Waiting]) -> Result<Vec<ClientView>, RenderError> {
        let mut views = Vec::with_capacity(waiting.len());
        let in_one = (VIEWS_BYTES_MAX / html.len().max(1)).max(1);
        for some in waiting.chunks(in_one) {
            let keys: Vec<String> = some.iter().map(|one| one.device.key.clone()).collect();
            views.extend(self.engine.pixels.client_views(html, keys).await?);
        }
        for (one, view) in waiting.iter().zip(&mut views) {
            if let Some(text) = text.filter(|_| one.device.is_text) {
                *view = client_views::plain_text(one.device, &placeholders::preview(text));
            }
        }
        Ok(views)
    }

    /// Draws devices in parallel and stores each rendering when it is finished.
    async fn pictures(
        &self,
        account: AccountId,
        id: PreviewId,
        waiting: Vec<Waiting>,
        views: Vec<ClientView>,
    ) -> Result<(), Failure> {
        let addresses: HashSet<String> = views.iter().flat_map(|view| view.head.images.iter().cloned()).collect();
        let mut addresses: Vec<String> = addresses.into_iter().collect();
        addresses.sort();
        let images = emails::fetch_images(&self.engine, addresses).await;
        let drawings = waiting.into_iter().zip(views).map(|(one, view)| self.picture(account, id, one, view, &images));
        let mut drawings = stream::iter(drawings).buffer_unordered(limits::EMAIL_PREVIEW_DRAWINGS_AT_ONCE);
        while let Some(stored) = drawings.next().await {
            stored?;
        }
        Ok(())
    }

    /// Draws the email for one device and stores the result. If no worker process is free, the device keeps waiting until the next step.
    async fn picture(
        &self,
        account: AccountId,
        id: PreviewId,
        waiting: Waiting,
        view: ClientView,
        images: &BTreeMap<String, Arc<Vec<u8>>>,
    ) -> Result<(), Failure> {
        let start = Instant::now();
        let wanted = |address: &String| Some((address.clone(), images.get(address)?.clone()));
        let page = HtmlPage { html: view.html, images: view.head.images.iter().filter_map(wanted).collect() };
        let drawn = match self.engine.pixels.screenshots(&page, &options(waiting.device)).await {
            Ok(drawn) => drawn,
            Err(RenderError::Busy) => return Ok(()),
            Err(error) => return self.fail(account, id, waiting.drawing, error.to_string()).await,
        };
        let time = start.elapsed();
        let engine = self.engine.settings.rendering.engine.word();
        let keep = move |tx: &mut WriteTx<'_>| {
            lifecycle::finish(
                tx,
                account,
                id,
                waiting.drawing,
                Ok(|tx: &mut WriteTx<'_>| keep(tx, view.head, drawn, engine, time)),
            )
        };
        Ok(self.data.store.write(keep).await??)
    }

    async fn fail(&self, account: AccountId, id: PreviewId, drawing: DrawingId, reason: String) -> Result<(), Failure> {
        let fail = move |tx: &mut WriteTx<'_>| {
            lifecycle::finish(tx, account, id, drawing, Err::<fn(&mut WriteTx<'_>) -> Picture, _>(reason))
        };
        Ok(self.data.store.write(fail).await??)
    }
}

fn waiting_devices(tx: &WriteTx<'_>, account: AccountId, preview: &Preview) -> Result<Vec<(String, DrawingId)>, rows::Error> {
    let mut waiting = Vec::new();
    for device in &preview.devices {
        if store::drawing(tx, account, device.drawing)?.is_some_and(|drawing| drawing.state == DrawingState::Waiting) {
            waiting.push((device.key.clone(), device.drawing));
        }
    }
    Ok(waiting)
}

fn options(device: &Device) -> ScreenshotOptions {
    let (width, _) = device.viewport;
    // At 120 dpi, Windows enlarges everything, so the window is narrower in CSS pixels.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a width has few digits"
    )]
    let width = (width as f32 / device.scale).round() as u32;
    let small = Some(limits::EMAIL_PREVIEW_THUMBNAIL_PX);
    ScreenshotOptions {
        density: device.density.min(DENSITY_MAX).max(device.scale),
        height_max: limits::EMAIL_PREVIEW_HEIGHT_PX_MAX,
        scales_wide: device.category == Category::Mobile || width <= PHONE_WIDTH_PX_MAX,
        pixels_max: Some(limits::EMAIL_PREVIEW_PIXELS_MAX),
        thumbnails: Thumbnails { top_width: small, full_width: small },
        reports_dark_images: device.is_dark,
        ..ScreenshotOptions::of(&[width])
    }
}

/// Stores the files of a rendering and returns the picture.
fn keep(
    tx: &mut WriteTx<'_>,
    view: client_views::ClientViewHead,
    drawn: Rendering<Vec<Screenshot>>,
    engine: &str,
    time: Duration,
) -> Picture {
    let shot = drawn.made.into_iter().next();
    let Screenshot { width_px, height_px, png, thumbnail, full_thumbnail, .. } = shot.unwrap_or_default();
    let thumbnail = thumbnail.unwrap_or_default();
    let full_thumbnail = full_thumbnail.unwrap_or_default();
    let is_complete = !drawn.warnings.iter().any(|warning| matches!(warning, Warning::ImagesAbsent { .. }));
    let mut notes = view.notes;
    notes.extend(drawn.warnings.iter().map(|warning| Note::new(rule(warning), warning.to_string())));
    Picture {
        engine: engine.to_owned(),
        tier: view.tier,
        data_version: view.data_version,
        cuts: view.cuts,
        notes,
        width: width_px,
        height: height_px,
        bytes: (png.len() + thumbnail.len() + full_thumbnail.len()) as u64,
        screenshot: lifecycle::keep_file(tx, "preview.png", &png),
        thumbnail: lifecycle::keep_file(tx, "preview-thumbnail.png", &thumbnail),
        full_thumbnail: lifecycle::keep_file(tx, "preview-full-thumbnail.png", &full_thumbnail),
        milliseconds: u32::try_from(time.as_millis()).unwrap_or(u32::MAX),
        drawn_at: tx.now(),
        is_complete,
    }
}

fn rule(warning: &Warning) -> &'static str {
    match warning {
        Warning::GlyphsMissing { .. } => "glyphs_missing",
        Warning::ImagesAbsent { .. } => "images_absent",
        Warning::ImagesUnsound { .. } => "image_unsound",
        Warning::NotDrawn { .. } => "not_drawn",
        Warning::Cut { .. } => "cut_off",
        Warning::ImagesDark { .. } => "dark_image",
    }
}
