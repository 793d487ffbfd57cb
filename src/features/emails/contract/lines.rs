//! Checks that the subject, the preheader and the titles are not cut off, and that their quotation marks and brackets are closed.

use super::outline::Place;
use super::reading::Reading;
use super::text::{fold, spaced};
use crate::features::emails::brief::Brief;
use crate::features::emails::finding::{Finding, FindingKind};

/// The problem reported for a line that breaks off in the middle of a sentence.
const CUT_OFF: &str = "is cut off. Complete it.";

pub fn check(email: &Reading, brief: &Brief, prompt: &str) -> Vec<Finding> {
    let prompt = fold(prompt);
    let is_line = |place: Place| matches!(place, Place::Subject | Place::Preheader | Place::Headline | Place::Title);
    let prescribed: Vec<String> =
        [&brief.subject, &brief.preheader, &brief.headline].into_iter().flatten().map(|part| spaced(&fold(&part.text))).collect();
    let lines = email.outline.passages.iter().filter(|passage| is_line(passage.place));
    lines
        .filter(|line| !prescribed.contains(&spaced(&line.folded)))
        .filter_map(|line| {
            let problem = problem(email, line.text.trim(), &line.folded, &prompt)?;
            let name = match line.place {
                Place::Subject => "subject",
                Place::Preheader => "preheader",
                Place::Headline => "headline",
                _ => "title",
            };
            let message = format!("The {name} {:?} {problem}", line.text.trim());
            let finding = Finding::new(FindingKind::LineIncomplete, message).about(line.text.trim(), None);
            Some(finding.in_block(line.block.as_deref()))
        })
        .collect()
}

fn problem(email: &Reading, text: &str, folded: &str, prompt: &str) -> Option<&'static str> {
    let folded = folded.trim();
    if !is_balanced(text) {
        return Some("has an unmatched quotation mark or bracket. Add its counterpart, or remove it.");
    }
    if text.ends_with('…') || text.ends_with("...") || text.ends_with([',', ':', ';', '(', '-', '–', '—', '&', '+', '/']) {
        return Some(CUT_OFF);
    }
    if text.starts_with([',', '.', ';', ':', ')', '!', '?']) {
        return Some("starts with punctuation. Remove it, or add the missing words before it.");
    }
    let spaced = spaced(folded);
    let is_open = |word: &String| spaced.ends_with(&format!(" {word} "));
    let has_end = text.ends_with(['.', '!', '?', '"', '”', '“', '»']);
    if !has_end && email.words.table.dangling.iter().any(is_open) {
        return Some(CUT_OFF);
    }
    // A line that ends with a number is cut off if the prompt continues with a month or the rest of a time: "am Donnerstag, 3" from "am
    // Donnerstag, 3. Dezember".
    let last = spaced.trim_end().rsplit(' ').next().unwrap_or_default();
    let is_day = !last.is_empty() && last.len() <= 2 && last.chars().all(|c| c.is_ascii_digit());
    if is_day && folded.ends_with(last) {
        let before: String = folded.chars().rev().take(DAY_CONTEXT_CHARACTERS).collect::<Vec<_>>().into_iter().rev().collect();
        let continues = prompt.match_indices(before.as_str()).any(|(at, _)| {
            let rest = &prompt[at + before.len()..];
            let rest = rest.trim_start_matches(['.', ' ']);
            let word: String = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
            let is_clock = |rest: &str| rest.strip_prefix(':').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
            email.words.month(&word).is_some() || is_clock(rest) || rest.starts_with('h')
        });
        return continues.then_some(CUT_OFF);
    }
    None
}

/// The number of characters at the end of a line that are searched for in the prompt.
const DAY_CONTEXT_CHARACTERS: usize = 10;

/// Returns whether the text closes its brackets and quotation marks.
pub fn is_balanced(text: &str) -> bool {
    let mut open: Vec<char> = Vec::new();
    for (at, c) in text.char_indices() {
        let close = match c {
            '(' => ')',
            '[' => ']',
            '«' => '»',
            '„' => '“',
            // The German closing mark is the English opening mark.
            '“' if open.last() == Some(&'“') => {
                open.pop();
                continue;
            }
            '“' => '”',
            '"' | '”' if open.last() == Some(&c) => {
                open.pop();
                continue;
            }
            '"' => {
                // A quotation mark after a digit means inches: 14".
                if text[..at].ends_with(|c: char| c.is_ascii_digit()) && !open.contains(&'"') {
                    continue;
                }
                '"'
            }
            '”' if open.last() == Some(&'“') => {
                open.pop();
                continue;
            }
            ')' | ']' | '»' | '”' => {
                // The bracket of an emoticon such as :) does not close anything.
                if open.last() == Some(&c) {
                    open.pop();
                } else if !text[..at].ends_with([':', ';', '-']) {
                    return false;
                }
                continue;
            }
            _ => continue,
        };
        open.push(close);
    }
    open.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_close_their_marks() {
        for text in
            ["A (b) c", "„Licht“ ist da", "“Tea and Clay” is back", "\"a\" and \"b\"", "«Été» arrive", "14\" wide", "Hi :)"]
        {
            assert!(is_balanced(text), "{text}");
        }
        for text in ["Was Selbstständige wissen müssen“ am Donnerstag", "A (b", "„Licht ist da", "“Tea", "a) b", "\"a"] {
            assert!(!is_balanced(text), "{text}");
        }
    }
}
