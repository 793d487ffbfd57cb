//! A Chromium process and its protocol: commands and events as JSON over two private pipes.
//!
//! Chromium runs with the built-in fonts, and with switches that prevent contact with other machines. Every request from a page is answered
//! with a provided file or rejected.

use std::collections::HashMap;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, LazyLock};

use data_encoding::BASE64;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use url::Url;

use super::super::RenderError;
use super::super::fonts;
use crate::vocab::limits::{DRAWING_ANSWER_BYTES_MAX, DRAWINGS_PER_BROWSER_MAX};

/// The maximum length of a message. Base64 turns three bytes into four, and the rest of a message is small, so twice the maximum output of
/// a rendering is enough.
const MESSAGE_BYTES_MAX: usize = DRAWING_ANSWER_BYTES_MAX * 2;

/// The command-line switches that do not depend on the machine.
const SWITCHES: &[&str] = &[
    "--headless",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-gpu",
    "--disable-extensions",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-breakpad",
    "--disable-dev-shm-usage",
    "--mute-audio",
    "--hide-scrollbars",
    "--disable-lcd-text",
    "--font-render-hinting=none",
    "--force-color-profile=srgb",
    "--disable-checker-imaging",
    // Host names are not resolved, and requests to IP addresses go to a port on which no program listens.
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
];

/// A running Chromium, whose processes are all killed on drop.
pub struct Browser {
    process: Child,
    input: pipe::Sender,
    output: pipe::Receiver,
    heard: Vec<u8>,
    last: u64,
    /// The number of renderings until the browser is replaced. Without replacement, a browser would use more and more memory.
    pub drawings_left: u32,
    /// The files that answer requests from the current page, keyed by URL.
    files: HashMap<String, Arc<Vec<u8>>>,
    /// The URLs that the page requested but that are not in `files`.
    refused: Vec<String>,
}

impl Drop for Browser {
    fn drop(&mut self) {
        let group = -(self.process.id() as i32);
        // SAFETY: the call sends a signal to the process group created for the browser and its helpers, and touches no memory.
        unsafe { libc::kill(group, libc::SIGKILL) };
        // Waiting can fail only if other code has already waited for the process, and no other code waits for it.
        let _ = self.process.wait();
    }
}

/// Returns the error for a failed exchange with Chromium.
fn interrupted(why: impl std::fmt::Display) -> RenderError {
    RenderError::Unavailable(format!("communication with Chromium failed: {why}"))
}

impl Browser {
    /// Starts Chromium, with its profile and fonts in `folder`.
    pub fn start(
        program: &Path,
        (folder, further_fonts): (&Path, Option<&Path>),
        is_sandboxed: bool,
    ) -> Result<Self, RenderError> {
        let failed = |error: io::Error| {
            RenderError::Unavailable(format!(
                "could not start Chromium at {} (setting rendering.chromium): {error}",
                program.display()
            ))
        };
        let fonts = write_fonts(folder, further_fonts).map_err(|error| {
            RenderError::Unavailable(format!("could not write the fonts for Chromium in {}: {error}", folder.display()))
        })?;
        let mut command = Command::new(program);
        command.args(SWITCHES).arg(format!("--user-data-dir={}", folder.join("profile").display()));
        command.args((!is_sandboxed).then_some("--no-sandbox"));
        command.env_clear().env("HOME", folder).env("PATH", "/usr/local/bin:/usr/bin:/bin").env("FONTCONFIG_FILE", fonts);
        command.current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
        // SAFETY: only dup2 is called between fork and exec, which is allowed. Chromium reads from descriptor 3 and writes to 4.
        unsafe {
            command.pre_exec(|| match (libc::dup2(0, 3), libc::dup2(1, 4)) {
                (3, 4) => Ok(()),
                _ => Err(io::Error::last_os_error()),
            });
        }
        let mut process = command.spawn().map_err(failed)?;
        let input = OwnedFd::from(process.stdin.take().expect("the pipe was requested"));
        let output = OwnedFd::from(process.stdout.take().expect("the pipe was requested"));
        Ok(Self {
            input: pipe::Sender::from_owned_fd(input).map_err(failed)?,
            output: pipe::Receiver::from_owned_fd(output).map_err(failed)?,
            process,
            heard: Vec::new(),
            last: 0,
            drawings_left: DRAWINGS_PER_BROWSER_MAX,
            files: HashMap::new(),
            refused: Vec::new(),
        })
    }

    /// Provides these files for requests from the next page.
    pub fn provide<'a>(&mut self, files: impl Iterator<Item = (&'a String, &'a Arc<Vec<u8>>)>) {
        self.files = files.map(|(address, file)| (normal(address), file.clone())).collect();
        self.refused.clear();
    }

    /// Returns the URLs that the page requested but that were not provided, and clears the list.
    pub fn take_refused(&mut self) -> Vec<String> {
        std::mem::take(&mut self.refused)
    }

    /// Sends a command and waits for its result. While waiting, answers requests from pages.
    pub async fn call(&mut self, session: Option<&str>, method: &str, parameters: Value) -> Result<Value, RenderError> {
        let number = self.say(session, method, parameters).await?;
        loop {
            let mut message = self.hear().await?;
            if message["id"] == number {
                if let Some(error) = message.get("error") {
                    return Err(RenderError::Failed(format!(
                        "{method}: {}",
                        error["message"].as_str().unwrap_or("Chromium gave no reason")
                    )));
                }
                return Ok(message["result"].take());
            }
            if message["method"] == "Fetch.requestPaused" {
                self.answer_request(&message).await?;
            }
        }
    }

    async fn say(&mut self, session: Option<&str>, method: &str, parameters: Value) -> Result<u64, RenderError> {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": parameters });
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.input.write_all(&bytes).await.map_err(interrupted)?;
        Ok(self.last)
    }

    async fn hear(&mut self) -> Result<Value, RenderError> {
        let mut searched = 0;
        loop {
            if let Some(end) = self.heard[searched..].iter().position(|byte| *byte == 0).map(|found| searched + found) {
                let message = serde_json::from_slice(&self.heard[..end]).map_err(interrupted);
                self.heard.drain(..=end);
                return message;
            }
            searched = self.heard.len();
            if searched > MESSAGE_BYTES_MAX {
                return Err(RenderError::TooCostly);
            }
            let mut chunk = vec![0; 64 * 1024];
            match self.output.read(&mut chunk).await.map_err(interrupted)? {
                0 => return Err(interrupted("the Chromium process has ended")),
                length => self.heard.extend_from_slice(&chunk[..length]),
            }
        }
    }

    async fn answer_request(&mut self, message: &Value) -> Result<(), RenderError> {
        let parameters = &message["params"];
        let address = parameters["request"]["url"].as_str().unwrap_or_default();
        let request = &parameters["requestId"];
        let session = message["sessionId"].as_str();
        let (method, answer) = match self.files.get(&normal(address)) {
            Some(file) => {
                let kind = image::guess_format(file).map_or("application/octet-stream", |format| format.to_mime_type());
                let headers = json!([{ "name": "Content-Type", "value": kind }]);
                let body = BASE64.encode(file);
                (
                    "Fetch.fulfillRequest",
                    json!({ "requestId": request, "responseCode": 200, "responseHeaders": headers, "body": body }),
                )
            }
            None => {
                self.refused.push(address.strip_prefix(BASE).unwrap_or(address).to_owned());
                // With `Aborted`, a page that tries to navigate stays open; any other reason would show an error page.
                let reason = if parameters["resourceType"] == "Document" { "Aborted" } else { "BlockedByClient" };
                ("Fetch.failRequest", json!({ "requestId": request, "errorReason": reason }))
            }
        };
        // The result of this command arrives later among other messages and is ignored.
        self.say(session, method, answer).await.map(|_| ())
    }
}

/// The base for relative URLs: a host that does not exist. Without a base, a browser would not request relative URLs, and so would not draw
/// some images that the built-in engine draws.
pub const BASE: &str = "https://email.invalid/";
static BASE_URL: LazyLock<Url> = LazyLock::new(|| BASE.parse().expect("the address is valid"));

/// Returns a URL as browsers normalize it, so that URLs in HTML and those reported by the browser are equal.
fn normal(address: &str) -> String {
    let Ok(mut url) = BASE_URL.join(address) else { return address.to_owned() };
    url.set_fragment(None);
    url.into()
}

/// The fontconfig rules that disable font hinting, because text on most screens is drawn without it.
const UNHINTED: &str = "<match target=\"font\"><edit name=\"hinting\" mode=\"assign\"><bool>false</bool></edit>\
    <edit name=\"hintstyle\" mode=\"assign\"><const>hintnone</const></edit></match>\n\
    <match target=\"pattern\"><edit name=\"hinting\" mode=\"assign\"><bool>false</bool></edit>\
    <edit name=\"hintstyle\" mode=\"assign\"><const>hintnone</const></edit></match>\n";

/// Writes the built-in fonts for the browser, with rules that use them in place of the fonts that they replace. Returns the path of the
/// fontconfig file.
fn write_fonts(folder: &Path, further: Option<&Path>) -> io::Result<PathBuf> {
    let fonts = folder.join("fonts");
    DirBuilder::new().recursive(true).mode(0o700).create(&fonts)?;
    let mut rules = String::new();
    for (number, (names, faces, generic)) in fonts::families().enumerate() {
        for (face, bytes) in faces.iter().enumerate() {
            let file = fonts.join(format!("{number}-{face}.ttf"));
            if fs::metadata(&file).is_ok_and(|found| found.len() == bytes.len() as u64) {
                continue;
            }
            fs::write(&file, bytes)?;
        }
        let Some((family, aliases)) = names.split_first() else { continue };
        for alias in aliases.iter().chain(generic) {
            rules.push_str(&format!(
                "<match target=\"pattern\"><test qual=\"any\" name=\"family\"><string>{alias}</string></test>\
                 <edit name=\"family\" mode=\"assign\" binding=\"same\"><string>{family}</string></edit></match>\n"
            ));
        }
    }
    let quoted = |path: &Path| path.to_string_lossy().replace('&', "&amp;").replace('<', "&lt;");
    let further = further.map(|folder| format!("<dir>{}</dir>", quoted(folder))).unwrap_or_default();
    let text = format!(
        "<?xml version=\"1.0\"?>\n<!DOCTYPE fontconfig SYSTEM \"fonts.dtd\">\n<fontconfig><dir>{}</dir>{further}\
         <cachedir>{}</cachedir>\n{UNHINTED}{rules}</fontconfig>\n",
        quoted(&fonts),
        quoted(&folder.join("fontcache"))
    );
    let file = folder.join("fonts.conf");
    fs::write(&file, text)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_normalized_in_any_notation() {
        for (html, browser) in [
            ("HTTPS://X.example", "https://x.example/"),
            (" https://x.example/a b.png#c", "https://x.example/a%20b.png"),
            ("https://x.example/ü?q=\"", "https://x.example/%C3%BC?q=%22"),
            ("https://x.example?A", "https://x.example/?A"),
            ("images/a b.png", "https://email.invalid/images/a%20b.png"),
            ("{{ hero }}", "https://email.invalid/%7B%7B%20hero%20%7D%7D"),
        ] {
            assert_eq!(normal(html), browser);
            assert_eq!(normal(browser), browser);
        }
    }
}
