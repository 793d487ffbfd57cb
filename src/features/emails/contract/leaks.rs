//! Finds instructions to the writer, and prompt text of unclear meaning, that ended up in the email.

use super::reading::Reading;
use super::text::{fold, sentences, spaced, words};
use crate::features::emails::brief::{Brief, Part, Span, is_greeting};
use crate::features::emails::finding::{Finding, FindingKind};

/// The number of consecutive words that identify an instruction in the email. A shorter sequence is too common, unless it is the whole
/// instruction.
const ROW_WORDS: usize = 4;

pub fn check(email: &Reading, brief: &Brief, known: &[String]) -> Vec<Finding> {
    let parts = brief.instructions.iter().chain(&brief.tone).map(|part| (part.text.as_str(), part.span));
    let audience = brief.audience.iter().map(|part| (part.text.as_str(), part.span));
    let copy = copy(brief, known);
    let printed = parts.chain(audience).filter_map(|(text, span)| printed(email, text, span, &copy, &inside(brief, span)));
    printed.chain(brief.unclear.iter().filter_map(|part| guessed(email, part, &copy))).collect()
}

/// Returns the folded text that the email may print even if an instruction contains the same words.
fn copy(brief: &Brief, known: &[String]) -> Vec<String> {
    let parts = [&brief.subject, &brief.preheader, &brief.headline].into_iter().flatten().map(|part| part.text.as_str());
    let facts = brief.facts.iter().map(|fact| fact.text.as_str());
    let stories = brief.stories.iter().flat_map(|story| story.heading.iter().chain([&story.text]).map(|part| part.text.as_str()));
    let offer = brief.offer.iter().flat_map(|offer| offer.scope.iter().chain(&offer.gift).map(|part| part.text.as_str()));
    let event = brief.event.iter().map(|event| event.name.text.as_str());
    let label = brief.cta.iter().filter_map(|cta| cta.label.as_ref()).map(|part| part.text.as_str());
    let signature = brief.signature.iter().flat_map(|own| std::iter::once(own.name.as_str()).chain(own.title.as_deref()));
    let own = parts.chain(facts).chain(stories).chain(offer).chain(event).chain(label).chain(signature);
    own.chain(known.iter().map(String::as_str)).map(|text| spaced(&fold(text))).collect()
}

/// Returns the folded text of the facts, the offer and the event inside an instruction, such as the event and the date in "Invite our
/// customers to the tasting on 14 March".
fn inside(brief: &Brief, span: Option<Span>) -> String {
    let is_inside = |own: Option<Span>| span.zip(own).is_some_and(|(span, own)| span.start <= own.start && own.end <= span.end);
    let facts = brief.facts.iter().filter(|fact| is_inside(fact.span)).map(|fact| fact.text.as_str());
    let event = brief.event.iter().filter(|event| is_inside(event.name.span)).map(|event| event.name.text.as_str());
    let offer = brief.offer.iter().flat_map(|offer| offer.scope.iter().chain(&offer.gift));
    let offer = offer.filter(|part| is_inside(part.span)).map(|part| part.text.as_str());
    spaced(&fold(&facts.chain(event).chain(offer).collect::<Vec<_>>().join(" ")))
}

fn printed(email: &Reading, text: &str, span: Option<Span>, copy: &[String], inside: &str) -> Option<Finding> {
    let folded = fold(text);
    let all: Vec<&str> = words(&folded).collect();
    let is_label = folded.trim_end().ends_with(':');
    let passages = || email.outline.passages.iter();
    let found = match all.len() {
        0 => None,
        // A label such as "Button:" counts as printed only with its colon, because the word alone can be ordinary text.
        _ if is_label => {
            let label = folded.trim();
            passages().find(|passage| {
                passage.folded.match_indices(label).any(|(at, _)| !passage.folded[..at].ends_with(char::is_alphanumeric))
            })
        }
        // An instruction of one or two words is recognized only as a whole sentence. Greetings are allowed, because many emails open with
        // them.
        1 | 2 if is_greeting(text) || copy.iter().any(|text| text.contains(&spaced(&folded))) => None,
        1 | 2 => {
            let own = spaced(&folded);
            passages().find(|passage| sentences(&passage.text).iter().any(|sentence| spaced(&fold(sentence)) == own))
        }
        length => {
            let rows: Vec<String> = all
                .windows(length.min(ROW_WORDS))
                .filter(|row| identifies(row, email, inside))
                .filter(|row| !copy.iter().any(|text| text.contains(&content(row, email))))
                .map(|row| format!(" {} ", row.join(" ")))
                .collect();
            passages().find(|passage| {
                let text = spaced(&passage.folded);
                rows.iter().any(|row| text.contains(row.as_str()))
            })
        }
    }?;
    let message = format!(
        "The email contains words from {text:?}, which is an instruction to the writer. Remove these words from {:?}.",
        found.text.trim()
    );
    let finding = Finding::new(FindingKind::InstructionPrinted, message).about(text, span);
    Some(finding.in_block(found.block.as_deref()))
}

/// Returns whether a sequence of words identifies the instruction: it contains a word that is neither a common word nor part of a
/// fact. Next to a fact, one such word is not enough, because the email states the fact in similar words: "10% off the first
/// order".
fn identifies(row: &[&str], email: &Reading, inside: &str) -> bool {
    let rest: Vec<&&str> = row.iter().filter(|word| !email.words.is_stop(word)).collect();
    let own = rest.iter().filter(|word| !inside.contains(&format!(" {word} "))).count();
    own > usize::from(own < rest.len())
}

/// Returns a sequence of words without the common words at its ends, so that the name of an event is recognized even if a word such as "on"
/// follows it.
fn content(row: &[&str], email: &Reading) -> String {
    let is_common = |word: &str| email.words.is_stop(word);
    let start = row.iter().position(|word| !is_common(word)).unwrap_or(0);
    let end = row.iter().rposition(|word| !is_common(word)).map_or(row.len(), |at| at + 1);
    format!(" {} ", row[start..end].join(" "))
}

/// Finds text of unclear meaning that the email prints.
fn guessed(email: &Reading, part: &Part, copy: &[String]) -> Option<Finding> {
    let own = spaced(&fold(&part.text));
    if words(&own).count() < ROW_WORDS - 1 || copy.iter().any(|text| text.contains(&own)) {
        return None;
    }
    let found = email.outline.passages.iter().find(|passage| spaced(&passage.folded).contains(&own))?;
    let message = format!(
        "The email contains {:?}, but the meaning of this text is unclear. Remove the text, or add it to the brief as a fact.",
        part.text
    );
    let finding = Finding::new(FindingKind::InstructionPrinted, message).about(&part.text, part.span);
    Some(finding.in_block(found.block.as_deref()).acceptable(&part.text))
}
