//! Connects the folder, settings, stores, engine, workers and surfaces for a command.
//!
//! This is the only module that depends on all of them. Operations define what a request may do, and the engine defines how it runs.

mod administration;
mod check_data;
mod check_file;
mod cluster;
mod connections;
mod demo;
mod doctor;
mod folder;
mod inbound;
mod installation;
mod instance;
mod model_test;
mod node;
mod open;
mod rekey;
mod restore;
mod restore_brand;
mod restore_continuous;
mod restore_terminal;
mod roles;
mod serve;
#[cfg(test)]
mod tests;
mod tool_forwarding;

use node::Node;

pub use folder::Folder;
pub use open::OpenFolder;

use std::fs;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Arc;

use tokio::runtime::Runtime;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::base::clock::{Clock, SystemClock};
use crate::base::memory;
use crate::engine::api::openapi;
use crate::engine::recent_log;
use crate::engine::render::pixels;
use crate::engine::settings;
use crate::engine::store::damage;
use crate::features::projects;
use crate::operations::OPERATIONS;
use crate::surfaces::cli::{
    self, Cli, ClientCommand, Demo, Inbound, Invocation, Location, ParsedCommand, Problem, Serve, complain, output_failure, print,
};
use crate::vocab::finding::Finding;
use crate::vocab::limits;
use crate::vocab::settings::{Log, LogFormat, LogLevel, Settings};

/// Runs the command; the exit code reports the result.
pub fn run(invocation: Invocation) -> ExitCode {
    keep_panics_short();
    match invocation {
        Invocation::Administration(command) => administration_command(command),
        Invocation::Client(command) => exit_with(call_api(*command)),
    }
}

fn call_api(command: ClientCommand) -> Result<u8, Problem> {
    let built = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = built.map_err(|error| {
        Problem::failed(format_args!("cannot start the program: {error}; check the limits on threads and open files"))
    })?;
    runtime.block_on(cli::run_client(OPERATIONS, command))
}

fn administration_command(Cli { place, command }: Cli) -> ExitCode {
    memory::set_up();
    keep_to_owner();
    let done = match command.parsed() {
        ParsedCommand::Serve(serve) => run_service(&place, &serve),
        ParsedCommand::Demo(demo) => run_demo(&place, &demo),
        ParsedCommand::Doctor => return exit_with(examine(&place)),
        ParsedCommand::Administration(command) => return exit_with(administer(&place, &command)),
        ParsedCommand::Restore(wanted) => {
            load_settings(&place, &[]).and_then(|settings| restore::restore(place.data(), &settings, &wanted))
        }
        ParsedCommand::CheckData => check_data::check(place.data()),
        ParsedCommand::Rekey(wanted) => {
            load_settings(&place, &[]).and_then(|settings| rekey::rekey(place.data(), &settings, &wanted))
        }
        ParsedCommand::Cluster(command) => load_settings(&place, &[]).and_then(|settings| {
            start_log(&Log { level: settings.log.level.min(LogLevel::Warn), format: settings.log.format });
            cluster::run(place.data(), settings, &command)
        }),
        ParsedCommand::Inbound(wanted) => return accept_message(&place, &wanted),
        ParsedCommand::ModelTest(wanted) => load_settings(&place, &[]).and_then(|settings| model_test::run(&settings, &wanted)),
        ParsedCommand::Check(wanted) => {
            return exit_with(load_settings(&place, &[]).and_then(|settings| check_file::run(&settings, &wanted)));
        }
        ParsedCommand::RenderWorker(duty) => return pixels::run_worker(&duty, projects::run_site_task),
        ParsedCommand::Notices => {
            print(&pixels::notices());
            Ok(())
        }
        ParsedCommand::Mcp(wanted) => tool_forwarding::run(wanted),
        ParsedCommand::Openapi => {
            print(&format!("{:#}\n", openapi::document(OPERATIONS, None)));
            Ok(())
        }
    };
    exit_with(done.map(|()| 0))
}

fn exit_with(done: Result<u8, Problem>) -> ExitCode {
    let done = done.and_then(|code| match output_failure() {
        // If output was lost, the command fails, so that a script does not mistake incomplete output for the whole output.
        Some(error) if code == 0 => Err(Problem::failed(format_args!(
            "the command succeeded, but its output is incomplete: {error}; check the file or program that receives the output"
        ))),
        _ => Ok(code),
    });
    let code = done.unwrap_or_else(|problem| {
        complain(&format!("mailmill: {problem}\n"));
        problem.code()
    });
    ExitCode::from(code)
}

/// Makes the files that this process creates from now on accessible only to their owner.
fn keep_to_owner() {
    // SAFETY: umask only replaces this process's file mode mask, and no other thread that creates files runs yet.
    unsafe { libc::umask(0o077) };
}

/// Prints a panic as one line, without a backtrace. Prints nothing for a panic of the stores' database engine, because it becomes an error
/// that names the damaged file: see `damage`.
fn keep_panics_short() {
    std::panic::set_hook(Box::new(|panic| {
        let (file, line) = panic.location().map_or(("unknown", 0), |at| (at.file(), at.line()));
        if damage::is_engines(file) {
            return;
        }
        let payload = panic.payload();
        let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let text = text.unwrap_or("a panic without a message");
        // The result is ignored: standard error may be closed, or its disk may be full.
        let _ = writeln!(std::io::stderr(), "mailmill: internal error at {file}:{line}: {text}. Please report this.");
    }));
}

fn run_service(place: &Location, wanted: &Serve) -> Result<(), Problem> {
    let given = [("server.http", &wanted.http), ("server.https", &wanted.https)];
    let overrides: Vec<_> = given.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value.clone()?))).collect();
    let settings = load_settings(place, &overrides)?;
    start_log(&settings.log);
    let folder = folder::Folder::open(place.data()).map_err(Problem::failed)?;
    // Joining a cluster blocks until the database responds, so it happens before there is an async runtime.
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let node = Node::join(&folder, &settings, || open::space(&folder, &settings), &clock)?;
    let start = serve::Start { resume: wanted.resume, demo: None, node };
    runtime()?.block_on(serve::serve(folder, settings, wanted.ready_file.as_deref(), start))
}

fn run_demo(place: &Location, wanted: &Demo) -> Result<(), Problem> {
    // By default, the demo listens only on this machine. It reads the fictional shop like any other website, so the settings must
    // allow the shop's network.
    let given = [
        ("server.http", wanted.http.as_deref().unwrap_or("127.0.0.1:8080")),
        ("server.https", ""),
        ("server.demo_shop", "true"),
        ("outbound.allow_networks", "127.0.0.0/8"),
    ];
    let overrides: Vec<_> = given.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    let mut settings = load_settings(place, &overrides)?;
    // A demo has its own folder, even if the settings name a cluster.
    settings.cluster.database = None;
    start_log(&Log { level: settings.log.level.min(LogLevel::Warn), format: settings.log.format });
    let folder = folder::Folder::open(place.demo()).map_err(Problem::failed)?;
    let demo = demo::target(&folder, wanted.site.clone())?;
    let start = serve::Start { resume: false, demo: Some(demo), node: None };
    runtime()?.block_on(serve::serve(folder, settings, wanted.ready_file.as_deref(), start))
}

fn administer(place: &Location, command: &cli::Administration) -> Result<u8, Problem> {
    let settings = load_settings(place, &[])?;
    // The result of the command is printed to standard output, so only warnings and errors are logged.
    start_log(&Log { level: settings.log.level.min(LogLevel::Warn), format: settings.log.format });
    let said = runtime()?.block_on(administration::administer(place.data(), settings, command))?;
    complain(&said.err);
    print(&said.out);
    Ok(said.code)
}

/// Runs the checks of `mailmill doctor`. A problem that stops the checks is reported as a finding, so that the command never exits with the
/// code for incorrect usage, which `doctor` uses for warnings.
fn examine(place: &Location) -> Result<u8, Problem> {
    let settings = load_settings(place, &[]).map_err(Problem::failed)?;
    let mut local = doctor::check(place.data(), place.config.as_deref(), &settings);
    if settings.cluster.database.is_some() && !cli::is_served(&folder::admin_socket(place.data())) {
        // Only the service of a node opens the node's folder, so the other checks are skipped. A stopped node is not reported as a problem.
        let said = "this node is not running; to run the other checks, start it with `mailmill serve`";
        local.push(Finding::skipped("node", said));
        print(&cli::report(&local));
        return Ok(cli::exit_code(&local));
    }
    if !place.data().exists() {
        print(&cli::report(&local));
        return Ok(cli::exit_code(&local));
    }
    administer(place, &cli::Administration::Doctor(local.clone())).or_else(|problem| {
        // The findings of the checks that do not need the engine are useful even if the folder cannot be opened.
        local.push(Finding::problem("data", problem.to_string(), "Follow the instructions in the message above."));
        print(&cli::report(&local));
        Ok(cli::exit_code(&local))
    })
}

fn accept_message(place: &Location, wanted: &Inbound) -> ExitCode {
    let result = cli::hand_over(&folder::inbound_socket(place.data()), wanted, std::io::stdin().lock());
    if let Some(trouble) = result.trouble() {
        complain(&format!("mailmill: {trouble}\n"));
    }
    result.exit_code()
}

fn load_settings(place: &Location, overrides: &[(String, String)]) -> Result<Settings, Problem> {
    let file = match &place.config {
        None => None,
        Some(path) => {
            let text = fs::read_to_string(path);
            let unreadable = |error| {
                Problem::misused(format_args!(
                    "the settings in {} cannot be read: {error}; check the path (--config) and the file's permissions, and save the \
                     file as UTF-8 text",
                    path.display()
                ))
            };
            Some((path.as_path(), text.map_err(unreadable)?))
        }
    };
    let file = file.as_ref().map(|(path, text)| (*path, text.as_str()));
    settings::load(settings::DEFAULT, file, &cli::variables(), overrides).map_err(Problem::misused)
}

fn start_log(log: &Log) {
    let level = match log.level {
        LogLevel::Off => "off",
        LogLevel::Error => "error",
        LogLevel::Warn => "warn",
        LogLevel::Info => "info",
        LogLevel::Debug => "debug",
        LogLevel::Trace => "trace",
    };
    // The libraries log details that do not concern the operator, so only their warnings are shown. From tantivy and rmcp, only errors are
    // shown: tantivy warns about merges that it abandons because the merged documents were deleted, and rmcp warns about invalid requests
    // from clients.
    let filter = EnvFilter::new(if log.level >= LogLevel::Warn {
        format!("warn,tantivy=error,rmcp=error,mailmill={level}")
    } else {
        level.to_owned()
    });
    let for_eyes = std::io::stderr().is_terminal();
    // A line that cannot be written, for example because the disk is full, is lost; reporting the failure on the same standard error would
    // panic.
    let written = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_target(false).with_ansi(for_eyes);
    let written = written.log_internal_errors(false);
    let log_lines = tracing_subscriber::registry().with(filter).with(recent_log::RecentLogLayer);
    // `try_init` fails if there is already a subscriber. It belongs to a host process that embeds this program, so it stays in use.
    let _ = match log.format {
        LogFormat::Text => log_lines.with(written).try_init(),
        LogFormat::Json => log_lines.with(written.json()).try_init(),
    };
}

fn runtime() -> Result<Runtime, Problem> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let built = builder.enable_all().thread_name("mailmill").max_blocking_threads(limits::WAITING_THREADS_MAX).build();
    built.map_err(|error| {
        Problem::failed(format_args!("cannot start the program: {error}; check the limits on threads and open files"))
    })
}
