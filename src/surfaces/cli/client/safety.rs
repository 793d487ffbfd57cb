//! Asks for confirmation before a command sends, deletes or permanently stops something.

use std::io::{BufRead, IsTerminal};

use serde_json::{Map, Value};

use super::super::problem::{Exit, Problem};
use super::super::terminal::{complain, harmless};
use super::requests::Remote;
use crate::engine::api::Spec;
use crate::engine::api::spec::Verb;

/// An effect that requires confirmation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Danger {
    Sends,
    Deletes,
    /// Permanently ends something, such as a campaign.
    Ends,
}

/// TABLE: operations that send email. Their permission alone does not identify them, because pausing and unscheduling require the same
/// permission.
const SENDS: [&str; 9] = [
    "sending.send",
    "sending.test",
    "sending.batch_resend_unknown",
    "campaigns.send",
    "campaigns.test",
    "campaigns.schedule",
    "campaigns.reschedule",
    "campaigns.resume",
    "campaigns.resend_unknown",
];

/// TABLE: operations that delete although their method is not DELETE.
const DELETES: [&str; 2] = ["contacts.bulk_delete", "projects.products_merge"];

/// TABLE: operations that permanently end a campaign or a batch.
const ENDS: [&str; 2] = ["campaigns.cancel", "sending.batch_cancel"];

/// Returns what makes an operation dangerous; `None` if nothing does.
pub fn danger(spec: &Spec) -> Option<Danger> {
    if SENDS.contains(&spec.id) {
        return Some(Danger::Sends);
    }
    if ENDS.contains(&spec.id) {
        return Some(Danger::Ends);
    }
    (spec.verb == Verb::Delete || DELETES.contains(&spec.id)).then_some(Danger::Deletes)
}

/// Like [`danger`], but also considers the input, which can make a bulk change delete contacts.
pub fn danger_with(spec: &Spec, input: &Map<String, Value>) -> Option<Danger> {
    let deletes = spec.id == "contacts.bulk_change" && input.get("delete") == Some(&Value::Bool(true));
    danger(spec).or(deletes.then_some(Danger::Deletes))
}

/// Returns whether there is a terminal at which the user can confirm.
pub fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks the user to confirm. Fails if there is no terminal; the error names the option that confirms.
pub fn confirm(danger: Danger, subject: &str, remote: &Remote) -> Result<(), Problem> {
    let what = match danger {
        Danger::Sends => "sends email",
        Danger::Deletes => "deletes data",
        Danger::Ends => "permanently stops the send",
    };
    let host = remote.host();
    let place = match (danger, remote.is_live()) {
        (_, true) => "in the live environment",
        (Danger::Sends, false) => "in the test environment; its mail stays in the built-in inbox",
        (Danger::Deletes | Danger::Ends, false) => "in the test environment",
    };
    if !can_ask() {
        let message = format!("this command {what} {place}; confirm with --yes, because no terminal is available for a prompt");
        return Err(Problem::new(Exit::Unconfirmed, message));
    }
    complain(&harmless(&format!("{subject} on {host}: this {what} {place}. Continue? [y/N] ")));
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    match read.is_ok() && matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
        true => Ok(()),
        false => Err(Problem::new(Exit::Unconfirmed, "not confirmed, so nothing was changed; answer y, or use --yes")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::names;
    use super::*;
    use crate::engine::api::Access;
    use crate::operations::OPERATIONS;
    use crate::vocab::permissions::Permission;

    #[test]
    fn sending_and_deleting_are_dangerous_and_nothing_else() {
        let of = |id: &str| danger(names::operation(OPERATIONS, id).spec);
        for id in SENDS {
            assert_eq!(of(id), Some(Danger::Sends));
        }
        for id in DELETES {
            assert_eq!(of(id), Some(Danger::Deletes));
        }
        assert_eq!((of("contacts.delete"), of("campaigns.cancel")), (Some(Danger::Deletes), Some(Danger::Ends)));
        assert_eq!((of("campaigns.pause"), of("emails.generate"), of("contacts.list")), (None, None, None));
        let change = names::operation(OPERATIONS, "contacts.bulk_change").spec;
        let input = json!({ "delete": true });
        assert_eq!(danger_with(change, input.as_object().expect("an object")), Some(Danger::Deletes));
        assert_eq!(danger_with(change, &Map::new()), None);
    }

    /// Fails for a new operation that may send email or stop a send, until one of the tables contains the operation.
    #[test]
    fn every_operation_with_a_permission_for_sending_is_in_a_table() {
        const HARMLESS: [&str; 6] = [
            "campaigns.archive",
            "campaigns.create",
            "campaigns.duplicate",
            "campaigns.pause",
            "campaigns.unarchive",
            "campaigns.unschedule",
        ];
        for spec in names::all(OPERATIONS).map(|named| named.entry.spec).filter(|spec| spec.verb == Verb::Post) {
            let may_send = matches!(spec.access, Access::Needs(Permission::EmailSend | Permission::CampaignWrite));
            assert_eq!(may_send && danger(spec).is_none(), HARMLESS.contains(&spec.id), "{}", spec.id);
        }
    }

    /// Does nothing if the tests run in a terminal, because a user could then confirm.
    #[test]
    fn without_a_terminal_the_option_is_required() {
        if can_ask() {
            return;
        }
        let remote = Remote::new("https://mail.example.com".parse().expect("a URL"), None, false);
        let refused = confirm(Danger::Sends, "campaigns send", &remote).expect_err("there is no terminal");
        assert_eq!(refused.code(), 8);
        assert!(refused.to_string().contains("--yes"), "{refused}");
    }
}
