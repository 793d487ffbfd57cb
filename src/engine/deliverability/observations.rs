//! The rules in `rules.toml`, and what they found in an email.

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::bounded;
use super::message::Message;
use super::phrases::Phrase;
use crate::base::source::Lines;

/// How important a recommendation is.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, PartialOrd, Ord, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "DeliverabilityLevel")]
pub enum Level {
    Critical,
    Important,
    Suggested,
}

/// A row of `rules.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub id: String,
    pub family: String,
    pub weight: f64,
    pub level: Level,
    pub text: String,
    pub remedy: String,
}

/// A part of an email that the rules search.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "DeliverabilityPart")]
pub enum Part {
    Html,
    Subject,
    FromName,
    FromEmail,
}

/// A place where a rule found something, before its line and column are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvidencePlace {
    pub part: Part,
    /// The byte position in the part.
    pub at: usize,
    pub excerpt: String,
}

impl EvidencePlace {
    pub fn new(part: Part, at: usize, excerpt: &str) -> Self {
        let excerpt = excerpt.split_whitespace().collect::<Vec<_>>().join(" ");
        Self { part, at, excerpt: bounded(&excerpt, 120).to_owned() }
    }

    pub fn html(at: usize, excerpt: &str) -> Self {
        Self::new(Part::Html, at, excerpt)
    }
}

/// A place where a rule found something. Lines and columns are counted from 1, and columns are counted in characters.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, schemars::JsonSchema)]
#[schemars(rename = "DeliverabilityEvidence")]
pub struct Evidence {
    pub part: Part,
    pub line: u32,
    pub column: u32,
    pub excerpt: String,
}

/// A rule that an email triggers.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "DeliverabilityFinding")]
pub struct Finding {
    pub rule: &'static str,
    pub family: &'static str,
    pub level: Level,
    /// The points that the rule adds to the spam score.
    pub points: f64,
    pub text: &'static str,
    pub remedy: &'static str,
    /// The number of times that the rule found something.
    pub occurrences: usize,
    /// The first places where the rule found something, up to five.
    pub evidence: Vec<Evidence>,
}

/// The maximum number of places that a finding lists.
const EVIDENCE_MAX: usize = 5;
/// The maximum number of distinct phrases that a phrase rule counts. Each phrase after the first adds a part of the rule's weight.
const PHRASES_MAX: usize = 4;
const FURTHER_PHRASE: f64 = 0.4;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    rule: Vec<Rule>,
}

/// Lists of domains and words that several rules share.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    pub freemail: HashSet<String>,
    pub shorteners: HashSet<String>,
    pub suspicious_endings: HashSet<String>,
    pub disguised: HashSet<String>,
    pub titles: HashSet<String>,
    pub unsubscribe: Vec<String>,
    pub imitated: Vec<String>,
    pub imitated_domains: HashSet<String>,
    pub sender_words: HashSet<String>,
    pub bait: HashSet<String>,
}

/// All rules, in the order of `rules.toml`.
pub static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    toml::from_str::<RuleFile>(include_str!("../../../assets/deliverability/rules.toml"))
        .expect("a test parses the embedded rules")
        .rule
});
/// The lists in `facts.toml`.
pub static FACTS: LazyLock<Facts> = LazyLock::new(|| {
    toml::from_str(include_str!("../../../assets/deliverability/facts.toml")).expect("a test parses the embedded facts")
});

/// What the rules found in one email.
#[derive(Default)]
pub struct Observations {
    found: BTreeMap<&'static str, Observation>,
}

#[derive(Default)]
struct Observation {
    count: usize,
    distinct: HashSet<&'static str>,
    places: Vec<EvidencePlace>,
}

impl Observations {
    pub fn add(&mut self, rule: &'static str, place: EvidencePlace) {
        let observation = self.found.entry(rule).or_default();
        observation.count += 1;
        if observation.places.len() < EVIDENCE_MAX {
            observation.places.push(place);
        }
    }

    /// Returns whether any of these rules found something.
    pub fn has_any(&self, rules: &[&str]) -> bool {
        rules.iter().any(|rule| self.found.contains_key(rule))
    }

    pub fn add_phrase(&mut self, phrase: &'static Phrase, place: EvidencePlace) {
        self.add(&phrase.group, place);
        if let Some(observation) = self.found.get_mut(phrase.group.as_str()) {
            observation.distinct.insert(&phrase.text);
        }
    }

    pub fn findings(self, message: &Message, html: &str) -> Vec<Finding> {
        let lines = Lines::new(html);
        let mut found = self.found;
        let mut findings = Vec::new();
        for rule in RULES.iter() {
            let Some(observation) = found.remove(rule.id.as_str()) else { continue };
            let further = observation.distinct.len().clamp(1, PHRASES_MAX) - 1;
            let points = rule.weight * (1.0 + FURTHER_PHRASE * further as f64);
            let evidence = observation.places.into_iter().map(|place| evidence(message, &lines, place)).collect();
            findings.push(Finding {
                rule: &rule.id,
                family: &rule.family,
                level: rule.level,
                points: (points * 100.0).round() / 100.0,
                text: &rule.text,
                remedy: &rule.remedy,
                occurrences: observation.count,
                evidence,
            });
        }
        findings
    }
}

fn evidence(message: &Message, lines: &Lines<'_>, place: EvidencePlace) -> Evidence {
    let (line, column) = match place.part {
        Part::Html => lines.position(u32::try_from(place.at).unwrap_or(u32::MAX)),
        other => {
            let text = match other {
                Part::Subject => &message.subject,
                Part::FromName => &message.from_name,
                _ => &message.from_email,
            };
            let before = bounded(text.as_deref().unwrap_or_default(), place.at).chars().count();
            (1, u32::try_from(before + 1).unwrap_or(u32::MAX))
        }
    };
    Evidence { part: place.part, line, column, excerpt: place.excerpt }
}
