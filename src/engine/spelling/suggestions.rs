//! Suggests corrections for unknown words, most likely first.
//!
//! Most mistakes are a single slip: a letter is missing, added, replaced, or swapped with its neighbor. The candidates one or two slips
//! away are looked up and ranked by how common the slips are. Hunspell's own suggestions would take many times longer.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::dictionaries::Dictionary;

/// The maximum number of suggestions per finding.
pub(super) const SUGGESTIONS_MAX: usize = 5;

/// The maximum number of distinct words per check for which suggestions are searched.
const WORDS_MAX: usize = 50;

/// The maximum length of a word that gets suggestions; longer words have too many candidates.
const CHARACTERS_MAX: usize = 24;

/// Common English words, which are preferred as corrections.
static COMMON: LazyLock<std::collections::HashSet<&str>> = LazyLock::new(|| {
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/spelling/common-words.txt"))
        .lines()
        .filter(|line| !line.starts_with('#'))
        .flat_map(str::split_whitespace)
        .collect()
});

/// A known word that is similar to an unknown word.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Candidate {
    pub word: String,
    /// The number of letters that differ; swapped neighbors count as one.
    pub distance: usize,
    cost: f32,
}

/// Searches for suggestions during a check, and limits the number of searches.
pub(super) struct Suggester {
    known: HashMap<(String, String), Vec<Candidate>>,
    words_left: usize,
}

impl Suggester {
    pub fn new() -> Self {
        Self { known: HashMap::new(), words_left: WORDS_MAX }
    }

    /// Returns the candidates for a lowercase word, best first, or `None` if the check has already searched for the maximum number of
    /// words.
    pub fn candidates(&mut self, dictionary: &Dictionary, word: &str) -> Option<&[Candidate]> {
        let key = (dictionary.name().to_owned(), word.to_owned());
        if !self.known.contains_key(&key) {
            self.words_left = self.words_left.checked_sub(1)?;
            self.known.insert(key.clone(), near(dictionary, word));
        }
        self.known.get(&key).map(Vec::as_slice)
    }
}

/// Returns known words that are one or two slips away.
fn near(dictionary: &Dictionary, word: &str) -> Vec<Candidate> {
    let letters: Vec<char> = word.chars().collect();
    if letters.len() < 2 || letters.len() > CHARACTERS_MAX {
        return Vec::new();
    }
    let alphabet = alphabet(dictionary.name());
    let mut search = Search { dictionary, alphabet: &alphabet, found: HashMap::new(), word };
    search.try_edits(&letters, 0.0, 1);
    search.try_splits(&letters);
    if search.found.is_empty() && letters.len() >= 5 {
        // Words that are two slips away are found only if the first slip is a common one.
        for (changed, cost) in common_slips(&letters) {
            search.try_edits(&changed, cost, 2);
        }
    }
    let mut found: Vec<_> = search.found.into_values().collect();
    found.sort_by(|a, b| a.cost.total_cmp(&b.cost).then_with(|| a.word.cmp(&b.word)));
    found.truncate(SUGGESTIONS_MAX);
    found
}

struct Search<'s> {
    dictionary: &'s Dictionary,
    alphabet: &'s [char],
    found: HashMap<String, Candidate>,
    word: &'s str,
}

impl Search<'_> {
    fn offer(&mut self, letters: &[char], cost: f32, distance: usize) {
        let word: String = letters.iter().collect();
        if word == self.word || word.starts_with('\'') || word.ends_with('\'') {
            return;
        }
        if let Some(present) = self.found.get_mut(&word) {
            present.cost = present.cost.min(cost);
            return;
        }
        let (word, proper) = if self.dictionary.has(&word) {
            (word, false)
        } else {
            // A misspelled name, such as "wendesday" for "Wednesday", must be one slip away from the name.
            if distance > 1 {
                return;
            }
            let name = super::rules::capitalized(&word);
            if !self.dictionary.has(&name) {
                return;
            }
            (name, true)
        };
        let bonus = if COMMON.contains(word.as_str()) && self.dictionary.name().starts_with("en") { -0.6 } else { 0.0 };
        let penalty = if proper { 0.7 } else { 0.0 };
        let key = word.to_lowercase();
        let candidate = Candidate { word, distance, cost: cost + bonus + penalty };
        let entry = self.found.entry(key).or_insert_with(|| candidate.clone());
        if candidate.cost < entry.cost {
            *entry = candidate;
        }
    }

    /// Offers all words one slip away from `letters`. `cost` is the cost of the slips so far.
    fn try_edits(&mut self, letters: &[char], cost: f32, distance: usize) {
        for (changed, slip) in common_slips(letters) {
            self.offer(&changed, cost + slip, distance);
        }
        for at in 0..=letters.len() {
            // The first letter of a word is rarely wrong.
            let first = if at == 0 { 0.5 } else { 0.0 };
            for letter in self.alphabet.iter().copied() {
                let mut inserted = letters.to_vec();
                inserted.insert(at, letter);
                let slip = if letter == '\'' { 0.7 } else { 1.2 };
                self.offer(&inserted, cost + slip + first, distance);
                let mut replaced = letters.to_vec();
                let Some(place) = replaced.get_mut(at).filter(|place| **place != letter) else { continue };
                let slip = replacement_cost(*place, letter);
                *place = letter;
                self.offer(&replaced, cost + slip + first, distance);
            }
        }
    }

    /// Offers two words if a space is probably missing: "infact".
    fn try_splits(&mut self, letters: &[char]) {
        for at in 1..letters.len() {
            let (left, right): (String, String) = (letters.iter().take(at).collect(), letters.iter().skip(at).collect());
            let long = |part: &str| part.chars().count() > 1 || part == "a";
            let likely = COMMON.contains(left.as_str()) && COMMON.contains(right.as_str())
                || self.dictionary.name().starts_with("en_") && left == "a";
            if likely && long(&left) && long(&right) && self.dictionary.has(&left) && self.dictionary.has(&right) {
                let word = format!("{left} {right}");
                self.found.insert(word.clone(), Candidate { word, distance: 1, cost: if left == "a" { 0.1 } else { 1.4 } });
            }
        }
    }
}

/// Undoes each of the most common slips (swapped neighbors, a letter doubled or not doubled, an extra letter, a wrong vowel), and returns
/// the results with their costs.
fn common_slips(letters: &[char]) -> Vec<(Vec<char>, f32)> {
    let mut found = Vec::new();
    for at in 0..letters.len() {
        let (Some(letter), next) = (letters.get(at).copied(), letters.get(at + 1).copied()) else { continue };
        let first = if at == 0 { 0.5 } else { 0.0 };
        if next.is_some_and(|next| next != letter) {
            let mut swapped = letters.to_vec();
            swapped.swap(at, at + 1);
            found.push((swapped, 0.9 + first));
        }
        let mut removed = letters.to_vec();
        removed.remove(at);
        found.push((removed, if next == Some(letter) { 0.8 } else { 1.2 + first }));
        if letter.is_alphabetic() && next != Some(letter) && at.checked_sub(1).and_then(|at| letters.get(at)) != Some(&letter) {
            let mut doubled = letters.to_vec();
            doubled.insert(at, letter);
            found.push((doubled, 0.8 + first));
        }
        if VOWELS.contains(&letter) {
            for vowel in VOWELS.into_iter().filter(|vowel| *vowel != letter) {
                let mut replaced = letters.to_vec();
                if let Some(place) = replaced.get_mut(at) {
                    *place = vowel;
                }
                found.push((replaced, 1.0 + first));
            }
        }
    }
    found
}

const VOWELS: [char; 5] = ['a', 'e', 'i', 'o', 'u'];

/// The rows of a keyboard, whose neighboring keys are often confused.
const KEYBOARD: [&str; 3] = ["qwertyuiop", "asdfghjkl", "zxcvbnm"];

fn replacement_cost(from: char, to: char) -> f32 {
    if unaccented(from) == unaccented(to) {
        return 0.6;
    }
    if VOWELS.contains(&from) && VOWELS.contains(&to) {
        return 1.0;
    }
    let neighbors = KEYBOARD.iter().any(|row| match (row.find(from), row.find(to)) {
        (Some(a), Some(b)) => a.abs_diff(b) == 1,
        _ => false,
    });
    if neighbors || [from, to] == ['s', 'c'] || [from, to] == ['c', 's'] || [from, to] == ['s', 'z'] || [from, to] == ['z', 's'] {
        1.2
    } else {
        1.5
    }
}

fn unaccented(letter: char) -> char {
    match letter {
        'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' | 'ą' => 'a',
        'è' | 'é' | 'ê' | 'ë' | 'ę' => 'e',
        'ì' | 'í' | 'î' | 'ï' => 'i',
        'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ø' => 'o',
        'ù' | 'ú' | 'û' | 'ü' => 'u',
        'ç' | 'ć' => 'c',
        'ñ' | 'ń' => 'n',
        'ł' => 'l',
        'ś' => 's',
        'ź' | 'ż' => 'z',
        'ё' => 'е',
        other => other,
    }
}

fn alphabet(dictionary: &str) -> Vec<char> {
    let latin = "abcdefghijklmnopqrstuvwxyz";
    let letters = match dictionary.get(..2).unwrap_or_default() {
        "en" => "abcdefghijklmnopqrstuvwxyz'".to_owned(),
        "de" => format!("{latin}äöüß"),
        "nl" => format!("{latin}'ëéèïöü"),
        "fr" => format!("{latin}'éèêàâçîïôùûëœ"),
        "es" => format!("{latin}áéíóúñü"),
        "pt" => format!("{latin}áâãàçéêíóôõú"),
        "it" => format!("{latin}'àèéìòù"),
        "da" | "nb" => format!("{latin}æøåé"),
        "sv" => format!("{latin}åäöé"),
        "pl" => format!("{latin}ąćęłńóśźż"),
        "ru" => "абвгдеёжзийклмнопрстуфхцчшщъыьэюя".to_owned(),
        _ => latin.to_owned(),
    };
    letters.chars().collect()
}

/// Returns the number of letters that must be added, removed, replaced, or swapped with a neighbor to turn `a` into `b`. Used only for
/// short words.
pub(super) fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for (i, letter) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, other) in b.iter().enumerate() {
            let at = |back: usize, column: usize| rows.get((i + 1).wrapping_sub(back)).and_then(|row| row.get(column)).copied();
            let replaced = at(1, j).unwrap_or(usize::MAX - 1) + usize::from(letter != other);
            let removed = at(1, j + 1).unwrap_or(usize::MAX - 1) + 1;
            let added = row.get(j).copied().unwrap_or(usize::MAX - 1) + 1;
            let mut best = replaced.min(removed).min(added);
            let before = |letters: &[char], at: usize| at.checked_sub(1).and_then(|at| letters.get(at)).copied();
            if i > 0 && j > 0 && before(&a, i) == Some(*other) && before(&b, j) == Some(*letter) {
                best = best.min(at(2, j - 1).unwrap_or(usize::MAX - 1) + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows.last().and_then(|row| row.last()).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::dictionaries::Dictionaries;
    use super::*;

    #[test]
    fn the_intended_word_comes_first() {
        let dictionaries = Dictionaries::new(None, 1);
        let english = dictionaries.get("en", 0).expect("English");
        let mut suggester = Suggester::new();
        for (wrong, right) in [
            ("recieve", "receive"),
            ("teh", "the"),
            ("dont", "don't"),
            ("definately", "definitely"),
            ("accomodate", "accommodate"),
            ("seperate", "separate"),
            ("occured", "occurred"),
            ("tommorow", "tomorrow"),
            ("wendesday", "Wednesday"),
            ("calender", "calendar"),
            ("alot", "a lot"),
            ("garantee", "guarantee"),
            ("collectoin", "collection"),
            ("shiping", "shipping"),
            ("discoutn", "discount"),
            ("buisness", "business"),
            ("custmer", "customer"),
            ("exlusive", "exclusive"),
            ("neccessary", "necessary"),
            ("qualtiy", "quality"),
        ] {
            let found = suggester.candidates(&english, wrong).expect("a budget");
            assert_eq!(found.first().map(|first| first.word.as_str()), Some(right), "{wrong}: {found:?}");
        }
    }

    #[test]
    fn the_number_of_words_is_limited() {
        let english = Dictionaries::new(None, 1).get("en", 0).expect("English");
        let mut suggester = Suggester::new();
        let answered =
            (0..80).filter(|n| suggester.candidates(&english, &format!("qx{}", "z".repeat(*n % 20 + 30 + n / 20))).is_some());
        assert!(answered.count() <= WORDS_MAX + 30);
        assert!(suggester.words_left == 0 || suggester.known.len() <= WORDS_MAX);
    }

    #[test]
    fn distances_count_swaps_as_one() {
        for (a, b, expected) in [("", "ab", 2), ("abc", "abc", 0), ("teh", "the", 1), ("kitten", "sitting", 3), ("ca", "abc", 3)]
        {
            assert_eq!(distance(a, b), expected, "{a} {b}");
        }
    }
}
