//! Changes the text of an email: replaces words, sets and shortens the text of parts, adds or removes emoji, and changes the targets of
//! buttons.

use serde_json::Value;

use super::{Target, Which};
use crate::features::emails::composer::phrases::escape;
use crate::features::emails::composer::printed::NOT_WORDS;
use crate::features::emails::document::*;

/// The maximum length of a shortened subject.
pub const SUBJECT_CHARACTERS: usize = 40;

/// Visits every string in an email that recipients can read.
fn words_of(value: &mut Value, change: &mut dyn FnMut(&mut String)) {
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

/// Returns the position and length of these words in the text. A no-break space matches a space, and case is ignored if there is no exact
/// match.
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

/// Returns whether the email contains these words.
pub fn contains(email: &Email, words: &str) -> bool {
    let mut found = false;
    if words.chars().count() >= 2 {
        words_of(&mut email.to_json(), &mut |text| found |= find(text, words).is_some());
    }
    found
}

/// Returns whether a block contains these words.
pub fn block_contains(block: &Block, words: &str) -> bool {
    let mut found = false;
    let mut json = serde_json::to_value(block).unwrap_or_default();
    words_of(&mut json, &mut |text| found |= find(text, words).is_some());
    found
}

/// Replaces words everywhere in the email.
pub fn replace(email: &mut Email, from: &str, to: &str) -> Result<String, String> {
    if from.trim().is_empty() {
        return Err("The words to replace are unclear. Put the old and the new words in quotation marks.".to_owned());
    }
    let mut count = 0;
    let changed = changed(email, &mut |text| {
        let mut out = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some((start, end)) = find(rest, from) {
            out.push_str(&rest[..start]);
            out.push_str(&escape(to));
            rest = &rest[end..];
            count += 1;
        }
        out.push_str(rest);
        *text = out;
    })?;
    if count == 0 {
        return Err(format!("The email does not contain the words \"{from}\"."));
    }
    *email = changed;
    Ok(format!("Replaced \"{from}\" with \"{to}\" in {count} {}.", if count == 1 { "place" } else { "places" }))
}

/// Returns the email after `change` was applied to every string that recipients can read.
fn changed(email: &Email, change: &mut dyn FnMut(&mut String)) -> Result<Email, String> {
    let mut json = email.to_json();
    words_of(&mut json, change);
    Email::from_json(&json).map_err(|violations| {
        let first = violations.first().map(ToString::to_string).unwrap_or_default();
        format!("The change would break the email: {first}")
    })
}

/// Sets the text of a part.
pub fn set(email: &mut Email, target: Target, which: Which, value: &str) -> Result<String, String> {
    let done = Ok(format!("Changed the {} to \"{value}\".", target.name()));
    match target {
        Target::Subject => email.subject = Line::cut(value),
        Target::Preheader => email.preheader = Line::cut(value),
        Target::Button => return set_button(email, which, value).map(|()| done)?,
        Target::Title => {
            let title = email.blocks.iter_mut().find_map(|block| match block {
                Block::Hero(hero) => Some(&mut hero.title),
                Block::Heading(heading) if heading.level == HeadingLevel::Title => Some(&mut heading.text),
                _ => None,
            });
            *title.ok_or("The email has no headline. Add a heading instead.")? = Line::cut(value);
        }
        Target::Eyebrow => hero(email)?.eyebrow = Some(Line::cut(value)),
        Target::Lead => match hero(email) {
            Ok(hero) => hero.text = Some(rich(value)),
            Err(_) => set_text(email, Which::Unsaid, value)?,
        },
        Target::Text => set_text(email, which, value)?,
        Target::Heading => {
            let headings = email.blocks.iter_mut().filter_map(|block| match block {
                Block::Heading(heading) => Some(&mut heading.text),
                Block::Products(products) => products.title.as_mut(),
                _ => None,
            });
            *pick(headings.collect(), which).ok_or("The email has no matching heading.")? = Line::cut(value);
        }
        Target::Coupon => {
            let coupon = email.blocks.iter_mut().find_map(|block| match block {
                Block::Coupon(coupon) => Some(coupon),
                _ => None,
            });
            coupon.ok_or("The email has no coupon. Add a coupon with a code.")?.code = Line::cut(value);
        }
        Target::Quote => {
            let quote = email.blocks.iter_mut().find_map(|block| match block {
                Block::Quote(quote) => Some(quote),
                _ => None,
            });
            quote.ok_or("The email has no quote. Add a quote.")?.text = Rich::plain(value);
        }
        Target::Alt => {
            let images = super::blocks::pictures(email);
            pick(images, which).ok_or("The email has no matching image.")?.alt = Some(Line::cut(value));
        }
        other => {
            return Err(format!(
                "The {} cannot be replaced as a whole. Quote the words that you want to replace instead.",
                other.name()
            ));
        }
    }
    done
}

fn hero(email: &mut Email) -> Result<&mut Hero, String> {
    let hero = email.blocks.iter_mut().find_map(|block| match block {
        Block::Hero(hero) => Some(hero),
        _ => None,
    });
    hero.ok_or_else(|| "The email has no opening with a headline.".to_owned())
}

fn rich<const MAX: usize>(text: &str) -> Rich<MAX> {
    Rich::parse(text).unwrap_or_else(|_| Rich::plain(text))
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

fn set_text(email: &mut Email, which: Which, value: &str) -> Result<(), String> {
    let texts = email.blocks.iter_mut().filter_map(|block| match block {
        Block::Text(text) => Some(&mut text.text),
        _ => None,
    });
    *pick(texts.collect(), which).ok_or("The email has no matching paragraph.")? = rich(value);
    Ok(())
}

/// Returns the text and the address of every button, from top to bottom.
fn buttons(email: &mut Email) -> Vec<(&mut Label, &mut Link)> {
    let mut found = Vec::new();
    for block in &mut email.blocks {
        match block {
            Block::Hero(Hero { button: Some(button), .. }) | Block::Coupon(Coupon { button: Some(button), .. }) => {
                found.push((&mut button.label, &mut button.href));
            }
            Block::Button(button) => found.push((&mut button.label, &mut button.href)),
            _ => {}
        }
    }
    found
}

fn set_button(email: &mut Email, which: Which, value: &str) -> Result<(), String> {
    let label = pick(buttons(email), which).ok_or("The email has no matching button. Add a button.")?.0;
    *label = Line::cut(value);
    Ok(())
}

/// Changes the target of buttons. If `of` is given, only buttons whose text contains `of` or whose address is `of` are changed.
pub fn lead(email: &mut Email, which: Which, link: &Link, of: Option<&str>) -> Result<String, String> {
    let mut buttons = buttons(email);
    if let Some(of) = of {
        let old = Link::parse(of).ok();
        buttons.retain(|(label, href)| find(label, of).is_some() || old.as_ref() == Some(href));
        if buttons.is_empty() {
            return Err(format!("The email has no button with the text or address \"{of}\"."));
        }
    }
    let count = buttons.len();
    match which {
        Which::All | Which::Unsaid => buttons.into_iter().for_each(|(_, href)| *href = link.clone()),
        Which::Nth(_) | Which::Last => *pick(buttons, which).ok_or("The email has no matching button.")?.1 = link.clone(),
    }
    match (count, which) {
        (0, _) => Err("The email has no button. Add a button.".to_owned()),
        (1, _) | (_, Which::Nth(_) | Which::Last) => Ok(format!("The button now links to {link}.")),
        (_, Which::All | Which::Unsaid) => Ok(format!("All {count} buttons now link to {link}.")),
    }
}

/// Removes all emoji, or adds an emoji at the end of the subject.
pub fn emoji(email: &mut Email, on: bool) -> Result<String, String> {
    if on {
        if email.subject.chars().any(is_emoji) {
            return Err("The subject already has an emoji.".to_owned());
        }
        email.subject = Line::new(&format!("{} {}", email.subject, super::super::headlines::emoji(email.purpose, None)));
        return Ok("Added an emoji to the subject.".to_owned());
    }
    let mut count = 0;
    let changed = changed(email, &mut |text| {
        let kept: String = text.chars().filter(|c| !is_emoji(*c)).collect();
        if kept.len() != text.len() && !kept.trim().is_empty() {
            count += 1;
            *text = kept.replace("  ", " ").trim().to_owned();
        }
    })?;
    if count == 0 {
        return Err("The email has no emoji.".to_owned());
    }
    *email = changed;
    Ok("Removed the emoji.".to_owned())
}

/// Returns whether the character is part of an emoji.
pub fn is_emoji(c: char) -> bool {
    matches!(c, '\u{1f000}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}' | '\u{2b50}' | '\u{2b55}' | '\u{fe0f}' | '\u{200d}')
}

/// Removes the first sentence that contains these words or, if no words are given, the sentence that `which` selects.
pub fn remove_sentence(email: &mut Email, which: Which, words: Option<&str>) -> Result<String, String> {
    let mut all: Vec<String> = Vec::new();
    words_of(&mut email.to_json(), &mut |text| all.extend(sentences(text).into_iter().map(str::to_owned)));
    let prose = all.into_iter().filter(|sentence| sentence.ends_with(['.', '!', '?']));
    let sentence = match words {
        Some(words) => prose.into_iter().find(|sentence| find(sentence, words).is_some()),
        None => pick(prose.collect(), which),
    };
    let sentence = sentence.ok_or("The email has no matching sentence.")?;
    *email = changed(email, &mut |text| {
        if let Some(at) = text.find(&sentence) {
            let rest = text[at + sentence.len()..].trim_start_matches(' ');
            *text = format!("{}{rest}", &text[..at]).trim().to_owned();
        }
    })?;
    Ok(format!("Removed the sentence \"{sentence}\"."))
}

/// Shortens the subject, the preheader or paragraphs. Paragraphs are shortened by removing their last sentences.
pub fn shorten(email: &mut Email, target: Option<Target>, which: Which) -> Result<String, String> {
    match target {
        Some(Target::Subject) => {
            email.subject = shorter(&email.subject, SUBJECT_CHARACTERS);
            return Ok(format!("Shortened the subject to \"{}\".", email.subject));
        }
        Some(Target::Preheader) => {
            let first = sentences(&email.preheader).first().map_or(email.preheader.as_str(), |first| *first).to_owned();
            email.preheader = Line::new(&first);
            return Ok(format!("Shortened the preheader to \"{}\".", email.preheader));
        }
        _ => {}
    }
    let mut count = 0;
    let texts = email.blocks.iter().filter(|block| matches!(block, Block::Text(_))).count();
    let only = pick((0..texts).collect(), which).filter(|_| which != Which::Unsaid);
    let mut texts = 0..;
    for block in &mut email.blocks {
        let shortened = match block {
            Block::Hero(hero) if target.map_or(only.is_none(), |target| target == Target::Lead) => {
                hero.text.as_mut().is_some_and(halve)
            }
            Block::Text(text) if target.is_none() => {
                let place = texts.next();
                (only.is_none() || only == place) && halve(&mut text.text)
            }
            _ => false,
        };
        count += usize::from(shortened);
    }
    match count {
        0 => Err("The email cannot be shortened: every paragraph is already a single sentence.".to_owned()),
        1 => Ok("Shortened one paragraph.".to_owned()),
        count => Ok(format!("Shortened {count} paragraphs.")),
    }
}

/// Cuts a line at a punctuation mark or the end of a word.
pub fn shorter<const MAX: usize>(line: &Line<MAX>, characters: usize) -> Line<MAX> {
    let cut = line.split([':', '–', '—', '|']).map(str::trim).find(|part| part.chars().count() >= 8);
    let head: String = cut.unwrap_or(line).to_owned();
    if head.chars().count() <= characters {
        return Line::new(&head);
    }
    let kept: String = head.chars().take(characters).collect();
    let end = kept.rfind(' ').unwrap_or(kept.len());
    Line::new(kept[..end].trim_end_matches([',', ';', ':']))
}

/// Keeps the first half of the sentences of each paragraph.
fn halve<const MAX: usize>(text: &mut Rich<MAX>) -> bool {
    let markup = text.markup();
    let mut changed = false;
    let shorter = markup.split("\n\n").map(|paragraph| {
        let sentences = sentences(paragraph);
        let kept = sentences.len().div_ceil(2);
        changed |= kept < sentences.len();
        sentences[..kept].join(" ")
    });
    let shorter = shorter.collect::<Vec<_>>().join("\n\n");
    if let Ok(rich) = Rich::parse(&shorter)
        && changed
    {
        *text = rich;
    }
    changed
}

/// Returns whether a word before a period is probably an abbreviation, such as "Dr.", "z. B." or "ca.".
fn is_short_form(word: &str) -> bool {
    let characters = word.chars().count();
    let is_name = word.starts_with(char::is_uppercase) || ["al", "bd", "bs", "ca", "no", "nr", "pp", "vs"].contains(&word);
    characters < 2 || (characters == 2 && is_name)
}

/// Splits a paragraph into sentences. Separate lines, such as a signature, are not split.
pub fn sentences(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, sign) in text.char_indices().filter(|(_, sign)| matches!(sign, '.' | '!' | '?')) {
        let end = at + sign.len_utf8();
        let word = text[start..at].rsplit([' ', '\u{a0}']).next().unwrap_or_default();
        let short = sign == '.' && (is_short_form(word) || word.chars().all(|c| c.is_ascii_digit()));
        if text[end..].starts_with(' ') && !short && text[end..].trim_start().starts_with(|next: char| !next.is_lowercase()) {
            parts.push(text[start..end].trim());
            start = end;
        }
    }
    parts.push(text[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}
