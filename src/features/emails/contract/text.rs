//! Normalizes text for the contract's comparisons, so that differences such as case and accents do not matter.

use icu_normalizer::DecomposingNormalizerBorrowed;

use crate::base::text::is_invisible;

/// Returns the text in lowercase, without the accents of Latin letters, with plain quotation marks, hyphens and single spaces.
pub fn fold(text: &str) -> String {
    let plain = DecomposingNormalizerBorrowed::new_nfkd().normalize(text);
    let mut out = String::with_capacity(plain.len());
    for c in plain.chars().flat_map(char::to_lowercase) {
        match c {
            '\u{300}'..='\u{36f}' => {}
            c if is_invisible(c) => {}
            c if c.is_whitespace() => {
                if !out.ends_with(' ') {
                    out.push(' ');
                }
            }
            'ß' => out.push_str("ss"),
            'ø' => out.push('o'),
            'æ' => out.push_str("ae"),
            'œ' => out.push_str("oe"),
            'ł' => out.push('l'),
            '’' | '‘' | 'ʼ' | '‚' | '`' | '´' => out.push('\''),
            '“' | '”' | '„' | '«' | '»' | '‟' => out.push('"'),
            '‐' | '‑' | '‒' | '–' | '—' | '−' => out.push('-'),
            '⁄' => out.push('/'),
            other => out.push(other),
        }
    }
    out
}

pub fn words(folded: &str) -> impl Iterator<Item = &str> {
    folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Returns the words of the text, each with a space on both sides, so that a substring search finds only whole words.
pub fn spaced(folded: &str) -> String {
    let mut out = String::with_capacity(folded.len() + 2);
    out.push(' ');
    for word in words(folded) {
        out.push_str(word);
        out.push(' ');
    }
    out
}

/// Returns whether two words are the same or forms of the same word: "vase" and "vases", "gratuit" and "gratuite".
pub fn alike(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let common = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let longer = one.chars().count().max(other.chars().count());
    common >= STEM_CHARACTERS_MIN && common * 4 >= longer * 3
}

/// The minimum number of initial characters that forms of a word share.
const STEM_CHARACTERS_MIN: usize = 4;

/// Returns the sentences of the text. A line break ends a sentence. A period does not end a sentence if a lowercase letter or a digit
/// follows, or if the period follows a day number: "am 3."
pub fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        let rest = &text[end..];
        let ends = match c {
            '\n' => true,
            '!' | '?' | '…' => rest.is_empty() || rest.starts_with(char::is_whitespace),
            '.' => {
                let next = rest.trim_start();
                let continues = next.starts_with(|c: char| c.is_lowercase() || c.is_numeric()) || ends_with_day(&text[start..at]);
                rest.is_empty() || rest.len() > next.len() && !continues
            }
            _ => false,
        };
        if ends {
            found.push(text[start..end].trim());
            start = end;
        }
    }
    found.push(text[start..].trim());
    found.retain(|sentence| !sentence.is_empty());
    found
}

/// Returns whether the text ends with a day number, whose period does not end the sentence: "am 3".
fn ends_with_day(text: &str) -> bool {
    let word = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    word.parse::<u8>().is_ok_and(|day| (1..=31).contains(&day))
}

/// Returns the text without its merge fields.
pub fn without_fields(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find("{{") {
        out.push_str(&rest[..open]);
        rest = rest[open..].find("}}").map_or("", |close| &rest[open + close + 2..]);
    }
    out.push_str(rest);
    out
}

/// Returns whether two addresses open the same page.
pub fn same_address(one: &str, other: &str) -> bool {
    let bare = |address: &str| {
        let address = fold(address.trim());
        let address = address.strip_prefix("https://").or(address.strip_prefix("http://")).unwrap_or(&address).to_owned();
        address.trim_end_matches('/').to_owned()
    };
    bare(one) == bare(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_the_same_text_are_equal() {
        assert_eq!(fold("Größe\u{a0}1\u{202f}800 – „Été“"), "grosse 1 800 - \"ete\"");
        assert_eq!(fold("1º Œuvre d’art"), "1o oeuvre d'art");
        assert_eq!(spaced(&fold("Hello, it's 20%!")), " hello it s 20 ");
    }

    #[test]
    fn forms_of_a_word_are_alike() {
        for (one, other, same) in
            [("vase", "vases", true), ("gratuite", "gratuit", true), ("cat", "car", false), ("classes", "glasses", false)]
        {
            assert_eq!(alike(one, other), same, "{one} {other}");
        }
    }

    #[test]
    fn sentences_end_at_their_marks() {
        assert_eq!(
            sentences("Am 3. Mai geht es los. Komm!\nBis 18.30 Uhr"),
            ["Am 3. Mai geht es los.", "Komm!", "Bis 18.30 Uhr"]
        );
        assert_eq!(without_fields("Hi {{ first_name | default(\"you\") }}, hello"), "Hi , hello");
    }
}
