//! Reads a brief that a caller provides: checks it, and fills in the missing values of facts from their text.
//!
//! Callers usually correct only the text of a fact, so the text takes precedence: a value that contradicts the text is rejected, a missing
//! value is read from the text, and new text also replaces the old text in other sentences.

use jiff::civil::Date;

use super::brief::{self, Brief, Fact, FactKind, FactValue, Span};
use super::{check_length, contract};
use crate::base::locale::LanguageTag;
use crate::engine::api::Failure;
use crate::features::projects::brand::Brand;
use crate::vocab::limits;

/// Checks `given` and returns the brief from which the emails are written: `given` with missing values filled in and sentences corrected.
/// The spans of `given` refer to the prompt. Dates in new text are resolved relative to `today`.
pub fn read(given: &Brief, prompt: &str, today: Date) -> Result<Brief, Failure> {
    check(given, prompt)?;
    let mut brief = given.clone();
    let language = brief.language;
    // The parser reads the whole prompt, because the value of an unchanged fact can depend on the words around the fact.
    let own = brief::parse(prompt, &Brand::default(), Some(&language), today).facts;
    for fact in brief.facts.iter_mut().filter(|fact| fact.value.is_none()) {
        let is_it = |own: &&Fact| own.span.is_some() && (own.span, own.kind, &own.text) == (fact.span, fact.kind, &fact.text);
        fact.value = own.iter().find(is_it).map_or_else(|| value_in(fact, &language, today), |own| own.value.clone());
    }
    correct_sentences(&mut brief, prompt, &own);
    Ok(brief)
}

/// Returns an error if a brief is too long, or if a fact is empty, has a span outside the prompt, or has a value that contradicts its text.
fn check(brief: &Brief, prompt: &str) -> Result<(), Failure> {
    for (field, length) in [
        ("brief.facts", brief.facts.len()),
        ("brief.stories", brief.stories.len()),
        ("brief.tone", brief.tone.len()),
        ("brief.constraints", brief.constraints.len()),
        ("brief.instructions", brief.instructions.len()),
        ("brief.unclear", brief.unclear.len()),
    ] {
        check_length(field, length, limits::BRIEF_PARTS_MAX)?;
    }
    let characters = prompt.chars().count();
    for (index, fact) in brief.facts.iter().enumerate() {
        check_fact(fact, characters, &brief.language).map_err(|(field, problem)| {
            let field = format!("brief.facts[{index}].{field}");
            Failure::field(&field, problem)
        })?;
    }
    let length = serde_json::to_string(brief).map_err(Failure::internal)?.chars().count();
    if length > limits::BRIEF_CHARACTERS_MAX {
        let problem = format!("has {length} characters as JSON; use at most {}", limits::BRIEF_CHARACTERS_MAX);
        return Err(Failure::field("brief", problem));
    }
    Ok(())
}

/// Returns an error if a fact is invalid. The error names the invalid field and the problem.
fn check_fact(fact: &Fact, characters: usize, language: &LanguageTag) -> Result<(), (&'static str, String)> {
    if fact.text.trim().is_empty() {
        return Err(("text", "must not be empty; write the fact or remove it".to_owned()));
    }
    if let Some(Span { start, end }) = fact.span {
        if start > end {
            return Err(("span", format!("`start` must not be greater than `end`; found start {start} and end {end}")));
        }
        if usize::try_from(end).is_ok_and(|end| end > characters) {
            let problem = format!(
                "must be within the {characters} characters of `prompt`; send the prompt that the brief was read from, or omit `span`"
            );
            return Err(("span", problem));
        }
    }
    if fact.value.as_ref().is_some_and(|value| contract::contradicts(&fact.text, value, language)) {
        let problem = format!(
            "contradicts the text {:?}; correct the text or the value, or omit `value` to read it from the text",
            fact.text
        );
        return Err(("value", problem));
    }
    Ok(())
}

/// Returns the value that the text of a fact states.
fn value_in(fact: &Fact, language: &LanguageTag, today: Date) -> Option<FactValue> {
    let fits = |value: &FactValue| match fact.kind {
        FactKind::Percentage => matches!(value, FactValue::Percent { .. }),
        FactKind::Amount | FactKind::Price | FactKind::OldPrice | FactKind::Minimum => matches!(value, FactValue::Money { .. }),
        FactKind::Date | FactKind::Period => matches!(value, FactValue::Days { .. }),
        FactKind::Time => matches!(value, FactValue::Clock { .. }),
        FactKind::Capacity => matches!(value, FactValue::Count { .. }),
        _ => false,
    };
    let own = brief::parse(&fact.text, &Brand::default(), Some(language), today).facts;
    own.into_iter().filter_map(|fact| fact.value).find(fits)
}

/// Replaces the old text of corrected facts in the sentences, stories and prescribed lines that contain it. `own` contains the facts that
/// the parser reads from the prompt.
fn correct_sentences(brief: &mut Brief, prompt: &str, own: &[Fact]) {
    let prompt: Vec<char> = prompt.chars().collect();
    let text_of =
        |span: Span| prompt.get(span.start as usize..span.end as usize).map(|characters| characters.iter().collect::<String>());
    let is_sentence = |fact: &Fact| matches!(fact.kind, FactKind::Sentence | FactKind::Condition);
    // Sentences contain a fact as the parser writes it ("12 December") or as the prompt writes it ("12 dec").
    let corrected = |fact: &Fact| {
        let span = fact.span.filter(|_| !is_sentence(fact));
        let written = own.iter().find(|own| (own.span, own.kind) == (fact.span, fact.kind)).map(|own| own.text.clone());
        let is_changed = written.as_ref() != Some(&fact.text);
        let new = fact.text.trim().to_owned();
        let old = written.into_iter().chain(span.and_then(text_of)).map(|old| old.trim().to_owned()).collect::<Vec<String>>();
        let changes = old.into_iter().filter(|old| is_changed && !old.is_empty() && *old != new).collect::<Vec<String>>();
        changes.into_iter().filter_map(|old| Some((span?, old, new.clone()))).collect::<Vec<_>>()
    };
    let changes: Vec<(Span, String, String)> = brief.facts.iter().flat_map(corrected).collect();
    let facts = brief.facts.iter_mut().filter(|fact| is_sentence(fact)).map(|fact| (&mut fact.text, fact.span));
    let stories = brief.stories.iter_mut().flat_map(|story| story.heading.iter_mut().chain([&mut story.text]));
    let lines = [&mut brief.subject, &mut brief.preheader, &mut brief.headline].into_iter().flatten();
    let parts = stories.chain(lines).map(|part| (&mut part.text, part.span));
    for (text, span) in facts.chain(parts) {
        let Some(span) = span else { continue };
        for (own, old, new) in changes.iter().filter(|(own, ..)| span.start <= own.start && own.end <= span.end) {
            let before = text_of(Span { start: span.start, end: own.start }).unwrap_or_default();
            replace(text, old, new, places(&before, old).len());
        }
    }
}

/// Replaces occurrence number `place` of `old`, counted from 0, with `new`. If there are fewer occurrences, replaces the first one. Changes
/// nothing if the text already contains `new`.
fn replace(text: &mut String, old: &str, new: &str, place: usize) {
    if !places(text, new).is_empty() {
        return;
    }
    let found = places(text, old);
    if let Some(at) = found.get(place).or(found.first()) {
        text.replace_range(*at..at + old.len(), new);
    }
}

/// Returns the positions at which `text` contains `words` as whole words: "25%" does not contain "5%".
fn places(text: &str, words: &str) -> Vec<usize> {
    let joins = |one: Option<char>, other: Option<char>| {
        one.is_some_and(char::is_alphanumeric) && other.is_some_and(char::is_alphanumeric)
    };
    let is_whole = |at: &usize| {
        let before = text[..*at].chars().next_back();
        let after = text[at + words.len()..].chars().next();
        !joins(before, words.chars().next()) && !joins(words.chars().next_back(), after)
    };
    text.match_indices(words).map(|(at, _)| at).filter(is_whole).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const PROMPT: &str = "20% off all mugs until Sunday with MUGS20. Keep it short.";
    const TODAY: Date = Date::constant(2026, 11, 23);

    /// Returns the brief of the prompt with changes to its facts. A change names the kind of the fact, the field, and the new value.
    fn changed(changes: &[(FactKind, &str, Value)]) -> Result<Brief, Failure> {
        let mut brief = json!(brief::parse(PROMPT, &Brand::default(), None, TODAY));
        for (kind, field, value) in changes {
            let facts = brief["facts"].as_array_mut().expect("the brief has facts");
            let fact = facts.iter_mut().find(|fact| fact["kind"] == json!(kind)).expect("the brief has the fact");
            fact[*field] = value.clone();
        }
        read(&serde_json::from_value(brief).expect("the brief is valid"), PROMPT, TODAY)
    }

    fn fact(brief: &Brief, kind: FactKind) -> &Fact {
        brief.facts.iter().find(|fact| fact.kind == kind).expect("the brief has the fact")
    }

    #[test]
    fn a_corrected_text_changes_its_value_and_its_sentence() {
        let brief = changed(&[(FactKind::Percentage, "text", json!("25%")), (FactKind::Percentage, "value", Value::Null)]);
        let brief = brief.expect("the brief is valid");
        assert_eq!(fact(&brief, FactKind::Percentage).value, Some(FactValue::Percent { percent: 25.0 }));
        assert_eq!(fact(&brief, FactKind::Sentence).text, "25% off all mugs until Sunday with MUGS20.");
        let brief = changed(&[(FactKind::Date, "text", json!("until Saturday")), (FactKind::Date, "value", Value::Null)]);
        let brief = brief.expect("the brief is valid");
        let saturday = FactValue::Days { first: Date::constant(2026, 11, 28), last: None };
        assert_eq!(fact(&brief, FactKind::Date).value, Some(saturday));
        assert_eq!(fact(&brief, FactKind::Sentence).text, "20% off all mugs until Saturday with MUGS20.");
        let brief = changed(&[(FactKind::Code, "text", json!("MUGS25"))]).expect("the brief is valid");
        assert_eq!(fact(&brief, FactKind::Sentence).text, "20% off all mugs until Sunday with MUGS25.");
        let brief = changed(&[(FactKind::Date, "value", Value::Null)]).expect("the brief is valid");
        assert!(fact(&brief, FactKind::Date).value.is_some());
    }

    #[test]
    fn a_value_that_contradicts_its_text_is_refused() {
        for (kind, field, value, expected) in [
            (
                FactKind::Percentage,
                "text",
                json!("25%"),
                "facts[1].value: contradicts the text \"25%\"; correct the text or the value",
            ),
            (
                FactKind::Percentage,
                "value",
                json!({ "type": "percent", "percent": 30.0 }),
                "facts[1].value: contradicts the text",
            ),
            (FactKind::Date, "text", json!("until Saturday"), "facts[2].value: contradicts the text \"until Saturday\""),
            (FactKind::Code, "span", json!({ "start": 9, "end": 2 }), "facts[3].span: `start` must not be greater than `end`"),
            (FactKind::Code, "span", json!({ "start": 9, "end": 99 }), "facts[3].span: must be within the 57 characters"),
            (FactKind::Code, "text", json!(" "), "facts[3].text: must not be empty"),
        ] {
            let refusal = changed(&[(kind, field, value)]).expect_err("the brief is invalid").text();
            assert!(refusal.contains(expected), "{refusal}");
        }
    }

    #[test]
    fn a_correction_changes_only_its_own_mention() {
        let mut text = "25% off, and 5% back, then 5% more".to_owned();
        replace(&mut text, "5%", "6%", 1);
        assert_eq!(text, "25% off, and 5% back, then 6% more");
        replace(&mut text, "7%", "6%", 0);
        assert_eq!(text, "25% off, and 5% back, then 6% more");
    }
}
