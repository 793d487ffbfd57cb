//! Builds the changes that resolve findings: they add missing text to an email or remove text that the email must not contain.

use serde_json::{Value, json};

use super::Terms;
use super::outline::{Outline, Place};
use super::remove;
use super::text::sentences;
use crate::features::emails::brief::Span;
use crate::features::emails::document::{Block, Change, ChangeKind, Email, Prose};
use crate::features::emails::finding::{Finding, FindingKind};

/// The maximum length, in characters, of a sentence from the prompt that is added whole. Longer sentences contain too much besides the
/// missing fact.
const SENTENCE_CHARACTERS_MAX: usize = 240;

/// The maximum number of lines in a signature, and of characters in each line.
const SIGNATURE_LINES_MAX: usize = 4;
const SIGNATURE_LINE_CHARACTERS_MAX: usize = 60;

/// Adds the remedy to a finding: a change that inserts missing text, or a change that removes text that the email must not contain.
pub fn with_remedy(document: &Email, terms: &Terms<'_>, finding: Finding) -> Finding {
    if matches!(finding.kind, FindingKind::NotInBrief | FindingKind::InstructionPrinted) {
        return Finding { remove: remove::change(document, &finding), ..finding };
    }
    let is_lost = matches!(finding.kind, FindingKind::FactMissing | FindingKind::Unclear | FindingKind::NotTranslated);
    let Some(text) = finding.text.as_deref().filter(|_| is_lost && finding.add.is_none()) else { return finding };
    // A missing fact is added with its sentence, which provides the context. Unclear text is added without its sentence, because the email
    // may already contain other parts of the sentence.
    let span = finding.span.filter(|_| finding.kind == FindingKind::FactMissing);
    let sentence = span.and_then(|span| sentence_around(terms, span)).unwrap_or_else(|| text.to_owned());
    let add = insert(document, &whole(&sentence));
    Finding { add: Some(add), ..finding }
}

/// Returns a change that inserts the text as a separate block: after the last text before the signature, the first divider, the social
/// links or the footer.
pub fn insert(document: &Email, text: &str) -> Change {
    let is_text = |block: &&Block| matches!(block, Block::Hero(_) | Block::Text(_) | Block::List(_) | Block::Heading(_));
    let ends = |block: &&Block| matches!(block, Block::Social(_) | Block::Footer(_) | Block::Divider(_));
    let body = document.blocks.iter().take_while(|block| !ends(block));
    let mut texts: Vec<&Block> = body.filter(is_text).collect();
    texts.pop_if(|last| is_signature(last));
    let after = texts.pop().or(document.blocks.first());
    insert_after(after, json!({ "type": "text", "id": document.free_id("text"), "text": Prose::plain(text).markup() }))
}

fn insert_after(block: Option<&Block>, value: Value) -> Change {
    let after = block.map(|block| block.id().as_str().to_owned());
    Change { op: ChangeKind::Insert, path: None, id: None, after, before: None, value }
}

/// Returns whether a block at the end of an email looks like a signature, which is a few short lines.
fn is_signature(block: &Block) -> bool {
    let Block::Text(text) = block else { return false };
    let markup = text.text.markup();
    let lines: Vec<&str> = markup.lines().collect();
    let is_short = |line: &&str| (1..=SIGNATURE_LINE_CHARACTERS_MAX).contains(&line.chars().count());
    (2..=SIGNATURE_LINES_MAX).contains(&lines.len()) && lines.iter().all(is_short)
}

pub fn set(path: &str, value: &str) -> Change {
    Change { op: ChangeKind::Set, path: Some(path.to_owned()), id: None, after: None, before: None, value: Value::from(value) }
}

/// Returns a change that sets the label or the link of the main button.
pub fn set_button(outline: &Outline, field: &str, value: &str) -> Option<Change> {
    let path = outline.buttons.iter().find_map(|button| button.path.as_ref())?;
    Some(set(&format!("{path}.{field}"), value))
}

/// Returns a change that inserts a button at the end of the content. If `href` is `None`, the button opens the first https link of the
/// email. Returns `None` if the email has no such link.
pub fn insert_button(document: &Email, outline: &Outline, label: &str, href: Option<&str>) -> Option<Change> {
    let first = || outline.links.iter().map(|(_, href)| href.as_str()).find(|href| href.starts_with("https://"));
    let href = href.or_else(first)?;
    let last = document.blocks.iter().take_while(|block| !matches!(block, Block::Social(_) | Block::Footer(_))).last();
    Some(insert_after(last, json!({ "type": "button", "id": document.free_id("button"), "label": label, "href": href })))
}

/// Returns a change that sets the headline or, if the email has none, inserts one below the header.
pub fn set_headline(document: &Email, outline: &Outline, value: &str) -> Change {
    let id = outline.line(Place::Headline).and_then(|line| line.block.as_deref());
    match id.and_then(|id| document.find(id)) {
        Some((_, Block::Hero(hero))) => set(&format!("blocks.{}.title", hero.id.as_str()), value),
        Some((_, Block::Heading(heading))) => set(&format!("blocks.{}.text", heading.id.as_str()), value),
        _ => {
            let block = json!({ "type": "heading", "id": document.free_id("heading"), "text": value, "level": "title" });
            insert_after(document.blocks.first(), block)
        }
    }
}

/// Returns the sentence in the prompt that contains a span, unless the sentence is long or contains an instruction to the writer.
fn sentence_around(terms: &Terms<'_>, span: Span) -> Option<String> {
    let byte = |position: u32| terms.prompt.char_indices().nth(usize::try_from(position).unwrap_or(usize::MAX)).map(|(at, _)| at);
    let (start, end) = (byte(span.start)?, byte(span.end).unwrap_or(terms.prompt.len()));
    let sentence = sentences(terms.prompt).into_iter().find(|sentence| {
        let from = sentence.as_ptr() as usize - terms.prompt.as_ptr() as usize;
        (from..from + sentence.len()).contains(&start) && end <= from + sentence.len()
    })?;
    let brief = terms.brief;
    let mut notes = brief.instructions.iter().chain(&brief.tone).chain(&brief.audience).map(|part| part.text.as_str());
    let constraints = brief.constraints.iter().filter_map(|constraint| {
        let span = constraint.span?;
        terms.prompt.get(byte(span.start)?..byte(span.end).unwrap_or(terms.prompt.len()))
    });
    let has_note = notes.any(|note| sentence.contains(note)) || constraints.into_iter().any(|note| sentence.contains(note));
    (!has_note && sentence.chars().count() <= SENTENCE_CHARACTERS_MAX).then(|| sentence.to_owned())
}

/// Returns the text without list markers, capitalized and with closing punctuation. Text with a web address keeps its case and its ending.
fn whole(text: &str) -> String {
    let text = text.trim().trim_start_matches(['-', '–', '•', '*', ' ']).trim_end_matches([',', ';', ':', ' ']);
    let mut rest = text.chars();
    let first = rest.next().map(|c| if text.contains("://") { c.to_string() } else { c.to_uppercase().to_string() });
    let text = format!("{}{}", first.unwrap_or_default(), rest.as_str());
    let has_end = text.ends_with(['.', '!', '?', '…', ':']) || text.contains("://");
    if has_end { text } else { format!("{text}.") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_becomes_its_own_sentence_before_the_footer() {
        let email = Email::sample();
        let change = insert(&email, &whole("- free UK delivery over £60,"));
        let after = email.changed(&[change]).expect("the change is valid");
        let outline = Outline::of(&after);
        let added =
            outline.passages.iter().find(|passage| passage.text == "Free UK delivery over £60.").expect("the text is added");
        assert_eq!(after.blocks.len(), email.blocks.len() + 1);
        assert!(added.place == Place::Body && added.block.is_some());
    }

    #[test]
    fn a_text_is_added_before_the_signature() {
        let text = |id: &str, text: &str| json!({ "type": "text", "id": id, "text": text });
        let mut email = Email::sample();
        let blocks = [text("one", "Our news."), text("two", "Warmly,\n**Ada**\nFounder")];
        email.blocks.splice(1..email.blocks.len() - 1, blocks.map(|block| serde_json::from_value(block).expect("a block")));
        assert_eq!(insert(&email, "More.").after.as_deref(), Some("one"));
    }
}
