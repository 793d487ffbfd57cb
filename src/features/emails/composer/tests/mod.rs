//! Tests of emails from many prompts, for brands with much and with little material.

mod any;
pub mod brands;
mod facts_first;
mod languages;
pub mod print;
mod prompts;
mod series;
mod twenty;

use jiff::civil::Date;

use super::*;

/// The date of the tests, which is a Saturday.
const TODAY: Date = Date::constant(2026, 11, 21);

fn tag(code: &str) -> LanguageTag {
    LanguageTag::parse(code).expect(code)
}

fn brief(prompt: &str, seed: u64) -> Brief<'_> {
    Brief { prompt, images: &[], reference: None, site: Some("https://example.com"), seed, today: TODAY }
}

/// Returns one email for a prompt, without images, a reference or a plan.
fn one(prompt: &str, brand: &Brand, language: &str, seed: u64) -> Composed {
    let brief = brief(prompt, seed);
    let language = tag(language);
    let knowledge = if brand.products.is_empty() { Vec::new() } else { brands::knowledge() };
    let plan = plan(&brief, brand, !knowledge.is_empty(), &language, Some(1));
    compose(&brief, brand, &knowledge, &plan, 0, &language)
}
