//! Worker processes, seen from the server: started with an order, listened to, ended in time.
//!
//! A worker lives for one order. As many run at once as there are processors; a bounded number of orders waits. It does not know
//! what the orders are about.

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
use super::orders::{Answer, Message, Order, Work, nonsense};
use super::worker::obey_apart;
use super::{Drawing, Drawn, Fault, Look, Options, Page, Paper, Renderer, Shot};
use crate::vocab::limits::{DRAWING_ANSWER_BYTES_MAX, DRAWING_TIME, DRAWINGS_WAITING_MAX};

/// The word on the command line that makes a process a worker.
const COMMAND: &str = "render-worker";
/// A worker's whole environment: its allocator takes memory when it is needed and gives it back at once, which costs a server time but
/// halves what a process of a tenth of a second takes.
const ENVIRONMENT: [(&str, &str); 2] = [("MIMALLOC_ARENA_EAGER_COMMIT", "0"), ("MIMALLOC_PURGE_DELAY", "0")];
/// How often and how long a process is looked at that has closed its output and ought to end.
const LOOKS: u32 = 100;
const LOOK: Duration = Duration::from_millis(5);

/// Everything that starts worker processes.
pub struct Workers {
    options: Options,
    turns: Semaphore,
    waiting: AtomicUsize,
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
        Self { options, turns: Semaphore::new(processors), waiting: AtomicUsize::new(0) }
    }

    async fn obey(&self, work: Work, page: (&[u8], impl Iterator<Item = (&String, &Vec<u8>)>)) -> Result<Message<Answer>, Fault> {
        let (html, given) = page;
        let fonts = self.options.fonts.as_ref().map(|folder| folder.to_string_lossy().into_owned());
        let mut order = Message { head: Order { work, images: Vec::new(), fonts }, parts: vec![html.to_vec()] };
        for (address, file) in given {
            order.head.images.push(address.clone());
            order.parts.push(file.clone());
        }
        let waiting = Waiting(&self.waiting);
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= DRAWINGS_WAITING_MAX + self.turns.available_permits() {
            return Err(Fault::Busy);
        }
        let _turn = self.turns.acquire().await.expect("it is never closed");
        drop(waiting);
        match &self.options.program {
            Some(program) => run(program, &order.encode()).await,
            None => {
                let work = move || obey_apart(order.encode());
                tokio::task::spawn_blocking(work).await.map_err(|_| nonsense())
            }
        }
    }

    /// The addresses of the images that an email shows.
    pub async fn image_addresses(&self, html: &str) -> Result<Vec<String>, Fault> {
        self.obey(Work::ImageAddresses, (html.as_bytes(), [].into_iter())).await?.into_image_addresses()
    }

    /// Foreign HTML, made safe.
    pub async fn clean_html(&self, html: &str) -> Result<Foreign, Fault> {
        self.obey(Work::CleanHtml, (html.as_bytes(), [].into_iter())).await?.into_foreign()
    }

    /// HTML that was made safe, with changes made, and made safe again.
    pub async fn revise_html(&self, html: &str, changes: Vec<Change>) -> Result<Foreign, Fault> {
        self.obey(Work::Revise(changes), (html.as_bytes(), [].into_iter())).await?.into_foreign()
    }

    /// A mail file, made safe.
    pub async fn clean_mail(&self, file: &[u8]) -> Result<Foreign, Fault> {
        self.obey(Work::CleanMail, (file, [].into_iter())).await?.into_foreign()
    }
}

impl Renderer for Workers {
    fn shots<'a>(&'a self, page: &'a Page, look: &'a Look) -> Drawing<'a, Drawn<Vec<Shot>>> {
        let work = Work::Shots(look.clone());
        Box::pin(async move { self.obey(work, (page.html.as_bytes(), page.images.iter())).await?.into_shots() })
    }

    fn pdf<'a>(&'a self, page: &'a Page, paper: Paper, title: &'a str) -> Drawing<'a, Drawn<Vec<u8>>> {
        let work = Work::Pdf { paper, title: title.to_owned() };
        Box::pin(async move { self.obey(work, (page.html.as_bytes(), page.images.iter())).await?.into_pdf() })
    }
}

/// One worker, from its start to its end.
async fn run(program: &Path, order: &[u8]) -> Result<Message<Answer>, Fault> {
    let start = |error: io::Error| Fault::Unavailable(format!("the worker process does not start: {error}"));
    let mut command = Command::new(program);
    command
        .arg(COMMAND)
        .env_clear()
        .envs(ENVIRONMENT)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut worker = Running(command.spawn().map_err(start)?);
    let input = OwnedFd::from(worker.0.stdin.take().expect("it was asked for"));
    let output = OwnedFd::from(worker.0.stdout.take().expect("it was asked for"));
    let mut input = pipe::Sender::from_owned_fd(input).map_err(start)?;
    let output = pipe::Receiver::from_owned_fd(output).map_err(start)?;
    let send = async {
        // A worker that ended early says more by its answer or its end than by this.
        let _ = input.write_all(order).await;
        drop(input);
    };
    let mut answer = Vec::new();
    let receive = async {
        let mut output = output.take(DRAWING_ANSWER_BYTES_MAX as u64 + 1);
        output.read_to_end(&mut answer).await
    };
    let exchanged = timeout(DRAWING_TIME, async { tokio::join!(send, receive).1 }).await;
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
