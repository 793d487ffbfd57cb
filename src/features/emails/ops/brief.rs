//! Reads the brief from a prompt, without writing an email.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::locale::LanguageTag;
use crate::base::text::{LongText, SOME_TEXT};
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::features::emails::brief::{self, Brief};
use crate::features::emails::check_length;
use crate::features::emails::generation::context;
use crate::features::projects;
use crate::features::projects::brand::Brand;
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

/// The operation `emails.brief`.
pub struct ReadBrief;

/// The prompt to read, and the project of the brand that sends the email.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewBrief {
    /// The project of the brand that sends the email. The brand's products are recognized in the prompt.
    pub project_id: ProjectId,
    /// The purpose of the email, and every fact that the email must contain.
    #[schemars(extend("pattern" = SOME_TEXT))]
    pub prompt: LongText<{ limits::PROMPT_CHARACTERS_MAX }>,
    /// The languages of the email as BCP 47 tags, starting with the original's; the language of the prompt if absent.
    #[schemars(length(max = limits::EMAIL_LANGUAGES_MAX))]
    #[serde(default)]
    pub languages: Vec<LanguageTag>,
}

impl Operation for ReadBrief {
    const SPEC: Spec = Spec::post("emails.brief", "/v1/projects/emails/brief", needs(Permission::EmailWrite))
        .summary("Read the brief from a prompt")
        .about(
            "Returns the facts, instructions and limits that an email for the prompt follows. Writes no email and stores nothing. Spans count \
                Unicode code points from 0.",
        )
        .rate(RouteGroup::Emails)
        .blocking()
        .fails(&[Code::NotFound]);
    type Input = NewBrief;
    type Output = Done<Brief>;

    fn example() -> (Value, Self::Output) {
        let prompt = "20% off everything until 30 November with code LOFT20. Keep it short.";
        let input = json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "prompt": prompt });
        let today = jiff::civil::date(2026, 11, 16);
        (input, Done(brief::parse(prompt, &Brand::default(), None, today)))
    }
}

impl Query for ReadBrief {
    fn run(view: &View<'_>, input: NewBrief) -> Result<Self::Output, Failure> {
        if input.prompt.is_empty() {
            return Err(Failure::field("prompt", "must not be empty; describe the email"));
        }
        check_length("languages", input.languages.len(), limits::EMAIL_LANGUAGES_MAX)?;
        let account = view.caller.account();
        projects::require(view.tx, account, input.project_id)?;
        let brand = projects::brand(view.tx, account, input.project_id)?.map(|(_, brand)| brand).unwrap_or_default();
        let today = context::date(view.now);
        Ok(Done(brief::parse(&input.prompt, &brand, input.languages.first(), today)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::TestApp;

    #[test]
    fn returns_the_brief_and_stores_nothing() {
        let app = TestApp::new();
        let prompt =
            "25% off all mugs until 30 November with code LOFT25. Keep it short, no exclamation marks. Button: Shop the sale";
        let brief = app.post_in("/v1/projects/emails/brief", json!({ "prompt": prompt })).data();
        assert_eq!((&brief["purpose"], &brief["language"]), (&json!("sale"), &json!("en")), "{brief}");
        assert_eq!(brief["cta"]["label"]["text"], "Shop the sale");
        assert_eq!(brief["constraints"][0]["kind"], "no_exclamation");
        let facts = brief["facts"].as_array().cloned().unwrap_or_default();
        let code = facts.iter().find(|fact| fact["kind"] == "code").cloned().unwrap_or_default();
        assert_eq!((&code["text"], &code["span"]), (&json!("LOFT25"), &json!({ "start": 45, "end": 51 })), "{brief}");
        assert!(facts.iter().any(|fact| fact["kind"] == "date" && fact["role"] == "offer_ends"), "{brief}");
        assert_eq!(app.get_in("/v1/projects/emails").data()["total"], 0);
    }

    #[test]
    fn the_first_language_is_the_language_of_the_brief() {
        let app = TestApp::new();
        let brief =
            app.post_in("/v1/projects/emails/brief", json!({ "prompt": "Black Friday", "languages": ["nl", "de"] })).data();
        assert_eq!(brief["language"], "nl");
    }

    #[test]
    fn an_empty_prompt_and_an_unknown_project_are_refused() {
        let app = TestApp::new();
        let refused = app.post_in("/v1/projects/emails/brief", json!({ "prompt": "" }));
        assert!(refused.refusal().2.starts_with("prompt"), "{refused:?}");
        let unknown = json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "prompt": "Black Friday" });
        assert_eq!(app.post("/v1/projects/emails/brief", unknown).refusal().0, 404);
    }
}
