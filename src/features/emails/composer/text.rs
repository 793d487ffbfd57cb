//! Small text functions: cleaning, quotations, addresses, capitalization and language detection.

use serde::Deserialize;
use serde::de::Deserializer;

use super::language::{Bank, Language};
pub use super::tokens::folded;
use super::tokens::{TokenKind, Tokens, plain};
use crate::vocab::limits;

/// A phrase as folded words, where `*` stands for any ending or beginning of a word.
pub type Phrase = Vec<String>;

/// Phrases with the same meaning.
#[derive(Clone, Debug, Default)]
pub struct Phrases(pub Vec<Phrase>);

impl std::ops::Deref for Phrases {
    type Target = [Phrase];

    fn deref(&self) -> &[Phrase] {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Phrases {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let list = Vec::<String>::deserialize(deserializer)?;
        Ok(Self(list.iter().map(|phrase| read(phrase)).collect()))
    }
}

/// Parses a phrase from a word list. A `*` belongs to the word that it touches.
fn read(phrase: &str) -> Phrase {
    let bare = |word: &str| plain(word.trim_matches('*'));
    let word = |word: &str| match (word.starts_with('*'), word.ends_with('*')) {
        (true, _) => format!("*{}", bare(word)),
        (false, true) => format!("{}*", bare(word)),
        (false, false) => bare(word),
    };
    phrase.split_whitespace().map(word).collect()
}

/// Returns the text without invisible characters and without the braces of the merge language, truncated to the maximum length of a prompt.
pub fn clean(text: &str) -> String {
    let kept = |c: &char| {
        let braces = matches!(c, '{' | '}');
        !braces && !crate::base::text::is_invisible(*c) && (!c.is_control() || *c == '\n')
    };
    let tabs = |c| if c == '\t' { ' ' } else { c };
    text.chars().take(limits::COMPOSER_PROMPT_CHARACTERS_MAX).map(tabs).filter(kept).collect()
}

/// Returns untrusted text on one line, without characters that would break the merge language or the layout.
pub fn tidy(text: &str) -> String {
    let kept = |c: &char| !matches!(c, '{' | '}') && !crate::base::text::is_invisible(*c);
    let spaced = |c: char| if c.is_control() { ' ' } else { c };
    let text: String = text.chars().filter(kept).map(spaced).collect();
    text.split([' ', '\u{a0}']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Capitalizes the first letter of the text, unless the text starts with a web address, an email address, or a name such as "iCal", whose
/// second letter is uppercase.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next();
    let is_email = text.split(' ').next().is_some_and(|word| word.contains('@'));
    if letters.clone().next().is_some_and(char::is_uppercase) || text.starts_with("http") || text.starts_with("www.") || is_email
    {
        return text.to_owned();
    }
    first.map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Adds a period if the text does not end in punctuation.
pub fn ended(text: &str) -> String {
    let text = text.trim().trim_end_matches([',', ';']);
    let ends = text.trim_end_matches(['"', '”', '“', '»', ')', '\'', '’']);
    if ends.ends_with(['.', '!', '?', '…', ':']) { text.to_owned() } else { format!("{text}.") }
}

/// Returns the text with typographic apostrophes, except in its addresses.
pub fn typographic(text: &str) -> String {
    let apostrophes = |word: &str| if word.contains("://") { word.to_owned() } else { word.replace('\'', "’") };
    text.split(' ').map(apostrophes).collect::<Vec<_>>().join(" ")
}

/// The quotation marks of the composer's languages, except the marks that are also apostrophes.
pub const QUOTATION_MARKS: [char; 6] = ['"', '“', '”', '„', '«', '»'];

/// Returns the text without quotation marks around it. If the text contains other quotation marks, it is returned unchanged.
pub fn unquoted(text: &str) -> &str {
    let is_space = |c: char| matches!(c, ' ' | '\u{a0}');
    let text = text.trim_matches(is_space);
    let inner = text.trim_matches(|c: char| QUOTATION_MARKS.contains(&c) || matches!(c, '‘' | '‚' | '\'') || is_space(c));
    if inner.contains(QUOTATION_MARKS) { text } else { inner }
}

/// Returns the text without its quotation marks if any of them is unpaired.
pub fn closed(text: &str) -> String {
    let count = |marks: &[char]| text.chars().filter(|c| marks.contains(c)).count();
    let is_paired = count(&['"', '“', '”', '„']).is_multiple_of(2) && count(&['«']) == count(&['»']);
    if is_paired { text.to_owned() } else { text.replace(QUOTATION_MARKS, "") }
}

/// Returns the quoted passages in the text, each with the index of its opening quotation mark.
pub fn quotations<'a>(words: &Tokens<'a>) -> Vec<(usize, &'a str)> {
    let closes = |open: &str| match open {
        "\"" => Some("\"”"),
        "“" => Some("”“\""),
        "„" => Some("“”\""),
        "«" => Some("»"),
        "»" => Some("«"),
        _ => None,
    };
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() && found.len() < limits::COMPOSER_LIST_MAX {
        let ends = closes(words.raw(at)).filter(|_| words.kind(at) == TokenKind::Sign);
        let close = ends.and_then(|ends| (at + 1..words.len()).find(|at| ends.contains(words.raw(*at))));
        match close {
            Some(close) => {
                let text = words.slice(at + 1, close).trim();
                if !text.is_empty() {
                    found.push((at, text));
                }
                at = close + 1;
            }
            None => at += 1,
        }
    }
    found
}

/// Returns the web addresses in the text, as written, without the punctuation at the end of a sentence.
pub fn addresses(text: &str) -> Vec<&str> {
    let is_link = |word: &&str| word.starts_with("https://") || word.starts_with("http://") || word.starts_with("www.");
    let bare =
        |word: &'_ str| word.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '"', '\'', '>', '”', '“', '»']).len();
    let words = text.split_whitespace().map(|word| word.trim_start_matches(['(', '[', '"', '\'', '<', '„', '“', '«']));
    words.filter(is_link).map(|word| &word[..bare(word)]).collect()
}

/// Returns a web address without its scheme, `www.` and final slash.
pub fn bare_address(address: &str) -> &str {
    let bare = address.trim_start_matches("https://").trim_start_matches("http://");
    bare.trim_start_matches("www.").trim_end_matches('/')
}

/// Returns whether the text is in this language, judged by its most common words. Text that is too short to judge is assumed to be in
/// `given`.
pub fn is_in(text: &str, language: Language, given: Option<Language>) -> bool {
    let scripted = |script: std::ops::RangeInclusive<char>| text.chars().any(|c| script.contains(&c));
    let script = match language {
        Language::Ar => Some('\u{600}'..='\u{6ff}'),
        Language::He => Some('\u{590}'..='\u{5ff}'),
        _ => None,
    };
    let letters = text.chars().any(char::is_alphabetic);
    if let Some(script) = script {
        return !letters || scripted(script);
    }
    if scripted('\u{590}'..='\u{6ff}') {
        return false;
    }
    if is_name(text) {
        return true;
    }
    let words = plain(text);
    let words: Vec<&str> = words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let score = |language: Language| {
        let common = Bank::of(language).phrases("words.common");
        words.iter().take(WORDS_READ).filter(|word| common.iter().any(|known| known == *word)).count()
    };
    let own = score(language);
    let other = Language::SPOKEN.into_iter().filter(|other| *other != language).map(score).max().unwrap_or(0);
    match given {
        // A foreign word or two, such as a name, does not make a sentence foreign.
        Some(given) if given == language => own + FOREIGN_WORDS > other || own * 2 > other,
        Some(_) => own > other,
        None => own >= other && own > 0,
    }
}

/// Returns whether the text is a name in quotation marks, a measure such as "19 cm", or numbers. All of these are the same in every
/// language.
fn is_name(text: &str) -> bool {
    let text = text.trim_end_matches('.');
    let inner = text.strip_prefix(['"', '“', '„', '«']).and_then(|rest| rest.strip_suffix(['"', '”', '“', '»']));
    let is_unit = |word: &str| {
        ["mm", "cm", "m", "km", "ml", "cl", "l", "g", "kg", "kw", "kwh", "m²"].contains(&word.to_lowercase().as_str())
    };
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit()) && !word.contains(char::is_alphabetic);
    inner.is_some_and(|name| !name.contains(['"', '“', '”']))
        || !text.is_empty() && text.split_whitespace().all(|word| is_unit(word) || is_number(word))
}

/// The maximum number of words that are examined to recognize the language of text.
const WORDS_READ: usize = 120;
/// Text can count as another language only if it contains at least this many more common words of that language than of the expected
/// language.
const FOREIGN_WORDS: usize = 2;

/// Removes the sender's pronoun from the start of a place, because the pronoun needs a preposition: "im Laden" for "uns im Laden", which is
/// part of "bei uns im Laden".
pub fn own_place(text: &str, language: Language) -> &str {
    let bank = Bank::of(language);
    let is_in = |place: &str, word: &str| bank.phrases(place).iter().any(|own| own == &word.to_lowercase());
    let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
    let (first, rest) = if is_in("words.places", first) { rest.split_once(' ').unwrap_or((rest, "")) } else { (first, rest) };
    if is_in("words.us", first) && !rest.is_empty() { rest } else { text }
}
