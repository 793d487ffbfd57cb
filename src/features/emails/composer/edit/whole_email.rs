//! Changes a whole email: its language, tone or length.
//!
//! If the brief was stored, the email is rewritten from the brief; otherwise, only known phrases of the composer are replaced.

use super::{EditResources, Origin};
use crate::features::emails::brief::{Constraint, ConstraintKind};
use crate::features::emails::composer::language::{Bank, Language};
use crate::features::emails::composer::phrases::{Phrasebook, escape};
use crate::features::emails::composer::rules::Rules;
use crate::features::emails::composer::text::tidy;
use crate::features::emails::composer::voice::Voice;
use crate::features::emails::composer::{Request, compose, material, plan};
use crate::features::emails::document::*;

/// Translates the email.
pub fn translate(email: &mut Email, language: Language, means: &EditResources<'_>) -> Result<String, String> {
    let tag = language.tag();
    if email.language.primary() == tag.primary() {
        return Err(format!("The email is already in {}.", language.english_name()));
    }
    if let Some(origin) = means.origin {
        let composed = rewrite_from_brief(origin, email, &tag, means, None);
        *email = composed;
        return Ok(format!("Rewrote the email in {}; earlier changes are lost.", language.english_name()));
    }
    let count = exchange(email, language);
    if count == 0 {
        return Err("The composer cannot translate any phrase of the email.".to_owned());
    }
    Ok(format!("Translated {count} standard phrases into {}; the email's own sentences are unchanged.", language.english_name()))
}

/// Makes the email formal or informal.
pub fn formality(email: &mut Email, formal: bool, means: &EditResources<'_>) -> Result<String, String> {
    let name = if formal { "formal" } else { "informal" };
    let origin = means.origin.ok_or_else(|| {
        format!("Only emails that the composer wrote from a brief can be made {name}; change individual paragraphs instead.")
    })?;
    let language = email.language;
    let written = rewrite_from_brief(origin, email, &language, means, Some(formal));
    if written.blocks == email.blocks && written.subject == email.subject {
        return Err(format!("The email would not change: in its language, {name} wording is no different."));
    }
    *email = written;
    Ok(format!("Rewrote the email to be {name}; earlier changes are lost."))
}

/// Rewrites the email from its brief, with its current theme.
fn rewrite_from_brief(
    origin: Origin<'_>,
    email: &Email,
    language: &crate::base::locale::LanguageTag,
    means: &EditResources<'_>,
    formal: Option<bool>,
) -> Email {
    let mut brief = origin.request.brief.clone();
    if let Some(formal) = formal {
        let kind = if formal { ConstraintKind::Formal } else { ConstraintKind::Informal };
        brief.constraints.push(Constraint { kind, value: None, span: None });
    }
    let request = Request { brief: &brief, ..*origin.request };
    let composed = compose(&request, means.brand, origin.knowledge, origin.plan, origin.place, language);
    Email { style: email.style.clone(), ..composed.email }
}

/// Translates the labels and headings that are phrases of the composer; returns the number of replaced phrases.
fn exchange(email: &mut Email, language: Language) -> usize {
    let Some(own) = Language::of(&email.language) else { return 0 };
    let (from, to) = (Bank::of(own), Bank::of(language));
    let mut count = 0;
    let mut json = email.to_json();
    visit(&mut json, &mut |text| {
        if let Some(phrase) = from.place_of(text).and_then(|place| to.phrases(&place).first())
            && !phrase.contains(['{', '['])
        {
            *text = phrase.replace('\'', "’");
            count += 1;
        }
    });
    if let Ok(changed) = Email::from_json(&json) {
        *email = changed;
    }
    count
}

fn visit(value: &mut serde_json::Value, change: &mut dyn FnMut(&mut String)) {
    match value {
        serde_json::Value::String(text) => change(text),
        serde_json::Value::Array(items) => items.iter_mut().for_each(|item| visit(item, change)),
        serde_json::Value::Object(fields) => {
            let readable = fields.iter_mut().filter(|(key, _)| !matches!(key.as_str(), "id" | "type" | "href" | "src" | "style"));
            readable.for_each(|(_, value)| visit(value, change));
        }
        _ => {}
    }
}

/// Adds a paragraph: the brand's description or an unused phrase for the email's purpose.
pub fn lengthen(email: &mut Email, means: &EditResources<'_>) -> Result<String, String> {
    let language = Language::of(&email.language).unwrap_or(Language::En);
    let said = email.to_json().to_string();
    let brand = means.brand;
    let facts = brand.name.iter().map(|name| ("brand", tidy(name))).collect();
    let mut book = Phrasebook::new(language, None, Voice::of(brand, &Rules::default(), language), 0, facts);
    let place = format!("{}.main.body", plan::key(email.purpose));
    let count = Bank::of(language).phrases(&place).len();
    let phrases: Vec<String> = (0..count).filter_map(|_| book.line(&place)).collect();
    let phrase = phrases.into_iter().find(|phrase| !said.contains(phrase.as_str()));
    let speaks = material::speaks(brand, &email.language);
    let description = || brand.description.as_ref().filter(|text| speaks && !said.contains(text.as_str())).map(|text| tidy(text));
    let text = description().or(phrase).ok_or("The brand has no more material. Enter a paragraph: Add a text \"…\".")?;
    let block = Block::Text(Text { id: email.free_id("text"), text: Rich::parse(&escape(&text)).unwrap_or_default() });
    let after = email.blocks.iter().rposition(|block| matches!(block, Block::Text(_) | Block::Hero(_))).unwrap_or(0);
    let end = email.blocks.len().saturating_sub(1).max(1);
    let closing =
        email.blocks.get(after).is_some_and(|block| matches!(block, Block::Text(text) if text.text.words().contains('\n')));
    email.blocks.insert((after + usize::from(!closing)).clamp(1, end), block);
    Ok("Added a paragraph.".to_owned())
}
