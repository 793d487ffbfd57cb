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

use clap::Parser;

/// Variables that the command line consumes itself; all others that begin alike are settings.
const OWN_VARIABLES: [&str; 2] = ["MAILMILL_DATA", "MAILMILL_CONFIG"];

/// What was asked on the command line. Ends the process by itself for `--help`, `--version` and what cannot be read.
pub fn parse() -> Cli {
    Cli::parse()
}

/// The variables of the environment that are settings.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
pub fn variables() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.to_string_lossy().into_owned())))
        .filter(|(name, _)| !OWN_VARIABLES.contains(&name.as_str()))
        .collect()
}
