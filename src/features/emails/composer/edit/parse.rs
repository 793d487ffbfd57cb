//! Parses instructions in plain words: finds where each instruction starts and ends, and what it requests.
//!
//! The parser does not change the email. It uses only the email's language and words.

use std::ops::Range;

use super::vocabulary::Vocabulary;
use super::{Action, Anchor, Place, Surface, Target, Which};
use crate::base::color;
use crate::base::locale::LanguageTag;
use crate::base::text::Color;
use crate::features::emails::composer::language::Language;
use crate::features::emails::composer::text::{self, Phrases};
use crate::features::emails::composer::tokens::{Kind, Tokens};
use crate::features::emails::document::{Corners, Layout, Link};
use crate::vocab::limits;

/// The maximum number of words between "before" or "after" and its target: the target itself and its quoted words.
const TARGET_REACH: usize = 4;
const QUOTE_REACH: usize = 7;
const NOWHERE: Range<usize> = 0..0;

/// The properties of the email that the parser uses.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    pub language: &'a LanguageTag,
    /// Whether the email contains these words.
    pub contains: &'a dyn Fn(&str) -> bool,
}

/// Returns the instructions in a prompt, each with its words and, if understood, its action.
pub fn instructions(prompt: &str, email: Reading<'_>) -> Vec<(String, Option<Action>)> {
    let prompt: String = text::clean(prompt);
    let words = Tokens::read(&prompt);
    let own = Language::of(email.language).unwrap_or(Language::En);
    // The language whose vocabulary contains the most words of the prompt comes first. In a tie, the email's language comes first.
    let mut order = Language::SPOKEN.to_vec();
    let known = |language: &Language| Vocabulary::of(*language).known(&words);
    order.sort_by_key(|language| std::cmp::Reverse((known(language), *language == own)));
    let clauses = clauses(&prompt, Vocabulary::of(order[0]), email.contains);
    let read = |clause: String| {
        let action = order.iter().find_map(|language| Clause::new(&clause, *language, email).action());
        (clause, action)
    };
    clauses.into_iter().take(limits::COMPOSER_LIST_MAX).map(read).collect()
}

/// Splits a prompt between instructions, but never inside quotation marks.
fn clauses(prompt: &str, vocabulary: &Vocabulary, contains: &dyn Fn(&str) -> bool) -> Vec<String> {
    let words = Tokens::read(prompt);
    let quoted = text::quotations(&words);
    let spans: Vec<(usize, usize)> = quoted.iter().map(|(at, text)| span(&words, *at, text)).collect();
    let is_quoted = |at: usize| spans.iter().any(|(from, to)| (*from..*to).contains(&at));
    let verbs = [&vocabulary.change, &vocabulary.remove, &vocabulary.add, &vocabulary.shift, &vocabulary.shorten];
    let more = [&vocabulary.lengthen, &vocabulary.translate, &vocabulary.swap];
    let begins = |at: usize| verbs.iter().chain(&more).any(|verbs| words.any(at, verbs).is_some());
    // Each cut has the end of a part, the start of the next part, and whether the next part omits its verb.
    let mut cuts = vec![(0, 0, false)];
    for at in 0..words.len() {
        let token = &words.tokens[at];
        if is_quoted(token.start) {
            continue;
        }
        let ends =
            token.kind == Kind::End || token.fold == ";" || (matches!(token.fold.as_str(), "." | "!") && !words.joined(at));
        if ends {
            cuts.push((token.end, token.end, false));
            continue;
        }
        let comma = token.fold == "," && begins(at + 1);
        let joiner = words.any(at, &vocabulary.joiner).filter(|_| at > 0);
        if comma || joiner.is_some_and(|taken| begins(at + taken)) {
            cuts.push((token.start, token.start, false));
        } else if let Some(taken) = joiner.filter(|taken| {
            continues(&words, vocabulary, at, at + taken)
                || changes_more(&words, vocabulary, (cuts[cuts.len() - 1].1, at, at + taken), contains)
        }) {
            cuts.push((token.start, words.tokens[at + taken].start, true));
        }
    }
    cuts.push((prompt.len(), prompt.len(), false));
    let mut parts: Vec<String> = Vec::new();
    for pair in cuts.windows(2) {
        let part = prompt[pair[0].1..pair[1].0].trim().trim_matches([',', ';', '.', '!', '\n']).trim();
        match parts.last().and_then(|before| first_verb(before, &verbs)).filter(|_| pair[0].2) {
            Some(verb) => parts.push(format!("{verb} {part}")),
            None if part.is_empty() => {}
            None => parts.push(part.to_owned()),
        }
    }
    parts
}

/// Returns whether an instruction continues after a conjunction without its verb: "make the text white and the background black".
fn continues(words: &Tokens<'_>, vocabulary: &Vocabulary, joiner: usize, from: usize) -> bool {
    let near = from..(from + TARGET_REACH).min(words.len());
    let named = |at: usize| {
        let others = [&vocabulary.text, &vocabulary.background, &vocabulary.accent];
        let targets = vocabulary.targets().into_iter().map(|(_, phrases)| phrases);
        targets.chain(others).any(|phrases| words.any(at, phrases).is_some())
    };
    let is_value = |at: usize| {
        let is_color = |name: &String| crate::features::emails::composer::tokens::plain(name) == words.fold(at);
        let is_hex = at.checked_sub(1).is_some_and(|before| words.fold(before) == "#" && words.joined(before));
        matches!(words.raw(at), "\"" | "”" | "“" | "»" | "«") || vocabulary.colors.keys().any(is_color) || is_hex
    };
    let removes = (0..joiner).any(|at| words.any(at, &vocabulary.remove).is_some());
    let found = near.clone().find(|at| named(*at));
    // A pronoun such as "it" does not name another part.
    let is_other = found.is_some_and(|found| found > from && words.fold(found).chars().count() > 3);
    joiner.checked_sub(1).is_some_and(|before| found.is_some() && is_value(before) || (removes && is_other && named(before)))
}

/// Returns whether a replacement of words in the email continues without its verb: "change 20% to 25% and SALE20 to SALE25".
fn changes_more(
    words: &Tokens<'_>,
    vocabulary: &Vocabulary,
    (start, joiner, from): (usize, usize, usize),
    contains: &dyn Fn(&str) -> bool,
) -> bool {
    let is_to = |at: &usize| words.any(*at, &vocabulary.to).is_some();
    let own = (0..joiner).filter(|at| words.tokens[*at].start >= start);
    let second = (from + 1..words.len().min(from + QUOTE_REACH)).find(is_to);
    let said = second.map(|to| words.slice(from, to));
    own.into_iter().any(|at| is_to(&at)) && said.is_some_and(|said| said.chars().count() > 2 && contains(said))
}

/// Returns the first verb of an instruction, as written.
fn first_verb(text: &str, verbs: &[&Phrases]) -> Option<String> {
    let words = Tokens::read(text);
    (0..words.len()).find_map(|at| {
        let taken = verbs.iter().filter_map(|phrases| words.any(at, phrases)).max()?;
        Some(words.slice(at, at + taken).to_owned())
    })
}

/// Returns the byte range of a quotation, from its opening mark to its closing mark.
fn span(words: &Tokens<'_>, open: usize, text: &str) -> (usize, usize) {
    let start = words.tokens[open].start;
    let inner = words.tokens.get(open + 1).map_or(start, |token| token.start);
    (start, inner + text.len() + 1)
}

/// One instruction in one language.
struct Clause<'a> {
    text: &'a str,
    words: Tokens<'a>,
    vocabulary: &'static Vocabulary,
    email: Reading<'a>,
    quotes: Vec<(usize, &'a str)>,
}

impl<'a> Clause<'a> {
    fn new(text: &'a str, language: Language, email: Reading<'a>) -> Self {
        let words = Tokens::read(text);
        let quotes = text::quotations(&words);
        Self { text, words, vocabulary: Vocabulary::of(language), email, quotes }
    }

    /// Returns the position and length of the first of these phrases outside quotation marks.
    fn find(&self, phrases: &Phrases) -> Option<(usize, usize)> {
        let open = |at: usize| !self.is_quoted(at);
        (0..self.words.len()).filter(|at| open(*at)).find_map(|at| self.words.any(at, phrases).map(|taken| (at, taken)))
    }

    fn find_outside(&self, phrases: &Phrases, outside: &Range<usize>) -> Option<(usize, usize)> {
        let open = |at: &usize| !self.is_quoted(*at) && !outside.contains(at);
        (0..self.words.len()).filter(open).find_map(|at| self.words.any(at, phrases).map(|taken| (at, taken)))
    }

    fn has(&self, phrases: &Phrases) -> bool {
        self.find(phrases).is_some()
    }

    fn is_quoted(&self, at: usize) -> bool {
        let Some(token) = self.words.tokens.get(at) else { return false };
        let inside = |(from, to): (usize, usize)| (from..to).contains(&token.start);
        self.quotes.iter().any(|(open, text)| inside(span(&self.words, *open, text)))
    }

    /// Returns the requested action.
    fn action(&self) -> Option<Action> {
        let words = self.vocabulary;
        let target = self.target();
        let which = self.which();
        self.whole(target)
            .or_else(|| self.colors(target))
            .or_else(|| self.addresses(target, which))
            .or_else(|| self.blocks(target, which))
            .or_else(|| {
                let of_target = target.filter(|target| *target != Target::Text);
                if self.has(&words.shorten) {
                    return Some(Action::Shorten { target: of_target, which });
                }
                self.has(&words.lengthen).then_some(Action::Lengthen)
            })
            .or_else(|| self.set(target, which))
    }

    /// Returns the first part that the instruction names, excluding a reference point. Returns "text" only if no other part is named.
    fn target(&self) -> Option<Target> {
        // In "the alt text of the image", the target is the alt text.
        if self.has(&self.vocabulary.alt) {
            return Some(Target::Alt);
        }
        let beside = self.anchor().map(|(_, _, words)| words);
        let first = |outside: &Range<usize>| {
            let named = self.vocabulary.targets().into_iter().filter_map(|(target, phrases)| {
                let (at, taken) = self.find_outside(phrases, outside)?;
                Some((at, std::cmp::Reverse(taken), target))
            });
            named.min_by_key(|(at, taken, _)| (*at, *taken)).map(|(_, _, target)| target)
        };
        let text = || self.has(&self.vocabulary.text).then_some(Target::Text);
        match beside {
            Some(words) => first(&words).or_else(|| {
                let says = !self.quotes.is_empty() || self.text.contains(": ");
                if says { Some(Target::Text) } else { text().or_else(|| first(&NOWHERE)) }
            }),
            None => first(&NOWHERE).or_else(text),
        }
    }

    /// Returns the reference point of a position, whether the position is before the reference point, and the words that express both.
    fn anchor(&self) -> Option<(Anchor, bool, Range<usize>)> {
        let words = self.vocabulary;
        // A single quotation is the text to add, unless the instruction gives other content to add.
        let quotes_text = self.has(&words.add) && text::links(self.text).is_empty() && !self.text.contains(": ");
        [(&words.before, true), (&words.after, false)].into_iter().find_map(|(phrases, before)| {
            let (at, taken) = self.find(phrases)?;
            let from = at + taken;
            let reach = if self.quotes.len() > 1 { QUOTE_REACH } else { TARGET_REACH };
            let quoted = self.quotes.iter().find(|(open, _)| (from..from + reach).contains(open));
            if let Some((open, text)) = quoted.filter(|_| self.quotes.len() > usize::from(quotes_text)) {
                return Some((Anchor::Words((*text).to_owned()), before, at..open + 1));
            }
            let near = || from..(from + TARGET_REACH).min(self.words.len());
            let place = |phrases: &Phrases| near().find(|at| !self.is_quoted(*at) && self.words.any(*at, phrases).is_some());
            let named = words.targets().into_iter().filter_map(|(target, phrases)| Some((place(phrases)?, target)));
            let text = place(&words.text).map(|place| (place, Target::Text));
            let (place, target) = named.chain(text).min_by_key(|(place, _)| *place)?;
            let which = self.which_among(|at| (from..=place).contains(&at));
            Some((Anchor::Target(target, which), before, at..place + 1))
        })
    }

    fn which(&self) -> Which {
        let beside = self.anchor().map_or(NOWHERE, |(_, _, words)| words);
        self.which_among(|at| !beside.contains(&at))
    }

    fn which_among(&self, counts: impl Fn(usize) -> bool) -> Which {
        let stands = |phrases: &Phrases| {
            (0..self.words.len()).any(|at| counts(at) && !self.is_quoted(at) && self.words.any(at, phrases).is_some())
        };
        if let Some(place) = self.vocabulary.ordinals.iter().position(stands) {
            return Which::Nth(place);
        }
        if stands(&self.vocabulary.last) { Which::Last } else { Which::Unsaid }
    }

    /// Returns whether the instruction refers to all parts of a kind.
    fn all(&self) -> bool {
        self.has(&self.vocabulary.all)
    }

    /// Parses instructions about the whole email: language, tone, emoji, layout, corners.
    fn whole(&self, target: Option<Target>) -> Option<Action> {
        let words = self.vocabulary;
        if !self.quotes.is_empty() {
            return None;
        }
        if self.has(&words.emoji) {
            return Some(Action::Emoji(!self.has(&words.remove)));
        }
        let named = Language::SPOKEN
            .into_iter()
            .find(|language| self.vocabulary.languages.get(language.code()).is_some_and(|names| self.has(names)));
        if let Some(language) = named.filter(|_| self.has(&words.translate)) {
            return Some(Action::Translate(language));
        }
        if self.has(&words.corners) {
            let corners = [(&words.soft, Corners::Soft), (&words.round, Corners::Round), (&words.sharp, Corners::Sharp)];
            return corners.into_iter().find(|(phrases, _)| self.has(phrases)).map(|(_, corners)| Action::Round(corners));
        }
        let whole = target.is_none_or(|target| target == Target::Text);
        let asked = |layout: &Layout| {
            let by_name = self.words.text.to_lowercase().contains(&format!("{layout:?}").to_lowercase());
            by_name || self.vocabulary.layouts.get(layout).is_some_and(|phrases| self.has(phrases))
        };
        if self.has(&words.layout) {
            return Layout::ALL.into_iter().find(asked).map(Action::Arrange);
        }
        if whole && self.has(&words.informal) {
            return Some(Action::Formality(false));
        }
        (whole && self.has(&words.formal)).then_some(Action::Formality(true))
    }

    /// Parses a color for the buttons, the background, the accent or the text, or a replacement for another color.
    fn colors(&self, target: Option<Target>) -> Option<Action> {
        let words = self.vocabulary;
        let found = self.found_colors();
        let first = found.first()?;
        let says_text = !self.quotes.is_empty() || (target == Some(Target::Button) && self.names_text());
        if says_text {
            return None;
        }
        let surface = match target {
            Some(Target::Button) => Some(Surface::Button),
            _ if self.has(&words.background) => Some(Surface::Background),
            _ if self.has(&words.accent) => Some(Surface::Accent),
            Some(Target::Title | Target::Heading) => Some(Surface::Headings),
            Some(Target::Text) | None if self.has(&words.color) || self.has(&words.change) => {
                let is_text = target.is_some() && self.names_text();
                Some(if is_text { Surface::Text } else { Surface::Accent })
            }
            _ => None,
        };
        // In "from red to blue", the new color directly follows a word such as "to".
        let becomes = found.iter().skip(1).find(|(at, ..)| self.words.before(*at, &words.to).is_some());
        match (surface?, becomes) {
            (Surface::Accent | Surface::Text, Some((_, to, _))) => {
                let (_, from, exact) = *first;
                Some(Action::Recolor { from, exact, to: *to })
            }
            (surface, Some((_, to, _))) if !self.names_text() => Some(Action::Paint { surface, color: *to }),
            (surface, _) => Some(Action::Paint { surface, color: first.1 }),
        }
    }

    /// Returns the colors, their positions, and whether they are given as numbers.
    fn found_colors(&self) -> Vec<(usize, Color, bool)> {
        let mut found = Vec::new();
        for at in (0..self.words.len()).filter(|at| !self.is_quoted(*at)) {
            if self.words.fold(at) == "#" {
                let digits = self.text[self.words.tokens[at].end..].chars().take_while(char::is_ascii_hexdigit).count();
                let start = self.words.tokens[at].start;
                let written = self.text.get(start..start + 1 + digits).and_then(color::parse);
                found.extend(written.map(|painted| (at, painted.color, true)));
                continue;
            }
            let is_it = |name: &&String| crate::features::emails::composer::tokens::plain(name) == self.words.fold(at);
            let named = self.vocabulary.colors.keys().find(is_it).and_then(|name| self.vocabulary.colors.get(name));
            found.extend(named.map(|color| (at, *color, false)));
        }
        found
    }

    /// Parses an instruction that contains a web address.
    fn addresses(&self, target: Option<Target>, which: Which) -> Option<Action> {
        let mut urls = text::links(self.text).into_iter();
        let (first, second) = (urls.next()?, urls.next());
        let words = self.vocabulary;
        // "Change the link https://old to https://new", "link \"these words\" to https://new".
        let quoted = self.quotes.last().map(|(_, text)| (*text).to_owned()).filter(|text| *text != first);
        let (url, of) = second.map_or_else(|| (first.clone(), quoted), |second| (second, Some(first.clone())));
        let path = url.split(['?', '#']).next().unwrap_or_default().to_lowercase();
        let is_picture = [".jpg", ".jpeg", ".png", ".gif", ".webp"].iter().any(|end| path.ends_with(end));
        if target == Some(Target::Image) || (is_picture && target != Some(Target::Button)) {
            let adds = self.has(&words.add) && !self.has(&words.swap);
            let clause = self.text.to_owned();
            return Some(match adds {
                true => Action::Add { target: Target::Image, clause, place: self.place() },
                false => Action::Swap { which, url: Some(url), clause },
            });
        }
        if self.has(&words.add) && target == Some(Target::Button) {
            return None;
        }
        let which = if self.all() && which == Which::Unsaid { Which::All } else { which };
        Link::parse(&url).ok().map(|link| Action::Lead { which, link, of })
    }

    /// Parses an instruction to add, remove, move or swap a part.
    fn blocks(&self, target: Option<Target>, which: Which) -> Option<Action> {
        let words = self.vocabulary;
        if let (None, [(_, from)], true) = (target, self.quotes.as_slice(), self.has(&words.remove) && !self.has(&words.change)) {
            return Some(Action::Replace { from: (*from).to_owned(), to: String::new() });
        }
        // In "remove free shipping", the words to remove are words in the email.
        if let (None, Some((at, taken)), true) = (target, self.find(&words.remove), self.quotes.is_empty())
            && let Some(from) = self.said_from(at + taken)
        {
            return Some(Action::Replace { from, to: String::new() });
        }
        let target = target?;
        let clause = self.text.to_owned();
        let in_text = matches!(target, Target::Subject | Target::Preheader | Target::Title | Target::Lead);
        let value_follows = !self.quotes.is_empty() && self.has(&words.change);
        if self.has(&words.remove) && !value_follows && !matches!(target, Target::Subject | Target::Preheader) {
            let which = if which == Which::Unsaid && self.has(&words.all) && self.is_plural(target) { Which::All } else { which };
            return Some(Action::Remove { target, which, words: self.named_by() });
        }
        if let Some((at, _)) = self.find(&words.add)
            && !in_text
            && self.first_verb_is(at)
        {
            return Some(Action::Add { target, clause, place: self.place() });
        }
        if target == Target::Image && (self.has(&words.swap) || self.has(&words.change)) {
            return Some(Action::Swap { which, url: None, clause });
        }
        let is_anchored = |place: &Place| matches!(place, Place::Before(Anchor::Words(_)) | Place::After(Anchor::Words(_)));
        let place = self.place().filter(|place| (self.quotes.is_empty() || is_anchored(place)) && !in_text);
        let moves = self.has(&words.shift) || place.as_ref().is_some_and(|place| matches!(place, Place::Up | Place::Down));
        place.filter(|_| moves).map(|to| Action::Move { target, which, to })
    }

    /// Returns the words that identify a part: quoted words, or words in the email after "with" or "about".
    fn named_by(&self) -> Option<String> {
        if let Some((_, text)) = self.quotes.last() {
            return Some((*text).to_owned());
        }
        let (at, taken) = self.find(&self.vocabulary.containing)?;
        self.said_from(at + taken)
    }

    /// Returns the rest of the instruction from a position on, with or without the article, if the email contains these words.
    fn said_from(&self, from: usize) -> Option<String> {
        let said = [from, from + 1].map(|from| self.words.slice(from, self.words.len()));
        said.into_iter().find(|said| said.chars().count() > 2 && (self.email.contains)(said)).map(str::to_owned)
    }

    /// Returns whether no verb that requests a change precedes the position.
    fn first_verb_is(&self, at: usize) -> bool {
        self.find(&self.vocabulary.change).is_none_or(|(change, _)| change >= at)
    }

    /// Returns whether the instruction names the target in the plural: "the images" or "all images", not "the image".
    fn is_plural(&self, target: Target) -> bool {
        let Some((_, phrases)) = self.vocabulary.targets().into_iter().find(|(other, _)| *other == target) else { return false };
        let Some((at, taken)) = self.find(phrases) else { return false };
        let word = self.words.fold(at + taken - 1);
        let several = self.has(&self.vocabulary.all);
        several && (word.ends_with('s') || word.ends_with("er") || word.ends_with("en") || word.ends_with('i')) && word.len() > 4
    }

    /// Returns the position that the instruction names.
    fn place(&self) -> Option<Place> {
        let words = self.vocabulary;
        match self.anchor() {
            Some((anchor, true, _)) => return Some(Place::Before(anchor)),
            Some((anchor, false, _)) => return Some(Place::After(anchor)),
            None => {}
        }
        let simple =
            [(&words.top, Place::Top), (&words.bottom, Place::Bottom), (&words.up, Place::Up), (&words.down, Place::Down)];
        simple.into_iter().find(|(phrases, _)| self.has(phrases)).map(|(_, place)| place)
    }

    /// Parses a new text for a part, or a replacement of words.
    fn set(&self, target: Option<Target>, which: Which) -> Option<Action> {
        if let [(_, from), (_, to)] = self.quotes.as_slice() {
            return Some(Action::Replace { from: (*from).to_owned(), to: (*to).to_owned() });
        }
        let verb = self.find(&self.vocabulary.change);
        let named = target.filter(|target| *target != Target::Text || self.names_text());
        if let Some(target) = named
            && let Some(value) = self.value(target)
        {
            // The instruction gives the new text of a part, as in "Change the subject to …" or "Subject: …".
            let links = target == Target::Button && self.has(&self.vocabulary.link);
            return (!links).then_some(Action::Set { target, which, value });
        }
        // In "Change 20 % to 25 %", the words to replace are words in the email.
        let (at, taken) = verb?;
        let to = (at + taken + 1..self.words.len()).find(|at| self.words.any(*at, &self.vocabulary.to).is_some())?;
        let after = to + self.words.any(to, &self.vocabulary.to)?;
        let bare = |text: &'a str| text.trim_matches(['"', '“', '”', '„', '«', '»', ' ', '\'']).to_owned();
        let (from, to) = (bare(self.words.slice(at + taken, to)), bare(self.words.slice(after, self.words.len())));
        let known = (self.email.contains)(&from);
        (known && !to.is_empty()).then_some(Action::Replace { from, to })
    }

    /// Returns whether the instruction refers to text with a noun such as "text", not only with "it".
    fn names_text(&self) -> bool {
        let named = |at: &usize| !self.is_quoted(*at) && self.words.any(*at, &self.vocabulary.text).is_some();
        (0..self.words.len()).filter(named).any(|at| self.words.fold(at).len() > 3)
    }

    /// Returns the new value: the quotation, or the text after "to" or a colon.
    fn value(&self, target: Target) -> Option<String> {
        if let Some((_, text)) = self.quotes.last() {
            return Some((*text).to_owned());
        }
        let phrases = match target {
            Target::Text => &self.vocabulary.text,
            _ => self.vocabulary.targets().into_iter().find(|(other, _)| *other == target).map(|(_, phrases)| phrases)?,
        };
        let (at, taken) = self.find(phrases)?;
        let after = (at + taken..self.words.len()).find_map(|at| match self.words.fold(at) {
            ":" => Some(at + 1),
            _ => self.words.any(at, &self.vocabulary.to).map(|taken| at + taken),
        })?;
        let text = self.words.slice(after, self.words.len()).trim().trim_start_matches(':').trim();
        (!text.is_empty()).then(|| text.to_owned())
    }
}
