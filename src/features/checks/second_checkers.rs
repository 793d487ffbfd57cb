//! The additional checkers of spelling and grammar that the operator has configured: a LanguageTool server and a language model.

use tokio::time::timeout;
use url::Url;

use super::context::CheckContext;
use crate::engine::fetch::{Limits, OversizePolicy};
use crate::engine::language_model::{AnswerSchema, ModelRequest, Speaker, Turn};
use crate::engine::spelling::findings::Finding;
use crate::engine::spelling::text::{Block, html_blocks};
use crate::engine::spelling::{language_tool, model};
use crate::features::models::{MeteredModel, Payer};
use crate::vocab::ids::ProjectId;
use crate::vocab::limits;

/// The result of an additional checker.
pub struct SecondOpinion {
    /// The name of the checker in `aiModel`.
    pub name: String,
    /// The number of tokens that a language model used.
    pub tokens: u64,
    /// The findings; `None` if there was no usable response in time.
    pub findings: Option<Vec<Finding>>,
}

/// Sends the text to the configured checkers in parallel, and returns their results.
pub async fn ask(context: &CheckContext, html: &str, language: Option<&str>, project: Option<ProjectId>) -> Vec<SecondOpinion> {
    let settings = &context.engine.settings.validation;
    if settings.language_tool.is_none() && settings.model.is_none() {
        return Vec::new();
    }
    let blocks = html_blocks(html);
    let (tool, model) =
        tokio::join!(ask_language_tool(context, &blocks, language), ask_model(context, &blocks, language, project));
    tool.into_iter().chain(model).collect()
}

async fn ask_language_tool(context: &CheckContext, blocks: &[Block], language: Option<&str>) -> Option<SecondOpinion> {
    let server = context.engine.settings.validation.language_tool.as_deref()?;
    let url = Url::parse(&format!("{server}/v2/check")).expect("the settings were checked at startup");
    let total = limits::SPELLING_PEER_TIME;
    let bounds =
        Limits { head: total, total, body_bytes: limits::LANGUAGE_TOOL_ANSWER_BYTES_MAX, overlong: OversizePolicy::Refuse };
    let work = async {
        let mut findings = Vec::new();
        for request in language_tool::requests(blocks, language.unwrap_or("auto")) {
            let answer = context.engine.fetch.post_form(&url, request.body.clone(), &bounds).await;
            let answer = answer.map_err(|error| error.to_string())?;
            if !answer.status.is_success() {
                return Err(format!("the server returned status {}", answer.status));
            }
            findings.extend(request.read(&String::from_utf8_lossy(&answer.body))?);
        }
        Ok(findings)
    };
    let findings = timeout(total, work).await.unwrap_or_else(|_| Err("the server did not respond in time".to_owned()));
    let findings = findings.inspect_err(|trouble| tracing::warn!(%trouble, "the LanguageTool server could not check an email"));
    Some(SecondOpinion { name: language_tool::NAME.to_owned(), tokens: 0, findings: findings.ok() })
}

async fn ask_model(
    context: &CheckContext,
    blocks: &[Block],
    language: Option<&str>,
    project: Option<ProjectId>,
) -> Option<SecondOpinion> {
    let engine = &context.engine;
    let client = engine.models.find(engine.settings.validation.model.as_deref()?)?;
    // Usage is counted per brand, so an email without a brand is not sent to the model.
    let payer = Payer { account: context.account, project: project?, environment: context.data.environment };
    let metered = MeteredModel::new(client.clone(), engine, payer);
    let question = ModelRequest {
        system: model::INSTRUCTIONS.to_owned(),
        turns: vec![Turn { speaker: Speaker::User, text: model::prompt(blocks) }],
        picture: None,
        schema: Some(AnswerSchema { name: "report_errors", about: "The mistakes in the text.", schema: model::schema() }),
    };
    let mut tokens = 0;
    // If the request times out, its estimated usage remains stored.
    let answer = match timeout(limits::SPELLING_PEER_TIME, metered.ask(&question)).await {
        Ok((answer, usage)) => {
            tokens = usage.input_tokens + usage.output_tokens;
            answer.map_err(|trouble| trouble.to_string())
        }
        Err(_) => Err("the model did not respond in time".to_owned()),
    };
    let findings = answer.and_then(|reply| model::read(&reply.text, blocks, language.unwrap_or("en")));
    let findings = findings.inspect_err(|trouble| tracing::warn!(%trouble, "the language model could not check an email"));
    Some(SecondOpinion { name: client.name().to_owned(), tokens, findings: findings.ok() })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::testing::TestApp;
    use crate::testing::fake_model::{FakeModel, Reaction};
    use crate::testing::site::Site;
    use crate::vocab::settings::Protocol;

    const HTML: &str = "<html lang=en><body><p>The sky is blue today, and you recieve it.</p></body></html>";

    fn checked(app: &TestApp, body: Value) -> Value {
        app.post("/v1/emails/validate/spelling", body).data()
    }

    fn words(data: &Value) -> Vec<&str> {
        data["errors"].as_array().expect("a list").iter().filter_map(|error| error["word"].as_str()).collect()
    }

    #[test]
    fn a_language_tool_server_adds_findings() {
        let found = json!({
            "language": { "code": "en-US" },
            "matches": [{ "offset": 11, "length": 4, "replacements": [{ "value": "bright" }], "rule": { "id": "SKY", "issueType": "grammar" } }],
        });
        let peer = Site::start(vec![("/v2/check", 200, "application/json", found.to_string().into())]);
        let url = peer.url().trim_end_matches('/').to_owned();
        let app = TestApp::with(move |settings| settings.validation.language_tool = Some(url));
        let data = checked(&app, json!({ "html": HTML }));
        assert_eq!(words(&data), ["blue", "recieve"]);
        assert_eq!((&data["errors"][0]["rule"], &data["errors"][0]["suggestions"]), (&json!("SKY"), &json!(["bright"])));
        assert_eq!(data["metadata"]["aiModel"], "LanguageTool");
        peer.set("/v2/check", 500, "no");
        let data = checked(&app, json!({ "html": HTML }));
        assert_eq!(words(&data), ["recieve"]);
        let metadata = &data["metadata"];
        assert_eq!((&metadata["aiModel"], &metadata["checkersIncomplete"]), (&json!("none (rules)"), &json!(["LanguageTool"])));
    }

    #[test]
    fn a_language_model_adds_findings_about_emails_of_a_brand() {
        let error = json!({ "block": 0, "word": "blue", "occurrence": 1, "suggestions": ["bright"], "type": "grammar" });
        let peer = FakeModel::with(vec![Reaction::Text(json!({ "errors": [error] }).to_string())]);
        let url = peer.url();
        let app = TestApp::with(move |settings| {
            let model = settings.models.get_mut("local").expect("the built-in settings have a model");
            (model.protocol, model.url, model.model) = (Some(Protocol::OpenAi), Some(url), Some("peer".into()));
            settings.validation.model = Some("local".into());
        });
        let data = checked(&app, json!({ "html": HTML, "projectId": app.project }));
        assert_eq!(words(&data), ["blue", "recieve"]);
        assert_eq!(data["metadata"]["aiModel"], "local");
        assert!(data["metadata"]["tokensUsed"].as_u64().is_some_and(|tokens| tokens > 0));
        assert_eq!(checked(&app, json!({ "html": HTML }))["metadata"]["aiModel"], "none (rules)");
    }
}
