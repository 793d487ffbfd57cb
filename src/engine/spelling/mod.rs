//! Checks the spelling and grammar of emails.
//!
//! ```text
//! html → text → words → languages → dictionaries + names + suggestions ─────────────┬─ findings
//! └ rules (patterns) + repeats + pairs + punctuation ┘
//! ```
//!
//! Two other checkers can add their findings: a server with the API of LanguageTool ([`language_tool`]), and a language model ([`model`]).
//! `features/checks` calls them; this module writes their requests and reads their responses.

mod agreement;
mod amounts;
mod class_table;
mod classes;
mod commas;
pub mod dictionaries;
pub mod findings;
mod inflection;
pub mod language_tool;
mod languages;
mod misfits;
pub mod model;
mod names;
pub mod pairs;
mod patterns;
mod punctuation;
mod reading;
mod repeats;
mod rules;
mod sentences;
mod spell;
mod suggestions;
pub mod text;
mod tokens;
mod verb_forms;
pub mod word_hash;

use crate::base::html_scanner as html;
use std::collections::HashSet;

use schemars::JsonSchema;
use serde::Serialize;

use self::dictionaries::Dictionaries;
use self::findings::{Finding, context, set_lines};
use self::languages::{Languages, code};
use self::names::Names;
use self::rules::{RuleHit, Rules};
use self::sentences::Style;
use self::suggestions::Suggester;
use self::text::{Block, html_blocks};
use self::tokens::Token;

/// The maximum number of words that a check reads.
pub const WORDS_MAX: usize = 20_000;

/// The maximum number of findings that a check reports.
pub const FINDINGS_MAX: usize = 500;

/// The maximum length of a finding's text in bytes.
const FINDING_BYTES_MAX: usize = 300;

/// The value of `metadata.aiModel` if no language model took part.
pub const NO_MODEL: &str = "none (rules)";

#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The languages of the text, such as `en` or `pt-BR`. If empty, the check detects the languages.
    pub languages: Vec<String>,
    /// Whether to check grammar too.
    pub grammar: bool,
    /// Names that count as correctly spelled, such as those of the brand, its company, its products and its people. A name can consist of
    /// several words.
    pub names: Vec<String>,
}

/// The result of a check, with the API's field names.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The number of words in the text.
    pub total_words: usize,
    /// The findings in source order.
    pub errors: Vec<Finding>,
    pub summary: Summary,
    pub metadata: Metadata,
}

/// Totals of a spelling check.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SpellingSummary")]
pub struct Summary {
    pub total_errors: usize,
    /// The number of distinct findings: findings with the same word and rule count once.
    pub unique_errors: usize,
}

/// How the text was checked.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// The time that the check took in milliseconds, measured by the caller.
    pub processing_time: u64,
    /// The names of the additional checkers that took part, or `none (rules)`.
    pub ai_model: String,
    /// The number of tokens that the language model used.
    pub tokens_used: u64,
    /// The number of words that were checked.
    pub words_checked: usize,
    /// Whether the text has more words than a check reads.
    pub truncated: bool,
    /// Whether there are more findings than a report contains.
    pub more_errors: bool,
    /// The languages of the text.
    pub languages: Vec<String>,
    /// The languages whose spelling was not checked because they have no dictionary.
    pub languages_without_dictionary: Vec<String>,
}

/// Checks an HTML email. `now` is the time in seconds since a fixed time, as in [`Dictionaries`].
pub fn check_html(html: &str, options: &Options, dictionaries: &Dictionaries, now: i64) -> Report {
    let blocks = &html_blocks(html);
    let mut total_words = 0;
    let mut tokens: Vec<Vec<Token<'_>>> = Vec::new();
    let mut words_checked = 0;
    for block in blocks {
        let (found, end) = tokens::tokens_to(&block.text, WORDS_MAX - words_checked);
        let words = found.iter().filter(|token| token.is_word()).count();
        let rest = block.text.get(end..).unwrap_or_default();
        let uncounted = rest.split_whitespace().filter(|chunk| chunk.chars().any(char::is_alphabetic)).count();
        total_words += words + uncounted;
        words_checked += words;
        tokens.push(found);
    }
    let mut checker = Checker {
        languages: Languages::new(dictionaries, now, &options.languages),
        names: Names::new(&options.names),
        suggester: Suggester::new(),
        grammar: options.grammar,
        style: Style::of(tokens.iter().map(Vec::as_slice)),
        findings: Vec::new(),
        used: Vec::new(),
        missing: Vec::new(),
    };
    if options.languages.len() != 1 {
        checker.languages.set_document(blocks, &tokens);
    }
    let languages: Vec<String> = blocks.iter().zip(&tokens).map(|(block, tokens)| checker.languages.of(block, tokens)).collect();
    for (tokens, _) in tokens.iter_mut().zip(&languages).filter(|(_, language)| code(language) == "en") {
        tokens::set_word_classes(tokens);
    }
    for (tokens, language) in tokens.iter().zip(&languages) {
        checker.note_names(tokens, language);
    }
    let continued: Vec<bool> = (0..tokens.len())
        .map(|at| {
            tokens.get(at).zip(languages.get(at)).is_some_and(|(own, language)| {
                let previous = at.checked_sub(1).and_then(|at| tokens.get(at)).map(Vec::as_slice);
                sentences::continues(own, previous, &code(language))
            })
        })
        .collect();
    for (at, ((block, tokens), language)) in blocks.iter().zip(&tokens).zip(&languages).enumerate() {
        let of = |at: usize| continued.get(at).copied().unwrap_or_default();
        checker.block(block, tokens, language, Parts { continues: of(at), is_continued: of(at + 1) });
    }
    let Checker { mut findings, used, missing, .. } = checker;
    let more_errors = findings.len() > FINDINGS_MAX;
    findings.sort_by_key(|finding| (finding.offset, finding.length));
    findings.truncate(FINDINGS_MAX);
    set_lines(html, &mut findings);
    let metadata = Metadata {
        processing_time: 0,
        ai_model: NO_MODEL.to_owned(),
        tokens_used: 0,
        words_checked,
        truncated: total_words > words_checked,
        more_errors,
        languages: used,
        languages_without_dictionary: missing,
    };
    Report { total_words, summary: summary(&findings), errors: findings, metadata }
}

fn summary(findings: &[Finding]) -> Summary {
    let unique: HashSet<_> = findings.iter().map(|finding| (finding.word.to_lowercase(), &finding.rule)).collect();
    Summary { total_errors: findings.len(), unique_errors: unique.len() }
}

impl Report {
    /// Adds the findings of another checker, except those that overlap with findings of this report. `tokens_used` is 0 unless the checker
    /// is a language model.
    pub fn add(&mut self, source: &str, checker: &str, tokens_used: u64, findings: Vec<Finding>) {
        self.metadata.ai_model = match self.metadata.ai_model.as_str() {
            NO_MODEL => checker.to_owned(),
            present => format!("{present}, {checker}"),
        };
        self.metadata.tokens_used += tokens_used;
        let own: Vec<(usize, usize)> =
            self.errors.iter().map(|finding| (finding.offset, finding.offset + finding.length)).collect();
        let overlaps =
            |finding: &Finding| own.iter().any(|(start, end)| finding.offset < *end && *start < finding.offset + finding.length);
        self.errors.extend(findings.into_iter().filter(|finding| !overlaps(finding)));
        self.errors.sort_by_key(|finding| (finding.offset, finding.length));
        self.metadata.more_errors |= self.errors.len() > FINDINGS_MAX;
        self.errors.truncate(FINDINGS_MAX);
        set_lines(source, &mut self.errors);
        self.summary = summary(&self.errors);
    }
}

/// Whether a block continues the sentence of the previous block, and whether the next block continues the sentence of this block, because
/// the sender broke a paragraph into lines.
#[derive(Clone, Copy)]
struct Parts {
    continues: bool,
    is_continued: bool,
}

struct Checker<'d> {
    languages: Languages<'d>,
    names: Names,
    suggester: Suggester,
    grammar: bool,
    style: Style,
    findings: Vec<Finding>,
    used: Vec<String>,
    missing: Vec<String>,
}

impl Checker<'_> {
    fn block(&mut self, block: &Block, tokens: &[Token<'_>], language: &str, parts: Parts) {
        // A report contains at most `FINDINGS_MAX` findings. Checking stops only when more have been found, so that the report can state
        // whether there are more.
        if self.findings.len() > FINDINGS_MAX || tokens.iter().all(|token| !token.is_word()) {
            return;
        }
        if !self.used.iter().any(|used| used == language) {
            self.used.push(language.to_owned());
        }
        let hits = if self.grammar { grammar(block, tokens, language, self.style, parts) } else { Vec::new() };
        let mut taken = vec![false; tokens.len()];
        for hit in hits {
            let range = hit.hit.first..hit.hit.end;
            if taken.get(range.clone()).is_some_and(|taken| taken.contains(&true)) {
                continue;
            }
            taken.get_mut(range).into_iter().flatten().for_each(|taken| *taken = true);
            self.report(block, tokens, language, &hit);
        }
        match self.languages.dictionary(language) {
            Some(dictionary) => {
                for hit in self.unknown_words(tokens, language, &dictionary) {
                    if taken.get(hit.hit.first) == Some(&false) {
                        self.report(block, tokens, language, &hit);
                    }
                }
            }
            None if !self.missing.iter().any(|missing| missing == language) => self.missing.push(language.to_owned()),
            None => {}
        }
    }

    fn report(&mut self, block: &Block, tokens: &[Token<'_>], language: &str, hit: &RuleHit<'_>) {
        let Some(hit_tokens) = tokens.get(hit.hit.first..hit.hit.end) else { return };
        let (Some(first), Some(last)) = (hit_tokens.first(), hit_tokens.last()) else { return };
        // Text this long is unlikely to be a real mistake, and a report must stay small.
        if last.end - first.start > FINDING_BYTES_MAX {
            return;
        }
        let (offset, end) = block.source_range(first.start, last.end);
        self.findings.push(Finding {
            word: block.text.get(first.start..last.end).unwrap_or_default().to_owned(),
            suggestions: hit.suggestions.clone(),
            context: context(&block.text, first.start, last.end),
            kind: hit.kind,
            rule: hit.rule.to_owned(),
            line: 0,
            column: 0,
            offset,
            length: end - offset,
            language: language.to_owned(),
            confidence: hit.confidence,
        });
    }
}

/// Returns the findings of the rules, most confident first.
fn grammar(block: &Block, tokens: &[Token<'_>], language: &str, style: Style, parts: Parts) -> Vec<RuleHit<'static>> {
    let code = code(language);
    let code = code.as_str();
    let rules = Rules::of(code);
    let mut hits = repeats::repeats(tokens, rules);
    if let Some(rules) = rules {
        hits.extend(rules.find(tokens));
    }
    if code == "en" {
        hits.extend(repeats::articles(tokens));
        hits.extend(repeats::lowercase_i(tokens));
        hits.extend(pairs::confused(tokens));
        hits.extend(misfits::misfits(tokens));
        hits.extend(agreement::disagreements(tokens, language));
        hits.extend(verb_forms::wrong_forms(tokens));
        hits.extend(amounts::wrong_amounts(tokens));
        hits.extend(amounts::wrong_signs(tokens));
        hits.extend(commas::missing_commas(tokens));
        hits.extend(sentences::lowercase_names(tokens));
    }
    hits.extend(punctuation::spacing(tokens, code));
    hits.extend(amounts::wrong_dates(tokens, code));
    hits.extend(sentences::unbalanced(tokens));
    hits.extend((code == "en").then(|| sentences::missing_question_marks(tokens)).into_iter().flatten());
    hits.extend(sentences::wide_spaces(tokens, block));
    hits.extend(sentences::day_case(tokens, code));
    hits.extend(sentences::lowercase_starts(tokens, style, parts.continues));
    if !parts.is_continued {
        hits.extend(sentences::missing_end(tokens, block, code, style));
    }
    hits.sort_by(|a, b| b.confidence.total_cmp(&a.confidence).then(a.hit.first.cmp(&b.hit.first)));
    hits
}
