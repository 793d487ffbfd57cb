//! The rules, and the search for those that an email triggers.
//!
//! A rule is a row of `rules.toml`. The phrase rules search for the phrases of `phrases.toml`; the other rules are functions in
//! `sender.rs`, `content.rs`, `links.rs` and `impersonation.rs`.

use std::sync::LazyLock;

use super::message::Message;
use super::observations::{EvidencePlace, Finding, Observations, Part};
use super::phrases::Phrases;
use super::{content, impersonation, links, sender};

static PHRASES: LazyLock<Phrases> = LazyLock::new(|| Phrases::read(include_str!("../../../assets/deliverability/phrases.toml")));

/// Returns the findings of the rules in an email, in the order of `rules.toml`.
pub fn check(message: &Message, html: &str) -> Vec<Finding> {
    let mut observations = Observations::default();
    phrases(message, &mut observations);
    sender::check(message, &mut observations);
    content::check(message, &mut observations);
    links::check(message, &mut observations);
    impersonation::check(message, &mut observations);
    impersonation::combine(message, &mut observations);
    observations.findings(message, html)
}

fn phrases(message: &Message, observations: &mut Observations) {
    for at in 0..message.words.len() {
        let words = message.words.get(at..).unwrap_or_default();
        for phrase in PHRASES.at(words) {
            let start = words.first().map_or(0, |word| word.start);
            let end = words.get(phrase.words.len() - 1).map_or(start, |word| word.end);
            let excerpt = message.text.get(start..end).unwrap_or_default();
            observations.add_phrase(phrase, EvidencePlace::html(message.source_position(start), excerpt));
        }
    }
    let subject = message.subject.as_deref().unwrap_or_default();
    for at in 0..message.subject_words.len() {
        let words = message.subject_words.get(at..).unwrap_or_default();
        for phrase in PHRASES.at(words) {
            let start = words.first().map_or(0, |word| word.start);
            let excerpt = subject.get(start..).unwrap_or_default();
            observations.add_phrase(phrase, EvidencePlace::new(Part::Subject, start, excerpt));
            observations.add("subject_phrase", EvidencePlace::new(Part::Subject, start, excerpt));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::engine::deliverability::message::Input;
    use crate::engine::deliverability::observations::{FACTS, RULES, Rule};

    fn findings(input: Input<'_>) -> Vec<Finding> {
        check(&Message::of(&input), input.html)
    }

    #[test]
    fn every_phrase_group_is_a_rule_and_every_rule_is_complete() {
        let ids: HashSet<_> = RULES.iter().map(|rule| rule.id.as_str()).collect();
        assert_eq!(ids.len(), RULES.len());
        assert!(RULES.len() >= 80);
        for phrase in &PHRASES.phrases {
            assert!(ids.contains(phrase.group.as_str()), "{} has phrases, but no row in rules.toml", phrase.group);
        }
        for rule in RULES.iter() {
            assert!((0.0..=2.5).contains(&rule.weight) && rule.text.ends_with('.') && !rule.remedy.is_empty(), "{}", rule.id);
        }
        let sources = [
            include_str!("sender.rs"),
            include_str!("content.rs"),
            include_str!("links.rs"),
            include_str!("impersonation.rs"),
            include_str!("rules.rs"),
        ];
        let has_phrases = |rule: &&Rule| PHRASES.phrases.iter().any(|phrase| phrase.group == rule.id);
        for rule in RULES.iter().filter(|rule| !has_phrases(rule)) {
            assert!(sources.iter().any(|source| source.contains(&format!("\"{}\"", rule.id))), "no code adds {}", rule.id);
        }
        assert!(!FACTS.freemail.is_empty());
    }

    #[test]
    fn phrases_of_several_languages_are_found_with_their_places() {
        let html = "<p>Hello</p>\n<p>Sie <b>haben</b> gewonnen! Earn $5000 today, lose 20 pounds.</p>";
        let found = findings(Input { html, ..Input::default() });
        let prize = found.iter().find(|finding| finding.rule == "prize").expect("the German phrase");
        assert_eq!((prize.evidence[0].line, prize.evidence[0].column), (2, 4));
        assert_eq!(prize.evidence[0].excerpt, "Sie haben gewonnen");
        assert!(found.iter().any(|finding| finding.rule == "money_promise"));
        assert!(found.iter().any(|finding| finding.rule == "weight_loss"));
    }

    #[test]
    fn further_phrases_add_less_than_the_first() {
        let points = |html| findings(Input { html, ..Input::default() }).iter().map(|finding| finding.points).sum::<f64>();
        let one = points("viagra viagra viagra plain words to fill the text so that nothing else is found here or there");
        let two = points("viagra cialis plain words to fill the text so that nothing else is found here or there");
        assert!(one < two && two < 2.0 * one, "{one} {two}");
    }
}
