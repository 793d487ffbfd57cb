//! The program's help, which lists administration commands and API commands separately.

use std::path::PathBuf;

use clap::{Arg, Command, value_parser};
use unicode_width::UnicodeWidthStr;

use super::{names, own};
use crate::engine::api::Entry;

/// The width of the help text, which fits nearly every terminal.
pub const WIDTH: usize = 80;
/// The width of the column that contains the names.
const NAMES: usize = 20;

/// The commands that need neither a data folder nor a server.
const WITHOUT_SERVER: [&str; 3] = ["check", "openapi", "notices"];
/// The command that connects standard input and output to a profile's MCP server. Like the client's commands, it needs a profile.
const MCP: &str = "mcp";

/// The end of the help, which is shown with `--help` but not with `-h`.
const EXIT_CODES: &str = "Exit codes of API commands:
  0  success
  1  the command failed, for example because a generation failed
  2  the arguments or the input are invalid
  3  the key is missing, invalid, or lacks a permission
  4  the object does not exist
  5  the state of the object does not allow the command
  6  the request budget or a quota is used up
  7  the server cannot be reached or has a problem
  8  not confirmed: add --yes if no terminal is available for a prompt
  130  interrupted with Ctrl-C

Environment variables of API commands:
  MAILMILL_KEY      the API key, instead of the key of the default profile;
                    --profile overrides it
  MAILMILL_URL      the server's URL; --server and --profile override it
  MAILMILL_PROFILE  the profile
  MAILMILL_PROJECT  the default project: a name or an ID
  NO_COLOR          no colors
  SSL_CERT_FILE     the trusted certificates, for a server with its own

Times in tables are in UTC.";

/// Returns the template of the program's help, with the commands in `administration` and the client's commands.
pub fn template(administration: &Command, operations: &'static [Entry]) -> String {
    let all: Vec<(String, String)> = administration
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
        .map(|command| (command.get_name().to_owned(), about(command)))
        .collect();
    let without_server = |name: &str| WITHOUT_SERVER.contains(&name);
    let local = all.iter().filter(|(name, _)| !without_server(name) && name != MCP).cloned();
    let free = all.iter().filter(|(name, _)| without_server(name)).cloned();
    let own = own::commands();
    let own = own.iter().map(|command| (command.get_name().to_owned(), about(command)));
    let own = own.chain(all.iter().filter(|(name, _)| name == MCP).cloned());
    let resources = names::resources(operations).into_iter().map(|(name, about)| (name.to_owned(), about.to_owned()));
    format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n\
         Administration of this server (on its machine, without a key):\n{}\n\
         Tools that need no server:\n{}\n\
         API client (for any server; start with `mailmill login URL`):\n{}\n\
         Resources of the API client (`mailmill RESOURCE --help` lists their commands):\n{}\n\
         Options:\n{{options}}{{after-help}}",
        list(local),
        list(free),
        list(own),
        list(resources),
    )
}

/// Hides the option for the data folder in the help of the commands that do not use it. These commands still accept the option, because it
/// is global.
pub fn without_data(administration: Command) -> Command {
    let data = || Arg::new("data").long("data").value_name("DIR").value_parser(value_parser!(PathBuf)).hide(true);
    let hidden = |command: Command, name: &str| command.mut_subcommand(name, |own| own.arg(data()));
    WITHOUT_SERVER.into_iter().fold(administration, hidden)
}

pub fn long_text() -> &'static str {
    EXIT_CODES
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

/// Formats commands with their summaries, and wraps the summaries.
fn list(commands: impl Iterator<Item = (String, String)>) -> String {
    let mut out = String::new();
    for (name, about) in commands {
        let mut line = format!("  {name:<width$}", width = NAMES - 3);
        for word in about.split(' ') {
            if line.width() + 1 + word.width() > WIDTH {
                out.push_str(&format!("{line}\n"));
                line = " ".repeat(NAMES - 1);
            }
            line = format!("{line} {word}");
        }
        out.push_str(&format!("{line}\n"));
    }
    out
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::super::super::args::Cli;
    use super::super::VARIABLES;
    use super::*;
    use crate::operations::OPERATIONS;

    #[test]
    fn the_help_fits_80_columns_and_has_every_command() {
        let administration = Cli::command();
        let text = template(&administration, OPERATIONS);
        assert!(text.lines().chain(long_text().lines()).all(|line| line.width() <= WIDTH), "{text}");
        let has = |name: &str| text.lines().any(|line| line.trim_start().starts_with(&format!("{name} ")));
        for name in ["serve", "keys", "backup", "login", "api", "contacts", "incoming-webhooks"] {
            assert!(has(name), "{name}: {text}");
        }
        assert!(!text.contains("render-worker"));
    }

    #[test]
    fn the_documentation_has_the_exit_codes_and_the_variables_of_the_help() {
        let page = include_str!("../../../../assets/docs/command-line.md").replace('`', "");
        let (codes, variables) = long_text().split_once("\n\n").expect("two sections");
        for line in codes.lines().skip(1) {
            let (code, meaning) = line.trim().split_once("  ").expect("a code and its meaning");
            assert!(page.contains(&format!("\n| {code} | {meaning} |")), "{line}");
        }
        for name in VARIABLES {
            assert!(page.contains(&format!("\n| {name} |")) && variables.contains(name), "{name}");
        }
    }

    #[test]
    fn commands_without_data_do_not_list_the_data_folder() {
        let mut command = without_data(Cli::command());
        command.build();
        for (name, is_listed) in [("check", false), ("openapi", false), ("serve", true)] {
            let own = command.find_subcommand_mut(name).expect("the command exists");
            assert_eq!(own.render_long_help().to_string().contains("--data"), is_listed, "{name}");
        }
        let given = ["mailmill", "check", "--data", "x", "news.html"];
        assert!(without_data(Cli::command()).try_get_matches_from(given).is_ok());
    }

    #[test]
    fn no_resource_has_the_name_of_an_administration_command() {
        let administration = Cli::command();
        let local: Vec<&str> = administration.get_subcommands().map(Command::get_name).collect();
        let own = own::commands();
        let client = names::resources(OPERATIONS).into_iter().map(|(name, _)| name).chain(own.iter().map(Command::get_name));
        let both: Vec<&str> = client.filter(|name| local.contains(name)).collect();
        assert!(both.is_empty(), "{both:?}");
    }
}
