//! The accessibility problems of an email, and the score that results from them. Each problem has a remedy and the WCAG 2.2 success
//! criterion that it violates.

use schemars::JsonSchema;
use serde::Serialize;

use super::views::{PlaceView, Severity, score};
use crate::engine::render::inspect::AccessibilityProblem;
use crate::engine::render::inspect::AccessibilityRule as Rule;

struct Row {
    rule: Rule,
    id: &'static str,
    /// The number and name of the WCAG 2.2 success criterion that the rule checks.
    wcag: &'static str,
    severity: Severity,
    /// The maximum number of points that the rule costs, however often it is violated.
    weight: f64,
    title: &'static str,
    fix: &'static str,
}

const fn row(
    rule: Rule,
    id: &'static str,
    wcag: &'static str,
    (severity, weight): (Severity, f64),
    title: &'static str,
    fix: &'static str,
) -> Row {
    Row { rule, id, wcag, severity, weight, title, fix }
}

use Severity::{Critical, Info, Warning};

/// TABLE: all rules, in the order in which `AccessibilityRule` declares them.
#[rustfmt::skip]
const ROWS: [Row; 20] = [
    row(Rule::Language, "language", "3.1.1 Language of Page", (Critical, 15.0), "The language is not declared",
        "Add the language to the html element, such as <html lang=\"en\">. Screen readers use it to choose the pronunciation."),
    row(Rule::Direction, "direction", "1.3.2 Meaningful Sequence", (Critical, 15.0), "The writing direction is not declared",
        "Add dir=\"rtl\" to the html element."),
    row(Rule::Title, "title", "2.4.2 Page Titled", (Warning, 4.0), "The email has no title",
        "Add a title element with the subject. Browsers and screen readers announce it in the online version."),
    row(Rule::HeadingOrder, "heading_order", "1.3.1 Info and Relationships", (Warning, 6.0), "Headings skip a level",
        "Use h1, h2 and h3 in order; set the size with styles instead of the level."),
    row(Rule::HeadingText, "heading_text", "1.3.1 Info and Relationships", (Warning, 6.0), "A heading is empty",
        "Add text to the heading, or use a different element for the space."),
    row(Rule::ContrastLight, "contrast_light", "1.4.3 Contrast (Minimum)", (Critical, 25.0), "Text has too little contrast",
        "Make the text darker or its background lighter, or the other way around."),
    row(Rule::ContrastDark, "contrast_dark", "1.4.3 Contrast (Minimum)", (Warning, 15.0), "Text has too little contrast in dark mode",
        "Set both the text color and the background color in the rules for prefers-color-scheme: dark, with !important."),
    row(Rule::LinkInvisible, "link_invisible", "1.4.3 Contrast (Minimum)", (Critical, 30.0), "A link is invisible",
        "Set a text color and a background color with a contrast ratio of at least 4.5:1. Under a background image or a gradient, also set a \
         background-color."),
    row(Rule::ImageAlt, "image_alt", "1.1.1 Non-text Content", (Critical, 25.0), "An image has no alt text",
        "Add an alt attribute that says what the image shows, or alt=\"\" if it is purely decorative."),
    row(Rule::ImageAltFileName, "image_alt_file_name", "1.1.1 Non-text Content", (Warning, 10.0), "Alt text is not a description",
        "Describe the image in a few words instead of naming the file."),
    row(Rule::SpacerAlt, "spacer_alt", "1.1.1 Non-text Content", (Info, 4.0), "A spacer has no alt attribute",
        "Add alt=\"\", so that screen readers skip it."),
    row(Rule::LinkedImageAlt, "linked_image_alt", "2.4.4 Link Purpose (In Context)", (Critical, 20.0), "A linked image has empty alt text",
        "In the image's alt text, say where the link leads."),
    row(Rule::LinkText, "link_text", "2.4.4 Link Purpose (In Context)", (Critical, 20.0), "A link has no text",
        "Add text to the link, or remove it."),
    row(Rule::LinkTextVague, "link_text_vague", "2.4.4 Link Purpose (In Context)", (Info, 4.0), "Link text is vague out of context",
        "Name the target in the link text, such as \"See the spring sale\"."),
    row(Rule::FontSize, "font_size", "1.4.4 Resize Text", (Warning, 6.0), "Text is very small",
        "Use at least 12 pixels for small print and 14 pixels for body text."),
    row(Rule::TableRole, "table_role", "1.3.1 Info and Relationships", (Warning, 10.0), "A layout table is not marked as one",
        "Add role=\"presentation\" to the table, so that screen readers do not announce rows and columns."),
    row(Rule::DataTableRole, "data_table_role", "1.3.1 Info and Relationships", (Warning, 8.0), "A data table is marked as layout",
        "Remove role=\"presentation\" from the table, or replace its th elements with td."),
    row(Rule::Zoom, "zoom", "1.4.4 Resize Text", (Warning, 8.0), "Readers cannot zoom in",
        "Remove user-scalable=no and maximum-scale from the viewport meta element."),
    row(Rule::Motion, "motion", "2.2.2 Pause, Stop, Hide", (Warning, 8.0), "Content moves by itself",
        "Replace the element with static text."),
    row(Rule::TextInImages, "text_in_images", "1.4.5 Images of Text", (Critical, 15.0), "The content is in images",
        "Write the content as text. Many email clients show images only after a click."),
];

pub fn rule_ids() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|row| row.id)
}

fn of(rule: Rule) -> &'static Row {
    ROWS.iter().find(|row| row.rule == rule).expect("a test finds the row of every rule")
}

/// The score and the accessibility problems of an email.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccessibilityAnalysis {
    /// The score from 0 to 100; 100 if no problem was found, and less than 90 with a critical problem. Resolving a problem never lowers the
    /// score.
    pub score: u32,
    /// The problems, most severe first.
    pub findings: Vec<AccessibilityFinding>,
    pub summary: AccessibilitySummary,
}

/// A problem for people with disabilities.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccessibilityFinding {
    /// A fixed name for programs, such as `image_alt`.
    pub rule: &'static str,
    pub severity: Severity,
    pub title: &'static str,
    /// What is wrong at the first occurrence.
    pub message: String,
    /// How to resolve the problem.
    pub fix: &'static str,
    /// The WCAG 2.2 success criterion that the problem violates.
    pub wcag: &'static str,
    /// The number of occurrences.
    pub count: usize,
    /// The first occurrences of the problem in the source.
    pub occurrences: Vec<PlaceView>,
    /// The maximum number of points that violations of the rule cost.
    #[serde(skip)]
    pub weight: f64,
}

/// The number of problems by severity.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccessibilitySummary {
    pub critical: usize,
    pub warnings: usize,
    pub info: usize,
}

impl AccessibilityAnalysis {
    pub fn of(problems: &[AccessibilityProblem]) -> Self {
        let mut summary = AccessibilitySummary::default();
        let mut findings = Vec::new();
        let mut costs = Vec::new();
        for problem in problems {
            let Row { id, wcag, severity, weight, title, fix, .. } = of(problem.rule);
            costs.push((*weight, problem.count));
            *match severity {
                Critical => &mut summary.critical,
                Warning => &mut summary.warnings,
                Info => &mut summary.info,
            } += 1;
            findings.push(AccessibilityFinding {
                rule: id,
                severity: *severity,
                title,
                message: problem.detail.clone(),
                fix,
                wcag,
                count: problem.count,
                weight: *weight,
                occurrences: problem.places.iter().map(PlaceView::from).collect(),
            });
        }
        findings.sort_by_key(|finding| finding.severity);
        Self { score: score(costs, summary.critical > 0), findings, summary }
    }

    pub fn sample() -> Self {
        let problem = AccessibilityProblem {
            rule: Rule::ImageAlt,
            detail: "The image https://shop.example.com/shoe.jpg has no alt attribute.".into(),
            count: 1,
            places: Vec::new(),
        };
        let mut sample = Self::of(&[problem]);
        sample.findings.iter_mut().for_each(|finding| finding.occurrences.push(PlaceView::sample()));
        sample
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_its_row_with_a_criterion_and_a_remedy() {
        for (place, row) in ROWS.iter().enumerate() {
            assert_eq!((row.rule as usize, of(row.rule).id), (place, row.id), "{}", row.id);
            assert!(
                row.fix.ends_with('.') && row.wcag.starts_with(|c: char| c.is_ascii_digit()) && row.weight > 0.0,
                "{}",
                row.id
            );
        }
    }

    #[test]
    fn the_score_falls_with_each_occurrence() {
        let with = |count| {
            AccessibilityAnalysis::of(&[AccessibilityProblem {
                rule: Rule::ImageAlt,
                detail: String::new(),
                count,
                places: Vec::new(),
            }])
            .score
        };
        assert_eq!((AccessibilityAnalysis::of(&[]).score, with(1), with(50)), (100, 78, 67));
    }
}
