//! Splits text into words, numbers and other tokens, independently of its language.

use crate::base::text::push_without_accent;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A word: letters, optionally with digits after the first letter.
    Word,
    /// A number: digits, optionally with periods, commas or apostrophes between them.
    Number,
    /// Any other character, such as a punctuation mark.
    Sign,
    /// A line break or the end of the text.
    End,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    /// The token in lowercase and without accents.
    pub fold: String,
    pub kind: TokenKind,
    /// The byte range of the token in the text. `end` is exclusive.
    pub start: usize,
    pub end: usize,
}

/// Text with its tokens.
#[derive(Debug)]
pub struct Tokens<'a> {
    pub text: &'a str,
    pub tokens: Vec<Token>,
}

impl<'a> Tokens<'a> {
    pub fn read(text: &'a str) -> Self {
        let mut tokens = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let start = text.len() - rest.len();
            let (kind, length) = measure(rest, first);
            if kind != TokenKind::Sign || !first.is_whitespace() {
                tokens.push(Token { fold: plain(&rest[..length]), kind, start, end: start + length });
            }
            rest = &rest[length..];
        }
        Self { text, tokens }
    }

    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Returns the token at an index, in lowercase and without accents; empty if there is no such token.
    pub fn fold(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.fold.as_str())
    }

    pub fn kind(&self, at: usize) -> TokenKind {
        self.tokens.get(at).map_or(TokenKind::End, |token| token.kind)
    }

    /// Returns the token at an index, as written; empty if there is no such token.
    pub fn raw(&self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", |token| &self.text[token.start..token.end])
    }

    /// Returns the text from the token at `from` up to but excluding the token at `to`.
    pub fn slice(&self, from: usize, to: usize) -> &'a str {
        if from >= to || from >= self.len() {
            return "";
        }
        &self.text[self.tokens[from].start..self.tokens[to.min(self.len()) - 1].end]
    }

    /// Returns whether there is no space between the token at an index and the next token.
    pub fn joined(&self, at: usize) -> bool {
        match (self.tokens.get(at), self.tokens.get(at + 1)) {
            (Some(token), Some(next)) => token.end == next.start,
            _ => false,
        }
    }

    /// Returns the number of tokens that a phrase matches, starting at an index, including skipped punctuation; `None` if the phrase does
    /// not match.
    pub fn matches(&self, at: usize, phrase: &[String]) -> Option<usize> {
        let mut place = at;
        for (index, word) in phrase.iter().enumerate() {
            // Hyphens, apostrophes and periods between words of the phrase are skipped.
            while index > 0 && matches!(self.fold(place), "-" | "'" | "’" | ".") {
                place += 1;
            }
            if !fits(self.fold(place), word) {
                return None;
            }
            place += 1;
        }
        Some(place - at)
    }

    /// Returns the length, in tokens, of the longest of these phrases that starts at an index.
    pub fn any(&self, at: usize, phrases: &[Vec<String>]) -> Option<usize> {
        phrases.iter().filter_map(|phrase| self.matches(at, phrase)).max()
    }

    /// Returns the start of the longest of these phrases that ends directly before this index.
    pub fn before(&self, at: usize, phrases: &[Vec<String>]) -> Option<usize> {
        let ends_here = |from: &usize| self.any_ending(*from, at, phrases);
        (at.saturating_sub(PHRASE_WORDS_MAX)..at).find(ends_here)
    }

    fn any_ending(&self, from: usize, end: usize, phrases: &[Vec<String>]) -> bool {
        phrases.iter().any(|phrase| self.matches(from, phrase) == Some(end - from))
    }
}

/// The maximum length, in tokens, of a phrase in the word lists.
const PHRASE_WORDS_MAX: usize = 8;

/// Returns whether the word matches the pattern, such as `sale`, `launch*` or `*kurs`.
fn fits(word: &str, pattern: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), _) => word.ends_with(end),
        (None, Some(start)) => word.starts_with(start),
        (None, None) => word == pattern,
    }
}

/// Returns the kind and the length in bytes of the token at the start of `rest`.
fn measure(rest: &str, first: char) -> (TokenKind, usize) {
    if first == '\n' {
        return (TokenKind::End, 1);
    }
    if first.is_ascii_digit() {
        return (TokenKind::Number, number_length(rest));
    }
    if first.is_alphanumeric() {
        let end = rest.find(|c: char| !c.is_alphanumeric() && !is_mark(c)).unwrap_or(rest.len());
        return (TokenKind::Word, end);
    }
    (TokenKind::Sign, first.len_utf8())
}

/// Returns whether the character is a combining accent.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

/// Returns the length of the number at the start of the text: digits with single separators between them.
fn number_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut end = 1;
    while digit(end) || (matches!(bytes.get(end), Some(b'.' | b',' | b'\'')) && digit(end + 1)) {
        end += 1;
    }
    end
}

/// Returns the text in lowercase and without the accents of Latin letters, because people often omit accents.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars().filter(|c| !is_mark(*c)).flat_map(char::to_lowercase) {
        push_without_accent(c, &mut out);
    }
    out
}

/// Parses a number in one of these notations: `1,299.50`, `1.299,50`, `19,90`, `1'000`.
pub fn number(text: &str) -> Option<f64> {
    let last = text.rfind(['.', ',']);
    let digits = |part: &str| part.chars().filter(char::is_ascii_digit).collect::<String>();
    let value = match last {
        Some(at) if text.len() - at - 1 != 3 || text[..at].contains(['.', ',']) && separators_differ(text) => {
            format!("{}.{}", digits(&text[..at]), digits(&text[at + 1..]))
        }
        _ => digits(text),
    };
    value.parse().ok().filter(|value: &f64| value.is_finite())
}

fn separators_differ(text: &str) -> bool {
    text.contains('.') && text.contains(',')
}

/// Returns the words of the text for comparisons: folded, without punctuation, separated by single spaces, with a space at both ends.
/// Currency and percent signs count as words. Punctuation inside numbers is kept, so that "£4" does not match "£4.50".
pub fn folded(text: &str) -> String {
    let text = plain(text);
    let mut out = String::with_capacity(text.len() + 2);
    out.push(' ');
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        let in_number = matches!(c, '.' | ',' | ':')
            && out.ends_with(|last: char| last.is_ascii_digit())
            && letters.peek().is_some_and(char::is_ascii_digit);
        if c.is_alphanumeric() || in_number {
            let breaks = out.ends_with(['%', '€', '$', '£']);
            out.extend(breaks.then_some(' '));
            out.push(c);
        } else if matches!(c, '%' | '€' | '$' | '£') {
            out.extend((!out.ends_with(' ')).then_some(' '));
            out.push(c);
        } else if !out.ends_with(' ') {
            out.push(' ');
        }
    }
    out.extend((!out.ends_with(' ')).then_some(' '));
    // Emails show addresses without the scheme.
    [" https ", " http ", " www "]
        .into_iter()
        .fold(out, |text, scheme| if text.contains(scheme) { text.replace(scheme, " ") } else { text })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folds(text: &str) -> Vec<String> {
        Tokens::read(text).tokens.into_iter().map(|token| token.fold).collect()
    }

    #[test]
    fn words_numbers_and_signs_are_distinguished() {
        assert_eq!(folds("Save 20% – Café!"), ["save", "20", "%", "–", "cafe", "!"]);
        assert_eq!(folds("1.299,50 € 20th SAVE20\nx"), ["1.299,50", "€", "20", "th", "save20", "\n", "x"]);
        assert_eq!(folds("27.11. l’été"), ["27.11", ".", "l", "'", "ete"]);
    }

    #[test]
    fn phrases_match_across_hyphens() {
        let words = Tokens::read("a win-back email");
        let phrases = [vec!["win".to_owned(), "back".to_owned()], vec!["back*".to_owned()]];
        assert_eq!(words.before(4, &phrases), Some(1));
        assert_eq!(words.slice(1, 4), "win-back");
    }

    #[test]
    fn numbers_are_parsed_in_all_notations() {
        for (text, value) in [("20", 20.0), ("19.90", 19.9), ("19,90", 19.9), ("1,299.50", 1299.5), ("1.299,50", 1299.5)] {
            assert_eq!(number(text), Some(value), "{text}");
        }
        assert_eq!((number("1.299"), number("1'000"), number("12.5")), (Some(1299.0), Some(1000.0), Some(12.5)));
    }
}
