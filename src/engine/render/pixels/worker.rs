//! The worker process: reads one request from standard input, processes it, writes the response to standard output, and ends.
//!
//! Before the worker reads the request, it gives up access that it does not need, so that a hostile email can harm only its own response.
//! The worker gives up access to files, to the network, to other programs, and to memory and time beyond its limits. Older kernels can
//! block only some of this access.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc::{self, Sender};
use std::thread::{Builder, JoinHandle};

use super::super::{html_limits, images, imported_html, inspect};
use super::client_views;
use super::draw::{self, Material};
use super::fonts::FontFiles;
use super::protocol::{Message, WorkerReply, WorkerRequest, WorkerTask, malformed};
use super::sandbox::{self, Confinement};
use super::{FeatureTask, RenderError};
use crate::engine::clients::findings::Checker;
use crate::engine::clients::report;
use crate::vocab::limits::{
    DECODING_MEMORY_BYTES, DRAWING_MEMORY_BYTES, DRAWING_STACK_BYTES, DRAWN_IMAGES_BYTES_MAX, DRAWN_INPUT_BYTES_MAX,
};

/// An error about an unknown client quotes at most this many characters of the client's key.
const UNKNOWN_CLIENT_CHARACTERS: usize = 60;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerOptions {
    /// A folder with additional fonts.
    pub fonts: Option<PathBuf>,
    /// Whether the request processes one image file, which needs less memory than an email.
    pub decodes: bool,
    /// Whether to run even without the required confinement.
    pub unconfined: bool,
}

pub fn run(duty: &WorkerOptions, feature: FeatureTask) -> ExitCode {
    let memory = if duty.decodes { DECODING_MEMORY_BYTES } else { DRAWING_MEMORY_BYTES };
    let fonts = duty.fonts.as_deref().map(FontFiles::open).unwrap_or_default();
    let mut confinement = sandbox::isolate(memory);
    // The thread starts before the filter is active, because the filter blocks new threads.
    let drawer = match RenderThread::start(fonts, Some(feature)) {
        Ok(drawer) => drawer,
        Err(fault) => return answer(&fault.into()),
    };
    sandbox::filter_calls(&mut confinement);
    if let Some(missing) = confinement.missing().filter(|_| !duty.unconfined) {
        let why = format!(
            "the worker process cannot be confined: {missing}; if all input is trusted, set \
             rendering.require_confinement = false to run the process unconfined"
        );
        return answer(&RenderError::Unavailable(why).into());
    }
    let mut order = Vec::new();
    let most = 2 * (DRAWN_INPUT_BYTES_MAX + DRAWN_IMAGES_BYTES_MAX) as u64;
    if io::stdin().lock().take(most).read_to_end(&mut order).is_err() {
        return ExitCode::FAILURE;
    }
    answer(&drawer.obey(order, confinement))
}

fn answer(answer: &Message<WorkerReply>) -> ExitCode {
    let mut out = io::stdout().lock();
    match out.write_all(&answer.encode()).and_then(|()| out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        // The server has stopped reading the response, so the error cannot be reported.
        Err(_) => ExitCode::FAILURE,
    }
}

impl From<RenderError> for Message<WorkerReply> {
    fn from(fault: RenderError) -> Self {
        Self { head: WorkerReply::Fault(fault), parts: vec![] }
    }
}

/// A thread that waits for a request. Its stack is large enough for deeply nested HTML.
struct RenderThread {
    orders: Sender<(Vec<u8>, Confinement)>,
    thread: JoinHandle<Message<WorkerReply>>,
}

impl RenderThread {
    /// Starts the thread. When this function returns, the thread is set up and needs no more system calls to start.
    fn start(fonts: FontFiles, feature: Option<FeatureTask>) -> Result<Self, RenderError> {
        let (orders, inbox) = mpsc::channel::<(Vec<u8>, Confinement)>();
        let (ready, is_ready) = mpsc::channel();
        let work = move || {
            let _ = ready.send(());
            let Ok((order, confinement)) = inbox.recv() else { return malformed().into() };
            let obeyed = panic::catch_unwind(AssertUnwindSafe(|| obey(&order, &fonts, feature, confinement)));
            obeyed.unwrap_or_else(|_| RenderError::TooCostly.into())
        };
        let thread = Builder::new().name("drawing".to_owned()).stack_size(DRAWING_STACK_BYTES).spawn(work);
        let thread = thread
            .map_err(|error| RenderError::Unavailable(format!("cannot start a thread in the rendering process: {error}")))?;
        is_ready.recv().map_err(|_| malformed())?;
        Ok(Self { orders, thread })
    }

    /// Processes a request. A panic also results in a response.
    fn obey(self, order: Vec<u8>, confinement: Confinement) -> Message<WorkerReply> {
        // Sending fails only if the thread has already ended. Joining the thread then returns the error.
        let _ = self.orders.send((order, confinement));
        self.thread.join().unwrap_or_else(|_| RenderError::TooCostly.into())
    }
}

/// Processes a request in this process, without confinement: for tests and tools.
pub fn run_in_process(order: Vec<u8>, fonts: FontFiles, feature: Option<FeatureTask>) -> Message<WorkerReply> {
    RenderThread::start(fonts, feature).map_or_else(Into::into, |drawer| drawer.obey(order, Confinement::default()))
}

fn obey(order: &[u8], fonts: &FontFiles, feature: Option<FeatureTask>, confinement: Confinement) -> Message<WorkerReply> {
    let done = match Message::<WorkerRequest>::decode(order) {
        Some(order) => perform(order, fonts, feature, confinement),
        None => Err(malformed()),
    };
    done.unwrap_or_else(Into::into)
}

/// Parses a newer file of support tables, if there is one.
fn newer_tables(file: Option<Vec<u8>>) -> Result<Option<Checker>, RenderError> {
    file.map(|file| Checker::parse(&file)).transpose().map_err(|error| RenderError::Failed(error.to_string()))
}

fn perform(
    order: Message<WorkerRequest>,
    fonts: &FontFiles,
    feature: Option<FeatureTask>,
    confinement: Confinement,
) -> Result<Message<WorkerReply>, RenderError> {
    let Message { head: WorkerRequest { work, images: addresses, pixels }, parts } = order;
    let mut parts = parts.into_iter();
    let file = parts.next().ok_or_else(malformed)?;
    let html = || std::str::from_utf8(&file).map_err(|_| malformed());
    match work {
        WorkerTask::Shots(options) => {
            let images = addresses.into_iter().zip(parts).collect();
            draw::screenshots(&Material { html: html()?, images: &images, fonts, pixels }, &options).map(Message::of_screenshots)
        }
        WorkerTask::Pdf { paper, title } => {
            let images = addresses.into_iter().zip(parts).collect();
            let drawn = draw::pdf(&Material { html: html()?, images: &images, fonts, pixels }, paper, &title)?;
            Ok(Message { head: WorkerReply::Pdf { warnings: drawn.warnings }, parts: vec![drawn.made] })
        }
        WorkerTask::CleanHtml => {
            imported_html::html(html()?, &HashMap::new()).map(Message::of_imported_html).map_err(RenderError::Refused)
        }
        WorkerTask::CleanMail => imported_html::mail(&file).map(Message::of_imported_html).map_err(RenderError::Refused),
        WorkerTask::Revise(changes) => {
            imported_html::revise(html()?, &changes).map(Message::of_imported_html).map_err(RenderError::Refused)
        }
        WorkerTask::Inspect => {
            let inspection = inspect::inspect(html()?).map_err(RenderError::Refused)?;
            Ok(Message { head: WorkerReply::Inspection(inspection), parts: vec![] })
        }
        WorkerTask::Compatibility { clients, shares } => {
            let html = html()?;
            html_limits::admit(html).map_err(RenderError::Refused)?;
            let newer = newer_tables(parts.next())?;
            let checker = newer.as_ref().unwrap_or_else(|| Checker::embedded());
            let is_known = |client: &&String| checker.profiles.iter().any(|profile| profile.is(client));
            if let Some(unknown) = clients.iter().find(|client| !is_known(client)) {
                let all: Vec<&str> = checker.profiles.iter().map(|profile| profile.key.as_str()).collect();
                let unknown: String = unknown.chars().take(UNKNOWN_CLIENT_CHARACTERS).collect();
                return Err(RenderError::Misused(format!(
                    "\"{unknown}\" is not the ID of a supported email client; use one of: {}",
                    all.join(", ")
                )));
            }
            let checked = report::check(checker, html, &clients).with_shares(&shares);
            let json = serde_json::to_vec(&checked).map_err(|error| RenderError::Failed(error.to_string()))?;
            Ok(Message { head: WorkerReply::Report, parts: vec![json] })
        }
        WorkerTask::ClientViews { devices } => {
            let newer = newer_tables(parts.next())?;
            let checker = newer.as_ref().unwrap_or_else(|| Checker::embedded());
            client_views::of(checker, html()?, &devices).map(Message::of_client_views)
        }
        WorkerTask::ImageAddresses => {
            let addresses = draw::image_addresses(html()?)?;
            Ok(Message { head: WorkerReply::ImageAddresses(addresses), parts: vec![] })
        }
        WorkerTask::Image(task) => {
            let (done, made) = images::perform(&task, &file, pixels).map_err(RenderError::Image)?;
            Ok(Message { head: WorkerReply::Image(done), parts: vec![made] })
        }
        WorkerTask::Feature => {
            let done = feature.and_then(|run| run(&file)).ok_or_else(malformed)?;
            Ok(Message { head: WorkerReply::Feature, parts: vec![done] })
        }
        WorkerTask::Confinement => Ok(Message { head: WorkerReply::Confinement(confinement), parts: vec![] }),
    }
}
