//! Labels in bold on the documentation's pages: each must be a text of the dashboard.

use std::collections::BTreeSet;
use std::fs;

use super::none;
use super::source::{files, root, sources};

/// TABLE: labels of other services, and the service.
const OTHERS: &[(&str, &str)] = &[
    ("Webhooks by Zapier", "Zapier"),
    ("Custom Request", "Zapier"),
    ("HTTP, Make a request", "Make"),
    ("Evaluate all states as errors", "Make"),
    ("HTTP Request", "n8n"),
    ("Import cURL", "n8n"),
    ("Connect, Webhooks", "Typeform"),
];

/// Returns the text without the parts from `open` to `close`; a line break replaces each of them.
fn without(text: &str, open: &str, close: &str) -> String {
    let mut parts = text.split(open);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |kept, part| kept + "\n" + part.split_once(close).map_or("", |(_, rest)| rest))
}

/// Returns the text on one line, without repeated spaces.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<&str>>().join(" ")
}

/// Returns the texts of a template: between tags and statements, and in quotation marks.
fn template_texts(template: &str) -> Vec<String> {
    let marks = [("{#", "#}"), ("{%", "%}"), ("{{", "}}"), ("<", ">")];
    let text = marks.into_iter().fold(template.to_owned(), |text, (open, close)| without(&text, open, close));
    text.lines().chain(template.split('"')).map(line).collect()
}

/// Returns the labels of a page: the bold texts, except terms in lowercase, and except bold words at the start of a paragraph, which end
/// with a punctuation mark.
fn labels(page: &str) -> Vec<String> {
    let blocks: String = page.split("```").step_by(2).collect();
    let prose: String = blocks.split('`').step_by(2).collect();
    let bold = prose.split("**").skip(1).step_by(2).map(line);
    bold.filter(|text| text.starts_with(char::is_uppercase) && !text.ends_with(['.', ':', ','])).collect()
}

/// Returns whether the dashboard contains the label; `…` in the label stands for a value.
fn is_known(texts: &BTreeSet<String>, label: &str) -> bool {
    label.split('…').all(|part| texts.contains(part.trim()))
}

/// Returns the files of a folder whose names end with `.` and `end`, with their texts.
fn read(folder: &str, end: &str) -> Vec<(String, String)> {
    let paths = files(&root().join(folder)).into_iter();
    let paths = paths.filter(|path| path.extension().is_some_and(|extension| extension == end));
    paths.map(|path| (path.display().to_string(), fs::read_to_string(&path).expect("the file is UTF-8"))).collect()
}

#[test]
fn labels_in_the_documentation_are_texts_of_the_dashboard() {
    let mut texts: BTreeSet<String> =
        read("assets/dashboard", "html").iter().flat_map(|(_, template)| template_texts(template)).collect();
    // `shipped` is empty for files of tests.
    let sources = sources(&["src/surfaces/dashboard", "src/features", "src/vocab"]).into_iter();
    for source in sources.filter(|source| !source.shipped.is_empty()) {
        texts.extend(source.text.split('"').map(str::to_owned));
    }
    let (mut count, mut unknown) = (0, Vec::new());
    for (path, page) in read("assets/docs", "md") {
        for label in labels(&page) {
            count += 1;
            if !is_known(&texts, &label) && !OTHERS.iter().any(|(other, _)| *other == label) {
                unknown.push(format!("{path}: {label}"));
            }
        }
    }
    assert!(count > 100, "{count} labels");
    none("labels that the dashboard does not show", unknown);
}

#[test]
fn a_label_is_compared_with_whole_texts() {
    let template = "<p title=\"Save\">{# Note #}Restore {{ count }} <b>contacts</b>{% if x > 1 %} deleted\n{% endif %}</p>";
    let texts: BTreeSet<String> = template_texts(template).into_iter().collect();
    for (label, expected) in [("Save", true), ("Restore … deleted", true), ("Rest", false), ("Note", false)] {
        assert_eq!(is_known(&texts, label), expected, "{label}: {texts:?}");
    }
    let page = "Choose **Save\nblock**, a **term**, or `**code**`.\n\n**Retention.** It is\n\n```\n**fence**\n```\n**Edit**";
    assert_eq!(labels(page), ["Save block", "Edit"]);
}
