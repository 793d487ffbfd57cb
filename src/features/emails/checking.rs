//! Checks new versions of emails, and stores the result with the version.
//!
//! Generated and imported emails, and emails edited with a prompt, are first checked without requesting links. This takes a fraction of a
//! second, so a finished email already has its scores and warnings. Then the worker checks the version again and requests the URLs of its
//! links, which can take seconds. Other versions, such as documents that users save, are first checked by the worker or when their
//! screenshots are rendered.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::finding::Finding;
use super::generation::context::StageContext;
use super::model::{Email, Stage, VersionChecks};
use super::{postal_address, store, versions};
use crate::engine::api::{Engine, Failure};
use crate::engine::deliverability::result::SCORE_PER_POINT;
use crate::engine::deliverability::{observations, rules};
use crate::engine::store::{self as rows, Read, WriteTx};
use crate::features::checks::CheckContext;
use crate::features::checks::model::{CheckFinding, EmailChecks, Scores, WORST_FINDINGS};
use crate::features::checks::results;
use crate::features::checks::run::{self, LinkRequests};
use crate::features::checks::source::CheckedEmail;
use crate::features::checks::spelling::SpellingAnalysis;
use crate::features::checks::views::{Severity, reduced};
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, EmailId, ProjectId};
use crate::vocab::limits;
use futures_util::stream::{self, StreamExt};

/// The scores and the worst findings for a version of an email.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckSummary {
    pub scores: Scores,
    /// At most three findings for the email, and three for each text that the campaign sets itself, such as its subject. The most severe
    /// findings come first; ignored findings are left out.
    pub worst: Vec<CheckFinding>,
    pub links_requested: bool,
    /// Whether any finding is critical, including ignored findings.
    has_critical: bool,
    /// The IDs of the ignored findings.
    ignored: BTreeSet<String>,
}

impl CheckSummary {
    /// Returns the result for a subject that replaces the email's subject, `own`. If the new subject has more signs of spam, the
    /// scores are lower.
    pub fn with_subject(self, own: &str, subject: &str) -> Self {
        let found = rules::of_subject(subject);
        let points = |found: &[observations::Finding]| found.iter().map(|finding| finding.points).sum::<f64>();
        let added = points(&found) - points(&rules::of_subject(own));
        if added <= 0.0 {
            return self;
        }
        let lost = (added * SCORE_PER_POINT).ceil() as u32;
        let found: Vec<CheckFinding> = found.iter().map(results::of_deliverability_rule).collect();
        // A critical finding in the subject also limits the score of the check.
        let max = reduced(100.0, found.iter().any(is_critical)) as u32;
        let deliverability = self.scores.deliverability.map(|score| score.saturating_sub(lost).min(max));
        let scores = Scores { deliverability, ..self.scores };
        self.with(scores, found)
    }

    /// Returns the result with the spelling mistakes in a text that the campaign sets itself, such as its subject. `part` names the text.
    pub fn with_spelling(self, part: &str, found: &SpellingAnalysis) -> Self {
        // The scores are multiplied, so each mistake in the email or in the text lowers the result, and a correction never does.
        let spelling = self.scores.spelling.map(|score| score * found.score / 100);
        let scores = Scores { spelling, ..self.scores };
        self.with(scores, results::of_text(part, found))
    }

    /// Returns the result with these scores, a new overall score, and additional findings.
    fn with(self, scores: Scores, found: Vec<CheckFinding>) -> Self {
        let has_critical = self.has_critical || found.iter().any(is_critical);
        let is_known = |one: &CheckFinding| self.ignored.contains(&one.id) || self.worst.iter().any(|known| known.id == one.id);
        let shown = found.into_iter().filter(|one| one.severity != Severity::Info && !is_known(one));
        let added: Vec<CheckFinding> = shown.take(WORST_FINDINGS).collect();
        let mut worst = self.worst;
        worst.extend(added);
        worst.sort_by(|one, other| one.severity.cmp(&other.severity).then(other.weight.total_cmp(&one.weight)));
        Self { scores: results::with_overall(scores, has_critical), worst, has_critical, ..self }
    }
}

fn is_critical(finding: &CheckFinding) -> bool {
    finding.severity == Severity::Critical
}

/// Returns the check results for a version of an email; `None` if the version has not been checked yet.
pub fn summary(tx: &impl Read, email: EmailId, version: u32) -> rows::Result<Option<CheckSummary>> {
    let Some(VersionChecks { checks, .. }) = store::checks(tx, email, version)? else { return Ok(None) };
    let ignored: BTreeSet<String> = store::ignored_findings(tx, email)?.into_keys().collect();
    let worst = checks.open(|id| ignored.contains(id)).take(WORST_FINDINGS).cloned().collect();
    let has_critical = checks.findings.iter().any(is_critical);
    Ok(Some(CheckSummary { scores: checks.scores, worst, links_requested: checks.links_requested, has_critical, ignored }))
}

/// Returns whether the current version of an email is in the queue for checks and has not been checked yet.
pub fn is_awaited(tx: &impl Read, account: AccountId, id: EmailId) -> rows::Result<bool> {
    let Some(email) = store::email(tx, account, id)? else { return Ok(false) };
    Ok(store::checks(tx, id, email.version)?.is_none() && store::awaits_checks(tx, account, id)?)
}

/// Returns the warnings that result from the checks of an email's current version. `known` are the email's other warnings, which are not
/// repeated.
pub fn warnings(tx: &impl Read, email: &Email, known: &[Finding]) -> rows::Result<Vec<Finding>> {
    let Some(VersionChecks { checks, .. }) = store::checks(tx, email.id, email.version)? else { return Ok(Vec::new()) };
    let ignored = store::ignored_findings(tx, email.id)?;
    let is_known = |finding: &CheckFinding| is_known(finding, known);
    Ok(checks.warnings(|id| ignored.contains_key(id)).filter(|finding| !is_known(finding)).map(Finding::from).collect())
}

/// Returns whether one of the `known` warnings already names the problem of a finding.
fn is_known(finding: &CheckFinding, known: &[Finding]) -> bool {
    const CHARACTERS_MIN: usize = 8;
    let has = |part: &str| known.iter().any(|warning| warning.message.contains(part));
    let is_same = match finding.rule.as_str() {
        "address_missing" => has(postal_address::MISSING),
        "clipped" => has("Gmail clips"),
        "contrast_light" => has("hard to read."),
        _ => false,
    };
    let names = |text: &str| {
        text.chars().count() >= CHARACTERS_MIN && known.iter().any(|warning| warning.message.contains(text.trim_end_matches('…')))
    };
    is_same || finding.text.as_deref().is_some_and(names)
}

/// Checks an email without requesting its links.
pub async fn first(
    context: &StageContext,
    account: AccountId,
    project: ProjectId,
    subject: Option<String>,
    html: &str,
) -> Result<EmailChecks, Failure> {
    let email = CheckedEmail { html: Arc::new(html.to_owned()), subject, project: Some(project), field: "emailId" };
    let context = CheckContext { engine: context.engine.clone(), data: context.data.clone(), account };
    run::stored(&context, &email, LinkRequests::None).await
}

/// Stores the result of the checks without requests in the email's current version, and queues the email for the checks that request its
/// links.
pub fn keep_first(tx: &mut WriteTx<'_>, account: AccountId, email: &Email, checks: EmailChecks) {
    store::save_checks(tx, email.id, email.version, &VersionChecks { checks, checked_at: tx.now() });
    store::request_checks(tx, account, email.id);
}

/// Checks the current version of an email, including requests for its links, and stores the result. If the email gets a new version in the
/// meantime, the result is discarded and the email stays in the queue.
pub async fn check(context: &StageContext, account: AccountId, id: EmailId) -> Result<(), Failure> {
    let tx = context.data.store.read();
    let email = store::email(&tx, account, id)?.filter(|email| email.stage == Stage::Ready);
    let checked = match &email {
        Some(email) => {
            let html = postal_address::in_markup(&tx, email.project, versions::texts(&tx, email.id, email.version)?.html)?;
            let subject = store::version(&tx, email.id, email.version)?.map(|version| version.subject);
            Some(CheckedEmail { html: Arc::new(html), subject, project: Some(email.project), field: "emailId" })
        }
        None => None,
    };
    drop(tx);
    let environment = CheckContext { engine: context.engine.clone(), data: context.data.clone(), account };
    let checks = match &checked {
        Some(checked) => Some(run::stored(&environment, checked, LinkRequests::Sent).await?),
        None => None,
    };
    let keep = move |tx: &mut WriteTx<'_>| -> Result<(), rows::Error> {
        let seen = email.map(|email| email.version);
        let current = store::email(tx, account, id)?.filter(|email| email.stage == Stage::Ready);
        if current.as_ref().map(|email| email.version) != seen {
            return Ok(());
        }
        if let (Some(email), Some(checks)) = (current, checks) {
            store::save_checks(tx, id, email.version, &VersionChecks { checks, checked_at: tx.now() });
        }
        store::close_checks(tx, account, id);
        Ok(())
    };
    Ok(context.data.store.write(keep).await??)
}

/// Checks queued emails. Returns whether more emails may be waiting.
pub async fn step(engine: Arc<Engine>, environment: Environment) -> Result<bool, Failure> {
    let context = StageContext { data: engine.data(environment).clone(), engine };
    let open = store::open_checks(&context.data.store.read(), limits::EMAIL_CHECKS_PER_STEP)?;
    let is_more = open.len() == limits::EMAIL_CHECKS_PER_STEP;
    let checking = stream::iter(open).map(|(account, id)| {
        let context = &context;
        async move { check(context, account, id).await }
    });
    let mut done = checking.buffer_unordered(limits::EMAIL_CHECKS_AT_ONCE);
    let mut failed = None;
    while let Some(result) = done.next().await {
        failed = result.err().or(failed);
    }
    failed.map_or(Ok(is_more), Err)
}

#[cfg(test)]
pub mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::features::emails::generation;
    use crate::features::emails::model::Texts;
    use crate::features::emails::model::{Origin, Version};
    use crate::features::emails::versions;
    use crate::testing::TestApp;
    use crate::testing::site::Site;

    pub fn replace_html(app: &TestApp, account: AccountId, id: EmailId, html: &str) {
        let texts = Texts { html: html.to_owned(), mjml: None, text: String::new() };
        let add = move |tx: &mut WriteTx<'_>| {
            let mut email = store::email(tx, account, id)?.expect("the email exists");
            let version = store::version(tx, id, email.version)?.expect("the version exists");
            versions::add(tx, account, &mut email, Version { origin: Origin::Imported, ..version }, texts)
        };
        app.data().store.write_blocking(add).expect("the write succeeds").expect("the store is readable");
    }

    fn imported(app: &TestApp, html: &str) -> String {
        let made = app.post_in("/v1/projects/emails/import-html", json!({ "html": html, "name": "News" })).data();
        work(app);
        let status = app.get(&format!("/v1/projects/emails/{}/status", made["conversationId"].as_str().expect("an ID"))).data();
        format!("/v1/emails/{}", status["result"]["emails"][0]["id"].as_str().expect("an ID"))
    }

    fn work(app: &TestApp) {
        while app.wait(generation::step(app.engine().clone(), Environment::Test)).expect("the stage succeeds") {}
    }

    fn check(app: &TestApp) {
        while app.wait(step(app.engine().clone(), Environment::Test)).expect("the checks succeed") {}
    }

    fn finding(checks: &Value, rule: &str) -> Value {
        let found = checks["findings"].as_array().expect("a list").iter().find(|one| one["rule"] == rule);
        found.unwrap_or_else(|| panic!("{rule} is missing in {checks}")).clone()
    }

    fn has_warning(email: &Value, part: &str) -> bool {
        email["warnings"]
            .as_array()
            .is_some_and(|all| all.iter().any(|one| one["message"].as_str().is_some_and(|text| text.contains(part))))
    }

    const HTML: &str = "<html lang=\"en\"><head><title>News</title></head><body><p>You will recieve our news about the garden soon.</p>\
                        <p>We recieve many letters.</p><a href=\"{{ unsubscribe_url }}\">Unsubscribe</a></body></html>";

    #[test]
    fn an_imported_email_has_its_scores_and_warnings_when_it_is_ready() {
        let app = TestApp::new();
        let email = imported(&app, HTML);
        let checks = app.get(&format!("{email}/checks")).data();
        assert_eq!((&checks["version"], &checks["linksRequested"], &checks["pending"]), (&json!(1), &json!(false), &json!(true)));
        assert!(checks["scores"]["spelling"].as_u64().is_some_and(|score| score < 95), "{checks}");
        let spelling = finding(&checks, "UNKNOWN_WORD");
        assert_eq!(
            (&spelling["count"], &spelling["suggestion"], &spelling["fixable"]),
            (&json!(2), &json!("receive"), &json!(true))
        );
        assert_eq!(spelling["occurrences"][0]["line"], 1);
        let shown = app.get(&email).data();
        assert!(has_warning(&shown, "“recieve” is misspelled."), "{}", shown["warnings"]);
        let warning =
            shown["warnings"].as_array().expect("a list").iter().find(|one| one["kind"] == "spelling").expect("a warning");
        assert_eq!(warning["checkFinding"], spelling["id"]);
        check(&app);
        let checks = app.get(&format!("{email}/checks")).data();
        assert_eq!((&checks["linksRequested"], &checks["pending"]), (&json!(true), &json!(false)));
    }

    #[test]
    fn the_worker_requests_the_links_of_a_new_version() {
        let app = TestApp::with(|settings| {
            settings.outbound.allow_networks = vec!["127.0.0.0/8".parse().expect("the value is a network")];
        });
        let site = Site::of_page("/", "x");
        let html = HTML.replace("soon", &format!("<a href=\"{}gone\">here</a>", site.url()));
        let email = imported(&app, &html);
        assert!(!has_warning(&app.get(&email).data(), "gone does not work"));
        check(&app);
        let checks = app.get(&format!("{email}/checks")).data();
        let broken = finding(&checks, "broken");
        assert_eq!((&broken["severity"], &broken["check"]), (&json!("critical"), &json!("links")));
        assert!(has_warning(&app.get(&email).data(), "gone does not work"));
    }

    #[test]
    fn an_ignored_finding_is_no_warning_until_it_is_noticed_again() {
        let app = TestApp::new();
        let email = imported(&app, HTML);
        let checks = app.get(&format!("{email}/checks")).data();
        let id = finding(&checks, "UNKNOWN_WORD")["id"].as_str().expect("an ID").to_owned();
        let ignore = |ignored: bool| app.put(&format!("{email}/checks/{id}/ignored"), json!({ "ignored": ignored })).data();
        assert_eq!(finding(&ignore(true), "UNKNOWN_WORD")["ignored"], true);
        assert!(!has_warning(&app.get(&email).data(), "misspelled"));
        // The finding stays ignored in later versions, and ignoring it does not change the scores.
        let account = app.account();
        let parsed = EmailId::parse(email.rsplit('/').next().expect("a path")).expect("an ID");
        replace_html(&app, account, parsed, HTML);
        check(&app);
        let again = app.get(&format!("{email}/checks")).data();
        assert_eq!((&again["version"], &finding(&again, "UNKNOWN_WORD")["ignored"]), (&json!(2), &json!(true)));
        assert_eq!(again["scores"]["spelling"], checks["scores"]["spelling"]);
        assert_eq!(finding(&ignore(false), "UNKNOWN_WORD")["ignored"], false);
        assert!(has_warning(&app.get(&email).data(), "misspelled"));
        let unknown = app.put(&format!("{email}/checks/000000000000/ignored"), json!({ "ignored": true }));
        assert_eq!(unknown.refusal().0, 404);
    }

    #[test]
    fn a_fix_creates_a_version_without_the_finding() {
        let app = TestApp::new();
        let email = imported(&app, HTML);
        let checks = app.get(&format!("{email}/checks")).data();
        let id = finding(&checks, "UNKNOWN_WORD")["id"].as_str().expect("an ID").to_owned();
        let fixed = app.post(&format!("{email}/checks/{id}/fix"), json!({ "version": 1 })).data();
        let html = fixed["html"].as_str().expect("text");
        assert_eq!((&fixed["version"], html.matches("receive").count(), html.matches("recieve").count()), (&json!(2), 2, 0));
        let versions = app.get(&format!("{email}/versions")).data();
        assert_eq!(versions["versions"][0]["prompt"], "Replaced “recieve” with “receive”");
        check(&app);
        assert_eq!(app.get(&format!("{email}/checks")).data()["scores"]["spelling"], 100);
        let late = app.post(&format!("{email}/checks/{id}/fix"), json!({ "version": 1 }));
        assert_eq!(late.refusal().1, "VERSION_CONFLICT");
        assert_eq!(app.post(&format!("{email}/checks/{id}/fix"), json!({})).refusal().0, 404);
    }

    #[test]
    fn unsupported_styles_of_imported_html_are_replaced() {
        let app = TestApp::new();
        let html = HTML.replace("<p>We", "<p style=\"color: rgb(0 128 0)\">We");
        let email = imported(&app, &html);
        let checks = app.get(&format!("{email}/checks")).data();
        let finding = checks["findings"]
            .as_array()
            .expect("a list")
            .iter()
            .find(|one| one["check"] == "compatibility" && one["fixable"] == true);
        let Some(finding) = finding else { panic!("{checks}") };
        let fixed = app.post(&format!("{email}/checks/{}/fix", finding["id"].as_str().expect("an ID")), json!({})).data();
        assert!(fixed["html"].as_str().is_some_and(|html| html.contains("#008000")), "{fixed}");
        check(&app);
        let checks = app.get(&format!("{email}/checks")).data();
        let all = checks["findings"].as_array().expect("a list");
        assert!(all.iter().all(|one| one["id"] != finding["id"]), "{checks}");
    }

    #[test]
    fn a_fix_without_effect_saves_no_version() {
        let app = TestApp::new();
        let html = HTML.replace("<p>We", "<p style=\"float: left\">We");
        let email = imported(&app, &html);
        let found = finding(&app.get(&format!("{email}/checks")).data(), "css-float");
        assert_eq!(found["fixable"], false);
        let fix = app.post(&format!("{email}/checks/{}/fix", found["id"].as_str().expect("an ID")), json!({}));
        assert_eq!(fix.refusal().1, "EDIT_FAILED");
        assert_eq!(app.get(&email).data()["version"], 1);
        let context = CheckContext { engine: app.engine().clone(), data: app.data().clone(), account: app.account() };
        let has_problem = |html: &str| {
            let email = CheckedEmail { html: Arc::new(html.to_owned()), subject: None, project: None, field: "emailId" };
            app.wait(email.has_problem(&context, "css-float")).expect("the check succeeds")
        };
        assert!(has_problem(&html.replace("left", "right")) && !has_problem(HTML));
    }

    #[test]
    fn a_misspelled_word_of_a_document_is_corrected_in_the_document() {
        let app = TestApp::new();
        let made = app.post("/v1/emails", json!({ "projectId": app.project })).data();
        let email = format!("/v1/emails/{}", made["id"].as_str().expect("an ID"));
        let text = "You will recieve **our** letter about the spring garden, and it it is free.";
        let set = json!([{ "op": "set", "path": "blocks.text-1.text", "value": text }]);
        app.patch(&format!("{email}/document"), json!({ "operations": set })).data();
        check(&app);
        for rule in ["UNKNOWN_WORD", "REPEATED_WORD"] {
            let checks = app.get(&format!("{email}/checks")).data();
            let id = finding(&checks, rule)["id"].as_str().expect("an ID").to_owned();
            app.post(&format!("{email}/checks/{id}/fix"), json!({})).data();
            check(&app);
        }
        let shown = app.get(&email).data();
        let words = shown["text"].as_str().expect("text").replace('\n', " ");
        assert!(words.contains("You will receive our letter about the spring garden, and it is free."), "{words}");
        assert_eq!(app.get(&format!("{email}/checks")).data()["scores"]["spelling"], 100);
    }

    #[test]
    fn a_warning_that_names_the_problem_is_not_repeated() {
        let finding = CheckFinding { text: Some("https://shop.example.com/a.png".into()), ..CheckFinding::sample() };
        let known = [Finding::note("The image https://shop.example.com/a.png could not be loaded.")];
        assert!(is_known(&finding, &known) && !is_known(&CheckFinding::sample(), &known));
        let missing = CheckFinding { rule: "address_missing".into(), ..CheckFinding::sample() };
        assert!(is_known(&missing, &[Finding::note(postal_address::MISSING)]) && !is_known(&missing, &known));
    }
}
