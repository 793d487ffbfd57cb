//! Finds the rules that an email triggers.
//!
//! A rule is a row of `rules.toml`. The phrase rules search for the phrases of `phrases.toml`; the other rules are functions in
//! `sender.rs`, `content.rs`, `links.rs` and `impersonation.rs`.

use std::sync::LazyLock;

use super::message::{Input, Message};
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

/// Returns the findings about a subject alone.
pub fn of_subject(subject: &str) -> Vec<Finding> {
    let message = Message::of(&Input { subject: Some(subject), ..Input::default() });
    let mut found = check(&message, "");
    found.retain(|finding| finding.evidence.iter().any(|evidence| evidence.part == Part::Subject));
    found
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
    fn every_phrase_is_found() {
        for phrase in &PHRASES.phrases {
            let html = format!("<p>{}</p>", phrase.text.replace('*', "").replace('#', "5"));
            let found = findings(Input { html: &html, ..Input::default() });
            assert!(found.iter().any(|finding| finding.rule == phrase.group), "{}: {}", phrase.group, phrase.text);
        }
    }

    const TEXT: &str =
        "Our workshop opens at nine on Saturday, and coffee is ready. Bring an apron, and tell us about allergies in advance.";

    #[test]
    fn rules_about_the_content_find_what_breaks_them() {
        let many = |part: &str, count: usize| format!("<p>{TEXT}</p>{}", part.repeat(count));
        for (html, rule) in [
            (many("<img src=a.png alt=Shoes>", 3), "image_heavy"),
            ("<a href='https://a.example/'>Go</a>".to_owned(), "link_only"),
            (many("<img src=a.png>", 2), "images_without_text"),
            (many("SHOES ", 12), "capitals"),
            (many("Great! ", 5), "exclamations"),
            (many("Wow!!!", 1), "punctuation_runs"),
            (many("$5 ", 8), "money_density"),
            (many("Call 1-800-555-0100", 1), "toll_free"),
            (many("bcdfghjk", 1), "random_words"),
            (many("a\u{200B}b ", 3), "invisible_characters"),
            (many("via<xyz>gra</xyz>", 1), "split_words"),
            (many("&#97;", 5), "encoded_letters"),
            (many("<xyz></xyz>", 3), "unknown_tags"),
            (many("<iframe src='https://a.example/'></iframe>", 1), "frame"),
            (many("<link rel=stylesheet href='https://a.example/a.css'>", 1), "external_style"),
            (many("<p onclick='go()'>x</p>", 1), "event_handler"),
            (many("<img src='data:image/png;base64,AA==' alt=x>", 1), "embedded_image"),
            (many("<marquee>x</marquee>", 1), "animation"),
            (many("<map><area href='https://a.example/'></map>", 1), "image_map"),
            (many(TEXT, 1_000), "html_large"),
            (many("<a href='https://xn--mnchen-3ya.example/'>Shop</a>", 1), "link_punycode"),
            (many("<a href='https://a.top/'>Shop</a>", 1), "link_suspicious_ending"),
            (many("<a href='https://%65xample.com/'>Shop</a>", 1), "link_encoded_host"),
            (many("<a href='https://a.example/?e=a@b.example'>Shop</a>", 1), "link_recipient"),
            (many("<a href='http://a.example/'>Shop</a>", 1), "link_unencrypted"),
            (many("<a href='https://mybank-verify.com/'>Shop</a>", 1), "link_bait_domain"),
            ((0..11).map(|number| format!("<a href='https://a{number}.example/'>Shop</a>")).collect(), "link_many_domains"),
        ] {
            let found = findings(Input { html: &html, ..Input::default() });
            let evidence = found.iter().find(|finding| finding.rule == rule).map(|finding| finding.evidence.len());
            assert!(evidence.is_some_and(|count| count > 0), "{rule}: {}", html.chars().take(300).collect::<String>());
        }
    }

    #[test]
    fn rules_about_the_subject_and_the_sender_find_what_breaks_them() {
        let long = "A long subject ".repeat(8);
        for (subject, name, email, rule) in [
            (long.as_str(), "Acme", "hello@acme.example", "subject_long"),
            ("Win $$ today", "Acme", "hello@acme.example", "subject_money"),
            ("Re: our offer", "Acme", "hello@acme.example", "subject_false_reply"),
            ("Sale \u{1F389}\u{1F389}\u{1F389}", "Acme", "hello@acme.example", "subject_emoji"),
            ("See www.acme.example", "Acme", "hello@acme.example", "subject_address"),
            ("ADV: shoes", "Acme", "hello@acme.example", "subject_advert"),
            ("Make money", "Acme", "hello@acme.example", "subject_phrase"),
            ("20% off shoes", "Acme", "hello@acme.example", "subject_percent"),
            ("Shoes", "Acme", "bcdfghj@acme.example", "from_no_vowels"),
            ("Shoes", "ACME SHOP", "hello@acme.example", "from_name_capitals"),
            ("Shoes", "Acme $ale", "hello@acme.example", "from_name_symbols"),
            ("Shoes", "Acme", "noreply@acme.example", "from_no_reply"),
            ("Shoes", "Acme", "hello@my-best-shop-deals.example", "from_hyphens"),
            ("Shoes", "PayPal", "hello@pp.example", "from_imitation"),
            ("Shoes", "Acme", "hello@mybank-verify.com", "from_bait_domain"),
            ("Your account has been suspended", "Acme", "hello@mybank-verify.com", "fraud_and_disguise"),
        ] {
            let html = format!("<p>{TEXT}</p><a href='https://acme.example/unsubscribe'>Unsubscribe</a>");
            let input =
                Input { html: &html, subject: Some(subject), from_name: Some(name), from_email: Some(email), ..Input::default() };
            assert!(findings(input).iter().any(|finding| finding.rule == rule), "{rule}");
        }
    }

    #[test]
    fn further_phrases_add_less_than_the_first() {
        let points = |html| findings(Input { html, ..Input::default() }).iter().map(|finding| finding.points).sum::<f64>();
        let one = points("viagra viagra viagra plain words to fill the text so that nothing else is found here or there");
        let two = points("viagra cialis plain words to fill the text so that nothing else is found here or there");
        assert!(one < two && two < 2.0 * one, "{one} {two}");
    }
}
