//! Matches the words of one instruction against a form. Every word must match an element of the form or be a filler, so that no word is
//! silently ignored.

use std::cell::Cell;

use super::action::{Anchor, PartName, Place, Target, Topic, Which};
use super::color_names::Named;
use super::vocabulary::{Element, ElementKind, Form, Slot, Vocabulary};
use crate::base::color;
use crate::features::emails::composer::language::Language;
use crate::features::emails::composer::text;
use crate::features::emails::composer::tokens::{TokenKind, Tokens};
use crate::features::emails::document::Layout;

/// The properties of the email that determine the meaning of an instruction.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// Returns whether the email contains these words.
    pub contains: &'a dyn Fn(&str) -> bool,
    pub products: &'a [String],
}

/// The value of a gap in a form.
#[derive(Clone, Debug, PartialEq)]
pub enum Bound<'a> {
    Part(PartName),
    Text(&'a str),
    Color(Named),
    Place(Place),
    Language(Language),
    Number(u8),
    Topic(Topic),
    Layout(Layout),
}

/// The gaps of a form with their values, in the order of the form.
pub type Bindings<'a> = Vec<(Slot, Bound<'a>)>;

/// The maximum number of steps for matching a form. An instruction that needs more steps does not match. Only instructions that repeat the
/// words of forms many times need more.
const STEPS_MAX: u32 = 20_000;
/// The maximum number of words in one instruction.
const WORDS_MAX: usize = 400;
/// The maximum number of words that an instruction can quote from the email without quotation marks.
const SAID_WORDS_MAX: usize = 30;
/// The maximum number of words that describe a corrected value: "the posting deadline".
const SUBJECT_WORDS_MAX: usize = 6;

/// One instruction, read with the vocabulary of one language.
pub struct Reader<'a> {
    pub words: Tokens<'a>,
    vocabulary: &'static Vocabulary,
    scene: Scene<'a>,
    /// The indexes of the opening and the closing mark of each quotation, and its text.
    quotes: Vec<(usize, usize, &'a str)>,
    steps: Cell<u32>,
}

impl<'a> Reader<'a> {
    pub fn new(text: &'a str, vocabulary: &'static Vocabulary, scene: Scene<'a>) -> Self {
        let words = Tokens::read(text);
        let end_of = |open: usize, quoted: &str| {
            let inner = words.tokens.get(open + 1).map_or(0, |token| token.start);
            (open + 1..words.len()).find(|at| words.tokens[*at].start >= inner + quoted.trim_end().len()).unwrap_or(open)
        };
        let quotes = text::quotations(&words).into_iter().map(|(open, quoted)| (open, end_of(open, quoted), quoted)).collect();
        Self { words, vocabulary, scene, quotes, steps: Cell::new(0) }
    }

    /// Returns the values of a form's gaps, if all words fit the form.
    pub fn matched(&self, form: &Form) -> Option<Bindings<'a>> {
        if self.words.len() > WORDS_MAX {
            return None;
        }
        self.steps.set(0);
        let mut bound = Vec::new();
        self.fits(&form.elements, 0, &mut bound).then_some(bound)
    }

    fn fits(&self, elements: &[Element], at: usize, bound: &mut Bindings<'a>) -> bool {
        self.steps.set(self.steps.get() + 1);
        if self.steps.get() > STEPS_MAX {
            return false;
        }
        let Some((first, rest)) = elements.split_first() else { return self.is_filler(at, self.words.len()) };
        for (end, value) in self.ends(&first.kind, at, rest.is_empty()) {
            let length = bound.len();
            bound.extend(value);
            if self.fits(rest, end, bound) {
                return true;
            }
            bound.truncate(length);
        }
        (first.is_optional && self.fits(rest, at, bound)) || self.skips(at).any(|next| self.fits(elements, next, bound))
    }

    /// Returns the positions where an element that starts at a word can end, each with the value of its gap. The preferred position
    /// comes first.
    fn ends(&self, kind: &ElementKind, at: usize, is_last: bool) -> Vec<(usize, Option<(Slot, Bound<'a>)>)> {
        match kind {
            ElementKind::Sign(sign) => Vec::from_iter((self.words.fold(at) == sign).then_some((at + 1, None))),
            ElementKind::Class(class) => {
                self.lengths(at, self.vocabulary.class(class)).into_iter().map(|taken| (at + taken, None)).collect()
            }
            ElementKind::Slot(slot) => {
                let found = self.fill(*slot, at, is_last);
                found.into_iter().map(|(end, value)| (end, Some((*slot, value)))).collect()
            }
        }
    }

    fn fill(&self, slot: Slot, at: usize, is_last: bool) -> Vec<(usize, Bound<'a>)> {
        match slot {
            Slot::Part => self.parts(at),
            Slot::Quote => Vec::from_iter(self.quote(at)),
            Slot::Value | Slot::Label | Slot::Said | Slot::Any | Slot::Name => self.texts(slot, at, is_last),
            Slot::Color => self.color(at).into_iter().map(|(end, color)| (end, Bound::Color(color))).collect(),
            Slot::Place => self.places(at),
            Slot::Url | Slot::OtherUrl => Vec::from_iter(self.url(at)),
            Slot::Number => Vec::from_iter(self.number(at).map(|number| (at + 1, Bound::Number(number)))),
            Slot::Product => self.product(at),
            Slot::Language => self.first_of(at, Language::SPOKEN.map(|own| (Bound::Language(own), own.code())).into_iter()),
            Slot::Topic => {
                let topics = self.vocabulary.topics.iter();
                topics
                    .flat_map(|(topic, phrases)| {
                        self.lengths(at, phrases).into_iter().map(|taken| (at + taken, Bound::Topic(*topic)))
                    })
                    .collect()
            }
            Slot::Layout => self.layout(at),
        }
    }

    fn first_of(&self, at: usize, all: impl Iterator<Item = (Bound<'a>, &'static str)>) -> Vec<(usize, Bound<'a>)> {
        let is_form = |name: &Vec<String>| name.len() == 1 && self.vocabulary.is_form(self.words.fold(at), &name[0]);
        let named = |code: &str| self.vocabulary.languages.get(code).is_some_and(|names| names.iter().any(is_form));
        all.filter(|(_, code)| named(code)).map(|(language, _)| (at + 1, language)).collect()
    }

    fn layout(&self, at: usize) -> Vec<(usize, Bound<'a>)> {
        let mut found: Vec<(usize, Bound<'a>)> = Vec::new();
        for (layout, names) in &self.vocabulary.layouts {
            let inflected = names.iter().any(|name| name.len() == 1 && self.vocabulary.is_form(self.words.fold(at), &name[0]));
            let taken = self.words.any(at, names).or(inflected.then_some(1));
            found.extend(taken.map(|taken| (at + taken, Bound::Layout(*layout))));
        }
        found.sort_by_key(|(end, _)| std::cmp::Reverse(*end));
        found
    }

    /// Returns the lengths of all phrases that match at a word, longest first.
    fn lengths(&self, at: usize, phrases: &[Vec<String>]) -> Vec<usize> {
        if self.is_quoted(at) {
            return Vec::new();
        }
        let mut found: Vec<usize> = phrases.iter().filter_map(|phrase| self.words.matches(at, phrase)).collect();
        found.sort_unstable_by(|a, b| b.cmp(a));
        found.dedup();
        found
    }

    fn is_quoted(&self, at: usize) -> bool {
        self.quotes.iter().any(|(open, close, _)| (*open..=*close).contains(&at))
    }

    /// Returns the positions after each filler or punctuation mark that starts at a word.
    fn skips(&self, at: usize) -> impl Iterator<Item = usize> {
        let is_pause = at < self.words.len()
            && !self.is_quoted(at)
            && (matches!(self.words.fold(at), "," | "." | "!" | ";" | "?") || self.words.kind(at) == TokenKind::End);
        let fillers = self.lengths(at, &self.vocabulary.filler);
        fillers.into_iter().chain(is_pause.then_some(1)).map(move |taken| at + taken)
    }

    /// Returns whether all words between two positions are fillers or punctuation.
    pub fn is_filler(&self, at: usize, end: usize) -> bool {
        at >= end || self.skips(at).any(|next| next <= end && self.is_filler(next, end))
    }

    fn quote(&self, at: usize) -> Option<(usize, Bound<'a>)> {
        self.quotes.iter().find(|(open, ..)| *open == at).map(|(_, close, text)| (close + 1, Bound::Text(text)))
    }

    /// Returns the passages that start at a word and can fill a gap, longest first.
    fn texts(&self, slot: Slot, at: usize, is_last: bool) -> Vec<(usize, Bound<'a>)> {
        let is_said = |text: &str| slot != Slot::Said || (self.scene.contains)(text);
        if let Some((end, Bound::Text(text))) = self.quote(at) {
            return Vec::from_iter((slot != Slot::Any && is_said(text)).then_some((end, Bound::Text(text))));
        }
        let inside = |end: usize| self.quotes.iter().any(|(open, close, _)| *open < end && end <= *close);
        if at >= self.words.len() || matches!(self.words.fold(at), ":" | "," | "." | ";") {
            return Vec::new();
        }
        let reach = match slot {
            Slot::Any => SUBJECT_WORDS_MAX,
            Slot::Said => SAID_WORDS_MAX,
            _ => WORDS_MAX,
        };
        let last = self.words.len().min(at + reach);
        let polite = self.vocabulary.class("please");
        let ends = (at + 1..=last).rev().filter(|end| !inside(*end));
        ends.filter_map(|end| {
            let mut stop = end;
            // A polite word at the end is not part of the new text: "Make the button Shop now, please".
            if is_last && let Some(start) = self.words.before(end, polite).filter(|start| *start > at) {
                stop = start;
            }
            while is_last && stop > at + 1 && self.words.fold(stop - 1) == "," {
                stop -= 1;
            }
            let text = self.words.slice(at, stop).trim();
            let is_label = || text.starts_with(char::is_uppercase) && !self.is_known(at, stop);
            let fits = match slot {
                Slot::Label => is_label(),
                Slot::Said => text.chars().count() > 1 && is_said(text),
                _ => true,
            };
            (fits && !text.is_empty()).then_some((end, Bound::Text(text)))
        })
        .collect()
    }

    /// Returns whether a known phrase (a class, filler, part or layout) or a color starts at every word in `at..end`. If so, the words are
    /// probably instructions rather than new text.
    fn is_known(&self, at: usize, end: usize) -> bool {
        let known = |at: usize| {
            let lists = self.vocabulary.classes.values().chain([&self.vocabulary.filler]).chain(self.vocabulary.parts.values());
            let is_layout = !self.layout(at).is_empty();
            lists.into_iter().any(|list| self.words.any(at, list).is_some()) || is_layout || !self.color(at).is_empty()
        };
        (at..end).all(known)
    }

    /// Returns the colors that start at a word.
    fn color(&self, at: usize) -> Vec<(usize, Named)> {
        if at >= self.words.len() || self.is_quoted(at) {
            return Vec::new();
        }
        if self.words.fold(at) == "#" {
            let start = self.words.tokens[at].start;
            let digits = self.words.text[start + 1..].chars().take_while(char::is_ascii_hexdigit).count();
            let written = self.words.text.get(start..=start + digits).and_then(color::parse);
            let end = (at..self.words.len()).find(|at| self.words.tokens[*at].start > start + digits).unwrap_or(self.words.len());
            return Vec::from_iter(written.map(|painted| (end, Named { color: painted.color, is_exact: true })));
        }
        let is_named = |name: &[String]| {
            name.iter().enumerate().all(|(index, word)| self.vocabulary.is_form(self.words.fold(at + index), word))
        };
        let named = self.vocabulary.named_colors.iter().filter(|(name, _)| is_named(name));
        named.map(|(name, color)| (at + name.len(), Named { color: *color, is_exact: false })).collect()
    }

    fn number(&self, at: usize) -> Option<u8> {
        let worded = self.vocabulary.numbers.iter().position(|phrases| self.words.any(at, phrases) == Some(1));
        worded
            .and_then(|place| u8::try_from(place + 1).ok())
            .or_else(|| self.words.fold(at).parse().ok().filter(|n| (1..=9).contains(n)))
    }

    fn url(&self, at: usize) -> Option<(usize, Bound<'a>)> {
        let start = self.words.tokens.get(at)?.start;
        let rest = &self.words.text[start..];
        let address = text::addresses(rest.split_whitespace().next()?).into_iter().next()?;
        let end = start + rest.find(address)? + address.len();
        let next = (at..self.words.len()).find(|at| self.words.tokens[*at].start >= end).unwrap_or(self.words.len());
        Some((next, Bound::Text(address)))
    }

    fn product(&self, at: usize) -> Vec<(usize, Bound<'a>)> {
        let same = |text: &str, name: &String| text::folded(text) == text::folded(name);
        let known = |text: &str| self.scene.products.iter().any(|name| same(text, name));
        if let Some((end, Bound::Text(text))) = self.quote(at) {
            return Vec::from_iter(known(text).then_some((end, Bound::Text(text))));
        }
        let longest = self.words.len().min(at + 12);
        let ends = (at + 1..=longest).rev().map(|end| (end, self.words.slice(at, end)));
        ends.filter(|(_, text)| known(text)).map(|(end, text)| (end, Bound::Text(text))).collect()
    }

    /// Returns the names of parts that start at a word. A name is a noun, optionally after an ordinal or a color, or before a number or a
    /// color.
    fn parts(&self, start: usize) -> Vec<(usize, Bound<'a>)> {
        let (mut which, mut was, mut at) = (Which::Unsaid, None, start);
        let class = |at: usize, name: &str| self.lengths(at, self.vocabulary.class(name)).first().copied();
        let skip = |at: usize| self.lengths(at, &self.vocabulary.filler).first().copied();
        for _ in 0..4 {
            let ordinal = |at: usize| self.vocabulary.ordinals.iter().position(|own| !self.lengths(at, own).is_empty());
            if let Some(place) = ordinal(at) {
                (which, at) = (Which::Nth(place), at + 1);
            } else if let Some(taken) = class(at, "last") {
                (which, at) = (Which::Last, at + taken);
            } else if let Some(taken) = class(at, "all") {
                (which, at) = (Which::All, at + taken);
            } else if let Some(taken) = class(at, "main").filter(|_| self.nouns(at).is_empty()) {
                at += taken;
            } else if let Some((end, color)) = self.color(at).into_iter().next().filter(|_| self.nouns(at).is_empty()) {
                (was, at) = (Some(color), end);
            } else if let Some(taken) = skip(at).filter(|_| at > start && self.nouns(at).is_empty()) {
                at += taken;
            } else {
                break;
            }
        }
        let mut found = Vec::new();
        for (end, target) in self.nouns(at) {
            let part = |which, was| Bound::Part(PartName { target, which, was });
            found.push((end, part(which, was)));
            if let Some(number) = self.number(end).filter(|_| which == Which::Unsaid) {
                found.push((end + 1, part(Which::Nth(usize::from(number) - 1), was)));
            }
            found.extend(self.belongs_to(end, target).map(|(end, which)| (end, part(which, None))));
            let behind = self.color(end).into_iter().filter(|_| was.is_none());
            found.extend(behind.map(|(end, color)| (end, part(which, Some(color)))));
        }
        found
    }

    /// Returns the end of a phrase such as "of the second image" after an alt text or a label, and the image or button that it
    /// refers to.
    fn belongs_to(&self, at: usize, target: Target) -> Option<(usize, Which)> {
        let owner = match target {
            Target::Alt => Target::Image,
            Target::Label => Target::Button,
            _ => return None,
        };
        let mut at = at + self.lengths(at, self.vocabulary.class("of")).first()?;
        while self.parts(at).is_empty() {
            at += self.lengths(at, &self.vocabulary.filler).first()?;
        }
        self.parts(at).into_iter().find_map(|(end, bound)| match bound {
            Bound::Part(part) if part.target == owner => Some((end, part.which)),
            _ => None,
        })
    }

    /// Returns the nouns for parts of an email that start at a word, longest first.
    pub fn nouns(&self, at: usize) -> Vec<(usize, Target)> {
        let all = self.vocabulary.parts.iter();
        let mut found: Vec<(usize, Target)> =
            all.flat_map(|(target, own)| self.lengths(at, own).into_iter().map(|taken| (at + taken, *target))).collect();
        found.sort_by_key(|(end, _)| std::cmp::Reverse(*end));
        found
    }

    fn places(&self, at: usize) -> Vec<(usize, Bound<'a>)> {
        let simple = [("top", Place::Top), ("bottom", Place::Bottom), ("up", Place::Up), ("down", Place::Down)];
        let mut found = Vec::new();
        for (class, place) in simple {
            let lengths = self.lengths(at, self.vocabulary.class(class));
            found.extend(lengths.into_iter().map(|taken| (at + taken, Bound::Place(place.clone()))));
        }
        for (class, place) in [("before", Place::Before as fn(Anchor) -> Place), ("after", Place::After as fn(Anchor) -> Place)] {
            for length in self.lengths(at, self.vocabulary.class(class)) {
                for (end, anchor) in self.anchors(at + length) {
                    found.push((end, Bound::Place(place(anchor))));
                }
            }
        }
        found.sort_by_key(|(end, _)| std::cmp::Reverse(*end));
        found
    }

    fn anchors(&self, start: usize) -> Vec<(usize, Anchor)> {
        let mut at = start;
        // A quotation after a few words is the anchor: "after the paragraph with 'at noon'".
        for _ in 0..4 {
            if let Some((end, Bound::Text(text))) = self.quote(at) {
                return vec![(end, Anchor::Words(text.to_owned()))];
            }
            let parts = self.parts(at);
            let named = |(end, bound): (usize, Bound<'a>)| {
                if let Bound::Part(part) = bound { Some((end, Anchor::Part(part))) } else { None }
            };
            let found: Vec<_> = parts.into_iter().filter_map(named).collect();
            if let Some((end, _)) = found.first() {
                let said =
                    self.lengths(*end, self.vocabulary.class("containing")).first().and_then(|taken| self.quote(end + taken));
                return match said {
                    Some((end, Bound::Text(text))) => vec![(end, Anchor::Words(text.to_owned()))],
                    _ => found,
                };
            }
            match self.lengths(at, &self.vocabulary.filler).first() {
                Some(taken) => at += taken,
                None => break,
            }
        }
        Vec::new()
    }

    /// Returns whether the text contains the start of an instruction, supported or not: a verb or a common request.
    pub fn starts_instruction(&self) -> bool {
        let verbs = VERBS.map(|name| self.vocabulary.class(name));
        (0..self.words.len()).any(|at| {
            let is_verb = || verbs.iter().any(|verbs| !self.lengths(at, verbs).is_empty());
            is_verb() || self.vocabulary.wishes.iter().any(|wish| !self.lengths(at, &wish.words).is_empty())
        })
    }

    /// Returns the first verb, as written.
    pub fn verb(&self) -> Option<&'a str> {
        let verbs = VERBS.map(|name| self.vocabulary.class(name));
        (0..self.words.len()).find_map(|at| {
            let taken = verbs.iter().filter_map(|verbs| self.lengths(at, verbs).first().copied()).max()?;
            Some(self.words.slice(at, at + taken))
        })
    }
}

/// The vocabulary classes whose phrases are verbs.
const VERBS: [&str; 12] =
    ["change", "remove", "add", "move", "shorten", "lengthen", "swap", "translate", "sign", "shall", "link", "use"];
