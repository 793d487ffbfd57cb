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
    ("projects", "Import brands, and edit their texts, images and products"),
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
    ("saved-blocks", "Keep blocks for other emails"),
    ("domains", "Set up sending domains"),
    ("suppressions", "Manage addresses that get no email"),
    ("events", "Report events of customers"),
    ("webhooks", "Report events to your systems"),
    ("incoming-webhooks", "Accept contacts and events from other systems"),
    ("mail-services", "Connect the mail service that sends"),
    ("connections", "Connect other platforms"),
    ("scheduled-imports", "Import contacts from a URL on a schedule"),
    ("storefront", "Connect stores"),
    ("metrics", "Get totals of sending and of language models"),
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
    RESOURCES.into_iter().filter(|(name, _)| all(operations).any(|named| named.words[0] == *name)).collect()
}

/// Returns the operation with this ID. Panics if there is none.
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
    fn names_are_in_kebab_case() {
        let words = all(OPERATIONS).find(|named| named.entry.spec.id == "webhooks.rotate_secret").map(|named| named.words);
        assert_eq!(words.expect("it is a command"), ["webhooks", "rotate-secret"]);
    }
}
