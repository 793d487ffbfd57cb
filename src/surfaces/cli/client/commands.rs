//! The definitions of the commands, generated from the operations.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, Command, value_parser};

use super::arguments::takes_file;
use super::fields::{self, Field, ValueKind};
use super::names::{self, Named, constant_case};
use super::option_names::{PROJECT, field_id, in_words, is_positional, long, main_id};
use super::{examples, features, safety};
use crate::engine::api::operation::{Media, Takes};
use crate::engine::api::spec::Access;
use crate::engine::api::{Entry, Replay};

/// The maximum number of allowed values that an option's help lists.
const VALUES_SHOWN_MAX: usize = 16;
const GENERAL: &str = "General options";

/// The commands that are defined with all their arguments. Other commands are defined with only a name and a summary, which are sufficient
/// for a list of commands.
#[derive(Clone, Copy)]
pub enum Detail<'a> {
    All,
    /// Only the command whose name consists of these words, such as `contacts list`.
    Only(&'a [String]),
}

impl Detail<'_> {
    fn includes(self, words: &[String]) -> bool {
        match self {
            Detail::All => true,
            Detail::Only(wanted) => wanted.starts_with(words),
        }
    }
}

/// Returns the options that all commands of the client have.
pub fn general() -> [Arg; 6] {
    let option = |name: &'static str, help: &'static str| Arg::new(name).long(name).help(help).global(true).help_heading(GENERAL);
    let flag = |name, help| option(name, help).action(ArgAction::SetTrue);
    [
        option("profile", "The profile to use [default: the profile of the last login]").value_name("NAME"),
        option("server", "The address of the server [default: the profile's server]").value_name("URL"),
        flag("json", "Print the response as JSON"),
        flag("jsonl", "Print each item of a list as a line of JSON, with all pages").conflicts_with("json"),
        flag("quiet", "Print only IDs, and no notes or progress").short('q').conflicts_with_all(["json", "jsonl"]),
        flag("yes", "Do not ask for confirmation").short('y'),
    ]
}

/// Returns a resource's command, with its operations as subcommands.
pub fn resource(operations: &'static [Entry], (name, about): (&'static str, &'static str), detail: Detail<'_>) -> Command {
    let mut command = group(name, about);
    let mut nested: Vec<(String, Vec<Named>)> = Vec::new();
    for named in names::of_resource(operations, name) {
        if named.words.len() == 2 {
            command = command.subcommand(leaf(&named, detail));
            continue;
        }
        match nested.iter_mut().find(|(word, _)| *word == named.words[1]) {
            Some((_, members)) => members.push(named),
            None => nested.push((named.words[1].clone(), vec![named])),
        }
    }
    for (word, members) in nested {
        let methods: Vec<&str> = members.iter().map(|named| named.words[2].as_str()).collect();
        let inner = group(word, format!("Commands: {}", methods.join(", ")));
        command = command.subcommand(inner.subcommands(members.iter().map(|named| leaf(named, detail))));
    }
    command
}

fn group(name: impl Into<clap::builder::Str>, about: impl Into<clap::builder::StyledStr>) -> Command {
    Command::new(name).about(about).subcommand_required(true).arg_required_else_help(true).disable_help_subcommand(true)
}

fn leaf(named: &Named, detail: Detail<'_>) -> Command {
    let spec = named.entry.spec;
    let name = named.words.last().expect("a command has a name").clone();
    let command = Command::new(name).about(spec.summary).disable_version_flag(true);
    if !detail.includes(&named.words) {
        return command;
    }
    let fields = fields::of(named.entry);
    let question = safety::danger(spec).map_or("", |_| "This command asks for confirmation; --yes skips the question.\n\n");
    let command = command.after_help(format!("{question}Example:\n  {}", examples::line(named, &fields)));
    let command = command.long_about(long_about(named.entry)).args(positional(named, &fields));
    command.args(fields.iter().filter(|field| !is_positional(named, field)).map(option)).args(extras(named.entry, &fields))
}

/// Returns an operation's long help, which ends with the method, path and permission.
fn long_about(entry: &Entry) -> String {
    let spec = entry.spec;
    let mut text = format!("{}\n\n", spec.summary);
    if !spec.about.is_empty() {
        text.push_str(&format!("{}\n\n", spec.about.replace('`', "")));
    }
    text.push_str(&format!("API: {} {}", spec.verb.name(), spec.path));
    if let Access::Needs(permission) = spec.access {
        text.push_str(&format!(", with the permission {}", permission.word()));
    }
    text
}

fn positional(named: &Named, fields: &[Field]) -> Vec<Arg> {
    let mut arguments: Vec<Arg> = Vec::new();
    for field in fields.iter().filter(|field| is_positional(named, field)) {
        let id = field_id(&field.name);
        if field.name == PROJECT {
            let help = "The name or ID of the project [default: the default project]";
            arguments.push(Arg::new(id.clone()).value_name("PROJECT").help(help));
            // Users also try the option `--project` on this command, because commands for other objects have it.
            let same = Arg::new(main_id(&field.name)).long("project").value_name("PROJECT").hide(true);
            arguments.push(same.conflicts_with(id));
            continue;
        }
        let help = if field.about.is_empty() { "The ID".to_owned() } else { first_sentence(&field.about) };
        arguments.push(Arg::new(id).value_name(constant_case(&field.name)).help(help).required(true));
    }
    let main = features::main_field(named.entry.spec.id);
    if let Some(field) = fields.iter().find(|field| Some(field.name.as_str()) == main) {
        let argument = Arg::new(main_id(&field.name)).value_name(constant_case(&field.name)).help(summary(field));
        let argument = if matches!(field.kind, ValueKind::List(_)) { argument.num_args(1..) } else { argument };
        arguments.push(argument.conflicts_with(field_id(&field.name)));
    }
    arguments
}

/// Returns the first sentence of a field's description, or the field's name in words.
fn summary(field: &Field) -> String {
    let first = first_sentence(&field.about);
    let text = if first.is_empty() { in_words(&field.name) } else { first };
    if field.kind == ValueKind::Text && takes_file(field) { text + "; @FILE reads a file" } else { text }
}

fn option(field: &Field) -> Arg {
    let long = long(&field.name);
    let about = if field.name == PROJECT { "The name or ID of the project" } else { &field.about };
    let mut help = if field.name == PROJECT { about.to_owned() } else { summary(field) };
    match (&field.default, field.name == PROJECT) {
        (_, true) => help.push_str(" [default: the default project]"),
        (Some(default), _) => help.push_str(&format!(" [default: {default}]")),
        (None, _) if field.required => help.push_str(" (required)"),
        (None, _) => {}
    }
    let argument = Arg::new(field_id(&field.name)).long(long).help(help.trim().to_owned());
    let has_more = about.trim_end_matches('.').len() > first_sentence(about).len();
    let argument = if has_more { argument.long_help(about.to_owned()) } else { argument };
    match &field.kind {
        ValueKind::Text if field.name == PROJECT => argument.value_name("PROJECT"),
        ValueKind::Text if field.name.ends_with("Id") => argument.value_name("ID"),
        ValueKind::Text => argument.value_name("TEXT"),
        ValueKind::Integer => argument.value_name("N").value_parser(value_parser!(i64)).allow_negative_numbers(true),
        ValueKind::Number => argument.value_name("N").value_parser(value_parser!(f64)).allow_negative_numbers(true),
        ValueKind::Flag => argument
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .value_parser(["true", "false"])
            .hide_possible_values(true)
            .value_name("false"),
        ValueKind::Choice(values) => {
            let possible = values.iter().map(|(value, about)| {
                let possible = PossibleValue::new(value.clone());
                about.as_ref().map_or(possible.clone(), |about| possible.help(first_sentence(about)))
            });
            let parser = PossibleValuesParser::new(possible);
            argument.value_name("VALUE").value_parser(parser).hide_possible_values(values.len() > VALUES_SHOWN_MAX)
        }
        ValueKind::List(None) => argument.value_name("A,B").action(ArgAction::Append),
        ValueKind::List(Some(values)) => {
            let parser = PossibleValuesParser::new(values.clone());
            let argument = argument.value_name("A,B").action(ArgAction::Append).value_delimiter(',').value_parser(parser);
            argument.hide_possible_values(values.len() > VALUES_SHOWN_MAX)
        }
        ValueKind::Map => argument.value_name("KEY=VALUE").action(ArgAction::Append),
        ValueKind::Json => argument.value_name("JSON"),
        ValueKind::Upload | ValueKind::Base64 => argument.value_name("FILE"),
    }
}

/// Returns the options that do not set a single field, such as `--body` and `--wait`.
fn extras(entry: &Entry, fields: &[Field]) -> Vec<Arg> {
    let spec = entry.spec;
    let mut arguments = Vec::new();
    let flag = |name: &'static str, help: &'static str| Arg::new(name).long(name).help(help).action(ArgAction::SetTrue);
    let has_body = spec.verb.has_body() && fields.iter().any(|field| !field.in_path);
    if has_body && matches!(entry.media.takes, Takes::Json) {
        let help = "The whole input as JSON; @FILE reads a file, - standard input. The other options replace its fields";
        arguments.push(Arg::new("body").long("body").value_name("JSON").help(help));
    }
    if spec.replay == Replay::Keyed {
        let help =
            "The idempotency key: commands with the same key take effect once [default: a new key, shown on standard error]";
        arguments.push(Arg::new("idempotency-key").long("idempotency-key").value_name("KEY").help(help));
    }
    if features::work(spec.id).is_some() {
        arguments.push(flag("wait", "Wait until the work has finished, and print its final status"));
        let help = "With --wait: stop waiting after this many seconds [default: 1800]";
        let timeout = Arg::new("wait-timeout").long("wait-timeout").value_name("SECONDS").help(help);
        arguments.push(timeout.value_parser(value_parser!(u64).range(1..=86_400)).requires("wait"));
    }
    if features::opens(spec.id) {
        arguments.push(flag("open", "Open the result in the browser"));
    }
    if features::dry_run(spec.id).is_some() {
        arguments.push(flag("dry-run", "Show what would happen, and do nothing"));
    }
    if entry.media.gives != Media::JSON_TYPE {
        let help = "Write to this file [default: standard output]";
        arguments.push(Arg::new("output").long("output").short('o').value_name("FILE").help(help));
    }
    if features::file_link(spec.id).is_some() {
        let help = "With --wait, save the file here";
        arguments.push(Arg::new("output").long("output").short('o').value_name("FILE").help(help));
    }
    if features::has_files(spec.id) {
        let help = "Save the files in this folder";
        arguments.push(Arg::new("output").long("output").short('o').value_name("FOLDER").help(help));
    }
    arguments
}

/// Returns the first sentence of a description, without its period.
fn first_sentence(text: &str) -> String {
    let end = text.find(". ").unwrap_or(text.len());
    text[..end].trim_end_matches('.').to_owned()
}
