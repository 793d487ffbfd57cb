//! Encodes merge fields as words, so that they stay intact when the composer reads and moves words.
//!
//! Each character of a field becomes one letter of Linear A, a script that prompts do not contain. The encoded text has as many characters
//! as the original.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The letter for the character with the code 0. The script has a letter for each ASCII character.
const FIRST_LETTER: u32 = 0x10600;

/// The maximum length of a merge field that is encoded, in bytes.
const FIELD_BYTES_MAX: usize = 120;

/// Returns the text with its merge fields encoded as words. Fields that are too long or contain non-ASCII characters stay unchanged.
/// Letters of Linear A in the text itself become spaces.
pub fn hidden(text: &str) -> String {
    let text: String = text.chars().map(|c| if character(c).is_some() { ' ' } else { c }).collect();
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(open) = rest.find("{{") {
        let Some(end) = rest[open..].find("}}").map(|close| open + close + 2) else { break };
        // If there are several pairs of opening braces, the last pair belongs to the field. The other pairs would make the markup invalid,
        // so they become spaces.
        let open = rest[..end - 2].rfind("{{").unwrap_or(open);
        let field = &rest[open..end];
        out.push_str(&rest[..open].replace("{{", "  "));
        let is_field = field.len() <= FIELD_BYTES_MAX
            && field.chars().all(|c| c.is_ascii() && !c.is_ascii_control())
            && field.contains(|c: char| c.is_ascii_alphabetic());
        match is_field {
            true => out.extend(field.chars().filter_map(|c| char::from_u32(FIRST_LETTER + u32::from(c)))),
            false => out.push_str(field),
        }
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// Decodes the merge fields in the text and writes them in the form used in documents. Incomplete fields are dropped.
pub fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut field = String::new();
    for c in text.chars() {
        match character(c) {
            Some(own) => {
                field.push(own);
                if field.ends_with("}}") {
                    out.push_str(&spelled(&field));
                    field.clear();
                }
            }
            None => {
                field.clear();
                out.push(c);
            }
        }
    }
    out
}

/// Returns whether the word is an encoded merge field.
pub fn is_field(word: &str) -> bool {
    word.chars().next().is_some_and(|first| character(first).is_some())
}

/// Returns the character that a letter of Linear A encodes; `None` for any other letter.
fn character(letter: char) -> Option<char> {
    u32::from(letter).checked_sub(FIRST_LETTER).filter(|code| *code < 128).and_then(char::from_u32)
}

/// Returns a field with its name in snake case, or an empty string if the opening or closing braces are missing.
fn spelled(field: &str) -> String {
    let Some(inside) = field.strip_prefix("{{").and_then(|field| field.strip_suffix("}}")) else { return String::new() };
    let (name, filter) = inside.split_once('|').map_or((inside, ""), |(name, filter)| (name, filter.trim()));
    let mut words = String::new();
    for c in name.trim().chars() {
        if c.is_ascii_uppercase() && words.ends_with(|last: char| last.is_ascii_lowercase()) {
            words.push('_');
        }
        words.push(c.to_ascii_lowercase());
    }
    if filter.is_empty() { format!("{{{{ {words} }}}}") } else { format!("{{{{ {words} | {filter} }}}}") }
}

/// Returns the value with the merge fields in its strings encoded as words, except in addresses.
pub fn hide<T: Serialize + DeserializeOwned + Clone>(value: &T) -> T {
    mapped(value, &|text| text.contains("{{"), &hidden)
}

/// Returns the value with the merge fields in its strings decoded, as [`shown`] does.
pub fn show<T: Serialize + DeserializeOwned + Clone>(value: &T) -> T {
    mapped(value, &|text| text.contains(|c| character(c).is_some()), &shown)
}

fn mapped<T: Serialize + DeserializeOwned + Clone>(
    value: &T,
    applies: &dyn Fn(&str) -> bool,
    change: &dyn Fn(&str) -> String,
) -> T {
    let mut json = serde_json::to_value(value).unwrap_or_default();
    match visit(&mut json, applies, change) {
        true => serde_json::from_value(json).unwrap_or_else(|_| value.clone()),
        false => value.clone(),
    }
}

/// Applies `change` to the strings for which `applies` is true. Returns whether there were any.
fn visit(json: &mut Value, applies: &dyn Fn(&str) -> bool, change: &dyn Fn(&str) -> String) -> bool {
    match json {
        Value::String(text) if applies(text) => {
            *text = change(text);
            true
        }
        Value::Array(items) => items.iter_mut().fold(false, |found, item| visit(item, applies, change) | found),
        Value::Object(fields) => {
            let readable = fields.iter_mut().filter(|(key, _)| key.as_str() != "href" && key.as_str() != "type");
            readable.fold(false, |found, (_, value)| visit(value, applies, change) | found)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merge_fields_survive_as_words() {
        for (text, expected) in [
            ("Hi {{ firstName }}, you", "Hi {{ first_name }}, you"),
            ("{{a}}{{ b | default(\"x\") }}", "{{ a }}{{ b | default(\"x\") }}"),
            ("{{ open", "{{ open"),
            ("{{ {{ x }}", "   {{ x }}"),
        ] {
            let words = hidden(text);
            assert_eq!(words.chars().count(), text.chars().count());
            assert_eq!(shown(&words), expected);
        }
        let cut: String = hidden("Hi {{ first_name }}").chars().take(9).collect();
        assert_eq!(shown(&cut), "Hi ");
    }
}
