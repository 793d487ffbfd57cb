//! Tests that twenty prompts produce twenty valid emails, and that no two emails are alike.

use std::collections::HashSet;

use super::*;
use crate::features::emails::composer::headlines::{PREHEADER_CHARACTERS_MAX, SUBJECT_CHARACTERS};
use crate::features::projects::brand::BrandFormality;

fn all(prompts: &[&str], brand: &Brand, language: &str) -> Vec<Composed> {
    prompts.iter().zip(1..).map(|(prompt, seed)| one(prompt, brand, language, seed)).collect()
}

/// Returns an email's flaws according to rules that apply to all languages.
pub fn flaws(composed: &Composed) -> Vec<String> {
    let text = print::text(&composed.email);
    let mut flaws: Vec<String> = composed.email.check().iter().map(ToString::to_string).collect();
    for mark in ["{", "}", "[]", "  ,", " .", "..", " ,", "|]", "!.", "?.", ".,", ",,", "'", "\u{a0}\u{a0}", "(,", "%%", "% %"] {
        let told = text.lines().filter(|line| line.contains(mark)).filter(|line| !line.contains("https://"));
        flaws.extend(told.map(|line| format!("has {mark:?}: {line}")));
    }
    let subject = composed.email.subject.chars().count();
    if !(5..=SUBJECT_CHARACTERS + 40).contains(&subject) {
        flaws.push(format!("subject of {subject}"));
    }
    let preheader = composed.email.preheader.chars().count();
    if !(15..=PREHEADER_CHARACTERS_MAX).contains(&preheader) {
        flaws.push(format!("preheader of {preheader}: {}", composed.email.preheader));
    }
    flaws
}

/// Returns the share of sentences that two emails have in common, from 0 to 1, relative to the email with fewer sentences. Sentences of one
/// or two words are ignored.
fn likeness(one: &str, other: &str) -> f64 {
    let words = |text: &str| -> HashSet<String> {
        // The comparison excludes products, social networks and the footer, which are identical in all emails of a brand.
        let own = text.lines().skip(1).filter(|line| !line.starts_with("  "));
        let sentences = own.flat_map(|line| line.split(['.', ':', '!', '?']));
        sentences.map(|line| line.trim().to_lowercase()).filter(|line| line.split(' ').count() > 2).collect()
    };
    let (one, other) = (words(one), words(other));
    one.intersection(&other).count() as f64 / one.len().min(other.len()).max(1) as f64
}

pub fn judge(prompts: &[&str], brand: &Brand, language: &str) {
    let emails = all(prompts, brand, language);
    let texts: Vec<String> = emails.iter().map(|composed| print::text(&composed.email)).collect();
    for ((prompt, composed), text) in prompts.iter().zip(&emails).zip(&texts) {
        assert_eq!(flaws(composed), [""; 0], "{prompt}\n{text}");
    }
    let subjects: HashSet<&str> = emails.iter().map(|composed| composed.email.subject.as_str()).collect();
    assert!(subjects.len() + 2 >= emails.len(), "subjects: {subjects:#?}");
    for (index, one) in texts.iter().enumerate() {
        for (other_index, other) in texts.iter().enumerate().skip(index + 1) {
            let likeness = likeness(one, other);
            assert!(likeness < 0.6, "{} and {} are alike ({likeness:.2}):\n{one}\n{other}", prompts[index], prompts[other_index]);
        }
    }
}

#[test]
fn twenty_for_a_shop() {
    judge(&prompts::SHOP, &brands::teas(), "en");
}

#[test]
fn twenty_for_a_company_without_products() {
    judge(&prompts::SOFTWARE, &brands::software(), "en-GB");
}

#[test]
fn twenty_in_german() {
    judge(&prompts::GERMAN, &brands::furniture(BrandFormality::Casual), "de");
    judge(&prompts::GERMAN, &brands::furniture(BrandFormality::Formal), "de");
}
