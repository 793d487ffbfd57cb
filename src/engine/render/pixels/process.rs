//! Worker processes, seen from the server: started with an order, listened to, ended in time.
//!
//! A worker lives for one order. As many run at once as there are processors, and only while the pixels that they decode together
//! stay within a budget; a bounded number of orders waits for a bounded time. It does not know what the orders are about, except how many
//! pixels their images have.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::super::foreign::{Change, Foreign};
use super::super::images::{self, Made, Measured, Task};
use super::fonts::FontFiles;
use super::orders::{Answer, Message, Order, Work, nonsense};
use super::sandbox::Confinement;
use super::worker::{Duty, obey_here};
use super::{Drawing, Drawn, Fault, Look, Options, Page, Paper, Renderer, Shot};
use crate::vocab::limits::{
    DECODED_PIXELS_AT_ONCE, DRAWING_ANSWER_BYTES_MAX, DRAWING_TIME, DRAWING_WAIT, DRAWINGS_WAITING_MAX, DRAWN_IMAGE_PIXELS_MAX,
};

/// The word on the command line that makes a process a worker.
const COMMAND: &str = "render-worker";
/// A worker's whole environment: its allocator takes memory when it is needed and gives it back at once, which costs a server time but
/// halves what a process of a tenth of a second takes.
const ENVIRONMENT: [(&str, &str); 2] = [("MIMALLOC_ARENA_EAGER_COMMIT", "0"), ("MIMALLOC_PURGE_DELAY", "0")];
/// How often and how long a process is looked at that has closed its output and ought to end.
const LOOKS: u32 = 100;
const LOOK: Duration = Duration::from_millis(5);

/// The unit in which pixels are granted: a semaphore counts no further than a few hundred million.
const GRANT_PIXELS: u64 = 1024;
/// How an image that is written into the HTML begins.
const EMBEDDED: &str = "data:image/";

/// Everything that starts worker processes.
pub struct Workers {
    options: Options,
    /// Invariant: what running workers decode is taken from it, so all together decode no more than it held at first.
    pixels: Semaphore,
    turns: Semaphore,
    waiting: AtomicUsize,
    /// How long an order waits for its turn.
    wait: Duration,
}

/// Kills the process when nobody waits for it any more.
struct Running(Child);

impl Running {
    /// Its end, after it has closed its output: soon by itself, or else by force.
    async fn end(&mut self) -> io::Result<ExitStatus> {
        for _ in 0..LOOKS {
            if let Some(status) = self.0.try_wait()? {
                return Ok(status);
            }
            tokio::time::sleep(LOOK).await;
        }
        self.0.kill()?;
        self.0.wait()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail only if it has ended already, which is what is wanted.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Counts an order among those that wait.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Workers {
    /// Nothing is started yet.
    pub fn new(options: Options) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let pixels = Semaphore::new((DECODED_PIXELS_AT_ONCE / GRANT_PIXELS) as usize);
        let (turns, waiting) = (Semaphore::new(processors), AtomicUsize::new(0));
        Self { options, pixels, turns, waiting, wait: DRAWING_WAIT }
    }

    /// Workers who have all the pixels in use that there are, so that an image waits this long in vain.
    #[cfg(test)]
    pub fn used_up(wait: Duration) -> Self {
        Self { pixels: Semaphore::new(0), wait, ..Self::new(Options::default()) }
    }

    /// Have a text worked on.
    async fn obey(&self, work: Work, text: &[u8]) -> Result<Message<Answer>, Fault> {
        self.obey_with(work, text, 0, [].into_iter()).await
    }

    /// Have a page drawn.
    async fn draw(&self, work: Work, page: &Page) -> Result<Message<Answer>, Fault> {
        let embedded = if page.html.contains(EMBEDDED) { DRAWN_IMAGE_PIXELS_MAX } else { 0 };
        let given: u64 = page.images.values().map(|file| images::pixels(file)).sum();
        // The worker leaves out the images that are more than this.
        let pixels = (given + embedded).min(DRAWN_IMAGE_PIXELS_MAX);
        self.obey_with(work, page.html.as_bytes(), pixels, page.images.iter()).await
    }

    /// Have the file of an image worked on.
    async fn decode(&self, task: Task, file: &[u8]) -> Result<Message<Answer>, Fault> {
        let granted = images::pixels(file);
        if let Some(reason) = images::refusal(granted) {
            return Err(Fault::Image(reason));
        }
        match self.obey_with(Work::Image(task), file, granted, [].into_iter()).await {
            Err(Fault::TooCostly) => Err(Fault::Image("decoding it takes too much time or memory".to_owned())),
            answer => answer,
        }
    }

    /// Have an order obeyed whose images have so many pixels, as soon as it is its turn.
    async fn obey_with(
        &self,
        work: Work,
        file: &[u8],
        pixels: u64,
        images: impl Iterator<Item = (&String, &Vec<u8>)>,
    ) -> Result<Message<Answer>, Fault> {
        let waiting = Waiting(&self.waiting);
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= DRAWINGS_WAITING_MAX + self.turns.available_permits() {
            return Err(Fault::Busy);
        }
        let turn = async {
            let wanted = pixels.div_ceil(GRANT_PIXELS).min(DECODED_PIXELS_AT_ONCE / GRANT_PIXELS) as u32;
            let granted = self.pixels.acquire_many(wanted).await.expect("it is never closed");
            (granted, self.turns.acquire().await.expect("it is never closed"))
        };
        let _turn = timeout(self.wait, turn).await.map_err(|_| Fault::Busy)?;
        drop(waiting);
        let duty = Duty {
            fonts: self.options.fonts.clone().filter(|_| work.draws_text()),
            decodes: matches!(work, Work::Image(_)),
            unconfined: self.options.unconfined,
        };
        let (addresses, files): (Vec<_>, Vec<_>) = images.map(|(address, file)| (address.clone(), file.as_slice())).unzip();
        let order = Message { head: Order { work, images: addresses, pixels }, parts: [vec![file], files].concat() };
        match &self.options.program {
            Some(program) => run(program, &duty, &order).await,
            None => {
                let fonts = duty.fonts.as_deref().map(FontFiles::open).unwrap_or_default();
                let order = order.encode();
                tokio::task::spawn_blocking(move || obey_here(order, fonts)).await.map_err(|_| nonsense())
            }
        }
    }

    /// The addresses of the images that an email shows.
    pub async fn image_addresses(&self, html: &str) -> Result<Vec<String>, Fault> {
        self.obey(Work::ImageAddresses, html.as_bytes()).await?.into_image_addresses()
    }

    /// Foreign HTML, made safe.
    pub async fn clean_html(&self, html: &str) -> Result<Foreign, Fault> {
        self.obey(Work::CleanHtml, html.as_bytes()).await?.into_foreign()
    }

    /// HTML that was made safe, with changes made, and made safe again.
    pub async fn revise_html(&self, html: &str, changes: Vec<Change>) -> Result<Foreign, Fault> {
        self.obey(Work::Revise(changes), html.as_bytes()).await?.into_foreign()
    }

    /// A mail file, made safe.
    pub async fn clean_mail(&self, file: &[u8]) -> Result<Foreign, Fault> {
        self.obey(Work::CleanMail, file).await?.into_foreign()
    }

    /// An uploaded image made fit for emails, and what was measured of it.
    pub async fn prepare_upload(&self, file: &[u8]) -> Result<(Made, Measured), Fault> {
        let (made, measured) = self.decode(Task::Upload, file).await?.into_made()?;
        Ok((made, measured.ok_or_else(nonsense)?))
    }

    /// The size and colours of an image.
    pub async fn measure_image(&self, file: &[u8], content_type: &str) -> Result<Measured, Fault> {
        let task = Task::Measure { content_type: content_type.to_owned() };
        self.decode(task, file).await?.into_measured()
    }

    /// A small copy of an image.
    pub async fn preview_image(&self, file: &[u8]) -> Result<Made, Fault> {
        Ok(self.decode(Task::Preview, file).await?.into_made()?.0)
    }

    /// The top of a picture as PNG, this wide.
    pub async fn thumbnail(&self, file: &[u8], width: u32) -> Result<Vec<u8>, Fault> {
        Ok(self.decode(Task::Thumbnail { width }, file).await?.into_made()?.0.bytes)
    }

    /// What confines a worker process; none if there are no such processes.
    pub async fn confinement(&self) -> Result<Option<Confinement>, Fault> {
        if self.options.program.is_none() {
            return Ok(None);
        }
        self.obey(Work::Confinement, &[]).await?.into_confinement().map(Some)
    }
}

impl Renderer for Workers {
    fn shots<'a>(&'a self, page: &'a Page, look: &'a Look) -> Drawing<'a, Drawn<Vec<Shot>>> {
        let work = Work::Shots(look.clone());
        Box::pin(async move { self.draw(work, page).await?.into_shots() })
    }

    fn pdf<'a>(&'a self, page: &'a Page, paper: Paper, title: &'a str) -> Drawing<'a, Drawn<Vec<u8>>> {
        let work = Work::Pdf { paper, title: title.to_owned() };
        Box::pin(async move { self.draw(work, page).await?.into_pdf() })
    }
}

/// One worker, from its start to its end.
async fn run(program: &Path, duty: &Duty, order: &Message<Order, &[u8]>) -> Result<Message<Answer>, Fault> {
    let start = |error: io::Error| Fault::Unavailable(format!("the worker process does not start: {error}"));
    let mut command = Command::new(program);
    command.arg(COMMAND);
    if let Some(fonts) = &duty.fonts {
        command.arg("--fonts").arg(fonts);
    }
    command.args(duty.decodes.then_some("--decodes")).args(duty.unconfined.then_some("--unconfined"));
    command.env_clear().envs(ENVIRONMENT).current_dir("/").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut worker = Running(command.spawn().map_err(start)?);
    let input = OwnedFd::from(worker.0.stdin.take().expect("it was asked for"));
    let output = OwnedFd::from(worker.0.stdout.take().expect("it was asked for"));
    let mut input = pipe::Sender::from_owned_fd(input).map_err(start)?;
    let output = pipe::Receiver::from_owned_fd(output).map_err(start)?;
    let sending = async {
        // A worker that ended early says more by its answer or its end than by this.
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
        Err(_) => return Err(Fault::TooCostly),
        Ok(Err(error)) => return Err(Fault::Unavailable(format!("the worker process cannot be heard: {error}"))),
        Ok(Ok(_)) => {}
    }
    if answer.len() > DRAWING_ANSWER_BYTES_MAX {
        return Err(Fault::TooCostly);
    }
    if let Some(answer) = Message::decode(&answer) {
        return Ok(answer);
    }
    // Ended by a signal: out of time, out of memory, or out of stack.
    let ended = worker.end().await.map_err(start)?;
    Err(if ended.signal().is_some() { Fault::TooCostly } else { nonsense() })
}

/// Send an order piece by piece: it may be large, and is in memory once already.
async fn send(input: &mut pipe::Sender, order: &Message<Order, &[u8]>) -> io::Result<()> {
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
        image::RgbImage::new(40, 30).write_to(&mut out, image::ImageFormat::Png).expect("memory");
        out.into_inner()
    }

    #[tokio::test]
    async fn an_image_waits_until_pixels_are_given_back() {
        let workers = Workers::used_up(Duration::from_secs(10));
        let file = file();
        let give_back = async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            assert_eq!(workers.waiting.load(Ordering::Relaxed), 1);
            workers.pixels.add_permits(2);
        };
        let (measured, ()) = tokio::join!(workers.measure_image(&file, "image/png"), give_back);
        assert_eq!(measured.map(|measured| (measured.width, measured.height)), Ok((40, 30)));
        // What was granted is there again.
        assert_eq!((workers.pixels.available_permits(), workers.waiting.load(Ordering::Relaxed)), (2, 0));
    }

    #[tokio::test]
    async fn an_image_that_waits_too_long_for_pixels_is_given_up() {
        let workers = Workers::used_up(Duration::from_millis(20));
        assert_eq!(workers.measure_image(&file(), "image/png").await.map(|_| ()), Err(Fault::Busy));
        assert_eq!(workers.waiting.load(Ordering::Relaxed), 0);
        // What is not decoded needs no pixels.
        assert!(workers.clean_html("<p>x").await.is_ok());
    }
}
