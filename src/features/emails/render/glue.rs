//! Puts no-break spaces between words that a line break must not separate: a number and its unit, a day and its month, and the parts of a
//! postcode, a telephone number or an abbreviation.
//!
//! The MJML and the HTML have these spaces. The document and the plain-text part keep ordinary spaces, so that a search finds "20 %".

const NO_BREAK: char = '\u{a0}';

/// Words that stay on one line with the number before them.
const UNITS: [&str; 40] = [
    "%", "‰", "€", "$", "£", "¥", "zł", "kr", "Fr.", "EUR", "USD", "GBP", "CHF", "SEK", "Euro", "euros", "Uhr", "uur", "h",
    "Std.", "min", "Min.", "am", "pm", "a.m.", "p.m.", "UTC", "GMT", "CET", "CEST", "g", "kg", "ml", "cl", "l", "mm", "cm", "m",
    "km", "°C",
];
/// Words that stay on one line with the number after them.
const SIGNS: [&str; 14] = ["€", "$", "£", "¥", "EUR", "USD", "GBP", "CHF", "Nr.", "No.", "no.", "n.", "nº", "n°"];
/// The first letters of month names in the languages that the composer fully supports.
const MONTHS: [&str; 34] = [
    "jan", "feb", "fév", "mar", "mär", "maa", "apr", "avr", "abr", "mai", "may", "mag", "mei", "jun", "jui", "giu", "jul", "lug",
    "aug", "aoû", "ago", "sep", "set", "oct", "okt", "ott", "out", "nov", "dec", "dez", "déc", "dic", "gen", "ene",
];
/// The number of letters in the longest month name.
const MONTH_LETTERS_MAX: usize = 10;
/// The minimum number of digits in a telephone number.
const TELEPHONE_DIGITS_MIN: usize = 6;
/// The maximum length of telephone numbers that are kept on one line. Longer numbers do not fit on a phone's screen.
const TELEPHONE_CHARACTERS_MAX: usize = 20;

/// Returns the text with no-break spaces. Merge fields stay unchanged.
pub fn glued(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while let Some(open) = rest.find("{{") {
        let end = rest[open..].find("}}").map_or(rest.len(), |close| open + close + 2);
        out.push_str(&plain(&rest[..open]));
        out.push_str(&rest[open..end]);
        rest = &rest[end..];
    }
    out.push_str(&plain(rest));
    out
}

/// Inserts no-break spaces into text that has no merge fields.
fn plain(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let mut out = String::with_capacity(text.len() + 8);
    let mut telephone_ends = 0;
    for (at, word) in words.iter().enumerate() {
        if at > 0 {
            let belongs = at < telephone_ends || belongs(&words, at);
            out.push(if belongs { NO_BREAK } else { ' ' });
        }
        if at >= telephone_ends {
            telephone_ends = telephone(&words, at).unwrap_or(telephone_ends);
        }
        out.push_str(word);
    }
    out
}

/// Returns whether a line must not break between a word and the preceding word.
fn belongs(words: &[&str], at: usize) -> bool {
    let (before, word) = (words[at - 1], words[at]);
    let next = words.get(at + 1).copied().unwrap_or_default();
    let (bare, opened) = (closed(word), before.trim_start_matches(['(', '„', '“', '"', '«', '-', '−', '+']));
    let ends_in_digit = opened.ends_with(|c: char| c.is_ascii_digit());
    let starts_in_digit = bare.starts_with(|c: char| c.is_ascii_digit());
    let is_unit = |word: &str| UNITS.contains(&word) || UNITS.contains(&word.trim_end_matches('.'));
    let has_unit = ends_in_digit && is_unit(bare);
    let has_sign = starts_in_digit && SIGNS.contains(&opened);
    let has_month = is_day(opened) && (is_month(bare) || is_joint(word) && is_month(closed(next)));
    let after_joint = is_joint(before) && is_month(bare) && at > 1 && is_day(words[at - 2]);
    let has_day = is_month(before) && is_day(bare) && before.starts_with(char::is_uppercase);
    let is_short = |word: &str| word.len() == 2 && word.ends_with('.') && word.starts_with(char::is_alphabetic);
    has_unit || has_sign || has_month || after_joint || has_day || is_postcode(opened, bare) || is_short(before) && is_short(word)
}

/// Returns a word without its trailing punctuation. Only an abbreviated unit, such as "Std.", keeps its period. A compound that starts with
/// a unit is shortened to the unit.
fn closed(word: &str) -> &str {
    let bare = word.trim_end_matches([',', ';', ':', '!', '?', ')', '”', '“', '"', '»', '…']);
    let bare = if UNITS.contains(&bare) { bare } else { bare.trim_end_matches('.') };
    // A unit can start a compound, as in "20 %-Aktion".
    bare.split_once('-').map_or(bare, |(unit, _)| if UNITS.contains(&unit) { unit } else { bare })
}

/// Returns whether a word is the "de" inside a Spanish or Portuguese date, as in "15 de diciembre".
fn is_joint(word: &str) -> bool {
    word == "de"
}

/// Returns whether the word ends with a day number: "3", "3.", "24.–26.", "3rd".
fn is_day(word: &str) -> bool {
    let bare = ["st", "nd", "rd", "th", "er", "º"].iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word);
    let digits = bare.trim_end_matches('.').rsplit(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    (1..=2).contains(&digits.len()) && bare.starts_with(|c: char| c.is_ascii_digit())
}

fn is_month(word: &str) -> bool {
    let name = word.trim_end_matches(['.', ',']).to_lowercase();
    let letters = name.chars().count();
    letters <= MONTH_LETTERS_MAX && name.chars().all(char::is_alphabetic) && MONTHS.iter().any(|month| name.starts_with(month))
}

/// Returns whether two words are a postcode, or a postcode and its town or state: "TR26 1NP", "1012 AB", "04109 Leipzig", "OR 97205".
fn is_postcode(before: &str, word: &str) -> bool {
    let of = |word: &str, digits: usize| word.len() == digits && word.bytes().all(|c| c.is_ascii_digit());
    let capitals = |word: &str| word.len() == 2 && word.bytes().all(|c| c.is_ascii_uppercase());
    let outward = (2..=4).contains(&before.len())
        && before.starts_with(|c: char| c.is_ascii_uppercase())
        && before.contains(|c: char| c.is_ascii_digit())
        && before.bytes().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
    let inward = word.len() == 3 && word.starts_with(|c: char| c.is_ascii_digit()) && word.is_char_boundary(1);
    let inward = inward && word[1..].bytes().all(|c| c.is_ascii_uppercase());
    let town = of(before, 5) && word.starts_with(char::is_uppercase);
    outward && inward || of(before, 4) && capitals(word) || town || capitals(before) && of(word, 5)
}

/// Returns the index of the word after the telephone number that starts at `at`. Returns `None` if no number starts there, or if the number
/// is too long for one line.
fn telephone(words: &[&str], at: usize) -> Option<usize> {
    let is_part = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_digit() || "+/()-–.".contains(c));
    let opens = words[at].trim_start_matches(['(', '+']).starts_with(|c: char| c.is_ascii_digit())
        && (words[at].starts_with(['0', '+', '(']) && is_part(words[at]));
    if !opens {
        return None;
    }
    let more = words[at + 1..].iter().take_while(|word| is_part(word.trim_end_matches([',', ';', ':', '!', '?']))).count();
    let all = words[at..=at + more].join(" ");
    let digits = all.bytes().filter(u8::is_ascii_digit).count();
    (more > 0 && digits >= TELEPHONE_DIGITS_MIN && all.len() <= TELEPHONE_CHARACTERS_MAX).then_some(at + more + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression test: on phones, lines ended inside "10 / % Rabatt", "TR26 / 1NP", "7. / Dezember" and telephone numbers.
    #[test]
    fn a_line_end_never_separates_a_number_from_what_it_counts() {
        for (text, expected) in [
            ("gibt es 10 % Rabatt.", "gibt es 10~% Rabatt."),
            ("die 20 %-Aktion für 14,90 €, heute", "die 20~%-Aktion für 14,90~€, heute"),
            ("-20 % la première année", "-20~% la première année"),
            ("bis 7. Dezember an", "bis 7.~Dezember an"),
            ("by 8 December, please", "by 8~December, please"),
            ("on January 15, 2027", "on January~15, 2027"),
            ("el 15 de diciembre a las 17:00", "el 15~de~diciembre a las 17:00"),
            ("24.–26. Dez. und Di–Sa 10–18 Uhr", "24.–26.~Dez. und Di–Sa 10–18~Uhr"),
            ("02:00-04:00 UTC. The app", "02:00-04:00~UTC. The app"),
            ("Cornwall TR26 1NP", "Cornwall TR26~1NP"),
            ("Bath BA1 5BG, UK", "Bath BA1~5BG, UK"),
            ("04109 Leipzig", "04109~Leipzig"),
            ("Portland, OR 97205, USA", "Portland, OR~97205, USA"),
            ("unter 040 / 555 01 23 oder", "unter 040~/~555~01~23 oder"),
            ("Call us on 01736 555 014.", "Call us on 01736~555~014."),
            ("+44 20 7946 0000", "+44~20~7946~0000"),
            ("from € 30, z. B. tea", "from €~30, z.~B. tea"),
            ("10 12 people, 3 options, 2 mugs", "10 12 people, 3 options, 2 mugs"),
            ("We may 3 times", "We may 3 times"),
            ("{{ code | default(\"10 % off\") }} for 10 %", "{{ code | default(\"10 % off\") }} for 10~%"),
        ] {
            assert_eq!(glued(text).replace(NO_BREAK, "~"), expected);
        }
    }
}
