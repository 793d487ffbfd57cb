//! The fact contract defines what an email must contain according to its brief, and checks that the email complies.
//!
//! Documents from the composer, from language models and from edits go through this check. It compares the values of dates, times and
//! amounts instead of their spelling. The words of each language are in `assets/contract`. The check does not change the email.

mod add;
mod constraints;
mod details;
mod facts;
mod implausible;
mod leaks;
mod lexicon;
mod lines;
mod mentions;
mod outline;
mod reading;
mod remains;
mod remove;
#[cfg(test)]
mod score;
mod sources;
#[cfg(test)]
mod tests;
mod text;

pub use add::with_remedy;
pub use facts::contradicts;

use jiff::civil::Date;

use super::brief::{Brief, Constraint, ConstraintKind};
use super::document::Email;
use super::finding::{Finding, FindingKind};
use super::writing::material::Material;
use crate::vocab::limits;
use reading::Reading;

/// The inputs that an email is checked against.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    pub brief: &'a Brief,
    /// The prompt and, if an edit is checked, its instruction. Values in the prompt or the instruction do not count as invented.
    pub prompt: &'a str,
    pub material: &'a Material,
    /// The date of the prompt.
    pub today: Date,
}

/// Returns up to `limits::EMAIL_VIOLATIONS_MAX` violations of the contract in an email.
pub fn check(document: &Email, terms: &Terms<'_>) -> Vec<Finding> {
    let email = Reading::of(document, terms.today);
    let brand = terms.material.brand.name.as_deref();
    let known: Vec<String> = sources::brand_texts(terms.material).collect();
    let mut found = facts::check(&email, document, terms.brief, terms.prompt);
    found.extend(constraints::check(&email, document, terms.brief, brand));
    let mut printed = leaks::check(&email, terms.brief, &known);
    if !printed.is_empty() {
        let all: Vec<String> = known.into_iter().chain(sources::long_texts(terms.material)).collect();
        printed = leaks::check(&email, terms.brief, &all);
    }
    found.extend(printed);
    found.extend(lines::check(&email, terms.brief, terms.prompt));
    found.extend(sources::check(&email, terms));
    found.dedup_by(|one, other| one.message == other.message);
    found.truncate(limits::EMAIL_VIOLATIONS_MAX);
    found.into_iter().map(|finding| add::with_remedy(document, terms, finding)).collect()
}

/// Returns a finding for each word in the email that the brand avoids, except words that occur in the prompt, the brief, the brand name or
/// a product name.
pub fn avoided_by_brand(document: &Email, terms: &Terms<'_>) -> Vec<Finding> {
    let brand = &terms.material.brand;
    let facts = terms.brief.facts.iter().map(|fact| fact.text.as_str());
    let names = brand.products.iter().map(|product| product.name.as_str()).chain(brand.name.as_deref());
    let given = text::fold(&facts.chain(names).chain([terms.prompt]).collect::<Vec<_>>().join("\n"));
    let avoided = brand.voice.avoid.iter().filter(|word| !given.contains(&text::fold(word)));
    let constraint = |word: &String| Constraint { kind: ConstraintKind::AvoidWord, value: Some(word.clone()), span: None };
    let brief = Brief { constraints: avoided.map(constraint).collect(), ..terms.brief.clone() };
    constraints::check(&Reading::of(document, terms.today), document, &brief, brand.name.as_deref())
}

/// Finds the dates in the text that are written with a weekday. Returns the day, the month and the weekday of each date.
#[cfg(test)]
pub fn days_with_weekdays(text: &str, language: &str) -> Vec<(i8, i8, i8)> {
    let mentions = mentions::read(text, lexicon::Words::of(language)).into_iter();
    let days = mentions.filter_map(|mention| match mention.value {
        mentions::Value::Day { day, month, weekday, .. } => Some((day, month, weekday?)),
        _ => None,
    });
    days.collect()
}

/// Returns a warning for each passage in the prompt that is neither in the email nor in one of the `warnings`.
pub fn remains(document: &Email, terms: &Terms<'_>, warnings: &[Finding]) -> Vec<Finding> {
    let email = Reading::of(document, terms.today);
    let lost = remains::check(&email, terms, warnings).into_iter();
    lost.take(limits::EMAIL_VIOLATIONS_MAX).map(|finding| add::with_remedy(document, terms, finding)).collect()
}

/// Returns the composer's warnings, except those about unclear text that the email does state, for example in a heading and the text below
/// it.
pub fn without_stated(document: &Email, today: Date, mut warnings: Vec<Finding>) -> Vec<Finding> {
    let email = Reading::of(document, today);
    let is_stated = |text: &String| email.states(text);
    warnings.retain(|warning| warning.kind != FindingKind::Unclear || !warning.text.as_ref().is_some_and(is_stated));
    warnings
}

/// Returns warnings about text of unclear meaning that the email does not contain, statements that the email shortens or prints in another
/// language, and values in the brief that are probably mistakes or have no unit.
pub fn doubts(document: &Email, terms: &Terms<'_>) -> Vec<Finding> {
    let email = Reading::of(document, terms.today);
    let open = terms.brief.unclear.iter().filter(|part| !email.states(&part.text));
    let unclear = open.map(|part| {
        let message = format!(
            "The meaning of {:?} is unclear, so the email does not contain it. Add it, or ignore this warning.",
            part.text
        );
        let finding = Finding::new(FindingKind::Unclear, message).about(&part.text, part.span);
        add::with_remedy(document, terms, finding)
    });
    let shortened = details::check(&email, terms.brief).into_iter().map(|finding| add::with_remedy(document, terms, finding));
    let printed =
        details::foreign(&email, terms.brief).into_iter().chain(implausible::bare_numbers(&email, terms.brief, terms.prompt));
    unclear.chain(shortened).chain(printed).chain(implausible::check(terms.brief, terms.today)).collect()
}
