//! The templates of the dashboard.

use std::fs;

use super::none;
use super::source::{files, root};

/// Returns the labels that the template writes itself instead of the shared part `parts.html`, except those in filters and after the end of
/// a form.
fn own_labels(template: &str) -> Vec<String> {
    let sends_nothing = |before: &str| {
        let form = before.rfind("<form ").map_or("", |at| &before[at..]);
        form.starts_with("<form method=\"get\"") || form.contains("</form>")
    };
    let labels = template.match_indices("<label for=").filter(|(at, _)| !sends_nothing(&template[..*at]));
    labels.map(|(at, _)| template[at..].chars().take(60).collect()).collect()
}

#[test]
fn fields_of_forms_are_written_by_the_shared_part() {
    // The rows of these forms are too small for an error beside each field; the error is above the form or the row.
    const ROWS: [&str; 5] =
        ["contact_fields.html", "contacts.html", "email_brief.html", "email_designs.html", "email_editor.html"];
    let mut found = Vec::new();
    for path in files(&root().join("assets/dashboard")) {
        let name = path.file_name().expect("files have names").to_string_lossy().into_owned();
        if !name.ends_with(".html") || name == "parts.html" {
            continue;
        }
        let labels = own_labels(&fs::read_to_string(&path).expect("a template is UTF-8"));
        assert!(!ROWS.contains(&name.as_str()) || !labels.is_empty(), "{name} needs no exception: remove it");
        if !ROWS.contains(&name.as_str()) {
            found.extend(labels.into_iter().map(|label| format!("{name}: {label}: use parts.field, which shows the error")));
        }
    }
    none("fields that show no error", found);
}

#[test]
fn labels_outside_filters_are_found() {
    let filter = "<form method=\"get\"><label for=\"q\">Search</label></form>";
    assert_eq!(own_labels(filter), [""; 0]);
    assert_eq!(own_labels(&format!("{filter}<form method=\"post\"><label for=\"a\">A</label></form>")).len(), 1);
    assert_eq!(own_labels("{% macro name() %}<label for=\"a\">A</label>{% endmacro %}").len(), 1);
}
