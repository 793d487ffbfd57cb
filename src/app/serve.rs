//! Runs the service, from opening the data folder to completing the last request.

use std::convert::Infallible;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::select_all;
use serde_json::json;
use tokio::sync::watch;

use super::connections::Connections;
use super::demo;
use super::folder::{Folder, admin_socket};
use super::inbound;
use super::node::Node;
use super::open::OpenFolder;
use super::roles;
use crate::base::clock::{Clock, SystemClock};
use crate::base::machine;
use crate::engine::api::call::Api;
use crate::engine::api::{Engine, Failure};
use crate::engine::hold::{OnHold, clear};
use crate::engine::mail::inbound::listener::Listener as MailIn;
use crate::engine::runner;
use crate::engine::store::{self, WriteTx};
use crate::engine::tasks::{Stage, Tasks, signals};
use crate::features::accounts::{self, Welcome};
use crate::features::installation::held_work;
use crate::features::tracking;
use crate::operations::OPERATIONS;
use crate::surfaces::cli::Problem;
use crate::surfaces::dashboard::Dashboard;
use crate::surfaces::docs::WithDocs;
use crate::surfaces::http::{self, Bound, Limits, NodeClient, Options, ProxyTrust, TlsSource};
use crate::surfaces::leader::WithLeader;
use crate::surfaces::mcp::WithTools;
use crate::vocab::limits;
use crate::vocab::settings::{Server, Settings};
use crate::workers::{NODE_WORKERS, WORKERS};

/// The time that requests in progress get after a store has failed: their writes fail, but their reads can still succeed.
const GRACE_AFTER_FAILURE: Duration = Duration::from_secs(2);

/// The time allowed for recording the outcomes of messages that were in flight at shutdown.
const RECORDING_TIME: Duration = Duration::from_secs(5);

/// The options for starting the service.
pub struct Start {
    /// Whether sending resumes if the folder is a copy.
    pub resume: bool,
    pub demo: Option<demo::DemoTarget>,
    /// The cluster node that this process runs as; `None` outside a cluster.
    pub node: Option<Node>,
}

/// Serves requests until the process is asked to stop, or until a store fails.
#[expect(clippy::too_many_lines, reason = "the steps of the service's life, in their order")]
pub async fn serve(folder: Folder, settings: Settings, ready_file: Option<&Path>, start: Start) -> Result<(), Problem> {
    let Start { resume, demo, node } = start;
    let tasks = Tasks::new(tokio::runtime::Handle::current());
    let connections = fit_connections(&settings)?;
    let clock: Arc<dyn Clock> = demo.as_ref().map_or_else(|| Arc::new(SystemClock) as _, |demo| demo.clock.clone() as _);
    // The folder is opened before signal handlers are installed: if the disk is full, opening waits for space, and a signal should then end
    // the process immediately.
    let (opened, nodes) = match node {
        Some(node) => OpenFolder::open_node(folder, settings, clock, node).map(|(opened, nodes)| (opened, Some(nodes)))?,
        None => (OpenFolder::open(folder, settings, clock)?, None),
    };
    signals::listen(&tasks).map_err(|error| {
        Problem::failed(format_args!("cannot install signal handlers: {error}; check the limit on open files"))
    })?;
    let engine = opened.engine.clone();
    let (space, mut stopping) = (engine.control.space().clone(), tasks.shutdown());
    if space.is_low() {
        tracing::error!(
            "the disk is almost full: the service is read-only until space is freed (unsubscribe links and redirects work)"
        );
    }
    tasks.attend("disk space at the end", async move {
        stopping.draining().await;
        space.stop();
    });
    if let Some(on_hold) = engine.hold.current() {
        hold(&engine, &on_hold, resume && nodes.is_none()).await?;
    }
    let first = nodes.is_none() && accounts::is_untouched(&engine).map_err(Problem::failed)?;
    let client =
        nodes.as_ref().map(|nodes| NodeClient::new(nodes.secret.expose(), &tasks)).transpose().map_err(Problem::failed)?;
    let options = Options { nodes, ..options(&engine.settings, &opened.folder, connections.http) };
    let api = Api::new(engine.clone(), OPERATIONS);
    let pages = WithDocs::new(api.clone(), Dashboard::new(api.clone(), tasks.clone()));
    let docs = pages.render_ahead();
    let front = Arc::new(WithLeader::new(api.clone(), WithTools::new(api, pages, &tasks), client));
    // The reference is weak, because a strong one would keep the stores open at shutdown.
    let weak_front = Arc::downgrade(&front);
    let running = http::serve(options, front, engine.clock.clone(), engine.random.clone(), &tasks).await;
    let running = running.map_err(Problem::failed)?;
    engine.control.space().started();
    let mail_in =
        inbound::bind((&engine, weak_front.clone()), &opened.folder, running.plain_tls(), connections.inbound, &tasks).await?;
    let bound = running.addresses().clone();
    engine.set_base_url(base_url(&engine.settings, &bound));
    engine.set_listening([bound.http, bound.https, mail_in.smtp, mail_in.lmtp].into_iter().flatten().collect());
    // The workers start after the listener is bound, because messages contain links with the listener's address.
    runner::start(&tasks, &engine, NODE_WORKERS);
    match &engine.cluster {
        None => runner::start(&tasks, &engine, WORKERS),
        Some(member) => {
            let grace = engine.settings.mail.stop_seconds.seconds() + RECORDING_TIME;
            tasks.attend("role in the cluster", roles::follow(engine.clone(), member.clone(), grace));
            tasks.attend("disk of the leader", roles::leave_full_disk(engine.clone(), member.clone()));
            if let Some(front) = weak_front.upgrade() {
                tasks.attend("visits without a leader", async move { front.report_visits().await });
            }
            member.start();
        }
    }
    let welcome = if first { Some(welcome(&engine).await?) } else { None };
    match demo {
        Some(demo) => demo::start(demo, &engine, &tasks, welcome, &opened.folder),
        None => super::print(&greeting(&bound, &opened.folder, &engine.settings, (welcome.as_ref(), engine.hold.is_on()))),
    }
    let ready = ready_file.map(|file| ReadyFile::write(file, &bound, &mail_in)).transpose()?;
    // A debug build takes seconds to render the pages, and renders them again whenever a file changes, so it waits until a page is
    // requested.
    if cfg!(debug_assertions) {
        drop(docs);
    } else {
        tasks.spawn("documentation", docs);
    }

    let mut shutdown = tasks.shutdown();
    let failure = tokio::select! {
        () = shutdown.draining() => None,
        error = first_failure(opened.failures()) => Some(error),
    };
    if let Some(error) = &failure {
        tracing::error!(%error, "a store has failed; the service stops");
    }
    if let Some(member) = engine.cluster.as_ref().filter(|_| failure.is_none()) {
        // In a cluster, another node takes over before this node stops forwarding and answering requests.
        let time = engine.settings.mail.stop_seconds.seconds() + RECORDING_TIME + limits::CLUSTER_RESIGN_TIME;
        let drained = tokio::time::timeout(time, member.drain()).await;
        tracing::info!(drained = drained.is_ok(), "left the elections of the cluster");
    }
    drop(ready);
    tasks.raise(Stage::Draining);
    let grace = failure.as_ref().map_or(engine.settings.server.drain_seconds.seconds(), |_| GRACE_AFTER_FAILURE);
    let front = weak_front.upgrade().filter(|_| failure.is_none());
    let drained = running.drain(grace).await;
    if let Some(front) = front {
        tokio::select! {
            () = front.report_rest() => {}
            () = shutdown.cut() => {}
        }
    }
    if let (Some(store::Error::CommitsLost(_)), Some(member)) = (&failure, &engine.cluster) {
        member.loss_reported().await;
    }
    // After the final dot of a message (the end of the SMTP data) has been sent, the receiving server has the configured time to reply.
    let stop = engine.settings.mail.stop_seconds.seconds() + RECORDING_TIME;
    let joined = tasks.join(if failure.is_some() { grace } else { grace.max(stop) }).await;
    // Usage is saved after the last request, so that every request is counted. A leader of a cluster has already saved it during the
    // handover.
    let counted = accounts::flush_usage(&engine).await;
    let noted = tracking::flush(&engine).await;
    if let Some(backup) = &engine.backup {
        backup.finish().await;
    }
    tracing::info!(finished = drained.finished, cut = drained.cut, counted = counted.is_ok(), noted = noted.is_ok(), left = ?joined.cut, "stopped");
    drop(engine);
    opened.close();
    match failure {
        None => Ok(()),
        Some(error) => Err(failed(&error)),
    }
}

/// Returns the problem to report when the service ends because a store has failed.
fn failed(error: &store::Error) -> Problem {
    match error {
        store::Error::Io(_) | store::Error::Closed => Problem::failed(format_args!("{error}. Every confirmed change is saved")),
        // After other errors, such as a damaged file or an error of the cluster's database, confirmed changes may be lost.
        _ => Problem::failed(error),
    }
}

/// Returns the setup link and a test key, for the greeting at the first start.
async fn welcome(engine: &Arc<Engine>) -> Result<Welcome, Problem> {
    let said = |failure: Failure| failure.cause.unwrap_or_else(|| failure.code.info().message.to_owned());
    accounts::welcome(engine).await.map_err(|failure| Problem::failed(said(failure)))
}

/// Logs that sending is on hold, or resumes sending if the operator has chosen to.
async fn hold(engine: &Arc<Engine>, on_hold: &OnHold, resume: bool) -> Result<(), Problem> {
    let looking = (engine.clone(), on_hold.clone());
    let waiting = tokio::task::spawn_blocking(move || held_work::held(&looking.0, &looking.1, None)).await;
    let view = waiting.map_err(Problem::failed)?.map_err(Problem::failed)?;
    let (reason, notice) = (on_hold.cause.to_string(), view.notice.unwrap_or_default());
    if !resume {
        tracing::warn!(
            reason,
            notice,
            "sending is on hold: campaigns, retries, schedules, and webhook deliveries wait until you resume sending on the System page, \
             with POST /v1/system/hold/resume, or with `mailmill resume --data FOLDER`"
        );
        return Ok(());
    }
    let clear = |tx: &mut WriteTx<'_>| {
        clear(tx);
        Ok::<_, Infallible>(())
    };
    engine.control.write_essential(clear).await.map_err(Problem::failed)?.map_err(Problem::failed)?;
    engine.hold.release();
    tracing::warn!(reason, notice, "sending resumes because of --resume");
    Ok(())
}

async fn first_failure(stores: Vec<watch::Receiver<Option<store::Error>>>) -> store::Error {
    let waits = stores.into_iter().map(|mut store| {
        Box::pin(async move {
            match store.wait_for(Option::is_some).await {
                Ok(error) => error.clone().expect("the wait ends only when there is an error"),
                Err(_) => store::Error::Closed,
            }
        })
    });
    select_all(waits).await.0
}

/// Raises the descriptor limit to the maximum that the system allows, and reduces the number of connections to fit this limit. Fails if the
/// limit is too low for the service's own files.
fn fit_connections(settings: &Settings) -> Result<Connections, Problem> {
    let machine::Descriptors { before, now } = machine::raise_descriptor_limit();
    if now < limits::DESCRIPTORS_RESERVED as u64 {
        return Err(Problem::failed(format_args!(
            "this process may open only {now} files, but needs at least {}; raise the limit on open files (LimitNOFILE in systemd, \
             ulimit -Hn)",
            limits::DESCRIPTORS_RESERVED
        )));
    }
    let fitted = Connections::fit(settings, now);
    let Connections { http, inbound, listens, reserve, is_reduced } = fitted;
    let inbound_from = if listens { "mail servers" } else { "the local socket only" };
    tracing::info!(descriptors = now, before, http, inbound, inbound_from, reserve, "set the connection limits");
    if is_reduced {
        let wanted = settings.server.connections_max.count();
        tracing::warn!(
            descriptors = now,
            http,
            wanted,
            "the limit on open files is too low for server.connections_max HTTP connections; raise the limit (LimitNOFILE in systemd, \
             ulimit -Hn)"
        );
    }
    Ok(fitted)
}

fn options(settings: &Settings, folder: &Folder, connections: usize) -> Options {
    let server = &settings.server;
    let tls = match (&settings.tls.certificate, &settings.tls.key) {
        (Some(certificate), Some(key)) => TlsSource::Files { certificate: certificate.clone(), key: key.clone() },
        _ => TlsSource::SelfSigned { folder: folder.tls(), names: settings.tls.names.clone() },
    };
    Options {
        http: server.http,
        https: server.https,
        socket: Some(admin_socket(folder.path())),
        nodes: None,
        tls,
        proxy: ProxyTrust { behind_proxy: server.behind_proxy, networks: server.trusted_proxies.clone() },
        limits: Limits {
            header_time: server.header_read_seconds.seconds(),
            header_bytes: server.headers_bytes_max.count(),
            body_time: server.body_seconds.seconds(),
            body_rate_min: server.body_min_bytes_per_second.get(),
            idle_time: server.idle_seconds.seconds(),
            handshake_time: server.tls_handshake_seconds.seconds(),
            reply_time: server.request_seconds.seconds(),
            stall_time: stall_time(server),
            connections,
            connections_per_address: server.connections_per_address_max.count(),
            h2_streams: u32::try_from(server.http2_streams_max.get()).unwrap_or(u32::MAX),
            ..Limits::default()
        },
    }
}

/// Returns the time without progress after which a connection is cut. It is longer than the time limits of requests and bodies, so that
/// these end with a proper error response first.
fn stall_time(server: &Server) -> Duration {
    let latest = server.request_seconds.seconds().max(server.body_seconds.seconds());
    Limits::default().stall_time.max(latest + Duration::from_secs(30))
}

/// Returns the base URL of links in responses: the configured URL or, if there is none, a bound address.
fn base_url(settings: &Settings, bound: &Bound) -> String {
    match (&settings.server.public_url, bound.https, bound.http) {
        (Some(url), _, _) => url.clone(),
        // HTTP is preferred, because clients do not trust the self-signed certificate yet.
        (None, _, Some(address)) => format!("http://{}", reachable(address)),
        (None, Some(address), None) => format!("https://{}", reachable(address)),
        (None, None, None) => String::new(),
    }
}

/// The file that signals that the service accepts requests. The file is removed when the service stops accepting requests.
struct ReadyFile(PathBuf);

impl ReadyFile {
    fn write(path: &Path, bound: &Bound, mail_in: &MailIn) -> Result<Self, Problem> {
        let text = json!({
            "http": bound.http, "https": bound.https, "socket": bound.socket, "inbound": mail_in.smtp,
            "inboundLmtp": mail_in.lmtp, "pid": std::process::id(),
        });
        // Rename the complete file, so that a program that waits for the file never reads incomplete content.
        let mut aside = path.as_os_str().to_owned();
        aside.push(".part");
        let written = fs::write(&aside, format!("{text}\n")).and_then(|()| fs::rename(&aside, path));
        written.map_err(|error| {
            Problem::failed(format_args!(
                "cannot write {}, the value of --ready-file: {error}; choose a file in a writable folder on a disk with \
                 free space",
                path.display()
            ))
        })?;
        Ok(Self(path.to_path_buf()))
    }
}

impl Drop for ReadyFile {
    fn drop(&mut self) {
        // The result is ignored, because the file may already have been removed.
        let _ = fs::remove_file(&self.0);
    }
}

/// Returns the greeting to print at startup: the service's addresses and, at the first start, how to get started.
fn greeting(bound: &Bound, folder: &Folder, settings: &Settings, (welcome, is_held): (Option<&Welcome>, bool)) -> String {
    let http = bound.http.map(|address| format!("http://{}", reachable(address)));
    let https = bound.https.map(|address| format!("https://{}", reachable(address)));
    let addresses: Vec<&str> = [&http, &https].into_iter().flatten().map(String::as_str).collect();
    let version = env!("CARGO_PKG_VERSION");
    let data = folder.path().display();
    let mut text = format!("Mailmill {version} listens on {} (data: {data})\n", addresses.join(" and "));
    if is_held {
        text.push_str(&format!(
            "Sending is on hold after a restore or a copy. To see what is waiting, run `mailmill resume --data '{data}'`.\n"
        ));
    }
    let (Some(welcome), Some(base)) = (welcome, addresses.first()) else { return text };
    let links: Vec<&str> = settings.server.public_url.as_deref().into_iter().chain(addresses.iter().copied()).collect();
    let links: String = links.iter().map(|base| format!("\n    {base}{}", welcome.setup_path)).collect();
    let key = welcome.test_key.expose();
    // Clients do not trust the self-signed certificate by default, so they need the certificate file.
    let trust = match http.is_none() && settings.tls.certificate.is_none() {
        true => format!("--cacert '{}' ", folder.tls().join("cert.pem").display()),
        false => String::new(),
    };
    text.push_str(&format!(
        "\nThis is the first start.\n\n  Create the owner in a browser within 24 hours (the link works once):{links}\n\n  \
         Test API key with all permissions (it won't be shown again):\n    {key}\n\n  \
         Try it:\n    curl {trust}-H 'Authorization: Bearer {key}' '{base}/v1/projects'\n\n"
    ));
    text
}

/// Returns the address as a client on this machine would write it.
fn reachable(address: SocketAddr) -> String {
    match address.ip() {
        ip if ip.is_unspecified() => format!("localhost:{}", address.port()),
        _ => address.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::settings;

    #[test]
    fn a_request_ends_with_its_own_error_before_its_connection_is_cut() {
        for (name, seconds) in [("request_seconds", "30"), ("request_seconds", "3600"), ("body_seconds", "3600")] {
            let overrides = [(format!("server.{name}"), seconds.to_owned())];
            let server = settings::load(settings::DEFAULT, None, &[], &overrides).expect("the settings are valid").server;
            assert!(
                stall_time(&server) > server.request_seconds.seconds().max(server.body_seconds.seconds()),
                "{name} {seconds}"
            );
        }
    }

    #[test]
    fn a_failure_of_the_cluster_does_not_claim_that_every_change_is_saved() {
        let says_saved = |error: store::Error| failed(&error).to_string().ends_with("Every confirmed change is saved");
        assert!(says_saved(store::Error::Io("the disk failed".into())));
        assert!(!says_saved(store::Error::Cluster("the database has lost commits".into())));
    }
}
