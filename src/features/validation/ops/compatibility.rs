//! Returns the features in an email that email clients do not support.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::base::text::NOT_BLANK;
use crate::engine::api::{Async, BodySize, Context, Done, Failure, Operation, Spec, needs};
use crate::engine::clients::profile;
use crate::features::checks::CheckContext;
use crate::features::checks::compatibility::CompatibilityAnalysis;
use crate::features::validation::input;
use crate::vocab::codes::Code;
use crate::vocab::ids::EmailId;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct Compatibility;

/// The email to check: either `html` or `emailId`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("anyOf" = input::one_source()))]
pub struct CheckCompatibility {
    /// The email's HTML.
    #[schemars(extend("pattern" = NOT_BLANK))]
    pub html: Option<String>,
    /// The ID of a stored email, instead of `html`.
    pub email_id: Option<EmailId>,
    /// The keys of the clients to check, such as `gmail.desktop-webmail`. If empty or absent, all clients are checked.
    #[schemars(length(max = limits::VALIDATION_CHOICES_MAX), extend("items" = profile::key_schema()))]
    #[serde(default)]
    pub clients: Vec<String>,
}

impl Operation for Compatibility {
    const SPEC: Spec = Spec::post("validation.compatibility", "/v1/emails/validate/compatibility", needs(Permission::EmailValidate))
        .summary("Check an email in email clients")
        .about(
            "Compares the HTML and CSS of the email with the support tables of caniemail.com. A feature is not reported if the tables' \
             notes show that its problem does not occur in the email. Each finding states its effect, where it occurs, the number \
             of affected elements and, if there is one, a remedy.",
        )
        .rate(RouteGroup::Emails)
        .body(BodySize::Bulk)
        .fails(&[Code::NotFound, Code::WrongState]);
    type Input = CheckCompatibility;
    type Output = Done<CompatibilityAnalysis>;

    fn example() -> (Value, Self::Output) {
        let html = "<html lang=\"en\"><body><p style=\"border-radius:4px\">Hello</p></body></html>";
        (json!({ "html": html, "clients": ["outlook.windows"] }), Done(CompatibilityAnalysis::sample()))
    }
}

impl Async for Compatibility {
    async fn run(context: Context, input: CheckCompatibility) -> Result<Self::Output, Failure> {
        let start = Instant::now();
        input::check_choices("clients", &input.clients)?;
        let email = input::load(&context, input.html, input.email_id).await?;
        let json = email.compatibility(&CheckContext::from(&context), input.clients, "clients").await?;
        Ok(Done(CompatibilityAnalysis::read(&json, start.elapsed())?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    #[test]
    fn unsupported_features_are_reported_with_their_places() {
        let app = TestApp::new();
        let html = "<html lang=en><body>\n<p style=\"border-radius:4px;color:red\">Hello</p></body></html>";
        let body = json!({ "html": html, "clients": ["outlook.windows", "apple-mail.ios"] });
        let data = app.post("/v1/emails/validate/compatibility", body).data();
        let clients = data["clientIssues"].as_array().expect("a list");
        let issues = |key: &str| -> Vec<String> {
            let client = clients.iter().find(|client| client["client"] == key).expect(key);
            client["issues"].as_array().expect("a list").iter().map(|issue| issue["slug"].to_string()).collect()
        };
        assert!(issues("outlook.windows").contains(&"\"css-border-radius\"".to_owned()), "{data}");
        assert!(!issues("apple-mail.ios").contains(&"\"css-border-radius\"".to_owned()), "{data}");
        assert_eq!(data["metadata"]["clientsTested"], 2);
        let score = data["summary"]["compatibilityScore"].as_u64().expect("a score");
        assert!((50..100).contains(&score), "{score}");
    }

    #[test]
    fn an_unknown_client_is_refused_with_the_known_ones() {
        let app = TestApp::new();
        let answer = app.post("/v1/emails/validate/compatibility", json!({ "html": "<p>Hi", "clients": ["gmail"] }));
        let (status, _, detail) = answer.refusal();
        assert!(
            status == 400
                && detail.starts_with("clients: \"gmail\" is not the ID of a supported email client")
                && detail.contains("gmail.ios"),
            "{detail}"
        );
        let long = app.post("/v1/emails/validate/compatibility", json!({ "html": "<p>Hi", "clients": ["x".repeat(100_000)] }));
        let (_, _, detail) = long.refusal();
        assert!(detail.len() < 5_000 && detail.contains("is not the ID of a supported email client"), "{} bytes", detail.len());
    }
}
