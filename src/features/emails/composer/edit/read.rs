//! Reads instructions from words: where one ends and the next begins, and what each asks for.
//!
//! It changes nothing. Of the email it knows only the language, and which words stand in it.

use super::vocabulary::Vocabulary;
use super::{Action, Place, Surface, Target, Which};
use crate::base::text::Color;
use crate::features::emails::composer::language::Language;
use crate::features::emails::composer::lexicon::{self, Lexicon, Phrases};
use crate::features::emails::composer::understand;
use crate::features::emails::composer::words::{Kind, Words};
use crate::features::emails::document::{Corners, Email, Layout, Link};
use crate::vocab::limits;

/// The instructions of a prompt, each with its own words.
pub fn instructions(prompt: &str, email: &Email) -> Vec<(String, Option<Action>)> {
    let prompt: String = understand::clean(prompt);
    let words = Words::read(&prompt);
    let own = Language::of(&email.language).unwrap_or(Language::En);
    let told = lexicon::language_of(&words, own);
    // The language with most words for changes comes first; the prompt's and the email's own break a tie.
    let mut order = Language::SPOKEN.to_vec();
    let known = |language: &Language| Vocabulary::of(*language).known(&words);
    order.sort_by_key(|language| std::cmp::Reverse((known(language), *language == told, *language == own)));
    let clauses = clauses(&prompt, Vocabulary::of(order[0]));
    let read = |clause: String| {
        let action = order.iter().find_map(|language| Clause::new(&clause, *language, email).action());
        (clause, action)
    };
    clauses.into_iter().take(limits::COMPOSER_LIST_MAX).map(read).collect()
}

/// A prompt cut where one instruction ends and another begins. Never inside quotation marks.
fn clauses(prompt: &str, vocabulary: &Vocabulary) -> Vec<String> {
    let words = Words::read(prompt);
    let quoted = understand::quotations(&words);
    let spans: Vec<(usize, usize)> = quoted.iter().map(|(at, text)| span(&words, *at, text)).collect();
    let is_quoted = |at: usize| spans.iter().any(|(from, to)| (*from..*to).contains(&at));
    let verbs = [&vocabulary.change, &vocabulary.remove, &vocabulary.add, &vocabulary.shift, &vocabulary.shorten];
    let more = [&vocabulary.lengthen, &vocabulary.translate, &vocabulary.swap];
    let begins = |at: usize| verbs.iter().chain(&more).any(|verbs| words.any(at, verbs).is_some());
    let mut cuts = vec![0];
    for at in 0..words.len() {
        let token = &words.tokens[at];
        if is_quoted(token.start) {
            continue;
        }
        let ends =
            token.kind == Kind::End || token.fold == ";" || (matches!(token.fold.as_str(), "." | "!") && !words.joined(at));
        if ends {
            cuts.push(token.end);
            continue;
        }
        let comma = token.fold == "," && begins(at + 1);
        let joiner = words.any(at, &vocabulary.joiner).filter(|taken| begins(at + taken));
        if comma || (joiner.is_some() && at > 0) {
            cuts.push(token.start);
        }
    }
    cuts.push(prompt.len());
    let part = |pair: &[usize]| prompt[pair[0]..pair[1]].trim().trim_matches([',', ';', '.', '!', '\n']).trim().to_owned();
    cuts.windows(2).map(part).filter(|part| !part.is_empty()).collect()
}

/// The bytes of a quotation, from its opening mark to where the closing one begins.
fn span(words: &Words<'_>, open: usize, text: &str) -> (usize, usize) {
    let start = words.tokens[open].start;
    let inner = words.tokens.get(open + 1).map_or(start, |token| token.start);
    (start, inner + text.len() + 1)
}

/// One instruction in one language.
struct Clause<'a> {
    text: &'a str,
    words: Words<'a>,
    vocabulary: &'static Vocabulary,
    lexicon: &'static Lexicon,
    email: &'a Email,
    quotes: Vec<(usize, &'a str)>,
}

impl<'a> Clause<'a> {
    fn new(text: &'a str, language: Language, email: &'a Email) -> Self {
        let words = Words::read(text);
        let quotes = understand::quotations(&words);
        Self { text, words, vocabulary: Vocabulary::of(language), lexicon: lexicon::of(language), email, quotes }
    }

    /// Where one of the phrases stands, outside quotation marks.
    fn find(&self, phrases: &Phrases) -> Option<(usize, usize)> {
        let open = |at: usize| !self.is_quoted(at);
        (0..self.words.len()).filter(|at| open(*at)).find_map(|at| self.words.any(at, phrases).map(|taken| (at, taken)))
    }

    fn has(&self, phrases: &Phrases) -> bool {
        self.find(phrases).is_some()
    }

    fn is_quoted(&self, at: usize) -> bool {
        let Some(token) = self.words.tokens.get(at) else { return false };
        let inside = |(from, to): (usize, usize)| (from..to).contains(&token.start);
        self.quotes.iter().any(|(open, text)| inside(span(&self.words, *open, text)))
    }

    /// What the instruction asks for.
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
                    return Some(Action::Shorten(of_target));
                }
                self.has(&words.lengthen).then_some(Action::Lengthen)
            })
            .or_else(|| self.set(target, which))
    }

    /// The first thing that is named; text in general only if nothing else is.
    fn target(&self) -> Option<Target> {
        let named = self.vocabulary.targets().into_iter().filter_map(|(target, phrases)| {
            let (at, taken) = self.find(phrases)?;
            Some((at, std::cmp::Reverse(taken), target))
        });
        let first = named.min_by_key(|(at, taken, _)| (*at, *taken)).map(|(_, _, target)| target);
        first.or_else(|| self.has(&self.vocabulary.text).then_some(Target::Text))
    }

    fn which(&self) -> Which {
        if let Some(place) = self.vocabulary.ordinals.iter().position(|phrases| self.has(phrases)) {
            return Which::Nth(place);
        }
        if self.has(&self.vocabulary.last) { Which::Last } else { Which::Unsaid }
    }

    /// Whether all of a kind are meant.
    fn all(&self) -> bool {
        self.has(&self.vocabulary.all)
    }

    /// Instructions about the email as a whole: language, tone, emoji, layout, corners.
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
            .find(|language| self.lexicon.languages.get(language.code()).is_some_and(|names| self.has(names)));
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
            by_name || self.lexicon.layouts.get(layout).is_some_and(|phrases| self.has(phrases))
        };
        if self.has(&words.layout) {
            return Layout::ALL.into_iter().find(asked).map(Action::Arrange);
        }
        if whole && self.has(&words.informal) {
            return Some(Action::Formality(false));
        }
        (whole && self.has(&words.formal)).then_some(Action::Formality(true))
    }

    /// A colour for the buttons, the ground or the accent.
    fn colors(&self, target: Option<Target>) -> Option<Action> {
        let words = self.vocabulary;
        let color = self.color()?;
        let says_text = self.quotes.iter().any(|_| true) || (target == Some(Target::Button) && self.names_text());
        if says_text {
            return None;
        }
        let surface = match target {
            Some(Target::Button) => Surface::Button,
            _ if self.has(&words.background) => Surface::Background,
            _ if self.has(&words.accent) => Surface::Accent,
            Some(Target::Text) | None if self.has(&words.color) || self.has(&words.change) => Surface::Accent,
            _ => return None,
        };
        Some(Action::Paint { surface, color })
    }

    fn color(&self) -> Option<Color> {
        let written = self.text.match_indices('#').filter_map(|(at, _)| self.text.get(at..at + "#RRGGBB".len())?.parse().ok());
        let named = || {
            let open = (0..self.words.len()).filter(|at| !self.is_quoted(*at));
            let colors = &self.vocabulary.colors;
            open.into_iter().find_map(|at| {
                let is_it = |name: &&String| crate::features::emails::composer::words::plain(name) == self.words.fold(at);
                colors.keys().find(is_it).and_then(|name| colors.get(name)).copied()
            })
        };
        written.into_iter().next().or_else(named)
    }

    /// Instructions with a web address.
    fn addresses(&self, target: Option<Target>, which: Which) -> Option<Action> {
        let url = understand::links(self.text).into_iter().next()?;
        let words = self.vocabulary;
        let path = url.split(['?', '#']).next().unwrap_or_default().to_lowercase();
        let is_picture = [".jpg", ".jpeg", ".png", ".gif", ".webp"].iter().any(|end| path.ends_with(end));
        if target == Some(Target::Image) || (is_picture && target != Some(Target::Button)) {
            let adds = self.has(&words.add) && !self.has(&words.swap);
            let clause = self.text.to_owned();
            return Some(match adds {
                true => Action::Add { target: Target::Image, clause, place: self.place(Target::Image) },
                false => Action::Swap { which, url: Some(url) },
            });
        }
        if self.has(&words.add) && target == Some(Target::Button) {
            return None;
        }
        let which = if self.all() && which == Which::Unsaid { Which::All } else { which };
        Link::parse(&url).ok().map(|link| Action::Lead { which, link })
    }

    /// Adding, removing, moving, swapping.
    fn blocks(&self, target: Option<Target>, which: Which) -> Option<Action> {
        let words = self.vocabulary;
        let target = target?;
        let clause = self.text.to_owned();
        let in_text = matches!(target, Target::Subject | Target::Preheader | Target::Title | Target::Lead);
        let value_follows = !self.quotes.is_empty() && self.has(&words.change);
        if self.has(&words.remove) && !value_follows && !matches!(target, Target::Subject | Target::Preheader) {
            let which = if which == Which::Unsaid && self.has(&words.all) && self.is_plural(target) { Which::All } else { which };
            return Some(Action::Remove { target, which });
        }
        if let Some((at, _)) = self.find(&words.add)
            && !in_text
            && self.first_verb_is(at)
        {
            return Some(Action::Add { target, clause, place: self.place(target) });
        }
        if target == Target::Image && (self.has(&words.swap) || self.has(&words.change)) {
            return Some(Action::Swap { which, url: None });
        }
        let place = self.place(target).filter(|_| self.quotes.is_empty() && !in_text);
        let moves = self.has(&words.shift) || place.is_some_and(|place| matches!(place, Place::Up | Place::Down));
        place.filter(|_| moves).map(|to| Action::Move { target, which, to })
    }

    /// Whether no verb for changing stands before.
    fn first_verb_is(&self, at: usize) -> bool {
        self.find(&self.vocabulary.change).is_none_or(|(change, _)| change >= at)
    }

    /// "The images": the word ends like several. "The image" is one.
    fn is_plural(&self, target: Target) -> bool {
        let Some((_, phrases)) = self.vocabulary.targets().into_iter().find(|(other, _)| *other == target) else { return false };
        let Some((at, taken)) = self.find(phrases) else { return false };
        let word = self.words.fold(at + taken - 1);
        let several = self.has(&self.vocabulary.all);
        several && (word.ends_with('s') || word.ends_with("er") || word.ends_with("en") || word.ends_with('i')) && word.len() > 4
    }

    /// Where something shall go.
    fn place(&self, target: Target) -> Option<Place> {
        let words = self.vocabulary;
        let other = |phrases: &Phrases| {
            let (at, taken) = self.find(phrases)?;
            let named = words.targets().into_iter().filter(|(other, _)| *other != target).filter_map(|(other, phrases)| {
                let near = at + taken..(at + taken + 4).min(self.words.len());
                near.into_iter().find(|at| self.words.any(*at, phrases).is_some()).map(|at| (at, other))
            });
            named.min_by_key(|(at, _)| *at).map(|(_, target)| target)
        };
        if let Some(target) = other(&words.before) {
            return Some(Place::Before(target));
        }
        if let Some(target) = other(&words.after) {
            return Some(Place::After(target));
        }
        let simple =
            [(&words.top, Place::Top), (&words.bottom, Place::Bottom), (&words.up, Place::Up), (&words.down, Place::Down)];
        simple.into_iter().find(|(phrases, _)| self.has(phrases)).map(|(_, place)| place)
    }

    /// New words for something, or in place of other words.
    fn set(&self, target: Option<Target>, which: Which) -> Option<Action> {
        if let [(_, from), (_, to)] = self.quotes.as_slice() {
            return Some(Action::Replace { from: (*from).to_owned(), to: (*to).to_owned() });
        }
        let verb = self.find(&self.vocabulary.change);
        let named = target.filter(|target| *target != Target::Text || self.names_text());
        if let Some(target) = named
            && let Some(value) = self.value(target)
        {
            // "Change the subject to …", "Subject: …".
            let links = target == Target::Button && self.has(&self.vocabulary.link);
            return (!links).then_some(Action::Set { target, which, value });
        }
        // "Change 20 % to 25 %": words that stand in the email.
        let (at, taken) = verb?;
        let to = (at + taken + 1..self.words.len()).find(|at| self.words.any(*at, &self.vocabulary.to).is_some())?;
        let after = to + self.words.any(to, &self.vocabulary.to)?;
        let bare = |text: &'a str| text.trim_matches(['"', '“', '”', '„', '«', '»', ' ', '\'']).to_owned();
        let (from, to) = (bare(self.words.slice(at + taken, to)), bare(self.words.slice(after, self.words.len())));
        let known = super::texts::contains(self.email, &from);
        (known && !to.is_empty()).then_some(Action::Replace { from, to })
    }

    /// Whether "text" means a text block, not "it".
    fn names_text(&self) -> bool {
        let named = |at: &usize| !self.is_quoted(*at) && self.words.any(*at, &self.vocabulary.text).is_some();
        (0..self.words.len()).filter(named).any(|at| self.words.fold(at).len() > 3)
    }

    /// What something is to be: what is quoted, or what stands after "to" or a colon.
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
