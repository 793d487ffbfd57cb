//! The Chat Completions protocol, as defined by OpenAI and supported by Ollama, llama.cpp, vLLM and most hosted services.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{ModelError, ModelRequest, ModelResponse, Picture, cause};

/// The default URL: OpenAI's own service.
pub const URL: &str = "https://api.openai.com/v1";
/// The path that is appended to the configured URL.
pub const PATH: &str = "/chat/completions";

/// How the request asks for JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structure {
    /// With `response_format` and the schema.
    Schema,
    /// With a description in the prompt, because the endpoint does not support `response_format`.
    Words,
}

pub fn request(model: &str, output_tokens_max: usize, own_service: bool, structure: Structure, question: &ModelRequest) -> Value {
    let mut system = question.system.clone();
    // OpenAI's own service has renamed `max_tokens` to `max_completion_tokens`; some other services support only the old name.
    let tokens = if own_service { "max_completion_tokens" } else { "max_tokens" };
    let mut body = json!({ "model": model, "stream": false });
    body[tokens] = json!(output_tokens_max);
    if let Some(answer) = &question.schema {
        match structure {
            Structure::Schema => {
                body["response_format"] = json!({
                    "type": "json_schema",
                    "json_schema": { "name": answer.name, "description": answer.about, "schema": answer.schema },
                });
            }
            Structure::Words => {
                system.push_str("\n\nAnswer with one JSON object and nothing else. It must satisfy this JSON Schema:\n");
                system.push_str(&answer.schema.to_string());
            }
        }
    }
    let mut picture = question.picture.as_ref();
    let turns = question.turns.iter().map(|turn| {
        let content = match picture.take() {
            None => json!(turn.text),
            Some(Picture { media_type, base64 }) => {
                let image = json!({ "type": "image_url", "image_url": { "url": format!("data:{media_type};base64,{base64}") } });
                json!([{ "type": "text", "text": turn.text }, image])
            }
        };
        json!({ "role": turn.speaker.role(), "content": content })
    });
    body["messages"] = std::iter::once(json!({ "role": "system", "content": system })).chain(turns).collect();
    body
}

/// Returns whether an error message means that the endpoint does not support `response_format`.
pub fn lacks_structure(complaint: &str) -> bool {
    ["response_format", "json_schema", "structured output"].iter().any(|word| complaint.contains(word))
}

#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    content: Option<String>,
    refusal: Option<String>,
}

#[derive(Default, Deserialize)]
struct Tokens {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
}

/// Reads the outcome from the body of a response with status 200.
pub fn read(body: &[u8]) -> ModelResponse {
    let completion: Completion = match serde_json::from_slice(body) {
        Ok(completion) => completion,
        Err(error) => return ModelResponse::malformed(cause(&error.to_string())),
    };
    let Tokens { prompt_tokens, completion_tokens } = completion.usage.unwrap_or_default();
    let text = match completion.choices.into_iter().next() {
        Some(choice) => text(choice),
        None => Err(ModelError::Malformed("the response has no choices".into())),
    };
    ModelResponse { text, input_tokens: prompt_tokens, output_tokens: completion_tokens }
}

fn text(choice: Choice) -> Result<String, ModelError> {
    if let Some(refusal) = choice.message.refusal.filter(|refusal| !refusal.is_empty()) {
        return Err(ModelError::Refused(cause(&refusal)));
    }
    match choice.finish_reason.as_deref() {
        Some("length") => return Err(ModelError::Truncated),
        Some("content_filter") => return Err(ModelError::Refused("the content filter cut off the response".into())),
        _ => {}
    }
    let content = choice.message.content.filter(|content| !content.trim().is_empty());
    content.ok_or_else(|| ModelError::Malformed("the response contains no text".into()))
}
