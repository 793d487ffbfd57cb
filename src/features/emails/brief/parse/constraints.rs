//! Reads the limits in a prompt: on images, products and words, the form of address, the language, and the number of emails.

use super::super::{Constraint, ConstraintKind};
use super::classify::{Classifier, SHORT_WORDS};
use super::lexicon::{List, lexicons};
use super::prompt::Range;
use super::tokens::Kind;
use crate::vocab::limits;

/// The maximum number of words at the start of a prompt that are searched for a request for a series.
const SERIES_WORDS_MAX: usize = 14;

/// The limits without a value, such as "no images", each with the list of its phrases.
const LIMITS: [(List, ConstraintKind); 7] = [
    (List::NoImages, ConstraintKind::NoImages),
    (List::NoProducts, ConstraintKind::NoProducts),
    (List::NoExclamation, ConstraintKind::NoExclamation),
    (List::NoEmoji, ConstraintKind::NoEmoji),
    (List::Emoji, ConstraintKind::Emoji),
    (List::Plain, ConstraintKind::PlainLayout),
    (List::OneButton, ConstraintKind::OneButton),
];

/// The stems of words for "translate" in several languages.
const TRANSLATE: [&str; 7] = ["translat", "tradu", "traduz", "traduis", "ubersetz", "vertaal", "vertal"];

impl Classifier<'_> {
    /// Reads the limits in a fragment. Returns whether it contains limits.
    pub(super) fn limits(&mut self, range: Range, is_labeled: bool) -> bool {
        let mut is_limit = false;
        for (list, kind) in LIMITS {
            if let Some(found) = self.prompt.find(list, range).filter(|found| self.is_near_start(range, *found) || is_labeled) {
                self.constrain(kind, None, found);
                is_limit = true;
            }
        }
        if let Some(found) = self.prompt.find(List::WordLimit, range) {
            let number =
                (found.from..found.to).find(|at| self.prompt.kind(*at) == Kind::Number).map(|at| self.prompt.raw(at).to_owned());
            self.constrain(ConstraintKind::WordLimit, number, range);
            is_limit = true;
        }
        if self.prompt.has(List::Emails, range) && range.len() <= 4 && self.is_series(range) {
            is_limit = true;
        }
        is_limit |= self.products(range) | self.avoided(range);
        is_limit | self.address(range, is_labeled)
    }

    /// Reads a fragment that only states the number of products: "with two products".
    fn products(&mut self, range: Range) -> bool {
        let prompt = self.prompt;
        let lead = |at: &usize| [List::With, List::And, List::Please].into_iter().any(|list| prompt.is(list, *at));
        let at = (range.from..range.to).take_while(lead).last().map_or(range.from, |last| last + 1);
        let numeral = prompt.at(List::Numeral, at).map(|mark| usize::from(mark.value)).max();
        let digits = (prompt.kind(at) == Kind::Number).then(|| prompt.fold(at).parse().ok()).flatten();
        let count = digits.or(numeral).filter(|count| (1..=limits::EMAIL_PRODUCTS_MAX).contains(count));
        let is_whole = prompt.at(List::Products, at + 1).any(|mark| mark.to == range.to);
        let Some(count) = count.filter(|_| is_whole) else { return false };
        self.constrain(ConstraintKind::Products, Some(count.to_string()), range);
        true
    }

    /// Returns whether the number of emails in the series was read from this fragment: "3 emails".
    pub(super) fn is_series(&self, range: Range) -> bool {
        let span = self.prompt.span(range);
        let own = |other: &Constraint| {
            other.kind == ConstraintKind::Emails && other.span.is_some_and(|own| own.start >= span.start && own.end <= span.end)
        };
        self.fields.constraints.iter().any(own)
    }

    pub(super) fn is_limit(&self, range: Range) -> bool {
        LIMITS.iter().any(|(list, _)| self.prompt.find(*list, range).is_some_and(|found| self.is_near_start(range, found)))
            || self.prompt.has(List::WordLimit, range)
    }

    /// Returns whether a phrase starts a fragment, or has at most three words before it and five after it.
    fn is_near_start(&self, range: Range, found: Range) -> bool {
        found.from <= range.from + 3 && found.to + 5 >= range.to || found.from == self.start(range)
    }

    /// Reads the form of address, formal or informal, that a fragment requests.
    fn address(&mut self, range: Range, is_labeled: bool) -> bool {
        for (list, kind) in [(List::Informal, ConstraintKind::Informal), (List::Formal, ConstraintKind::Formal)] {
            let Some(found) = self.prompt.find(list, range) else { continue };
            let rest = (range.from..range.to)
                .filter(|at| (*at < found.from || *at >= found.to) && !self.is_fill(*at) && self.prompt.kind(*at) == Kind::Word)
                .count();
            let has_note = self.prompt.has(List::NoteAny, range) || self.prompt.is(List::NoteStart, self.start(range));
            if is_labeled || rest <= 2 && range.len() <= 10 || has_note {
                // A negation reverses the form of address: "please don't use first names", "bitte nicht duzen".
                let is_denied = self.prompt.is(List::Not, range.to - 1)
                    || found.from > range.from && self.prompt.is(List::Not, found.from - 1);
                let kind = match (is_denied, kind) {
                    (true, ConstraintKind::Informal) => ConstraintKind::Formal,
                    (true, _) => ConstraintKind::Informal,
                    _ => kind,
                };
                self.constrain(kind, None, found);
                if rest > 0 && self.prompt.has(List::Tone, range) {
                    self.fields.tone.push(self.part(range));
                }
                return true;
            }
        }
        false
    }

    fn is_fill(&self, at: usize) -> bool {
        [List::ToneFill, List::Tone, List::Please, List::And, List::Article].into_iter().any(|list| self.prompt.is(list, at))
    }

    /// Reads the words that the email must not contain.
    fn avoided(&mut self, range: Range) -> bool {
        let prompt = self.prompt;
        let start = self.start(range);
        let Some(found) = prompt.find(List::Avoid, range).filter(|found| found.from <= start + 3) else { return false };
        // A request not to translate a word does not forbid the word: "Do not translate X".
        if (range.from..range.to).any(|at| TRANSLATE.iter().any(|stem| prompt.fold(at).starts_with(stem))) {
            return true;
        }
        let end = prompt.end(List::Avoid, found.from).unwrap_or(found.to);
        // "Pas de …" and "not …" can also negate facts, so they forbid only words in quotation marks directly after them.
        let is_weak = end == found.from + 1 || end <= found.from + 3 && matches!(prompt.fold(end - 1), "de" | "d" | "'");
        let mut at = end;
        let mut words = Vec::new();
        while at < range.to {
            if is_weak && words.is_empty() && at > end && !prompt.is(List::Article, at - 1) {
                break;
            }
            if let Some(close) = prompt.quote_end(at, range.to + 1) {
                words.push(Range::of(at + 1, close.min(range.to)));
                at = close;
            }
            at += 1;
        }
        if words.is_empty() && !is_weak && found.from <= start {
            let rest = Range::of(prompt.end(List::Article, end).unwrap_or(end), range.to);
            let rest = Range::of(
                rest.from,
                [List::NoteAny, List::At, List::Sound, List::Thanks]
                    .into_iter()
                    .find_map(|list| prompt.find(list, rest))
                    .map_or(rest.to, |stop| stop.from),
            );
            let next = prompt.find(List::Avoid, rest);
            let first = Range::of(rest.from, next.map_or(rest.to, |next| next.from));
            let second = next.map(|next| Range::of(next.to, rest.to));
            let first = self.name_in(first);
            words.extend([Some(first), second].into_iter().flatten().filter(|word| (1..=3).contains(&word.len())));
        }
        // Common words are not words to avoid: "Don't use them" is an instruction to the recipients.
        let had_words = !words.is_empty();
        words.retain(|word| (word.from..word.to).any(|at| !prompt.is(List::Common, at)));
        for word in &words {
            self.constrain(ConstraintKind::AvoidWord, Some(prompt.text(*word).to_owned()), range);
        }
        !words.is_empty() || !had_words && !is_weak && found.from <= start
    }

    /// Returns the name at the start of the words to avoid: "Danny" in "don't mention Danny leaving". Returns all of the words if they do
    /// not start with a name or the prompt is in German.
    fn name_in(&self, words: Range) -> Range {
        let prompt = self.prompt;
        let is_name = |at: usize| prompt.words.is_capital(at) || prompt.raw(at).contains(|c: char| c.is_ascii_digit());
        let end = (words.from..words.to).find(|at| !is_name(*at)).unwrap_or(words.to);
        if end == words.from || prompt.lexicon().code == "de" { words } else { Range::of(words.from, end) }
    }

    /// Reads the number of emails in a series: "three cart reminder emails", "launch series in three parts".
    pub(super) fn series(&mut self) {
        let prompt = self.prompt;
        let number = |at: usize| {
            let numeral = prompt.at(List::Numeral, at).map(|mark| usize::from(mark.value)).max();
            let digits = (prompt.kind(at) == Kind::Number).then(|| prompt.fold(at).parse().ok()).flatten();
            digits.or(numeral).filter(|count| (2..=limits::EMAILS_PER_SERIES_MAX).contains(count))
        };
        let start = Range::of(0, prompt.words.len().min(SERIES_WORDS_MAX));
        let has_series = prompt.has(List::Series, start);
        for at in start.from..start.to {
            let Some(count) = number(at) else { continue };
            let unit = (at + 1..(at + 5).min(prompt.words.len()))
                .take_while(|at| prompt.kind(*at) == Kind::Word)
                .find(|at| prompt.is(List::Emails, *at));
            let span = unit.map(|unit| Range::of(at, unit + 1));
            let near = || prompt.find(List::Series, Range::of(at.saturating_sub(3), (at + 5).min(prompt.words.len())));
            let span = span.or_else(|| near().filter(|_| has_series).map(|_| Range::of(at, at + 1)));
            let is_money =
                prompt.is(List::Percent, at + 1) || prompt.is(List::Currency, at + 1) || prompt.is(List::Month, at + 1);
            if let Some(span) = span.filter(|span| !is_money && !prompt.has(List::Finite, *span)) {
                return self.constrain(ConstraintKind::Emails, Some(count.to_string()), span);
            }
        }
    }

    pub(super) fn constrain(&mut self, kind: ConstraintKind, value: Option<String>, range: Range) {
        let constraint = Constraint { kind, value, span: Some(self.prompt.span(range)) };
        if !self.fields.constraints.iter().any(|other| other.kind == kind && other.value == constraint.value) {
            self.fields.constraints.push(constraint);
        }
    }

    /// Reads a request for a language: "in German, please".
    pub(super) fn language(&mut self, range: Range, is_labeled: bool) -> bool {
        let prompt = self.prompt;
        let mut named = prompt.all(List::Language, range);
        let Some(mark) = named.next() else { return false };
        let is_version = |at: usize| prompt.is(List::Version, at) || prompt.is(List::Email, at);
        let names_version = mark.from == self.start(range) && (is_version(mark.to) || prompt.is(List::AudienceStart, mark.to))
            || mark.from == self.start(range) + 1 && is_version(self.start(range));
        // If another language follows, or if "and" and something other than a wish follow, the words describe an event or a person, not the
        // email.
        let next = prompt.end(List::And, mark.to).filter(|next| {
            let wishes = [List::Formal, List::Informal, List::Tone, List::NoteStart, List::Please];
            *next < range.to && !wishes.into_iter().any(|list| prompt.is(list, *next))
        });
        if !is_labeled && !names_version && (next.is_some() || named.any(|other| other.from > mark.to)) {
            return false;
        }
        let is_led = prompt.before(List::InLanguage, mark.from).is_some();
        let has_please = prompt.has(List::Please, range)
            || prompt.has(List::Please, Range::of(range.to, (range.to + 2).min(prompt.words.len())));
        let has_email = prompt.has(List::Email, range)
            || prompt.is(List::Write, self.start(range))
            || prompt.is(List::NoteStart, self.start(range));
        let next = mark.to;
        let is_other = |at: &usize| *at < mark.from || *at >= mark.to;
        let is_alone = range.len() <= 5
            && (range.from..range.to)
                .filter(is_other)
                .all(|at| self.is_fill(at) || is_version(at) || prompt.is(List::InLanguage, at));
        let near = Range::of(prompt.line_start(range.from).max(range.from.saturating_sub(8)), range.to + 3);
        let has_one = prompt.all(List::Language, near).all(|other| other.value == mark.value);
        let is_first = prompt.is(List::InLanguage, self.start(range)) && mark.from <= self.start(range) + 2;
        let is_short = range.len() <= SHORT_WORDS;
        let asks = is_labeled
            || names_version
                && !prompt.has(List::Finite, range)
                && !(range.from..range.to).any(|at| prompt.kind(at) == Kind::Number)
            || is_alone && has_one
            || is_led && is_first && has_please && prompt.is(List::AudienceStart, next)
            || is_led && is_short && (has_please || has_email || is_first && range.len() <= 4)
            || has_please && range.len() <= 3
            || is_led && is_first && range.from < 4
            || is_led && prompt.is(List::Write, self.start(range)) && prompt.has(List::Email, range);
        if asks {
            self.fields.language = Some(lexicons()[usize::from(mark.language)].language(mark.value).to_owned());
        }
        asks
    }
}
