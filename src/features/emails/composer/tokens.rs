//! A prompt as words: what the composer reads facts from. It knows no language, only letters, digits and signs.

/// What a word is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Letters, perhaps with digits after the first.
    Word,
    /// Digits, perhaps with points, commas or apostrophes between them.
    Number,
    /// Any other character.
    Sign,
    /// The end of a line.
    End,
}

/// One word of a prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    /// In small letters and without accents.
    pub fold: String,
    pub kind: Kind,
    /// Its bytes in the prompt.
    pub start: usize,
    pub end: usize,
}

/// A prompt and its words.
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
            if kind != Kind::Sign || !first.is_whitespace() {
                tokens.push(Token { fold: plain(&rest[..length]), kind, start, end: start + length });
            }
            rest = &rest[length..];
        }
        Self { text, tokens }
    }

    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// The folded word at a place; nothing outside the prompt.
    pub fn fold(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.fold.as_str())
    }

    pub fn kind(&self, at: usize) -> Kind {
        self.tokens.get(at).map_or(Kind::End, |token| token.kind)
    }

    /// The words as written.
    pub fn raw(&self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", |token| &self.text[token.start..token.end])
    }

    /// The text from one word up to another.
    pub fn slice(&self, from: usize, to: usize) -> &'a str {
        if from >= to || from >= self.len() {
            return "";
        }
        &self.text[self.tokens[from].start..self.tokens[to.min(self.len()) - 1].end]
    }

    /// Whether two neighbours stand without space between them.
    pub fn joined(&self, at: usize) -> bool {
        match (self.tokens.get(at), self.tokens.get(at + 1)) {
            (Some(token), Some(next)) => token.end == next.start,
            _ => false,
        }
    }

    /// How many words of the prompt a phrase takes from here on; nothing if it does not stand here.
    pub fn matches(&self, at: usize, phrase: &[String]) -> Option<usize> {
        let mut place = at;
        for (index, word) in phrase.iter().enumerate() {
            // Hyphens and apostrophes between the words of a phrase are as good as spaces.
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

    /// The longest of these phrases that stands here.
    pub fn any(&self, at: usize, phrases: &[Vec<String>]) -> Option<usize> {
        phrases.iter().filter_map(|phrase| self.matches(at, phrase)).max()
    }

    /// The longest of these phrases that ends right before a place: where it begins.
    pub fn before(&self, at: usize, phrases: &[Vec<String>]) -> Option<usize> {
        let ends_here = |from: &usize| self.any_ending(*from, at, phrases);
        (at.saturating_sub(PHRASE_WORDS_MAX)..at).find(ends_here)
    }

    fn any_ending(&self, from: usize, end: usize, phrases: &[Vec<String>]) -> bool {
        phrases.iter().any(|phrase| self.matches(from, phrase) == Some(end - from))
    }

    /// Where any of these phrases stands, from a place on: where it begins and how many words it takes.
    pub fn find(&self, from: usize, phrases: &[Vec<String>]) -> Option<(usize, usize)> {
        (from..self.len()).find_map(|at| self.any(at, phrases).map(|taken| (at, taken)))
    }
}

/// Phrases of the word lists have at most this many words, signs between them included.
const PHRASE_WORDS_MAX: usize = 8;

/// Whether a word is one of the list: `sale`, `launch*`, `*kurs`.
fn fits(word: &str, pattern: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), _) => word.ends_with(end),
        (None, Some(start)) => word.starts_with(start),
        (None, None) => word == pattern,
    }
}

/// What begins here and how many bytes it has.
fn measure(rest: &str, first: char) -> (Kind, usize) {
    if first == '\n' {
        return (Kind::End, 1);
    }
    if first.is_ascii_digit() {
        return (Kind::Number, number_length(rest));
    }
    if first.is_alphanumeric() {
        let end = rest.find(|c: char| !c.is_alphanumeric() && !is_mark(c)).unwrap_or(rest.len());
        return (Kind::Word, end);
    }
    (Kind::Sign, first.len_utf8())
}

/// Accents that stand as characters of their own.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

/// Digits, and single separators that have digits on both sides.
fn number_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut end = 1;
    while digit(end) || (matches!(bytes.get(end), Some(b'.' | b',' | b'\'')) && digit(end + 1)) {
        end += 1;
    }
    end
}

/// A text in small letters and without the accents of Latin letters: what people leave out when they type in a hurry.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars().filter(|c| !is_mark(*c)).flat_map(char::to_lowercase) {
        match c {
            'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' => out.push('a'),
            'ç' => out.push('c'),
            'è' | 'é' | 'ê' | 'ë' => out.push('e'),
            'ì' | 'í' | 'î' | 'ï' => out.push('i'),
            'ñ' => out.push('n'),
            'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ø' => out.push('o'),
            'ù' | 'ú' | 'û' | 'ü' => out.push('u'),
            'ý' | 'ÿ' => out.push('y'),
            'ß' => out.push_str("ss"),
            'œ' => out.push_str("oe"),
            'æ' => out.push_str("ae"),
            '’' | '‘' | 'ʼ' => out.push('\''),
            '\u{307}' => {}
            other => out.push(other),
        }
    }
    out
}

/// The value of a number as people of any of the seven languages write it: `1,299.50`, `1.299,50`, `19,90`, `1'000`.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn folds(text: &str) -> Vec<String> {
        Tokens::read(text).tokens.into_iter().map(|token| token.fold).collect()
    }

    #[test]
    fn words_numbers_and_signs_are_told_apart() {
        assert_eq!(folds("Save 20% – Café!"), ["save", "20", "%", "–", "cafe", "!"]);
        assert_eq!(folds("1.299,50 € 20th SAVE20\nx"), ["1.299,50", "€", "20", "th", "save20", "\n", "x"]);
        assert_eq!(folds("27.11. l’été"), ["27.11", ".", "l", "'", "ete"]);
    }

    #[test]
    fn phrases_match_over_hyphens() {
        let words = Tokens::read("a win-back email");
        let phrases = [vec!["win".to_owned(), "back".to_owned()], vec!["back*".to_owned()]];
        assert_eq!(words.find(0, &phrases), Some((1, 3)));
        assert_eq!(words.before(4, &phrases), Some(1));
        assert_eq!(words.slice(1, 4), "win-back");
    }

    #[test]
    fn numbers_are_read_as_people_write_them() {
        for (text, value) in [("20", 20.0), ("19.90", 19.9), ("19,90", 19.9), ("1,299.50", 1299.5), ("1.299,50", 1299.5)] {
            assert_eq!(number(text), Some(value), "{text}");
        }
        assert_eq!((number("1.299"), number("1'000"), number("12.5")), (Some(1299.0), Some(1000.0), Some(12.5)));
    }
}
