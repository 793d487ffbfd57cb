//! Requests to a language model: one interface for two protocols.
//!
//! A request contains a system prompt, the turns so far, an optional image and, for JSON output, its schema. The reply contains the text
//! and its cost. This module handles protocol, transport and retries; the prompts belong to features. Replies are not trusted: the caller
//! validates them.

mod anthropic;
mod client;
mod models;
mod openai;
#[cfg(test)]
mod tests;

pub use client::Client;
pub use models::Models;

use data_encoding::BASE64;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::vocab::limits::LANGUAGE_MODEL_PICTURE_BYTES_MAX;

#[derive(Clone, Debug)]
pub struct ModelRequest {
    /// The system prompt: the role of the model, and its rules.
    pub system: String,
    /// The conversation, starting and ending with [`Speaker::User`].
    pub turns: Vec<Turn>,
    /// An image that the first turn refers to.
    pub picture: Option<Picture>,
    /// The JSON schema of the reply; `None` for a plain-text reply.
    pub schema: Option<AnswerSchema>,
}

/// An image for a model that accepts images.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The media type of the image, such as `image/png`.
    pub media_type: &'static str,
    /// The image file, encoded in base64.
    pub base64: String,
}

impl Picture {
    /// Creates a picture from an image file, if models accept the format and the size of the file.
    pub fn of(file: &[u8]) -> Option<Self> {
        let media_type = match file {
            [0x89, b'P', b'N', b'G', ..] => "image/png",
            [0xFF, 0xD8, 0xFF, ..] => "image/jpeg",
            [b'G', b'I', b'F', b'8', ..] => "image/gif",
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "image/webp",
            _ => return None,
        };
        let fits = file.len() <= LANGUAGE_MODEL_PICTURE_BYTES_MAX;
        fits.then(|| Self { media_type, base64: BASE64.encode(file) })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    pub speaker: Speaker,
    pub text: String,
}

/// Who wrote a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    User,
    Model,
}

impl Speaker {
    /// Returns the name of the role, which is the same in both protocols.
    fn role(self) -> &'static str {
        match self {
            Speaker::User => "user",
            Speaker::Model => "assistant",
        }
    }
}

#[derive(Clone, Debug)]
pub struct AnswerSchema {
    /// The name of the schema: lowercase letters and underscores.
    pub name: &'static str,
    /// A description of the reply, in one sentence.
    pub about: &'static str,
    pub schema: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    pub text: String,
    pub usage: Usage,
}

/// The usage of one or more calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// The number of calls that got a reply.
    pub calls: u32,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// The time in milliseconds from request to reply, including pauses between retries.
    pub milliseconds: u64,
    /// The cost in millionths of the currency in which prices are configured.
    pub micro_cost: u64,
}

impl Usage {
    /// Subtracts usage that is part of this usage.
    pub fn minus(self, other: Self) -> Self {
        Self {
            calls: self.calls.saturating_sub(other.calls),
            input_tokens: self.input_tokens.saturating_sub(other.input_tokens),
            output_tokens: self.output_tokens.saturating_sub(other.output_tokens),
            milliseconds: self.milliseconds.saturating_sub(other.milliseconds),
            micro_cost: self.micro_cost.saturating_sub(other.micro_cost),
        }
    }

    pub fn plus(self, other: Self) -> Self {
        Self {
            calls: self.calls + other.calls,
            input_tokens: self.input_tokens + other.input_tokens,
            output_tokens: self.output_tokens + other.output_tokens,
            milliseconds: self.milliseconds + other.milliseconds,
            micro_cost: self.micro_cost + other.micro_cost,
        }
    }
}

/// Why there is no reply from the language model, in messages for users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelError {
    /// The endpoint could not be reached, or did not send a valid response in time, even after the configured retries.
    Unreachable(String),
    /// The endpoint responded to the last attempt with status 408, 409, 429 or 5xx.
    Busy(String),
    /// The endpoint rejects this request: the key or the model name is wrong, or the request is too long.
    Rejected(String),
    /// The model declined to reply.
    Refused(String),
    /// The reply was cut off at its length limit.
    Truncated,
    /// The response does not follow the protocol, or is too large.
    Malformed(String),
    /// The request was not sent, because a monthly limit is reached or because the usage of the request cannot be stored. The value is the
    /// complete message for users.
    NotSent(String),
}

impl ModelError {
    /// The first words of the message of [`ModelError::Refused`].
    pub const DECLINED: &str = "The language model declined to write this";
}

impl std::fmt::Display for ModelError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unreachable(cause) => {
                write!(
                    f,
                    "The request to the language model failed: {cause}. Check the model's URL and timeout_seconds in the settings."
                )
            }
            Self::Busy(cause) => {
                write!(f, "The language model's service cannot process the request now: {cause}; try again later.")
            }
            Self::Rejected(cause) => {
                write!(f, "The language model's service rejected the request: {cause}; check the model's settings.")
            }
            Self::Refused(cause) => write!(f, "{}: {cause}.", Self::DECLINED),
            Self::Truncated => f.write_str(
                "The language model's response was cut off at its length limit; ask for shorter text, or raise the model's \
                 output_tokens_max in the settings.",
            ),
            Self::Malformed(cause) => write!(
                f,
                "The language model's service returned an invalid response: {cause}; try again, or check the model's URL and \
                 protocol in the settings."
            ),
            Self::NotSent(message) => f.write_str(message),
        }
    }
}

/// The outcome of an HTTP response. Even a response without usable text has used tokens.
#[derive(Clone, Debug, PartialEq)]
struct ModelResponse {
    text: Result<String, ModelError>,
    input_tokens: u64,
    output_tokens: u64,
}

impl ModelResponse {
    /// Returns the outcome of a response that cannot be read.
    fn malformed(cause: String) -> Self {
        Self { text: Err(ModelError::Malformed(cause)), input_tokens: 0, output_tokens: 0 }
    }
}

/// Shortens a cause so that it fits in a message: one line of limited length, without its own period.
fn cause(text: &str) -> String {
    const CHARACTERS_MAX: usize = 300;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(CHARACTERS_MAX).collect();
    let shortened = short.len() < line.len();
    let short = short.trim_end_matches(['.', ' ']);
    if shortened { format!("{short}…") } else { short.to_owned() }
}

/// Extracts the endpoint's own error message, in any of the formats that services use.
fn complaint(body: &Value) -> Option<String> {
    let error = body.get("error").unwrap_or(body);
    let message = error.as_str().or_else(|| error.get("message")?.as_str()).or_else(|| body.get("detail")?.as_str())?;
    Some(cause(message)).filter(|message| !message.is_empty())
}
