//! Finds words within a small edit distance of the typed word by walking the term dictionary with an automaton instead of comparing
//! every term. A transposition of neighboring characters is one edit, and so is a wrong first character. `query.rs` decides when a
//! search tolerates typos: only if the text as typed has few matches, and none of them matches whole words or prefixes.

use std::sync::OnceLock;

use levenshtein_automata::{DFA, Distance, LevenshteinAutomatonBuilder, SINK_STATE};
use tantivy_fst::Automaton;

use super::fold::cut;
use super::tokens::{END, char_count};

/// Accepts words that differ from the typed word by at most `edits` typing errors.
pub(super) struct Typo<'w> {
    dfa: DFA,
    pub(super) edits: usize,
    /// The start of the typed word that must match exactly; empty if typos are tolerated there too.
    pub(super) first: &'w str,
    /// Whether the typed word may be a prefix of a longer word.
    is_prefix: bool,
}

impl<'w> Typo<'w> {
    /// Returns the automata for the typing errors to tolerate in `word`. In words of at least four characters, one error is tolerated at
    /// any position, and also in a prefix of a longer word if `is_prefix`. In words of at least eight characters, two errors are tolerated,
    /// but only in whole words and not in the first character: other searches would visit most of the upper levels of the dictionary. No
    /// error is tolerated in words of up to three characters, because nearly every short word is one error away from another.
    pub(super) fn all(word: &'w str, is_prefix: bool) -> Vec<Self> {
        let chars = char_count(word);
        if chars < 4 {
            return Vec::new();
        }
        let dfa = if is_prefix { builder(1).build_prefix_dfa(word) } else { builder(1).build_dfa(word) };
        let mut typos = vec![Self { dfa, edits: 1, first: "", is_prefix }];
        if chars >= 8 {
            let first = cut(word, 1);
            typos.push(Self { dfa: builder(2).build_dfa(&word[first.len()..]), edits: 2, first, is_prefix: false });
        }
        typos
    }

    /// Returns the automaton for terms that start with exactly `head`, followed by a word that `self` accepts.
    pub(super) fn behind<'a>(&'a self, head: &'a [u8]) -> impl Automaton<State = Step> + 'a {
        AfterPrefix { head, dfa: &self.dfa, is_prefix: self.is_prefix }
    }
}

/// Returns the tables for this many errors. They take a few milliseconds to build, so they are built only once.
fn builder(edits: usize) -> &'static LevenshteinAutomatonBuilder {
    static BUILDERS: OnceLock<[LevenshteinAutomatonBuilder; 2]> = OnceLock::new();
    let builders = BUILDERS.get_or_init(|| [1, 2].map(|edits: u8| LevenshteinAutomatonBuilder::new(edits, true)));
    &builders[edits - 1]
}

struct AfterPrefix<'a> {
    head: &'a [u8],
    dfa: &'a DFA,
    is_prefix: bool,
}

/// The state of the automaton while it reads a term.
#[derive(Clone, Copy)]
pub(super) enum Step {
    Head(usize),
    Word(u32),
    /// The automaton has read the byte that ends a whole word.
    Ended(u32),
    Lost,
}

impl AfterPrefix<'_> {
    fn behind_head(&self, read: usize) -> Step {
        if read == self.head.len() { Step::Word(self.dfa.initial_state()) } else { Step::Head(read) }
    }
}

impl Automaton for AfterPrefix<'_> {
    type State = Step;

    fn start(&self) -> Step {
        self.behind_head(0)
    }

    fn is_match(&self, step: &Step) -> bool {
        let near = |state: &u32| matches!(self.dfa.distance(*state), Distance::Exact(_));
        match step {
            Step::Ended(state) => near(state),
            // A term with only the prefix of a word matches only if the typed word may be a prefix.
            Step::Word(state) => self.is_prefix && near(state),
            Step::Head(_) | Step::Lost => false,
        }
    }

    fn can_match(&self, step: &Step) -> bool {
        !matches!(step, Step::Lost)
    }

    fn accept(&self, step: &Step, byte: u8) -> Step {
        match *step {
            Step::Head(read) if self.head[read] == byte => self.behind_head(read + 1),
            Step::Word(state) if byte == END => Step::Ended(state),
            Step::Word(state) => match self.dfa.transition(state, byte) {
                SINK_STATE => Step::Lost,
                next => Step::Word(next),
            },
            Step::Head(_) | Step::Ended(_) | Step::Lost => Step::Lost,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(typed: &str, is_prefix: bool, word: &str) -> bool {
        Typo::all(typed, is_prefix).iter().any(|typo| {
            let head = format!("ab{}", typo.first);
            let automaton = typo.behind(head.as_bytes());
            let step = format!("ab{word}").bytes().fold(automaton.start(), |step, byte| automaton.accept(&step, byte));
            automaton.is_match(&step)
        })
    }

    #[test]
    fn tolerates_one_edit_in_short_words_and_two_in_long_ones() {
        for (typed, word) in
            [("smiht", "smith"), ("xmith", "smith"), ("smth", "smith"), ("müler", "müller"), ("oj-hanson", "jo-hanson")]
        {
            assert!(accepts(typed, false, &format!("{word}\0")), "{typed}");
        }
        assert!(!accepts("smiht", false, "snith\0") && !accepts("smiht", false, "smithson\0"));
        assert!(accepts("johansonn", false, "johansson\0") && accepts("jihansen", false, "johanson\0"));
        assert!(!accepts("jixanzen", false, "johanson\0") && !accepts("xihanson", false, "johanson\0"));
    }

    #[test]
    fn tolerates_one_edit_in_the_prefix_of_a_word_or_of_a_truncated_one() {
        assert!(accepts("smiht", true, "smithson\0") && accepts("jihanss", true, "johansson\0"));
        assert!(accepts("smiht", true, "smith") && !accepts("smiht", false, "smith"));
        assert!(!accepts("johanxx", true, "johansson\0"));
    }

    #[test]
    fn tolerates_nothing_in_very_short_words() {
        assert!(Typo::all("ann", true).is_empty() && Typo::all("äöü", true).is_empty());
        assert_eq!(Typo::all("anna", true).len(), 1);
    }
}
