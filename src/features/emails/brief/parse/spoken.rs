//! Replaces dictated punctuation and spelled-out numbers with punctuation marks and digits: "twenty percent comma" becomes "20 percent,".
//!
//! The text keeps its length in characters, so that the spans of the brief are valid in the prompt.

use super::super::Brief;
use super::lexicon::List;
use super::prompt::Prompt;
use super::tokens::Kind;

/// The word lists of dictated punctuation, each with the mark that replaces its words.
const MARKS: [(List, &str); 8] = [
    (List::SpokenClose, ")"),
    (List::SpokenOpen, " ("),
    (List::SpokenQuestion, "?"),
    (List::SpokenExclamation, "!"),
    (List::SpokenColon, ":"),
    (List::SpokenComma, ","),
    (List::SpokenStop, "."),
    (List::SpokenLine, "."),
];

/// A prompt counts as dictated if it spells out at least this many punctuation marks, and more of them than it contains as symbols.
const MARKS_MIN: usize = 2;

/// Words to replace, with the punctuation mark or number that replaces them.
struct Change {
    from: usize,
    to: usize,
    text: String,
}

/// Returns the text of the prompt with punctuation marks and digits; `None` if the prompt spells out no punctuation and no numbers in
/// dates, times or prices.
pub fn written(prompt: &Prompt<'_>) -> Option<String> {
    let mut changes = signs(prompt);
    let mut at = 0;
    while at < prompt.words.len() {
        let Some((end, text)) = phone(prompt, at).or_else(|| day(prompt, at)).or_else(|| number(prompt, at)) else {
            at += 1;
            continue;
        };
        changes.push(Change { from: prompt.words.start(at), to: prompt.words.end(end - 1), text });
        at = end;
    }
    changes.sort_by_key(|change| change.from);
    let source = prompt.words.text;
    let (mut text, mut at) = (String::with_capacity(source.len()), 0);
    for change in &changes {
        let old = source[change.from..change.to].chars().count();
        let Some(rest) = old.checked_sub(change.text.chars().count()).filter(|_| change.from >= at) else { continue };
        text.push_str(&source[at..change.from]);
        text.push_str(&change.text);
        text.extend(std::iter::repeat_n(' ', rest));
        at = change.to;
    }
    text.push_str(&source[at..]);
    (text != source).then_some(text)
}

/// Returns the dictated punctuation marks, each placed directly after the word before it.
fn signs(prompt: &Prompt<'_>) -> Vec<Change> {
    let mut found = Vec::new();
    let mut at = 1;
    while at < prompt.words.len() {
        let sign = MARKS.iter().find_map(|(list, sign)| Some((prompt.end(*list, at)?, *sign)));
        let Some((end, sign)) = sign.filter(|_| prompt.kind(at - 1) != Kind::End) else {
            at += 1;
            continue;
        };
        found.push(Change { from: prompt.words.end(at - 1), to: prompt.words.end(end - 1), text: sign.to_string() });
        at = end;
    }
    let real = (0..prompt.words.len()).filter(|at| matches!(prompt.fold(*at), "," | "." | ":" | ";")).count();
    if found.len() < MARKS_MIN || found.len() <= real { Vec::new() } else { found }
}

/// Recognizes the spelled-out day before a month: "first of February", "neunzehnten Juni".
fn day(prompt: &Prompt<'_>, at: usize) -> Option<(usize, String)> {
    let mark = prompt.at(List::DayOrdinal, at).max_by_key(|mark| mark.to)?;
    let month = prompt.end(List::Of, mark.to).unwrap_or(mark.to);
    // A weekday and an article show that the ordinal is a day: "Wednesday the seventh".
    let weekday = at.checked_sub(2).filter(|before| prompt.is(List::Weekday, *before) && prompt.is(List::Article, before + 1));
    let is_day = prompt.is(List::Month, month) || weekday.is_some();
    let mark = Some(mark).filter(|_| is_day && prompt.kind(at) == Kind::Word)?;
    let sign = match prompt.lexicon().code {
        "en" if matches!(mark.value, 1 | 21 | 31) => "st",
        "en" if matches!(mark.value, 2 | 22) => "nd",
        "en" if matches!(mark.value, 3 | 23) => "rd",
        "en" => "th",
        "de" => ".",
        _ => "",
    };
    Some((mark.to, format!("{}{sign}", mark.value)))
}

/// The minimum number of consecutive spelled-out digits that form a telephone number.
const PHONE_DIGITS_MIN: usize = 6;

/// Recognizes a telephone number in words: "oh one six three two nine six oh".
fn phone(prompt: &Prompt<'_>, at: usize) -> Option<(usize, String)> {
    let digit = |at: usize| {
        let is_one = |mark: &super::lexicon::Mark| mark.to == at + 1 && mark.value < 10 && prompt.raw(at).chars().count() > 2;
        let spelled = prompt.at(List::Numeral, at).find(is_one).map(|mark| mark.value.to_string());
        spelled.or_else(|| prompt.is(List::SpokenZero, at).then(|| "0".to_owned()))
    };
    let digits: String = (at..prompt.words.len()).map_while(digit).collect();
    (digits.len() >= PHONE_DIGITS_MIN).then(|| (at + digits.len(), digits))
}

/// Recognizes a spelled-out number before "percent", a currency, a month or a word for a time.
fn number(prompt: &Prompt<'_>, at: usize) -> Option<(usize, String)> {
    let mark = prompt.at(List::Numeral, at).max_by_key(|mark| mark.to).filter(|mark| mark.value > 1)?;
    let units = [List::Percent, List::Currency, List::Month, List::Hour, List::Am, List::Pm];
    let is_unit = prompt.kind(mark.to) == Kind::Word && units.into_iter().any(|list| prompt.is(list, mark.to));
    // "Three hours to relax" can be the name of a product, so the number stays spelled out unless a word such as "at" precedes it.
    let is_hour = prompt.is(List::Hour, mark.to) && !prompt.is(List::Am, mark.to) && !prompt.is(List::Pm, mark.to);
    let leads = [List::TimeAt, List::FromWord, List::UntilWord, List::OnWord, List::Between, List::To];
    let is_led = leads.into_iter().any(|list| prompt.before(list, at).is_some());
    let is_unit = (is_unit && (!is_hour || is_led)) || prompt.fold(mark.to) == "%";
    let unit = Some(mark.to).filter(|_| is_unit && prompt.kind(at) == Kind::Word)?;
    // A number after the currency states the cents: "thirteen pounds twenty".
    let cents = prompt.end(List::Currency, unit).and_then(|end| prompt.at(List::Numeral, end).max_by_key(|mark| mark.to));
    let cents =
        cents.filter(|cents| (10..100).contains(&cents.value) && !units.into_iter().any(|list| prompt.is(list, cents.to)));
    match cents {
        Some(cents) => Some((cents.to, format!("{}.{} {}", mark.value, cents.value, prompt.raw(unit)))),
        None => Some((unit, mark.value.to_string())),
    }
}

/// Collapses whitespace in the strings of a brief to single spaces, because replaced words leave gaps.
pub fn close_gaps(brief: &mut Brief) {
    let parts = [&mut brief.audience, &mut brief.subject, &mut brief.preheader, &mut brief.headline].into_iter().flatten();
    let stories = brief.stories.iter_mut().flat_map(|story| story.heading.iter_mut().chain([&mut story.text]));
    let offer = brief.offer.iter_mut().flat_map(|offer| offer.scope.iter_mut().chain(&mut offer.gift));
    let event = brief.event.iter_mut().map(|event| &mut event.name);
    let label = brief.cta.iter_mut().filter_map(|cta| cta.label.as_mut());
    let notes = brief.tone.iter_mut().chain(&mut brief.instructions).chain(&mut brief.unclear);
    let parts = parts.chain(stories).chain(offer).chain(event).chain(label).chain(notes).map(|part| &mut part.text);
    let facts = brief.facts.iter_mut().map(|fact| &mut fact.text);
    let signature = brief.signature.iter_mut().flat_map(|own| std::iter::once(&mut own.name).chain(&mut own.title));
    for text in parts.chain(facts).chain(signature) {
        *text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use crate::features::emails::brief::parse::parse;
    use crate::features::projects::brand::Brand;

    fn facts(prompt: &str) -> String {
        let brief = parse(prompt, &Brand::default(), None, date(2026, 11, 16));
        brief.facts.iter().map(|fact| fact.text.as_str()).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn dictated_prompts_have_signs_and_digits() {
        let own = facts(
            "twenty percent off all mugs comma only until the first of december full stop the shop closes at eight pm full stop",
        );
        assert!(own.contains("20 percent off all mugs, only until") && own.contains("1st of December"), "{own}");
        assert!(own.contains("8 pm") && !own.contains("full stop") && !own.contains("comma"), "{own}");
        let own = facts(
            "zwanzig prozent auf alle tassen komma nur am neunzehnten dezember ab vierzehn uhr punkt kuchen gibt es auch punkt",
        );
        assert!(own.contains("20 Prozent auf alle tassen,") && own.contains("19. Dezember") && own.contains("14 Uhr"), "{own}");
    }

    #[test]
    fn other_numbers_keep_their_words() {
        let own = facts("Our shop has three new rooms, and a full stop is not a comma. Entry costs eleven pounds fifty.");
        assert!(own.contains("three new rooms") && own.contains("full stop") && own.contains("11.50 pounds"), "{own}");
    }
}
