//! Tests that all phrases in all languages comply with the fact contract.

use serde_json::{Value, json};

use super::*;
use crate::features::emails::contract::{self, Terms};
use crate::features::emails::finding::FindingKind;
use crate::features::emails::writing::material::Material;

/// Returns whether a key has words that are only recognized in briefs and never printed, or days that are printed only if the brief states
/// them.
fn is_only_read(key: &str) -> bool {
    key.starts_with("words.") || key.ends_with(".words") || key.starts_with("common.moment_")
}

/// Returns the informal and the formal form of a phrase, with a placeholder word for each fact.
fn forms(phrase: &str) -> [String; 2] {
    let mut forms = [String::new(), String::new()];
    let mut rest = phrase;
    while let Some(open) = rest.find(['[', '{']) {
        let close = rest[open..].find([']', '}']).map_or(rest.len(), |close| open + close);
        let inside = &rest[open + 1..close];
        let (informal, formal) = match rest.as_bytes()[open] {
            b'[' => inside.split_once('|').unwrap_or((inside, "")),
            _ if inside.starts_with(['?', '!']) => ("", ""),
            _ => ("leaf", "leaf"),
        };
        for (form, own) in forms.iter_mut().zip([informal, formal]) {
            form.push_str(&rest[..open]);
            form.push_str(own);
        }
        rest = rest.get(close + 1..).unwrap_or_default();
    }
    forms.map(|form| form + rest)
}

/// Returns an email with each of these strings in a separate block.
fn email(language: Language, texts: &[String]) -> Email {
    let block = |(at, text): (usize, &String)| json!({ "type": "text", "id": format!("t{at}"), "text": text });
    let header = json!({ "type": "header", "id": "header", "name": "Leaf" });
    let footer = json!({ "type": "footer", "id": "footer", "sender": "Leaf", "unsubscribe": "Leaf" });
    let blocks: Vec<Value> = std::iter::once(header).chain(texts.iter().enumerate().map(block)).chain([footer]).collect();
    let json = json!({
        "version": 1, "language": language.code(), "direction": "ltr", "purpose": "sale", "subject": "Leaf", "preheader": "Leaf",
        "style": {}, "blocks": blocks,
    });
    Email::from_json(&json).expect("the document is valid")
}

/// Regression test: "maybe you'll find it today" and similar phrases were reported as dates that are not in the brief.
#[test]
fn no_phrase_contains_a_date_a_number_a_price_or_a_code() {
    let material = Material { name: "Leaf".to_owned(), ..Material::default() };
    let mut found = Vec::new();
    for language in Language::ALL {
        let bank = Bank::of(language);
        let brief = parsed("", &Brand::default(), language.code());
        for (key, phrases) in bank.all().filter(|(key, _)| !is_only_read(key)) {
            // The prompt contains the name of the season that the phrases are for: "Black Friday".
            let season = key.strip_prefix("season.").and_then(|rest| rest.split('.').next());
            let prompt = season.map(|season| bank.phrases(&format!("season.{season}.words")).join("\n")).unwrap_or_default();
            let texts: Vec<String> = phrases.iter().flat_map(|phrase| forms(phrase)).filter(|text| !text.is_empty()).collect();
            let terms = Terms { brief: &brief, prompt: &prompt, material: &material, today: TODAY };
            let unknown = contract::check(&email(language, &texts), &terms).into_iter();
            let unknown = unknown.filter(|finding| finding.kind == FindingKind::NotInBrief);
            found.extend(unknown.map(|finding| format!("{} {key}: {}", language.code(), finding.message)));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn both_forms_of_a_phrase_are_read() {
    assert_eq!(forms("{?grid}[Sieh|Sehen Sie] {offer}!"), ["Sieh leaf!", "Sehen Sie leaf!"]);
}
