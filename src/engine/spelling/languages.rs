//! Chooses the language of each block.
//!
//! Detection is unreliable for short text, and templates often declare the wrong language. So the dictionaries decide between the
//! candidates: the language of the document, the nearest `lang` attribute and the detected languages.

use std::collections::HashMap;
use std::sync::Arc;

use super::dictionaries::{Dictionaries, Dictionary};
use super::text::Block;
use super::tokens::Token;

/// The minimum number of letters that a block needs for language detection.
const LETTERS_MIN: usize = 40;

/// The maximum number of bytes of text that are used to detect its language.
const DETECTION_BYTES_MAX: usize = 4_000;

/// The maximum number of bytes of a document that are used to detect its language.
const DOCUMENT_BYTES_MAX: usize = 4_000;

/// The number of common languages at the start of [`CODES`]. The second detection is limited to these, except Italian.
const EMBEDDED_CODES: usize = 10;

/// The maximum number of words in a block to look up when choosing its language.
const SAMPLE_WORDS: usize = 60;

/// The languages that detection can choose, with their two-letter codes.
const CODES: [(whatlang::Lang, &str); 28] = [
    (whatlang::Lang::Eng, "en"),
    (whatlang::Lang::Deu, "de"),
    (whatlang::Lang::Fra, "fr"),
    (whatlang::Lang::Spa, "es"),
    (whatlang::Lang::Por, "pt"),
    (whatlang::Lang::Ita, "it"),
    (whatlang::Lang::Nld, "nl"),
    (whatlang::Lang::Rus, "ru"),
    (whatlang::Lang::Dan, "da"),
    (whatlang::Lang::Pol, "pl"),
    (whatlang::Lang::Swe, "sv"),
    (whatlang::Lang::Nob, "nb"),
    (whatlang::Lang::Fin, "fi"),
    (whatlang::Lang::Ces, "cs"),
    (whatlang::Lang::Slk, "sk"),
    (whatlang::Lang::Ukr, "uk"),
    (whatlang::Lang::Tur, "tr"),
    (whatlang::Lang::Hun, "hu"),
    (whatlang::Lang::Ron, "ro"),
    (whatlang::Lang::Bul, "bg"),
    (whatlang::Lang::Ell, "el"),
    (whatlang::Lang::Heb, "he"),
    (whatlang::Lang::Ara, "ar"),
    (whatlang::Lang::Jpn, "ja"),
    (whatlang::Lang::Cmn, "zh"),
    (whatlang::Lang::Kor, "ko"),
    (whatlang::Lang::Cat, "ca"),
    (whatlang::Lang::Hrv, "hr"),
];

/// Chooses languages, and keeps the dictionaries that a check uses.
pub(super) struct Languages<'d> {
    dictionaries: &'d Dictionaries,
    now: i64,
    /// The languages that the caller allows; empty means all.
    allowed: &'d [String],
    document: String,
    held: HashMap<String, Option<Arc<Dictionary>>>,
}

impl<'d> Languages<'d> {
    pub fn new(dictionaries: &'d Dictionaries, now: i64, allowed: &'d [String]) -> Self {
        Self {
            dictionaries,
            now,
            allowed,
            document: allowed.first().cloned().unwrap_or_else(|| "en".to_owned()),
            held: HashMap::new(),
        }
    }

    /// Chooses the language of the document, which is the first candidate for each block.
    pub fn set_document(&mut self, blocks: &[Block], tokens: &[Vec<Token<'_>>]) {
        let mut text = String::new();
        for block in blocks {
            if text.len() > DOCUMENT_BYTES_MAX {
                break;
            }
            text.push_str(&block.text);
            text.push('\n');
        }
        let declared = blocks.iter().find_map(|block| block.language.clone());
        let sample: Vec<_> = tokens.iter().flatten().filter(|token| is_sample(token)).take(SAMPLE_WORDS * 5).collect();
        let [first, second] = self.detect(&text);
        self.document = self.choose([declared, first, second, Some(self.document.clone())], &sample);
    }

    pub fn of(&mut self, block: &Block, tokens: &[Token<'_>]) -> String {
        if self.allowed.len() == 1 {
            return self.document.clone();
        }
        let letters = block.text.chars().filter(|c| c.is_alphabetic()).take(LETTERS_MIN).count();
        let detected = if letters >= LETTERS_MIN { self.detect(&block.text) } else { [None, None] };
        let document = Some(self.document.clone());
        if detected == [None, None] && block.language.as_deref().is_none_or(|language| code(language) == code(&self.document)) {
            return self.document.clone();
        }
        let sample: Vec<_> = tokens.iter().filter(|token| is_sample(token)).take(SAMPLE_WORDS).collect();
        let [first, second] = detected;
        self.choose([document, block.language.clone(), first, second], &sample)
    }

    /// Returns the dictionary of a language, and keeps it in memory until the check ends.
    pub fn dictionary(&mut self, language: &str) -> Option<Arc<Dictionary>> {
        let (dictionaries, now) = (self.dictionaries, self.now);
        self.held.entry(language.to_owned()).or_insert_with(|| dictionaries.get(language, now)).clone()
    }

    /// Returns the dictionary of another accepted spelling of a language.
    pub fn variant(&mut self, language: &str) -> Option<Arc<Dictionary>> {
        let (dictionaries, now) = (self.dictionaries, self.now);
        self.held.entry(format!("{language}/variant")).or_insert_with(|| dictionaries.get_variant(language, now)).clone()
    }

    /// Returns whether a dictionary that this check uses for another language contains the word. Emails can mix languages.
    pub fn others_have(&self, language: &str, word: &str) -> bool {
        let others = self.held.iter().filter(|(name, _)| name.as_str() != language);
        others.filter_map(|(_, dictionary)| dictionary.as_ref()).any(|dictionary| dictionary.has(word))
    }

    /// Detects the language of `text`. An unreliable result counts only if its language has a dictionary. If the result is unreliable, also
    /// returns the result of a second detection, which is limited to common languages, because similar languages are easily confused.
    fn detect(&mut self, text: &str) -> [Option<String>; 2] {
        let name = |lang| CODES.iter().find(|(known, _)| *known == lang).map(|(_, code)| (*code).to_owned());
        let end = text.char_indices().map(|(at, _)| at).take_while(|at| *at <= DETECTION_BYTES_MAX).last().unwrap_or(0);
        let text = if text.len() <= DETECTION_BYTES_MAX { text } else { text.get(..end).unwrap_or_default() };
        let Some(info) = whatlang::detect(text) else { return [None, None] };
        let first = name(info.lang()).filter(|code| info.is_reliable() || self.dictionary(code).is_some());
        let embedded = CODES.iter().take(EMBEDDED_CODES).map(|(lang, _)| *lang).filter(|lang| *lang != whatlang::Lang::Ita);
        let second = whatlang::Detector::with_allowlist(embedded.collect()).detect_lang(text).and_then(name);
        [first, if info.is_reliable() { None } else { second }]
    }

    /// Returns the first candidate, unless the dictionary of a later candidate contains clearly more of the words.
    fn choose(&mut self, candidates: [Option<String>; 4], sample: &[&Token<'_>]) -> String {
        let mut best: Option<(String, f32)> = None;
        let mut tried: Vec<String> = Vec::new();
        for candidate in candidates.into_iter().flatten() {
            let Some(candidate) = self.permit(&candidate) else { continue };
            if tried.iter().any(|tried| code(tried) == code(&candidate)) {
                continue;
            }
            tried.push(candidate.clone());
            let share = self.known_share(&candidate, sample);
            if best.as_ref().is_none_or(|(_, most)| share > *most + 0.05) {
                best = Some((candidate, share));
            }
        }
        best.map_or_else(|| self.document.clone(), |(language, _)| language)
    }

    /// Returns the language as the caller specified it, such as `en-GB` for `en`, or `None` if the caller did not allow it.
    fn permit(&self, language: &str) -> Option<String> {
        if self.allowed.is_empty() {
            return Some(language.to_owned());
        }
        self.allowed.iter().find(|allowed| code(allowed) == code(language)).cloned()
    }

    /// Returns the share of words that the dictionary contains. For a language without a dictionary, returns a share that a wrong language
    /// rarely reaches.
    fn known_share(&mut self, language: &str, sample: &[&Token<'_>]) -> f32 {
        let Some(dictionary) = self.dictionary(language) else { return 0.65 };
        let known = sample.iter().filter(|token| dictionary.has(&token.lower)).count();
        known as f32 / sample.len().max(1) as f32
    }
}

/// Returns whether the token is a word that indicates the language. Names do not indicate it.
fn is_sample(token: &Token<'_>) -> bool {
    token.is_word() && (!token.is_capitalized() || token.starts_sentence)
}

/// Returns the language code in lowercase, without the region.
pub(super) fn code(language: &str) -> String {
    language.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase()
}
