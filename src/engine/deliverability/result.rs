//! The result of `POST /v1/emails/validate/deliverability`.

use serde::Serialize;

use super::authentication::Report;
use super::category::{self, Category, SPAM_SCORE, Signals};
use super::message::{Input, Message};
use super::observations::{Finding, Level};
use super::rules;
use super::tokens::{self, Verdict};
use crate::vocab::limits;

/// The predicted placement.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "DeliverabilityPrediction")]
pub struct Prediction {
    pub category: Category,
    /// The probability that the category is right. At most 0.8, because the sender's reputation is unknown.
    pub confidence: f64,
    /// The deliverability score, from 0 to 100. A score of 100 means that the check found nothing that harms delivery. With a critical
    /// finding, the score is less than 90.
    pub score: f64,
    pub reasoning: String,
}

/// The words and features that support the prediction.
#[derive(Clone, Debug, Default, Serialize, schemars::JsonSchema)]
#[schemars(rename = "DeliverabilityContentSignals")]
pub struct ContentSignals {
    pub promotional: Vec<String>,
    pub transactional: Vec<String>,
    pub spam: Vec<String>,
    pub engagement: Vec<String>,
}

/// The spam score.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "DeliverabilitySpamScore")]
pub struct SpamScore {
    /// The score on SpamAssassin's scale: 5 or more is spam. Words that are typical of legitimate mail can make the score negative.
    pub score: f64,
    pub triggers: Vec<String>,
    pub recommendations: Vec<String>,
    /// The part of the score that comes from the words in the email.
    pub token_points: f64,
    /// What the rules found, including rules that add no points.
    pub findings: Vec<Finding>,
}

/// The recommendations, grouped by importance.
#[derive(Clone, Debug, Default, Serialize, schemars::JsonSchema)]
#[schemars(rename = "DeliverabilityRecommendations")]
pub struct Recommendations {
    pub critical: Vec<String>,
    pub important: Vec<String>,
    pub suggested: Vec<String>,
}

impl Recommendations {
    fn add(&mut self, level: Level, text: &str) {
        let list = match level {
            Level::Critical => &mut self.critical,
            Level::Important => &mut self.important,
            Level::Suggested => &mut self.suggested,
        };
        if !list.iter().any(|found| found == text) {
            list.push(text.to_owned());
        }
    }
}

/// How the result was produced.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "DeliverabilityMetadata")]
pub struct Metadata {
    /// The time that the check took, in milliseconds.
    pub processing_time: f64,
    /// `rules+model`, and `+dns` if DNS records were checked.
    pub analysis_type: String,
}

/// The result of the deliverability check.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "DeliverabilityAnalysis")]
pub struct Analysis {
    pub prediction: Prediction,
    pub content_signals: ContentSignals,
    pub spam_score: SpamScore,
    pub recommendations: Recommendations,
    /// The DNS records of the sender's domain. Absent if the sender is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authentication: Option<Report>,
    pub metadata: Metadata,
}

/// The number of points by which one point of the spam score lowers the deliverability score (0 to 100).
pub const SCORE_PER_POINT: f64 = 10.0;
/// The number of points by which a critical finding about DNS records lowers the deliverability score. An important finding lowers it by
/// `IMPORTANT_RECORD`.
const CRITICAL_RECORD: f64 = 15.0;
const IMPORTANT_RECORD: f64 = 5.0;

/// Checks an email. `authentication` is the report on the sender's DNS records, if they were looked up. `processing_time` is 0 in the
/// result, and the caller sets it.
pub fn analyze(input: &Input<'_>, authentication: Option<Report>) -> Analysis {
    let message = Message::of(input);
    let findings = rules::check(&message, input.html);
    let evidence = tokens::evidence(&message);
    let rule_points: f64 = findings.iter().map(|finding| finding.points).sum();
    // Fraud often uses the words of ordinary business mail, so words cannot outweigh the rules about fraud.
    let is_fraud = findings.iter().any(|finding| finding.family == "fraud" && finding.points > 0.0);
    let token_points = if is_fraud { evidence.points().max(0.0) } else { evidence.points() };
    let spam_score = rounded(rule_points + token_points);
    let signals = Signals::of(&message);
    let placement = category::predict(&message, &signals, spam_score);
    let mut recommendations = Recommendations::default();
    for finding in &findings {
        recommendations.add(finding.level, finding.remedy);
    }
    for problem in authentication.iter().flat_map(|report| &report.problems) {
        recommendations.add(problem.level, &problem.remedy);
    }
    let has_records = authentication.as_ref().is_some_and(Report::is_checked);
    let reasoning = reasoning(&placement, spam_score, evidence.verdict(), &findings, has_records);
    let prediction = Prediction {
        category: placement.category,
        confidence: rounded(placement.confidence),
        score: rounded(score(spam_score, &findings, authentication.as_ref())),
        reasoning,
    };
    let triggers = findings.iter().filter(|finding| finding.points > 0.0);
    Analysis {
        content_signals: content_signals(&signals, &message, &evidence, &findings),
        spam_score: SpamScore {
            score: spam_score,
            triggers: triggers.clone().map(trigger).collect(),
            recommendations: triggers.map(|finding| finding.remedy.to_owned()).collect(),
            token_points: rounded(token_points),
            findings,
        },
        prediction,
        recommendations,
        metadata: Metadata {
            processing_time: 0.0,
            analysis_type: if has_records { "rules+model+dns" } else { "rules+model" }.to_owned(),
        },
        authentication,
    }
}

fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

fn score(spam_score: f64, findings: &[Finding], authentication: Option<&Report>) -> f64 {
    let mut levels = authentication.iter().flat_map(|report| &report.problems).map(|problem| problem.level);
    let has_critical = findings.iter().any(|finding| finding.level == Level::Critical && finding.points > 0.0)
        || levels.any(|level| level == Level::Critical);
    let records: f64 = authentication
        .iter()
        .flat_map(|report| &report.problems)
        .map(|problem| match problem.level {
            Level::Critical => CRITICAL_RECORD,
            Level::Important => IMPORTANT_RECORD,
            Level::Suggested => 0.0,
        })
        .sum();
    let score = (100.0 - SCORE_PER_POINT * spam_score.max(0.0) - records).clamp(0.0, 100.0);
    if has_critical { score * limits::CRITICAL_SCORE_SHARE } else { score }
}

fn trigger(finding: &Finding) -> String {
    let excerpt = finding.evidence.iter().find(|evidence| !evidence.excerpt.is_empty());
    let shown = excerpt.map(|evidence| format!(" (line {}: “{}”)", evidence.line, evidence.excerpt)).unwrap_or_default();
    format!("{}: {} {:+.1}{shown}", finding.rule, finding.text, finding.points)
}

fn reasoning(
    placement: &category::Placement,
    spam_score: f64,
    verdict: Verdict,
    findings: &[Finding],
    has_records: bool,
) -> String {
    let mut strongest: Vec<&Finding> = findings.iter().filter(|finding| finding.points > 0.0).collect();
    strongest.sort_by(|one, other| other.points.total_cmp(&one.points));
    let named = match placement.category {
        Category::Spam => {
            let words = (verdict == Verdict::Spam).then_some("words typical of spam");
            let rules = strongest.iter().map(|finding| finding.text.trim_end_matches('.'));
            words.into_iter().chain(rules).take(3).collect::<Vec<_>>().join("; ")
        }
        _ => placement.reasons.join("; "),
    };
    let place = match placement.category {
        Category::Inbox => "The content resembles regular inbox mail",
        Category::Promotions => "The content resembles promotional email",
        Category::Spam => "The content resembles spam",
    };
    let signals = if named.is_empty() { String::new() } else { format!(" Strongest signals: {named}.") };
    let words = match verdict {
        Verdict::Unsure => " The wording suggests neither spam nor legitimate mail.",
        Verdict::Legitimate | Verdict::Spam => "",
    };
    let unseen = if has_records { "the sender's reputation or" } else { "the sender's reputation, DNS records, or" };
    format!(
        "{place} (spam score {spam_score:.1}; {SPAM_SCORE:.0} or more counts as spam).{signals}{words} This check cannot see {unseen} how \
         readers treat similar mail, which matter more than the content."
    )
}

fn content_signals(signals: &Signals, message: &Message, evidence: &tokens::Evidence, findings: &[Finding]) -> ContentSignals {
    let mut transactional = signals.words("transaction");
    transactional.extend(signals.words("account"));
    let mut engagement = signals.words("appeal");
    engagement.extend(signals.words("event"));
    if message.subject.as_deref().is_some_and(|subject| subject.contains('?')) {
        engagement.push("a question in the subject".to_owned());
    }
    if message.text.contains("{{") {
        engagement.push("personalization".to_owned());
    }
    let mut spam: Vec<String> = if evidence.verdict() == Verdict::Spam { evidence.spam_words.clone() } else { Vec::new() };
    spam.extend(findings.iter().filter(|finding| finding.points >= 1.0).map(|finding| finding.text.to_owned()));
    ContentSignals { promotional: signals.words("offer"), transactional, spam, engagement }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_has_the_fields_of_the_reference() {
        let html = "<p>Hello Ada, our workshop opens at nine on Saturday.</p><p style='color:white'>secret words</p>";
        let input = Input {
            html,
            subject: Some("Saturday"),
            from_name: Some("Lama Lace"),
            from_email: Some("hello@lamalace.example"),
            ..Input::default()
        };
        let value = serde_json::to_value(analyze(&input, None)).expect("JSON");
        for path in [
            "/prediction/category",
            "/prediction/confidence",
            "/prediction/score",
            "/prediction/reasoning",
            "/contentSignals/promotional",
            "/contentSignals/transactional",
            "/contentSignals/spam",
            "/contentSignals/engagement",
            "/spamScore/score",
            "/spamScore/triggers",
            "/spamScore/recommendations",
            "/recommendations/critical",
            "/recommendations/important",
            "/recommendations/suggested",
            "/metadata/processingTime",
        ] {
            assert!(value.pointer(path).is_some(), "{path}");
        }
        assert_eq!(value["metadata"]["analysisType"], "rules+model");
        let evidence = &value["spamScore"]["findings"][0]["evidence"][0];
        assert_eq!((evidence["line"].as_u64(), evidence["excerpt"].as_str()), (Some(1), Some("secret words")));
    }

    /// Regression test: words that are typical of legitimate mail outweighed a critical finding, so the score was 100.
    #[test]
    fn a_critical_finding_keeps_the_score_below_90() {
        let html = "<p>Hello Ada, our workshop opens at nine on Saturday.</p><p style='color:white'>secret words</p>";
        let input = |html| Input { html, subject: Some("Saturday"), ..Input::default() };
        let hidden = analyze(&input(html), None);
        assert!(!hidden.recommendations.critical.is_empty() && hidden.prediction.score < 90.0, "{:?}", hidden.prediction);
        let shown = html.replace("white", "black");
        assert!(analyze(&input(&shown), None).prediction.score > hidden.prediction.score);
    }

    #[test]
    fn spam_is_classified_as_spam_and_removing_a_trigger_raises_the_score() {
        let spam = "<p>Dear friend, you have won! Claim your prize, absolutely free, 100% guaranteed. Act now!!! Viagra without a \
                    prescription.</p><a href='http://192.0.2.1/'>Click here</a>";
        let analysis = analyze(&Input { html: spam, subject: Some("YOU HAVE WON!!!"), ..Input::default() }, None);
        assert_eq!(analysis.prediction.category, Category::Spam);
        assert!(analysis.prediction.confidence <= 0.8);
        let better = analyze(
            &Input { html: &spam.replace("192.0.2.1", "shop.example"), subject: Some("YOU HAVE WON!!!"), ..Input::default() },
            None,
        );
        assert!(better.spam_score.score < analysis.spam_score.score);
        assert!(better.prediction.score >= analysis.prediction.score);
    }
}
