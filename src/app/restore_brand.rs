//! `mailmill restore URL --brand ID`: brings back one brand into the running installation. The server does the work; this command starts the
//! restore, shows what would come back and, with `--yes`, waits until the brand is back.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::folder::admin_socket;
use super::restore::say;
use super::restore_continuous;
use crate::surfaces::cli::{self, Problem, Restore, RestoreMode};
use crate::vocab::ids::ProjectId;

/// The pause between two status requests to the server.
const POLL_PAUSE: Duration = Duration::from_millis(500);

/// Prints what a restore of the brand would bring back and, with `--yes`, brings the brand back.
pub fn restore(data: &Path, wanted: &Restore, project: ProjectId) -> Result<(), Problem> {
    let url = restore_continuous::url(&wanted.folder).ok_or_else(|| {
        Problem::misused("--brand needs a continuous backup; as the folder, enter the URL or the path in the setting backup.url")
    })?;
    if !cli::is_served(&admin_socket(data)) {
        return Err(Problem::failed(format_args!(
            "--brand restores a brand into the running service, but no service runs with the data folder {}: start the service \
             first, or choose its folder with --data",
            data.display()
        )));
    }
    let mode = wanted.mode.unwrap_or(RestoreMode::Missing).word();
    let mut request = json!({
        "projectId": project, "url": url, "at": wanted.at.map(|at| at.0.to_string()), "mode": mode,
        "deletedContacts": wanted.deleted_contacts,
    });
    let mut answer = ask(data, &request)?;
    request["restoreId"] = answer["restore"]["id"].take();
    say("Restoring the state into a temporary folder.");
    answer = wait(data, &request, "preparing")?;
    cli::print(&preview(&answer["preview"]));
    if !wanted.yes {
        say("Nothing was changed. To bring back the brand, repeat the command with --yes.");
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

/// Formats what a restore would bring back.
fn preview(preview: &Value) -> String {
    let text = |name: &str| preview[name].as_str().unwrap_or_default();
    let exists = if preview["exists"] == true { "exists now" } else { "does not exist now" };
    let mut out = format!("{} ({}) as of {}; the brand {exists}.\n", text("name"), text("environment"), text("at"));
    out.push_str(&format!("{:<12}{:>10}{:>10}{:>10}\n", "KIND", "THEN", "MISSING", "EXIST"));
    let mut line = |kind: &str, counts: &Value| {
        let count = |name: &str| counts[name].as_u64().unwrap_or_default();
        let counts = (count("inBackup"), count("missing"), count("existing"));
        out.push_str(&format!("{kind:<12}{:>10}{:>10}{:>10}\n", counts.0, counts.1, counts.2));
    };
    for counts in preview["kinds"].as_array().into_iter().flatten() {
        line(counts["kind"].as_str().unwrap_or_default(), counts);
    }
    let contacts = &preview["contacts"];
    line("contacts", contacts);
    out.push_str(&format!(
        "Contacts deleted since then, which come back only with --deleted-contacts: {}\n",
        contacts["deleted"]
    ));
    out.push_str(&format!(
        "Contacts erased after they had unsubscribed or bounced, which never come back: {}\n",
        contacts["erased"]
    ));
    out.push_str("Campaigns, messages, customer events and statistics are not restored. Nothing is sent.\n");
    out
}

/// Formats the result of a completed restore.
fn result(result: &Value) -> String {
    let mut out = format!("The brand {} is back.\n", result["targetProjectId"].as_str().unwrap_or_default());
    out.push_str(&format!("{:<12}{:>10}{:>10}{:>10}\n", "KIND", "BACK", "REPLACED", "UNCHANGED"));
    for counts in result["restored"].as_array().into_iter().flatten() {
        let count = |name: &str| counts[name].as_u64().unwrap_or_default();
        let kind = counts["kind"].as_str().unwrap_or_default();
        out.push_str(&format!("{kind:<12}{:>10}{:>10}{:>10}\n", count("created"), count("updated"), count("unchanged")));
    }
    for (label, name) in [("deleted", "contactsLeftDeleted"), ("erased", "contactsLeftErased")] {
        out.push_str(&format!("Contacts that stay {label}: {}\n", result[name]));
    }
    for note in result["skipped"].as_array().into_iter().flatten() {
        out.push_str(&format!("{}\n", note.as_str().unwrap_or_default()));
    }
    out
}
