//! The command line: its commands, the format of their output, and the connection to a running server.
//!
//! The command line has no rules of its own: a command of [`Administration`] becomes a request to an operation, sent through the given
//! `call` (to the server's socket, or to the same pipeline in this process), and the reply becomes text. A command of the client becomes an
//! HTTP request to any server. This module is independent of how stores are opened and requests are run; `app` connects the parts.

mod admin;
mod args;
mod client;
mod inbound;
mod problem;
mod socket;
mod terminal;

pub use admin::{CommandOutput, data, exit_code, perform, post, report};
pub use args::{
    Administration, CheckFile, Cli, ClusterCommand, Demo, Inbound, Location, ModelTest, ParsedCommand, Rekey, ReportFormat,
    Restore, RestoreMode, Serve, ToolForwarding,
};
pub use client::{ClientCommand, option_name, run as run_client};
pub use inbound::hand_over;
pub use problem::Problem;
pub use socket::{call as call_socket, is_served};
pub use terminal::{complain, output_failure, print};

use std::ffi::OsString;

use clap::builder::Resettable;
use clap::{CommandFactory, FromArgMatches};

use url::Url;

use crate::base::secret::Secret;
use crate::engine::api::Entry;

/// The environment variables that set the global options of administration commands, each with the name of its option. All other variables
/// with the prefix `MAILMILL_` are settings, except those of the client.
const OWN_VARIABLES: [(&str, &str); 2] = [("MAILMILL_DATA", "data"), ("MAILMILL_CONFIG", "config")];

/// The global options that take a value. The word after such an option is that value, not a command.
const OPTIONS_WITH_VALUES: [&str; 4] = ["--data", "--config", "--profile", "--server"];

#[derive(Debug)]
pub enum Invocation {
    /// A command for the server on this machine.
    Administration(Cli),
    /// A request to the API of any server.
    Client(Box<ClientCommand>),
}

/// Parses the command line. Exits the process for `--help`, `--version` and invalid arguments.
pub fn parse(operations: &'static [Entry]) -> Invocation {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    // `mailmill help contacts list` means `mailmill contacts list --help`.
    let words = words(&arguments);
    if words.first().is_some_and(|word| word == "help") && words.get(1).is_some_and(|word| client::is_command(operations, word)) {
        arguments.retain(|argument| argument != "help");
        arguments.push("--help".into());
        return client_command(operations, arguments, &words[1..]);
    }
    if words.first().is_some_and(|word| client::is_command(operations, word)) {
        return client_command(operations, arguments, &words);
    }
    let mut command = client::with_help(Cli::command(), operations);
    // An empty variable is ignored: clap treats it as a value, but an empty path is invalid.
    for (_, argument) in OWN_VARIABLES.iter().filter(|(name, _)| variable(name).is_some_and(|value| value.is_empty())) {
        command = command.mut_arg(argument, |argument| argument.env(Resettable::Reset));
    }
    Invocation::Administration(Cli::from_arg_matches(&command.get_matches_from(arguments)).unwrap_or_else(|error| error.exit()))
}

fn client_command(operations: &'static [Entry], arguments: Vec<OsString>, words: &[String]) -> Invocation {
    let environment = client::Environment::read(variable);
    Invocation::Client(Box::new(client::parse(operations, Cli::command(), arguments, words, environment)))
}

/// Returns the arguments that are neither options nor values of global options.
fn words(arguments: &[OsString]) -> Vec<String> {
    let mut words = Vec::new();
    let mut arguments = arguments.iter().skip(1);
    while let Some(argument) = arguments.next() {
        let text = argument.to_string_lossy();
        if OPTIONS_WITH_VALUES.contains(&text.as_ref()) {
            arguments.next();
        } else if !text.starts_with('-') {
            words.push(text.into_owned());
        }
    }
    words
}

/// Returns the server and key that the client uses with these options.
pub fn server_and_key(profile: Option<String>, server: Option<String>) -> Result<(Url, Secret), Problem> {
    let environment = client::Environment::read(variable);
    let target = client::Profiles::load(&environment)?.target(profile, server, &environment)?;
    let key = target.key()?;
    Ok((target.url, key))
}

fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

/// Returns the environment variables from which `engine/settings` reads the settings: all except those of the command line itself.
#[expect(clippy::disallowed_methods, reason = "the one place that reads all settings from the environment")]
pub fn variables() -> Vec<(String, String)> {
    let is_own = |name: &str| OWN_VARIABLES.iter().any(|(own, _)| *own == name) || client::VARIABLES.contains(&name);
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.to_string_lossy().into_owned())))
        .filter(|(name, _)| !is_own(name))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_command_are_found_among_options() {
        let of = |line: &str| words(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert_eq!(of("mailmill --profile work contacts --json list"), ["contacts", "list"]);
        assert_eq!(of("mailmill --data=x serve"), ["serve"]);
        assert!(of("mailmill --help").is_empty());
    }
}
