//! Builds the change that removes text from an email: the sentence that contains it, the link, or the whole block if nothing else would be
//! left.

use serde_json::Value;

use super::lines::is_balanced;
use super::text::{fold, sentences};
use crate::features::emails::document::{Change, ChangeKind, Email};
use crate::features::emails::finding::Finding;

/// The fields that contain no words for recipients.
const NO_WORDS: [&str; 9] = ["id", "type", "src", "logo", "look", "level", "marks", "emphasis", "until"];

/// Returns the change that removes the text of a finding; `None` if the removal would make the email invalid.
pub fn change(document: &Email, finding: &Finding) -> Option<Change> {
    let text = finding.text.as_deref()?;
    let json = document.to_json();
    let Some(id) = finding.block.as_deref() else {
        return ["subject", "preheader"].into_iter().find_map(|field| {
            let line = json[field].as_str()?;
            let kept = without(line, text).filter(|kept| !kept.is_empty())?;
            valid(document, Change { value: kept.into(), ..changed(ChangeKind::Set, Some(field), None) })
        });
    };
    let block = json["blocks"].as_array()?.iter().find(|block| block["id"] == id)?;
    let path = format!("blocks.{id}");
    for drops_items in [false, true] {
        let mut kept = block.clone();
        let found = strip(&mut kept, "", text, drops_items);
        let change = match found {
            Found::Nothing => return None,
            Found::Part => Change { value: kept, ..changed(ChangeKind::Set, Some(&path), None) },
            Found::All => changed(ChangeKind::Remove, None, Some(id)),
        };
        if let Some(change) = valid(document, change) {
            return Some(change);
        }
    }
    None
}

fn changed(op: ChangeKind, path: Option<&str>, id: Option<&str>) -> Change {
    Change { op, path: path.map(str::to_owned), id: id.map(str::to_owned), after: None, before: None, value: Value::Null }
}

fn valid(document: &Email, change: Change) -> Option<Change> {
    document.changed(std::slice::from_ref(&change)).is_ok().then_some(change)
}

/// The result of a removal from a JSON value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Nothing,
    /// The text was removed, and part of the value is left.
    Part,
    /// Nothing is left of the value.
    All,
}

/// Removes text from the strings in a JSON value. If `drops_items` is true, a list item, a button or another object that lost a field is
/// dropped.
fn strip(json: &mut Value, key: &str, text: &str, drops_items: bool) -> Found {
    match json {
        Value::String(address) if key == "href" => {
            if super::text::same_address(address, text) {
                Found::All
            } else {
                Found::Nothing
            }
        }
        Value::String(words) if !NO_WORDS.contains(&key) => match unlinked(words, text).or_else(|| without(words, text)) {
            Some(kept) if kept.is_empty() => Found::All,
            Some(kept) => {
                *words = kept;
                Found::Part
            }
            None => Found::Nothing,
        },
        Value::Array(items) => {
            let (mut found, mut is_shorter) = (Found::Nothing, false);
            items.retain_mut(|item| {
                let own = strip(item, key, text, drops_items);
                found = if own == Found::Nothing { found } else { Found::Part };
                is_shorter |= own == Found::All;
                own != Found::All
            });
            // All rows of a table must have the same number of cells, so a row that lost a cell is dropped.
            if is_shorter && (items.is_empty() || key == "cells") { Found::All } else { found }
        }
        Value::Object(fields) => {
            let (mut found, mut is_emptied) = (Found::Nothing, false);
            fields.retain(|name, value| {
                let is_object = value.is_object();
                let own = strip(value, name, text, drops_items);
                found = if own == Found::Nothing { found } else { Found::Part };
                is_emptied |= own == Found::All && !is_object;
                own != Found::All
            });
            if is_emptied && drops_items { Found::All } else { found }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Found::Nothing,
    }
}

/// Returns the text without its links to an address; `None` if it has no such links. The link labels stay.
fn unlinked(words: &str, address: &str) -> Option<String> {
    let target = format!("]({address})");
    let mut kept = words.to_owned();
    while let Some(end) = kept.find(&target) {
        let start = kept[..end].rfind('[')?;
        kept.replace_range(end..end + target.len(), "");
        kept.replace_range(start..=start, "");
    }
    (kept != words).then_some(kept)
}

/// Returns `words` without the sentences that contain `text`; `None` if no sentence contains it, or if the rest would have unpaired bold
/// marks, quotation marks or brackets.
fn without(words: &str, text: &str) -> Option<String> {
    let mut kept = words.to_owned();
    for sentence in sentences(words).into_iter().rev().filter(|sentence| contains(sentence, text)) {
        let start = sentence.as_ptr() as usize - words.as_ptr() as usize;
        kept.replace_range(start..start + sentence.len(), "");
    }
    let lines: Vec<&str> = kept.lines().map(str::trim).collect();
    let kept = lines.join("\n").replace("  ", " ").trim().to_owned();
    let is_whole = kept.matches("**").count().is_multiple_of(2) && is_balanced(&kept);
    (kept != words.trim() && is_whole).then_some(kept)
}

/// Returns whether the first text contains the second as whole words and numbers.
fn contains(words: &str, text: &str) -> bool {
    let (words, text) = (fold(&words.replace('*', "")), fold(text));
    let joins =
        |one: Option<char>, other: Option<char>| one.zip(other).is_some_and(|(a, b)| a.is_alphanumeric() && b.is_alphanumeric());
    !text.is_empty()
        && words.match_indices(text.as_str()).any(|(at, found)| {
            let (before, after) = (&words[..at], &words[at + found.len()..]);
            !joins(before.chars().next_back(), found.chars().next()) && !joins(found.chars().next_back(), after.chars().next())
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::features::emails::finding::FindingKind;

    fn email(blocks: Value) -> Email {
        let mut all = vec![json!({ "type": "header", "id": "header", "name": "Kiln" })];
        all.extend(blocks.as_array().expect("a list of blocks").iter().cloned());
        all.push(json!({ "type": "text", "id": "last", "text": "See you soon." }));
        all.push(json!({ "type": "footer", "id": "footer", "sender": "Kiln", "unsubscribe": "Unsubscribe" }));
        let json = json!({
            "version": 1, "language": "en", "direction": "ltr", "purpose": "sale", "subject": "Mugs. Save 10%", "preheader": "9 left",
            "style": {}, "blocks": all,
        });
        Email::from_json(&json).expect("the document is valid")
    }

    /// Removes text from the block, or from the subject and preheader. Returns the subject, the preheader and the given blocks.
    fn removed(blocks: Value, block: Option<&str>, text: &str) -> Option<Value> {
        let email = email(blocks);
        let finding = Finding::new(FindingKind::NotInBrief, String::new()).about(text, None).in_block(block);
        let mut json = email.changed(&[change(&email, &finding)?]).expect("the change is valid").to_json();
        crate::base::optional::remove_nulls(&mut json);
        let blocks = json["blocks"].as_array().expect("a list of blocks");
        Some(json!([json["subject"], json["preheader"], blocks[1..blocks.len() - 2]]))
    }

    #[test]
    fn a_sentence_an_item_a_link_or_a_block_is_removed() {
        let text = |text: &str| json!([{ "type": "text", "id": "a", "text": text }]);
        let of = |blocks: Value, text: &str| removed(blocks, Some("a"), text).map(|email| email[2].clone());
        assert_eq!(of(text("New mugs. Only £9. **Until** Sunday."), "£9"), Some(text("New mugs. **Until** Sunday.")));
        assert_eq!(of(text("From 24 December on. See you on 4 December."), "4 december"), Some(text("From 24 December on.")));
        assert_eq!(of(text("See [our shop](https://other.example/x)."), "https://other.example/x"), Some(text("See our shop.")));
        assert_eq!(of(text("Only £9."), "£9"), Some(json!([])));
        assert_eq!(of(text("Only £19."), "£9"), None);
        let list = |items: Value| json!([{ "type": "list", "id": "a", "items": items }]);
        let items = json!([{ "text": "Only £9" }, { "text": "New glaze" }]);
        let kept = of(list(items), "£9").expect("the item is removed");
        assert_eq!(kept[0]["items"], json!([{ "text": "New glaze" }]));
        let button = json!({ "label": "Look", "href": "https://other.example/x" });
        let hero = json!([{ "type": "hero", "id": "a", "title": "Mugs", "button": button }]);
        let kept = of(hero, "https://other.example/x/").expect("the button is removed");
        assert_eq!((&kept[0]["title"], &kept[0]["button"]), (&json!("Mugs"), &Value::Null));
    }

    #[test]
    fn the_subject_keeps_its_other_sentences_and_is_never_emptied() {
        let email = removed(json!([]), None, "10%").expect("a sentence is left");
        assert_eq!(email[0], "Mugs.");
        assert_eq!(removed(json!([]), None, "9"), None);
    }
}
