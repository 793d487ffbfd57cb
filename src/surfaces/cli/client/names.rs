//! The names of commands, derived from the client names of the operations: `projects.images.list` is `projects images list`.

use crate::engine::api::Entry;

/// An operation as a command.
#[derive(Clone)]
pub struct Named {
    /// The words of the command, such as `["projects", "images", "list"]`.
    pub words: Vec<String>,
    pub entry: &'static Entry,
}

/// TABLE: the resources, in the order of the help, with a summary for users.
const RESOURCES: [(&str, &str); 24] = [
    ("projects", "Import brands, and edit their text, images and products"),
    ("emails", "Generate, edit, check, test and send emails"),
    ("contacts", "Manage, import and export contacts"),
    ("tags", "Group contacts by tags"),
    ("topics", "Manage the topics that contacts subscribe to"),
    ("segments", "Group contacts by filters"),
    ("campaigns", "Send and schedule emails to many contacts"),
    ("sends", "Get direct sends and batches"),
    ("inbox", "Read the mail of the test environment"),
    ("validation", "Check HTML for problems before you send it"),
    ("previews", "Preview emails on devices"),
    ("exports", "Export emails as files or to other platforms"),
    ("saved-blocks", "Save blocks for other emails"),
    ("domains", "Set up sending domains"),
    ("suppressions", "Manage addresses that get no email"),
    ("events", "Report customer events"),
    ("webhooks", "Report events to your systems"),
    ("incoming-webhooks", "Accept contacts and events from other systems"),
    ("mail-services", "Connect the mail service that sends your email"),
    ("connections", "Connect other platforms"),
    ("scheduled-imports", "Import contacts and events on a schedule"),
    ("storefront", "Connect stores"),
    ("metrics", "Get totals for sending and language models"),
    ("plan", "Get the limits of the account"),
];

/// TABLE: shorter names that users expect, and the commands that they stand for.
const SHORTCUTS: [(&[&str], &[&str]); 5] = [
    (&["contacts", "import"], &["contacts", "imports", "create"]),
    (&["contacts", "export"], &["contacts", "exports", "create"]),
    (&["projects", "import"], &["projects", "imports", "create"]),
    (&["emails", "edit"], &["emails", "edits", "create"]),
    (&["emails", "check"], &["emails", "checks", "run"]),
];

/// Returns all operations that are commands.
pub fn all(operations: &'static [Entry]) -> impl Iterator<Item = Named> {
    operations.iter().filter_map(|entry| {
        let words = entry.spec.client_name()?.split('.').map(|word| word.replace('_', "-")).collect();
        Some(Named { words, entry })
    })
}

/// Returns the operations of one resource, followed by their shortcuts.
pub fn of_resource(operations: &'static [Entry], resource: &str) -> Vec<Named> {
    let mut found: Vec<Named> = all(operations).filter(|named| named.words[0] == resource).collect();
    let shortcuts = SHORTCUTS.iter().filter_map(|(short, whole)| {
        let target = found.iter().find(|named| named.words == *whole)?;
        Some(Named { words: short.iter().map(|word| (*word).to_owned()).collect(), entry: target.entry })
    });
    let shortcuts: Vec<Named> = shortcuts.collect();
    found.extend(shortcuts);
    found
}

/// Returns the resources that have operations, with their summaries for users.
pub fn resources(operations: &'static [Entry]) -> Vec<(&'static str, &'static str)> {
    // Every command calls this function, so it must be fast and does not build the words of all commands.
    let has = |resource: &str| {
        let mut names = operations.iter().filter_map(|entry| entry.spec.client_name()?.split('.').next());
        names.any(|name| name.len() == resource.len() && name.split('_').eq(resource.split('-')))
    };
    RESOURCES.into_iter().filter(|(name, _)| has(name)).collect()
}

/// Replaces the HTTP requests in an API error, such as `GET /v1/tags lists the tags`, with the commands that send them.
pub fn with_commands(operations: &'static [Entry], message: &str) -> String {
    let words: Vec<&str> = message.split(' ').collect();
    let (mut kept, mut at) = (Vec::new(), 0);
    while at < words.len() {
        // A request with a body is not replaced, because the body is not an argument of the command.
        let has_body = words.get(at + 2).is_some_and(|word| word.starts_with("{\""));
        match words.get(at + 1).filter(|_| !has_body).and_then(|path| command_line(operations, words[at], path)) {
            Some(line) => {
                kept.push(line);
                at += 2;
            }
            None => {
                kept.push(words[at].to_owned());
                at += 1;
            }
        }
    }
    kept.join(" ")
}

/// Returns the command that sends a request. Punctuation after the path is moved after the command.
fn command_line(operations: &'static [Entry], verb: &str, path: &str) -> Option<String> {
    let bare = path.trim_end_matches(['.', ',', ';', ':']);
    let given: Vec<&str> = bare.strip_prefix('/')?.split('/').collect();
    let pairs = |known: &'static str| known.trim_start_matches('/').split('/').zip(given.iter().copied());
    let fits = |known: &'static str| {
        known.matches('/').count() == given.len() && pairs(known).all(|(known, given)| known.starts_with('{') || known == given)
    };
    let found = all(operations).filter(|named| named.entry.spec.verb.name() == verb && fits(named.entry.spec.path));
    // If the paths of two commands match, use the command with fewer placeholders.
    let named = found.min_by_key(|named| named.entry.spec.path.matches('{').count())?;
    let values = pairs(named.entry.spec.path).filter(|(known, _)| known.starts_with('{')).map(|(_, given)| {
        given.strip_prefix('{').and_then(|name| name.strip_suffix('}')).map_or_else(|| given.to_owned(), constant_case)
    });
    let words: Vec<String> = named.words.iter().cloned().chain(values).collect();
    Some(format!("`mailmill {}`{}", words.join(" "), &path[bare.len()..]))
}

/// Returns a value's name in the help: `contactId` is `CONTACT_ID`.
pub fn constant_case(name: &str) -> String {
    separated(name, '_').to_ascii_uppercase()
}

/// Inserts a separator between the words of a field's name.
pub fn separated(name: &str, separator: char) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    for character in name.chars() {
        if character.is_ascii_uppercase() && !out.is_empty() {
            out.push(separator);
        }
        out.push(if character == '_' { separator } else { character });
    }
    out
}

/// Returns the operation with this ID. Panics if it does not exist.
pub fn operation(operations: &'static [Entry], id: &str) -> &'static Entry {
    operations.iter().find(|entry| entry.spec.id == id).unwrap_or_else(|| panic!("there is no operation with the ID {id}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::operations::OPERATIONS;

    #[test]
    fn every_resource_is_in_the_help_and_every_shortcut_leads_to_a_command() {
        let used: BTreeSet<String> = all(OPERATIONS).map(|named| named.words[0].clone()).collect();
        let known: BTreeSet<String> = RESOURCES.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(used, known);
        for (short, whole) in SHORTCUTS {
            let names: Vec<Vec<String>> = of_resource(OPERATIONS, short[0]).into_iter().map(|named| named.words).collect();
            let count = |wanted: &[&str]| names.iter().filter(|words| *words == wanted).count();
            assert_eq!((count(short), count(whole)), (1, 1), "{short:?}");
        }
    }

    #[test]
    fn errors_name_commands_instead_of_requests() {
        for (message, wanted) in [
            ("POST /v1/campaigns/{id}/send sends it now", "`mailmill campaigns send ID` sends it now"),
            ("a. GET /v1/tags lists the tags.", "a. `mailmill tags list` lists the tags."),
            ("POST /v1/unknown/path does it", "POST /v1/unknown/path does it"),
        ] {
            assert_eq!(with_commands(OPERATIONS, message), wanted);
        }
        let body = r#"POST /v1/domains {"domain": "a.example"} adds it"#;
        assert_eq!(with_commands(OPERATIONS, body), body);
    }

    #[test]
    fn names_are_in_kebab_case() {
        let words = all(OPERATIONS).find(|named| named.entry.spec.id == "webhooks.rotate_secret").map(|named| named.words);
        assert_eq!(words.expect("it is a command"), ["webhooks", "rotate-secret"]);
    }
}
