//! The client for the configured endpoint. It selects the protocol, computes the cost of calls, and retries after pauses.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::Value;
use tokio::time::{Instant, sleep};
use url::Url;

use super::openai::Structure;
use super::{ModelError, ModelRequest, Outcome, Reply, Usage, anthropic, cause, complaint, openai};
use crate::base::random::Random;
use crate::base::secret::Secret;
use crate::engine::fetch::{Fetch, Limits, OversizePolicy, Response};
use crate::vocab::limits;
use crate::vocab::settings::{LanguageModel, Protocol};

/// A client for one language model.
pub struct Client {
    settings: LanguageModel,
    protocol: Protocol,
    url: Url,
    fetch: Arc<Fetch>,
    random: Arc<dyn Random>,
    /// Whether the endpoint has rejected `response_format`, which is then not sent again until the next start.
    without_structure: AtomicBool,
}

/// The result of one attempt.
enum Attempt {
    Answered(Outcome),
    /// A retry may succeed; the endpoint may have specified when.
    Later {
        trouble: ModelError,
        after: Option<Duration>,
    },
    /// The schema must be described in the prompt, because the endpoint does not support `response_format`.
    InWords,
}

impl Client {
    /// Creates a client with these settings; `None` if no protocol is set.
    pub fn new(settings: &LanguageModel, fetch: Arc<Fetch>, random: Arc<dyn Random>) -> Option<Self> {
        let protocol = settings.protocol?;
        let (home, path) = match protocol {
            Protocol::OpenAi => (openai::URL, openai::PATH),
            Protocol::Anthropic => (anthropic::URL, anthropic::PATH),
        };
        let base = settings.url.as_deref().unwrap_or(home);
        let url = Url::parse(&format!("{}{path}", base.trim_end_matches('/'))).expect("the settings were checked at startup");
        Some(Self { settings: settings.clone(), protocol, url, fetch, random, without_structure: AtomicBool::new(false) })
    }

    /// Returns the name of the model that requests for emails use.
    pub fn model(&self) -> &str {
        self.settings.name.as_deref().expect("the settings were checked at startup: a protocol has a model")
    }

    /// Whether the model accepts images.
    pub fn sees(&self) -> bool {
        self.settings.vision
    }

    /// Sends a request, and retries temporary failures. Always returns the usage, even after an error.
    pub async fn ask(&self, question: &ModelRequest) -> (Result<Reply, ModelError>, Usage) {
        let started = Instant::now();
        let result = self.ask_again_and_again(question).await;
        let milliseconds = started.elapsed().as_millis() as u64;
        match result {
            Ok((text, usage)) => {
                let usage = Usage { milliseconds, ..usage };
                (Ok(Reply { text, usage }), usage)
            }
            Err(trouble) => (Err(trouble), Usage { milliseconds, ..Usage::default() }),
        }
    }

    async fn ask_again_and_again(&self, question: &ModelRequest) -> Result<(String, Usage), ModelError> {
        let mut repeats = 0;
        loop {
            let (trouble, after) = match self.attempt(question).await {
                Attempt::Answered(Outcome::Answered { text, input_tokens, output_tokens }) => {
                    return Ok((text, self.usage(input_tokens, output_tokens)));
                }
                Attempt::Answered(Outcome::Failed(trouble)) => return Err(trouble),
                Attempt::InWords => {
                    self.without_structure.store(true, Ordering::Relaxed);
                    continue;
                }
                Attempt::Later { trouble, after } => (trouble, after),
            };
            if repeats == self.settings.repeats.get() as u32 {
                return Err(trouble);
            }
            sleep(self.pause(repeats, after)).await;
            repeats += 1;
        }
    }

    /// Returns the pause before a retry: it doubles each time and up to half of it is added at random, or the endpoint specifies it. It is
    /// always bounded.
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
        let said = words.as_ref().map_or_else(|| format!("the service returned {status}"), |words| format!("{words} ({status})"));
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
        Attempt::Answered(Outcome::Failed(ModelError::Rejected(said)))
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

    /// Computes the cost of these tokens. Prices are per million tokens, so the number of tokens times the price is the cost in millionths.
    fn usage(&self, input_tokens: u64, output_tokens: u64) -> Usage {
        let cost = input_tokens as f64 * self.settings.input_price + output_tokens as f64 * self.settings.output_price;
        Usage { calls: 1, input_tokens, output_tokens, milliseconds: 0, micro_cost: cost.round() as u64 }
    }
}

/// Parses a `Retry-After` header in seconds; model services do not use the form with a date.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds: u64 = headers.get(http::header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}
