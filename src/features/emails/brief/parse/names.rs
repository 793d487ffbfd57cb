//! Recognizes the names in a prompt: products, people, places, contact details and links.

use super::super::FactKind;
use super::facts::Found;
use super::lexicon::List;
use super::prompt::{Prompt, Range};
use super::tokens::{Kind, Words};
use crate::features::projects::brand::Brand;

/// The names of the brand's products as folded words.
pub struct Products {
    names: Vec<Vec<String>>,
}

impl Products {
    pub fn of(brand: &Brand) -> Self {
        let words = |name: &str| {
            let words = Words::read(name);
            (0..words.len())
                .filter(|at| matches!(words.kind(*at), Kind::Word | Kind::Number))
                .map(|at| words.fold(at).to_owned())
                .collect()
        };
        Self { names: brand.products.iter().map(|product| words(&product.name)).collect() }
    }

    /// Recognizes a product by its name, or by the start of the name: two words of a three-word name, three words of a longer name, or the
    /// capitalized first word of a two-word name. The first word of the name can be missing: "Gift box" is enough for "The Gift Box",
    /// unless another name also ends with these words.
    pub fn find(&self, prompt: &Prompt<'_>, at: usize) -> Option<Found> {
        let whole = self.names.iter().filter_map(|name| matched(prompt, at, name)).max_by_key(|range| range.to);
        let range = whole.or_else(|| self.tail(prompt, at))?;
        Some(Found::new(FactKind::Product, range, None))
    }

    /// Recognizes a product by its name without the first word, if the name has at least three words and no other name ends with these
    /// words.
    fn tail(&self, prompt: &Prompt<'_>, at: usize) -> Option<Range> {
        let tails = self.names.iter().filter_map(|name| name.get(1..)).filter(|tail| tail.len() > 1);
        let found = |tail: &[String]| matched(prompt, at, tail).filter(|range| range.len() >= tail.len());
        let mut found = tails.filter_map(|tail| found(tail).map(|range| (tail, range)));
        let (tail, range) = found.next()?;
        (self.names.iter().filter(|name| name.ends_with(tail)).count() == 1).then_some(range)
    }
}

fn matched(prompt: &Prompt<'_>, at: usize, name: &[String]) -> Option<Range> {
    let mut end = at;
    let mut fitting = 0;
    for word in name {
        while fitting > 0 && matches!(prompt.fold(end), "-" | "," | "'" | "&") {
            end += 1;
        }
        let own = prompt.fold(end);
        let is_plural = own.len() > word.len() && own.len() <= word.len() + 2 && own.starts_with(word.as_str()) && word.len() > 2;
        if own != word && !is_plural {
            break;
        }
        fitting += 1;
        end += 1;
    }
    let is_whole = fitting == name.len() && fitting > 0;
    let is_part = fitting >= 2 && fitting + 1 >= name.len().min(4)
        || fitting == 1 && name.len() == 2 && prompt.words.is_capital(at) && at > 0 && !is_start(prompt, at) && name[0].len() > 3;
    (is_whole || is_part).then(|| Range::of(at, end))
}

fn is_start(prompt: &Prompt<'_>, at: usize) -> bool {
    at == 0
        || prompt.kind(at - 1) == Kind::End
        || matches!(prompt.fold(at - 1), "." | "!" | "?" | ":" | "-" | ">" | ")" | "\"" | "(")
}

/// Recognizes an email address or a phone number.
pub fn contact(prompt: &Prompt<'_>, at: usize) -> Option<Found> {
    if prompt.kind(at) == Kind::Mail {
        return Some(Found::new(FactKind::Contact, Range::of(at, at + 1), None));
    }
    let is_open = matches!(prompt.fold(at), "+" | "(");
    if !is_open && prompt.kind(at) != Kind::Number {
        return None;
    }
    let mut end = at;
    let mut digits = 0;
    let mut groups = 0;
    while end < prompt.words.len() && end < at + 16 {
        let is_number = prompt.kind(end) == Kind::Number && !prompt.raw(end).contains([',', ':']);
        if is_number {
            digits += prompt.raw(end).chars().filter(char::is_ascii_digit).count();
            groups += 1;
        } else if !matches!(prompt.fold(end), "+" | "(" | ")" | "-" | "/")
            || prompt.kind(end + 1) != Kind::Number && prompt.fold(end) != ")" && prompt.fold(end + 1) != "("
        {
            break;
        }
        end += 1;
    }
    while end > at && prompt.kind(end - 1) != Kind::Number {
        end -= 1;
    }
    let first = prompt.raw(at);
    let is_named = (at.saturating_sub(4)..at).any(|at| prompt.is(List::Phone, at));
    let starts = is_open || first.starts_with('0') && !first.contains('.') || is_named && groups >= 2;
    let is_american = groups == 3 && digits == 10 && first.len() == 3 && prompt.raw(end - 1).len() == 4;
    let starts = starts || is_american;
    let is_date = first.contains('.') && groups < 3 || groups == 2 && prompt.fold(at + 1) == "-" && is_hours(prompt, at);
    let is_phone = starts
        && !is_date
        && (digits >= 7 && (groups >= 2 || is_open) || is_named && (digits >= 6 || groups == 2 && digits >= 5));
    (is_phone && digits <= 16).then(|| Found::new(FactKind::Contact, Range::of(at, end), None))
}

/// Returns whether two numbers with a dash between them are hours: "0200-0430".
fn is_hours(prompt: &Prompt<'_>, at: usize) -> bool {
    let is_hour = |at: usize| {
        let digits = prompt.raw(at);
        let (hour, minute) = digits.split_at_checked(2).unwrap_or_default();
        digits.len() == 4
            && hour.parse::<u8>().is_ok_and(|hour| hour < 25)
            && minute.parse::<u8>().is_ok_and(|minute| minute < 60)
    };
    is_hour(at) && is_hour(at + 2)
}

pub fn link(prompt: &Prompt<'_>, at: usize) -> Option<Found> {
    (prompt.kind(at) == Kind::Link).then(|| Found::new(FactKind::Link, Range::of(at, at + 1), None))
}

/// Recognizes a person: a title with a name, or capitalized words after a word such as "with". In German, at least two capitalized
/// words are required.
pub fn person(prompt: &Prompt<'_>, at: usize, is_shouted: bool) -> Option<Found> {
    if is_shouted {
        return None;
    }
    if let Some(end) = prompt.end(List::Title, at) {
        let end = title_end(prompt, end);
        let names = names_end(prompt, end);
        let is_name = names > end && (prompt.words.is_capital(at) || names - end >= 1);
        return is_name.then(|| Found::new(FactKind::Person, Range::of(at, names), None));
    }
    let led = prompt.before(List::PersonAfter, at);
    let is_led = led.is_some();
    let is_particle = led.is_some_and(|from| from + 1 == at && prompt.raw(from).len() <= 2);
    let end = names_end(prompt, at);
    if !is_led || end == at || is_start(prompt, at) || prompt.is(List::Month, at) || prompt.is(List::Weekday, at) {
        return None;
    }
    let is_pair = end >= at + 2;
    let language = prompt.lexicon().code;
    // German nouns are capitalized too, but two capitalized words in a row are usually a name.
    (is_pair || language != "de" && !is_particle && !prompt.is(List::Goal, at))
        .then(|| Found::new(FactKind::Person, Range::of(at, end), None))
}

fn title_end(prompt: &Prompt<'_>, at: usize) -> usize {
    let mut end = at;
    loop {
        if prompt.fold(end) == "." {
            end += 1;
        }
        match prompt.end(List::Title, end) {
            Some(next) => end = next,
            None => return end,
        }
    }
}

/// Returns the end of the capitalized words that start at a word: at most six words, including particles such as "van".
fn names_end(prompt: &Prompt<'_>, at: usize) -> usize {
    let is_name = |at: usize| {
        prompt.kind(at) == Kind::Word
            && prompt.words.is_capital(at)
            && prompt.raw(at).chars().count() > 1
            && prompt.raw(at).chars().skip(1).any(char::is_lowercase)
            && !prompt.is(List::Month, at)
            && !prompt.is(List::Weekday, at)
            && !prompt.is(List::Article, at)
    };
    let is_particle = |at: usize| {
        matches!(
            prompt.raw(at),
            "van" | "von" | "de" | "der" | "di" | "da" | "la" | "le" | "el" | "dos" | "del" | "den" | "ter" | "-" | "'" | "’"
        )
    };
    let mut end = at;
    while end < at + 6 {
        let joins = end > at && is_particle(end) && (is_name(end + 1) || is_particle(end + 1) && is_name(end + 2));
        if !is_name(end) && !joins {
            break;
        }
        end += 1;
    }
    end
}

/// Recognizes a place: a street, or a room or building after "at" or "in".
pub fn place(prompt: &Prompt<'_>, at: usize) -> Option<Found> {
    if let Some(range) = street(prompt, at) {
        return Some(Found::new(FactKind::Place, range, None));
    }
    let start = prompt.end(List::At, at)?;
    let start = prompt.end(List::Article, start).unwrap_or(start);
    let is_word = |at: usize| prompt.kind(at) == Kind::Word;
    let noun = (start..start + 4).take_while(|at| is_word(*at)).find(|at| prompt.is(List::Venue, *at))?;
    // A weekday, a verb or a second preposition before the venue belongs to another phrase: "am Donnerstag ist Versammlung", "bei
    // Regen in der Halle".
    let is_other = |at: usize| {
        let is_day = prompt.is(List::Weekday, at) || prompt.is(List::ShortWeekday, at) || prompt.is(List::Finite, at);
        is_day || prompt.end(List::At, at).is_some_and(|end| end <= noun)
    };
    if (start..noun).any(is_other) {
        return None;
    }
    let mut end = prompt.end(List::Venue, noun)?;
    // A street or another name can follow the venue: "in the hall at North Street", "in der Halle am Deichweg".
    if let Some(next) = prompt.end(List::At, end).or_else(|| prompt.end(List::Of, end)) {
        let names = names_end(prompt, next);
        end = if names > next { names } else { end };
    } else if prompt.words.is_capital(end) && names_end(prompt, end) > end {
        end = names_end(prompt, end);
    }
    Some(Found::new(FactKind::Place, Range::of(start, end), None))
}

/// Recognizes the town or the venue of an event: "in Manchester", "at The Net Loft". German prompts are excluded, because German nouns
/// are capitalized.
pub fn town(prompt: &Prompt<'_>, at: usize) -> Option<Found> {
    let is_in = matches!(prompt.fold(at), "in" | "a" | "en" | "at") && prompt.lexicon().code != "de";
    // An article can be part of the name: "At The Net Loft".
    let start = if prompt.fold(at + 1) == "the" { at + 2 } else { at + 1 };
    let end = names_end(prompt, start);
    let range = Range::of(start, end);
    let is_other = prompt.has(List::Language, range) || prompt.has(List::Month, range) || prompt.has(List::Goal, range);
    (is_in && (1..=3).contains(&range.len()) && !is_other).then(|| Found::new(FactKind::Place, range, None))
}

/// Recognizes "Sandstraße 8", "Calder Street", "4 quai de Versailles" and "Via Roma 12".
fn street(prompt: &Prompt<'_>, at: usize) -> Option<Range> {
    let is_number =
        |at: usize| prompt.kind(at) == Kind::Number && prompt.raw(at).len() <= 4 && !prompt.raw(at).contains([':', ',', '.']);
    if is_number(at) && prompt.is(List::Street, at + 1) {
        let mut end = at + 2;
        while end < at + 7
            && (prompt.words.is_capital(end)
                || prompt.is(List::Of, end)
                || prompt.is(List::Article, end)
                || prompt.fold(end) == "'")
        {
            end += 1;
        }
        return (end > at + 2).then(|| Range::of(at, end));
    }
    if !prompt.words.is_capital(at) || is_start(prompt, at) && prompt.kind(at) != Kind::Word {
        return None;
    }
    let names = names_end(prompt, at);
    let noun = (at..names).find(|at| prompt.is(List::Street, *at))?;
    if is_number(names) && !prompt.is(List::Currency, names + 1) && !prompt.is(List::Month, names + 1) {
        return Some(Range::of(at, names + 1));
    }
    let starts = at > 0 && !prompt.words.is_capital(at - 1);
    (noun > at && noun + 1 == names && starts).then(|| Range::of(at, names))
}

/// Words before the title of a person who signs: "signs as head".
const AS: [&str; 6] = ["as", "als", "en", "como", "come", "comme"];

/// Returns the name of the person who signs, and their title, from a fragment that states them: "Noa signs", "chair is Ted Okafor he
/// signs", "Frau Adler unterschreibt als Leiterin".
pub fn signer(prompt: &Prompt<'_>, range: Range) -> Option<(Range, Range)> {
    let ends = |to: usize| to == range.to || AS.contains(&prompt.fold(to)) && range.to <= to + 1 + TITLE_WORDS_MAX;
    let mut verbs = (range.from + 1..range.to).filter_map(|at| prompt.at(List::LabelSign, at).find(|mark| ends(mark.to)));
    let verb = verbs.next_back()?;
    let is_pronoun = matches!(prompt.fold(verb.from - 1), "he" | "she" | "er" | "sie" | "il" | "elle" | "hij" | "zij");
    let to = verb.from - usize::from(is_pronoun);
    let is_name = |at: &usize| prompt.kind(*at) == Kind::Word && prompt.words.is_capital(*at) && !prompt.is(List::Title, *at);
    let first = (range.from..to).rev().take_while(is_name).last()?;
    let is_whole = (range.from..first).all(|at| prompt.is(List::Title, at) || prompt.kind(at) == Kind::Sign);
    let title = Range::of((verb.to + 1).min(range.to), range.to);
    (to - first <= SIGNER_WORDS_MAX && (is_pronoun || is_whole)).then_some((Range::of(first, to), title))
}

/// The maximum number of words in the name of a person who signs.
const SIGNER_WORDS_MAX: usize = 3;

/// The maximum number of words in a person's title.
const TITLE_WORDS_MAX: usize = 4;
