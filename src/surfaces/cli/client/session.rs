//! A command's session with its server. It calls operations by ID, and stores the output settings and the default project.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::Instant;
use url::Url;

use super::super::problem::{Exit, Problem};
use super::super::terminal::note;
use super::environment::Environment;
use super::names;
use super::option_names::PROJECT;
use super::output::Output;
use super::profiles::Target;
use super::requests::{ApiResponse, Call, Payload, Remote, envelope};
use crate::engine::api::Entry;
use crate::engine::api::http_types::{Body, Peer};
use crate::engine::api::spec::Verb;
use crate::surfaces::internal_call;
use crate::vocab::limits::PAGE_LIMIT_MAX;

/// The maximum number of projects that are searched for a name. Projects beyond this number can be specified only by their IDs.
const PROJECTS_SEARCHED_MAX: u64 = 1_000;
const ID_CHARACTERS: usize = 24;
/// How long a command that polls waits for a server that cannot be reached, and the pause between its attempts.
const OUTAGE_MAX: Duration = Duration::from_secs(10 * 60);
const OUTAGE_PAUSE: Duration = Duration::from_secs(3);

pub struct Session {
    pub operations: &'static [Entry],
    pub remote: Remote,
    pub output: Output,
    /// The default project: a name or an ID.
    project: Option<String>,
}

impl Session {
    /// Opens a session with a server; fails if there is no key.
    pub fn new(operations: &'static [Entry], target: Target, output: Output) -> Result<Self, Problem> {
        target.key()?;
        let remote = Remote::new(target.url, target.key, output.notes);
        Ok(Self { operations, remote, output, project: target.project })
    }

    /// Builds the request that calls an operation with this input.
    pub fn request(&self, entry: &'static Entry, input: Map<String, Value>) -> Call {
        let incoming = internal_call::request(self.operations, entry.spec.id, input.into(), None, Peer::Operator);
        let payload = match incoming.body {
            Body::Whole(bytes) => Payload::Json(bytes),
            Body::Empty | Body::Stream { .. } => Payload::Empty,
        };
        let is_repeatable = entry.spec.verb == Verb::Get;
        Call {
            method: incoming.method,
            target: incoming.uri.to_string(),
            payload,
            headers: http::HeaderMap::new(),
            is_repeatable,
        }
    }

    /// Calls an operation; returns the data of its response.
    pub async fn call(&self, id: &str, input: Value) -> Result<Value, Problem> {
        let Value::Object(input) = input else { panic!("the input of an operation is an object") };
        let answer = self.send(&self.request(names::operation(self.operations, id), input)).await?;
        Ok(envelope(&answer)?["data"].take())
    }

    /// Like [`Session::call`], but for commands that poll: waits while the server cannot be reached, for example during an upgrade.
    pub async fn call_patiently(&self, id: &str, input: Value) -> Result<Value, Problem> {
        let deadline = Instant::now() + OUTAGE_MAX;
        loop {
            match self.call(id, input.clone()).await {
                Err(problem) if problem.code() == Exit::Unavailable as u8 && Instant::now() < deadline => {
                    tokio::time::sleep(OUTAGE_PAUSE).await;
                }
                result => return result,
            }
        }
    }

    pub async fn send(&self, call: &Call) -> Result<ApiResponse, Problem> {
        self.remote.send(call).await
    }

    /// Replaces a project's name in the input with its ID. If the operation requires a project and the input has none, uses the default
    /// project or the account's only project.
    pub async fn settle_project(&self, input: &mut Map<String, Value>, is_required: bool) -> Result<(), Problem> {
        let given = input.get(PROJECT).and_then(Value::as_str).map(str::to_owned);
        let wanted = given.or_else(|| self.project.clone().filter(|_| is_required));
        let id = match wanted {
            Some(wanted) if is_id(&wanted) => wanted,
            Some(wanted) => self.project_named(&wanted).await?,
            None if !is_required => return Ok(()),
            None => match self.only_project().await? {
                Some(id) => id,
                None => return Ok(()),
            },
        };
        input.insert(PROJECT.to_owned(), id.into());
        Ok(())
    }

    /// Returns the ID of the account's only project; `None` if the account has none or several.
    async fn only_project(&self) -> Result<Option<String>, Problem> {
        let data = self.call("projects.list", json!({ "limit": 2 })).await?;
        let projects = data["projects"].as_array().map(Vec::as_slice).unwrap_or_default();
        Ok(match projects {
            [only] => only["id"].as_str().map(str::to_owned),
            _ => None,
        })
    }

    async fn project_named(&self, name: &str) -> Result<String, Problem> {
        let wanted = name.to_lowercase();
        let mut matching: Vec<(String, String)> = Vec::new();
        for offset in (0..PROJECTS_SEARCHED_MAX).step_by(PAGE_LIMIT_MAX as usize) {
            let data = self.call("projects.list", json!({ "limit": PAGE_LIMIT_MAX, "offset": offset })).await?;
            let projects = data["projects"].as_array().cloned().unwrap_or_default();
            for project in &projects {
                let text = |name: &str| project[name].as_str().unwrap_or_default().to_lowercase();
                if text("name") == wanted || text("domain") == wanted {
                    let text = |name: &str| project[name].as_str().unwrap_or_default().to_owned();
                    matching.push((text("id"), text("name")));
                }
            }
            if (projects.len() as u64) < PAGE_LIMIT_MAX {
                break;
            }
        }
        match matching.as_slice() {
            [(id, _)] => Ok(id.clone()),
            [] => {
                let message = format!("there is no project \"{name}\"; run `mailmill projects list` to see the projects");
                Err(Problem::new(Exit::NotFound, message))
            }
            several => {
                let ids: Vec<&str> = several.iter().map(|(id, _)| id.as_str()).collect();
                Err(Problem::misused(format_args!("several projects match \"{name}\"; use one of these IDs: {}", ids.join(", "))))
            }
        }
    }
}

fn is_id(text: &str) -> bool {
    text.len() == ID_CHARACTERS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Opens a page of the server in the browser. Rejects pages on other hosts.
pub fn open_page(url: &str, server: &Url, environment: &Environment, notes: bool) {
    // For a URL with a custom scheme, the desktop can start any program, so the server must not choose the scheme.
    let is_own = url.parse::<Url>().is_ok_and(|page| matches!(page.scheme(), "http" | "https") && page.host() == server.host());
    if !is_own {
        note(&format!("The server names a page on another host. Open it only if you trust it: {url}"));
        return;
    }
    let opener =
        environment.browser.clone().unwrap_or_else(|| if cfg!(target_os = "macos") { "open" } else { "xdg-open" }.to_owned());
    let mut command = std::process::Command::new(opener);
    let quiet = || std::process::Stdio::null();
    let started = command.arg(url).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn();
    if notes || started.is_err() {
        note(&match started {
            Ok(_) => format!("Opening {url}"),
            Err(_) => format!("Open this page in a browser: {url}"),
        });
    }
}
