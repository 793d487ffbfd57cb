//! How the fields of an input are named on the command line.

use super::features;
use super::fields::Field;
use super::names::{Named, separated};

/// The field that the option `--project` and the default project set.
pub const PROJECT: &str = "projectId";
/// The option names that fields cannot have: the names of the options of every command, and of the options that some commands have in
/// addition to the fields of their input.
const RESERVED: [&str; 15] = [
    "profile",
    "server",
    "json",
    "jsonl",
    "quiet",
    "yes",
    "help",
    "project",
    "body",
    "output",
    "wait",
    "open",
    "wait-timeout",
    "idempotency-key",
    "dry-run",
];

/// Returns the identifier of the argument that sets a field.
pub fn field_id(name: &str) -> String {
    format!("field.{name}")
}

/// Returns the identifier of an additional argument that sets the field: a positional argument, or the hidden option `--project`.
pub fn main_id(name: &str) -> String {
    format!("main.{name}")
}

/// Returns the option name for a field, without the dashes in front: `fromName` becomes `from-name`.
pub fn long(name: &str) -> String {
    if name == PROJECT {
        return "project".to_owned();
    }
    let name = separated(name, '-').to_ascii_lowercase();
    if RESERVED.contains(&name.as_str()) { format!("input-{name}") } else { name }
}

/// Returns a field's name in words: `firstName` becomes `First name`.
pub fn in_words(name: &str) -> String {
    let words = separated(name, ' ').to_ascii_lowercase();
    words[..1].to_ascii_uppercase() + &words[1..]
}

/// Returns whether a field is a positional argument: an ID in the path. The project's ID is positional only if the project is the
/// command's object.
pub fn is_positional(named: &Named, field: &Field) -> bool {
    field.in_path && (field.name != PROJECT || takes_project(named))
}

/// Returns whether the project itself is the command's object, as in `projects get ID`.
fn takes_project(named: &Named) -> bool {
    let mut in_path = named.entry.spec.path_names();
    named.words[0] == "projects"
        && (in_path.next(), in_path.next()) == (Some(PROJECT), None)
        && features::main_field(named.entry.spec.id).is_none()
}
