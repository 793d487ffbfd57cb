//! The compatibility report: the features of an email that each client does not support, where they are used, and how to avoid them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::autofix;
use super::conditions::Applies;
use super::features::{Effect, TABLE};
use super::findings::{Analysis, Checker, Finding, Findings, Support};
use super::profile::{Profile, SMALL_SHARE};
use super::score;
use super::side::Side;
use super::transform::clip_end;
use super::view::Texts;
use crate::base::source::{Lines, Span};
use crate::vocab::limits::CRITICAL_SCORE_SHARE;

/// The maximum number of occurrences that are listed for a feature; `count` includes all occurrences.
const OCCURRENCES_MAX: usize = 20;
const EXCERPT_CHARACTERS_MAX: usize = 160;
/// The age, in months, beyond which a test is stale.
const STALE_MONTHS: u32 = 24;
const WORST_CLIENTS: usize = 3;

/// A part of the source that uses a feature.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CompatibilityOccurrence")]
pub struct Occurrence {
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    pub end_column: u32,
    /// The source, shortened.
    pub excerpt: String,
    /// The selectors of the rule that contains the part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
}

/// A note of the support tables, and whether it applies.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "CompatibilityCondition")]
pub struct ConditionView {
    pub note: String,
    pub applies: Applies,
}

/// A replacement in the source. Positions are byte offsets from 0.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "CompatibilityAutofix")]
pub struct AutofixEdit {
    pub start: u32,
    pub end: u32,
    /// The source text that is replaced. Empty if `replacement` is inserted without replacing text.
    pub original: String,
    pub replacement: String,
}

/// The version and date of a test.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "CompatibilityTest")]
pub struct ClientTest {
    /// The version of the client, if the client has versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<Box<str>>,
    /// The month, as `YYYY-MM`.
    pub date: Box<str>,
    /// Whether the test is older than 24 months.
    pub stale: bool,
}

/// A feature that a client does not fully support.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CompatibilityIssue")]
pub struct Issue {
    pub slug: Box<str>,
    pub title: Box<str>,
    pub category: Box<str>,
    pub url: Box<str>,
    pub support: Support,
    /// The note that is most likely to apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<ConditionView>,
    pub effect: Effect,
    #[serde(serialize_with = "shared")]
    pub occurrences: Arc<[Occurrence]>,
    pub count: usize,
    /// The number of affected elements.
    pub reach: usize,
    /// Whether only rules that match no element use the feature.
    pub unused: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "shared_option")]
    pub autofix: Option<Arc<[AutofixEdit]>>,
    pub tested: ClientTest,
}

fn shared<T: Serialize, S: Serializer>(items: &Arc<[T]>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(items.iter())
}

fn shared_option<T: Serialize, S: Serializer>(items: &Option<Arc<[T]>>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(items.iter().flat_map(|items| items.iter()))
}

/// The findings of a client.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CompatibilityClient")]
pub struct ClientIssues {
    pub client: String,
    pub client_name: String,
    /// The assumed share of opens, from 0 to 1.
    pub share: f64,
    pub score: f64,
    /// Features that the client does not support.
    pub issues: Vec<Issue>,
    /// Features that the client supports in part, and features that only unused rules use.
    pub warnings: Vec<Issue>,
    /// The features that were not tested in this client.
    pub untested: Vec<Box<str>>,
}

/// A client with a low score.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "CompatibilityWorstClient")]
pub struct WorstClient {
    pub client: String,
    pub score: f64,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CompatibilitySummary")]
pub struct Summary {
    pub total_errors: usize,
    pub total_warnings: usize,
    /// The compatibility score of the email, from 0 to 100; less than 90 if Gmail is checked and clips the message.
    pub compatibility_score: u8,
    /// The number of issues with each effect.
    pub by_effect: BTreeMap<Effect, usize>,
    pub worst_clients: Vec<WorstClient>,
}

/// The sizes that clients limit.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CompatibilityLimits")]
pub struct Limits {
    pub html_bytes: usize,
    /// The size of HTML, in bytes, beyond which Gmail clips a message.
    pub clips_at: usize,
    pub is_clipped: bool,
    /// The line where Gmail clips the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clipped_line: Option<u32>,
    pub css_bytes: usize,
    /// The maximum total size of the `style` elements that Gmail reads, in bytes.
    pub css_bytes_max: usize,
    pub images: usize,
    pub images_without_alt: usize,
    pub images_without_size: usize,
    /// The number of bytes of images embedded in the HTML.
    pub embedded_image_bytes: usize,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CompatibilityMetadata")]
pub struct Metadata {
    pub clients_tested: usize,
    pub data_version: Box<str>,
    /// The time that the check took, in milliseconds.
    pub processing_time: f64,
}

/// The compatibility report.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CompatibilityReport")]
pub struct Report {
    pub client_issues: Vec<ClientIssues>,
    pub summary: Summary,
    pub limits: Limits,
    pub supported_clients: Vec<String>,
    pub metadata: Metadata,
}

/// Shares of opens, from 0 to 1, by the key of the client.
pub type Shares = BTreeMap<String, f64>;

impl Report {
    /// Weights the clients in the report by these shares of opens, if there are any. Clients without a share count as [`SMALL_SHARE`].
    pub fn with_shares(mut self, shares: &Shares) -> Self {
        if shares.is_empty() {
            return self;
        }
        for one in &mut self.client_issues {
            one.share = shares.get(&one.client).copied().unwrap_or(SMALL_SHARE);
        }
        self.summary = summary(&self.client_issues, self.limits.is_clipped);
        self
    }
}

/// The size of HTML, in bytes, beyond which Gmail clips a message: 102 KB. Measurements range from 99 to 105 KB.
pub const CLIPS_AT: usize = 102 * 1024;
const CSS_BYTES_MAX: usize = 16 * 1024;

/// Checks an email in the clients with the given keys, or in all clients if no keys are given.
///
/// Unknown keys are skipped; the caller must check them. `processing_time` is 0, and the caller sets it.
pub fn check(checker: &Checker, html: &str, clients: &[String]) -> Report {
    let texts = Texts::new(html);
    let analysis = Analysis::new(checker, &texts);
    let mut writer = Writer { analysis: &analysis, lines: Lines::new(html), written: HashMap::new() };
    let mut findings = Findings::default();
    let is_chosen = |profile: &&Profile| clients.is_empty() || clients.iter().any(|key| profile.is(key));
    let chosen: Vec<&Profile> = checker.profiles.iter().filter(is_chosen).collect();
    let client_issues: Vec<ClientIssues> =
        chosen.iter().map(|profile| writer.client(profile, &mut findings, html.len())).collect();
    let clips_at = chosen.iter().filter_map(|profile| profile.clips_at).min();
    let limits = writer.limits(html, clips_at.and_then(|limit| clip_end(html, limit)));
    let metadata =
        Metadata { clients_tested: client_issues.len(), data_version: checker.data.version.clone(), processing_time: 0.0 };
    Report {
        summary: summary(&client_issues, limits.is_clipped),
        limits,
        supported_clients: checker.profiles.iter().map(|profile| profile.key.clone()).collect(),
        metadata,
        client_issues,
    }
}

fn summary(clients: &[ClientIssues], is_clipped: bool) -> Summary {
    let mut by_effect = BTreeMap::new();
    for issue in clients.iter().flat_map(|client| &client.issues) {
        *by_effect.entry(issue.effect).or_insert(0) += 1;
    }
    let scores: Vec<(f64, f64)> = clients.iter().map(|client| (client.share, client.score)).collect();
    let mut worst: Vec<WorstClient> =
        clients.iter().map(|client| WorstClient { client: client.client.clone(), score: client.score }).collect();
    worst.sort_by(|one, other| one.score.total_cmp(&other.score));
    worst.truncate(WORST_CLIENTS);
    Summary {
        total_errors: clients.iter().map(|client| client.issues.len()).sum(),
        total_warnings: clients.iter().map(|client| client.warnings.len()).sum(),
        compatibility_score: percent(score::of_email(&scores) * if is_clipped { CRITICAL_SCORE_SHARE } else { 1.0 }),
        by_effect,
        worst_clients: worst,
    }
}

/// Rounds down, so that only an email that loses nothing gets 100.
fn percent(score: f64) -> u8 {
    (0..=100_u8).rev().find(|whole| f64::from(*whole) <= score + 1e-9).unwrap_or_default()
}

type Written = (Arc<[Occurrence]>, Option<Arc<[AutofixEdit]>>);

struct Writer<'w> {
    analysis: &'w Analysis<'w>,
    lines: Lines<'w>,
    /// The occurrences of findings that several clients share, by the memory address of the finding. The map owns each finding, so the
    /// address is not reused.
    written: HashMap<*const Finding, (Arc<Finding>, Written)>,
}

impl<'w> Writer<'w> {
    fn client(&mut self, profile: &Profile, findings: &mut Findings<'w>, html_bytes: usize) -> ClientIssues {
        let (found, untested) = findings.of(self.analysis, profile);
        let (mut issues, mut warnings) = (Vec::new(), Vec::new());
        for finding in &found {
            let Some(issue) = self.issue(profile, finding) else { continue };
            let is_error = finding.support == Support::None && !finding.is_unused;
            if is_error { &mut issues } else { &mut warnings }.push(issue);
        }
        #[expect(clippy::cast_precision_loss, reason = "the sizes are less than 2^52")]
        let shown = profile.clips_at.map_or(1.0, |limit| limit as f64 / html_bytes.max(1) as f64);
        // If the client reads no style elements, everything in them counts as one loss.
        let reads_no_styles = found.iter().any(|finding| finding.support == Support::None && finding.is_style_element());
        let counted = found.iter().filter(|finding| !(reads_no_styles && finding.is_in_sheets));
        let score = score::of_client(counted.map(|finding| score::remainder(finding, finding.effect_in(profile))), shown);
        let untested = untested.into_iter().filter_map(|id| Some(TABLE.entry(id)?.slug.as_str().into())).collect();
        ClientIssues {
            client: profile.key.clone(),
            client_name: profile.name.clone(),
            share: profile.share,
            score: (score * 10.0).floor() / 10.0,
            issues,
            warnings,
            untested,
        }
    }

    fn issue(&mut self, profile: &Profile, finding: &Arc<Finding>) -> Option<Issue> {
        let row = self.analysis.checker.feature(finding.feature)?;
        let entry: &'static super::features::Entry = TABLE.entry(finding.feature)?;
        let cell = row.cells.get(profile.column)?;
        let (occurrences, autofix) = self.write(profile, finding);
        let strongest = finding.notes.iter().rev().max_by_key(|(_, _, applies)| *applies);
        let condition = strongest.map(|(_, note, applies)| {
            let applies = if finding.support == Support::None { Applies::True } else { *applies };
            ConditionView { note: note.to_string(), applies }
        });
        Some(Issue {
            slug: row.slug.clone(),
            title: row.title.clone(),
            category: row.category.clone(),
            url: row.url.clone(),
            support: finding.support,
            condition,
            effect: finding.effect_in(profile),
            occurrences,
            count: finding.hits.len(),
            reach: finding.reach,
            unused: finding.is_unused,
            fallback: finding.fallback,
            fix: entry.fix.as_deref(),
            autofix,
            tested: tested(&cell.version, &row.tested, &self.analysis.checker.data.version),
        })
    }

    fn write(&mut self, profile: &Profile, finding: &Arc<Finding>) -> Written {
        let key = Arc::as_ptr(finding);
        if let Some((_, written)) = self.written.get(&key) {
            return written.clone();
        }
        let side = self.analysis.side(profile);
        let occurrences = finding
            .hits
            .iter()
            .take(OCCURRENCES_MAX)
            .map(|hit| self.occurrence(side, hit.used.span, selector(side, hit.used.site)));
        let occurrences: Arc<[Occurrence]> = occurrences.collect();
        // A patch for only some of the uses would not resolve the finding, so the search stops at the first use without one.
        let patches = finding.hits.iter().map(|hit| {
            let patch = autofix::of(&side.view, finding.feature, &hit.used, profile.word)?;
            Some(AutofixEdit {
                start: patch.span.start,
                end: patch.span.end,
                original: patch.span.of(side.view.source).to_owned(),
                replacement: patch.replacement,
            })
        });
        let patches: Option<Vec<AutofixEdit>> = patches.collect();
        let autofix = patches.filter(|patches| !patches.is_empty()).map(Into::into);
        let written = (occurrences, autofix);
        self.written.insert(key, (finding.clone(), written.clone()));
        written
    }

    fn occurrence(&self, side: &Side<'_>, span: Span, selector: Option<&str>) -> Occurrence {
        let (line, column) = self.lines.position(span.start);
        let (end_line, end_column) = self.lines.position(span.end);
        let shorten = |text: &str| {
            let end = text.char_indices().nth(EXCERPT_CHARACTERS_MAX).map_or(text.len(), |(end, _)| end);
            text[..end].to_owned()
        };
        Occurrence {
            line,
            column,
            end_line,
            end_column,
            excerpt: shorten(span.of(side.view.source)),
            selector: selector.map(shorten),
        }
    }

    /// Returns the limits. `clipped` is the offset at which the checked client with the lowest limit clips the message, if it does.
    fn limits(&self, html: &str, clipped: Option<usize>) -> Limits {
        let view = &self.analysis.all().view;
        let images: Vec<_> = view.document.elements.iter().filter(|element| element.name == "img").collect();
        let has = |element: &super::html::Element<'_>, name: &str| view.document.attribute(html, element, name).is_some();
        let sized = |element: &super::html::Element<'_>| {
            let style = view.document.attribute(html, element, "style").unwrap_or_default();
            let names = || style.split(';').filter_map(|one| Some(one.split_once(':')?.0.trim()));
            ["width", "height"].into_iter().all(|side| has(element, side) || names().any(|name| name.eq_ignore_ascii_case(side)))
        };
        let embedded = images.iter().filter_map(|element| view.document.attribute(html, element, "src"));
        Limits {
            html_bytes: html.len(),
            clips_at: CLIPS_AT,
            is_clipped: clipped.is_some(),
            clipped_line: clipped.map(|end| self.lines.position(u32::try_from(end).unwrap_or(u32::MAX)).0),
            css_bytes: view.style_bytes,
            css_bytes_max: CSS_BYTES_MAX,
            images: images.len(),
            images_without_alt: images.iter().filter(|element| !has(element, "alt")).count(),
            images_without_size: images.iter().filter(|element| !sized(element)).count(),
            embedded_image_bytes: embedded.filter(|src| src.starts_with("data:")).map(str::len).sum(),
        }
    }
}

fn selector<'s>(side: &'s Side<'_>, site: super::features::detect::Site) -> Option<&'s str> {
    use super::css::Owner;
    use super::features::detect::Site;
    let rule = match site {
        Site::Declaration(index) => match side.view.sheets.declarations.get(index as usize)?.owner {
            Owner::Rule(rule) => rule,
            _ => return None,
        },
        Site::Selector(rule, _) | Site::Rule(rule) => rule,
        _ => return None,
    };
    Some(side.view.rule(rule)?.prelude.of(side.view.source))
}

/// Returns the version and date of a test. The date is `version` if that is a month, and otherwise `feature`, the month of the feature's
/// newest test. `data` is the date of the tables.
fn tested(version: &str, feature: &str, data: &str) -> ClientTest {
    let is_month = version.len() == 7 && version.as_bytes().get(4) == Some(&b'-');
    let date = if is_month { version } else { feature };
    let months =
        |date: &str| -> Option<u32> { Some(date.get(..4)?.parse::<u32>().ok()? * 12 + date.get(5..7)?.parse::<u32>().ok()?) };
    let stale = match (months(date), months(data)) {
        (Some(then), Some(now)) => now.saturating_sub(then) > STALE_MONTHS,
        _ => true,
    };
    ClientTest { version: (!is_month && !version.is_empty()).then(|| version.into()), date: date.into(), stale }
}

/// Returns the slugs of a client's findings, for tests and tools.
pub fn slugs(client: &ClientIssues) -> Vec<(&str, Support)> {
    client.issues.iter().chain(&client.warnings).map(|issue| (&*issue.slug, issue.support)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::transform::{Options, transform};
    use super::*;

    /// Regression test: the report gave the line of the size limit itself, but the preview gave the line of the tag that crosses the limit.
    #[test]
    fn the_report_and_the_preview_clip_an_email_in_the_same_line() {
        let start = format!("<html><body><p>{}</p>\n", "x".repeat(CLIPS_AT - 40));
        let html = format!("{start}<p\n title=\"{}\">End</p></body></html>", "y".repeat(80));
        let line = check(Checker::embedded(), &html, &[]).limits.clipped_line;
        let profile = Checker::embedded().profile("gmail.ios").expect("the client is known");
        let cuts = transform(Checker::embedded(), &html, profile, Options::default()).cuts;
        assert_eq!((line, cuts.last().map(|cut| cut.line)), (Some(2), Some(2)));
    }

    /// Regression test: `max-width` and `line-height` were counted as sizes.
    #[test]
    fn only_widths_and_heights_are_sizes_of_images() {
        let html = "<img src=a width=9 height=9><img src=b style=\"width:9px; HEIGHT:9px\">\
                    <img src=c width=9 style=\"line-height:0\"><img src=d style=\"max-width:100%\" height=9>";
        let limits = check(Checker::embedded(), html, &[]).limits;
        assert_eq!((limits.images, limits.images_without_size), (4, 2));
    }

    #[test]
    fn the_shares_of_an_audience_replace_the_assumed_ones() {
        let report = check(Checker::embedded(), "<div style=\"display:flex;position:absolute\">x</div>", &[]);
        let shares = |outlook: f64| [("outlook.windows", outlook), ("apple-mail.ios", 1.0 - outlook)];
        let with = |outlook| report.clone().with_shares(&shares(outlook).map(|(key, share)| (key.to_owned(), share)).into());
        assert!(with(0.9).summary.compatibility_score < with(0.1).summary.compatibility_score);
        let share = |key: &str| with(0.9).client_issues.iter().find(|one| one.client == key).map(|one| one.share);
        assert_eq!((share("outlook.windows"), share("gmail.ios")), (Some(0.9), Some(SMALL_SHARE)));
        let unchanged = report.clone().with_shares(&Shares::new());
        assert_eq!(unchanged.summary.compatibility_score, report.summary.compatibility_score);
    }

    #[test]
    fn a_clipped_email_scores_below_90() {
        let score = |words: usize, client: &str| {
            let html = format!("<html><body><p>{}</p></body></html>", "Many words. ".repeat(words));
            check(Checker::embedded(), &html, &[client.to_owned()]).summary.compatibility_score
        };
        assert!(score(100, "gmail.ios") == 100 && score(10_000, "gmail.ios") < 90);
        assert_eq!(score(10_000, "apple-mail.ios"), 100, "this client does not clip messages");
    }
}
