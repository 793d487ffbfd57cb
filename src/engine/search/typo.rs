//! Words within a small edit distance of what was typed, found by walking the term dictionary with an automaton instead of
//! comparing with every term. A neighbour transposition counts as one edit, and so does a wrong first character.

use std::sync::OnceLock;

use levenshtein_automata::{DFA, Distance, LevenshteinAutomatonBuilder, SINK_STATE};
use tantivy_fst::Automaton;

use super::tokens::{END, char_count};

/// Accepts words that are, but for up to `edits` typing errors, the typed word.
pub(super) struct Typo {
    dfa: DFA,
    pub(super) edits: u8,
}

impl Typo {
    /// Whole words: one error in words of four to seven characters, two in longer ones. None for shorter ones: nearly every
    /// short word is one edit from another.
    pub(super) fn of_word(word: &str) -> Option<Self> {
        let edits = allowed(word)?;
        Some(Self { dfa: builder(edits).build_dfa(word), edits })
    }

    /// Words of which `word` may be the beginning. One error only: with two, the last typed characters would not count at all.
    pub(super) fn of_beginning(word: &str) -> Option<Self> {
        allowed(word)?;
        Some(Self { dfa: builder(1).build_prefix_dfa(word), edits: 1 })
    }

    /// The automaton for terms that begin with exactly `head`, followed by such a word.
    pub(super) fn behind<'a>(&'a self, head: &'a [u8]) -> impl Automaton<State = Step> + 'a {
        Behind { head, dfa: &self.dfa }
    }
}

/// Errors forgiven in `word`.
fn allowed(word: &str) -> Option<u8> {
    match char_count(word) {
        0..=3 => None,
        4..=7 => Some(1),
        _ => Some(2),
    }
}

/// The tables for so many errors: a few milliseconds to make, so made once.
fn builder(edits: u8) -> &'static LevenshteinAutomatonBuilder {
    static BUILDERS: OnceLock<[LevenshteinAutomatonBuilder; 2]> = OnceLock::new();
    let builders = BUILDERS.get_or_init(|| [1, 2].map(|edits| LevenshteinAutomatonBuilder::new(edits, true)));
    &builders[usize::from(edits) - 1]
}

struct Behind<'a> {
    head: &'a [u8],
    dfa: &'a DFA,
}

/// How far a term has been read.
#[derive(Clone, Copy)]
pub(super) enum Step {
    Head(usize),
    Word(u32),
    Lost,
}

impl Behind<'_> {
    fn behind_head(&self, read: usize) -> Step {
        if read == self.head.len() { Step::Word(self.dfa.initial_state()) } else { Step::Head(read) }
    }
}

impl Automaton for Behind<'_> {
    type State = Step;

    fn start(&self) -> Step {
        self.behind_head(0)
    }

    fn is_match(&self, step: &Step) -> bool {
        matches!(step, Step::Word(state) if matches!(self.dfa.distance(*state), Distance::Exact(_)))
    }

    fn can_match(&self, step: &Step) -> bool {
        !matches!(step, Step::Lost)
    }

    fn accept(&self, step: &Step, byte: u8) -> Step {
        match *step {
            Step::Head(read) if self.head[read] == byte => self.behind_head(read + 1),
            // The mark behind a whole word is no character of it.
            Step::Word(state) if byte == END => Step::Word(state),
            Step::Word(state) => match self.dfa.transition(state, byte) {
                SINK_STATE => Step::Lost,
                next => Step::Word(next),
            },
            Step::Head(_) | Step::Lost => Step::Lost,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(typo: Option<Typo>, word: &str) -> bool {
        let typo = typo.expect("long enough");
        let automaton = typo.behind(b"ab");
        let step = format!("ab{word}\0").bytes().fold(automaton.start(), |step, byte| automaton.accept(&step, byte));
        automaton.is_match(&step)
    }

    #[test]
    fn forgives_one_edit_in_short_words_and_two_in_long_ones() {
        for (typed, word) in [("smiht", "smith"), ("xmith", "smith"), ("smth", "smith"), ("müler", "müller")] {
            assert!(accepts(Typo::of_word(typed), word), "{typed}");
        }
        assert!(!accepts(Typo::of_word("smiht"), "snith") && !accepts(Typo::of_word("smiht"), "smithson"));
        assert!(accepts(Typo::of_word("johansonn"), "johansson") && accepts(Typo::of_word("jihansen"), "johanson"));
        assert!(!accepts(Typo::of_word("jixanzen"), "johanson"));
    }

    #[test]
    fn forgives_one_edit_in_the_beginning_of_a_word() {
        assert!(accepts(Typo::of_beginning("smiht"), "smithson") && accepts(Typo::of_beginning("jihanss"), "johansson"));
        assert!(!accepts(Typo::of_beginning("johanxx"), "johansson"));
    }

    #[test]
    fn forgives_nothing_in_very_short_words() {
        for word in ["ann", "äöü"] {
            assert!(Typo::of_word(word).is_none() && Typo::of_beginning(word).is_none());
        }
        assert!(Typo::of_word("anna").is_some());
    }
}
