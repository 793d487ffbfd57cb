//! Words within a small edit distance of what was typed, found by walking the term dictionary with an automaton instead of
//! comparing with every term. A neighbour transposition counts as one edit, and so does a wrong first character.

use std::sync::OnceLock;

use levenshtein_automata::{DFA, Distance, LevenshteinAutomatonBuilder, SINK_STATE};
use tantivy_fst::Automaton;

use super::tokens::{END, char_count};

/// Accepts words that begin, but for `edits` typing errors, as the typed word.
pub(super) struct Typo {
    dfa: DFA,
    pub(super) edits: u8,
}

impl Typo {
    /// None for words of up to three characters: nearly every short word is one edit from another.
    pub(super) fn of(word: &str) -> Option<Self> {
        static BUILDERS: OnceLock<[LevenshteinAutomatonBuilder; 2]> = OnceLock::new();
        let edits = match char_count(word) {
            0..=3 => return None,
            4..=7 => 1,
            _ => 2,
        };
        let builders = BUILDERS.get_or_init(|| [1, 2].map(|edits| LevenshteinAutomatonBuilder::new(edits, true)));
        Some(Self { dfa: builders[edits - 1].build_prefix_dfa(word), edits: edits as u8 })
    }

    /// The automaton for terms that begin with exactly `head`, followed by such a word.
    pub(super) fn behind<'a>(&'a self, head: &'a [u8]) -> impl Automaton<State = Step> + 'a {
        Behind { head, dfa: &self.dfa }
    }
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

    fn accepts(typed: &str, word: &str) -> bool {
        let typo = Typo::of(typed).expect("long enough");
        let automaton = typo.behind(b"ab");
        let step = format!("ab{word}\0").bytes().fold(automaton.start(), |step, byte| automaton.accept(&step, byte));
        automaton.is_match(&step)
    }

    #[test]
    fn forgives_one_edit_in_short_words_and_two_in_long_ones() {
        assert!(accepts("smiht", "smith") && accepts("xmith", "smith") && accepts("smth", "smith") && accepts("müler", "müller"));
        assert!(accepts("smiht", "smithson"), "what is typed may be the beginning of the word");
        assert!(!accepts("smiht", "snith") && !accepts("xmit", "smah"));
        assert!(accepts("johansonn", "johansson") && accepts("jihansen", "johanson"));
        assert!(!accepts("jixanzen", "johanson"));
    }

    #[test]
    fn forgives_nothing_in_very_short_words() {
        assert!(Typo::of("ann").is_none() && Typo::of("äöü").is_none() && Typo::of("anna").is_some());
    }
}
