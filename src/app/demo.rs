//! `mailmill demo`: a guided first run on the command line. Afterward, the service keeps running so that users can explore it.

use std::io::IsTerminal;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use tokio::sync::watch;

use super::folder::Folder;
use super::print;
use crate::base::clock::PastClock;
use crate::base::secret::random_base62;
use crate::engine::api::call::Api;
use crate::engine::api::http_types::Peer;
use crate::engine::api::{Engine, Principal};
use crate::engine::tasks::Tasks;
use crate::features::accounts::Welcome;
use crate::features::projects::Site;
use crate::operations::OPERATIONS;
use crate::surfaces::cli::Problem;
use crate::surfaces::demo::{Ending, Story, StoryOwner, StoryProgress, shop};
use crate::surfaces::internal_call;
use crate::vocab::limits;

/// The email address of the demo's owner.
const OWNER: &str = "you@example.com";
const PASSWORD_CHARACTERS: usize = 16;

/// The website that the demo reads, and the clock that it uses.
pub struct DemoTarget {
    /// The website to read in place of the fictional shop's website.
    pub site: Option<String>,
    pub clock: Arc<PastClock>,
}

/// Returns the site and the clock for the demo in a folder. A new demo starts a few days in the past and advances its clock to the present,
/// so that opens, clicks and orders are spread over several days. An existing demo keeps its site.
pub fn target(folder: &Folder, site: Option<String>) -> Result<DemoTarget, Problem> {
    let is_new = folder.names().map_err(Problem::failed)?.is_empty();
    if let Some(Err(error)) = site.as_ref().map(|site| site.parse::<Site>()) {
        return Err(Problem::misused(format_args!("--site: {error}")));
    }
    if let Some(site) = site.as_ref().filter(|_| !is_new) {
        let shown = folder.path().display();
        return Err(Problem::misused(format_args!(
            "--site: {shown} is not empty, and the website of an existing demo cannot be changed; to use {site}, choose a new folder \
             with --data"
        )));
    }
    Ok(DemoTarget { site, clock: Arc::new(PastClock::behind(if is_new { limits::DEMO_PAST_MS } else { 0 })) })
}

/// Runs the demo if this is the first start; otherwise prints how to continue with the existing demo.
pub fn start(
    DemoTarget { site, clock }: DemoTarget,
    engine: &Arc<Engine>,
    tasks: &Tasks,
    welcome: Option<Welcome>,
    folder: &Folder,
) {
    let base = engine.base_url();
    let Some(welcome) = welcome else {
        clock.catch_up();
        print(&again(base, folder.path()));
        return;
    };
    let (engine, base) = (engine.clone(), base.to_owned());
    tasks.spawn("demo", async move {
        print("Mailmill demo with test data: no email leaves this machine.\n\n");
        let password = random_base62(engine.random.as_ref(), PASSWORD_CHARACTERS);
        if let Err(why) = own(&engine, &password).await {
            clock.catch_up();
            print(&format!("The owner account could not be created: {why}\n"));
            return;
        }
        let site = site.unwrap_or_else(|| format!("{base}{}", shop::PATH));
        let peer = Peer::Network { address: IpAddr::V4(Ipv4Addr::LOCALHOST), tls: false };
        let key = welcome.test_key.expose().clone();
        let owner = StoryOwner::Key(key.clone());
        let story = Story { api: Api::new(engine, OPERATIONS), owner, peer, site, reader: OWNER.to_owned(), clock: Some(clock) };
        let (sender, receiver) = watch::channel(StoryProgress::default());
        let (progress, ()) = futures_util::future::join(follow(receiver), story.run(sender)).await;
        print(&farewell(&base, &progress, &password, &key));
    });
}

async fn own(engine: &Arc<Engine>, password: &str) -> Result<(), String> {
    let input = json!({ "email": OWNER, "password": password });
    let request = internal_call::request(OPERATIONS, "accounts.set_up", input, None, Peer::Operator);
    let called = Api::new(engine.clone(), OPERATIONS).call_as(Principal::Operator, request).await;
    called.map(drop).map_err(|failure| failure.text())
}

/// Prints each step of the demo as it completes.
async fn follow(mut progress: watch::Receiver<StoryProgress>) -> StoryProgress {
    let mut printed = 0;
    loop {
        let now = progress.borrow_and_update().clone();
        for step in now.steps.iter().skip(printed).take_while(|step| !step.said.is_empty()) {
            print(&format!("  {:<10} {}  ({:.1} s)\n", step.title, step.said, step.milliseconds as f64 / 1000.0));
            printed += 1;
        }
        if now.ending.is_some() || progress.changed().await.is_err() {
            return now;
        }
    }
}

fn farewell(base: &str, progress: &StoryProgress, password: &str, key: &str) -> String {
    let seconds = progress.steps.iter().map(|step| step.milliseconds).sum::<i64>() as f64 / 1000.0;
    let (first, path) = match &progress.ending {
        Some(Ending::Well { message }) => {
            (format!("The demo took {seconds:.1} seconds. Your copy of the email is in the inbox, unopened:"), message.as_str())
        }
        Some(Ending::Stuck(why)) => (format!("The demo stopped: {why}\nWhat was created so far:"), "/"),
        None => ("The demo was interrupted. What was created so far:".to_owned(), "/"),
    };
    let (bold, plain) = if std::io::stdout().is_terminal() { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
    format!(
        "\n{first}\n\n    {bold}{base}/test{path}{plain}\n\n  Sign in as {OWNER} with the password {bold}{password}{plain}\n  \
         Dashboard: {base}/test/\n\n  Test API key:\n    \
         curl -H 'Authorization: Bearer {key}' '{base}/v1/projects'\n\n  Press Ctrl-C to stop. The data stays in the folder.\n\n"
    )
}

fn again(base: &str, folder: &Path) -> String {
    let folder = folder.display();
    format!(
        "The demo in {folder} is running again: {base}/test/\n  Sign in as {OWNER}. Forgot the password? mailmill reset-link --data \
         '{folder}' --email {OWNER}\n  To start over, remove the folder.\n"
    )
}
