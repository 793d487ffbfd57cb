//! Normalizes text for comparison: lowercase, without diacritics and control characters. Documents and queries are folded by the same code.

use tantivy::tokenizer::{AsciiFoldingFilter, LowerCaser, RawTokenizer, TextAnalyzer, TokenStream};

/// Folds strings one after another, and reuses its tables and buffers.
pub(super) struct Folder {
    analyzer: TextAnalyzer,
    folded: String,
}

impl Folder {
    pub(super) fn new() -> Self {
        let analyzer = TextAnalyzer::builder(RawTokenizer::default()).filter(LowerCaser).filter(AsciiFoldingFilter).build();
        Self { analyzer, folded: String::new() }
    }

    /// Returns the first `chars_max` characters of `text`, folded. Control characters become spaces, and apostrophes are removed, so that
    /// "O'Brien" and "obrien" are the same word.
    pub(super) fn fold(&mut self, text: &str, chars_max: usize) -> &str {
        self.folded.clear();
        let text = cut(text, chars_max);
        if text.is_ascii() {
            // Most text is ASCII, so this loop, which folds it byte by byte, is the hot path of bulk indexing.
            self.folded.extend(text.bytes().filter(|&byte| byte != b'\'').map(fold_ascii));
        } else {
            let mut stream = self.analyzer.token_stream(text);
            while stream.advance() {
                self.folded.extend(stream.token().text.chars().filter(|&c| !vanishes(c)).map(blank_control));
            }
        }
        &self.folded
    }
}

/// Cuts `text` off after its first `chars_max` characters.
pub(super) fn cut(text: &str, chars_max: usize) -> &str {
    if text.len() <= chars_max {
        return text;
    }
    text.char_indices().nth(chars_max).map_or(text, |(end, _)| &text[..end])
}

fn fold_ascii(byte: u8) -> char {
    blank_control(byte.to_ascii_lowercase() as char)
}

fn blank_control(c: char) -> char {
    if c.is_control() { ' ' } else { c }
}

/// Returns whether the character is removed: an apostrophe, a combining mark of decomposed text, or a zero-width character.
fn vanishes(c: char) -> bool {
    matches!(c, '\'' | '\u{2019}' | '\u{2bc}' | '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str) -> String {
        Folder::new().fold(text, 256).to_owned()
    }

    #[test]
    fn folds_case_diacritics_and_decomposed_marks_alike() {
        assert_eq!(folded("MÜLLER"), "muller");
        assert_eq!(folded("Mu\u{308}ller"), "muller");
        assert_eq!(folded("Straße Œuvre Łódź"), "strasse oeuvre lodz");
        assert_eq!(folded("ИВАН"), "иван");
    }

    #[test]
    fn removes_apostrophes_and_turns_controls_into_spaces() {
        assert_eq!(folded("O'Brien"), "obrien");
        assert_eq!(folded("O\u{2019}Brien"), "obrien");
        assert_eq!(folded("a\u{0}b\tc\u{85}d"), "a b c d");
    }

    #[test]
    fn truncates_by_characters_not_bytes() {
        assert_eq!(cut("äöüabc", 4), "äöüa");
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(Folder::new().fold(&"ß".repeat(300), 256).len(), 512);
    }
}
