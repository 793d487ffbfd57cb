//! The server's side of worker processes: starts them with a request, reads their responses, and stops workers that take too long.
//!
//! A worker handles one request. The number of parallel workers is limited to the number of processors, and the number of pixels that they
//! decode at the same time is limited. A limited number of requests can wait, for a limited time. Apart from the number of pixels, this
//! module does not depend on the content of requests.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::super::images::{self, Crop, ImageFile, ImageMeasurements, Task};
use super::super::imported_html::{Change, ImportedHtml};
use super::super::inspect::Inspection;
use super::client_views::ClientView;
use super::fonts::FontFiles;
use super::protocol::{Message, WorkerReply, WorkerRequest, WorkerTask, malformed};
use super::sandbox::Confinement;
use super::worker::{WorkerOptions, run_in_process};
use super::{HtmlPage, Options, Paper, RenderError, RenderFuture, Renderer, Rendering, Screenshot, ScreenshotOptions};
use crate::base::secret::sha256;
use crate::base::text::Color;
use crate::engine::clients::data;
use crate::vocab::limits::{
    DECODED_PIXELS_AT_ONCE, DRAWING_ANSWER_BYTES_MAX, DRAWING_TIME, DRAWING_WAIT, DRAWINGS_WAITING_MAX, DRAWN_IMAGE_PIXELS_MAX,
};

/// The command-line argument that starts a process as a worker.
const COMMAND: &str = "render-worker";
/// All environment variables of a worker. They make the worker's allocator request memory on demand and return it immediately. In a server,
/// this would be slow; in a process that runs for a tenth of a second, it halves the memory use.
const ENVIRONMENT: [(&str, &str); 2] = [("MIMALLOC_ARENA_EAGER_COMMIT", "0"), ("MIMALLOC_PURGE_DELAY", "0")];
/// The maximum number of times to check whether a process that has closed its output has ended.
const CHECKS: u32 = 100;
const POLL_PAUSE: Duration = Duration::from_millis(5);

/// The number of pixels per semaphore permit. One call can acquire at most `u32::MAX` permits, so with one permit per pixel, it could
/// acquire at most `u32::MAX` pixels.
const GRANT_PIXELS: u64 = 1024;
/// The start of the URL of an embedded image.
const EMBEDDED: &str = "data:image/";

/// Starts worker processes, and keeps requests in a queue while all workers are busy.
pub struct Workers {
    options: Options,
    tables_digest: [u8; 32],
    /// The pixels that may still be decoded. Invariant: running workers take their pixels from the semaphore, so together they never decode
    /// more pixels than its initial value.
    pixels: Semaphore,
    turns: Semaphore,
    waiting: AtomicUsize,
    /// The maximum time that a request waits in the queue.
    wait: Duration,
}

/// A running worker process, which is killed on drop.
struct RunningWorker(Child);

impl RunningWorker {
    /// Waits for the process to end after it has closed its output, and kills the process if it does not end soon.
    async fn end(&mut self) -> io::Result<ExitStatus> {
        for _ in 0..CHECKS {
            if let Some(status) = self.0.try_wait()? {
                return Ok(status);
            }
            tokio::time::sleep(POLL_PAUSE).await;
        }
        self.0.kill()?;
        self.0.wait()
    }
}

impl Drop for RunningWorker {
    fn drop(&mut self) {
        // Both calls fail only if the process has already ended, which needs no further action.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A request in the queue, which is counted until it is dropped.
struct QueuedRequest<'a>(&'a AtomicUsize);

impl Drop for QueuedRequest<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Returns the number of pixels that a page's images may have. The engine omits the images beyond this number.
fn drawn_pixels(page: &HtmlPage) -> u64 {
    let embedded = if page.html.contains(EMBEDDED) { DRAWN_IMAGE_PIXELS_MAX } else { 0 };
    let given: u64 = page.images.values().map(|file| images::pixels(file)).sum();
    (given + embedded).min(DRAWN_IMAGE_PIXELS_MAX)
}

impl Workers {
    /// Creates the queue for workers without starting one.
    pub fn new(options: Options) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let pixels = Semaphore::new((DECODED_PIXELS_AT_ONCE / GRANT_PIXELS) as usize);
        let (turns, waiting) = (Semaphore::new(processors), AtomicUsize::new(0));
        let tables_digest = options.clients.as_ref().map_or_else(|| *data::embedded_digest(), |file| sha256(file));
        Self { options, tables_digest, pixels, turns, waiting, wait: DRAWING_WAIT }
    }

    /// Returns workers without free pixels, so that a request with an image fails after `wait`.
    #[cfg(test)]
    pub fn used_up(wait: Duration) -> Self {
        Self { pixels: Semaphore::new(0), wait, ..Self::new(Options::default()) }
    }

    /// Runs a task that decodes no images.
    async fn obey(&self, work: WorkerTask, text: &[u8]) -> Result<Message<WorkerReply>, RenderError> {
        self.obey_with(work, text, 0, [].into_iter()).await
    }

    async fn draw(&self, work: WorkerTask, page: &HtmlPage) -> Result<Message<WorkerReply>, RenderError> {
        let images = page.images.iter().map(|(address, file)| (address, &**file));
        self.obey_with(work, page.html.as_bytes(), drawn_pixels(page), images).await
    }

    /// Waits until Chromium may decode the pixels of a page's images.
    pub async fn reserve(&self, page: &HtmlPage) -> Result<SemaphorePermit<'_>, RenderError> {
        timeout(self.wait, self.take_pixels(drawn_pixels(page))).await.map_err(|_| RenderError::Busy)
    }

    async fn take_pixels(&self, pixels: u64) -> SemaphorePermit<'_> {
        let wanted = pixels.div_ceil(GRANT_PIXELS).min(DECODED_PIXELS_AT_ONCE / GRANT_PIXELS) as u32;
        self.pixels.acquire_many(wanted).await.expect("the semaphore is never closed")
    }

    async fn decode(&self, task: Task, file: &[u8]) -> Result<Message<WorkerReply>, RenderError> {
        let granted = images::pixels(file);
        if let Some(reason) = images::refusal(granted) {
            return Err(RenderError::Image(reason));
        }
        match self.obey_with(WorkerTask::Image(task), file, granted, [].into_iter()).await {
            Err(RenderError::TooCostly) => {
                Err(RenderError::Image("decoding it takes too much time or memory; use a smaller image".to_owned()))
            }
            answer => answer,
        }
    }

    /// Runs a request whose images have this many pixels, as soon as a worker and the pixels are available.
    async fn obey_with(
        &self,
        work: WorkerTask,
        file: &[u8],
        pixels: u64,
        images: impl Iterator<Item = (&String, &Vec<u8>)>,
    ) -> Result<Message<WorkerReply>, RenderError> {
        let waiting = QueuedRequest(&self.waiting);
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= DRAWINGS_WAITING_MAX + self.turns.available_permits() {
            return Err(RenderError::Busy);
        }
        let turn = async {
            let granted = self.take_pixels(pixels).await;
            (granted, self.turns.acquire().await.expect("the semaphore is never closed"))
        };
        let _turn = timeout(self.wait, turn).await.map_err(|_| RenderError::Busy)?;
        drop(waiting);
        let duty = WorkerOptions {
            fonts: self.options.fonts.clone().filter(|_| work.draws_text()),
            decodes: matches!(work, WorkerTask::Image(_)),
            unconfined: self.options.unconfined,
        };
        let (addresses, files): (Vec<_>, Vec<_>) = images.map(|(address, file)| (address.clone(), file.as_slice())).unzip();
        let order = Message { head: WorkerRequest { work, images: addresses, pixels }, parts: [vec![file], files].concat() };
        match &self.options.program {
            Some(program) => run(program, &duty, &order).await,
            None => {
                let fonts = duty.fonts.as_deref().map(FontFiles::open).unwrap_or_default();
                let (order, feature) = (order.encode(), self.options.feature);
                tokio::task::spawn_blocking(move || run_in_process(order, fonts, feature)).await.map_err(|_| malformed())
            }
        }
    }

    pub async fn image_addresses(&self, html: &str) -> Result<Vec<String>, RenderError> {
        self.obey(WorkerTask::ImageAddresses, html.as_bytes()).await?.into_image_addresses()
    }

    pub async fn clean_html(&self, html: &str) -> Result<ImportedHtml, RenderError> {
        self.obey(WorkerTask::CleanHtml, html.as_bytes()).await?.into_imported_html()
    }

    pub async fn inspect(&self, html: &str) -> Result<Inspection, RenderError> {
        self.obey(WorkerTask::Inspect, html.as_bytes()).await?.into_inspection()
    }

    pub async fn compatibility(&self, html: &str, clients: Vec<String>) -> Result<Vec<u8>, RenderError> {
        let shares = self.options.shares.clone();
        self.obey_with_tables(WorkerTask::Compatibility { clients, shares }, html).await?.into_report()
    }

    /// Runs a task that uses the support tables. If the settings name a newer file of support tables, the file is sent with the task.
    async fn obey_with_tables(&self, task: WorkerTask, html: &str) -> Result<Message<WorkerReply>, RenderError> {
        let name = String::new();
        let newer = self.options.clients.iter().map(|file| (&name, &**file));
        self.obey_with(task, html.as_bytes(), 0, newer).await
    }

    pub fn tables_digest(&self) -> [u8; 32] {
        self.tables_digest
    }

    pub async fn client_views(&self, html: &str, devices: Vec<String>) -> Result<Vec<ClientView>, RenderError> {
        self.obey_with_tables(WorkerTask::ClientViews { devices }, html).await?.into_client_views()
    }

    pub async fn revise_html(&self, html: &str, changes: Vec<Change>) -> Result<ImportedHtml, RenderError> {
        self.obey(WorkerTask::Revise(changes), html.as_bytes()).await?.into_imported_html()
    }

    pub async fn clean_mail(&self, file: &[u8]) -> Result<ImportedHtml, RenderError> {
        self.obey(WorkerTask::CleanMail, file).await?.into_imported_html()
    }

    pub async fn prepare_upload(&self, file: &[u8], crop: Option<Crop>) -> Result<(ImageFile, ImageMeasurements), RenderError> {
        let (made, measured) = self.decode(Task::Upload { crop }, file).await?.into_made()?;
        Ok((made, measured.ok_or_else(malformed)?))
    }

    pub async fn measure_image(&self, file: &[u8], content_type: &str) -> Result<ImageMeasurements, RenderError> {
        let task = Task::Measure { content_type: content_type.to_owned() };
        self.decode(task, file).await?.into_measured()
    }

    pub async fn draw_logo(&self, file: &[u8], background: Option<Color>) -> Result<(ImageFile, ImageMeasurements), RenderError> {
        let (made, measured) = self.decode(Task::DrawLogo { background }, file).await?.into_made()?;
        Ok((made, measured.ok_or_else(malformed)?))
    }

    pub async fn preview_image(&self, file: &[u8]) -> Result<ImageFile, RenderError> {
        Ok(self.decode(Task::Preview, file).await?.into_made()?.0)
    }

    /// Returns a small copy of an image as PNG: of its top, or of the whole image.
    pub async fn thumbnail(&self, file: &[u8], width: u32, is_full: bool) -> Result<Vec<u8>, RenderError> {
        Ok(self.decode(Task::Thumbnail { width, is_full }, file).await?.into_made()?.0.bytes)
    }

    pub async fn run_feature(&self, input: &[u8]) -> Result<Vec<u8>, RenderError> {
        self.obey(WorkerTask::Feature, input).await?.into_feature()
    }

    /// Returns the confinement of a worker process, or `None` if the work runs in this process.
    pub async fn confinement(&self) -> Result<Option<Confinement>, RenderError> {
        if self.options.program.is_none() {
            return Ok(None);
        }
        self.obey(WorkerTask::Confinement, &[]).await?.into_confinement().map(Some)
    }
}

impl Renderer for Workers {
    fn screenshots<'a>(
        &'a self,
        page: &'a HtmlPage,
        options: &'a ScreenshotOptions,
    ) -> RenderFuture<'a, Rendering<Vec<Screenshot>>> {
        let work = WorkerTask::Shots(options.clone());
        Box::pin(async move { self.draw(work, page).await?.into_screenshots() })
    }

    fn pdf<'a>(&'a self, page: &'a HtmlPage, paper: Paper, title: &'a str) -> RenderFuture<'a, Rendering<Vec<u8>>> {
        let work = WorkerTask::Pdf { paper, title: title.to_owned() };
        Box::pin(async move { self.draw(work, page).await?.into_pdf() })
    }
}

/// Runs one worker process from start to end.
async fn run(
    program: &Path,
    duty: &WorkerOptions,
    order: &Message<WorkerRequest, &[u8]>,
) -> Result<Message<WorkerReply>, RenderError> {
    let start = |error: io::Error| RenderError::Unavailable(format!("could not run the rendering process: {error}"));
    let mut command = Command::new(program);
    command.arg(COMMAND);
    if let Some(fonts) = &duty.fonts {
        command.arg("--fonts").arg(fonts);
    }
    command.args(duty.decodes.then_some("--decodes")).args(duty.unconfined.then_some("--unconfined"));
    command.env_clear().envs(ENVIRONMENT).current_dir("/").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut worker = RunningWorker(command.spawn().map_err(start)?);
    let input = OwnedFd::from(worker.0.stdin.take().expect("the pipe was requested"));
    let output = OwnedFd::from(worker.0.stdout.take().expect("the pipe was requested"));
    let mut input = pipe::Sender::from_owned_fd(input).map_err(start)?;
    let output = pipe::Receiver::from_owned_fd(output).map_err(start)?;
    let sending = async {
        // If a worker ended early, its response or exit status is more informative than the error of the failed write.
        let _ = send(&mut input, order).await;
        drop(input);
    };
    let mut answer = Vec::new();
    let receive = async {
        let mut output = output.take(DRAWING_ANSWER_BYTES_MAX as u64 + 1);
        output.read_to_end(&mut answer).await
    };
    let exchanged = timeout(DRAWING_TIME, async { tokio::join!(sending, receive).1 }).await;
    match exchanged {
        Err(_) => return Err(RenderError::TooCostly),
        Ok(Err(error)) => return Err(RenderError::Unavailable(format!("cannot read from the rendering process: {error}"))),
        Ok(Ok(_)) => {}
    }
    if answer.len() > DRAWING_ANSWER_BYTES_MAX {
        return Err(RenderError::TooCostly);
    }
    if let Some(answer) = Message::decode(&answer) {
        return Ok(answer);
    }
    // A signal means that the worker exceeded its time, memory or stack limit. Otherwise, its reply was malformed.
    let ended = worker.end().await.map_err(start)?;
    Err(if ended.signal().is_some() { RenderError::TooCostly } else { malformed() })
}

/// Sends a request chunk by chunk, because it may be large and should not be copied in memory.
async fn send(input: &mut pipe::Sender, order: &Message<WorkerRequest, &[u8]>) -> io::Result<()> {
    for piece in order.pieces() {
        input.write_all(&piece).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> Vec<u8> {
        let mut out = io::Cursor::new(Vec::new());
        image::RgbImage::new(40, 30).write_to(&mut out, image::ImageFormat::Png).expect("the image can be written");
        out.into_inner()
    }

    #[tokio::test]
    async fn an_image_waits_until_pixels_are_released() {
        let workers = Workers::used_up(Duration::from_secs(10));
        let file = file();
        let give_back = async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            assert_eq!(workers.waiting.load(Ordering::Relaxed), 1);
            workers.pixels.add_permits(2);
        };
        let (measured, ()) = tokio::join!(workers.measure_image(&file, "image/png"), give_back);
        assert_eq!(measured.map(|measured| (measured.width, measured.height)), Ok((40, 30)));
        // The pixels that the worker reserved are available again.
        assert_eq!((workers.pixels.available_permits(), workers.waiting.load(Ordering::Relaxed)), (2, 0));
    }

    #[tokio::test]
    async fn an_image_that_waits_too_long_for_pixels_fails() {
        let workers = Workers::used_up(Duration::from_millis(20));
        assert_eq!(workers.measure_image(&file(), "image/png").await.map(|_| ()), Err(RenderError::Busy));
        assert_eq!(workers.waiting.load(Ordering::Relaxed), 0);
        // Tasks that decode no images need no pixels.
        assert!(workers.clean_html("<p>x").await.is_ok());
    }
}
