//! The client for a configured model. It selects the protocol, computes the cost of calls, and retries after pauses.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::Value;
use tokio::time::{Instant, sleep};
use url::Url;

use super::openai::Structure;
use super::{ModelError, ModelRequest, ModelResponse, Reply, Usage, anthropic, cause, complaint, openai};
use crate::base::random::Random;
use crate::base::secret::Secret;
use crate::engine::fetch::{Fetch, FetchError, Limits, OversizePolicy, Response};
use crate::vocab::limits;
use crate::vocab::settings::{Model, Protocol};

/// A conservative number of characters per token: English has about four, and other languages have fewer.
const CHARACTERS_PER_TOKEN: usize = 3;
/// An upper estimate of the number of tokens in an image.
const PICTURE_TOKENS: u64 = 2_000;

pub struct Client {
    /// The name of the model in the settings.
    name: String,
    settings: Model,
    protocol: Protocol,
    url: Url,
    fetch: Arc<Fetch>,
    random: Arc<dyn Random>,
    /// Whether the endpoint has rejected `response_format`. If so, the parameter is not sent again until the next start.
    without_structure: AtomicBool,
}

enum Attempt {
    Answered(ModelResponse),
    Rejected(ModelError),
    /// A retry can succeed; `after` is the pause that the endpoint requests.
    Later {
        trouble: ModelError,
        after: Option<Duration>,
    },
    /// The schema must be described in the prompt, because the endpoint does not support `response_format`.
    InWords,
}

impl Client {
    /// Creates a client for the model with this name; `None` if the model is not enabled.
    pub fn new(name: &str, settings: &Model, fetch: Arc<Fetch>, random: Arc<dyn Random>) -> Option<Self> {
        let protocol = settings.protocol?;
        let (home, path) = match protocol {
            Protocol::OpenAi => (openai::URL, openai::PATH),
            Protocol::Anthropic => (anthropic::URL, anthropic::PATH),
        };
        let base = settings.url.as_deref().unwrap_or(home);
        let url = Url::parse(&format!("{}{path}", base.trim_end_matches('/'))).expect("the settings were checked at startup");
        let (name, settings) = (name.to_owned(), settings.clone());
        Some(Self { name, settings, protocol, url, fetch, random, without_structure: AtomicBool::new(false) })
    }

    /// Returns the name of the model in the settings. A request for an email selects a model by this name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the endpoint's name for the model.
    fn model(&self) -> &str {
        self.settings.model.as_deref().expect("the settings were checked at startup: a protocol has a model")
    }

    /// Returns the maximum number of email blocks that one request asks the model to write.
    pub fn blocks_at_once(&self) -> usize {
        self.settings.blocks_at_once.get() as usize
    }

    /// Returns the maximum length of a request's text, in characters.
    pub fn request_characters_max(&self) -> usize {
        self.settings.context_tokens.count().saturating_sub(self.settings.output_tokens_max.count()) * CHARACTERS_PER_TOKEN
    }

    /// Returns an upper estimate of a request's usage, for a budget: its text, its image and the longest possible response.
    pub fn estimate(&self, question: &ModelRequest) -> Usage {
        let schema = question.schema.as_ref().map_or(0, |answer| answer.schema.to_string().len());
        let texts: usize = question.turns.iter().map(|turn| turn.text.len()).sum();
        let input = (question.system.len() + texts + schema).div_ceil(CHARACTERS_PER_TOKEN) as u64;
        let picture = question.picture.as_ref().map_or(0, |_| PICTURE_TOKENS);
        self.usage(input + picture, self.settings.output_tokens_max.get())
    }

    pub fn sees(&self) -> bool {
        self.settings.vision
    }

    /// Sends a request, and retries temporary failures. Returns the usage even after an error.
    pub async fn ask(&self, question: &ModelRequest) -> (Result<Reply, ModelError>, Usage) {
        let started = Instant::now();
        let (text, usage) = self.ask_again_and_again(question).await;
        let usage = Usage { milliseconds: started.elapsed().as_millis() as u64, ..usage };
        (text.map(|text| Reply { text, usage }), usage)
    }

    async fn ask_again_and_again(&self, question: &ModelRequest) -> (Result<String, ModelError>, Usage) {
        let mut repeats = 0;
        loop {
            let (trouble, after) = match self.attempt(question).await {
                Attempt::Answered(ModelResponse { text, input_tokens, output_tokens }) => {
                    return (text, self.usage(input_tokens, output_tokens));
                }
                Attempt::Rejected(trouble) => return (Err(trouble), Usage::default()),
                Attempt::InWords => {
                    self.without_structure.store(true, Ordering::Relaxed);
                    continue;
                }
                Attempt::Later { trouble, after } => (trouble, after),
            };
            if repeats == self.settings.repeats.get() as u32 {
                return (Err(trouble), Usage::default());
            }
            sleep(self.pause(repeats, after)).await;
            repeats += 1;
        }
    }

    /// Returns the pause before a retry. The pause doubles with each retry, and is lengthened at random by up to half. It is at least as
    /// long as the endpoint requests, but at most [`limits::LANGUAGE_MODEL_PAUSE_MS_MAX`].
    fn pause(&self, repeats: u32, after: Option<Duration>) -> Duration {
        let doubled = limits::LANGUAGE_MODEL_PAUSE_MS.saturating_mul(1 << repeats.min(10));
        let share = u64::from(u16::from_be_bytes(self.random.bytes()));
        let own = Duration::from_millis(doubled + doubled * share / (2 * u64::from(u16::MAX)));
        own.max(after.unwrap_or_default()).min(Duration::from_millis(limits::LANGUAGE_MODEL_PAUSE_MS_MAX))
    }

    async fn attempt(&self, question: &ModelRequest) -> Attempt {
        let total = self.settings.timeout_seconds.seconds();
        let limits =
            Limits { head: total, total, body_bytes: limits::LANGUAGE_MODEL_ANSWER_BYTES_MAX, overlong: OversizePolicy::Refuse };
        let body = self.body(question).to_string();
        let answer = match self.fetch.post_json(&self.url, self.headers(), body, &limits).await {
            Ok(answer) => answer,
            Err(FetchError::TooLarge { bytes_max, .. }) => {
                return Attempt::Answered(ModelResponse::malformed(format!("it is larger than {bytes_max} bytes")));
            }
            Err(error) => return Attempt::Later { trouble: ModelError::Unreachable(cause(&error.to_string())), after: None },
        };
        if answer.status == StatusCode::OK {
            return Attempt::Answered(match self.protocol {
                Protocol::OpenAi => openai::read(&answer.body),
                Protocol::Anthropic => anthropic::read(&answer.body),
            });
        }
        self.refused(&answer, question)
    }

    fn refused(&self, answer: &Response, question: &ModelRequest) -> Attempt {
        let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        let status = answer.status;
        let words = complaint(&body);
        let said =
            words.as_ref().map_or_else(|| format!("the service returned status {status}"), |words| format!("{words} ({status})"));
        let is_structured = question.schema.is_some() && self.structure() == Structure::Schema;
        if status.is_client_error()
            && self.protocol == Protocol::OpenAi
            && is_structured
            && words.as_deref().is_some_and(openai::lacks_structure)
        {
            return Attempt::InWords;
        }
        if matches!(status.as_u16(), 408 | 409 | 429) || status.is_server_error() {
            return Attempt::Later { trouble: ModelError::Busy(said), after: retry_after(&answer.headers) };
        }
        Attempt::Rejected(ModelError::Rejected(said))
    }

    fn structure(&self) -> Structure {
        if self.without_structure.load(Ordering::Relaxed) { Structure::Words } else { Structure::Schema }
    }

    fn body(&self, question: &ModelRequest) -> Value {
        let tokens = self.settings.output_tokens_max.count();
        match self.protocol {
            Protocol::OpenAi => openai::request(self.model(), tokens, self.settings.url.is_none(), self.structure(), question),
            Protocol::Anthropic => anthropic::request(self.model(), tokens, question),
        }
    }

    fn headers(&self) -> Vec<(HeaderName, HeaderValue)> {
        let value = |text: &str| {
            let mut value = HeaderValue::from_str(text).expect("the settings were checked at startup");
            value.set_sensitive(true);
            value
        };
        let key = self.settings.key.as_ref().map(Secret::expose);
        match self.protocol {
            Protocol::OpenAi => {
                key.map(|key| (http::header::AUTHORIZATION, value(&format!("Bearer {key}")))).into_iter().collect()
            }
            Protocol::Anthropic => {
                let version = (HeaderName::from_static("anthropic-version"), HeaderValue::from_static(anthropic::VERSION));
                let key = key.map(|key| (HeaderName::from_static("x-api-key"), value(key)));
                std::iter::once(version).chain(key).collect()
            }
        }
    }

    /// Computes the cost of these tokens. Prices are per million tokens, so the number of tokens times the price is the cost in
    /// millionths of the currency.
    fn usage(&self, input_tokens: u64, output_tokens: u64) -> Usage {
        let cost = input_tokens as f64 * self.settings.input_price + output_tokens as f64 * self.settings.output_price;
        Usage { calls: 1, input_tokens, output_tokens, milliseconds: 0, micro_cost: cost.round() as u64 }
    }
}

/// Parses a `Retry-After` header in seconds. The form with a date is ignored.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds: u64 = headers.get(http::header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}
