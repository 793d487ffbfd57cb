//! The worker process: takes one order from its standard input, does it, answers on its standard output, and ends.
//!
//! Before it reads anything it gives up what it does not need: memory and time beyond its limits, files, the network, other
//! programs. A hostile email can then cost no more than one answer. It knows nothing of the server that started it.

use std::collections::{BTreeMap, HashMap};
use std::io::{Read, Write};
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::process::ExitCode;

use super::super::foreign;
use super::draw::{self, Material};
use super::orders::{Answer, Message, Order, Work, nonsense};
use super::{Fault, sandbox};
use crate::vocab::limits::{DRAWING_STACK_BYTES, DRAWN_IMAGES_BYTES_MAX, DRAWN_INPUT_BYTES_MAX};

/// Be a worker process, from beginning to end.
pub fn run() -> ExitCode {
    if let Err(why) = sandbox::enter() {
        return answer(&Message { head: Answer::Fault(Fault::Unavailable(why.to_string())), parts: vec![] });
    }
    let mut order = Vec::new();
    let most = 2 * (DRAWN_INPUT_BYTES_MAX + DRAWN_IMAGES_BYTES_MAX) as u64;
    if std::io::stdin().lock().take(most).read_to_end(&mut order).is_err() {
        return ExitCode::FAILURE;
    }
    answer(&obey_apart(order))
}

fn answer(answer: &Message<Answer>) -> ExitCode {
    let mut out = std::io::stdout().lock();
    match out.write_all(&answer.encode()).and_then(|()| out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        // Nobody waits for the answer any more.
        Err(_) => ExitCode::FAILURE,
    }
}

/// Do what an order says, on a thread with room enough; a panic is an answer too.
pub fn obey_apart(order: Vec<u8>) -> Message<Answer> {
    let work = move || panic::catch_unwind(AssertUnwindSafe(|| obey(&order)));
    let thread = std::thread::Builder::new().name("drawing".to_owned()).stack_size(DRAWING_STACK_BYTES).spawn(work);
    let fault = match thread {
        Ok(thread) => match thread.join() {
            Ok(Ok(answer)) => return answer,
            Ok(Err(_)) | Err(_) => Fault::TooCostly,
        },
        Err(error) => Fault::Unavailable(format!("a thread cannot start: {error}")),
    };
    Message { head: Answer::Fault(fault), parts: vec![] }
}

fn obey(order: &[u8]) -> Message<Answer> {
    let done = match Message::<Order>::decode(order) {
        Some(order) => perform(order),
        None => Err(nonsense()),
    };
    done.unwrap_or_else(|fault| Message { head: Answer::Fault(fault), parts: vec![] })
}

fn perform(Message { head, parts }: Message<Order>) -> Result<Message<Answer>, Fault> {
    let mut parts = parts.into_iter();
    let text = parts.next().ok_or_else(nonsense)?;
    if head.work == Work::CleanMail {
        return foreign::mail(&text).map(Message::of_foreign).map_err(Fault::Refused);
    }
    let html = String::from_utf8(text).map_err(|_| nonsense())?;
    let images: BTreeMap<String, Vec<u8>> = head.images.into_iter().zip(parts).collect();
    let material = Material { html: &html, images: &images, fonts: head.fonts.as_deref().map(Path::new) };
    match head.work {
        Work::Shots(look) => draw::shots(&material, &look).map(Message::of_shots),
        Work::Pdf { paper, title } => {
            let drawn = draw::pdf(&material, paper, &title)?;
            Ok(Message { head: Answer::Pdf { warnings: drawn.warnings }, parts: vec![drawn.made] })
        }
        Work::CleanHtml | Work::CleanMail => {
            foreign::html(&html, &HashMap::new()).map(Message::of_foreign).map_err(Fault::Refused)
        }
        Work::Revise(changes) => foreign::revise(&html, &changes).map(Message::of_foreign).map_err(Fault::Refused),
        Work::ImageAddresses => {
            let addresses = draw::image_addresses(&html)?;
            Ok(Message { head: Answer::ImageAddresses(addresses), parts: vec![] })
        }
    }
}
