//! Recognizes asides: fragments that state no facts for the recipients, such as what the email must not contain or why a note applies.

use super::classify::{Class, Classifier, Fragment};
use super::clauses::Sentence;
use super::facts::has_value;
use super::lexicon::List;
use super::prompt::Range;
use super::tokens::Kind;

/// The maximum number of words after "no" in a fragment that states what the email must not contain: "kein Zeigefinger".
const NEGATION_WORDS_MAX: usize = 6;

impl Classifier<'_> {
    /// Returns the class of a fragment if the fragment is an aside. `pieces` are the parts of the sentence before the fragment.
    pub(super) fn aside(&self, range: Range, start: usize, sentence: &Sentence, pieces: &[Fragment]) -> Option<Class> {
        let prompt = self.prompt;
        if has_value(self.prompt, range) {
            return None;
        }
        if self.is_in_square_brackets(range.from, sentence) || self.is_quoted_question(sentence) {
            return Some(Class::Unclear);
        }
        // English, French and Spanish asides are recognized with word lists instead.
        if matches!(prompt.lexicon().code, "en" | "fr" | "es") {
            return None;
        }
        let last = pieces.last();
        let is_open = range.from > 0 && prompt.fold(range.from - 1) == ":";
        // A negative note, such as "no discount", describes the offer, and the next fragment can continue the description.
        let is_about_offer = |piece: &Fragment| {
            let start = self.start(piece.range);
            let end = self.inner(piece.range).to;
            prompt.is(List::Without, start) && prompt.at(List::NoteWhole, start).any(|mark| mark.to >= end)
        };
        let note = last.filter(|piece| piece.class == Class::Note && !is_open);
        let follows =
            note.is_some_and(|note| !is_about_offer(note)) || !is_open && last.is_some_and(|piece| piece.class == Class::Unclear);
        let has_content = pieces.iter().any(|piece| piece.class == Class::Content);
        if self.is_negation(range, start) {
            if note.is_some() {
                return Some(Class::Note);
            }
            let denies = |fragment: &Range| {
                let (rest, start) = (self.inner(*fragment), self.start(*fragment));
                rest.len() <= 1 || prompt.is(List::Without, start) && !prompt.has(List::Finite, rest)
            };
            let is_alone = prompt.has(List::Craft, range)
                || sentence.fragments.iter().filter(|fragment| fragment.from >= range.to).all(denies);
            return (!has_content && is_alone || follows).then_some(Class::Unclear);
        }
        // A remark can omit its subject: "explain that, is no discount of ours".
        let is_cut = !has_content
            && last.is_some()
            && !is_open
            && prompt.is(List::Finite, start)
            && prompt.fold(sentence.range.to - 1) != "?";
        if is_cut {
            return Some(Class::Unclear);
        }
        follows.then_some(Class::Unclear)
    }

    /// Returns whether a word is in square brackets, which people use for notes to each other.
    fn is_in_square_brackets(&self, at: usize, sentence: &Sentence) -> bool {
        let sign = (sentence.range.from..at).rev().map(|at| self.prompt.fold(at)).find(|word| matches!(*word, "[" | "]"));
        sign == Some("[")
    }

    fn is_quoted_question(&self, sentence: &Sentence) -> bool {
        let Range { from, to } = sentence.range;
        self.prompt.fold(self.prompt.line_start(from)) == ">" && self.prompt.fold(to - 1) == "?"
    }

    /// Splits a sentence that starts with an HTML comment into a note (the comment) and content (the words after the comment).
    pub(super) fn after_comment(&self, range: Range) -> Vec<Fragment> {
        let prompt = self.prompt;
        let is_end = |at: &usize| prompt.fold(*at) == ">" && prompt.fold(at - 1) == "-" && prompt.words.is_glued(*at);
        let end = (range.from + 1..range.to).rev().find(is_end).map_or(range.to, |at| at + 1);
        let note = Fragment { range: Range::of(range.from, end), class: Class::Note };
        let rest = Fragment { range: Range::of(end, range.to), class: Class::Content };
        std::iter::once(note).chain((!rest.range.is_empty()).then_some(rest)).collect()
    }

    /// Returns the end of a greeting that contains a name, if a request follows: "hi meike kannst du …".
    pub(super) fn named_greeting(&self, at: usize) -> Option<usize> {
        let name = self.prompt.end(List::Greeting, at).filter(|_| self.prompt.line_start(at) == at)?;
        let asks = [List::NoteStart, List::Write, List::Ask].into_iter().any(|list| self.prompt.is(list, name + 1));
        (asks && self.prompt.kind(name) == Kind::Word).then_some(name + 1)
    }

    /// Returns whether a fragment consists only of "no" and a noun, without a verb or an adjective: "kein Kitsch", but not "keine Anmeldung
    /// nötig" or "KEINE Schuhe".
    fn is_negation(&self, range: Range, start: usize) -> bool {
        let prompt = self.prompt;
        let Some(end) = prompt.end(List::Without, start).filter(|end| *end < range.to) else { return false };
        let words = || (end..range.to).filter(|at| prompt.kind(*at) == Kind::Word);
        let count = words().count();
        let is_shouted = prompt.raw(start).chars().count() > 2 && prompt.raw(start).chars().all(char::is_uppercase);
        let is_noun = |at: usize| prompt.words.is_capital(at) || prompt.is_quote(at);
        let ends_in_noun = prompt.lexicon().code != "de" || count == 1 || is_noun(range.to - 1) || prompt.has(List::Craft, range);
        (1..=NEGATION_WORDS_MAX).contains(&count) && !is_shouted && ends_in_noun && !prompt.has(List::Finite, range)
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use crate::features::emails::brief::parse::parse;
    use crate::features::projects::brand::Brand;

    fn read(prompt: &str) -> (String, String) {
        let brief = parse(prompt, &Brand::default(), None, date(2026, 11, 16));
        let facts: Vec<&str> = brief.facts.iter().map(|fact| fact.text.as_str()).collect();
        let unclear: Vec<&str> = brief.unclear.iter().map(|part| part.text.as_str()).collect();
        (facts.join("|"), unclear.join("|"))
    }

    #[test]
    fn what_the_email_must_not_have_is_unclear() {
        let (facts, unclear) = read("Wir laden unsere Gäste am 3. Dezember zum Essen ein. Kein Zeigefinger!");
        assert!(!facts.contains("Zeigefinger") && unclear.contains("Zeigefinger"), "{facts} {unclear}");
        let (facts, _) = read("Wir laden unsere Gäste am 3. Dezember zum Essen ein. Keine Anmeldung nötig.");
        assert!(facts.contains("Keine Anmeldung nötig"), "{facts}");
    }

    #[test]
    fn notes_in_square_brackets_are_unclear() {
        let (facts, unclear) = read("Wir ziehen am 30. November um. [Aylin: Parkplätze noch nachfragen] Der Aufzug geht.");
        assert!(!facts.contains("Parkplätze") && unclear.contains("Parkplätze") && facts.contains("Aufzug"), "{facts} {unclear}");
    }
}
