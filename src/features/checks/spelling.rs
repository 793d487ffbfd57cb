//! Checks the spelling and grammar of an email, and accepts the names that belong to the email's brand.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::links::views::milliseconds;
use super::second_checkers;
use super::views::score;
use crate::engine::api::{Engine, Failure};
use crate::engine::spelling::findings::{Finding, FindingKind};
use crate::engine::spelling::{Options, Report, Summary, check_html};
use crate::engine::store::Read;
use crate::features::checks::CheckContext;
use crate::features::checks::source::CheckedEmail;
use crate::features::projects;
use crate::features::projects::brand::Brand;
use crate::vocab::ids::{AccountId, ProjectId};
use crate::vocab::limits;

/// The result of checking the spelling and grammar of an email.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SpellingAnalysis {
    pub total_words: usize,
    /// The score from 0 to 100; 100 if nothing was found. Resolving a finding never lowers the score.
    pub score: u32,
    /// The findings, in the order in which they occur in the source.
    pub errors: Vec<Finding>,
    pub summary: Summary,
    pub metadata: SpellingMetadata,
}

/// How long the check took, and how much it covered.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SpellingMetadata {
    /// The time that the check took, in milliseconds.
    pub processing_time: u64,
    /// The names of the additional checkers; `none (rules)` if there were none.
    pub ai_model: String,
    /// The number of tokens that a language model used.
    pub tokens_used: u64,
    /// The number of words that were checked.
    pub words_checked: usize,
    /// Whether the whole text was checked and all findings are listed.
    pub complete: bool,
    /// The languages of the text.
    pub languages: Vec<String>,
    /// The languages whose spelling was not checked because they have no dictionary.
    pub languages_without_dictionary: Vec<String>,
    /// The additional checkers that did not return a usable response in time.
    pub checkers_incomplete: Vec<String>,
}

/// The name of the rule for words that are in no dictionary.
pub const UNKNOWN_WORD: &str = "UNKNOWN_WORD";
/// The maximum number of points that misspelled words cost.
const SPELLING_WEIGHT: f64 = 60.0;
/// The maximum number of points that grammatical errors and repeated words cost.
const GRAMMAR_WEIGHT: f64 = 30.0;
/// The maximum number of points that style problems cost.
const STYLE_WEIGHT: f64 = 6.0;

impl SpellingAnalysis {
    pub fn of(report: Report, checkers_incomplete: Vec<String>, time: Duration) -> Self {
        let count = |kinds: &[FindingKind]| report.errors.iter().filter(|finding| kinds.contains(&finding.kind)).count();
        let problems = [
            (SPELLING_WEIGHT, count(&[FindingKind::Spelling])),
            (GRAMMAR_WEIGHT, count(&[FindingKind::Grammar, FindingKind::Repeat])),
            (STYLE_WEIGHT, count(&[FindingKind::Style])),
        ];
        let score = score(problems, false);
        let metadata = report.metadata;
        Self {
            total_words: report.total_words,
            score,
            errors: report.errors,
            summary: report.summary,
            metadata: SpellingMetadata {
                processing_time: milliseconds(time),
                ai_model: metadata.ai_model,
                tokens_used: metadata.tokens_used,
                words_checked: metadata.words_checked,
                complete: !metadata.truncated && !metadata.more_errors,
                languages: metadata.languages,
                languages_without_dictionary: metadata.languages_without_dictionary,
                checkers_incomplete,
            },
        }
    }

    pub fn sample() -> Self {
        let error = Finding {
            word: "recieve".into(),
            suggestions: vec!["receive".into()],
            context: "You will recieve your order on Friday".into(),
            kind: FindingKind::Spelling,
            rule: "UNKNOWN_WORD".into(),
            line: 14,
            column: 22,
            offset: 812,
            length: 7,
            language: "en".into(),
            confidence: 0.98,
        };
        Self {
            total_words: 120,
            score: 70,
            errors: vec![error],
            summary: Summary { total_errors: 1, unique_errors: 1 },
            metadata: SpellingMetadata {
                processing_time: 9,
                ai_model: "none (rules)".into(),
                tokens_used: 0,
                words_checked: 120,
                complete: true,
                languages: vec!["en".into()],
                languages_without_dictionary: Vec::new(),
                checkers_incomplete: Vec::new(),
            },
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct SpellingOptions {
    pub languages: Vec<String>,
    pub grammar: bool,
    /// Whether to use the additional checkers that the operator has configured. Checks that run after each change to an email do not use
    /// them, because a language model costs money.
    pub second_checkers: bool,
    /// The project whose names count as correctly spelled words.
    pub project: Option<ProjectId>,
}

/// Checks the spelling of an email. Returns `None` if the check does not finish in time.
pub async fn check(
    context: &CheckContext,
    email: &CheckedEmail,
    options: SpellingOptions,
) -> Result<Option<SpellingAnalysis>, Failure> {
    let start = tokio::time::Instant::now();
    let account = context.account;
    let names = match options.project.or(email.project) {
        Some(project) => context.read(move |tx| names(tx, account, project)).await?,
        None => Vec::new(),
    };
    let project = options.project.or(email.project);
    let (language, asks) = (options.languages.first().cloned(), options.second_checkers);
    let others =
        async { if asks { second_checkers::ask(context, &email.html, language.as_deref(), project).await } else { Vec::new() } };
    let options = Options { languages: options.languages, grammar: options.grammar, names };
    let (engine, html, now) = (context.engine.clone(), email.html.clone(), context.engine.clock.now().0 / 1000);
    let work = tokio::task::spawn_blocking(move || check_html(&html, &options, &engine.dictionaries, now));
    let (done, others) = tokio::join!(tokio::time::timeout(limits::SPELLING_TIME, work), others);
    let Ok(done) = done else { return Ok(None) };
    let mut report = done.map_err(Failure::internal)?;
    let mut incomplete = Vec::new();
    for other in others {
        match other.findings {
            Some(findings) => report.add(&email.html, &other.name, other.tokens, findings),
            None => incomplete.push(other.name),
        }
    }
    Ok(Some(SpellingAnalysis::of(report, incomplete, start.elapsed())))
}

/// Checks one line, such as a campaign's subject. `declared` is the language that the email declares.
pub fn check_line(
    tx: &impl Read,
    engine: &Engine,
    (account, project): (AccountId, ProjectId),
    line: &str,
    declared: &str,
) -> Result<SpellingAnalysis, Failure> {
    // A campaign has one subject for its emails in all languages, so the declared language is only the first candidate.
    let options = Options { languages: Vec::new(), grammar: true, names: names(tx, account, project)? };
    let text = line.replace('&', "&amp;").replace('<', "&lt;");
    let html = format!("<h1 lang=\"{declared}\">{text}</h1>");
    let report = check_html(&html, &options, &engine.dictionaries, engine.clock.now().0 / 1000);
    Ok(SpellingAnalysis::of(report, Vec::new(), Duration::ZERO))
}

/// Returns the names of a project and of its brand, products, people and sender.
fn names(tx: &impl Read, account: AccountId, project: ProjectId) -> Result<Vec<String>, Failure> {
    let (project, brand) = projects::brand(tx, account, project)?.ok_or_else(projects::not_found)?;
    let knowledge = projects::knowledge::all(tx, project.id)?;
    let texts: Vec<&str> = knowledge.iter().map(|entry| entry.content.as_str()).collect();
    let mut names = names_of(&brand, &texts);
    names.extend(project.sender.and_then(|sender| sender.from_name));
    names.push(project.name);
    Ok(names)
}

/// Returns a brand's name, the names of its products, the names in its text (such as names of people), and the words that occur repeatedly
/// in its text, because they are terms of the brand's trade, such as names of teas. `knowledge` contains the text of the brand's knowledge
/// base.
pub fn names_of(brand: &Brand, knowledge: &[&str]) -> Vec<String> {
    let products = || brand.products.iter().take(limits::SPELLING_PRODUCTS_MAX);
    let own = [brand.name.clone(), brand.contact.company.clone(), brand.contact.address.clone()];
    let descriptions = products().filter_map(|product| product.description.as_deref());
    let about = [brand.description.as_deref(), brand.tagline.as_deref()];
    let texts = about.into_iter().flatten().chain(descriptions).chain(products().map(|product| product.name.as_str()));
    let texts: Vec<&str> = texts.chain(knowledge.iter().copied()).collect();
    let mut names: Vec<String> = own.into_iter().flatten().chain(products().map(|product| product.name.clone())).collect();
    names.extend(repeated_words(texts.iter().copied()));
    names.extend(texts.into_iter().flat_map(capitalized_words));
    names
}

/// Returns the capitalized words that do not start a sentence, which are mostly names.
fn capitalized_words(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let inside = words.windows(2).filter(|pair| pair[0].ends_with(|c: char| c.is_alphanumeric() || c == ','));
    let inside = inside.map(|pair| pair[1].trim_matches(|c: char| !c.is_alphanumeric()));
    inside.filter(|word| word.starts_with(char::is_uppercase)).map(str::to_owned).collect()
}

/// Returns the words that occur more than once.
fn repeated_words<'t>(texts: impl Iterator<Item = &'t str>) -> Vec<String> {
    const CHARACTERS_MIN: usize = 3;
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    let mut left = limits::SPELLING_VOCABULARY_BYTES_MAX;
    for text in texts {
        let Some(rest) = left.checked_sub(text.len()) else { break };
        left = rest;
        for word in text.split(|c: char| !c.is_alphabetic()).filter(|word| word.chars().count() >= CHARACTERS_MIN) {
            *counts.entry(word.to_lowercase()).or_default() += 1;
        }
    }
    counts.into_iter().filter(|(_, count)| *count > 1).map(|(word, _)| word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_a_brand_repeats_belong_to_its_trade() {
        let brand = Brand { tagline: Some("Sencha and more".into()), ..Brand::default() };
        let names = names_of(&brand, &["Our sencha is hand-picked.", "Lapsang, a recieve."]);
        assert!(names.contains(&"sencha".to_owned()), "{names:?}");
        assert!(!names.contains(&"lapsang".to_owned()) && !names.contains(&"recieve".to_owned()), "{names:?}");
    }

    #[test]
    fn people_in_the_texts_of_a_brand_are_known() {
        let names = names_of(&Brand::default(), &["Recieve a tea from our founder, Thandeka Mokoena."]);
        assert_eq!(names, ["Thandeka", "Mokoena"]);
    }
}
