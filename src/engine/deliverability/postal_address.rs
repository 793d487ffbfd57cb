//! Detects whether an email shows a postal address, or has a merge field for one.

use super::message::Message;
use crate::base::postal_code::has_sure_code;

/// The number of words at the end of an email that count as its footer.
const FOOTER_WORDS: usize = 80;
/// The maximum distance, in words, between a postal code and the house number of the same address.
const ADDRESS_WORDS: usize = 10;
/// The maximum length of a merge field's name, in bytes. Longer text between two delimiters is not a merge field.
const FIELD_BYTES_MAX: usize = 60;

/// Returns whether an email contains a postal address or a merge field for one.
pub fn is_shown(message: &Message) -> bool {
    let first = message.words.len().saturating_sub(FOOTER_WORDS);
    let start = message.words.get(first).map_or(0, |word| word.start);
    let footer = message.text.get(start..).unwrap_or_default();
    let mut parts = footer.split(['\n', ',', ';', '|', '·', '•', '–', '(', ')']);
    has_field(&message.text)
        || message.postal_address.as_deref().is_some_and(|address| contains(&message.text, address))
        || footer.contains('〒')
        || parts.any(|part| has_sure_code(part.trim().trim_end_matches('.')))
        || has_code_near_number(footer)
}

/// Returns whether `text` contains an address, regardless of line breaks and punctuation.
fn contains(text: &str, address: &str) -> bool {
    let plain = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
    let address = plain(address);
    !address.is_empty() && plain(text).contains(&address)
}

/// Returns whether the text has a merge field for an address, in the syntax of any service, such as `{{ postal_address }}` or
/// `*|LIST:ADDRESS|*`.
fn has_field(text: &str) -> bool {
    let is_address = |name: &str| {
        let name = name.to_lowercase();
        name.len() <= FIELD_BYTES_MAX && name.contains("addr") && !name.contains("mail")
    };
    [("{{", "}}"), ("*|", "|*"), ("%%", "%%")]
        .into_iter()
        .any(|(open, close)| text.split(open).skip(1).filter_map(|rest| rest.split(close).next()).any(is_address))
}

/// Returns whether a postal code is next to the name of a place, and a house number is near. A postal code alone is not enough, because
/// many other numbers have the same form.
fn has_code_near_number(footer: &str) -> bool {
    let words: Vec<&str> = footer
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|word| !word.is_empty())
        .collect();
    let is_place = |word: Option<&&str>| {
        word.is_some_and(|word| word.chars().count() >= 2 && word.chars().all(char::is_alphabetic) && starts_like_name(word))
    };
    let before = |at: usize| at.checked_sub(1).and_then(|at| words.get(at));
    (0..words.len()).any(|at| {
        // Swedish, Czech and Greek codes consist of two words.
        let length = if is_code(words[at]) {
            1
        } else if is_digits(words[at], 3) && words.get(at + 1).is_some_and(|next| is_digits(next, 2)) {
            2
        } else {
            return false;
        };
        let is_number = |word: &&str| word.len() <= 5 && word.starts_with(|c: char| c.is_ascii_digit()) && !is_year(word);
        let earlier = words.get(at.saturating_sub(ADDRESS_WORDS)..at).unwrap_or_default();
        let later = words.get(at + length..).unwrap_or_default().iter().take(ADDRESS_WORDS);
        (is_place(before(at)) || is_place(words.get(at + length))) && earlier.iter().chain(later).any(is_number)
    })
}

/// Returns whether a word starts with an uppercase letter, or with a letter of a script without uppercase letters.
fn starts_like_name(word: &str) -> bool {
    word.chars().next().is_some_and(|first| first.is_alphabetic() && !first.is_lowercase())
}

fn is_digits(word: &str, count: usize) -> bool {
    word.len() == count && word.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_year(word: &str) -> bool {
    is_digits(word, 4) && (word.starts_with("19") || word.starts_with("20"))
}

/// Returns whether a word has the form of a postal code: four to six digits, such as `20359` or `CH-8001`, or two groups, such as `00-950`.
fn is_code(word: &str) -> bool {
    let Some((first, second)) = word.split_once('-') else {
        return (4..=6).any(|count| is_digits(word, count)) && !is_year(word);
    };
    let is_country = (1..=2).contains(&first.len()) && first.bytes().all(|byte| byte.is_ascii_uppercase());
    is_country && (4..=5).any(|count| is_digits(second, count))
        || [2, 4, 5].into_iter().any(|count| is_digits(first, count)) && is_digits(second, 3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::deliverability::message::Input;

    fn shows(footer: &str) -> bool {
        let html = format!("<p>Our workshop opens on Saturday at nine, and coffee is ready for everyone.</p><p>{footer}</p>");
        is_shown(&Message::of(&Input { html: &html, ..Input::default() }))
    }

    #[test]
    fn addresses_of_many_countries_are_found() {
        for footer in [
            "Acme Ltd, 12 Quay Street, Bristol BS1 4AA",
            "Acme GmbH, Hafenstr. 12, 20359 Hamburg",
            "1100 Main Street, Washington, DC 20001.",
            "20 King Street West<br>Toronto, ON M5X 1C9<br>Canada",
            "10 rue des Lilas · 75011 Paris",
            "Bahnhofstrasse 1, CH-8001 Zürich",
            "10 Anson Road<br>Singapore 068897",
            "1 Collins Street, Melbourne VIC 3000",
            "ul. Nowa 3, 00-950 Warszawa",
            "Storgatan 4, 411 22 Göteborg",
            "1051 Budapest, Sas utca 5",
        ] {
            assert!(shows(footer), "{footer}");
        }
    }

    #[test]
    fn the_known_address_of_the_sender_is_found_in_any_form() {
        let shows = |address| {
            let html = "<p>Acme</p><p>The Old Mill<br>Kilrush, Ireland</p>";
            is_shown(&Message::of(&Input { html, postal_address: address, ..Input::default() }))
        };
        assert!(shows(Some("The Old Mill, Kilrush, Ireland")));
        assert!(!shows(Some("The New Mill, Kilrush, Ireland")) && !shows(Some("")) && !shows(None));
    }

    #[test]
    fn a_merge_field_counts_only_if_it_is_for_an_address() {
        for footer in ["{{ postal_address }}", "{{ organization.full_address }}", "*|LIST:ADDRESS|*", "%%Member_Addr%%"] {
            assert!(shows(footer), "{footer}");
        }
        for footer in ["Dear {{first_name}}", "{{ email_address }}", "*|FNAME|*", "100%% linen", "call 12345", "Call 12345 today"]
        {
            assert!(!shows(footer), "{footer}");
        }
        for footer in ["© 2024 Acme. All rights reserved.", "More than 20000 happy customers", "Order 4711 of 2023"] {
            assert!(!shows(footer), "{footer}");
        }
    }
}
