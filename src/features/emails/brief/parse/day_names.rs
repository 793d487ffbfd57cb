//! Writes the names of months and weekdays in full and with the capitalization of the prompt's language: "sat 12 dec" becomes "Saturday 12
//! December".

use jiff::civil::Date;

use super::dates;
use super::lexicon::{List, Mark};
use super::prompt::{Prompt, Range};
use super::times;
use super::tokens::{Kind, fold};

/// The maximum number of letters in the abbreviated name of a month or weekday.
const SHORT_LETTERS_MAX: usize = 5;

/// An hour symbol with at most this many letters stays joined to its number: "19h".
const SHORT_HOUR_LETTERS_MAX: usize = 2;

/// The day that relative days refer to. Any day will do, because only the words of the dates are needed here, not their values.
const ANY_DAY: Date = Date::constant(2000, 1, 1);

/// Words for parts of the day that follow the name of a weekday.
const PARTS: [&str; 24] = [
    "morning",
    "mornings",
    "afternoon",
    "evening",
    "evenings",
    "night",
    "nights",
    "vormittag",
    "nachmittag",
    "nachm",
    "abend",
    "mittag",
    "ochtend",
    "middag",
    "avond",
    "matin",
    "aprem",
    "soir",
    "noche",
    "tarde",
    "mattina",
    "pomeriggio",
    "sera",
    "manha",
];

/// Returns whether an abbreviation always means a weekday in the prompt's language.
fn is_only_day(prompt: &Prompt<'_>, at: usize) -> bool {
    let own: &[&str] = match prompt.lexicon().code {
        "en" => &["thu", "thur", "fri"],
        "es" => &["mier", "juev", "vier", "sab"],
        "it" => &["gio", "ven", "sab"],
        "pt" => &["sab"],
        "nl" => &["vr", "za"],
        _ => &[],
    };
    own.contains(&prompt.fold(at))
}

/// Returns the text of a range with the names of months, weekdays and hours written in full.
pub fn spelled(prompt: &Prompt<'_>, range: Range) -> String {
    let mut text = String::new();
    let (mut from, mut at) = (range.from, range.from);
    while at < range.to {
        let Some(name) = month(prompt, at).or_else(|| weekday(prompt, at)).or_else(|| hour(prompt, at)) else {
            at += 1;
            continue;
        };
        let is_short = fold(name.trim_start()) != prompt.fold(at);
        // The full name replaces an abbreviation and its period, unless the period can also end the sentence.
        let has_period = is_short && prompt.fold(at + 1) == "." && prompt.words.is_glued(at + 1) && at + 2 < range.to;
        text.push_str(before(prompt, from, at));
        text.push_str(&name);
        at += 1 + usize::from(has_period);
        from = at;
        if from < range.to && !prompt.words.is_glued(from) {
            text.push(' ');
        }
    }
    text.push_str(prompt.text(Range::of(from, range.to)));
    text
}

/// Returns the words `from..at` with the space after them.
fn before<'a>(prompt: &Prompt<'a>, from: usize, at: usize) -> &'a str {
    if from >= at { "" } else { &prompt.words.text[prompt.words.start(from)..prompt.words.start(at)] }
}

/// Returns the phrase that consists only of this word, if the list contains such a phrase in the prompt's language.
fn mark(prompt: &Prompt<'_>, list: List, at: usize) -> Option<Mark> {
    prompt.at(list, at).find(|mark| mark.to == at + 1 && mark.language == prompt.language)
}

/// Returns whether the names of months and weekdays are capitalized in the prompt's language.
fn has_capitals(prompt: &Prompt<'_>) -> bool {
    matches!(prompt.lexicon().code, "en" | "de")
}

fn cased(prompt: &Prompt<'_>, name: &str) -> String {
    if has_capitals(prompt) { crate::base::text::capitalized(name) } else { name.to_owned() }
}

/// Returns the weekdays at the start of a line of opening hours, with their names in full: "Monday–Friday" for "MON-FRI 9-5".
pub fn timetable_days(prompt: &Prompt<'_>, range: Range) -> Option<String> {
    let name = |at: usize| {
        let marks = prompt.at(List::Weekday, at).chain(prompt.at(List::ShortWeekday, at));
        marks
            .filter(|mark| mark.to == at + 1 && mark.language == prompt.language)
            .find_map(|mark| prompt.lexicon().weekday(mark.value))
    };
    let names: Vec<&str> = (range.from..range.to).filter_map(name).collect();
    let joints: Vec<usize> = (range.from..range.to).filter(|at| name(*at).is_none() && prompt.fold(*at) != ".").collect();
    let is_row = prompt.line_start(range.from) == range.from && dates::has_hours(prompt, range.to) && name(range.from).is_some();
    let name = |at: usize| cased(prompt, names[at]);
    match (names.len(), joints.as_slice()) {
        (1, []) if is_row => Some(name(0)),
        (2, [joint]) if is_row && prompt.is(List::To, *joint) => {
            let are_two = prompt.is(List::And, *joint) || matches!(prompt.fold(*joint), "&" | "+" | "/");
            let dash = if names[0].contains('-') { " – " } else { "–" };
            Some(format!("{}{}{}", name(0), if are_two { " & " } else { dash }, name(1)))
        }
        _ => None,
    }
}

/// Returns the name of a month, and adds the space before it if the space is missing: "15.mai" becomes "15. Mai".
fn month(prompt: &Prompt<'_>, at: usize) -> Option<String> {
    let name = month_name(prompt, at);
    let is_glued = at > 1
        && prompt.fold(at - 1) == "."
        && prompt.kind(at - 2) == Kind::Number
        && prompt.words.is_glued(at)
        && mark(prompt, List::Month, at).is_some();
    if is_glued { Some(format!(" {}", name.unwrap_or_else(|| prompt.raw(at).to_owned()))) } else { name }
}

fn month_name(prompt: &Prompt<'_>, at: usize) -> Option<String> {
    let own = mark(prompt, List::Month, at)?;
    // Before a number, a word that names both a month and a weekday means the weekday: "mar 9" is Tuesday the 9th, because the month
    // follows the day in the languages that have such words.
    let is_day = mark(prompt, List::ShortWeekday, at).is_some() && prompt.kind(at + 1) == Kind::Number;
    if is_day && !(at > 0 && prompt.kind(at - 1) == Kind::Number) {
        return None;
    }
    let name = prompt.lexicon().month(own.value)?;
    let is_number = |at: usize| prompt.kind(at) == Kind::Number;
    let follows = |at: usize| at > 0 && is_number(at - 1);
    let is_joint = |at: usize| {
        [List::Of, List::Ordinal].into_iter().any(|list| prompt.before(list, at).is_some_and(|from| from + 1 == at))
            || at > 0 && prompt.fold(at - 1) == "."
    };
    let period = usize::from(prompt.fold(at + 1) == "." && prompt.words.is_glued(at + 1));
    let has_day = follows(at)
        || is_joint(at) && (follows(at - 1) || at > 1 && is_joint(at - 1) && follows(at - 2))
        || is_number(at + 1 + period);
    let is_short = fold(name) != prompt.fold(at) && prompt.raw(at).chars().count() <= SHORT_LETTERS_MAX;
    if is_short {
        let is_bare = follows(at) && matches!(prompt.lexicon().code, "es" | "pt");
        let is_part =
            prompt.before(List::PartOf, at).is_some() && prompt.raw(at).chars().count() > 2 && !prompt.is(List::Common, at);
        let is_part = is_part && has_capitals(prompt) && !matches!(prompt.fold(at), "may" | "mar" | "mai");
        return (has_day || is_part).then(|| if is_bare { format!("de {name}") } else { cased(prompt, name) });
    }
    let is_led = [List::PartOf, List::OnWord, List::FromWord, List::UntilWord, List::Of]
        .into_iter()
        .any(|list| prompt.before(list, at).is_some());
    // Some names of months, such as "may" and "march", are also verbs.
    let is_verb = prompt.is(List::Finite, at) || prompt.raw(at).chars().count() <= SHORT_LETTERS_MAX;
    (has_capitals(prompt) && is_lowercase(prompt, at) && (has_day || is_led || !is_verb)).then(|| cased(prompt, prompt.raw(at)))
}

#[expect(clippy::too_many_lines, reason = "the order of these rules is their meaning: the first that fits decides")]
fn weekday(prompt: &Prompt<'_>, at: usize) -> Option<String> {
    // `corrected` replaces misspelled names later, together with other misspelled words.
    if prompt.lexicon().rewritten(prompt.raw(at)).is_some() {
        return None;
    }
    if let Some(own) = mark(prompt, List::Weekday, at) {
        let name = prompt.lexicon().weekday(own.value)?;
        let is_plural = prompt.fold(at).len() == fold(name).len() + 1 && prompt.fold(at).ends_with('s');
        // A German weekday with "s" is an adverb, which stays in lowercase: "montags".
        let is_adverb = is_plural && prompt.lexicon().code == "de";
        // A weekday before a noun can lack its apostrophe: "sundays tasting".
        let is_noun = prompt.kind(at + 1) == Kind::Word && !prompt.is(List::Common, at + 1) && !prompt.is(List::And, at + 1);
        let is_owner = is_plural && prompt.lexicon().code == "en" && is_noun && is_lowercase(prompt, at);
        if is_owner && !prompt.is(List::To, at + 1) && !prompt.is(List::Finite, at + 1) && !prompt.is(List::Please, at + 1) {
            return Some(format!("{}'s", cased(prompt, name)));
        }
        let is_short = prompt.raw(at).chars().count() <= SHORT_LETTERS_MAX && fold(name) != prompt.fold(at);
        if is_short {
            return Some(cased(prompt, name));
        }
        return (has_capitals(prompt) && is_lowercase(prompt, at) && !is_adverb).then(|| cased(prompt, prompt.raw(at)));
    }
    let own = mark(prompt, List::ShortWeekday, at)?;
    let name = prompt.lexicon().weekday(own.value)?;
    let is_day = |at: usize| mark(prompt, List::ShortWeekday, at).is_some();
    let next = at + 1 + usize::from(matches!(prompt.fold(at + 1), "." | ","));
    let has_date = dates::date(prompt, at, ANY_DAY).is_some_and(|date| {
        // A number that can be a time is not a date: "fri 8.30".
        let numbers = (at..date.range.to).any(|at| prompt.kind(at) == Kind::Number);
        // After the article "le", the number is a day, even if it can be an hour: "Le dim. 10 à 11h" is Sunday the 10th at 11 o'clock.
        let has_article = at > 0 && prompt.fold(at - 1) == "le";
        let is_hour = !has_article && times::time(prompt, next).is_some_and(|time| time.range.to >= date.range.to);
        date.range.from == at && numbers && !is_hour && (prompt.has(List::Month, date.range) || date.range.len() > 1)
    });
    // A time after a preposition follows the weekday: "fri from 8.30".
    let led = [List::FromWord, List::UntilWord, List::TimeAt].into_iter().find_map(|list| prompt.end(list, next));
    let has_hour =
        led.and_then(|led| times::clock(prompt, led)).is_some_and(|clock| prompt.raw(clock.end - 1).contains(['.', ':']));
    let has_time = times::time(prompt, next).is_some_and(|time| time.range.len() > 1 || prompt.fold(next).contains(':'));
    let is_pair = |one: usize, other: usize| {
        (matches!(prompt.fold(one), "-" | "+" | "&" | "/") || prompt.is(List::And, one)) && is_day(other)
    };
    let is_range = prompt.end(List::To, at + 1).is_some_and(is_day)
        || prompt.before(List::To, at).is_some_and(|to| to > 0 && is_day(to - 1));
    let has_partner = is_range || is_pair(at + 1, at + 2) || at > 1 && is_pair(at - 1, at - 2);
    // Days that are joined by a sign or "and" are a list ("sat + sun", "sex e sab"), except the same word twice ("so und so").
    let joins = |one: usize, other: usize| {
        let is_joint =
            matches!(prompt.fold(one), "+" | "&") || prompt.is(List::And, one) && prompt.fold(other) != prompt.fold(at);
        is_joint && is_day(other)
    };
    let follows = |other: usize| is_day(other) && is_day(other + 1);
    let is_listed = joins(at + 1, at + 2)
        || at > 1 && joins(at - 1, at - 2)
        || follows(at + 1)
        || at > 0 && is_day(at - 1) && (is_day(at + 1) || at > 1 && is_day(at - 2));
    // A word for "closed" or a German "dann" follows the weekday: "sat closed", "mo dann wieder ab 9".
    let is_followed = prompt.is(List::CueClosed, at + 1) || prompt.lexicon().code == "de" && prompt.fold(at + 1) == "dann";
    let starts = at == 0 || prompt.kind(at - 1) != Kind::Word;
    if (is_listed || is_followed && starts) && is_lowercase(prompt, at) {
        return Some(cased(prompt, name));
    }
    if (has_date || has_hour && is_lowercase(prompt, at)) && !has_partner {
        return Some(cased(prompt, name));
    }
    // A preposition, a part of the day or another weekday shows that the word is a weekday: "by wed", "wed morning", "sat + sun".
    let is_bounded =
        [List::UntilWord, List::FromWord].into_iter().any(|list| prompt.before(list, at).is_some_and(|from| from < at));
    // Short names that are also other words need more evidence than a preposition: "bis so", "jeu", "mer".
    let is_clear = is_bounded && !matches!(prompt.fold(at), "so" | "zo" | "jeu" | "mer" | "mar")
        || PARTS.contains(&prompt.fold(at + 1))
        || is_only_day(prompt, at);
    if is_clear && !has_partner && is_lowercase(prompt, at) {
        return Some(cased(prompt, name));
    }
    // A short name after "on" is a weekday: "charged twice on sat".
    let is_led = prompt.lexicon().code == "en" && at > 0 && prompt.fold(at - 1) == "on" && prompt.raw(at).len() == 3;
    let is_noun = prompt.kind(at + 1) == Kind::Word && !prompt.is(List::Common, at + 1) && !prompt.is(List::And, at + 1);
    if is_led && !is_noun {
        return Some(cased(prompt, name));
    }
    if has_time && !has_partner && !has_capitals(prompt) {
        return Some(cased(prompt, name));
    }
    let is_day = has_partner || has_time;
    (is_day && has_capitals(prompt) && is_lowercase(prompt, at)).then(|| cased(prompt, prompt.raw(at)))
}

/// Returns the word for hours with the missing space before it: "uhr" in "19uhr". In Dutch, "u" is written in full after a range of hours.
fn hour(prompt: &Prompt<'_>, at: usize) -> Option<String> {
    let is_range = at > 2 && matches!(prompt.fold(at - 2), "-" | "–") && prompt.kind(at - 3) == Kind::Number;
    if prompt.lexicon().code == "nl" && prompt.fold(at) == "u" && is_range && prompt.words.is_glued(at) {
        return Some(" uur".to_owned());
    }
    let is_hour = at > 0
        && prompt.kind(at - 1) == Kind::Number
        && prompt.words.is_glued(at)
        && prompt.end(List::Hour, at) == Some(at + 1)
        && prompt.raw(at).chars().count() > SHORT_HOUR_LETTERS_MAX;
    is_hour.then(|| format!(" {}", prompt.raw(at)))
}

fn is_lowercase(prompt: &Prompt<'_>, at: usize) -> bool {
    prompt.raw(at).chars().next().is_some_and(char::is_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::projects::brand::Brand;

    #[test]
    fn names_of_days_are_written_in_full() {
        for (text, written) in [
            ("the shop is open sat 12 dec from 10 to 4pm", "the shop is open Saturday 12 December from 10 to 4pm"),
            ("the market is on thurs 3 dec at 7pm", "the market is on Thursday 3 December at 7pm"),
            ("der laden ist am sa 12.12. von 10 bis 16 uhr offen", "der laden ist am Samstag 12.12. von 10 bis 16 uhr offen"),
            ("wir haben ab 3. jan wieder für euch offen", "wir haben ab 3. Januar wieder für euch offen"),
            ("the shop is open mon-fri 10-19 and may close early", "the shop is open Mon-Fri 10-19 and may close early"),
            ("die geranien erst nach dem 15.mai auspflanzen", "die geranien erst nach dem 15. Mai auspflanzen"),
            ("wir haben ab 3.Jan. wieder für euch offen", "wir haben ab 3. Januar wieder für euch offen"),
            ("le cours d'essai est le dim. 10 à 11h avec nous", "le cours d'essai est le dimanche 10 à 11h avec nous"),
            ("la tienda abre el vie 18 dic para los socios", "la tienda abre el viernes 18 de diciembre para los socios"),
            ("le magasin est ouvert sam 12 déc pour les clients", "le magasin est ouvert samedi 12 décembre pour les clients"),
        ] {
            let prompt = Prompt::read(text, &Brand::default());
            assert_eq!(spelled(&prompt, Range::of(0, prompt.words.len())), written);
        }
    }
}
