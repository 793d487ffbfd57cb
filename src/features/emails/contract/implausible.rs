//! Warns about values of the brief that are probably mistakes, such as a date that does not exist. The email contains them as written.

use jiff::civil::Date;

use crate::features::emails::brief::{Brief, Fact, FactKind, FactRole, FactValue, Goal};
use crate::features::emails::finding::{Finding, FindingKind};

/// Returns a warning for each implausible value of a brief; `today` is the date of the prompt.
pub fn check(brief: &Brief, today: Date) -> Vec<Finding> {
    let problems = brief.facts.iter().filter_map(|fact| Some((fact, problem(fact, brief, today)?)));
    problems.map(|(fact, problem)| Finding::new(FindingKind::Note, problem).about(&fact.text, fact.span)).collect()
}

fn problem(fact: &Fact, brief: &Brief, today: Date) -> Option<String> {
    let text = &fact.text;
    match (fact.kind, fact.role, &fact.value) {
        (FactKind::Percentage, Some(FactRole::Offer), Some(FactValue::Percent { percent })) if *percent > 100.0 => {
            Some(format!("{text:?} is a discount of more than 100 percent. Check the number."))
        }
        (FactKind::Date, _, None) if names_day(text) => Some(format!("{text:?} is not a valid date. Check the date.")),
        (FactKind::Date | FactKind::Period, Some(role), Some(FactValue::Days { first, last })) => {
            let what = match role {
                FactRole::OfferEnds => "The offer ends",
                FactRole::OrderBy => "The order deadline is",
                FactRole::Event => "The event is",
                _ => return None,
            };
            let is_past = last.unwrap_or(*first) < today;
            is_past.then(|| format!("{what} on {text:?}, which is in the past. Check the date and the year."))
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

/// Returns whether a text is probably meant as a date: it has a digit, and a word of at least three letters, which can name a month.
fn names_day(text: &str) -> bool {
    text.chars().any(|c| c.is_ascii_digit())
        && text.split_whitespace().any(|word| word.chars().filter(|c| c.is_alphabetic()).count() > 2)
}
