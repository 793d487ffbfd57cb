//! Updates the brief of an email after an edit, so that a requested change does not violate the contract.

use super::Brief;
use super::material::Material;
use crate::features::emails::brief::{self, Brief as TypedBrief, Fact, Part};
use crate::features::emails::contract;
use crate::features::emails::document::{Block, Email as Document, HeadingLevel};
use crate::features::emails::finding::FindingKind;

/// Returns the brief after an edit: with the new wording of prescribed text and facts, and without the facts and constraints that the edit
/// dropped.
pub fn updated(
    own: &TypedBrief,
    brief: &Brief,
    (before, after): (&Document, &Document),
    replaced: &[(String, String)],
    material: &Material,
) -> TypedBrief {
    let mut new = own.clone();
    follow(&mut new.subject, &before.subject, &after.subject);
    follow(&mut new.preheader, &before.preheader, &after.preheader);
    follow(&mut new.headline, headline(before), headline(after));
    if let Some(cta) = &mut new.cta {
        for ((label, href), (new_label, new_href)) in buttons(before).into_iter().zip(buttons(after)) {
            if cta.label.as_ref().is_some_and(|own| own.text == label) && label != new_label {
                cta.label = Some(Part { text: new_label, span: None });
            }
            if cta.link.as_ref() == Some(&href) && href != new_href {
                cta.link = Some(new_href);
            }
        }
    }
    if let Some(signature) = &mut new.signature
        && let Some(name) = signer(after).filter(|name| *name != signature.name && !text_of(after).contains(&signature.name))
    {
        (signature.name, signature.title, signature.span) = (name, None, None);
    }
    // Translating an email does not change its facts.
    let lost = if before.language == after.language { brief.lost(before, after, material) } else { Vec::new() };
    let parsed = |text: &str| brief::parse(text, &material.brand, Some(&after.language), brief.today).facts;
    new.facts = std::mem::take(&mut new.facts).into_iter().filter_map(|fact| kept(fact, &lost, replaced, &parsed)).collect();
    let breaks = |kept: &TypedBrief, document: &Document| {
        let terms = contract::Terms { brief: kept, prompt: "", material, today: brief.today };
        contract::check(document, &terms).iter().any(|finding| finding.kind == FindingKind::ConstraintBroken)
    };
    new.constraints.retain(|constraint| {
        let only = TypedBrief { constraints: vec![constraint.clone()], ..own.clone() };
        breaks(&only, before) || !breaks(&only, after)
    });
    new
}

/// Returns what remains of a fact in the brief after an edit: the unchanged fact, unless the edit removed it from the document. A removed
/// fact is returned in its new wording. Returns `None` if the new wording is unknown, or if the fact had a value and its new wording has
/// none.
fn kept(fact: Fact, lost: &[String], replaced: &[(String, String)], parsed: &dyn Fn(&str) -> Vec<Fact>) -> Option<Fact> {
    if !lost.contains(&fact.text) {
        return Some(fact);
    }
    let (from, to) = replaced.iter().find(|(from, _)| fact.text.contains(from.as_str()))?;
    let text = fact.text.replace(from, to);
    let value = parsed(&text).into_iter().find(|own| own.kind == fact.kind).and_then(|own| own.value);
    (fact.value.is_none() || value.is_some()).then_some(Fact { text, value, span: None, ..fact })
}

/// Replaces prescribed text with the document's new text if the edit changed the text.
fn follow(part: &mut Option<Part>, before: &str, after: &str) {
    if before != after
        && let Some(part) = part
    {
        *part = Part { text: after.to_owned(), span: None };
    }
}

fn headline(document: &Document) -> &str {
    let title = document.blocks.iter().find_map(|block| match block {
        Block::Hero(hero) => Some(hero.title.as_str()),
        Block::Heading(heading) if heading.level == HeadingLevel::Title => Some(heading.text.as_str()),
        _ => None,
    });
    title.unwrap_or_default()
}

/// Returns the label and the link of each button, from top to bottom.
fn buttons(document: &Document) -> Vec<(String, String)> {
    let own = document.blocks.iter().filter_map(|block| match block {
        Block::Hero(hero) => hero.button.as_ref().map(|button| (&button.label, &button.href)),
        Block::Coupon(coupon) => coupon.button.as_ref().map(|button| (&button.label, &button.href)),
        Block::Button(button) => Some((&button.label, &button.href)),
        _ => None,
    });
    own.map(|(label, href)| (label.to_string(), href.to_string())).collect()
}

/// Returns the name in the signature: the last line of the last text block that has several lines.
fn signer(document: &Document) -> Option<String> {
    let texts = document
        .blocks
        .iter()
        .rev()
        .filter_map(|block| if let Block::Text(text) = block { Some(text.text.words()) } else { None });
    texts.filter_map(|text| text.rsplit_once('\n').map(|(_, name)| name.trim().to_owned())).next()
}

fn text_of(document: &Document) -> String {
    let texts =
        document.blocks.iter().filter_map(|block| if let Block::Text(text) = block { Some(text.text.words()) } else { None });
    texts.collect::<Vec<_>>().join("\n")
}
