//! `mailmill mcp`: connects standard input and output to the MCP server of a remote Mailmill service.

use std::fs::File;
use std::os::fd::AsFd;

use tokio::io::BufReader;

use crate::engine::tasks::Tasks;
use crate::surfaces::cli::{Problem, ToolForwarding, server_and_key};
use crate::surfaces::mcp::stdio::{Remote, forward};
use crate::vocab::settings::{Log, LogFormat, LogLevel};

/// Forwards messages until standard input ends.
pub fn run(wanted: ToolForwarding) -> Result<(), Problem> {
    // Standard output is reserved for MCP messages, so the log goes to standard error.
    super::start_log(&Log { level: LogLevel::Warn, format: LogFormat::Text });
    let (url, key) = server_and_key(wanted.profile, wanted.server)?;
    let remote = Remote { url, key };
    let input = stream(std::io::stdin()).map_err(|error| {
        Problem::failed(format_args!("cannot read messages from standard input: {error}; restart your MCP client"))
    })?;
    let output = stream(std::io::stdout()).map_err(|error| {
        Problem::failed(format_args!("cannot write messages to standard output: {error}; restart your MCP client"))
    })?;
    super::runtime()?.block_on(async {
        let tasks = Tasks::new(tokio::runtime::Handle::current());
        let (input, output) = (tokio::fs::File::from_std(input), tokio::fs::File::from_std(output));
        forward(remote, BufReader::new(input), output, &tasks).await.map_err(Problem::failed)
    })
}

/// Returns a standard stream as a file, which the async runtime can read and write without blocking other messages.
fn stream(stream: impl AsFd) -> std::io::Result<File> {
    Ok(File::from(stream.as_fd().try_clone_to_owned()?))
}
