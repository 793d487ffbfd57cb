//! Parses names in a prompt, in the prompt's own words: products, new items, topics, events, places and audiences.

use super::{Name, Prompt, Venue, dates, money};
use crate::features::emails::composer::language::Language;
use crate::features::emails::composer::tokens::{Kind, Tokens};
use crate::features::projects::brand::Brand;
use crate::vocab::limits;

/// The maximum number of words in a name or topic.
const PHRASE_WORDS_MAX: usize = 7;
/// The maximum length of a quoted name. A longer quotation is a sentence.
const NAME_CHARACTERS_MAX: usize = 60;
/// The minimum length of a product name to search for. Shorter names would match inside other words.
const PRODUCT_CHARACTERS_MIN: usize = 4;
/// The maximum number of words in the name of a place after "at".
const VENUE_WORDS_MAX: usize = 9;

/// Returns the brand's products that the prompt names, in the order of the prompt.
pub fn products(words: &Tokens<'_>, brand: &Brand) -> Vec<usize> {
    let text: Vec<&str> = words.tokens.iter().filter(|token| token.kind != Kind::Sign).map(|token| &*token.fold).collect();
    let text = format!(" {} ", text.join(" "));
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (index, product) in brand.products.iter().enumerate().take(limits::COMPOSER_PRODUCTS_MAX) {
        // In a prompt, "Green tea" also refers to the product "Green tea, 100 g".
        let short = product.name.split([',', '(', '|', '–']).next().unwrap_or_default();
        let place = [product.name.as_str(), short].into_iter().find_map(|name| {
            let name = Tokens::read(name);
            let folds: Vec<&str> =
                name.tokens.iter().filter(|token| token.kind != Kind::Sign).map(|token| &*token.fold).collect();
            let name = folds.join(" ");
            if name.chars().count() < PRODUCT_CHARACTERS_MIN {
                return None;
            }
            text.find(&format!(" {name} ")).or_else(|| text.find(&format!(" {name}s ")))
        });
        found.extend(place.map(|place| (place, index)));
    }
    found.sort_unstable();
    found.dedup_by_key(|(place, _)| *place);
    found.into_iter().map(|(_, index)| index).take(limits::EMAIL_PRODUCTS_MAX).collect()
}

/// Returns the quoted passages in a prompt, each with the index of its opening quotation mark.
pub fn quotations<'a>(words: &Tokens<'a>) -> Vec<(usize, &'a str)> {
    let closes = |open: &str| match open {
        "\"" => Some("\"”"),
        "“" => Some("”“\""),
        "„" => Some("“”\""),
        "«" => Some("»"),
        "»" => Some("«"),
        _ => None,
    };
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() && found.len() < limits::COMPOSER_LIST_MAX {
        let ends = closes(words.raw(at)).filter(|_| words.kind(at) == Kind::Sign);
        let close = ends.and_then(|ends| (at + 1..words.len()).find(|at| ends.contains(words.raw(*at))));
        match close {
            Some(close) => {
                let text = words.slice(at + 1, close).trim();
                if !text.is_empty() {
                    found.push((at, text));
                }
                at = close + 1;
            }
            None => at += 1,
        }
    }
    found
}

/// Returns the words from an index to the end of a name.
pub fn phrase(prompt: &Prompt<'_>, from: usize) -> Option<String> {
    let words = prompt.words;
    let mut to = from;
    let inner = |at: usize| {
        let sign = matches!(words.fold(at), "-" | "'" | "’" | "&") && words.joined(at.saturating_sub(1));
        let word = matches!(words.kind(at), Kind::Word | Kind::Number);
        // A name such as "Tidewater for iPad" may contain "for".
        let for_name = at > from && words.fold(at) == "for" && words.raw(at + 1).chars().any(char::is_uppercase);
        let ends = words.any(at, &prompt.lexicon.phrase_ends).is_some() && !for_name;
        (word && !ends && money::money_at(prompt, at).is_none()) || sign
    };
    while to < words.len() && to - from < PHRASE_WORDS_MAX && inner(to) {
        to += 1;
    }
    let text = words.slice(from, to).trim();
    (text.chars().count() >= 3 && text.chars().any(char::is_alphabetic)).then(|| text.to_owned())
}

/// Returns the name of the item that the email is about: in quotation marks, after "launch of", or after "new".
pub fn name(prompt: &Prompt<'_>) -> Option<Name> {
    let words = prompt.words;
    let said = |at: usize| {
        let near = at.saturating_sub(5)..at;
        near.into_iter().any(|at| words.any(at, &prompt.lexicon.quote).is_some() || words.any(at, &prompt.lexicon.code).is_some())
    };
    let quoted = quotations(words).into_iter().find(|(at, text)| text.chars().count() <= NAME_CHARACTERS_MAX && !said(*at));
    if let Some((_, text)) = quoted {
        return Some(Name { text: text.to_owned(), is_proper: true });
    }
    let skip = |mut at: usize| {
        while words.any(at, &prompt.lexicon.determiners).is_some() || words.any(at, &prompt.lexicon.new).is_some() {
            at += 1;
        }
        at
    };
    let of = words.find(0, &prompt.lexicon.launch_of).map(|(at, taken)| skip(at + taken));
    let new = (0..words.len()).filter(|at| words.any(*at, &prompt.lexicon.new).is_some()).map(skip);
    let is_other = |at: usize| {
        let lexicon = prompt.lexicon;
        [&lexicon.audience_of, &lexicon.readers, &lexicon.email, &lexicon.meta, &lexicon.series, &lexicon.verbs]
            .into_iter()
            .any(|phrases| words.any(at, phrases).is_some())
            || words.before(at + 1, &lexicon.weekday_not).is_some()
            || lexicon.seasons.get("new_year").is_some_and(|phrases| words.before(at + 1, phrases).is_some())
    };
    let start = of.into_iter().chain(new).find(|at| words.kind(*at) == Kind::Word && !is_other(*at))?;
    let text = phrase(prompt, start)?;
    // In "our new product", the product has no name.
    let inner = Tokens::read(&text);
    if (0..inner.len()).all(|at| inner.any(at, &prompt.lexicon.generic).is_some()) {
        return None;
    }
    let capital = |word: &str| word.starts_with(|first: char| first.is_uppercase() || first.is_ascii_digit());
    let is_proper = prompt.language != Language::De && text.split_whitespace().all(capital);
    Some(Name { text, is_proper })
}

/// Returns whether an English name needs "the", as in "the autumn collection".
pub fn needs_article(prompt: &Prompt<'_>, name: &Option<Name>) -> bool {
    let is_common = |name: &Name| !name.is_proper && name.text.starts_with(char::is_lowercase);
    prompt.language == Language::En && name.as_ref().is_some_and(is_common)
}

/// Returns the stated topic of the email.
pub fn topic(prompt: &Prompt<'_>) -> Option<String> {
    let words = prompt.words;
    let mut from = 0;
    while let Some((at, taken)) = words.find(from, &prompt.lexicon.about) {
        let mut start = at + taken;
        if matches!(words.fold(start), ":" | "'" | "\"" | "„" | "“" | "«") {
            start += 1;
        }
        let lexicon = prompt.lexicon;
        let is_other = [&lexicon.readers, &lexicon.meta, &lexicon.email].into_iter().any(|list| words.any(start, list).is_some())
            || words.kind(start) != Kind::Word;
        if let Some(topic) = phrase(prompt, start).filter(|_| !is_other) {
            return Some(with_place(prompt, start, topic));
        }
        from = at + 1;
    }
    let (at, taken) = words.find(0, &prompt.lexicon.announce)?;
    let start = at + taken;
    let is_clause = words.any(start, &prompt.lexicon.clause).is_some() || words.any(start, &prompt.lexicon.readers).is_some();
    let has_determiner = words.any(start, &prompt.lexicon.determiners).is_some();
    phrase(prompt, start).filter(|_| !is_clause && has_determiner)
}

/// Extends a topic across one preposition, as in "light in winter".
fn with_place(prompt: &Prompt<'_>, start: usize, topic: String) -> String {
    let words = prompt.words;
    let end = words.tokens.get(start).map_or(0, |token| token.start + topic.len());
    let Some(next) = (start..words.len()).find(|at| words.tokens[*at].start >= end) else { return topic };
    let Some(taken) = words.any(next, &prompt.lexicon.venue_at) else { return topic };
    let article = words.any(next + taken, &prompt.lexicon.determiners).unwrap_or(0);
    let first = next + taken + article;
    let is_day = prompt.lexicon.months.iter().any(|names| words.any(first, names).is_some());
    match phrase(prompt, first).filter(|_| !is_day && words.kind(first) == Kind::Word) {
        Some(place) => format!("{topic} {} {place}", words.slice(next, first)),
        None => topic,
    }
}

/// Returns the event to which the prompt invites people.
pub fn event(prompt: &Prompt<'_>) -> Option<String> {
    let words = prompt.words;
    let (at, taken) = words.find(0, &prompt.lexicon.event)?;
    let end = at + taken;
    let stops = |at: usize| {
        words.kind(at) != Kind::Word
            || words.any(at, &prompt.lexicon.determiners).is_some()
            || words.any(at, &prompt.lexicon.phrase_ends).is_some()
            || words.any(at, &prompt.lexicon.verbs).is_some()
            || words.any(at, &prompt.lexicon.new).is_some()
    };
    match prompt.language {
        // German and Dutch adjectives before a noun are inflected, so only the noun is used.
        Language::De | Language::Nl => {
            // A compound with a hyphen, such as "Online-Seminar", is one word.
            let joined = at >= 2 && words.fold(at - 1) == "-" && words.joined(at - 1) && words.joined(at - 2);
            Some(words.slice(if joined { at - 2 } else { at }, end).to_owned())
        }
        Language::En => {
            let start = (at.saturating_sub(4)..at).rev().take_while(|at| !stops(*at)).last().unwrap_or(at);
            let text = words.slice(start, end);
            // A capital letter at the start of the prompt does not indicate a name.
            Some(if start == 0 { text.to_lowercase() } else { text.to_owned() })
        }
        Language::Fr | Language::Es | Language::It | Language::Pt | Language::Ar | Language::He => {
            let joins = |at: usize| matches!(words.fold(at), "de" | "d" | "di" | "do" | "da" | "del" | "du" | "des");
            let mut to = end;
            if joins(end) {
                to = end + 1;
                while matches!(words.fold(to), "'" | "’" | "la" | "el" | "l") {
                    to += 1;
                }
                to += usize::from(words.kind(to) == Kind::Word);
            }
            Some(words.slice(at, to).to_owned())
        }
    }
}

/// Returns the topic of an event: "how to brew tea" in "Webinar on Tuesday: how to brew tea".
pub fn event_topic(prompt: &Prompt<'_>) -> Option<String> {
    let words = prompt.words;
    let (event, _) = words.find(0, &prompt.lexicon.event)?;
    let is_colon = |at: &usize| words.fold(*at) == ":" && !words.joined(*at) && words.kind(at + 1) == Kind::Word;
    let colon = (event + 1..words.len()).find(is_colon)?;
    // A single word before a colon is a label, as in "Registration: …".
    let before = (0..colon).rev().take_while(|at| !prompt.is_end(*at) && words.fold(*at) != ",").count();
    let end = (colon + 1..words.len()).find(|at| prompt.is_end(*at)).unwrap_or(words.len());
    let text = words.slice(colon + 1, end).trim().trim_end_matches('.');
    let is_about_days = prompt.lexicon.months.iter().any(|names| Tokens::read(text).find(0, names).is_some());
    let fits = (8..=NAME_CHARACTERS_MAX).contains(&text.chars().count()) && text.contains(' ') && !text.contains("http");
    (before >= 2 && fits && !is_about_days).then(|| text.to_owned())
}

/// Returns the position of a street with its number between commas, such as "12 Harbour Lane" or "Bahrenfelder Straße 146".
fn address(prompt: &Prompt<'_>) -> Option<(usize, usize)> {
    let words = prompt.words;
    let capital = |at: usize| words.kind(at) == Kind::Word && words.raw(at).starts_with(char::is_uppercase);
    (0..words.len()).filter(|at| words.fold(*at) == ",").find_map(|comma| {
        let from = comma + 1;
        let length = (from..words.len()).take_while(|at| matches!(words.kind(*at), Kind::Word | Kind::Number)).count();
        let to = from + length;
        let numbers = (from..to).filter(|at| words.kind(*at) == Kind::Number).count();
        let is_dated = (from..to).any(|at| {
            let days = prompt.lexicon.months.iter().chain(&prompt.lexicon.weekdays);
            days.into_iter().any(|names| words.any(at, names).is_some())
                || dates::is_time(prompt, at)
                || money::money_at(prompt, at).is_some()
        });
        let at_an_end = words.kind(from) == Kind::Number || to > from && words.kind(to - 1) == Kind::Number;
        let is_one = (2..=6).contains(&length) && numbers == 1 && at_an_end && (from..to).any(capital) && words.fold(to) != "%";
        (is_one && !is_dated).then_some((from, to))
    })
}

/// Returns the place of an event: the text after a label, a capitalized name after "at", a street address, or a room such as "in our shop".
pub fn venue(prompt: &Prompt<'_>) -> Option<Venue> {
    let words = prompt.words;
    let mut from = 0;
    while let Some((at, taken)) = words.find(from, &prompt.lexicon.venue_label) {
        if words.fold(at + taken) == ":" {
            let start = at + taken + 1;
            let end = (start..words.len()).find(|at| prompt.is_end(*at)).unwrap_or(words.len());
            let name = words.slice(start, end.min(start + VENUE_WORDS_MAX * 2)).trim();
            if !name.is_empty() {
                return Some(Venue { name: name.to_owned(), phrase: None });
            }
        }
        from = at + 1;
    }
    let named =
        (0..words.len()).find_map(|at| words.any(at, &prompt.lexicon.venue_at).and_then(|taken| place(prompt, at, at + taken)));
    let Some((from, to)) = address(prompt) else { return named.or_else(|| room(prompt, words.len())) };
    let street = words.slice(from, to);
    if named.as_ref().is_some_and(|venue| venue.name.contains(street)) {
        return named;
    }
    // The address can follow a room, as in "In our shop, 12 Harbour Lane".
    let room = named.or_else(|| room(prompt, from - 1)).map_or_else(String::new, |venue| format!("{}, ", venue.name));
    Some(Venue { name: format!("{room}{street}"), phrase: None })
}

/// Finds a room, such as "in our shop", before an index.
fn room(prompt: &Prompt<'_>, before: usize) -> Option<Venue> {
    let words = prompt.words;
    (0..before).find_map(|at| {
        let taken = words.any(at, &prompt.lexicon.venue_at)?;
        let first = at + taken;
        let noun = first + words.any(first, &prompt.lexicon.determiners).unwrap_or(0);
        let end = noun + words.any(noun, &prompt.lexicon.places)?;
        // "Im Laden" keeps its preposition, because "Laden" alone would need another inflection.
        let name = if prompt.language == Language::De { words.slice(at, end) } else { words.slice(first, end) };
        Some(Venue { name: name.to_owned(), phrase: Some(words.slice(at, end).to_owned()) })
    })
}

/// Returns a place such as "at the Old Mill, Bristol", from the preposition to the end of the name.
fn place(prompt: &Prompt<'_>, at: usize, from: usize) -> Option<Venue> {
    let words = prompt.words;
    let capital = |at: usize| words.kind(at) == Kind::Word && words.raw(at).starts_with(char::is_uppercase);
    let is_day = |at: usize| {
        let lexicon = prompt.lexicon;
        lexicon.months.iter().chain(&lexicon.weekdays).any(|names| words.any(at, names).is_some())
            || lexicon.languages.values().any(|names| words.any(at, names).is_some())
            || words.any(at, &lexicon.meta).is_some()
            || lexicon.seasons.values().any(|names| words.any(at, names).is_some())
    };
    let joins =
        |at: usize| words.any(at, &prompt.lexicon.venue_at).is_some() || matches!(words.fold(at), "of" | "de" | "und" | "&");
    let mut to = from;
    while to < words.len() && to - from < VENUE_WORDS_MAX {
        let on = match words.kind(to) {
            Kind::Word if is_day(to) => false,
            Kind::Word if joins(to) => capital(to + 1) || capital(to + 2),
            Kind::Word if to == from && words.any(to, &prompt.lexicon.determiners).is_some() => true,
            Kind::Word => capital(to) || words.any(to, &prompt.lexicon.phrase_ends).is_none(),
            Kind::Number => to > from && !dates::is_time(prompt, to),
            Kind::Sign => {
                words.fold(to) == "," && capital(to + 1) && !is_day(to + 1) || matches!(words.fold(to), "-" | "'" | "’" | "&")
            }
            Kind::End => false,
        };
        if !on {
            break;
        }
        to += 1;
    }
    if !(from..to).any(capital) {
        return None;
    }
    let inside = words.slice(from, to).trim_matches([' ', ',', '-']);
    let phrase = words.slice(at, to).trim_matches([' ', ',', '-']).to_owned();
    let has_article = words.any(from, &prompt.lexicon.determiners).is_some()
        || words.fold(at).len() > 2 && words.fold(at).ends_with(['m', 'r']);
    let bends = prompt.language == Language::De && (has_article || words.fold(at) == "im");
    let name = if bends { phrase.clone() } else { inside.to_owned() };
    Some(Venue { name, phrase: Some(phrase) })
}

/// Returns the audience if the email may name it: "for our loyal customers", but not "for inactive users".
pub fn audience(prompt: &Prompt<'_>) -> Option<String> {
    let words = prompt.words;
    for at in 0..words.len() {
        let Some(taken) = words.any(at, &prompt.lexicon.audience) else { continue };
        let from = at + taken;
        let Some(end) = (from..from + 4).find(|at| words.any(*at, &prompt.lexicon.audience_of).is_some()) else { continue };
        let told = (from..=end).any(|at| words.any(at, &prompt.lexicon.dear).is_some());
        let broken = (from..end).any(|at| words.kind(at) != Kind::Word && words.fold(at) != "-");
        if told && !broken {
            return Some(words.slice(at, end + 1).to_owned());
        }
    }
    None
}

/// Returns whether "the" precedes the first named product in an English prompt.
pub fn has_article(prompt: &Prompt<'_>, brand: &Brand, products: &[usize]) -> bool {
    let Some(product) = products.first().and_then(|place| brand.products.get(*place)) else { return false };
    let name = Tokens::read(&product.name);
    let first = name.fold(0);
    let words = prompt.words;
    prompt.language == Language::En
        && (1..words.len()).any(|at| words.fold(at) == first && matches!(words.fold(at - 1), "the" | "our"))
}
