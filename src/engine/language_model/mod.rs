//! Asking a language model: one port, two protocols.
//!
//! A call has a system text, the turns so far and, where the answer has to be JSON, its schema; the answer is text and what it
//! cost. Which protocol the endpoint speaks, how it is reached and what is repeated is decided here; what is asked is the business
//! of features. Nothing here trusts an answer: whoever asked checks it.

mod anthropic;
mod client;
mod openai;
#[cfg(test)]
mod tests;

pub use client::Client;

use data_encoding::BASE64;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::vocab::limits::LANGUAGE_MODEL_PICTURE_BYTES_MAX;

/// What is asked.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    /// Who the model is to be, and the rules.
    pub system: String,
    /// The conversation, beginning and ending with [`Speaker::User`].
    pub turns: Vec<Turn>,
    /// A picture that the first turn is about.
    pub picture: Option<Picture>,
    /// The shape the answer must have; text if there is none.
    pub schema: Option<AnswerSchema>,
}

/// A picture for a model that sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Like `image/png`.
    pub media_type: &'static str,
    /// The file, as Base64.
    pub base64: String,
}

impl Picture {
    /// A file of one of the formats that models take.
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

/// One side's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    pub speaker: Speaker,
    pub text: String,
}

/// Whose words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    User,
    Model,
}

impl Speaker {
    /// The word that both protocols have for it.
    fn role(self) -> &'static str {
        match self {
            Speaker::User => "user",
            Speaker::Model => "assistant",
        }
    }
}

/// The shape of a JSON answer.
#[derive(Clone, Debug)]
pub struct AnswerSchema {
    /// Small letters and underscores.
    pub name: &'static str,
    /// What the answer is, in one sentence.
    pub about: &'static str,
    pub schema: Value,
}

/// What came back.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    pub text: String,
    pub usage: Usage,
}

/// What calls have used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Calls that were answered.
    pub calls: u32,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Time from question to answer, pauses between repeats included.
    pub milliseconds: u64,
    /// Millionths of the currency of the configured prices.
    pub micro_cost: u64,
}

impl Usage {
    /// Both together.
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

/// Why there is no answer, in words for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelError {
    /// It could not be reached, or did not answer in time; repeated as often as the settings say.
    Unreachable(String),
    /// It said 408, 409, 429 or 5xx each time.
    Busy(String),
    /// It will not take this request: a wrong key, a wrong name, too long.
    Rejected(String),
    /// The model declined to answer.
    Refused(String),
    /// The answer ended at its length limit.
    Truncated,
    /// What came is not what the protocol says.
    Malformed(String),
}

impl std::fmt::Display for ModelError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unreachable(cause) => write!(f, "The language model cannot be reached: {cause}."),
            Self::Busy(cause) => write!(f, "The language model's service is busy or down: {cause}."),
            Self::Rejected(cause) => write!(f, "The language model's service refused the request: {cause}."),
            Self::Refused(cause) => write!(f, "The language model declined to write this: {cause}."),
            Self::Truncated => f.write_str(
                "The language model's answer was cut at its length limit; ask for less, or raise model.output_tokens_max.",
            ),
            Self::Malformed(cause) => write!(f, "The language model's service answered something unreadable: {cause}."),
        }
    }
}

/// What an HTTP answer of the endpoint comes to.
#[derive(Clone, Debug, PartialEq)]
enum Outcome {
    Answered { text: String, input_tokens: u64, output_tokens: u64 },
    Failed(ModelError),
}

/// A cause as part of a sentence: one line, without its own full stop, not endless.
fn cause(text: &str) -> String {
    const CHARACTERS_MAX: usize = 300;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(CHARACTERS_MAX).collect();
    let shortened = short.len() < line.len();
    let short = short.trim_end_matches(['.', ' ']);
    if shortened { format!("{short}…") } else { short.to_owned() }
}

/// The endpoint's own words for a failure, in any of the shapes that services use.
fn complaint(body: &Value) -> Option<String> {
    let error = body.get("error").unwrap_or(body);
    let message = error.as_str().or_else(|| error.get("message")?.as_str()).or_else(|| body.get("detail")?.as_str())?;
    Some(cause(message)).filter(|message| !message.is_empty())
}
