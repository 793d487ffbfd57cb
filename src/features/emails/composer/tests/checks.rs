//! Tests that the composer's emails pass the checks that users rely on: every check scores at least 95, and no word is misspelled.

use std::fmt::Write;
use std::time::Duration;

use super::languages::{DUTCH, FRENCH, ITALIAN, PORTUGUESE, SPANISH, potter};
use super::prompts::{GERMAN, SHOP, SOFTWARE};
use super::*;
use crate::base::clock::Timestamp;
use crate::engine::clients::findings::Checker;
use crate::engine::clients::report as clients;
use crate::engine::deliverability::message::Input;
use crate::engine::deliverability::result::analyze;
use crate::engine::fetch::{Fetch, LinkProbes};
use crate::engine::render::inspect::inspect;
use crate::engine::settings;
use crate::engine::spelling::dictionaries::Dictionaries;
use crate::engine::spelling::{Options, check_html};
use crate::features::checks::accessibility::AccessibilityAnalysis;
use crate::features::checks::compatibility::CompatibilityAnalysis;
use crate::features::checks::links::check::LinkChecker;
use crate::features::checks::links::views::LinkAnalysis;
use crate::features::checks::model::EmailChecks;
use crate::features::checks::report::{Check, Results};
use crate::features::checks::results;
use crate::features::checks::spelling::{SpellingAnalysis, names_of};
use crate::features::checks::views::Severity;
use crate::features::emails::render::{address_in, render};
use crate::features::emails::theme::Theme;
use crate::features::projects::brand::BrandFormality;
use crate::testing::START;

const SCORE_MIN: u32 = 95;
/// The maximum number of suggestions for a generated email. More would suggest that the generator is careless.
const SUGGESTIONS_MAX: usize = 5;

struct Laboratory {
    fetch: Fetch,
    probes: LinkProbes,
    dictionaries: Dictionaries,
}

impl Laboratory {
    fn new() -> Self {
        let settings = settings::load(settings::DEFAULT, None, &[], &[]).expect("the default settings are valid");
        Self { fetch: Fetch::new(&settings), probes: LinkProbes::default(), dictionaries: Dictionaries::new(None, 5) }
    }

    /// Runs all checks of an email that need no requests.
    fn checked(&self, email: &Email, brand: &Brand, seed: u64) -> EmailChecks {
        let html = render(email, &Theme::new(brand, email, seed)).html;
        let html = address_in(&html, brand.contact.address.as_deref(), true);
        let inspection = inspect(&html).expect("the HTML is small");
        let json = serde_json::to_vec(&clients::check(Checker::embedded(), &html, &[])).expect("the report is JSON");
        let now: Timestamp = START;
        let checker = LinkChecker { fetch: &self.fetch, probes: &self.probes, base: "https://mail.example.com", now };
        let known = brands::knowledge();
        let texts: Vec<&str> = known.iter().map(|entry| entry.text).collect();
        let names = names_of(brand, &texts);
        let spelling =
            check_html(&html, &Options { languages: Vec::new(), grammar: true, names }, &self.dictionaries, now.0 / 1000);
        let input = Input {
            html: &html,
            subject: Some(email.subject.as_str()),
            from_name: brand.name.as_deref(),
            from_email: Some("hello@example.com"),
            ..Input::default()
        };
        let results = Results {
            compatibility: CompatibilityAnalysis::read(&json, Duration::ZERO).ok(),
            links: Some(LinkAnalysis::of(&inspection.links, &checker.read(&inspection.links), now, Duration::ZERO)),
            spelling: Some(SpellingAnalysis::of(spelling, Vec::new(), Duration::ZERO)),
            deliverability: Some(analyze(&input, None)),
            accessibility: Some(AccessibilityAnalysis::of(&inspection.accessibility)),
            incomplete: Vec::new(),
        };
        results::checks(&results, false)
    }
}

/// Returns the problems that the checks of an email found: scores below `SCORE_MIN`, misspelled words, critical findings, and more than
/// `SUGGESTIONS_MAX` suggestions.
fn problems(checks: &EmailChecks) -> Vec<String> {
    let low = Check::ALL.into_iter().filter(|check| checks.scores.of(*check).is_none_or(|score| score < SCORE_MIN));
    let mut problems: Vec<String> = low.map(|check| format!("{} {:?}", check.word(), checks.scores.of(check))).collect();
    let bad = checks
        .findings
        .iter()
        .filter(|one| one.severity == Severity::Critical || one.check == Check::Spelling && one.severity == Severity::Warning);
    problems.extend(bad.map(|one| format!("{} [{}] {}", one.message, one.rule, one.effect.as_deref().unwrap_or_default())));
    let small = checks.findings.iter().filter(|one| one.severity == Severity::Info);
    let suggestions: Vec<&str> = small.map(|one| one.rule.as_str()).collect();
    if suggestions.len() > SUGGESTIONS_MAX {
        problems.push(format!("{} suggestions: {}", suggestions.len(), suggestions.join(", ")));
    }
    problems
}

#[test]
fn generated_emails_score_95_in_every_check_and_have_no_misspelled_words() {
    let laboratory = Laboratory::new();
    let potters = |code: &str| potter(code, BrandFormality::Formal);
    let sets: [(&str, Brand, Vec<&str>); 8] = [
        ("en", brands::teas(), SHOP.to_vec()),
        ("en-GB", brands::software(), SOFTWARE.to_vec()),
        ("de", brands::furniture(BrandFormality::Formal), GERMAN.to_vec()),
        ("fr", potters("fr"), FRENCH.to_vec()),
        ("es", potters("es"), SPANISH.to_vec()),
        ("it", potters("it"), ITALIAN.to_vec()),
        ("pt", potters("pt"), PORTUGUESE.to_vec()),
        ("nl", potters("nl"), DUTCH.to_vec()),
    ];
    let mut report = String::new();
    let (mut emails, mut failed) = (0, 0);
    for (language, brand, prompts) in &sets {
        for (seed, prompt) in (7..).zip(prompts) {
            let email = one(prompt, brand, language, seed).email;
            let found = problems(&laboratory.checked(&email, brand, seed));
            emails += 1;
            if !found.is_empty() {
                failed += 1;
                let _ = writeln!(report, "{language} “{prompt}”:\n  {}", found.join("\n  "));
            }
        }
    }
    assert!(report.is_empty(), "{failed} of {emails} emails have problems:\n{report}");
}
