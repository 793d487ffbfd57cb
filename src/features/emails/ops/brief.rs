//! Reads the brief from a prompt, without writing an email.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::base::locale::LanguageTag;
use crate::base::text::{LongText, SOME_TEXT};
use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, needs};
use crate::engine::store::ReadTx;
use crate::features::emails::brief::{self, Brief};
use crate::features::emails::check_length;
use crate::features::emails::generation::context::date;
use crate::features::emails::ops::generate::choose_model;
use crate::features::emails::writing::{Writer, material};
use crate::features::models::Payer;
use crate::features::projects;
use crate::features::projects::brand::Brand;
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;
use crate::vocab::settings::OnFailure;

/// The operation `emails.brief`.
pub struct ReadBrief;

/// The prompt to read, with the project, the languages and the model.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewBrief {
    /// The project of the brand that sends the email. The brand's products are recognized in the prompt.
    pub project_id: ProjectId,
    /// A description of the email: its purpose, and every fact that it must contain.
    #[schemars(extend("pattern" = SOME_TEXT))]
    pub prompt: LongText<{ limits::PROMPT_CHARACTERS_MAX }>,
    /// The languages of the email as BCP 47 tags. The original is written in the first language. The default is the language of the prompt.
    #[schemars(length(max = limits::EMAIL_LANGUAGES_MAX))]
    #[serde(default)]
    pub languages: Vec<LanguageTag>,
    /// The model that reads the prompt: the name of a language model in the settings, or `composer` for the rules of the built-in composer.
    /// If absent, the default model is used.
    pub model: Option<String>,
}

impl Operation for ReadBrief {
    const SPEC: Spec = Spec::post("emails.brief", "/v1/projects/emails/brief", needs(Permission::EmailWrite))
        .summary("Read the brief from a prompt")
        .about(
            "Returns the facts, instructions and limits for an email based on the prompt. Writes no email and stores nothing except the \
             usage of the language model, which must respond within 20 seconds. The positions in spans count Unicode code points from 0.",
        )
        .rate(RouteGroup::Emails)
        .fails(&[Code::NotFound, Code::ModelNotConfigured, Code::ModelFailed]);
    type Input = NewBrief;
    type Output = Done<Brief>;

    fn example() -> (Value, Self::Output) {
        let prompt = "20% off everything until 30 November with code LOFT20. Keep it short.";
        let input = json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "prompt": prompt });
        let today = jiff::civil::date(2026, 11, 16);
        (input, Done(brief::parse(prompt, &Brand::default(), None, today)))
    }
}

impl Async for ReadBrief {
    async fn run(context: Context, input: NewBrief) -> Result<Self::Output, Failure> {
        if input.prompt.is_empty() {
            return Err(Failure::field("prompt", "must not be empty; describe the email"));
        }
        check_length("languages", input.languages.len(), limits::EMAIL_LANGUAGES_MAX)?;
        let (account, engine) = (context.caller.account(), &context.engine);
        let model = choose_model(input.model.as_deref(), &engine.models)?;
        let (project, language, today) = (input.project_id, input.languages.first().copied(), date(context.now()));
        let prompt = input.prompt.to_string();
        let read = move |tx: &ReadTx| {
            projects::require(tx, account, project)?;
            let material = material::of_brand(tx, account, project)?;
            let rules = brief::parse(&prompt, &material.brand, language.as_ref(), today);
            Ok((material, rules, prompt))
        };
        let (material, rules, prompt) = context.read(read).await?;
        let payer = Payer { account, project, environment: context.caller.environment() };
        let on_failure = engine.settings.language_model.on_failure;
        let name = model.as_deref().unwrap_or(engine.models.default_name());
        let writer = Writer::named(name, engine, payer, on_failure);
        let reading = timeout(Duration::from_millis(limits::EDIT_WAIT_MS), writer.brief(&prompt, rules.clone(), &material));
        match (reading.await, on_failure) {
            (Ok((brief, _)), _) => brief.map(Done).map_err(|reason| Failure::because(Code::ModelFailed, reason)),
            (Err(_), OnFailure::Composer) => Ok(Done(rules)),
            (Err(_), OnFailure::Fail) => {
                let detail = "The language model did not read the prompt in time. Try again, or set `model` to `composer`.";
                Err(Failure::because(Code::ModelFailed, detail))
            }
        }
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
