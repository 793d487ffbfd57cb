//! Finds and replaces words in the text of an email.

use serde_json::Value;

use super::action::Which;
use crate::features::emails::composer::printed::NOT_WORDS;
use crate::features::emails::document::Block;

/// Calls `change` with the strings in an email that recipients can read.
pub fn words_of(value: &mut Value, change: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => change(text),
        Value::Array(items) => items.iter_mut().for_each(|item| words_of(item, change)),
        Value::Object(fields) => {
            let readable = fields.iter_mut().filter(|(key, _)| !NOT_WORDS.contains(&key.as_str()) && key.as_str() != "style");
            readable.for_each(|(_, value)| words_of(value, change));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns the start and the end of these words in the text, in bytes. A no-break space matches a space, and case is ignored if there is no
/// exact match.
pub fn find(text: &str, words: &str) -> Option<(usize, usize)> {
    let same = |one: char, other: char, exact: bool| {
        let space = |c: char| if c == '\u{a0}' || c == '\u{202f}' { ' ' } else { c };
        let (one, other) = (space(one), space(other));
        let quote = |c: char| if c == '’' { '\'' } else { c };
        let (one, other) = (quote(one), quote(other));
        one == other || (!exact && one.to_lowercase().eq(other.to_lowercase()))
    };
    let at = |start: usize, exact: bool| {
        let mut rest = text[start..].char_indices();
        for c in words.chars() {
            let (_, own) = rest.next()?;
            if !same(own, c, exact) {
                return None;
            }
        }
        Some(rest.next().map_or(text.len(), |(end, _)| start + end))
    };
    let starts = || text.char_indices().map(|(start, _)| start);
    let exact = starts().find_map(|start| at(start, true).map(|end| (start, end)));
    exact.or_else(|| starts().find_map(|start| at(start, false).map(|end| (start, end))))
}

/// Returns whether a block contains these words.
pub fn block_contains(block: &Block, words: &str) -> bool {
    let mut found = false;
    let mut json = serde_json::to_value(block).unwrap_or_default();
    words_of(&mut json, &mut |text| found |= find(text, words).is_some());
    found
}

/// Returns the item that an instruction selects from several items.
pub fn pick<T>(mut all: Vec<T>, which: Which) -> Option<T> {
    let place = match which {
        Which::Unsaid | Which::All => 0,
        Which::Nth(place) => place,
        Which::Last => all.len().checked_sub(1)?,
    };
    (place < all.len()).then(|| all.swap_remove(place))
}

/// Returns whether a match is a part of a longer word, an address or a code.
fn is_inside(text: &str, (start, end): (usize, usize)) -> bool {
    let (before, words, after) = (&text[..start], &text[start..end], &text[end..]);
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let is_cut = is_word(before.chars().next_back()) && is_word(words.chars().next())
        || is_word(after.chars().next()) && is_word(words.chars().next_back());
    let head = before.rsplit([' ', '\n', '\u{a0}']).next().unwrap_or_default();
    let tail = after.split([' ', '\n', '\u{a0}']).next().unwrap_or_default();
    let is_address = head.contains("://") || head.contains('@') || head.contains("www.") || tail.starts_with('@');
    let chunk = format!("{head}{words}{tail}");
    let code = chunk.trim_matches(|c: char| !c.is_alphanumeric());
    let is_code = code.contains('-')
        && code.contains(|c: char| c.is_ascii_digit())
        && code.contains(char::is_uppercase)
        && !code.contains(|c: char| c.is_lowercase() || c == ' ')
        && code.len() > words.len();
    is_cut || is_address || is_code
}

/// Returns the text with words replaced, and the number of replacements. If words are removed, no double space is left.
pub fn with_replaced(text: &str, from: &str, to: &str) -> (String, usize) {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut count = 0;
    while let Some((start, end)) = find(rest, from) {
        let at = text.len() - rest.len();
        out.push_str(&rest[..start]);
        if is_inside(text, (at + start, at + end)) {
            out.push_str(&rest[start..end]);
            rest = &rest[end..];
            continue;
        }
        out.push_str(to);
        rest = &rest[end..];
        if to.is_empty() && (out.is_empty() || out.ends_with(' ')) {
            rest = rest.trim_start_matches(' ');
        }
        count += 1;
    }
    out.push_str(rest);
    (out, count)
}
