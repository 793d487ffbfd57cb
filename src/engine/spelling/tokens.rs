//! Splits a block into words, numbers, punctuation, and parts that are not language.

use super::classes::flags;
use super::text::OPAQUE;

/// The delimiters of merge fields in common template languages. Fields longer than [`MERGE_TAG_BYTES_MAX`] are treated as text.
const MERGE_TAGS: [(&str, &str); 9] =
    [("{{", "}}"), ("{%", "%}"), ("{#", "#}"), ("*|", "|*"), ("<%", "%>"), ("%%", "%%"), ("[[", "]]"), ("${", "}"), ("{$", "}")];

const MERGE_TAG_BYTES_MAX: usize = 500;

/// Abbreviations after which a capital letter does not start a sentence.
const ABBREVIATIONS: [&str; 28] = [
    "mr", "mrs", "ms", "dr", "prof", "st", "vs", "no", "inc", "ltd", "co", "corp", "jr", "sr", "approx", "dept", "est", "fig",
    "etc", "nr", "bzw", "ca", "dhr", "mevr", "mme", "sra", "sr", "art",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// Letters, with apostrophes between them.
    Word,
    /// Digits, with separators between them.
    Number,
    /// A URL, an address, a hashtag, a merge field, a coupon code, or a word with digits.
    Code,
    /// One character that is not white space.
    Mark,
}

/// A token of a block. `start` and `end` are byte positions in the block's text.
#[derive(Debug, Clone)]
pub(super) struct Token<'a> {
    pub text: &'a str,
    /// The text in lowercase.
    pub lower: String,
    /// The classes of an English word as flags ([`super::classes`]); 0 in other languages.
    pub word_classes: u16,
    pub kind: TokenKind,
    pub start: usize,
    pub end: usize,
    /// Whether white space precedes the token.
    pub spaced: bool,
    /// Whether a line break precedes the token.
    pub new_line: bool,
    /// Whether a sentence can start at this token.
    pub starts_sentence: bool,
}

impl Token<'_> {
    pub fn is_word(&self) -> bool {
        self.kind == TokenKind::Word
    }

    pub fn is_capitalized(&self) -> bool {
        self.text.chars().next().is_some_and(char::is_uppercase)
    }

    /// Returns whether the token has two or more letters, none of them lowercase.
    pub fn is_all_capitals(&self) -> bool {
        let letters = self.text.chars().filter(|c| c.is_alphabetic());
        letters.clone().count() > 1 && letters.clone().all(|c| !c.is_lowercase())
    }

    /// Returns whether a letter after the first is uppercase, as in "iPhone".
    pub fn has_inner_capital(&self) -> bool {
        self.text.chars().skip(1).any(char::is_uppercase)
    }
}

/// Returns all tokens of English text.
#[cfg(test)]
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = tokens_to(text, usize::MAX).0;
    set_word_classes(&mut tokens);
    tokens
}

/// Sets the word classes of the tokens of English text.
pub(super) fn set_word_classes(tokens: &mut [Token<'_>]) {
    for token in tokens.iter_mut().filter(|token| token.is_word()) {
        token.word_classes = flags(&token.lower, token.is_capitalized());
    }
}

/// Returns the tokens of `text`, up to `words_max` words, and the position after the last token.
pub(super) fn tokens_to(text: &str, words_max: usize) -> (Vec<Token<'_>>, usize) {
    let mut words = 0;
    let mut splitter = Splitter { text, tokens: Vec::new(), spaced: false, new_line: false };
    let mut position = 0;
    while let Some(character) = text.get(position..).and_then(|rest| rest.chars().next()) {
        if character == ' ' || character == '\n' {
            splitter.spaced = true;
            splitter.new_line |= character == '\n';
            position += 1;
            continue;
        }
        // Limit the tokens too, because text without words can consist of many punctuation marks and codes.
        if words >= words_max || splitter.tokens.len() >= words_max.saturating_mul(8) {
            break;
        }
        position = splitter.piece(position);
        words += usize::from(splitter.tokens.last().is_some_and(Token::is_word));
    }
    let mut tokens = splitter.tokens;
    mark_sentences(&mut tokens);
    (tokens, position)
}

struct Splitter<'a> {
    text: &'a str,
    tokens: Vec<Token<'a>>,
    spaced: bool,
    new_line: bool,
}

impl<'a> Splitter<'a> {
    fn add(&mut self, kind: TokenKind, start: usize, end: usize) -> usize {
        let text = self.text.get(start..end).unwrap_or_default();
        let lower = if kind == TokenKind::Word { text.to_lowercase() } else { text.to_owned() };
        let (spaced, new_line) = (std::mem::take(&mut self.spaced), std::mem::take(&mut self.new_line));
        self.tokens.push(Token { text, lower, word_classes: 0, kind, start, end, spaced, new_line, starts_sentence: false });
        end.max(start + 1)
    }

    /// Adds the token at `start` and returns the position after it.
    fn piece(&mut self, start: usize) -> usize {
        let rest = self.text.get(start..).unwrap_or_default();
        if let Some(length) = merge_tag(rest) {
            return self.add(TokenKind::Code, start, start + length);
        }
        let Some(character) = rest.chars().next() else { return start + 1 };
        let follows_space =
            start == 0 || self.spaced || self.tokens.last().is_some_and(|last| matches!(last.text, "(" | "\"" | "“" | "„" | "«"));
        if follows_space && let Some(length) = code_chunk(rest) {
            return self.add(TokenKind::Code, start, start + length);
        }
        if is_letter(character) || character.is_ascii_digit() {
            let length = run_length(rest);
            let run = rest.get(..length).unwrap_or_default();
            let (letters, digits) = (run.chars().any(char::is_alphabetic), run.chars().any(|c| c.is_ascii_digit()));
            let kind = match (letters, digits) {
                (true, false) => TokenKind::Word,
                (false, _) => TokenKind::Number,
                (true, true) => TokenKind::Code,
            };
            return self.add(kind, start, start + length);
        }
        let kind = if character == OPAQUE { TokenKind::Code } else { TokenKind::Mark };
        self.add(kind, start, start + character.len_utf8())
    }
}

fn is_letter(character: char) -> bool {
    character.is_alphabetic() || ('\u{300}'..='\u{36F}').contains(&character)
}

/// Returns the length of the run of letters and digits at the start of `text`. Single apostrophes and decimal separators inside the run are
/// part of it.
fn run_length(text: &str) -> usize {
    let mut end = 0;
    let mut characters = text.char_indices().peekable();
    let mut previous = ' ';
    while let Some((at, character)) = characters.next() {
        let next = characters.peek().map_or(' ', |(_, next)| *next);
        let inside = match character {
            '\'' => previous.is_alphabetic() && next.is_alphabetic(),
            '.' | ',' => previous.is_ascii_digit() && next.is_ascii_digit(),
            other => is_letter(other) || other.is_ascii_digit(),
        };
        if !inside {
            break;
        }
        end = at + character.len_utf8();
        previous = character;
    }
    end
}

fn merge_tag(text: &str) -> Option<usize> {
    for (open, close) in MERGE_TAGS {
        if let Some(inner) = text.strip_prefix(open) {
            let mut limit = inner.len().min(MERGE_TAG_BYTES_MAX);
            while !inner.is_char_boundary(limit) {
                limit -= 1;
            }
            if let Some(at) = inner.get(..limit)?.find(close) {
                return Some(open.len() + at + close.len());
            }
        }
    }
    single_tag(text, '{', '}').or_else(|| single_tag(text, '%', '%'))
}

/// Returns the length of a merge field that is one name between two one-character delimiters, such as `{first_name}` and `%FNAME%`.
fn single_tag(text: &str, open: char, close: char) -> Option<usize> {
    let inner = text.strip_prefix(open)?;
    let length = inner.find(|c: char| !(c.is_alphanumeric() || "_.-|:".contains(c)))?;
    (length > 0 && length <= 60 && inner.get(length..)?.starts_with(close)).then_some(length + 2)
}

/// Returns the length of the URL, address, hashtag, mention, domain or file name at the start of `text`.
fn code_chunk(text: &str) -> Option<usize> {
    let end = text.find([' ', '\n', OPAQUE, '<', '>', '"', '“', '”', '«', '»', '(', ')']).unwrap_or(text.len());
    let chunk = text.get(..end)?.trim_end_matches(['.', ',', ';', ':', '!', '?', '…', '\'', ']', '*']);
    let first = chunk.chars().next()?;
    let second = chunk.chars().nth(1);
    let tagged = matches!(first, '#' | '@') && second.is_some_and(char::is_alphanumeric);
    let is_code = tagged
        || first == '/' && second.is_some_and(char::is_alphanumeric)
        || chunk.contains("://")
        || chunk.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("www."))
        || (chunk.contains('@') && first != '@')
        || chunk.contains('_')
        || chunk.contains('\\')
        || has_domain(chunk);
    (is_code && chunk.chars().any(char::is_alphanumeric)).then_some(chunk.len())
}

/// Returns whether the text, without any path, ends with a dot and a lowercase label of 2 to 24 letters, as in "example.com" and
/// "report.pdf".
fn has_domain(chunk: &str) -> bool {
    let host = chunk.split(['/', '?', ':']).next().unwrap_or(chunk);
    let Some((name, label)) = host.rsplit_once('.') else { return false };
    let named = name.chars().next_back().is_some_and(char::is_alphanumeric);
    named && (2..=24).contains(&label.len()) && label.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Marks the tokens that can start a sentence.
fn mark_sentences(tokens: &mut [Token<'_>]) {
    let mut starts = true;
    let mut previous_word = String::new();
    for token in tokens {
        match token.kind {
            TokenKind::Mark => match token.text {
                "." if ABBREVIATIONS.contains(&previous_word.as_str()) || previous_word.chars().count() == 1 => {}
                "." | "!" | "?" | "…" | ":" | "•" | "|" | "·" | "→" | "✓" | "✔" | "–" | "—" => starts = true,
                _ => {}
            },
            TokenKind::Code if token.text.starts_with(OPAQUE) => {}
            TokenKind::Word | TokenKind::Number | TokenKind::Code => {
                token.starts_sentence = std::mem::take(&mut starts);
                previous_word.clone_from(&token.lower);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: TokenKind, text: &str) -> Vec<String> {
        tokens(text).into_iter().filter(|token| token.kind == kind).map(|token| token.text.to_owned()).collect()
    }

    #[test]
    fn words_keep_inner_apostrophes_and_lose_quotation_marks() {
        assert_eq!(
            of(TokenKind::Word, "'Don't' worry, customers' well-known 'sale'"),
            ["Don't", "worry", "customers", "well", "known", "sale"]
        );
    }

    #[test]
    fn addresses_tags_and_codes_are_not_words() {
        let text = "Hi {{ name | default: 'frend' }} *|FNAME|* %%x y%% {first_name} see www.shp.com/a, me@exmple.org, #blackfrday, \
                    acme.io. B2B SAVE20 https://a.b/c?d=e 10th (foo.html) %NAME%";
        assert_eq!(of(TokenKind::Word, text), ["Hi", "see"]);
    }

    #[test]
    fn alternatives_with_a_slash_are_words() {
        assert_eq!(of(TokenKind::Word, "and/or 24-hour 3.5 kg"), ["and", "or", "hour", "kg"]);
        assert_eq!(of(TokenKind::Number, "and/or 24-hour 3.5 kg 1,000"), ["24", "3.5", "1,000"]);
    }

    #[test]
    fn sentences_start_after_their_end_and_not_after_abbreviations() {
        let found: Vec<_> = tokens("Hello there. We met Dr. Smith! \"Great.\" Yes")
            .into_iter()
            .filter(|t| t.starts_sentence)
            .map(|t| t.text)
            .collect();
        assert_eq!(found, ["Hello", "We", "Great", "Yes"]);
    }
}
