//! Splits a prompt into words, numbers, punctuation marks and addresses. This module does not depend on the language of the prompt.

use super::super::Span;
use crate::base::text::push_without_accent;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A run of letters.
    Word,
    /// Digits, with single separators between digits: `1.299,50`, `18:30`, `24.12`.
    Number,
    /// Any other visible character.
    Sign,
    Link,
    Mail,
    /// A line end.
    End,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Word {
    /// The word in lowercase and without accents.
    pub fold: String,
    pub kind: Kind,
    /// The byte range of the word in the prompt. `end` is exclusive.
    pub start: usize,
    pub end: usize,
    /// Whether there is no space before the word.
    pub is_glued: bool,
}

/// A prompt and its words.
#[derive(Debug)]
pub struct Words<'a> {
    pub text: &'a str,
    pub words: Vec<Word>,
    /// The number of characters before each byte of the text. The last element is the number of all characters.
    characters: Vec<u32>,
    /// Whether the month comes first in dates with slashes, because the second part of a date is greater than 12 or prices are in dollars.
    pub is_american: bool,
}

impl<'a> Words<'a> {
    pub fn read(text: &'a str) -> Self {
        let mut words: Vec<Word> = Vec::new();
        let mut at = 0;
        while let Some(first) = text[at..].chars().next() {
            let (kind, length) = measure(&text[at..], first);
            if kind == Kind::End || !first.is_whitespace() && !is_invisible(first) {
                let is_glued = words.last().is_some_and(|last| last.end == at && last.kind != Kind::End);
                let fold = if matches!(kind, Kind::Link | Kind::Mail) { String::new() } else { fold(&text[at..at + length]) };
                words.push(Word { fold, kind, start: at, end: at + length, is_glued });
            }
            at += length;
        }
        let mut characters = vec![0; text.len() + 1];
        let mut count = 0;
        for (at, c) in text.char_indices() {
            characters[at] = count;
            for byte in 1..c.len_utf8() {
                characters[at + byte] = count;
            }
            count += 1;
        }
        characters[text.len()] = count;
        quote(text, &mut words);
        let is_american = is_american(text, &words);
        Self { text, words, characters, is_american }
    }

    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Returns the folded word at an index; empty outside the prompt.
    pub fn fold(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |word| word.fold.as_str())
    }

    pub fn kind(&self, at: usize) -> Kind {
        self.words.get(at).map_or(Kind::End, |word| word.kind)
    }

    pub fn is_glued(&self, at: usize) -> bool {
        self.words.get(at).is_some_and(|word| word.is_glued)
    }

    /// Returns the word at an index as written.
    pub fn raw(&self, at: usize) -> &'a str {
        self.words.get(at).map_or("", |word| &self.text[word.start..word.end])
    }

    /// Returns the text of the words `from..to`, with the spaces between them.
    pub fn slice(&self, from: usize, to: usize) -> &'a str {
        let to = to.min(self.len());
        if from >= to { "" } else { &self.text[self.words[from].start..self.words[to - 1].end] }
    }

    /// Returns the position of a word's first byte in the prompt.
    pub fn start(&self, at: usize) -> usize {
        self.words.get(at).map_or(self.text.len(), |word| word.start)
    }

    /// Returns the position after a word's last byte in the prompt.
    pub fn end(&self, at: usize) -> usize {
        self.words.get(at).map_or(self.text.len(), |word| word.end)
    }

    pub fn is_capital(&self, at: usize) -> bool {
        self.raw(at).chars().next().is_some_and(char::is_uppercase)
    }

    /// Returns the span of the words `from..to` in characters.
    pub fn span(&self, from: usize, to: usize) -> Span {
        let to = to.min(self.len());
        if from >= to {
            return Span { start: 0, end: 0 };
        }
        Span { start: self.characters[self.words[from].start], end: self.characters[self.words[to - 1].end] }
    }

    /// Returns whether a word is a punctuation mark that can be between the words of a phrase without changing it, such as a hyphen.
    pub fn is_joint(&self, at: usize) -> bool {
        matches!(self.fold(at), "-" | "'" | "·" | "*" | "_")
    }
}

/// The maximum number of words between single quotation marks.
const SINGLE_QUOTE_WORDS_MAX: usize = 15;

/// Replaces pairs of single quotation marks with double ones, so that they are not confused with apostrophes: "not 'valued customer'".
fn quote(text: &str, words: &mut [Word]) {
    let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let mut at = 0;
    while at < words.len() {
        let opens = |word: &Word| {
            word.fold == "'" && !is_letter(text[..word.start].chars().next_back()) && is_letter(text[word.end..].chars().next())
        };
        let closes = |word: &Word| {
            word.fold == "'"
                && !is_letter(text[word.end..].chars().next())
                && text[..word.start].chars().next_back().is_some_and(|c| !c.is_whitespace())
        };
        let end = words.len().min(at + 2 + SINGLE_QUOTE_WORDS_MAX);
        let line = words[at..end].iter().take_while(|word| word.kind != Kind::End).count();
        let close = opens(&words[at]).then(|| (at + 2..at + line).find(|close| closes(&words[*close]))).flatten();
        if let Some(close) = close {
            "\"".clone_into(&mut words[at].fold);
            "\"".clone_into(&mut words[close].fold);
            at = close;
        }
        at += 1;
    }
}

fn is_american(text: &str, words: &[Word]) -> bool {
    let part = |word: &Word| text[word.start..word.end].parse::<i32>().ok();
    let mut slashes = words.windows(3).filter(|words| words[1].fold == "/" && words[2].is_glued);
    let month_first = slashes.any(|words| matches!((part(&words[0]), part(&words[2])), (Some(1..=12), Some(13..=31))));
    let has = |sign: &str| words.iter().any(|word| word.fold == sign);
    month_first || has("$") && !has("€") && !has("£")
}

/// Returns the kind and the length in bytes of the word at the start of `rest`.
fn measure(rest: &str, first: char) -> (Kind, usize) {
    if first == '\n' {
        return (Kind::End, 1);
    }
    if first.is_alphanumeric()
        && let Some(found) = address(rest)
    {
        return found;
    }
    if first.is_ascii_digit() {
        return (Kind::Number, number_length(rest));
    }
    if first.is_alphabetic() {
        let end = rest.find(|c: char| !c.is_alphabetic() && !is_mark(c)).unwrap_or(rest.len());
        return (Kind::Word, end);
    }
    (Kind::Sign, first.len_utf8())
}

/// Recognizes an email address or a web address at the start of the text.
fn address(rest: &str) -> Option<(Kind, usize)> {
    let end = rest
        .find(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"' | '«' | '»' | '“' | '”' | '„'))
        .unwrap_or(rest.len());
    let mut taken = &rest[..end];
    loop {
        let shorter = taken.trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', '*', ']', '}']);
        let shorter = match shorter.strip_suffix(')') {
            Some(inner) if !inner.contains('(') => inner,
            _ => shorter,
        };
        if shorter.len() == taken.len() {
            break;
        }
        taken = shorter;
    }
    let is_web = taken.starts_with("http://") || taken.starts_with("https://");
    let host = taken.strip_prefix("https://").or_else(|| taken.strip_prefix("http://")).unwrap_or(taken);
    let host = host.split(['/', '?', '#']).next().unwrap_or_default();
    if let Some((local, domain)) = taken.split_once('@').filter(|_| !is_web) {
        let is_local = !local.is_empty() && local.chars().all(|c| c.is_alphanumeric() || "._-+".contains(c));
        return (is_local && is_domain(domain)).then_some((Kind::Mail, taken.len()));
    }
    let is_bare = taken.starts_with("www.") || taken.len() > host.len() + 1 || host.rsplit('.').next().is_some_and(is_known_end);
    (is_domain(host) && (is_web || is_bare)).then_some((Kind::Link, taken.len()))
}

fn is_domain(host: &str) -> bool {
    let host = host.split(':').next().unwrap_or_default();
    let is_label = |label: &str| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-');
    let end = host.rsplit('.').next().unwrap_or_default();
    host.contains('.') && host.split('.').all(is_label) && end.len() >= 2 && end.chars().all(char::is_alphabetic)
}

/// Returns whether a top-level domain is so common that a host name that ends with it counts as a web address even without a path.
fn is_known_end(end: &str) -> bool {
    const ENDS: [&str; 22] = [
        "com", "org", "net", "io", "co", "app", "dev", "shop", "store", "de", "at", "ch", "fr", "es", "it", "pt", "nl", "be",
        "uk", "ie", "eu", "example",
    ];
    ENDS.contains(&end)
}

/// Returns the length of the number at the start of the text: digits, and single separators between digits.
fn number_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut end = 1;
    while digit(end) || (matches!(bytes.get(end), Some(b'.' | b',' | b'\'' | b':')) && digit(end + 1)) {
        end += 1;
    }
    end
}

fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{5b0}'..='\u{5c7}' | '\u{64b}'..='\u{652}')
}

fn is_invisible(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{fe0f}' | '\u{ad}')
}

/// Returns the text in lowercase and without the accents of Latin letters, because people often omit accents.
pub fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars().filter(|c| !is_mark(*c)).flat_map(char::to_lowercase) {
        match c {
            '´' | '`' => out.push('\''),
            '–' | '—' | '−' | '‑' => out.push('-'),
            '“' | '”' | '„' | '«' | '»' | '‟' => out.push('"'),
            other => push_without_accent(other, &mut out),
        }
    }
    out
}

/// Parses a number in one of these notations: `1,299.50`, `1.299,50`, `19,90`, `1'000`.
pub fn number(text: &str) -> Option<f64> {
    let last = text.rfind(['.', ',']);
    let digits = |part: &str| part.chars().filter(char::is_ascii_digit).collect::<String>();
    let value = match last {
        _ if text.contains(':') => return None,
        Some(at) if text.len() - at - 1 != 3 || text[..at].contains(['.', ',']) && text.contains('.') && text.contains(',') => {
            format!("{}.{}", digits(&text[..at]), digits(&text[at + 1..]))
        }
        _ => digits(text),
    };
    value.parse().ok().filter(|value: &f64| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<&str> {
        let words = Words::read(text);
        words.words.iter().map(|word| &text[word.start..word.end]).collect()
    }

    #[test]
    fn words_numbers_and_addresses_are_distinguished() {
        assert_eq!(split("8am, 18h30 LOFT25"), ["8", "am", ",", "18", "h", "30", "LOFT", "25"]);
        assert_eq!(split("1.299,50 € am 24.12. 18:30"), ["1.299,50", "€", "am", "24.12", ".", "18:30"]);
        assert_eq!(split("(see a.example/b?c=1)."), ["(", "see", "a.example/b?c=1", ")", "."]);
        assert_eq!(split("hi@b.example, ok."), ["hi@b.example", ",", "ok", "."]);
        assert_eq!(split("end.Next e.g. this"), ["end", ".", "Next", "e", ".", "g", ".", "this"]);
    }

    #[test]
    fn spans_count_characters() {
        let words = Words::read("Für 5 €");
        assert_eq!(words.span(1, 3), Span { start: 4, end: 7 });
    }

    #[test]
    fn numbers_are_parsed_in_all_notations() {
        for (text, value) in
            [("20", 20.0), ("19.90", 19.9), ("19,90", 19.9), ("1,299.50", 1299.5), ("1.299,50", 1299.5), ("1.200", 1200.0)]
        {
            assert_eq!(number(text), Some(value), "{text}");
        }
    }
}
