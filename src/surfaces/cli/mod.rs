//! The command line: what can be asked, how the answer is said, and the way to a running server.
//!
//! It has no rules of its own: an administration command becomes a request to an operation, handed to whatever stands behind the
//! `call` it is given (the server through its socket, or the same pipeline in this process), and the reply becomes text. It does
//! not know how stores are opened or requests are run; that is composed in `app`.

mod admin;
mod args;
mod inbound;
mod problem;
mod socket;

pub use admin::{CommandOutput, perform, report};
pub use args::{Administration, Cli, Demo, Inbound, Location, ParsedCommand, Rekey, Restore, Serve};
pub use inbound::hand_over;
pub use problem::Problem;
pub use socket::{call as call_socket, is_served};

use clap::builder::Resettable;
use clap::{CommandFactory, FromArgMatches};

/// Variables that the command line consumes itself, with the arguments they stand for; all others that begin alike are settings.
const OWN_VARIABLES: [(&str, &str); 2] = [("MAILMILL_DATA", "data"), ("MAILMILL_CONFIG", "config")];

/// What was asked on the command line. Ends the process by itself for `--help`, `--version` and what cannot be read.
pub fn parse() -> Cli {
    let mut command = Cli::command();
    // To clap an empty variable is a value, and an empty path is none.
    for (_, argument) in OWN_VARIABLES.iter().filter(|(name, _)| std::env::var_os(name).is_some_and(|value| value.is_empty())) {
        command = command.mut_arg(argument, |argument| argument.env(Resettable::Reset));
    }
    Cli::from_arg_matches(&command.get_matches()).unwrap_or_else(|error| error.exit())
}

/// The variables of the environment that are settings.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
pub fn variables() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.to_string_lossy().into_owned())))
        .filter(|(name, _)| !OWN_VARIABLES.iter().any(|(own, _)| own == name))
        .collect()
}
