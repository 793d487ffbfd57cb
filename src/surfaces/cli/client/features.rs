//! TABLE: what commands offer in addition to their operation's input, by operation ID.

use serde_json::{Value, json};

/// How a command follows the progress of background work on the server.
pub struct Work {
    /// The operation that returns the status.
    pub status: &'static str,
    /// The field that contains the ID of the work, in the response that starts it.
    pub id: &'static str,
    /// The path parameter of the status operation that takes the ID of the work.
    pub parameter: &'static str,
    /// Whether the status operation accepts or requires a project.
    pub takes_project: bool,
    /// The operation that returns the recipient counts from which progress is computed, if the status does not include progress.
    pub counts: Option<&'static str>,
    /// The name of the work in the progress line.
    pub label: &'static str,
}

const fn work_of(status: &'static str, id: &'static str, parameter: &'static str, label: &'static str) -> Work {
    Work { status, id, parameter, takes_project: false, counts: None, label }
}

const fn in_project(mut work: Work) -> Work {
    work.takes_project = true;
    work
}

const fn with_counts(mut work: Work, operation: &'static str) -> Work {
    work.counts = Some(operation);
    work
}

const WORK: [(&str, Work); 13] = [
    ("projects.import", work_of("projects.import_status", "projectId", "projectId", "Importing the brand")),
    ("projects.import_retry", work_of("projects.import_status", "projectId", "projectId", "Importing the brand")),
    ("emails.generate", work_of("emails.status", "conversationId", "conversationId", "Generating")),
    ("emails.import_html", work_of("emails.status", "conversationId", "conversationId", "Importing")),
    ("emails.edit", work_of("emails.edit_status", "editId", "editId", "Editing")),
    ("previews.create", work_of("previews.status", "previewId", "previewId", "Rendering")),
    ("contacts.import", work_of("contacts.import_status", "id", "id", "Importing contacts")),
    ("contacts.import_start", work_of("contacts.import_status", "id", "id", "Importing contacts")),
    ("connections.import", work_of("contacts.import_status", "id", "id", "Importing contacts")),
    ("contacts.bulk", work_of("contacts.bulk_status", "jobId", "jobId", "Writing contacts")),
    ("contacts.bulk_change", work_of("contacts.bulk_change_status", "jobId", "jobId", "Changing contacts")),
    ("contacts.export", in_project(work_of("contacts.export_status", "jobId", "jobId", "Exporting contacts"))),
    ("campaigns.send", with_counts(work_of("campaigns.get", "id", "id", "Sending"), "campaigns.stats")),
];

/// The fields that are positional arguments although they are not in the path.
const MAIN_FIELDS: [(&str, &str); 17] = [
    ("projects.import", "urls"),
    ("projects.images_add", "url"),
    ("projects.images_upload", "file"),
    ("emails.generate", "prompt"),
    ("emails.brief", "prompt"),
    ("emails.edit", "prompt"),
    ("contacts.create", "email"),
    ("contacts.import", "file"),
    ("contacts.unsubscribe", "email"),
    ("campaigns.create", "name"),
    ("tags.create", "name"),
    ("topics.create", "name"),
    ("segments.create", "name"),
    ("domains.create", "domain"),
    ("suppressions.create", "email"),
    ("webhooks.create", "url"),
    ("events.record", "name"),
];

/// Returns how to follow the progress of the work that an operation starts.
pub fn work(id: &str) -> Option<&'static Work> {
    WORK.iter().find(|(operation, _)| *operation == id).map(|(_, work)| work)
}

/// Returns the operation's field that is a positional argument although it is not in the path.
pub fn main_field(id: &str) -> Option<&'static str> {
    MAIN_FIELDS.iter().find(|(operation, _)| *operation == id).map(|(_, field)| *field)
}

/// Returns whether the result of an operation is an email with a page in the dashboard.
pub fn opens(id: &str) -> bool {
    matches!(id, "emails.generate" | "emails.import_html" | "emails.create" | "emails.get" | "emails.edit")
}

/// Returns the operation that previews what an operation would do.
pub fn dry_run(id: &str) -> Option<&'static str> {
    (id == "campaigns.send").then_some("campaigns.dry_run")
}

/// Returns whether an operation's response contains links to files.
pub fn has_files(id: &str) -> bool {
    matches!(id, "exports.html" | "exports.mjml" | "exports.png" | "exports.pdf")
}

/// Returns the field that links to the only file of a completed job.
pub fn file_link(id: &str) -> Option<&'static str> {
    (id == "contacts.export").then_some("downloadUrl")
}

/// Returns the part of a generation's status that a table shows: its emails, without their content.
pub fn summary(data: &Value) -> Option<Value> {
    let emails = data["result"]["emails"].as_array()?;
    let shown = ["id", "slot", "language", "subject", "status", "error"];
    let email = |email: &Value| -> Value {
        let fields = shown.iter().filter_map(|name| Some(((*name).to_owned(), email.get(*name)?.clone())));
        Value::Object(fields.collect())
    };
    Some(json!({
        "conversationId": data["conversationId"],
        "title": data["title"],
        "status": data["status"],
        "emails": emails.iter().map(email).collect::<Vec<_>>(),
    }))
}

#[cfg(test)]
mod tests {
    use super::super::{fields, names};
    use super::*;
    use crate::operations::OPERATIONS;

    #[test]
    fn every_row_refers_to_operations_and_fields_that_exist() {
        for (id, work) in &WORK {
            names::operation(OPERATIONS, id);
            let status = names::operation(OPERATIONS, work.status);
            assert!(status.spec.path_names().any(|name| name == work.parameter), "{id}");
            if let Some(counts) = work.counts {
                let counts = names::operation(OPERATIONS, counts);
                assert!(counts.spec.path_names().eq(status.spec.path_names()), "{id}");
            }
            let needs_project = fields::of(status).iter().any(|field| field.name == "projectId" && field.required);
            assert_eq!(needs_project && work.parameter != "projectId", work.takes_project, "{id}");
        }
        // A campaign's status does not include progress, so its progress bar needs the counts.
        assert_eq!(work("campaigns.send").and_then(|work| work.counts), Some("campaigns.stats"));
        for (id, name) in MAIN_FIELDS {
            let fields = fields::of(names::operation(OPERATIONS, id));
            assert!(fields.iter().any(|field| field.name == name && !field.in_path), "{id}");
        }
    }
}
