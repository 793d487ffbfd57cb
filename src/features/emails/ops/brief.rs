//! Reads the brief in a prompt without writing an email, so that users can correct it first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::generate::check_length;
use crate::base::locale::LanguageTag;
use crate::base::text::{LongText, SOME_TEXT};
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::features::emails::brief::{self, Brief};
use crate::features::emails::generation::context::date;
use crate::features::projects;
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

/// The operation `emails.brief`.
pub struct ReadBrief;

/// The prompt to read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BriefRequest {
    /// The project of the brand that sends the email.
    pub project_id: ProjectId,
    #[schemars(extend("pattern" = SOME_TEXT))]
    pub prompt: LongText<{ limits::PROMPT_CHARACTERS_MAX }>,
    /// The languages of the email, starting with the original's; read from the prompt if absent.
    #[schemars(length(max = limits::EMAIL_LANGUAGES_MAX))]
    #[serde(default)]
    pub languages: Vec<LanguageTag>,
}

/// A prompt and its brief.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BriefView {
    /// The prompt without surrounding space. The spans of the brief refer to this text.
    pub prompt: String,
    pub brief: Brief,
}

impl Operation for ReadBrief {
    const SPEC: Spec = Spec::post("emails.brief", "/v1/projects/emails/brief", needs(Permission::EmailWrite))
        .summary("Read the brief in a prompt")
        .about(
            "Returns the facts, limits and instructions in the prompt without writing an email. Send the brief, corrected if necessary, \
                to POST /v1/projects/emails/generate with the same prompt. Nothing is stored.",
        )
        .rate(RouteGroup::Emails)
        .blocking()
        .fails(&[Code::NotFound]);
    type Input = BriefRequest;
    type Output = Done<BriefView>;

    fn example() -> (Value, Self::Output) {
        let prompt = "20% off all teas until Sunday with the code WINTER20";
        let today = jiff::civil::Date::constant(2026, 11, 16);
        let brief = brief::parse(prompt, &Default::default(), LanguageTag::parse("en").ok().as_ref(), today);
        let input = json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "prompt": prompt, "languages": ["en"] });
        (input, Done(BriefView { prompt: prompt.to_owned(), brief }))
    }
}

impl Query for ReadBrief {
    fn run(view: &View<'_>, input: BriefRequest) -> Result<Self::Output, Failure> {
        let account = view.caller.account();
        projects::require(view.tx, account, input.project_id)?;
        if input.prompt.is_empty() {
            return Err(Failure::field("prompt", "must not be empty; describe the email"));
        }
        check_length("languages", input.languages.len(), limits::EMAIL_LANGUAGES_MAX)?;
        let brand = projects::brand(view.tx, account, input.project_id)?.map(|(_, brand)| brand).unwrap_or_default();
        let brief = brief::parse(&input.prompt, &brand, input.languages.first(), date(view.now));
        Ok(Done(BriefView { prompt: input.prompt.to_string(), brief }))
    }
}
