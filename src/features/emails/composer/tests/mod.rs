//! Tests of the emails that the composer writes from many briefs, for brands with a lot of material and with little material.

mod any;
pub mod brands;
mod checks;
mod drafts;
mod five_brands;
mod hurried;
mod idioms;
mod languages;
pub mod print;
mod prompts;
mod reviewed;
mod series;
mod shapes;
mod sheet;
mod thirty;
mod twenty;

use jiff::civil::Date;

use super::*;
use crate::features::emails::brief;

/// The date of the tests, which is a Saturday.
const TODAY: Date = Date::constant(2026, 11, 21);

fn tag(code: &str) -> LanguageTag {
    LanguageTag::parse(code).expect(code)
}

fn parsed(prompt: &str, brand: &Brand, language: &str) -> Brief {
    brief::parse(prompt, brand, Some(&tag(language)), TODAY)
}

fn request(brief: &Brief, seed: u64) -> Request<'_> {
    Request { brief, images: &[], reference: None, site: Some("https://example.com"), seed, today: TODAY }
}

/// Composes one email for a brief, in the brief's language and without images or a reference.
fn composed(brief: &Brief, brand: &Brand, seed: u64) -> Composed {
    let request = request(brief, seed);
    let knowledge = if brand.products.is_empty() { Vec::new() } else { brands::knowledge() };
    let plan = plan(&request, brand, !knowledge.is_empty(), &brief.language, Some(1));
    compose(&request, brand, &knowledge, &plan, 0, &brief.language)
}

fn one(prompt: &str, brand: &Brand, language: &str, seed: u64) -> Composed {
    composed(&parsed(prompt, brand, language), brand, seed)
}
