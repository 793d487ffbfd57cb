//! Anthropic's Messages protocol. JSON output is requested as the input of a tool that the model must use.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{ModelError, ModelRequest, ModelResponse, Picture, Turn, cause};

/// The default URL: Anthropic's own service.
pub const URL: &str = "https://api.anthropic.com";
/// The path that is appended to the configured URL.
pub const PATH: &str = "/v1/messages";
/// The version of the Messages protocol.
pub const VERSION: &str = "2023-06-01";

pub fn request(model: &str, output_tokens_max: usize, question: &ModelRequest) -> Value {
    let mut picture = question.picture.as_ref();
    let turn = |turn: &Turn| {
        let content = match picture.take() {
            None => json!(turn.text),
            Some(Picture { media_type, base64 }) => {
                let source = json!({ "type": "base64", "media_type": media_type, "data": base64 });
                json!([{ "type": "image", "source": source }, { "type": "text", "text": turn.text }])
            }
        };
        json!({ "role": turn.speaker.role(), "content": content })
    };
    let turns: Vec<Value> = question.turns.iter().map(turn).collect();
    let mut body = json!({ "model": model, "max_tokens": output_tokens_max, "system": question.system, "messages": turns });
    if let Some(answer) = &question.schema {
        body["tools"] = json!([{ "name": answer.name, "description": answer.about, "input_schema": answer.schema }]);
        body["tool_choice"] = json!({ "type": "tool", "name": answer.name });
    }
    body
}

#[derive(Deserialize)]
struct Message {
    content: Vec<Part>,
    stop_reason: Option<String>,
    #[serde(default)]
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part {
    Text {
        text: String,
    },
    ToolUse {
        input: Value,
    },
    #[serde(other)]
    Other,
}

#[derive(Default, Deserialize)]
struct Tokens {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
}

/// Reads the outcome from the body of a response with status 200.
pub fn read(body: &[u8]) -> ModelResponse {
    let message: Message = match serde_json::from_slice(body) {
        Ok(message) => message,
        Err(error) => return ModelResponse::malformed(cause(&error.to_string())),
    };
    let Tokens { input_tokens, output_tokens } = message.usage.unwrap_or_default();
    ModelResponse { text: text(&message.content, message.stop_reason.as_deref()), input_tokens, output_tokens }
}

fn text(parts: &[Part], stop_reason: Option<&str>) -> Result<String, ModelError> {
    let texts = parts.iter().filter_map(|part| if let Part::Text { text } = part { Some(text.as_str()) } else { None });
    let words = texts.collect::<Vec<_>>().join("\n");
    match stop_reason {
        Some("max_tokens") => return Err(ModelError::Truncated),
        Some("refusal") => {
            let said = cause(&words);
            let said = if said.is_empty() { "the model gave no reason".into() } else { said };
            return Err(ModelError::Refused(said));
        }
        _ => {}
    }
    let used = parts.iter().find_map(|part| if let Part::ToolUse { input } = part { Some(input.to_string()) } else { None });
    let text = used.unwrap_or(words);
    if text.trim().is_empty() { Err(ModelError::Malformed("the response contains no text".into())) } else { Ok(text) }
}
