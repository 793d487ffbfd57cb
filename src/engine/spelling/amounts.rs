//! Finds nouns that do not agree with their number ("3 day away", "a few link", "one of the best part"), amounts with a currency or percent
//! sign in the wrong place, and dates that do not exist.

use jiff::civil::{Date, Weekday};

use super::class_table::{ADJECTIVE, NOUN, PLURAL_NOUN, SUPERLATIVE};
use super::findings::FindingKind;
use super::inflection::{add_s, remove_s};
use super::patterns::Hit;
use super::reading::{Number, before, ends_phrase, has, is_number, lower, next_word, noun_number, word};
use super::rules::RuleHit;
use super::tokens::{Token, TokenKind};

/// Words that need a plural after them.
const MANY: [&str; 28] = [
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "fifteen", "twenty", "thirty",
    "forty", "fifty", "sixty", "seventy", "eighty", "ninety", "hundred", "numerous", "several", "many", "few", "these", "those",
    "various",
];

/// Nouns whose plural has no ending, and words that can follow a number in the singular, such as units.
const UNCHANGED: [&str; 34] = [
    "percent", "million", "billion", "thousand", "hundred", "dozen", "half", "quarter", "am", "pm", "series", "kg", "lb", "oz",
    "cm", "mm", "sheep", "fish", "plus", "off", "aircraft", "watt", "foot", "euro", "yen", "each", "other", "second", "third",
    "free", "ml", "mg", "min", "max",
];

/// Returns the wrong amounts and dates in English text.
pub(super) fn wrong_amounts<'r>(tokens: &[Token<'_>]) -> Vec<RuleHit<'r>> {
    let check = |at| {
        singular_after_many(tokens, at)
            .or_else(|| plural_after_one(tokens, at))
            .or_else(|| one_of(tokens, at))
            .or_else(|| date_preposition(tokens, at))
    };
    (0..tokens.len()).filter_map(check).collect()
}

fn hit<'r>(first: usize, end: usize, rule: &'static str, suggestion: String) -> RuleHit<'r> {
    RuleHit { hit: Hit { first, end }, rule, kind: FindingKind::Grammar, suggestions: vec![suggestion], confidence: 0.8 }
}

/// Skips up to two adjectives, and returns the position of the noun.
fn noun_after(tokens: &[Token<'_>], mut at: usize) -> Option<usize> {
    for _ in 0..2 {
        let token = next_word(tokens, at)?;
        if !has(token, ADJECTIVE | SUPERLATIVE)
            || has(token, PLURAL_NOUN)
            || matches!(token.lower.as_str(), "more" | "people")
            || ends_phrase(tokens, at + 1)
        {
            break;
        }
        at += 1;
    }
    Some(at)
}

/// Finds a singular noun after a number, or after another word that needs a plural: "3 day away", "these product".
fn singular_after_many<'r>(tokens: &[Token<'_>], at: usize) -> Option<RuleHit<'r>> {
    let many = tokens.get(at)?;
    let is_year = many.text.len() == 4 && (many.text.starts_with("19") || many.text.starts_with("20"));
    let digits = is_number(many)
        && !is_year
        && (many.text.len() < 5 || many.text.contains([',', '.']))
        && (many.text.contains(',') || many.text.parse::<f64>().is_ok_and(|number| number >= 2.0));
    if !digits && !MANY.contains(&many.lower.as_str()) || many.is_capitalized() && !many.starts_sentence {
        return None;
    }
    // After a noun, a name, a sign or another number, digits do not count the next noun: "page 3", "May 3", "$20 gift".
    let previous = at.checked_sub(1).and_then(|at| tokens.get(at)).filter(|previous| !matches!(previous.text, "." | "!" | "?"));
    let named = previous.is_some_and(|previous| {
        let names = previous.is_capitalized() && !previous.starts_sentence
            || has(previous, NOUN) && !has(previous, ADJECTIVE)
            || previous.kind == TokenKind::Code
            || is_number(previous);
        let marks = previous.kind == TokenKind::Mark && !matches!(previous.text, "," | "(" | ":" | "\"");
        digits && (names || marks) && !matches!(previous.lower.as_str(), "only" | "than" | "least" | "most" | "over")
    });
    let noun_at = noun_after(tokens, at + 1)?;
    let noun = next_word(tokens, noun_at)?;
    // After words such as "many" and "those", the next word must be unambiguously a noun, because "many try" and "those behind" are
    // correct.
    let only_noun = digits || matches!(many.lower.as_str(), "few" | "several") || noun.word_classes == NOUN;
    let singular = only_noun
        && noun.lower.len() > 2
        && has(noun, NOUN)
        && !has(noun, PLURAL_NOUN | ADJECTIVE)
        && noun_number(noun) == Some(Number::Singular)
        && !noun.is_capitalized();
    // A noun before "and" or "or" can be a part of a compound with a later plural: "two bed and breakfast hotels".
    let joined = word(tokens, noun_at + 1).is_some_and(|next| next.lower == "and" || next.lower == "or");
    let single = joined && many.lower != "few" && noun.word_classes != NOUN;
    let hyphenated = tokens.get(at + 1).is_some_and(|next| next.text == "-");
    if named || !singular || single || hyphenated || UNCHANGED.contains(&noun.lower.as_str()) || !ends_phrase(tokens, noun_at + 1)
    {
        return None;
    }
    Some(hit(noun_at, noun_at + 1, "PLURAL_NEEDED", add_s(&noun.lower)))
}

/// Finds a plural after "1", "every" or "each": "1 days".
fn plural_after_one<'r>(tokens: &[Token<'_>], at: usize) -> Option<RuleHit<'r>> {
    let one = tokens.get(at)?;
    let noun = next_word(tokens, at + 1)?;
    let previous = before(tokens, at);
    let is_one = one.text == "1"
        && !matches!(previous, "$" | "/" | "-" | "." | "#" | "no" | "number")
        && !word(tokens, at.wrapping_sub(1)).is_some_and(Token::is_capitalized)
        || matches!(one.lower.as_str(), "every" | "each") && noun.lower != "days";
    let plural =
        noun_number(noun) == Some(Number::Plural) && !has(noun, super::class_table::THIRD_PERSON) && !noun.is_capitalized();
    let units = one.text == "1"
        && matches!(
            noun.lower.as_str(),
            "days" | "weeks" | "months" | "years" | "hours" | "minutes" | "items" | "points" | "miles" | "times"
        );
    (is_one && (plural && ends_phrase(tokens, at + 2) || units))
        .then(|| hit(at + 1, at + 2, "SINGULAR_NEEDED", remove_s(&noun.lower)))
}

/// Finds a singular after "one of the", and after "many of the" with an adjective: "one of the hardest part".
fn one_of<'r>(tokens: &[Token<'_>], at: usize) -> Option<RuleHit<'r>> {
    let one = word(tokens, at)?;
    // After an adjective, "one" replaces a noun: "the biggest one of the year".
    let follows = at.checked_sub(1).and_then(|at| word(tokens, at)).is_some_and(|word| has(word, ADJECTIVE | SUPERLATIVE))
        && !one.starts_sentence;
    let starts = !follows
        && matches!(one.lower.as_str(), "one" | "some" | "many" | "two" | "most" | "any")
        && lower(tokens, at + 1) == "of"
        && matches!(lower(tokens, at + 2), "the" | "our" | "my" | "your" | "their" | "these" | "those" | "its");
    if !starts {
        return None;
    }
    let noun_at = noun_after(tokens, at + 3)?;
    let noun = next_word(tokens, noun_at)?;
    let singular =
        noun_number(noun) == Some(Number::Singular) && has(noun, NOUN) && !has(noun, SUPERLATIVE) && !noun.is_capitalized();
    let counted = one.lower == "one" || noun_at > at + 3 && one.lower == "many";
    (counted && singular && ends_phrase(tokens, noun_at + 1))
        .then(|| hit(noun_at, noun_at + 1, "PLURAL_NEEDED", add_s(&noun.lower)))
}

/// Returns the amounts in English text with a sign in the wrong place ("25$", "%10") or with a decimal comma ("$24,99").
pub(super) fn wrong_signs<'r>(tokens: &[Token<'_>]) -> Vec<RuleHit<'r>> {
    let check = |at: usize| {
        let (first, second) = (tokens.get(at)?, tokens.get(at + 1)?);
        let joined = !second.spaced && !second.new_line;
        let stands_free =
            |at: usize| tokens.get(at).is_none_or(|token| token.spaced || token.new_line || token.kind == TokenKind::Mark);
        if is_number(first)
            && matches!(second.text, "$" | "£")
            && joined
            && stands_free(at + 2)
            && !matches!(before(tokens, at), "$" | "£" | "€")
        {
            return Some(hit(at, at + 2, "SIGN_BEFORE_AMOUNT", format!("{}{}", second.text, first.text)));
        }
        if first.text == "%" && is_number(second) && joined && (first.spaced || at == 0) && stands_free(at + 2) {
            return Some(hit(at, at + 2, "SIGN_AFTER_AMOUNT", format!("{}%", second.text)));
        }
        let decimal_comma =
            second.text.rsplit_once(',').is_some_and(|(_, cents)| cents.len() == 2) && second.text.matches(',').count() == 1;
        let wrong = matches!(first.text, "$" | "£") && is_number(second) && joined && decimal_comma && !second.text.contains('.');
        wrong.then(|| hit(at, at + 2, "DECIMAL_POINT", format!("{}{}", first.text, second.text.replace(',', "."))))
    };
    (0..tokens.len()).filter_map(check).collect()
}

/// Finds the wrong preposition before a date: "in August 15".
fn date_preposition<'r>(tokens: &[Token<'_>], at: usize) -> Option<RuleHit<'r>> {
    let (_, months) = MONTHS.first()?;
    let is_month =
        next_word(tokens, at + 1).is_some_and(|month| month.is_capitalized() && months.contains(&month.lower.as_str()));
    let day = tokens.get(at + 2).filter(|day| day.spaced && is_number(day))?.text.parse::<u8>().ok()?;
    let wrong = is_month && (1..=31).contains(&day) && matches!(lower(tokens, at), "in" | "at");
    wrong.then(|| hit(at, at + 1, "DATE_PREPOSITION", "on".to_owned()))
}

/// The names of the months from January to December, in the languages with rules.
const MONTHS: [(&str, [&str; 12]); 4] = [
    (
        "en",
        [
            "january",
            "february",
            "march",
            "april",
            "may",
            "june",
            "july",
            "august",
            "september",
            "october",
            "november",
            "december",
        ],
    ),
    (
        "de",
        ["januar", "februar", "märz", "april", "mai", "juni", "juli", "august", "september", "oktober", "november", "dezember"],
    ),
    (
        "fr",
        ["janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre", "décembre"],
    ),
    (
        "es",
        [
            "enero",
            "febrero",
            "marzo",
            "abril",
            "mayo",
            "junio",
            "julio",
            "agosto",
            "septiembre",
            "octubre",
            "noviembre",
            "diciembre",
        ],
    ),
];

const WEEKDAYS: [(&str, [&str; 7]); 4] = [
    ("en", ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]),
    ("de", ["montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag"]),
    ("fr", ["lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"]),
    ("es", ["lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo"]),
];

/// Returns whether a lowercase word is the name of a day of the week or a month in this language.
pub(super) fn is_day_or_month(word: &str, code: &str) -> bool {
    let in_months = MONTHS.iter().any(|(language, months)| *language == code && months.contains(&word));
    in_months || WEEKDAYS.iter().any(|(language, days)| *language == code && days.contains(&word))
}

/// Returns the dates that do not exist ("June 31"), and those with a wrong day of the week.
pub(super) fn wrong_dates<'r>(tokens: &[Token<'_>], code: &str) -> Vec<RuleHit<'r>> {
    let of = |at: usize| wrong_date(tokens, at, code);
    (0..tokens.len()).filter_map(of).collect()
}

/// Checks the date whose month is the token at `at`.
fn wrong_date<'r>(tokens: &[Token<'_>], at: usize, code: &str) -> Option<RuleHit<'r>> {
    let months = MONTHS.iter().find(|(language, _)| *language == code).map(|(_, months)| months)?;
    let days = WEEKDAYS.iter().find(|(language, _)| *language == code).map(|(_, days)| days)?;
    // In English, a lowercase "may" or "march" is another word: "you may".
    let month_token = word(tokens, at).filter(|month| code != "en" || month.is_capitalized())?;
    let month = i8::try_from(months.iter().position(|month| *month == month_token.lower)? + 1).ok()?;
    let day_of = |at: usize| {
        let token = tokens.get(at).filter(|token| matches!(token.kind, TokenKind::Number | TokenKind::Code))?;
        let digits = token.text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        digits.parse::<i8>().ok().filter(|day| (1..=39).contains(day) && digits.len() <= 2)
    };
    // The day precedes the month ("2 December", "2. Dezember", "el 2 de diciembre") or, only in English, follows it ("December 2").
    let skipped = |at: usize| usize::from(matches!(lower(tokens, at), "." | "de" | "of"));
    let day_before = at.checked_sub(1).and_then(|before| {
        let position = before.checked_sub(skipped(before))?;
        day_of(position).map(|day| (position, day))
    });
    let day_after = || {
        (code == "en")
            .then(|| day_of(at + 1).filter(|_| tokens.get(at + 1).is_some_and(|day| day.spaced)).map(|day| (at + 1, day)))?
    };
    // The number before the month can be a part of something else, such as a time: "18:30 June".
    let (day_at, day) =
        day_before.filter(|(position, _)| !matches!(before(tokens, *position), ":" | "-" | "$" | "/")).or_else(day_after)?;
    let (first, last) = (day_at.min(at), day_at.max(at));
    let after = last + 1 + usize::from(matches!(lower(tokens, last + 1), "," | "de"));
    let year = tokens
        .get(after)
        .filter(|token| is_number(token) && token.text.len() == 4)
        .and_then(|token| token.text.parse::<i16>().ok())
        .filter(|year| (1900..=2100).contains(year));
    let report = |first: usize, end: usize, suggestions| {
        Some(RuleHit { hit: Hit { first, end }, rule: "WRONG_DATE", kind: FindingKind::Grammar, suggestions, confidence: 0.85 })
    };
    // If the text names no year, February 29 is accepted.
    let Ok(date) = Date::new(year.unwrap_or(2024), month, day) else {
        return report(first, last + 1, Vec::new());
    };
    let is_between = |at: usize| matches!(lower(tokens, at), "," | "the" | "dem" | "den");
    // A comma and an article can stand between the weekday and the date.
    let written = (0..first).rev().take(3).find(|at| !is_between(*at))?;
    let named = days.iter().position(|day| *day == lower(tokens, written))?;
    let weekday = usize::try_from(Weekday::to_monday_zero_offset(date.weekday())).ok()?;
    let name = days.get(weekday).copied()?;
    let suggestion = super::rules::with_case_of(tokens.get(written..=written)?, name);
    // Only the weekday is reported, because a correction replaces exactly the reported text.
    if year.is_some() && named != weekday { report(written, written + 1, vec![suggestion]) } else { None }
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    fn words(hits: Vec<RuleHit<'_>>, tokens: &[Token<'_>]) -> Vec<String> {
        hits.into_iter()
            .map(|hit| tokens[hit.hit.first..hit.hit.end].iter().map(|token| token.text).collect::<Vec<_>>().join(" "))
            .collect()
    }

    #[test]
    fn finds_nouns_that_do_not_fit_their_number() {
        for (text, expected) in [
            ("It is only 3 day away.", "day"),
            ("There are more than 40 vendor and food.", "vendor"),
            ("Here are a few link worth your time.", "link"),
            ("It is one of the hardest part of the job.", "part"),
            ("You have 1 days left.", "days"),
        ] {
            let tokens = tokens(text);
            assert_eq!(words(wrong_amounts(&tokens), &tokens), [expected], "{text}");
        }
    }

    #[test]
    fn accepts_nouns_that_fit_their_number() {
        for text in [
            "A 3 day trip.",
            "Save 20 percent in May.",
            "On May 3 we open.",
            "See page 4 for more.",
            "Few people know.",
            "A $20 gift for you.",
            "One of the team members said so.",
            "Two for one.",
        ] {
            let tokens = tokens(text);
            assert_eq!(wrong_amounts(&tokens), [], "{text}");
        }
    }

    #[test]
    fn finds_signs_in_the_wrong_place() {
        for (text, expected) in
            [("We raised 25,000$ for it.", "$25,000"), ("Get %10 off.", "10%"), ("It costs $24,99 now.", "$24.99")]
        {
            let found: Vec<_> = wrong_signs(&tokens(text)).into_iter().flat_map(|hit| hit.suggestions).collect();
            assert_eq!(found, [expected], "{text}");
        }
        for text in ["It costs $25,000.", "It costs $1,299.99.", "Get 10% off.", "US$5 or 5 $"] {
            assert_eq!(wrong_signs(&tokens(text)), [], "{text}");
        }
    }

    #[test]
    fn the_correction_of_a_weekday_keeps_the_date() {
        for (text, code, expected) in [
            ("Open until Friday, 3 December 2026.", "en", "Open until Thursday, 3 December 2026."),
            ("It closes on Monday, 25 December 2026 at noon.", "en", "It closes on Friday, 25 December 2026 at noon."),
            ("See you on Friday, December 3, 2026.", "en", "See you on Thursday, December 3, 2026."),
            ("Until Friday the 3rd of December 2026 only.", "en", "Until Thursday the 3rd of December 2026 only."),
            ("Nur am Freitag, dem 3. Dezember 2026.", "de", "Nur am Donnerstag, dem 3. Dezember 2026."),
        ] {
            let tokens = tokens(text);
            let mut hits = wrong_dates(&tokens, code);
            assert_eq!(hits.len(), 1, "{text}");
            let hit = hits.remove(0);
            let (start, end) = (tokens[hit.hit.first].start, tokens[hit.hit.end - 1].end);
            assert_eq!(format!("{}{}{}", &text[..start], hit.suggestions[0], &text[end..]), expected);
        }
    }

    #[test]
    fn finds_dates_that_do_not_exist() {
        for (text, code, expected) in [
            ("Enroll until June 31 now.", "en", "June 31"),
            ("It ends on 31 June.", "en", "31 June"),
            ("On February 29, 2025, we close.", "en", "February 29"),
            ("See you on Monday, December 2, 2025.", "en", "Monday"),
            ("Bis zum 31. April", "de", "31 . April"),
            ("hasta el 31 de junio", "es", "31 de junio"),
        ] {
            let tokens = tokens(text);
            assert_eq!(words(wrong_dates(&tokens, code), &tokens), [expected], "{text}");
        }
        for text in
            ["On June 30.", "February 29", "See you on Tuesday, December 2, 2025.", "You may 40 times", "In March 2025 we"]
        {
            assert_eq!(wrong_dates(&tokens(text), "en"), [], "{text}");
        }
    }
}
