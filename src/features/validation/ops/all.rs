//! Runs all checks of an email.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use crate::base::email::EmailAddress;
use crate::base::locale::LanguageTag;
use crate::base::text::{NOT_BLANK, ShortText};
use crate::engine::api::{Async, BodySize, Context, Done, Failure, Operation, Spec, needs};
use crate::features::checks::CheckContext;
use crate::features::checks::accessibility::AccessibilityAnalysis;
use crate::features::checks::compatibility::CompatibilityAnalysis;
use crate::features::checks::deliverability::{self, Envelope};
use crate::features::checks::links::analyze as analyze_links;
use crate::features::checks::links::check::LinkOptions;
use crate::features::checks::links::views::milliseconds;
use crate::features::checks::report::{Check, IncompleteCheck, Results, ValidationReport};
use crate::features::checks::spelling::{self, SpellingOptions};
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
    /// The project whose names the spelling check accepts. If absent, the project of `emailId`.
    pub project_id: Option<ProjectId>,
    /// The subject of the email. If absent, the subject of the stored email.
    pub subject: Option<ShortText<{ limits::EMAIL_SUBJECT_CHARACTERS_MAX }>>,
    /// The name of the sender.
    pub from_name: Option<ShortText<{ limits::EMAIL_SUBJECT_CHARACTERS_MAX }>>,
    /// The address of the sender. The DNS records of its domain are checked.
    pub from_email: Option<EmailAddress>,
    /// Which checks run, and how.
    #[serde(default)]
    pub options: CheckOptions,
}

/// Which checks run, and how.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CheckOptions {
    /// True if absent.
    pub check_compatibility: Option<bool>,
    /// True if absent.
    pub check_links: Option<bool>,
    /// True if absent.
    pub check_spelling: Option<bool>,
    /// True if absent.
    pub check_deliverability: Option<bool>,
    /// True if absent.
    pub check_accessibility: Option<bool>,
    /// The keys of the clients to check; all clients if empty or absent.
    #[schemars(length(max = limits::VALIDATION_CHOICES_MAX))]
    #[serde(default)]
    pub clients: Vec<String>,
    /// The languages of the email; detected if empty or absent.
    #[schemars(length(max = limits::VALIDATION_CHOICES_MAX))]
    #[serde(default)]
    pub languages: Vec<LanguageTag>,
}

impl Operation for All {
    const SPEC: Spec = Spec::post("validation.all", "/v1/emails/validate/all", needs(Permission::EmailValidate))
        .summary("Run all checks of an email")
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

/// The result of a check; `None` if the check was not requested.
type Checked<T> = Option<Result<T, Failure>>;

impl Async for All {
    async fn run(context: Context, input: CheckAll) -> Result<Self::Output, Failure> {
        let start = Instant::now();
        let CheckAll { html, email_id, project_id, subject, from_name, from_email, options } = input;
        input::check_choices("options.clients", &options.clients)?;
        input::check_choices("options.languages", &options.languages)?;
        let email = input::load(&context, html, email_id).await?;
        let checks = CheckContext::from(&context);
        let limit = input::time_limit(&context, limits::LINKS_CHECK_TIME);
        let compatibility = when(options.check_compatibility, limit, async {
            let start = Instant::now();
            let json = email.compatibility(&checks, options.clients, "options.clients").await?;
            CompatibilityAnalysis::read(&json, start.elapsed())
        });
        let links = when(options.check_links, limit, async {
            // The link check ends in time, with a partial result.
            let all = limit.saturating_sub(start.elapsed()).saturating_sub(limits::VALIDATION_RESPONSE_TIME / 4);
            analyze_links(&checks, &email, Some(LinkOptions { follows: true, each: limits::LINK_CHECK_TIME, all })).await
        });
        let spelling = when(options.check_spelling, limit, async {
            let languages = options.languages.iter().map(|language| language.as_str().to_owned()).collect();
            spelling::check(
                &checks,
                &email,
                SpellingOptions { languages, grammar: true, second_checkers: true, project: project_id },
            )
            .await
        });
        let envelope = Envelope {
            subject: subject.map(|subject| subject.to_string()),
            from_name: from_name.map(|name| name.to_string()),
            from_email,
        };
        let deliverability = when(options.check_deliverability, limit, deliverability::check(&checks, &email, envelope));
        let accessibility = when(options.check_accessibility, limit, async {
            let inspection = email.inspect(&checks).await?;
            Ok(AccessibilityAnalysis::of(&inspection.accessibility))
        });
        let (compatibility, links, spelling, deliverability, accessibility) =
            tokio::join!(compatibility, links, spelling, deliverability, accessibility);
        let mut incomplete = Vec::new();
        let results = Results {
            compatibility: settled(Check::Compatibility, compatibility, &mut incomplete)?,
            links: settled(Check::Links, links, &mut incomplete)?,
            spelling: settled(Check::Spelling, spelling, &mut incomplete)?.flatten(),
            deliverability: settled(Check::Deliverability, deliverability, &mut incomplete)?.flatten(),
            accessibility: settled(Check::Accessibility, accessibility, &mut incomplete)?,
            incomplete: Vec::new(),
        };
        if results.links.as_ref().is_some_and(|links| !links.metadata.complete) {
            incomplete.push(IncompleteCheck {
                check: Check::Links,
                reason: "Some links were not checked; see linkAnalysis.".to_owned(),
            });
        }
        let missing = [
            (Check::Spelling, options.check_spelling, results.spelling.is_none()),
            (Check::Deliverability, options.check_deliverability, results.deliverability.is_none()),
        ];
        for (check, _, _) in missing.into_iter().filter(|(_, wanted, is_missing)| *wanted != Some(false) && *is_missing) {
            if !incomplete.iter().any(|one| one.check == check) {
                incomplete.push(IncompleteCheck { check, reason: LATE.to_owned() });
            }
        }
        Ok(Done(ValidationReport::of(Results { incomplete, ..results }, milliseconds(start.elapsed()))))
    }
}

/// The reason that is reported if a check takes too long.
const LATE: &str = "The check took too long; try again.";

/// Runs a check within its time limit, unless the caller has disabled the check.
async fn when<T>(wanted: Option<bool>, limit: Duration, check: impl Future<Output = Result<T, Failure>>) -> Checked<T> {
    if wanted == Some(false) {
        return None;
    }
    let late = |_| Err(Failure::because(Code::Unavailable, LATE));
    Some(timeout(limit, check).await.unwrap_or_else(late))
}

/// Returns the result of a check. A failure that the caller can resolve becomes the response; any other failure only adds the check to
/// `incomplete`.
fn settled<T>(check: Check, result: Checked<T>, incomplete: &mut Vec<IncompleteCheck>) -> Result<Option<T>, Failure> {
    match result {
        None => Ok(None),
        Some(Ok(result)) => Ok(Some(result)),
        Some(Err(failure)) if failure.code.info().status < 500 => Err(failure),
        Some(Err(failure)) => {
            tracing::warn!(?check, cause = failure.cause, "a check of an email failed");
            incomplete.push(IncompleteCheck { check, reason: failure.sentence() });
            Ok(None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;
    use crate::testing::site::Site;

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
