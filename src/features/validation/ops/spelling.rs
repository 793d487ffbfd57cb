//! Checks the spelling and grammar of an email.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::locale::LanguageTag;
use crate::base::text::NOT_BLANK;
use crate::engine::api::{Async, BodySize, Context, Done, Failure, Operation, Spec, needs};
use crate::features::checks::CheckContext;
use crate::features::checks::spelling::{self, SpellingAnalysis, SpellingOptions};
use crate::features::validation::input;
use crate::vocab::codes::Code;
use crate::vocab::ids::{EmailId, ProjectId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct Spelling;

/// The email to check: either `html` or `emailId`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("anyOf" = input::one_source()))]
pub struct CheckSpelling {
    /// The email's HTML.
    #[schemars(extend("pattern" = NOT_BLANK))]
    pub html: Option<String>,
    /// The ID of a stored email, instead of `html`.
    pub email_id: Option<EmailId>,
    /// The ID of the project whose names and terms count as correct, such as those of the brand, its products and its sender. If absent,
    /// the project of `emailId`.
    pub project_id: Option<ProjectId>,
    /// The languages of the email, such as `en` or `pt-BR`. If empty or absent, the languages are detected.
    #[schemars(length(max = limits::VALIDATION_CHOICES_MAX))]
    #[serde(default)]
    pub languages: Vec<LanguageTag>,
    /// Whether to check grammar too. The default is true.
    pub check_grammar: Option<bool>,
}

impl Operation for Spelling {
    const SPEC: Spec = Spec::post("validation.spelling", "/v1/emails/validate/spelling", needs(Permission::EmailValidate))
        .summary("Check the spelling of an email")
        .about(
            "Dictionaries for English, Dutch, French, Spanish, Portuguese, Russian, Danish and Polish are built in; others are read from \
             the folder in the setting validation.dictionaries and from /usr/share/hunspell. A language without a dictionary is listed in \
             `metadata.languagesWithoutDictionary`.",
        )
        .rate(RouteGroup::Emails)
        .body(BodySize::Bulk)
        .fails(&[Code::NotFound, Code::WrongState]);
    type Input = CheckSpelling;
    type Output = Done<SpellingAnalysis>;

    fn example() -> (Value, Self::Output) {
        let html = "<html lang=\"en\"><body><p>You will recieve your order on Friday.</p></body></html>";
        (json!({ "html": html, "languages": ["en"], "checkGrammar": true }), Done(SpellingAnalysis::sample()))
    }
}

impl Async for Spelling {
    async fn run(context: Context, input: CheckSpelling) -> Result<Self::Output, Failure> {
        input::check_choices("languages", &input.languages)?;
        let email = input::load(&context, input.html, input.email_id).await?;
        let options = SpellingOptions {
            languages: input.languages.iter().map(|language| language.as_str().to_owned()).collect(),
            grammar: input.check_grammar.unwrap_or(true),
            second_checkers: true,
            project: input.project_id,
        };
        let checked = spelling::check(&CheckContext::from(&context), &email, options).await?;
        let late = || Failure::because(Code::Unavailable, "The spelling check took too long; try again.").after_seconds(2);
        checked.map(Done).ok_or_else(late)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    fn words(data: &Value) -> Vec<String> {
        data["errors"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|error| error["word"].as_str().expect("a word").to_owned())
            .collect()
    }

    #[test]
    fn misspelled_words_have_suggestions_and_places() {
        let app = TestApp::new();
        let html = "<html lang=en><body>\n<p>You will recieve your order on Friday.</p></body></html>";
        let data = app.post("/v1/emails/validate/spelling", json!({ "html": html })).data();
        assert_eq!(words(&data), ["recieve"]);
        let error = &data["errors"][0];
        assert_eq!(
            (&error["suggestions"][0], &error["line"], &error["type"]),
            (&json!("receive"), &json!(2), &json!("spelling"))
        );
        assert_eq!((&data["metadata"]["languages"], &data["metadata"]["complete"]), (&json!(["en"]), &json!(true)));
        let unknown = app.post("/v1/emails/validate/spelling", json!({ "html": html, "languages": ["not a language"] }));
        assert_eq!(unknown.refusal().0, 400);
    }

    #[test]
    fn names_of_the_project_are_correct() {
        let app = TestApp::new();
        let project = app.project;
        let product = json!({ "name": "Zorblify", "url": "https://acme.example/zorblify" });
        app.post(&format!("/v1/projects/{project}/products"), product).data();
        let html = "<html lang=en><body><p>Our zorblify makes your kitchen flurbish.</p></body></html>";
        let body = json!({ "html": html, "projectId": project });
        assert_eq!(words(&app.post("/v1/emails/validate/spelling", body).data()), ["flurbish"]);
        let other = json!({ "html": html, "projectId": "66f1a2b3d4e5f60718293a4b" });
        assert_eq!(app.post("/v1/emails/validate/spelling", other).refusal().1, "RESOURCE_NOT_FOUND");
    }
}
