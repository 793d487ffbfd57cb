//! The command line: its commands, the format of their output, and the connection to a running server.
//!
//! The command line has no rules of its own: an administration command becomes a request to an operation, sent through the given `call` (to
//! the server's socket, or to the same pipeline in this process), and the reply becomes text. This module is independent of how stores are
//! opened and requests are run; `app` connects the parts.

mod admin;
mod args;
mod inbound;
mod problem;
mod socket;

pub use admin::{CommandOutput, exit_code, perform, report};
pub use args::{
    Administration, CheckFile, Cli, Demo, Inbound, Location, ModelTest, ParsedCommand, Rekey, ReportFormat, Restore, Serve,
    ToolForwarding,
};
pub use inbound::hand_over;
pub use problem::Problem;
pub use socket::{call as call_socket, is_served};

use clap::builder::Resettable;
use clap::{CommandFactory, FromArgMatches};

/// The environment variables that the command line reads itself, with their arguments. All other variables with this prefix are settings.
const OWN_VARIABLES: [(&str, &str); 2] = [("MAILMILL_DATA", "data"), ("MAILMILL_CONFIG", "config")];

/// The environment variables of `mailmill mcp`, which are not settings.
const CLIENT_VARIABLES: [&str; 2] = ["MAILMILL_KEY", "MAILMILL_URL"];

/// Parses the command line. Exits the process for `--help`, `--version` and invalid arguments.
pub fn parse() -> Cli {
    let mut command = Cli::command();
    // An empty variable is ignored: clap treats it as a value, but an empty path is invalid.
    for (_, argument) in OWN_VARIABLES.iter().filter(|(name, _)| std::env::var_os(name).is_some_and(|value| value.is_empty())) {
        command = command.mut_arg(argument, |argument| argument.env(Resettable::Reset));
    }
    Cli::from_arg_matches(&command.get_matches()).unwrap_or_else(|error| error.exit())
}

/// Returns all environment variables except [`OWN_VARIABLES`] and [`CLIENT_VARIABLES`]. `engine/settings` reads those that are settings.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
pub fn variables() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.to_string_lossy().into_owned())))
        .filter(|(name, _)| !OWN_VARIABLES.iter().any(|(own, _)| own == name) && !CLIENT_VARIABLES.contains(&name.as_str()))
        .collect()
}
