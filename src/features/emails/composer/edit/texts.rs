//! Changes the text of an email: replaces words, sets the text of parts, signs the email, makes words bold, adds or removes emoji, and
//! changes the targets of buttons.

use jiff::civil::Date;
use serde_json::Value;

use super::action::{Anchor, Details, PartName, Place, Target, Which};
use super::passages::{find, pick, with_replaced, words_of};
use super::reply::{ActionResult, Reply};
use super::resources::EditResources;
use super::{blocks, style};
use crate::features::emails::brief::{self, FactValue};
use crate::features::emails::composer::language::{Bank, Language};
use crate::features::emails::composer::phrases::escape;
use crate::features::emails::document::*;

/// Returns whether the email contains these words. A single character is never found.
pub fn contains(email: &Email, words: &str) -> bool {
    let mut found = false;
    if words.chars().count() >= 2 {
        words_of(&mut email.to_json(), &mut |text| found |= find(text, words).is_some());
    }
    found
}

/// Replaces words everywhere in the email. If both the old and the new words are dates, the weekday before the date and the end of a
/// countdown change with the date.
pub fn replace(email: &mut Email, from: &str, to: &str, means: &EditResources<'_>) -> ActionResult {
    // If the words are the label of a row, the value of the row is replaced: "Change the time to 6 pm".
    if let Some(value) = blocks::labeled(email, from) {
        return replace_words(email, &value, to, means);
    }
    replace_words(email, from, to, means)
}

fn replace_words(email: &mut Email, from: &str, to: &str, means: &EditResources<'_>) -> ActionResult {
    let mut count = 0;
    let mut pairs: Vec<(String, String)> = Vec::new();
    let days = day_of(from, email, means).zip(day_of(to, email, means));
    if let Some((old, new)) = days {
        let format = &Bank::of(Language::of(&email.language).unwrap_or(Language::En)).format;
        for joined in [", ", " "] {
            pairs.push((format!("{}{joined}{from}", format.weekday(old)), format!("{}{joined}{to}", format.weekday(new))));
        }
    }
    pairs.push((from.to_owned(), to.to_owned()));
    let mut changed = changed(email, &mut |text| {
        for (from, to) in &pairs {
            let (new, found) = with_replaced(text, from, &escape(to));
            (*text, count) = (new, count + found);
        }
    })?;
    for (old, new) in email.blocks.iter().zip(&mut changed.blocks) {
        if let (Block::Coupon(old), Block::Coupon(new)) = (old, new)
            && old.code.as_str() != from
        {
            new.code.clone_from(&old.code);
        }
    }
    if let Some((old, new)) = days {
        for block in &mut changed.blocks {
            if let Block::Countdown(countdown) = block
                && countdown.until.as_str().starts_with(&old.to_string())
                && let Ok(until) = countdown.until.as_str().replacen(&old.to_string(), &new.to_string(), 1).parse()
            {
                countdown.until = until;
            }
        }
    }
    if count == 0 {
        return Err(Reply::new("no_words").text("words", from));
    }
    *email = changed;
    Ok(Reply::new("replaced").text("from", from).text("to", to).text("count", count))
}

/// Returns the last day that the text names, if the text contains a digit. "Tonight" is not accepted.
pub fn day_of(text: &str, email: &Email, means: &EditResources<'_>) -> Option<Date> {
    let facts = brief::parse(text, means.brand, Some(&email.language), means.today).facts;
    let mut days = facts.into_iter().rev().filter_map(|fact| match fact.value {
        Some(FactValue::Days { first, last }) => Some(last.unwrap_or(first)),
        _ => None,
    });
    days.next().filter(|_| text.contains(|c: char| c.is_ascii_digit()))
}

/// Returns the email with a word corrected everywhere, or only in the text that `context` shows. Returns `None` if the word is not found.
pub fn corrected(email: &Email, word: &str, to: &str, context: Option<&str>) -> Option<Email> {
    let mut count = 0;
    let (from, to) = match context {
        Some(context) => {
            let (start, end) = find(context, word)?;
            let (before, after) = (near(&context[..start], true), near(&context[end..], false));
            (format!("{before}{word}{after}"), format!("{}{to}{}", escape(before), escape(after)))
        }
        None => (word.to_owned(), escape(to)),
    };
    let changed = changed(email, &mut |text| {
        if context.is_some() && count > 0 {
            return;
        }
        let (new, found) = with_replaced(text, &from, &to);
        if found > 0 {
            (*text, count) = (new, count + found);
        }
    });
    changed.ok().filter(|_| count > 0)
}

/// Returns a few characters of the context next to the word, without partial words and ellipses.
fn near(text: &str, is_before: bool) -> &str {
    const CHARACTERS_MAX: usize = 12;
    let text = text.trim_matches('…');
    if is_before {
        let start = text.char_indices().rev().take(CHARACTERS_MAX).last().map_or(text.len(), |(start, _)| start);
        let part = &text[start..];
        if start == 0 { part } else { part.find(' ').map_or("", |space| &part[space + 1..]) }
    } else {
        let end = text.char_indices().nth(CHARACTERS_MAX).map_or(text.len(), |(end, _)| end);
        let part = &text[..end];
        if end == text.len() { part } else { part.rfind(' ').map_or("", |space| &part[..space]) }
    }
}

/// Removes words everywhere in the email. If the words are the name of a product, removes the product. A block that contains nothing else
/// is removed with its words.
pub fn take_out(email: &mut Email, words: &str) -> ActionResult {
    let is_product = |name: &String| find(name, words).is_some_and(|(start, end)| start == 0 && end == name.len());
    if super::products(email).iter().any(is_product) {
        return blocks::remove_product(email, words);
    }
    let mut count = 0;
    let mut json = email.to_json();
    words_of(&mut json, &mut |text| {
        let (new, found) = with_replaced(text, words, "");
        (*text, count) = (new.trim().to_owned(), count + found);
    });
    if count == 0 {
        return Err(Reply::new("no_words").text("words", words));
    }
    drop_empty(&mut json);
    *email = Email::from_json(&json).map_err(breaks)?;
    Ok(Reply::new("removed_words").text("from", words).text("count", count))
}

/// Removes empty optional fields, and items whose text, label or name is empty.
fn drop_empty(json: &mut Value) {
    match json {
        Value::Array(items) => {
            items.iter_mut().for_each(drop_empty);
            items.retain(|item| {
                let own = ["text", "label", "name"].into_iter().filter_map(|key| item.get(key)).next();
                own.and_then(Value::as_str) != Some("")
            });
        }
        Value::Object(fields) => {
            for key in ["alt", "eyebrow", "caption", "title", "role", "author", "price", "priceBefore"] {
                fields.retain(|name, value| name != key || value.as_str() != Some(""));
            }
            if fields.contains_key("title") || fields.contains_key("code") || fields.contains_key("href") {
                fields.retain(|name, value| name != "text" || value.as_str() != Some(""));
            }
            fields.values_mut().for_each(drop_empty);
        }
        _ => {}
    }
}

fn breaks(violations: Vec<Violation>) -> Reply {
    Reply::new("breaks").text("problem", violations.first().map(ToString::to_string).unwrap_or_default())
}

/// Returns the email after applying `change` to the strings that recipients can read.
pub fn changed(email: &Email, change: &mut dyn FnMut(&mut String)) -> Result<Email, Reply> {
    let mut json = email.to_json();
    words_of(&mut json, change);
    Email::from_json(&json).map_err(breaks)
}

/// Sets the text of a part, exactly as given.
pub fn set(email: &mut Email, part: PartName, value: &str) -> ActionResult {
    let PartName { target, which, .. } = part;
    let missing = style::missing(target, email);
    match target {
        Target::Subject => put(&mut email.subject, target, value)?,
        Target::Preheader => put(&mut email.preheader, target, value)?,
        Target::Button | Target::Label => put(pick(buttons(email), which).ok_or(missing)?.0, target, value)?,
        Target::Title => put(title(email).ok_or(missing)?, target, value)?,
        Target::Eyebrow => {
            let eyebrow = hero(email).ok_or(missing)?.eyebrow.get_or_insert_default();
            put(eyebrow, target, value)?;
        }
        Target::Lead => match hero(email) {
            Some(hero) => hero.text = Some(rich(target, value)?),
            None => *pick(texts(email), Which::Unsaid).ok_or(missing)? = rich(target, value)?,
        },
        Target::Text => *pick(texts(email), which).ok_or(missing)? = rich(target, value)?,
        Target::Heading => {
            let headings = email.blocks.iter_mut().filter_map(|block| match block {
                Block::Heading(heading) => Some(&mut heading.text),
                Block::Products(products) => products.title.as_mut(),
                _ => None,
            });
            put(pick(headings.collect(), which).ok_or(missing)?, target, value)?;
        }
        Target::Coupon => {
            let coupon = email.blocks.iter_mut().find_map(|block| if let Block::Coupon(own) = block { Some(own) } else { None });
            let code = &mut coupon.ok_or(missing)?.code;
            let old = code.to_string();
            put(code, target, value)?;
            // The code is also replaced wherever other text in the email contains it.
            *email = changed(email, &mut |text| *text = with_replaced(text, &old, &escape(value)).0)?;
        }
        Target::Quote => {
            let quote = email.blocks.iter_mut().find_map(|block| if let Block::Quote(own) = block { Some(own) } else { None });
            quote.ok_or(missing)?.text = rich(target, value)?;
        }
        Target::Alt => {
            let alt = pick(blocks::pictures(email), which).ok_or(missing)?.alt.get_or_insert_default();
            put(alt, target, value)?;
        }
        other => return Err(Reply::about("hint_part", other)),
    }
    Ok(Reply::about("set", target).text("value", value))
}

fn put<const MAX: usize>(line: &mut Line<MAX>, target: Target, value: &str) -> Result<(), Reply> {
    if value.chars().count() > MAX {
        return Err(Reply::about("too_long", target).text("max", MAX));
    }
    *line = Line::new(value);
    Ok(())
}

/// Returns the headline of the email.
pub fn title(email: &mut Email) -> Option<&mut Title> {
    email.blocks.iter_mut().find_map(|block| match block {
        Block::Hero(hero) => Some(&mut hero.title),
        Block::Heading(heading) if heading.level == HeadingLevel::Title => Some(&mut heading.text),
        _ => None,
    })
}

fn hero(email: &mut Email) -> Option<&mut Hero> {
    email.blocks.iter_mut().find_map(|block| if let Block::Hero(hero) = block { Some(hero) } else { None })
}

fn texts(email: &mut Email) -> Vec<&mut Prose> {
    email.blocks.iter_mut().filter_map(|block| if let Block::Text(text) = block { Some(&mut text.text) } else { None }).collect()
}

fn rich<const MAX: usize>(target: Target, text: &str) -> Result<Rich<MAX>, Reply> {
    let rich = Rich::parse(text).unwrap_or_else(|_| Rich::plain(text));
    let fits = rich.words().chars().count() <= MAX;
    if fits { Ok(rich) } else { Err(Reply::about("too_long", target).text("max", MAX)) }
}

/// Returns the label and the address of each button, from top to bottom.
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

/// Changes the target of buttons. If `of` is given, only buttons whose text contains `of` or whose address is `of` are changed.
pub fn lead(email: &mut Email, which: Which, link: &Link, of: Option<&str>) -> ActionResult {
    let missing = style::missing(Target::Button, email);
    let mut buttons = buttons(email);
    if let Some(of) = of {
        let old = Link::parse(of).ok();
        buttons.retain(|(label, href)| find(label, of).is_some() || old.as_ref() == Some(href));
        if buttons.is_empty() {
            return Err(Reply::new("no_words").text("words", of));
        }
    }
    match which {
        _ if buttons.is_empty() => return Err(missing),
        Which::All | Which::Unsaid => buttons.into_iter().for_each(|(_, href)| *href = link.clone()),
        Which::Nth(_) | Which::Last => *pick(buttons, which).ok_or(missing)?.1 = link.clone(),
    }
    Ok(match of {
        Some(of) => Reply::new("linked_words").text("words", of).text("link", link),
        None => Reply::new("linked").text("link", link),
    })
}

/// Removes all emoji, or adds an emoji at the end of the subject.
pub fn emoji(email: &mut Email, on: bool) -> ActionResult {
    if on {
        if email.subject.chars().any(is_emoji) {
            return Err(Reply::new("has_emoji"));
        }
        email.subject = Line::new(&format!("{} {}", email.subject, super::super::headlines::emoji(email.purpose, None)));
        return Ok(Reply::new("emoji_on"));
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
        return Err(Reply::new("no_emoji"));
    }
    *email = changed;
    Ok(Reply::new("emoji_off"))
}

pub fn is_emoji(c: char) -> bool {
    matches!(c, '\u{1f000}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}' | '\u{2b50}' | '\u{2b55}' | '\u{fe0f}' | '\u{200d}')
}

/// Removes the first sentence that contains these words or, if no words are given, the sentence that `which` selects.
pub fn remove_sentence(email: &mut Email, which: Which, words: Option<&str>) -> ActionResult {
    let mut all: Vec<String> = Vec::new();
    words_of(&mut email.to_json(), &mut |text| all.extend(text.split('\n').flat_map(sentences).map(str::to_owned)));
    let prose = all.into_iter().filter(|sentence| sentence.ends_with(['.', '!', '?']));
    let sentence = match words {
        Some(words) => prose.into_iter().find(|sentence| find(sentence, words).is_some()),
        None => pick(prose.collect(), which),
    };
    let sentence = sentence.ok_or_else(|| match words {
        Some(words) => Reply::new("no_words").text("words", words),
        None => style::missing(Target::Sentence, email),
    })?;
    let headline = title(email).map(|title| title.to_string());
    let mut json = email.to_json();
    words_of(&mut json, &mut |text| {
        if let Some(at) = text.find(&sentence) {
            let rest = text[at + sentence.len()..].trim_start_matches(' ');
            *text = format!("{}{rest}", &text[..at]).trim().to_owned();
        }
    });
    // Every email needs a preheader. If the removed sentence was the whole preheader, the headline replaces it.
    if let Some(headline) = headline.filter(|_| json["preheader"] == "") {
        json["preheader"] = headline.into();
    }
    drop_empty(&mut json);
    *email = Email::from_json(&json).map_err(breaks)?;
    Ok(Reply::new("removed_sentence").text("text", sentence))
}

/// Returns whether the email has a paragraph to which a sentence can be added.
pub fn has_paragraph(email: &Email) -> bool {
    email.blocks.iter().any(|block| blocks::kind(block) == Some(Target::Text))
}

fn is_paragraph(block: &Block) -> bool {
    matches!(block, Block::Text(own) if !own.text.words().contains('\n'))
}

/// Adds a sentence before or after the anchor or, without an anchor, at the start of the first paragraph or the end of the last.
pub fn add_sentence(email: &mut Email, details: &Details, place: Option<&Place>) -> ActionResult {
    let sentence = details.text.as_deref().ok_or(Reply::about("quote_text", Target::Sentence))?;
    let text = escape(sentence.trim());
    let anchor = match place {
        Some(Place::Before(anchor)) => Some((anchor, true)),
        Some(Place::After(anchor)) => Some((anchor, false)),
        Some(_) | None => None,
    };
    let missing = style::missing(Target::Text, email);
    let at = match anchor {
        Some((anchor, _)) => blocks::anchored(email, anchor),
        None => {
            let mut own = email.blocks.iter().enumerate().filter(|(_, block)| is_paragraph(block)).map(|(at, _)| at);
            if matches!(place, Some(Place::Top | Place::Up)) { own.next() } else { own.next_back() }
        }
    };
    let at = at.or_else(|| email.blocks.iter().position(|block| matches!(block, Block::Hero(_)))).ok_or(missing)?;
    let before = anchor.is_some_and(|(_, before)| before) || matches!(place, Some(Place::Top | Place::Up));
    let join = |own: &str| {
        let around = match anchor {
            Some((Anchor::Words(words), _)) => sentences(own).into_iter().find(|own| find(own, words).is_some()),
            _ => None,
        };
        let (start, end) = around.and_then(|said| own.find(said).map(|at| (at, at + said.len()))).unwrap_or((0, own.len()));
        match before {
            true => format!("{}{text} {}", &own[..start], &own[start..]),
            false => format!("{} {text}{}", &own[..end], &own[end..]).trim().to_owned(),
        }
    };
    match &mut email.blocks[at] {
        Block::Text(own) => own.text = rich(Target::Text, &join(&own.text.markup()))?,
        Block::Hero(own) => own.text = Some(rich(Target::Lead, &join(&own.text.as_ref().map(Rich::markup).unwrap_or_default()))?),
        _ => return Err(Reply::about("quote_text", Target::Text)),
    }
    Ok(Reply::about("added_text", Target::Sentence).text("text", sentence))
}

/// Makes the first occurrence of these words in each passage bold.
pub fn bold(email: &mut Email, words: &str) -> ActionResult {
    let (mut found, mut count) = (false, 0);
    for markup in running_texts(email) {
        markup(&mut |text| {
            let (start, end) = find(text, words)?;
            found = true;
            let inside = text[..start].matches("**").count() % 2 == 1;
            if inside {
                return None;
            }
            count += 1;
            Some(format!("{}**{}**{}", &text[..start], &text[start..end], &text[end..]))
        });
    }
    match (count, found) {
        (0, true) => Err(Reply::new("is_bold").text("words", words)),
        (0, false) => Err(Reply::new("no_words").text("words", words)),
        _ => Ok(Reply::new("bolded").text("words", words)),
    }
}

/// A function that changes the markup of one passage.
type Remake<'a> = Box<dyn FnOnce(&mut dyn FnMut(&str) -> Option<String>) + 'a>;

/// Returns a function for each passage of the email, from top to bottom. The function changes the passage's markup.
pub fn running_texts(email: &mut Email) -> Vec<Remake<'_>> {
    fn remake<'a, const MAX: usize>(rich: &'a mut Rich<MAX>) -> Remake<'a> {
        Box::new(move |change| {
            if let Some(new) = change(&rich.markup()).and_then(|markup| Rich::parse(&markup).ok()) {
                *rich = new;
            }
        })
    }
    let mut found: Vec<Remake<'_>> = Vec::new();
    for block in &mut email.blocks {
        match block {
            Block::Hero(hero) => found.extend(hero.text.as_mut().map(remake)),
            Block::Text(text) => found.push(remake(&mut text.text)),
            Block::Coupon(coupon) => found.extend(coupon.text.as_mut().map(remake)),
            Block::Countdown(countdown) => found.extend(countdown.text.as_mut().map(remake)),
            Block::Quote(quote) => found.push(remake(&mut quote.text)),
            Block::List(list) => found.extend(list.items.iter_mut().map(|item| remake(&mut item.text))),
            _ => {}
        }
    }
    found
}

/// Signs the email: changes the name in the signature, or adds a signature.
pub fn sign(email: &mut Email, name: &str, means: &EditResources<'_>) -> ActionResult {
    let signed = |greeting: &str| Rich::parse(&format!("{greeting}\n**{}**", escape(name))).ok();
    match blocks::closing(email) {
        Some(at) => {
            if let Block::Text(text) = &mut email.blocks[at] {
                let markup = text.text.markup();
                let greeting = markup.split('\n').next().unwrap_or_default().to_owned();
                text.text = signed(&greeting).ok_or_else(|| Reply::about("quote_text", Target::Closing))?;
            }
        }
        None => {
            let greeting = blocks::label(email, means, "common.closing").unwrap_or_default();
            let text = signed(&escape(&greeting)).ok_or_else(|| Reply::about("quote_text", Target::Closing))?;
            let place = blocks::default_place(email);
            email.blocks.insert(place.max(1), Block::Text(Text { id: email.free_id("text"), text }));
        }
    }
    Ok(Reply::new("signed").text("name", name))
}

/// Returns whether a word before a period is probably an abbreviation, such as "Dr.", "z. B." or "ca.".
fn is_short_form(word: &str) -> bool {
    let characters = word.chars().count();
    let is_name = word.starts_with(char::is_uppercase) || ["al", "bd", "bs", "ca", "no", "nr", "pp", "vs"].contains(&word);
    characters < 2 || (characters == 2 && is_name)
}

/// Splits a paragraph into sentences. A line break does not end a sentence, so a signature is not split.
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
