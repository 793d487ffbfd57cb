//! The report of `mailmill check`: as text, as JSON, or as SARIF for code review tools.

use serde_json::{Value, json};

use crate::features::checks::model::{CheckFinding, EmailChecks};
use crate::features::checks::report::Check;
use crate::features::checks::views::{PlaceView, Severity};
use crate::surfaces::cli::ReportFormat;

/// The width of the text report in characters, which fits nearly every terminal.
const COLUMNS: usize = 80;
/// The indentation of a finding's message and remedy, in characters.
const INDENT: usize = 9;
/// The maximum number of additional line numbers to list for a finding that occurs more than once.
const PLACES_SHOWN: usize = 8;

/// The results of all checks of one email file.
#[derive(Debug)]
pub struct FileReport {
    /// The name of the file, as given by the user.
    pub name: String,
    /// Whether the file is a whole message. If so, line numbers refer to its HTML part.
    pub is_message: bool,
    pub checks: EmailChecks,
    pub min_score: Option<u8>,
}

impl FileReport {
    /// Returns 1 if there are critical findings or the score is below the minimum; otherwise 0.
    pub fn exit_code(&self) -> u8 {
        u8::from(self.critical() > 0 || self.is_below())
    }

    fn critical(&self) -> usize {
        self.checks.findings.iter().filter(|finding| finding.severity == Severity::Critical).count()
    }

    fn is_below(&self) -> bool {
        let score = self.checks.scores.overall;
        self.min_score.is_some_and(|min| score.is_none_or(|score| score < u32::from(min)))
    }

    /// Returns the report as text, JSON or SARIF.
    pub fn shown(&self, format: ReportFormat) -> String {
        match format {
            ReportFormat::Text => self.text(),
            ReportFormat::Json => format!("{:#}\n", self.json()),
            ReportFormat::Sarif => format!("{:#}\n", self.sarif()),
        }
    }

    fn text(&self) -> String {
        let mut out = String::new();
        let scores = &self.checks.scores;
        let score = |score: Option<u32>| score.map_or_else(|| "not checked".to_owned(), |score| score.to_string());
        out.push_str(&format!("{}: {} of 100\n\n", self.name, score(scores.overall)));
        for check in Check::ALL {
            let note = if check == Check::Links && !self.checks.links_requested {
                "  (URLs not requested; add --links to request them)"
            } else {
                ""
            };
            out.push_str(&format!("  {:<14} {:>3}{note}\n", title(check), score(scores.of(check))));
        }
        for (severity, heading) in
            [(Severity::Critical, "Critical"), (Severity::Warning, "Warnings"), (Severity::Info, "Suggestions")]
        {
            let found: Vec<&CheckFinding> = self.checks.findings.iter().filter(|finding| finding.severity == severity).collect();
            if !found.is_empty() {
                out.push_str(&format!("\n{heading} ({})\n", found.len()));
                found.iter().for_each(|finding| entry(finding, &mut out));
            }
        }
        out.push('\n');
        if self.is_message {
            out.push_str(&wrapped("Line numbers refer to the HTML part of the message.", 0));
        }
        out.push_str(&wrapped(&self.verdict(), 0));
        out
    }

    fn verdict(&self) -> String {
        let critical = match self.critical() {
            0 => None,
            1 => Some("1 critical finding".to_owned()),
            count => Some(format!("{count} critical findings")),
        };
        let below = self.min_score.filter(|_| self.is_below()).map(|min| match self.checks.scores.overall {
            Some(score) => format!("the score {score} is below the minimum {min}"),
            None => format!("there is no score to compare with the minimum {min}"),
        });
        let reasons: Vec<String> = critical.into_iter().chain(below).collect();
        if reasons.is_empty() { "Passed.".to_owned() } else { format!("Failed: {}.", reasons.join(", and ")) }
    }

    fn json(&self) -> Value {
        json!({
            "file": self.name,
            "passed": self.exit_code() == 0,
            "minScore": self.min_score,
            "scores": self.checks.scores,
            "findings": self.checks.findings,
            "linksRequested": self.checks.links_requested,
            "checksIncomplete": self.checks.incomplete,
        })
    }

    /// Returns the findings as a SARIF 2.1.0 log with one run.
    fn sarif(&self) -> Value {
        let mut rules: Vec<(String, &CheckFinding)> = Vec::new();
        for finding in &self.checks.findings {
            let id = rule(finding);
            if rules.iter().all(|(known, _)| *known != id) {
                rules.push((id, finding));
            }
        }
        let index = |id: &str| rules.iter().position(|(known, _)| known == id);
        let results: Vec<Value> = self
            .checks
            .findings
            .iter()
            .map(|finding| {
                let id = rule(finding);
                let fix = finding.fix.as_deref().map(|fix| format!(" {fix}")).unwrap_or_default();
                json!({
                    "ruleId": id, "ruleIndex": index(&id), "level": level(finding.severity),
                    "message": { "text": format!("{}{fix}", finding.message) },
                    "locations": self.locations(finding),
                    "partialFingerprints": { "mailmillFinding/v1": finding.id },
                })
            })
            .collect();
        let described: Vec<Value> = rules.iter().map(|(id, finding)| described(id, finding)).collect();
        let driver = json!({
            "name": "Mailmill", "version": env!("CARGO_PKG_VERSION"), "semanticVersion": env!("CARGO_PKG_VERSION"), "rules": described,
        });
        json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": driver }, "columnKind": "unicodeCodePoints", "results": results,
                "properties": { "scores": self.checks.scores, "linksRequested": self.checks.links_requested },
            }],
        })
    }

    /// Returns the SARIF locations of a finding. For a whole message, they have no line numbers, because the finding's line numbers
    /// refer to the HTML part and not to the file.
    fn locations(&self, finding: &CheckFinding) -> Vec<Value> {
        let artifact = json!({ "uri": uri(&self.name) });
        let region = |place: &PlaceView| {
            // If a place spans several lines, its end column can be smaller than its start column.
            let end_column = if place.end_line > place.line { place.end_column } else { place.end_column.max(place.column) };
            json!({
                "startLine": place.line, "startColumn": place.column, "endLine": place.end_line.max(place.line),
                "endColumn": end_column, "snippet": { "text": place.excerpt },
            })
        };
        match finding.occurrences.is_empty() || self.is_message {
            true => vec![json!({ "physicalLocation": { "artifactLocation": artifact } })],
            false => {
                let location = |place| json!({ "physicalLocation": { "artifactLocation": artifact, "region": region(place) } });
                finding.occurrences.iter().map(location).collect()
            }
        }
    }
}

fn title(check: Check) -> &'static str {
    match check {
        Check::Compatibility => "Compatibility",
        Check::Links => "Links",
        Check::Spelling => "Spelling",
        Check::Deliverability => "Deliverability",
        Check::Accessibility => "Accessibility",
    }
}

/// Returns the ID of the finding's rule as shown in the report, such as `links/broken`.
pub fn rule(finding: &CheckFinding) -> String {
    format!("{}/{}", finding.check.word(), finding.rule)
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

/// Returns the SARIF description of a rule. Its text is the rule's name and not a finding's message, because messages quote text and URLs
/// from the email.
fn described(id: &str, finding: &CheckFinding) -> Value {
    let name = id.replace('/', ": ").replace('_', " ").to_lowercase();
    let mut described =
        json!({ "id": id, "shortDescription": { "text": name }, "defaultConfiguration": { "level": level(finding.severity) } });
    if let Some(fix) = &finding.fix {
        described["help"] = json!({ "text": fix });
    }
    if let Some(url) = &finding.url {
        described["helpUri"] = json!(url);
    }
    described
}

/// Returns a path as a relative or absolute URI reference.
fn uri(path: &str) -> String {
    const KEPT: &percent_encoding::AsciiSet =
        &percent_encoding::NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_');
    let encoded = percent_encoding::utf8_percent_encode(path.trim_start_matches("./"), KEPT).to_string();
    if path.starts_with('/') { format!("file://{encoded}") } else { encoded }
}

/// Appends a finding to `out`: its first place, its message, for some checks its effect, its remedy, and the lines of its other places.
fn entry(finding: &CheckFinding, out: &mut String) {
    let first = finding.occurrences.first();
    let place = first.map_or_else(String::new, |place| format!("{}:{}", place.line, place.column));
    let sentence = format!("{} [{}]", finding.message, rule(finding));
    let text = wrapped(&sentence, INDENT);
    // If the place fits in the indentation, it is printed there, before the message; otherwise it is printed on a line above the message.
    let head = format!("  {place}");
    match head.chars().count() < INDENT {
        true => out.push_str(&format!("{head:<INDENT$}{}", text.trim_start())),
        false => out.push_str(&format!("{head}\n{text}")),
    }
    let explains = matches!(finding.check, Check::Compatibility | Check::Links);
    if let Some(effect) = finding.effect.as_ref().filter(|_| explains) {
        out.push_str(&wrapped(effect, INDENT));
    }
    if let Some(fix) = &finding.fix {
        out.push_str(&wrapped(fix, INDENT));
    }
    if finding.count > 1 {
        let mut lines: Vec<u32> = finding.occurrences.iter().map(|place| place.line).collect();
        lines.retain(|line| first.is_some_and(|first| first.line != *line));
        lines.dedup();
        lines.truncate(PLACES_SHOWN);
        let listed = lines.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        let also = match lines.len() {
            0 => String::new(),
            1 => format!(", also on line {listed}"),
            _ => format!(", also on lines {listed}"),
        };
        out.push_str(&wrapped(&format!("{} times{also}", finding.count), INDENT));
    }
}

/// Wraps text into indented lines of at most 80 columns. A word that is too long gets its own line.
fn wrapped(text: &str, indent: usize) -> String {
    let mut out = String::new();
    let mut used = 0;
    for word in text.split_whitespace() {
        let width = word.chars().count();
        if used > 0 && indent + used + 1 + width > COLUMNS {
            out.push('\n');
            used = 0;
        }
        if used == 0 {
            out.push_str(&" ".repeat(indent));
        } else {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += width;
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::checks::model::Scores;

    fn report() -> FileReport {
        let critical = CheckFinding {
            check: Check::Accessibility,
            rule: "image_alt".into(),
            severity: Severity::Critical,
            message: "The image https://shop.example.com/images/2026/spring/shoes-in-the-sun.jpg has no alt attribute.".into(),
            fix: Some("Add an alt attribute that says what the image shows, or alt=\"\" if it is purely decorative.".into()),
            count: 3,
            occurrences: vec![
                PlaceView { line: 1200, column: 1305, ..PlaceView::sample() },
                PlaceView { line: 1300, ..PlaceView::sample() },
            ],
            ..CheckFinding::sample()
        };
        let checks =
            EmailChecks { scores: Scores::sample(), findings: vec![critical, CheckFinding::sample()], ..EmailChecks::default() };
        FileReport { name: "./mails/my news.html".into(), is_message: false, checks, min_score: None }
    }

    #[test]
    fn the_report_for_people_has_80_columns_and_says_what_was_not_checked() {
        let text = report().shown(ReportFormat::Text);
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS), "{text}");
        for part in [
            "./mails/my news.html: 92 of 100\n",
            "  Spelling        70\n",
            "URLs not requested; add --links",
            "\nCritical (1)\n  1200:1305\n",
            "\n  12:5   “recieve” is misspelled. [spelling/UNKNOWN_WORD]\n         Replace it with “receive”.\n",
            "3 times, also on line 1300",
            "Failed: 1 critical finding.\n",
        ] {
            assert!(text.contains(part), "{part:?} is missing in:\n{text}");
        }
    }

    #[test]
    fn further_places_are_listed_without_the_line_of_the_first() {
        let entry_of = |lines: &[u32]| {
            let occurrences = lines.iter().map(|line| PlaceView { line: *line, ..PlaceView::sample() }).collect();
            let mut out = String::new();
            entry(&CheckFinding { count: lines.len(), occurrences, ..CheckFinding::sample() }, &mut out);
            out.lines().last().unwrap_or_default().trim().to_owned()
        };
        assert_eq!(entry_of(&[3, 3]), "2 times");
        assert_eq!(entry_of(&[3, 3, 24]), "3 times, also on line 24");
        assert_eq!(entry_of(&[3, 24, 24, 32, 33]), "5 times, also on lines 24, 32, 33");
    }

    #[test]
    fn the_exit_code_depends_on_the_score_and_on_critical_findings() {
        let mut report = report();
        assert_eq!(report.exit_code(), 1);
        report.checks.findings.remove(0);
        assert_eq!(report.exit_code(), 0);
        report.min_score = Some(92);
        assert_eq!(report.exit_code(), 0);
        report.min_score = Some(93);
        assert_eq!(report.exit_code(), 1);
        assert!(report.text().ends_with("Failed: the score 92 is below the minimum 93.\n"));
        report.checks.scores.overall = None;
        assert_eq!(report.exit_code(), 1);
        assert!(report.text().ends_with("Failed: there is no score to compare with the minimum 93.\n"));
    }

    #[test]
    fn sarif_names_the_rule_the_level_and_the_place() {
        let sarif = report().sarif();
        let run = &sarif["runs"][0];
        assert_eq!(
            (&sarif["version"], &run["tool"]["driver"]["rules"][0]["id"]),
            (&json!("2.1.0"), &json!("accessibility/image_alt"))
        );
        let [first, second] = [&run["results"][0], &run["results"][1]];
        assert_eq!((&first["level"], &second["level"], &second["ruleIndex"]), (&json!("error"), &json!("warning"), &json!(1)));
        let place = &second["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "mails/my%20news.html");
        assert_eq!((&place["region"]["startLine"], &place["region"]["startColumn"]), (&json!(12), &json!(5)));
        let mut lines = report();
        lines.checks.findings[0].occurrences =
            vec![PlaceView { line: 3, column: 40, end_line: 4, end_column: 7, ..PlaceView::sample() }];
        let region = lines.sarif()["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"].clone();
        assert_eq!((&region["endLine"], &region["endColumn"]), (&json!(4), &json!(7)));
        let message = FileReport { is_message: true, ..report() }.sarif();
        assert!(message["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"].is_null());
    }
}
