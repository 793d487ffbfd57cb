//! Selects a phrase for a key and fills the phrase with facts.
//!
//! Invariant: a phrase is used only if all of its facts are known, so no email has a gap or a placeholder.

use std::collections::BTreeMap;

use super::language::{Bank, Language};
use super::rules::Rules;
use super::text::capital;
use super::voice::{Sentences, Voice};
use crate::features::projects::brand::BrandPerson;

/// The facts of an email, keyed by their names in phrases.
pub type Facts = BTreeMap<&'static str, String>;

/// Phrases in one language and voice, filled with the facts of one email.
pub struct Phrasebook {
    language: Language,
    region: Option<String>,
    voice: Voice,
    seed: u64,
    pub facts: Facts,
    /// The key of the season that the email is about.
    pub season: Option<String>,
    pub rules: Rules,
    /// The words that the brand avoids. Phrases without them are preferred.
    pub avoided: Rules,
    /// The phrases that the email already contains. They are repeated only if there is no alternative.
    used: Vec<String>,
}

/// The markup to use for facts in a phrase.
#[derive(Clone, Copy, PartialEq)]
enum Marks {
    None,
    /// Facts that recipients look for are in bold type.
    Bold,
}

/// The names of the facts that are in bold type in running text, because recipients look for them.
const BOLD: [&str; 6] = ["code", "deal", "ends", "when", "order_by", "starts"];
/// The facts that almost every email has. They do not count when the phrase with the most facts is selected.
const EVERYWHERE: [&str; 2] = ["brand", "de:brand"];

impl Phrasebook {
    pub fn new(language: Language, region: Option<&str>, voice: Voice, seed: u64, facts: Facts) -> Self {
        let region = region.map(str::to_owned);
        Self {
            language,
            region,
            voice,
            seed,
            facts,
            season: None,
            rules: Rules::default(),
            avoided: Rules::default(),
            used: Vec::new(),
        }
    }

    pub fn bank(&self) -> &'static Bank {
        Bank::of(self.language)
    }

    pub fn has(&self, place: &str) -> bool {
        !self.bank().phrases(place).is_empty()
    }

    /// Returns a filled phrase for a key, if the facts fill one of the key's phrases.
    pub fn line(&mut self, place: &str) -> Option<String> {
        self.choose(place, Marks::None, usize::MAX)
    }

    /// Returns a filled phrase for a key. The phrase has at most `characters_max` characters.
    pub fn line_within(&mut self, place: &str, characters_max: usize) -> Option<String> {
        self.choose(place, Marks::None, characters_max)
    }

    /// Returns the filled phrase for a key that contains the most facts. The phrase has at most `preferred` characters if possible, and
    /// never more than `characters_max`.
    pub fn news(&mut self, place: &str, preferred: usize, characters_max: usize) -> Option<String> {
        let filled = self.bank().phrases(place).iter().filter_map(|phrase| self.fill(phrase, Marks::None));
        let mut candidates: Vec<(String, usize)> = filled.filter(|(text, _)| self.rules.allow(text)).collect();
        candidates.retain(|(text, _)| text.chars().count() <= characters_max);
        if candidates.iter().any(|(text, facts)| *facts > 0 && text.chars().count() <= preferred) {
            candidates.retain(|(text, _)| text.chars().count() <= preferred);
        }
        let most = candidates.iter().map(|(_, facts)| *facts).max()?;
        candidates.retain(|(_, facts)| *facts == most);
        self.prefer(&mut candidates, |book, text| book.avoided.allow(text));
        self.prefer(&mut candidates, |_, text| text.chars().count() <= preferred);
        self.prefer(&mut candidates, |book, text| !book.is_said(text));
        if self.voice.person != BrandPerson::We {
            self.prefer(&mut candidates, |book, text| !book.speaks_as_we(text));
        }
        let (text, _) = candidates.swap_remove(self.pick(place, candidates.len()));
        self.used.push(super::tokens::plain(&text));
        Some(text)
    }

    /// Returns a filled phrase for a key as markup, with the facts that recipients look for in bold.
    pub fn text(&mut self, place: &str) -> Option<String> {
        self.choose(place, Marks::Bold, usize::MAX)
    }

    /// Returns the label for a key. The label never varies: it is the key's first phrase.
    pub fn label(&self, place: &str) -> String {
        self.bank().phrases(place).first().map_or_else(String::new, |phrase| self.finish(self.formed(phrase)))
    }

    /// Returns every phrase of a key, filled with facts, if the facts fill all of them.
    pub fn all(&self, place: &str) -> Option<Vec<String>> {
        let phrases = self.bank().phrases(place);
        let filled: Option<Vec<String>> =
            phrases.iter().map(|phrase| self.fill(phrase, Marks::Bold).map(|(text, _)| text)).collect();
        filled.filter(|phrases| !phrases.is_empty())
    }

    /// Returns a number below `count` that depends only on the seed and the key.
    pub fn pick(&self, place: &str, count: usize) -> usize {
        if count == 0 { 0 } else { (mix(self.seed, place) % count as u64) as usize }
    }

    fn choose(&mut self, place: &str, marks: Marks, characters_max: usize) -> Option<String> {
        let bank = self.bank();
        let filled = bank.phrases(place).iter().filter_map(|phrase| self.fill(phrase, marks));
        let mut candidates: Vec<(String, usize)> =
            filled.filter(|(text, _)| text.chars().count() <= characters_max && self.rules.allow(text)).collect();
        let most = candidates.iter().map(|(_, facts)| *facts).max()?;
        // Phrases with one fact fewer than the best are also candidates; otherwise, one set of facts would always get the same phrase.
        candidates.retain(|(_, facts)| *facts == most || (*facts + 1 == most && *facts > 0));
        self.prefer(&mut candidates, |book, text| book.avoided.allow(text));
        self.prefer(&mut candidates, |book, text| !book.is_said(text));
        if self.voice.person != BrandPerson::We {
            self.prefer(&mut candidates, |book, text| !book.speaks_as_we(text));
        }
        self.prefer_length(&mut candidates);
        let (text, _) = candidates.swap_remove(self.pick(place, candidates.len()));
        self.used.push(super::tokens::plain(&text));
        Some(text)
    }

    /// Keeps only the preferred candidates, if there are any.
    fn prefer(&self, candidates: &mut Vec<(String, usize)>, is_good: impl Fn(&Self, &str) -> bool) {
        if candidates.iter().any(|(text, _)| is_good(self, text)) {
            candidates.retain(|(text, _)| is_good(self, text));
        }
    }

    /// Prefers shorter phrases for a brand with short sentences, and longer phrases for a brand with long sentences.
    fn prefer_length(&self, candidates: &mut Vec<(String, usize)>) {
        let kept = candidates.len().div_ceil(3) * 2;
        if candidates.len() < 4 || kept >= candidates.len() || self.voice.sentences == Sentences::Any {
            return;
        }
        candidates.sort_by_key(|(text, _)| text.chars().count());
        if self.voice.sentences == Sentences::Long {
            candidates.reverse();
        }
        candidates.truncate(kept);
    }

    fn is_said(&self, text: &str) -> bool {
        let text = super::tokens::plain(text);
        let bare = text.trim_end_matches(['.', '!', '?']);
        self.used
            .iter()
            .any(|used| used.contains(bare) || (used.len() > 8 && bare.contains(used.trim_end_matches(['.', '!', '?']))))
    }

    fn speaks_as_we(&self, text: &str) -> bool {
        let words = text.split(|c: char| !(c.is_alphabetic() || matches!(c, '\'' | '’')));
        words.into_iter().any(|word| self.language.first_person().contains(&word.to_lowercase().replace('’', "'").as_str()))
    }

    /// Returns this phrase filled with its facts. If `is_markup` is true, the facts that recipients look for are in bold.
    pub fn filled(&self, phrase: &str, is_markup: bool) -> Option<String> {
        self.fill(phrase, if is_markup { Marks::Bold } else { Marks::None }).map(|(text, _)| text)
    }

    /// Returns a phrase filled with facts, and the number of these facts without those in [`EVERYWHERE`]. Returns `None` if a fact is
    /// unknown or a condition in the phrase is not met.
    fn fill(&self, phrase: &str, marks: Marks) -> Option<(String, usize)> {
        let phrase = self.formed(phrase);
        let mut out = String::with_capacity(phrase.len() + 16);
        let mut facts = 0;
        let mut rest = phrase.as_str();
        while let Some(open) = rest.find('{') {
            out.push_str(&rest[..open]);
            let close = rest[open..].find('}').map(|close| open + close)?;
            let name = &rest[open + 1..close];
            rest = &rest[close + 1..];
            match name.as_bytes().first() {
                Some(b'?') if self.facts.contains_key(&name[1..]) => {}
                Some(b'!') if !self.facts.contains_key(&name[1..]) => {}
                Some(b'?' | b'!') => return None,
                _ => {
                    let value = self.value(name)?;
                    // Do not repeat "the" in "The {brand} team" for a brand such as "The Iron Room".
                    let is_doubled = out.to_lowercase().ends_with("the ") && value.starts_with("The ");
                    let value = if is_doubled { value["The ".len()..].to_owned() } else { value };
                    facts += usize::from(!EVERYWHERE.contains(&name));
                    match marks {
                        Marks::None => out.push_str(&value),
                        Marks::Bold if BOLD.contains(&name) => out.push_str(&format!("**{}**", escape(&value))),
                        Marks::Bold => out.push_str(&escape(&value)),
                    }
                }
            }
        }
        out.push_str(rest);
        Some((self.finish(out), facts))
    }

    /// Returns a fact. `de:brand` is the brand with the French "de" before it. `the:product` is the product as the brief names it, with or
    /// without an article.
    fn value(&self, name: &str) -> Option<String> {
        if let Some(name) = name.strip_prefix("the:") {
            let value = self.facts.get(name)?;
            return Some(value.clone());
        }
        let Some(name) = name.strip_prefix("de:") else { return self.facts.get(name).cloned() };
        let value = self.facts.get(name)?;
        let first = super::tokens::plain(value).chars().next().unwrap_or(' ');
        let vowel = matches!(first, 'a' | 'e' | 'i' | 'o' | 'u' | 'y');
        Some(if vowel { format!("d’{value}") } else { format!("de {value}") })
    }

    /// Resolves alternatives of the form `[informal|formal]`.
    fn formed(&self, phrase: &str) -> String {
        let mut out = String::with_capacity(phrase.len());
        let mut rest = phrase;
        while let Some(open) = rest.find('[') {
            out.push_str(&rest[..open]);
            let Some(close) = rest[open..].find(']').map(|close| open + close) else { break };
            let (informal, formal) = rest[open + 1..close].split_once('|').unwrap_or((&rest[open + 1..close], ""));
            out.push_str(if self.voice.formal { formal } else { informal });
            rest = &rest[close + 1..];
        }
        out.push_str(rest);
        out
    }

    /// Adapts a filled phrase to the brief, the voice, the language and the region, and capitalizes its first letter.
    fn finish(&self, text: String) -> String {
        let mut text = text.replace('\'', "’");
        if self.rules.no_exclamation {
            text = text.replace('!', ".").replace('¡', "");
        }
        if self.language == Language::En && self.voice.person == BrandPerson::I {
            text = as_one(&text);
        }
        if self.language == Language::Fr {
            for sign in [":", ";", "!", "?", "»"] {
                text = text.replace(&format!(" {sign}"), &format!("\u{a0}{sign}"));
            }
            text = text.replace("« ", "«\u{a0}");
        }
        if let Some(region) = &self.region {
            for (word, other) in self.bank().spellings(region) {
                text = if word.len() > 2 { replace_word(&text, word, other) } else { text.replace(word.as_str(), other) };
            }
        }
        // A name or a time can end with a period, as in "at 3 p.m.", so two periods become one.
        if text.contains("..") && !text.contains("...") {
            text = text.replace("..", ".");
        }
        match text.strip_prefix("**") {
            Some(rest) => format!("**{}", capital(rest)),
            None => capital(&text),
        }
    }
}

/// Rewrites English text from the first person plural to the first person singular.
fn as_one(text: &str) -> String {
    const WORDS: [(&str, &str); 16] = [
        ("we’re", "I’m"),
        ("we’ve", "I’ve"),
        ("we’d", "I’d"),
        ("we’ll", "I’ll"),
        ("we are", "I am"),
        ("we were", "I was"),
        ("we have", "I have"),
        ("we", "I"),
        ("We’re", "I’m"),
        ("We’ve", "I’ve"),
        ("We’d", "I’d"),
        ("We’ll", "I’ll"),
        ("We", "I"),
        ("us", "me"),
        ("our", "my"),
        ("Our", "My"),
    ];
    let mut out = text.to_owned();
    for (word, other) in WORDS {
        out = replace_word(&out, word, other);
    }
    out
}

/// Replaces a whole word wherever it occurs in the text.
pub fn replace_word(text: &str, word: &str, other: &str) -> String {
    let c = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '’');
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (at, _) in text.match_indices(word) {
        if at < from || c(text[..at].chars().next_back()) || c(text[at + word.len()..].chars().next()) {
            continue;
        }
        out.push_str(&text[from..at]);
        out.push_str(other);
        from = at + word.len();
    }
    out.push_str(&text[from..]);
    out
}

/// Escapes literal text for the markup of documents.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '*' | '[' | ']' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Returns a number that depends on the seed and the word (splitmix64 over FNV-1a).
pub fn mix(seed: u64, word: &str) -> u64 {
    let mut state = word.bytes().fold(0xcbf2_9ce4_8422_2325_u64 ^ seed.rotate_left(17), |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    state = state.wrapping_add(seed).wrapping_add(0x9e37_79b9_7f4a_7c15);
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book(language: Language, formal: bool, facts: &[(&'static str, &str)]) -> Phrasebook {
        let voice = Voice { formal, person: BrandPerson::We, emoji: false, sentences: Sentences::Any };
        let facts = facts.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        Phrasebook::new(language, None, voice, 7, facts)
    }

    #[test]
    fn a_phrase_with_an_unknown_fact_is_not_used() {
        let book = book(Language::En, false, &[("brand", "Leaf")]);
        assert_eq!(book.fill("{offer} at {brand}", Marks::None), None);
        assert_eq!(book.fill("{!offer}hello from {brand}", Marks::None), Some(("Hello from Leaf".to_owned(), 0)));
        assert_eq!(book.fill("{?code}x", Marks::None), None);
    }

    #[test]
    fn phrases_without_the_words_that_the_brand_avoids_are_preferred() {
        let line = |avoided: &[&str]| {
            let mut book = book(Language::En, false, &[]);
            book.avoided.avoided = avoided.iter().map(|word| (*word).to_owned()).collect();
            book.line("common.products_heading")
        };
        assert_eq!(line(&["look", "range"]).as_deref(), Some("A few of our favorites"));
        assert_eq!(line(&["look", "favorites"]).as_deref(), Some("Picked from our range"));
        assert_eq!(line(&["a", "e"]), line(&[]), "no phrase lacks these letters");
    }

    #[test]
    fn forms_follow_the_voice() {
        let phrase = "[Sichere dir|Sichern Sie sich] {offer}";
        let facts = [("offer", "20 % Rabatt")];
        assert_eq!(
            book(Language::De, false, &facts).fill(phrase, Marks::None).expect("the facts fill the phrase").0,
            "Sichere dir 20 % Rabatt"
        );
        assert_eq!(
            book(Language::De, true, &facts).fill(phrase, Marks::None).expect("the facts fill the phrase").0,
            "Sichern Sie sich 20 % Rabatt"
        );
    }

    #[test]
    fn french_elides_and_keeps_signs_with_their_words() {
        let book = book(Language::Fr, true, &[("brand", "Alma")]);
        let text = book.fill("L'équipe {de:brand} : bonjour !", Marks::None).expect("the facts fill the phrase").0;
        assert_eq!(text, "L’équipe d’Alma\u{a0}: bonjour\u{a0}!");
    }

    #[test]
    fn facts_are_bold_and_never_markup() {
        let book = book(Language::En, false, &[("code", "A*B"), ("product", "[x]")]);
        let text = book.fill("use {code} for {product}", Marks::Bold).expect("the facts fill the phrase").0;
        assert_eq!(text, "Use **A\\*B** for \\[x\\]");
    }

    #[test]
    fn a_single_person_speaks_as_one() {
        assert_eq!(
            as_one("We’re glad you told us what our readers think, and we were there."),
            "I’m glad you told me what my readers think, and I was there."
        );
    }

    #[test]
    fn texts_are_not_repeated_if_there_is_an_alternative() {
        let mut book = book(Language::En, false, &[("brand", "Leaf")]);
        let first = book.line("welcome.main.headline").expect("the phrase book has this line");
        let second = book.line("welcome.main.headline").expect("the phrase book has this line");
        assert_ne!(first, second);
    }
}
