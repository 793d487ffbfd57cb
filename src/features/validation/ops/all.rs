//! Runs all checks of an email.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::base::email::EmailAddress;
use crate::base::locale::LanguageTag;
use crate::base::text::{NOT_BLANK, ShortText};
use crate::engine::api::{Async, BodySize, Context, Done, Failure, Operation, Spec, needs};
use crate::engine::clients::profile;
use crate::features::checks::CheckContext;
use crate::features::checks::deliverability::Envelope;
use crate::features::checks::links::views::milliseconds;
use crate::features::checks::report::ValidationReport;
use crate::features::checks::run::{LinkRequests, Plan, Sender, run};
use crate::features::checks::spelling::SpellingOptions;
use crate::features::validation::input;
use crate::vocab::codes::Code;
use crate::vocab::ids::{EmailId, ProjectId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct All;

/// The email to check: either `html` or `emailId`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("anyOf" = input::one_source()))]
pub struct CheckAll {
    /// The email's HTML.
    #[schemars(extend("pattern" = NOT_BLANK))]
    pub html: Option<String>,
    /// The ID of a stored email, instead of `html`.
    pub email_id: Option<EmailId>,
    /// The ID of the project whose names the spelling check accepts. If absent, the project of `emailId`.
    pub project_id: Option<ProjectId>,
    /// The subject of the email. If absent, the subject of the stored email.
    pub subject: Option<ShortText<{ limits::EMAIL_SUBJECT_CHARACTERS_MAX }>>,
    /// The sender's name.
    pub from_name: Option<ShortText<{ limits::EMAIL_SUBJECT_CHARACTERS_MAX }>>,
    /// The sender's address. The DNS records of its domain are checked.
    pub from_email: Option<EmailAddress>,
    /// The checks to run, with their options.
    #[serde(default)]
    pub options: CheckOptions,
}

/// The checks to run, with their options.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CheckOptions {
    /// Whether to check compatibility with email clients. The default is true.
    pub check_compatibility: Option<bool>,
    /// Whether to check the links. The default is true.
    pub check_links: Option<bool>,
    /// Whether to check spelling and grammar. The default is true.
    pub check_spelling: Option<bool>,
    /// Whether to check deliverability. The default is true.
    pub check_deliverability: Option<bool>,
    /// Whether to check accessibility. The default is true.
    pub check_accessibility: Option<bool>,
    /// The keys of the clients to check. If empty or absent, all clients are checked.
    #[schemars(length(max = limits::VALIDATION_CHOICES_MAX), extend("items" = profile::key_schema()))]
    #[serde(default)]
    pub clients: Vec<String>,
    /// The languages of the email. If empty or absent, they are detected.
    #[schemars(length(max = limits::VALIDATION_CHOICES_MAX))]
    #[serde(default)]
    pub languages: Vec<LanguageTag>,
}

impl Operation for All {
    const SPEC: Spec = Spec::post("validation.all", "/v1/emails/validate/all", needs(Permission::EmailValidate))
        .summary("Run all checks on an email")
        .about(
            "Runs the checks at the same time, each with its own time limit. If a check does not finish, the report contains the other \
                checks, and `metadata.checksIncomplete` names it.",
        )
        .rate(RouteGroup::Emails)
        .body(BodySize::Bulk)
        .fails(&[Code::NotFound, Code::WrongState]);
    type Input = CheckAll;
    type Output = Done<ValidationReport>;

    fn example() -> (Value, Self::Output) {
        let html = "<html lang=\"en\"><body><a href=\"https://shop.example.com/spring\">See the spring sale</a></body></html>";
        let options = json!({ "checkLinks": true, "clients": ["outlook.windows"], "languages": ["en"] });
        (json!({ "html": html, "options": options }), Done(ValidationReport::sample()))
    }
}

impl Async for All {
    async fn run(context: Context, input: CheckAll) -> Result<Self::Output, Failure> {
        let start = Instant::now();
        let CheckAll { html, email_id, project_id, subject, from_name, from_email, options } = input;
        input::check_choices("options.clients", &options.clients)?;
        input::check_choices("options.languages", &options.languages)?;
        let email = input::load(&context, html, email_id).await?;
        let runs = |wanted: Option<bool>| wanted != Some(false);
        let languages = options.languages.iter().map(|language| language.as_str().to_owned()).collect();
        let spelling = SpellingOptions { languages, grammar: true, second_checkers: true, project: project_id };
        let envelope = Envelope {
            subject: subject.map(|subject| subject.to_string()),
            from_name: from_name.map(|name| name.to_string()),
            from_email,
        };
        let limit = input::time_limit(&context, limits::LINKS_CHECK_TIME);
        let plan = Plan {
            compatibility: runs(options.check_compatibility).then_some(options.clients),
            links: runs(options.check_links).then_some(LinkRequests::Sent),
            spelling: runs(options.check_spelling).then_some(spelling),
            deliverability: runs(options.check_deliverability).then_some(Sender::Of(envelope)),
            accessibility: runs(options.check_accessibility),
            limit,
            links_limit: limit.saturating_sub(start.elapsed()).saturating_sub(limits::VALIDATION_RESPONSE_TIME / 4),
            // A failure that the caller can resolve ends the checks and is returned as the response to the request.
            is_final: |failure| failure.code.info().status < 500,
        };
        let results = run(&CheckContext::from(&context), &email, plan).await?;
        Ok(Done(ValidationReport::of(results, milliseconds(start.elapsed()))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;
    use crate::testing::site::Site;
    use crate::vocab::environment::Environment;

    #[test]
    fn every_check_accepts_a_stored_email() {
        use crate::engine::runner::Step;
        use crate::features::emails::worker::generate;

        let app = TestApp::new();
        let html = "<html lang=en><head><title>News</title></head><body><p>You will recieve our news.</p></body></html>";
        let imported = app.post_in("/v1/projects/emails/import-html", json!({ "html": html, "name": "News" })).data();
        while app.wait(generate(app.engine().clone(), Environment::Test)).expect("the step succeeds") == Step::More {}
        let path = format!("/v1/projects/emails/{}/status", imported["conversationId"].as_str().expect("an ID"));
        let email = app.get(&path).data()["result"]["emails"][0]["emailId"].clone();
        for (check, field) in [
            ("compatibility", "/summary/compatibilityScore"),
            ("links", "/summary/brokenLinks"),
            ("spelling", "/errors/0/word"),
            ("deliverability", "/prediction/category"),
            ("all", "/overallScore"),
        ] {
            let data = app.post(&format!("/v1/emails/validate/{check}"), json!({ "emailId": email })).data();
            assert!(data.pointer(field).is_some_and(|value| !value.is_null()), "{check}: {data}");
        }
    }

    #[test]
    fn all_checks_are_in_one_report() {
        let allow = |settings: &mut crate::vocab::settings::Settings| {
            settings.outbound.allow_networks = vec!["127.0.0.0/8".parse().expect("the value is a network")];
        };
        let app = TestApp::with(allow);
        let site = Site::of_page("/", "x");
        let html = format!(
            "<html lang=en><head><title>News</title></head><body><p>You will recieve our news.</p><a href=\"{}gone\">Our \
             shop</a><img src=\"{}\"></body></html>",
            site.url(),
            site.url()
        );
        let data = app.post("/v1/emails/validate/all", json!({ "html": html })).data();
        assert_eq!(
            data["metadata"]["checksPerformed"],
            json!(["compatibility", "links", "spelling", "deliverability", "accessibility"])
        );
        assert_eq!(data["metadata"]["checksIncomplete"], json!([]));
        assert_eq!(data["linkAnalysis"]["summary"]["brokenLinks"], 1);
        assert_eq!(
            (&data["spelling"]["summary"]["totalErrors"], &data["summary"]["passed"]),
            (&json!(1), &json!(["compatibility"]))
        );
        assert_eq!(data["accessibility"]["findings"][0]["rule"], "image_alt");
        let score = data["overallScore"].as_u64().expect("a score");
        assert!((20..95).contains(&score), "{score}");
        let only = json!({ "html": html, "options": { "checkLinks": false, "checkCompatibility": false, "checkSpelling": false, "checkDeliverability": false } });
        let data = app.post("/v1/emails/validate/all", only).data();
        assert_eq!((&data["metadata"]["checksPerformed"], data.get("linkAnalysis")), (&json!(["accessibility"]), None));
        let wrong = json!({ "html": html, "options": { "clients": ["x"] } });
        assert!(app.post("/v1/emails/validate/all", wrong).refusal().2.starts_with("options.clients: "));
    }
}
