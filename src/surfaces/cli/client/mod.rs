//! The command-line client: every operation that an API key can call is a command.
//!
//! The commands are generated from the table of operations, which `app` passes in, so they cannot lag behind the API. A command sends HTTP
//! requests to the server of a profile, like any other program.

mod api;
mod arguments;
mod commands;
mod environment;
mod examples;
mod extras;
mod features;
mod fields;
mod help;
mod listen;
mod login;
mod names;
mod operation;
mod option_names;
mod output;
mod own;
mod profiles;
mod progress;
mod requests;
mod safety;
mod session;
mod table;
mod upload;
mod wait;
mod watch;

pub use environment::{Environment, VARIABLES};
pub use option_names::long as option_name;
pub use profiles::Profiles;

use std::ffi::OsString;

use clap::{Arg, ArgMatches, Command};

use super::problem::Problem;
use crate::engine::api::Entry;
use arguments::one;
use commands::Detail;
use names::Named;
use output::Output;
use session::Session;

#[derive(Debug)]
pub struct ClientCommand {
    matches: ArgMatches,
    environment: Environment,
    /// The definitions of all of the program's commands, for completions and manual pages.
    whole: Option<Command>,
}

/// Returns whether a word is a command of the client.
pub fn is_command(operations: &'static [Entry], word: &str) -> bool {
    own::commands().iter().any(|command| command.get_name() == word)
        || names::resources(operations).iter().any(|(name, _)| *name == word)
}

/// Adds the client's commands to the program's help.
pub fn with_help(administration: Command, operations: &'static [Entry]) -> Command {
    let administration = help::without_data(administration);
    let template = help::template(&administration, operations);
    // The help does not list hidden commands, but the program suggests them when a command is misspelled.
    let hidden = own::commands().into_iter().map(|command| command.get_name().to_owned());
    let hidden = hidden.chain(names::resources(operations).into_iter().map(|(name, _)| name.to_owned()));
    let hidden: Vec<Command> = hidden.map(|name| Command::new(name).hide(true)).collect();
    administration.subcommands(hidden).help_template(template).after_long_help(help::long_text()).max_term_width(help::WIDTH)
}

/// Returns the definition of the client's commands. Only the command that consists of these words has all its arguments.
fn definition(operations: &'static [Entry], words: &[String]) -> Command {
    let root = Command::new("mailmill").version(env!("CARGO_PKG_VERSION")).max_term_width(help::WIDTH);
    let root = root.subcommand_required(true).args(commands::general());
    let resource = names::resources(operations).into_iter().find(|(name, _)| words.first().is_some_and(|word| word == name));
    match resource {
        Some(resource) => root.subcommand(commands::resource(operations, resource, Detail::Only(words))),
        None => root.subcommands(own::commands()),
    }
}

/// Returns the definitions of all visible commands: the commands in `administration` and the client's commands. The global options of
/// `administration` become options of only its own commands, because the client's commands reject them.
fn whole(administration: &Command, operations: &'static [Entry]) -> Command {
    let global: Vec<Arg> = administration.get_arguments().cloned().map(|argument| argument.global(false)).collect();
    let visible = administration.get_subcommands().filter(|command| !command.is_hide_set());
    let local = visible.map(|command| with_arguments(command.clone(), &global));
    let resources =
        names::resources(operations).into_iter().map(|resource| commands::resource(operations, resource, Detail::All));
    let client = own::commands().into_iter().chain(resources).map(|command| command.args(commands::general()));
    let about = administration.get_about().cloned().unwrap_or_default();
    let root = Command::new("mailmill").version(env!("CARGO_PKG_VERSION")).about(about).after_long_help(help::long_text());
    let root = root.subcommand_required(true);
    root.args(global.clone()).subcommands(local.chain(client))
}

/// Adds the arguments to the command and to all its subcommands.
fn with_arguments(command: Command, arguments: &[Arg]) -> Command {
    let command = command.args(arguments.iter().cloned());
    command.mut_subcommands(|inner| with_arguments(inner, arguments))
}

/// Parses the command line of one of the client's commands; `words` are the command's words without options. Exits the process for `--help`
/// and for invalid arguments.
pub fn parse(
    operations: &'static [Entry],
    administration: Command,
    arguments: Vec<OsString>,
    words: &[String],
    environment: Environment,
) -> ClientCommand {
    let matches = definition(operations, words).get_matches_from(arguments);
    let whole =
        matches!(words.first().map(String::as_str), Some("completions" | "man")).then(|| whole(&administration, operations));
    ClientCommand { matches, environment, whole }
}

/// Runs a command; returns the exit code.
pub async fn run(operations: &'static [Entry], command: ClientCommand) -> Result<u8, Problem> {
    let ClientCommand { matches, environment, whole } = command;
    let Some((name, matches)) = matches.subcommand() else { return Err(Problem::misused("the command is missing; see --help")) };
    let output = Output::new(matches, &environment);
    match name {
        "login" => return login::run(matches, &environment, &output).await,
        "logout" => return profiles::remove(matches, &environment, &output),
        "profiles" => return profiles::manage(matches, &environment, &output),
        "completions" | "man" => {
            let whole = whole.expect("these commands get the definitions");
            return match name {
                "man" => extras::man(whole, matches.get_one::<std::path::PathBuf>("to").map(std::path::PathBuf::as_path)),
                _ => extras::completions(whole, &one(matches, "shell").unwrap_or_default()),
            };
        }
        _ => {}
    }
    let (words, inner) = innermost(name, matches);
    let output = Output::new(inner, &environment);
    let target = Profiles::load(&environment)?.target(one(inner, "profile"), one(inner, "server"), &environment)?;
    let session = Session::new(operations, target, output)?;
    match name {
        "api" => api::run(&session, inner).await,
        "listen" => listen::run(&session, inner).await,
        "watch" => watch::run(&session, inner).await,
        _ => {
            let known: Vec<Named> = names::of_resource(operations, name);
            let named = known.iter().find(|named| named.words == words).expect("the definitions are made from these names");
            operation::run(&session, &environment, named, inner).await
        }
    }
}

/// Returns the words of the command that was entered, and the command's own arguments. The arguments of every level include the global
/// options.
fn innermost<'a>(name: &str, matches: &'a ArgMatches) -> (Vec<String>, &'a ArgMatches) {
    let (mut words, mut inner) = (vec![name.to_owned()], matches);
    while let Some((word, next)) = inner.subcommand() {
        words.push(word.to_owned());
        inner = next;
    }
    (words, inner)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use unicode_width::UnicodeWidthStr;

    use super::super::args::Cli;
    use super::*;
    use crate::operations::OPERATIONS;

    #[test]
    fn completions_and_manual_pages_have_only_options_that_the_commands_accept() {
        let mut all = whole(&Cli::command(), OPERATIONS);
        all.build();
        let find = |words: &[&str]| {
            words.iter().fold(&all, |command, word| command.find_subcommand(word).unwrap_or_else(|| panic!("no {word}")))
        };
        let has = |words: &[&str], name: &str| find(words).get_arguments().any(|argument| argument.get_long() == Some(name));
        for name in ["data", "config", "version"] {
            assert!(!has(&["contacts", "list"], name), "{name}");
        }
        assert!(has(&["contacts", "list"], "profile") && has(&["keys", "create"], "data") && has(&["serve"], "config"));
        assert!(all.find_subcommand("render-worker").is_none());
    }

    fn fits(command: &mut Command) -> usize {
        let page = command.render_long_help().to_string();
        let wide: Vec<&str> = page.lines().filter(|line| line.width() > help::WIDTH).collect();
        assert!(wide.is_empty(), "{}: {wide:#?}", command.get_name());
        1 + command.get_subcommands_mut().map(fits).sum::<usize>()
    }

    #[test]
    fn every_help_page_fits_80_columns() {
        let root = Command::new("mailmill").max_term_width(help::WIDTH).args(commands::general());
        let resources =
            names::resources(OPERATIONS).into_iter().map(|resource| commands::resource(OPERATIONS, resource, Detail::All));
        let mut client = root.subcommands(own::commands()).subcommands(resources);
        let mut administration = with_help(Cli::command(), OPERATIONS);
        let mut pages = 0;
        for all in [&mut client, &mut administration] {
            all.build();
            pages += fits(all);
        }
        assert!(pages > 250, "{pages}");
    }
}
