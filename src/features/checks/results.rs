//! Converts the results of all checks to findings: what is wrong, where, and how to resolve it.

use super::accessibility::AccessibilityAnalysis;
use super::compatibility::{CompatibilityAnalysis, FeatureProblem};
use super::links::model::LinkStatus;
use super::links::views::{CheckedLinkView, LinkAnalysis};
use super::model::{CheckFinding, EmailChecks, Scores};
use super::report::{Check, Results, deliverability_score, overall};
use super::spelling::SpellingAnalysis;
use super::views::{PlaceView, Severity};
use crate::base::secret::sha256;
use crate::base::text::without_markdown;
use crate::engine::clients::features::Effect;
use crate::engine::deliverability::observations::{self, Level, Part};
use crate::engine::deliverability::result::Analysis;
use crate::engine::render::image_name::{image_name, is_embedded};
use crate::engine::render::inspect::LinkKind;
use crate::engine::spelling::findings::{Finding, FindingKind};
use crate::vocab::limits;

/// The maximum number of clients that a message names.
const CLIENTS_NAMED: usize = 2;
const EXCERPT_CHARACTERS_MAX: usize = 100;

/// Returns the scores and findings from the results of all checks.
pub fn checks(results: &Results, links_requested: bool) -> EmailChecks {
    let mut findings = Vec::new();
    findings.extend(results.compatibility.iter().flat_map(of_compatibility));
    findings.extend(results.links.iter().flat_map(of_links));
    findings.extend(results.spelling.iter().flat_map(of_spelling));
    findings.extend(results.deliverability.iter().flat_map(of_deliverability));
    findings.extend(results.accessibility.iter().flat_map(of_accessibility));
    let scores = scores(results, findings.iter().any(|one| one.severity == Severity::Critical));
    findings.sort_by(|one, other| one.severity.cmp(&other.severity).then(other.weight.total_cmp(&one.weight)));
    findings.truncate(limits::EMAIL_FINDINGS_MAX);
    for finding in &mut findings {
        finding.occurrences.truncate(limits::EMAIL_FINDING_PLACES_MAX);
        // Round the weight, because products of fractions have rounding errors, such as 1.2400000000000002.
        finding.weight = (finding.weight * 100.0).round() / 100.0;
    }
    EmailChecks { scores, findings, links_requested, incomplete: results.incomplete.clone() }
}

fn scores(results: &Results, has_critical: bool) -> Scores {
    let scores = Scores {
        overall: None,
        compatibility: results.compatibility.as_ref().map(CompatibilityAnalysis::score),
        links: results.links.as_ref().map(|links| links.score),
        spelling: results.spelling.as_ref().map(|spelling| spelling.score),
        deliverability: results.deliverability.as_ref().map(deliverability_score),
        accessibility: results.accessibility.as_ref().map(|accessibility| accessibility.score),
    };
    with_overall(scores, has_critical)
}

/// Returns the scores with the overall score computed from the others.
pub fn with_overall(scores: Scores, has_critical: bool) -> Scores {
    let finished: Vec<(Check, u32)> = Check::ALL.into_iter().filter_map(|check| Some((check, scores.of(check)?))).collect();
    Scores { overall: overall(&finished, has_critical), ..scores }
}

/// Returns the ID of a finding. The ID depends only on the problem, so it stays the same in later versions of the email.
fn id(check: Check, rule: &str, about: &str) -> String {
    let digest = sha256(format!("{}\n{rule}\n{about}", check.word()).as_bytes());
    data_encoding::HEXLOWER.encode(digest.get(..6).unwrap_or_default())
}

fn finding(check: Check, rule: &str, about: &str, severity: Severity, message: String) -> CheckFinding {
    CheckFinding {
        id: id(check, rule, about),
        check,
        rule: rule.to_owned(),
        severity,
        message,
        effect: None,
        fix: None,
        text: None,
        suggestion: None,
        fixable: false,
        automatic_fix: None,
        count: 1,
        occurrences: Vec::new(),
        url: None,
        weight: 0.0,
    }
}

fn shortened(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(EXCERPT_CHARACTERS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn of_compatibility(report: &CompatibilityAnalysis) -> Vec<CheckFinding> {
    let mut found: Vec<CheckFinding> = report.problems().iter().filter_map(of_feature).collect();
    if report.is_clipped() {
        let message = "Gmail shows only the first 102 KB of the HTML and cuts off the rest.".to_owned();
        found.push(CheckFinding {
            effect: Some("The end of the email is missing, often with the unsubscribe link.".into()),
            fix: Some("Shorten the HTML to less than 102 KB.".into()),
            weight: 100.0,
            ..finding(Check::Compatibility, "clipped", "", Severity::Critical, message)
        });
    }
    found
}

/// Returns the finding about a feature; `None` if the problem is too minor to be listed.
fn of_feature(problem: &FeatureProblem) -> Option<CheckFinding> {
    let FeatureProblem { slug, title, clients, share, effect, .. } = problem;
    let severity = problem.severity()?;
    let works = match (problem.is_partial, problem.has_partial) {
        (true, _) => "works only partially",
        (false, true) => "does not work or works only partially",
        (false, false) => "does not work",
    };
    let message = format!("{title} {works} in {}.", clients_named(clients));
    let lost = match effect {
        // This text is never shown, because the list of findings leaves out features without an effect.
        Effect::Nothing => "Readers do not notice a difference.",
        Effect::Cosmetic => "Decoration or typography is lost.",
        Effect::Layout => "Sizes, spacing or positions change.",
        Effect::Content => "Text or images are missing.",
        Effect::Link => "A link or form does not work.",
        Effect::DropsAttribute => "The client ignores all styles of the element.",
        Effect::DropsStyleElement => "The client ignores the whole style element.",
    };
    let condition = problem.condition.as_deref().map(|note| format!(" {}", without_markdown(note.trim()))).unwrap_or_default();
    Some(CheckFinding {
        effect: Some(format!("{lost} Affects about {:.0}% of opens.{condition}", (share * 100.0).max(1.0))),
        fix: problem.fix.clone(),
        fixable: !problem.autofix.is_empty(),
        automatic_fix: automatic_fix(&problem.autofix),
        count: problem.count,
        occurrences: problem.occurrences.clone(),
        url: Some(problem.url.clone()),
        weight: share * effect.weight() * 100.0,
        ..finding(Check::Compatibility, slug, "", severity, message)
    })
}

/// Describes replacements of source text; `None` if there are none.
fn automatic_fix(replacements: &[(String, String)]) -> Option<String> {
    let (first, others) = replacements.split_first()?;
    let described = replacement(&first.0, &first.1);
    Some(match others.len() {
        0 => described,
        1 => format!("{described}, and make 1 similar change"),
        more => format!("{described}, and make {more} similar changes"),
    })
}

/// Describes one replacement.
fn replacement(original: &str, new: &str) -> String {
    let [original, new] = [original, new].map(|text| shortened(text.trim()));
    match (original.is_empty(), new.is_empty()) {
        (true, true) => "Correct the spaces".to_owned(),
        (true, _) => format!("Add “{new}”"),
        (_, true) => format!("Remove “{original}”"),
        _ => format!("Replace “{original}” with “{new}”"),
    }
}

fn clients_named(clients: &[String]) -> String {
    let more = clients.len().saturating_sub(CLIENTS_NAMED);
    let named = clients.iter().take(CLIENTS_NAMED).map(String::as_str).collect::<Vec<_>>();
    match more {
        0 => named.join(" and "),
        1 => format!("{} and 1 more client", named.join(", ")),
        more => format!("{} and {more} more clients", named.join(", ")),
    }
}

fn of_links(links: &LinkAnalysis) -> Vec<CheckFinding> {
    let mut found: Vec<CheckFinding> = links.checked_links.iter().filter_map(of_link).collect();
    for one in &links.findings {
        // Findings of one rule with the same message, such as those for several links to one link shortener, are merged.
        let id = id(Check::Links, one.rule, &one.message);
        if let Some(known) = found.iter_mut().find(|known: &&mut CheckFinding| known.id == id) {
            known.count += one.count.max(1);
            known.occurrences.extend(one.occurrences.iter().cloned());
            continue;
        }
        let weight = match one.severity {
            Severity::Critical => 30.0,
            Severity::Warning => 10.0,
            Severity::Info => 2.0,
        };
        found.push(CheckFinding {
            fix: Some(one.fix.to_owned()),
            text: one.url.as_deref().map(shortened),
            count: one.count.max(1),
            occurrences: one.occurrences.clone(),
            weight,
            ..finding(Check::Links, one.rule, &one.message, one.severity, one.message.clone())
        });
    }
    found
}

/// Returns the finding about a URL that does not work.
fn of_link(link: &CheckedLinkView) -> Option<CheckFinding> {
    let (rule, severity, weight, fix) = match link.status {
        LinkStatus::Broken => ("broken", Severity::Critical, 60.0, "Correct the URL, or remove it."),
        LinkStatus::Invalid => ("invalid", Severity::Critical, 60.0, "Correct the URL, or remove it."),
        LinkStatus::Blocked => ("blocked", Severity::Critical, 30.0, "Use a URL that everyone can open in a browser."),
        LinkStatus::Unreachable => {
            ("unreachable", Severity::Warning, 10.0, "Open the URL in a browser, and run the checks again if it works.")
        }
        LinkStatus::Ok | LinkStatus::Redirected | LinkStatus::Unverifiable | LinkStatus::Skipped => return None,
    };
    let what = match link.kind {
        LinkKind::Link if link.text.is_empty() => "The link".to_owned(),
        LinkKind::Link => format!("The link “{}”", shortened(&link.text)),
        LinkKind::Image | LinkKind::Background if is_embedded(&link.url) => format!("The {}", image_name(&link.url)),
        LinkKind::Image | LinkKind::Background => "The image".to_owned(),
        LinkKind::Form => "The form".to_owned(),
        LinkKind::Stylesheet => "The style sheet".to_owned(),
        LinkKind::Media => "The resource".to_owned(),
    };
    let named = match (link.url.is_empty(), link.kind) {
        (true, _) => format!("{what} without a URL"),
        (false, LinkKind::Image | LinkKind::Background) if is_embedded(&link.url) => match link.occurrences.first() {
            Some(place) => format!("{what} on line {}", place.line),
            None => what,
        },
        (false, LinkKind::Link | LinkKind::Form) => format!("{what} to {}", shortened(&link.url)),
        (false, _) => format!("{what} {}", shortened(&link.url)),
    };
    let verb = if rule == "unreachable" { "could not be reached" } else { "does not work" };
    Some(CheckFinding {
        effect: link.error.clone(),
        fix: Some(fix.to_owned()),
        text: Some(shortened(&link.url)).filter(|_| !link.url.is_empty() && !is_embedded(&link.url)),
        count: link.count,
        occurrences: link.occurrences.clone(),
        weight,
        ..finding(Check::Links, rule, &link.url, severity, format!("{named} {verb}."))
    })
}

fn of_spelling(spelling: &SpellingAnalysis) -> Vec<CheckFinding> {
    let mut found: Vec<CheckFinding> = Vec::new();
    for error in &spelling.errors {
        let place = place(error);
        let id = spelling_id(error);
        match found.iter_mut().find(|known| known.id == id) {
            Some(known) => {
                known.count += 1;
                known.occurrences.push(place);
            }
            None => found.push(of_word(error, id, place)),
        }
    }
    found
}

/// Returns the findings about text outside the HTML, such as a subject. `part` names the text. The findings have no position in the HTML,
/// and no automatic fix.
pub fn of_text(part: &str, spelling: &SpellingAnalysis) -> Vec<CheckFinding> {
    let outside = |found: CheckFinding| CheckFinding {
        message: format!("In {part}: {}", found.message),
        fixable: false,
        automatic_fix: None,
        occurrences: Vec::new(),
        ..found
    };
    of_spelling(spelling).into_iter().map(outside).collect()
}

/// Returns the ID of the finding about a word. A misspelled word is one finding wherever it occurs; a correctly spelled word that does
/// not fit its sentence is a separate finding in each sentence.
pub fn spelling_id(error: &Finding) -> String {
    match error.kind {
        FindingKind::Spelling => id(Check::Spelling, &error.rule, &error.word),
        _ => id(Check::Spelling, &error.rule, &format!("{}\n{}", error.word, error.context)),
    }
}

fn of_word(error: &Finding, id: String, place: PlaceView) -> CheckFinding {
    let suggestion = error.suggestions.first().cloned();
    let word = &error.word;
    let (severity, weight, message) = match error.kind {
        FindingKind::Spelling => (Severity::Warning, 30.0, format!("“{word}” is misspelled.")),
        FindingKind::Grammar => (Severity::Warning, 15.0, format!("“{word}” does not fit the sentence.")),
        FindingKind::Repeat => (Severity::Warning, 15.0, format!("“{word}” is repeated.")),
        FindingKind::Style => (Severity::Info, 3.0, format!("“{word}” could be improved.")),
    };
    let fix = match &suggestion {
        Some(suggestion) if suggestion.is_empty() => "Remove the word.".to_owned(),
        Some(suggestion) => format!("Replace it with “{suggestion}”."),
        None => "Check the word.".to_owned(),
    };
    CheckFinding {
        effect: Some(format!("“{}”", shortened(&error.context))),
        fix: Some(fix),
        text: Some(word.clone()),
        fixable: suggestion.is_some(),
        automatic_fix: suggestion.as_deref().map(|suggestion| replacement(word, suggestion)),
        suggestion,
        occurrences: vec![place],
        weight,
        id,
        ..finding(Check::Spelling, &error.rule, "", severity, message)
    }
}

fn place(error: &Finding) -> PlaceView {
    let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    let (line, column) = (number(error.line), number(error.column));
    let end_column = column.saturating_add(number(error.word.chars().count()));
    PlaceView { line, column, end_line: line, end_column, excerpt: shortened(&error.context) }
}

fn of_deliverability(analysis: &Analysis) -> Vec<CheckFinding> {
    analysis.spam_score.findings.iter().map(of_deliverability_rule).collect()
}

/// Returns the finding about a sign of spam.
pub fn of_deliverability_rule(one: &observations::Finding) -> CheckFinding {
    let severity = match one.level {
        _ if one.points <= 0.0 => Severity::Info,
        Level::Critical => Severity::Critical,
        Level::Important => Severity::Warning,
        Level::Suggested => Severity::Info,
    };
    let places = one.evidence.iter().filter(|evidence| {
        // Evidence that something is missing has no position in the HTML.
        evidence.part == Part::Html && evidence.line > 0 && !evidence.excerpt.is_empty()
    });
    let places = places.map(|evidence| PlaceView {
        line: evidence.line,
        column: evidence.column,
        end_line: evidence.line,
        end_column: evidence.column,
        excerpt: shortened(&evidence.excerpt),
    });
    let text = one.evidence.iter().find(|evidence| !evidence.excerpt.is_empty());
    CheckFinding {
        effect: (one.points > 0.0).then(|| format!("Spam filters add about {:.1} points; 5 or more counts as spam.", one.points)),
        fix: Some(one.remedy.to_owned()),
        text: text.map(|evidence| shortened(&evidence.excerpt)),
        count: one.occurrences.max(1),
        occurrences: places.collect(),
        weight: one.points * 10.0,
        ..finding(Check::Deliverability, one.rule, "", severity, one.text.to_owned())
    }
}

fn of_accessibility(accessibility: &AccessibilityAnalysis) -> Vec<CheckFinding> {
    let of_rule = |one: &super::accessibility::AccessibilityFinding| CheckFinding {
        effect: Some(format!("WCAG 2.2, {}", one.wcag)),
        fix: Some(one.fix.to_owned()),
        count: one.count,
        occurrences: one.occurrences.clone(),
        weight: one.weight,
        ..finding(Check::Accessibility, one.rule, "", one.severity, one.message.clone())
    };
    accessibility.findings.iter().map(of_rule).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::features::checks::report::ValidationReport;

    fn sample() -> EmailChecks {
        let report = ValidationReport::sample();
        let results = Results {
            compatibility: report.compatibility,
            links: report.link_analysis,
            spelling: report.spelling,
            accessibility: report.accessibility,
            ..Results::default()
        };
        checks(&results, true)
    }

    #[test]
    fn the_findings_of_all_checks_are_sorted_by_severity_and_weight() {
        let found = sample();
        let order: Vec<(&str, &str)> = found.findings.iter().map(|one| (one.check.word(), one.rule.as_str())).collect();
        assert_eq!(
            order,
            [("links", "broken"), ("links", "unsubscribe_missing"), ("accessibility", "image_alt"), ("spelling", "UNKNOWN_WORD"),]
        );
        assert_eq!(found.scores.deliverability, None);
        assert!(found.scores.overall.is_some_and(|score| (50..100).contains(&score)), "{:?}", found.scores);
        for one in &found.findings {
            assert!(one.weight.to_string().split('.').nth(1).is_none_or(|digits| digits.len() <= 2), "{one:?}");
            assert!(one.message.ends_with('.') && one.fix.as_deref().is_none_or(|fix| fix.ends_with('.')), "{one:?}");
        }
    }

    /// Regression test: the message "gap does not work in Gmail" was followed by a note about how the feature works in Gmail.
    #[test]
    fn the_message_about_a_feature_says_how_far_clients_support_it() {
        let message = |supports: [&str; 2]| {
            let client = |(name, support): (&str, &str)| {
                let condition = json!({ "note": "Partial. Supports column-gap for flexbox.", "applies": "true" });
                let issue = json!({
                    "slug": "css-gap", "title": "gap", "url": "https://www.caniemail.com/features/css-gap/", "support": support,
                    "effect": "layout", "condition": condition, "occurrences": [], "count": 1,
                });
                json!({ "clientName": name, "share": 0.1, "issues": [issue], "warnings": [] })
            };
            let clients: Vec<Value> = ["Gmail", "Yahoo Mail"].into_iter().zip(supports).map(client).collect();
            let json = serde_json::to_vec(&json!({ "clientIssues": clients })).expect("a value is valid JSON");
            let report = CompatibilityAnalysis::read(&json, std::time::Duration::ZERO).expect("the report is valid");
            of_compatibility(&report).first().map(|finding| finding.message.clone()).unwrap_or_default()
        };
        assert!(message(["partial", "partial"]).starts_with("gap works only partially in "));
        assert!(message(["partial", "none"]).starts_with("gap does not work or works only partially in "));
        assert!(message(["none", "none"]).starts_with("gap does not work in "));
    }

    /// Regression test: an email that Mailmill had generated had 32 suggestions, nearly all about losses that no reader notices.
    #[test]
    fn small_differences_between_clients_are_not_listed() {
        let severity = |effect: &str, share: f64, fallback: Option<&str>| {
            let issue = json!({
                "slug": "css-float", "title": "float", "url": "https://www.caniemail.com/features/css-float/", "support": "none",
                "effect": effect, "fallback": fallback, "occurrences": [], "count": 1,
            });
            let client = json!({ "clientName": "Gmail", "share": share, "issues": [issue], "warnings": [] });
            let json = serde_json::to_vec(&json!({ "clientIssues": [client] })).expect("a value is valid JSON");
            let report = CompatibilityAnalysis::read(&json, std::time::Duration::ZERO).expect("the report is valid");
            of_compatibility(&report).first().map(|finding| finding.severity)
        };
        assert_eq!(severity("layout", 0.2, None), Some(Severity::Warning));
        assert_eq!(severity("layout", 0.04, None), Some(Severity::Info));
        assert_eq!(severity("layout", 0.2, Some("a table for Outlook on Windows")), None);
        assert_eq!((severity("cosmetic", 0.2, None), severity("cosmetic", 0.04, None)), (Some(Severity::Info), None));
        assert_eq!((severity("link", 0.02, None), severity("link", 0.005, None)), (Some(Severity::Warning), None));
    }

    #[test]
    fn an_id_depends_on_the_problem_and_not_on_its_place() {
        let first = sample();
        let spelling = |found: &EmailChecks| {
            found.findings.iter().find(|one| one.check == Check::Spelling).expect("the sample has an error").id.clone()
        };
        let mut moved = SpellingAnalysis::sample();
        moved.errors.iter_mut().for_each(|error| error.line += 5);
        let other = checks(&Results { spelling: Some(moved), ..Results::default() }, false);
        assert_eq!(spelling(&first), spelling(&other));
        let ids: std::collections::BTreeSet<&str> = first.findings.iter().map(|one| one.id.as_str()).collect();
        assert_eq!(ids.len(), first.findings.len());
    }

    #[test]
    fn a_misspelled_word_that_occurs_twice_is_one_finding() {
        let mut spelling = SpellingAnalysis::sample();
        spelling.errors.extend(SpellingAnalysis::sample().errors);
        let found = checks(&Results { spelling: Some(spelling), ..Results::default() }, false);
        assert_eq!((found.findings.len(), found.findings[0].count, found.findings[0].occurrences.len()), (1, 2, 2));
    }

    #[test]
    fn a_broken_embedded_image_is_named_without_its_data() {
        let mut links = LinkAnalysis::sample();
        for link in &mut links.checked_links {
            (link.kind, link.url) = (LinkKind::Image, "data:image/png;base64,iVBORw0KGgo=".to_owned());
        }
        let found = checks(&Results { links: Some(links), ..Results::default() }, true).findings;
        let broken = found.iter().find(|one| one.rule == "broken").expect("the finding");
        assert_eq!((broken.message.as_str(), &broken.text), ("The embedded PNG image on line 12 does not work.", &None));
    }

    /// Regression test: the button that fixes a style or a repeated word was labeled only "Fix".
    #[test]
    fn an_automatic_fix_names_the_replacement() {
        let pair = |original: &str, new: &str| (original.to_owned(), new.to_owned());
        let rgb = pair("rgb(0 128 0)", "#008000");
        assert_eq!(automatic_fix(&[]), None);
        assert_eq!(automatic_fix(std::slice::from_ref(&rgb)).as_deref(), Some("Replace “rgb(0 128 0)” with “#008000”"));
        let inserted = pair("", "mso-hide: all; ");
        assert_eq!(automatic_fix(std::slice::from_ref(&inserted)).as_deref(), Some("Add “mso-hide: all;”"));
        let more = [rgb, inserted, pair("1rem", "16px")];
        let described = automatic_fix(&more).expect("the list is not empty");
        assert_eq!(described, "Replace “rgb(0 128 0)” with “#008000”, and make 2 similar changes");
        let mut spelling = SpellingAnalysis::sample();
        let spelled = |spelling: &SpellingAnalysis| of_spelling(spelling).remove(0).automatic_fix;
        assert_eq!(spelled(&spelling).as_deref(), Some("Replace “recieve” with “receive”"));
        spelling.errors.iter_mut().for_each(|error| error.suggestions = vec![String::new()]);
        assert_eq!(spelled(&spelling).as_deref(), Some("Remove “recieve”"));
    }

    #[test]
    fn clients_are_named_and_counted() {
        let named = |count: usize| clients_named(&["A", "B", "C", "D"].map(str::to_owned)[..count]);
        assert_eq!(
            [named(1), named(2), named(3), named(4)],
            ["A", "A and B", "A, B and 1 more client", "A, B and 2 more clients"]
        );
    }
}
