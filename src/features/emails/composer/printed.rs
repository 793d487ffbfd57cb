//! Extracts the visible text and the link targets of an email.

use std::collections::HashSet;

use serde_json::Value;

use super::text::folded;
use crate::features::emails::document::{Block, Email, Rich};

/// The keys in a document whose values are not visible text.
pub const NOT_WORDS: [&str; 14] = [
    "id",
    "type",
    "href",
    "src",
    "logo",
    "language",
    "direction",
    "purpose",
    "until",
    "layout",
    "corners",
    "emphasis",
    "width",
    "look",
];

/// Returns the visible text of a block, folded for comparisons.
pub fn block(block: &Block) -> String {
    let mut out = String::new();
    collect(&serde_json::to_value(block).unwrap_or_default(), &mut |text| out.push_str(&visible(text)));
    out
}

/// Returns the visible text of an email, with the subject and the preheader, folded for comparisons.
pub fn email(email: &Email) -> String {
    let mut out = format!("{}{}", folded(&email.subject), folded(&email.preheader));
    email.blocks.iter().for_each(|shown| out.push_str(&block(shown)));
    out
}

/// Returns the number of words that the blocks between the header and the footer print.
pub fn words(blocks: &[Block]) -> usize {
    let inner = blocks.iter().filter(|block| !matches!(block, Block::Header(_) | Block::Footer(_)));
    inner
        .map(|shown| block(shown).split(' ').filter(|word| word.len() > 1 || word.chars().any(char::is_alphanumeric)).count())
        .sum()
}

fn visible(text: &str) -> String {
    let words = Rich::<0>::parse(text).map(|rich| rich.words());
    folded(&words.unwrap_or_else(|_| text.to_owned()))
}

pub fn links(email: &Email) -> HashSet<String> {
    let mut found = HashSet::new();
    addresses(&email.to_json(), &mut found);
    found
}

fn addresses(value: &Value, found: &mut HashSet<String>) {
    match value {
        Value::String(text) => {
            let inner = Rich::<0>::parse(text).map(|rich| rich.links().map(ToString::to_string).collect::<Vec<_>>());
            found.extend(inner.unwrap_or_default());
        }
        Value::Array(items) => items.iter().for_each(|item| addresses(item, found)),
        Value::Object(fields) => {
            found.extend(fields.get("href").and_then(Value::as_str).map(str::to_owned));
            fields.values().for_each(|value| addresses(value, found));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Visits the strings that the email displays.
fn collect(value: &Value, visit: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => visit(text),
        Value::Array(items) => items.iter().for_each(|item| collect(item, visit)),
        Value::Object(fields) => {
            let readable =
                fields.iter().filter(|(key, _)| !NOT_WORDS.contains(&key.as_str()) && !matches!(key.as_str(), "style" | "alt"));
            readable.for_each(|(_, value)| collect(value, visit));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
