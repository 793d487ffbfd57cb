//! Makes an email shorter without losing a fact, or longer without inventing one.

use super::action::{PartName, Target};
use super::blocks::default_place;
use super::reply::{ActionResult, Reply};
use super::resources::EditResources;
use super::style::missing;
use super::texts::{running_texts, sentences, title};
use super::translate::is_own_phrase;
use super::vocabulary::Vocabulary;
use crate::features::emails::composer::language::{Bank, Language};
use crate::features::emails::composer::material;
use crate::features::emails::composer::phrases::{Phrasebook, escape};
use crate::features::emails::composer::plan;
use crate::features::emails::composer::rules::Rules;
use crate::features::emails::composer::text::{capital, ended, folded, tidy};
use crate::features::emails::composer::tokens::Tokens;
use crate::features::emails::composer::voice::Voice;
use crate::features::emails::document::*;

/// The minimum length, in characters, of a shortened line.
const LINE_CHARACTERS_MIN: usize = 6;

/// Shortens a line of the email, or removes filler sentences from the email's text.
pub fn shorten(email: &mut Email, part: PartName, means: &EditResources<'_>) -> ActionResult {
    let lacking = missing(part.target, email);
    let before = email.clone();
    let own = Language::of(&email.language).unwrap_or(Language::En);
    let text = match part.target {
        Target::Subject => email.subject.to_string(),
        Target::Preheader => email.preheader.to_string(),
        Target::Title => title(email).ok_or(lacking)?.to_string(),
        Target::Email | Target::Text | Target::Lead => return drop_filler(email, part, means),
        other => return Err(Reply::about("no_shorter", other)),
    };
    for shorter in shorter_lines(&text, own) {
        let mut changed = before.clone();
        match part.target {
            Target::Subject => changed.subject = Line::new(&shorter),
            Target::Preheader => changed.preheader = Line::new(&shorter),
            _ => {
                if let Some(title) = title(&mut changed) {
                    *title = Line::new(&shorter);
                }
            }
        }
        let done = Reply::about("shortened", part.target).text("value", shorter);
        if (means.lost)(&before, &changed).is_empty() {
            *email = changed;
            return Ok(done);
        }
        // If only the headline states a fact, the old headline becomes a sentence of the opening.
        if part.target == Target::Title && tell_in_opening(&mut changed, &text) && (means.lost)(&before, &changed).is_empty() {
            *email = changed;
            return Ok(Reply { then: Some(Box::new(Reply::new("kept_in_intro"))), ..done });
        }
    }
    Err(Reply::about("no_shorter", part.target))
}

/// Adds a sentence to the start of the opening. Returns `false` if the email has no opening or becomes invalid.
fn tell_in_opening(email: &mut Email, sentence: &str) -> bool {
    let Some(hero) = email.blocks.iter_mut().find_map(|block| if let Block::Hero(hero) = block { Some(hero) } else { None })
    else {
        return false;
    };
    let rest = hero.text.as_ref().map(Rich::markup).unwrap_or_default();
    hero.text = Rich::parse(format!("{} {rest}", ended(&escape(sentence))).trim()).ok();
    email.check().is_empty()
}

/// Returns shorter forms of a line, best first: one side of its last dash, vertical bar, colon, comma or period, and the line without
/// its last clause.
pub fn shorter_lines(text: &str, language: Language) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let has_digit = |part: &str| part.contains(|c: char| c.is_ascii_digit());
    for mark in [" – ", " — ", " | ", ": ", "\u{a0}: ", ", ", ". "] {
        if let Some((head, tail)) = text.rsplit_once(mark) {
            // If only the second side has a number, that side is kept, because numbers are usually the news. At a comma, the first side is
            // always kept.
            let kept =
                if has_digit(tail) && !has_digit(head) && mark != ", " { capital(tail.trim()) } else { head.trim().to_owned() };
            found.push(kept);
        }
    }
    let words = Tokens::read(text);
    let starts = Vocabulary::of(language).class("clause");
    let clause = (2..words.len()).rev().find(|at| words.any(*at, starts).is_some());
    found.extend(clause.map(|at| words.slice(0, at).to_owned()));
    let is_whole = |line: &String| {
        let open = line.matches(['“', '„', '«', '(']).count() != line.matches(['”', '»', ')']).count();
        line.chars().count() >= LINE_CHARACTERS_MIN && line.contains([' ', '\u{a0}']) && !open && line.len() < text.len()
    };
    found.iter().map(|line| line.trim_end_matches([',', ';', ':', '–', '—', ' ']).to_owned()).filter(is_whole).collect()
}

/// Removes the sentences that only express a feeling, and the composer's own sentences that contain no facts.
fn drop_filler(email: &mut Email, part: PartName, means: &EditResources<'_>) -> ActionResult {
    let language = Language::of(&email.language).unwrap_or(Language::En);
    let closing = super::blocks::closing(email).map(|at| super::blocks::said_by(&email.blocks[at])).unwrap_or_default();
    let mut candidates: Vec<String> = Vec::new();
    for (index, markup) in running_texts(email).into_iter().enumerate() {
        if part.target == Target::Lead && index > 0 {
            break;
        }
        markup(&mut |text| {
            let all: Vec<&str> = text.split('\n').flat_map(sentences).collect();
            let filler = all.iter().filter(|sentence| is_filler(sentence, language) && !closing.contains(**sentence));
            // Each text keeps at least one sentence.
            candidates.extend(filler.take(all.len().saturating_sub(1)).map(|sentence| (*sentence).to_owned()));
            None
        });
    }
    let mut dropped = Vec::new();
    for sentence in candidates {
        let mut changed = email.clone();
        for markup in running_texts(&mut changed) {
            markup(&mut |text| {
                let at = text.find(&sentence)?;
                let rest = text[at + sentence.len()..].trim_start_matches(' ');
                Some(format!("{}{rest}", &text[..at]).trim().to_owned())
            });
        }
        let (own, said) = (folded(&sentence), |lost: &String| folded(lost));
        let is_same = |lost: &String| said(lost).trim() == own.trim();
        if changed != *email && changed.check().is_empty() && (means.lost)(email, &changed).iter().all(is_same) {
            *email = changed;
            dropped.push(sentence);
        }
    }
    if dropped.is_empty() { Err(Reply::new("no_filler")) } else { Ok(Reply::new("less").text("texts", super::quoted(&dropped))) }
}

/// Returns whether a sentence contains no information that recipients need.
fn is_filler(sentence: &str, language: Language) -> bool {
    if sentence.contains(|c: char| c.is_ascii_digit() || matches!(c, '*' | '[' | '@')) {
        return false;
    }
    let words = Tokens::read(sentence);
    let feelings = &Vocabulary::of(language).feelings;
    (0..words.len()).any(|at| words.any(at, feelings).is_some()) || is_own_phrase(sentence, language)
}

/// Adds a paragraph: the brand's description or an unused phrase for the email's purpose.
pub fn lengthen(email: &mut Email, means: &EditResources<'_>) -> ActionResult {
    let language = Language::of(&email.language).unwrap_or(Language::En);
    let said = email.to_json().to_string();
    let brand = means.brand;
    let facts = brand.name.iter().map(|name| ("brand", tidy(name))).collect();
    let mut book = Phrasebook::new(language, None, Voice::of(brand, &Rules::default(), language), 0, facts);
    let place = format!("{}.main.body", plan::key(email.purpose));
    let count = Bank::of(language).phrases(&place).len();
    let phrases: Vec<String> = (0..count).filter_map(|_| book.line(&place)).collect();
    let phrase = phrases.into_iter().find(|phrase| !said.contains(phrase.as_str()));
    let description =
        brand.description.as_ref().filter(|text| material::speaks(brand, &email.language) && !said.contains(text.as_str()));
    let text = description.map(|text| tidy(text)).or(phrase).ok_or_else(|| Reply::new("no_more"))?;
    let block = Block::Text(Text { id: email.free_id("text"), text: Rich::parse(&escape(&text)).unwrap_or_default() });
    let place = email.blocks.iter().rposition(|block| matches!(block, Block::Text(own) if !own.text.words().contains('\n')));
    let place = place.map_or_else(|| default_place(email), |place| place + 1).max(1);
    email.blocks.insert(place, block);
    Ok(Reply::new("longer").text("text", text))
}
