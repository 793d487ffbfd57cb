//! Warns about values in the brief that are probably mistakes, such as a date that does not exist, and about numbers without a unit.

use jiff::civil::Date;

use super::lexicon::Words;
use super::mentions::{Value, parse_number};
use super::reading::{Reading, number_of};
use super::text::fold;
use crate::features::emails::brief::{Brief, Fact, FactKind, FactRole, FactValue, Goal, Span};
use crate::features::emails::finding::{Finding, FindingKind};

/// Returns a warning for each implausible value in the brief. `today` is the date of the prompt.
pub fn check(brief: &Brief, today: Date) -> Vec<Finding> {
    let problems = brief.facts.iter().filter_map(|fact| Some((fact, problem(fact, brief, today)?)));
    problems.map(|(fact, problem)| Finding::new(FindingKind::Note, problem).about(&fact.text, fact.span)).collect()
}

/// Returns a warning for each number without a unit in the statements of a brief: "-30 on boots", "12,60 per hour", and "70" in "adults 85
/// €, children 70". The email prints these numbers unchanged, so readers might not understand them.
pub fn bare_numbers(email: &Reading, brief: &Brief, prompt: &str) -> Vec<Finding> {
    let (statements, values): (Vec<&Fact>, Vec<&Fact>) =
        brief.facts.iter().partition(|fact| matches!(fact.kind, FactKind::Sentence | FactKind::Condition));
    let overlaps = |fact: &Fact, other: Span| fact.span.is_some_and(|own| own.start < other.end && other.start < own.end);
    let mut at = 0;
    let mut before = "";
    let mut found = Vec::new();
    for word in prompt.split_inclusive(char::is_whitespace) {
        let (start, previous) = (at, std::mem::replace(&mut before, word.trim()));
        at += word.chars().count() as u32;
        let number = word.trim().trim_end_matches(CLAUSE_ENDS);
        let Some(form) = form(number, previous, email.words) else { continue };
        let span = Span { start, end: start + number.chars().count() as u32 };
        let Some(statement) = statements.iter().find(|fact| overlaps(fact, span)) else { continue };
        let around = statement.span.unwrap_or(span);
        let is_compared =
            has_decimals(&statement.text) || values.iter().any(|fact| UNITS.contains(&fact.kind) && overlaps(fact, around));
        let ends_clause = around.end <= span.end + 1 || word.trim() != number && !word.trim().ends_with('.');
        let needs_unit = match form {
            Form::Figures => ends_clause,
            Form::Words => is_compared,
            Form::Amount => true,
        };
        let has_unit = values.iter().any(|fact| overlaps(fact, span)) || email.mentions(|value| is_amount(value, number));
        if needs_unit && !has_unit && email.contains(number) {
            let message = format!("{number:?} in {:?} has no unit. Check that readers understand the number.", statement.text);
            found.push(Finding::new(FindingKind::Note, message).about(number, Some(span)));
        }
    }
    found
}

/// The notation of a number without a unit.
enum Form {
    Figures,
    Words,
    /// The number is a discount or a price: "-30", "12,60".
    Amount,
}

/// Returns the notation of a number to check; `None` for other words. `before` is the preceding word: a number after another number is part
/// of a phone number, and a number after a name is part of an address.
fn form(word: &str, before: &str, words: &Words) -> Option<Form> {
    let is_figures = |text: &str| (1..=NUMBER_DIGITS_MAX).contains(&text.len()) && text.chars().all(|c| c.is_ascii_digit());
    let is_worded = || words.table.numbers.get(&fold(word)).is_some_and(|number| *number >= WORDED_MIN);
    if before.ends_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    match word {
        _ if word.strip_prefix('-').is_some_and(is_figures) || word.contains(',') && has_decimals(word) => Some(Form::Amount),
        _ if is_figures(word) => (!before.starts_with(char::is_uppercase)).then_some(Form::Figures),
        _ => is_worded().then_some(Form::Words),
    }
}

/// The minimum value at which a number written in words is checked. Smaller numbers usually count objects.
const WORDED_MIN: u32 = 13;

/// Returns whether the value is this number with a unit.
fn is_amount(value: &Value, number: &str) -> bool {
    let is_bare = matches!(value, Value::Number(_) | Value::Worded(_));
    !is_bare && number_of(value).is_some_and(|own| parse_number(number) == Some(own))
}

/// Returns whether the text has a number such as "29,50", which is almost always a price.
fn has_decimals(text: &str) -> bool {
    let is_price = |word: &str| {
        let parts = word.trim_end_matches(CLAUSE_ENDS).split_once([',', '.']);
        parts.is_some_and(|(whole, rest)| rest.len() == 2 && [whole, rest].iter().all(|part| part.parse::<u32>().is_ok()))
    };
    text.split_whitespace().any(is_price)
}

/// The kinds of facts whose numbers have units.
const UNITS: [FactKind; 5] = [FactKind::Price, FactKind::OldPrice, FactKind::Amount, FactKind::Percentage, FactKind::Time];
/// The marks that end a clause after a number.
const CLAUSE_ENDS: [char; 6] = [',', '.', ';', ')', '!', '?'];
/// The maximum number of digits in a number that is checked. Longer numbers are usually years or postal codes.
const NUMBER_DIGITS_MAX: usize = 3;

fn problem(fact: &Fact, brief: &Brief, today: Date) -> Option<String> {
    let text = &fact.text;
    match (fact.kind, fact.role, &fact.value) {
        (FactKind::Percentage, Some(FactRole::Offer), Some(FactValue::Percent { percent })) if *percent > 100.0 => {
            Some(format!("{text:?} is a discount of more than 100 percent. Check the number."))
        }
        (FactKind::Date, _, None) if names_day(text) => Some(format!("{text:?} is not a valid date. Check the date.")),
        (FactKind::Date | FactKind::Period, Some(role), Some(FactValue::Days { first, last }))
            if last.unwrap_or(*first) < today =>
        {
            match role {
                FactRole::OfferEnds => {
                    Some(format!("The last day of the offer, {text:?}, is in the past. Check the date and the year."))
                }
                FactRole::OrderBy => Some(format!("The order deadline, {text:?}, is in the past. Check the date and the year.")),
                FactRole::Event => Some(format!("The date of the event, {text:?}, is in the past. Check the date and the year.")),
                _ => None,
            }
        }
        (FactKind::OldPrice, _, Some(FactValue::Money { amount: old, currency })) => {
            let is_new = |fact: &&Fact| fact.kind == FactKind::Price && fact.story.is_none();
            let mut prices = brief.facts.iter().filter(is_new);
            let (Some(only), None) = (prices.next(), prices.next()) else { return None };
            let Some(FactValue::Money { amount: new, currency: own }) = &only.value else { return None };
            let rises =
                brief.facts.iter().any(|fact| fact.role == Some(FactRole::PriceChanges)) || brief.purpose == Goal::PriceChange;
            let is_wrong = own == currency && new >= old && !rises;
            is_wrong.then(|| {
                format!("The original price {text:?} is not higher than the new price {:?}. Check both prices.", only.text)
            })
        }
        _ => None,
    }
}

/// Returns whether the text is probably meant as a date: it has a digit and a word of at least three letters, which can name a month.
fn names_day(text: &str) -> bool {
    text.chars().any(|c| c.is_ascii_digit())
        && text.split_whitespace().any(|word| word.chars().filter(|c| c.is_alphabetic()).count() > 2)
}
