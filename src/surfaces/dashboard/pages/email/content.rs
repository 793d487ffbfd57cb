//! The page that shows an email's document as text.

use serde::Serialize;
use serde_json::Value;
#[cfg(test)]
use serde_json::json;

use super::super::brands::rows;
use super::{EmailHead, email};
use crate::features::emails::views::EmailDetails;
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit};

/// The data of the page that shows an email's document as text.
#[derive(Serialize)]
pub struct ContentPage {
    #[serde(flatten)]
    head: EmailHead,
    has_document: bool,
    purpose: Option<String>,
    blocks: Vec<BlockOutline>,
}

/// The outline of a block: its kind, its text in order, and its link targets.
#[derive(Serialize)]
struct BlockOutline {
    kind: Option<String>,
    lines: Vec<OutlineLine>,
}

#[derive(Serialize)]
struct OutlineLine {
    kind: &'static str,
    text: String,
}

impl ContentPage {
    fn new(head: EmailHead, document: Option<&Value>) -> Self {
        let document = document.unwrap_or(&Value::Null);
        Self {
            head,
            has_document: document.is_object(),
            purpose: document["purpose"].as_str().map(spaced),
            blocks: rows(&document["blocks"]).iter().map(outline).collect(),
        }
    }
}

page_context!(ContentPage, "email_document.html", {
    let document = json!({ "purpose": "winBack", "blocks": [
        { "type": "hero", "title": "Spring", "button": { "label": "Look", "href": "https://acme.example/" }, "src": "a.png" },
        { "type": "divider" }, {},
    ] });
    let head = || EmailHead::sample("document", "ready");
    vec![Self::new(head(), Some(&document)), Self::new(head(), None)]
});

/// Shows the email's document as text.
pub async fn document(visit: &Visit) -> Result<Outcome, PageError> {
    let EmailDetails { email, series, document } = email(visit).await?;
    let head = EmailHead::new(&email, series, "document");
    Ok(Outcome::draw(&ContentPage::new(head, document.as_ref())))
}

fn outline(block: &Value) -> BlockOutline {
    let mut lines = Vec::new();
    collect(block, &mut lines);
    BlockOutline { kind: block["type"].as_str().map(spaced), lines }
}

/// The fields that define the design rather than the content.
const SILENT: [&str; 12] =
    ["id", "type", "level", "align", "width", "height", "ratio", "style", "currency", "network", "layout", "ordered"];

fn collect(value: &Value, lines: &mut Vec<OutlineLine>) {
    let Value::Object(fields) = value else { return };
    for (name, value) in fields.iter().filter(|(name, _)| !SILENT.contains(&name.as_str())) {
        match value {
            Value::String(text) if !text.is_empty() => {
                let kind = match name.as_str() {
                    "href" | "url" => "link",
                    "src" | "logo" => "picture",
                    "title" | "heading" => "title",
                    _ => "text",
                };
                lines.push(OutlineLine { kind, text: text.clone() });
            }
            Value::Array(items) => {
                for item in items {
                    match item {
                        Value::String(text) => lines.push(OutlineLine { kind: "text", text: text.clone() }),
                        // A list within a list is a row of a table.
                        Value::Array(cells) => {
                            let text = cells.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" · ");
                            lines.push(OutlineLine { kind: "text", text });
                        }
                        other => collect(other, lines),
                    }
                }
            }
            other => collect(other, lines),
        }
    }
}

/// Puts spaces between the parts of a name: `winBack` → `win back`
fn spaced(word: &str) -> String {
    let mut out = String::with_capacity(word.len() + 4);
    for c in word.chars() {
        if c.is_uppercase() {
            out.push(' ');
        }
        out.extend(c.to_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_described_in_words() {
        let block = json!({
            "type": "hero", "id": "hero", "eyebrow": "New", "title": "Spring", "level": "title",
            "button": { "label": "Look", "href": "https://acme.example/" }, "items": ["a", { "text": "b" }], "rows": [["x", "y"]],
        });
        let content = outline(&block);
        assert_eq!(content.kind.as_deref(), Some("hero"));
        let mut sorted: Vec<String> = content.lines.iter().map(|line| format!("{}:{}", line.kind, line.text)).collect();
        sorted.sort();
        assert_eq!(
            sorted,
            ["link:https://acme.example/", "text:Look", "text:New", "text:a", "text:b", "text:x · y", "title:Spring"]
        );
        assert_eq!(spaced("winBack"), "win back");
    }
}
