//! `mailmill restore URL --brand ID`: restores one brand into the running installation. The server does the work. This command starts the
//! restore, shows what it would bring back and, with `--yes`, waits until it is complete.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::folder::admin_socket;
use super::restore_continuous;
use super::restore_terminal::say;
use crate::surfaces::cli::{self, Problem, Restore, RestoreMode};
use crate::vocab::ids::ProjectId;

/// The pause between two status requests to the server.
const POLL_PAUSE: Duration = Duration::from_millis(500);

/// Prints what a restore of the brand would bring back and, with `--yes`, restores the brand.
pub fn restore(data: &Path, wanted: &Restore, project: ProjectId) -> Result<(), Problem> {
    let url = restore_continuous::url(&wanted.folder).ok_or_else(|| {
        Problem::misused("--brand works only with a continuous backup; as the source, use the value of the setting backup.url")
    })?;
    if !cli::is_served(&admin_socket(data)) {
        return Err(Problem::failed(format_args!(
            "--brand restores a brand into the running service, but no service is running with the data folder {}: start the service \
             first, or choose its folder with --data",
            data.display()
        )));
    }
    let mode = wanted.mode.unwrap_or(RestoreMode::Missing);
    let mut request = json!({
        "projectId": project, "url": url, "at": wanted.at.map(|at| at.0.to_string()), "mode": mode.word(),
        "deletedContacts": wanted.deleted_contacts,
    });
    let mut answer = ask(data, &request)?;
    request["restoreId"] = answer["restore"]["id"].take();
    say("Restoring the state into a temporary folder.");
    answer = wait(data, &request, "preparing")?;
    cli::print(&preview(&answer["preview"], mode, wanted.deleted_contacts));
    if !wanted.yes {
        say("Nothing was changed. To restore the brand, repeat the command with --yes.");
        return Ok(());
    }
    request["apply"] = true.into();
    ask(data, &request)?;
    request["apply"] = false.into();
    answer = wait(data, &request, "copying")?;
    cli::print(&result(&answer["restore"]["result"]));
    Ok(())
}

fn ask(data: &Path, request: &Value) -> Result<Value, Problem> {
    let socket = admin_socket(data);
    let reply = cli::call_socket(&socket, cli::post("/admin/restores", request.clone())).map_err(|error| {
        Problem::failed(format_args!(
            "the request to the running service at {} failed: {error}; check the service's log, and run the command again",
            socket.display()
        ))
    })?;
    cli::data(reply)
}

/// Polls the server until the status of the restore differs from `status`.
fn wait(data: &Path, request: &Value, status: &str) -> Result<Value, Problem> {
    loop {
        let answer = ask(data, request)?;
        let restore = &answer["restore"];
        if restore["status"] == "failed" {
            return Err(Problem::failed(
                restore["error"].as_str().unwrap_or("the restore failed; search the service's log for the cause"),
            ));
        }
        if restore["status"] != status {
            return Ok(answer);
        }
        std::thread::sleep(POLL_PAUSE);
    }
}

/// Formats what a restore would bring back. With `with_deleted`, contacts that have been deleted come back too.
fn preview(preview: &Value, mode: RestoreMode, with_deleted: bool) -> String {
    let text = |name: &str| preview[name].as_str().unwrap_or_default();
    let exists = if preview["exists"] == true { "exists now" } else { "does not exist now" };
    let mut out = format!("{} ({}) as of {}; the brand {exists}.\n", text("name"), text("environment"), text("at"));
    out.push_str(&format!("{:<12}{:>10}{:>10}{:>10}\n", "KIND", "THEN", "MISSING", "EXIST"));
    let mut line = |kind: &str, counts: &Value| {
        let count = |name: &str| counts[name].as_u64().unwrap_or_default();
        // Only contacts have the counts `deleted` and `erased`; for other kinds, both counts are 0.
        let missing = count("missing") + count("deleted") + count("erased");
        out.push_str(&format!("{kind:<12}{:>10}{missing:>10}{:>10}\n", count("inBackup"), count("existing")));
    };
    for counts in preview["kinds"].as_array().into_iter().flatten() {
        line(counts["kind"].as_str().unwrap_or_default(), counts);
    }
    let contacts = &preview["contacts"];
    line("contacts", contacts);
    out.push_str(match mode {
        RestoreMode::Missing => "Missing items are restored. Existing items do not change.\n",
        RestoreMode::Replace => "Missing items are restored. Existing items are replaced with the items in the backup.\n",
        RestoreMode::Copy => "A second brand gets the items in the backup. The existing brand does not change.\n",
    });
    let fate = if with_deleted { "are restored" } else { "are restored only with --deleted-contacts" };
    out.push_str(&format!("Contacts that have been deleted since then and {fate}: {}\n", contacts["deleted"]));
    out.push_str(&format!(
        "Contacts that had unsubscribed, bounced or complained before they were deleted, and are never restored: {}\n",
        contacts["erased"]
    ));
    out.push_str("Campaigns, messages, customer events and statistics are not restored. Nothing is sent.\n");
    out
}

/// Formats the result of a completed restore.
fn result(result: &Value) -> String {
    let text = |name: &str| result[name].as_str().unwrap_or_default();
    let mut out = match text("mode") {
        "copy" => format!("The brand {} was restored as a second brand, {}.\n", text("projectId"), text("targetProjectId")),
        _ => format!("The brand {} was restored.\n", text("targetProjectId")),
    };
    out.push_str(&format!("{:<12}{:>10}{:>10}{:>10}\n", "KIND", "RESTORED", "REPLACED", "UNCHANGED"));
    for counts in result["restored"].as_array().into_iter().flatten() {
        let count = |name: &str| counts[name].as_u64().unwrap_or_default();
        let kind = counts["kind"].as_str().unwrap_or_default();
        out.push_str(&format!("{kind:<12}{:>10}{:>10}{:>10}\n", count("created"), count("updated"), count("unchanged")));
    }
    out.push_str(&format!("Contacts that stay deleted without --deleted-contacts: {}\n", result["contactsLeftDeleted"]));
    out.push_str(&format!(
        "Contacts that stay deleted because they had unsubscribed, bounced or complained: {}\n",
        result["contactsLeftErased"]
    ));
    for note in result["skipped"].as_array().into_iter().flatten() {
        out.push_str(&format!("{}\n", note.as_str().unwrap_or_default()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preview_counts_deleted_contacts_as_missing_and_follows_the_options() {
        let sample = json!({
            "name": "Acme", "environment": "live", "at": "2026-12-01T10:00:00.000Z", "exists": true,
            "kinds": [{ "kind": "tags", "inBackup": 2, "missing": 1, "existing": 1 }],
            "contacts": { "inBackup": 12, "missing": 0, "existing": 6, "deleted": 5, "erased": 1 },
        });
        let text = preview(&sample, RestoreMode::Missing, false);
        let cells: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(cells[2..4], [vec!["tags", "2", "1", "1"], vec!["contacts", "12", "6", "6"]]);
        assert!(text.contains("Existing items do not change.") && text.contains("only with --deleted-contacts: 5"), "{text}");
        let text = preview(&sample, RestoreMode::Copy, true);
        assert!(text.contains("A second brand") && text.contains("since then and are restored: 5"), "{text}");
        assert!(preview(&sample, RestoreMode::Replace, false).contains("are replaced"));
    }

    #[test]
    fn the_result_names_the_second_brand() {
        let ids = json!({ "mode": "copy", "projectId": "first", "targetProjectId": "second" });
        assert!(result(&ids).starts_with("The brand first was restored as a second brand, second.\n"), "{}", result(&ids));
        let ids = json!({ "mode": "missing", "projectId": "first", "targetProjectId": "first" });
        assert!(result(&ids).starts_with("The brand first was restored.\n"), "{}", result(&ids));
    }
}
