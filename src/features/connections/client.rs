//! Calls a platform's API on behalf of a connected account. Calls use the account's key or token and the pinned version of the API, have a
//! limited number of retries, and respect the pauses that the platform requests.
//!
//! Reads and idempotent changes are retried after temporary failures. A request that creates an object is retried here only after a rate
//! limit. After any other failure, the object may exist, so the caller looks for the object before it tries again.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use data_encoding::{BASE64, HEXLOWER};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use http::{Method, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::error::Category;
use tokio::sync::{Mutex, OnceCell};
use tokio::time::{Instant, sleep};
use url::Url;

use super::credentials::Credentials;
use super::error::PlatformError;
use super::fields::Mapping;
use super::response::{has_too_many_values, retry_after};
use crate::base::clock::Timestamp;
use crate::base::secret::sha256;
use crate::engine::api::Engine;
use crate::engine::fetch::{CallRequest, Limits, OversizePolicy, Response};
use crate::vocab::limits;
use crate::vocab::providers::Provider;
use crate::vocab::settings::Connections;

pub const LIMITS: Limits = Limits {
    head: limits::PROVIDER_REQUEST_TIME,
    total: limits::PROVIDER_REQUEST_TIME,
    body_bytes: limits::PROVIDER_RESPONSE_BYTES_MAX,
    overlong: OversizePolicy::Refuse,
};

/// The version of Klaviyo's API, which is sent in a header. The other platforms' versions are in the URL path.
pub const KLAVIYO_REVISION: &str = "2026-07-15";

/// The tags for the groups of a Mailchimp audience, by group ID.
pub type GroupTags = BTreeMap<String, String>;

#[derive(Debug)]
pub struct Payload {
    content_type: HeaderValue,
    bytes: Bytes,
}

#[derive(Debug)]
pub struct FormFile<'f> {
    pub name: &'f str,
    pub content_type: &'f str,
    pub bytes: &'f [u8],
}

/// A client for one account on a platform.
pub struct Client<'e> {
    pub engine: &'e Engine,
    pub provider: Provider,
    base: Url,
    /// The Mailchimp data center of the account; empty for other platforms.
    pub region: String,
    authorization: HeaderValue,
    /// Identifies the account that a pause applies to: a digest of the platform's ID for the account or, before this ID is known, of the
    /// key.
    account: [u8; 12],
    /// The maximum time that a request waits for a pause to end. If the platform requests a longer pause, the request fails.
    wait_max: Duration,
    /// How the platform's fields are mapped to contact fields.
    pub mapping: Mapping,
    /// The names of the account's custom contact properties in HubSpot, once they have been read.
    pub own_properties: OnceCell<Vec<String>>,
    /// The host of HubSpot's pages for this account, once it has been read.
    pub page_host: OnceCell<String>,
    /// The tags for the groups of each Mailchimp audience that has been read, by the ID of the audience.
    pub group_tags: Mutex<BTreeMap<String, Arc<GroupTags>>>,
}

impl<'e> Client<'e> {
    /// Creates a client. On error, returns why the credentials or the configured URL of the platform are unusable.
    pub fn new(engine: &'e Engine, provider: Provider, credentials: &Credentials) -> Result<Self, &'static str> {
        let base = base(&engine.settings.connections, provider, credentials)?;
        let text = match credentials {
            Credentials::Key(key) => key.expose().as_str(),
            Credentials::Tokens(tokens) => tokens.access.expose().as_str(),
        };
        let authorization = match (provider, credentials) {
            (Provider::HubSpot, _) | (_, Credentials::Tokens(_)) => format!("Bearer {text}"),
            (Provider::Klaviyo, Credentials::Key(_)) => format!("Klaviyo-API-Key {text}"),
            (Provider::Mailchimp, Credentials::Key(_)) => {
                format!("Basic {}", BASE64.encode(format!("mailmill:{text}").as_bytes()))
            }
        };
        let mut authorization = HeaderValue::from_str(&authorization)
            .map_err(|_| "the credentials contain invalid characters; connect the account again")?;
        authorization.set_sensitive(true);
        let account = sha256(text.as_bytes())[..12].try_into().expect("a SHA-256 digest has at least 12 bytes");
        let wait_max = Duration::from_millis(limits::PROVIDER_WAIT_MS_MAX);
        let region = if provider == Provider::Mailchimp { region(credentials).to_owned() } else { String::new() };
        Ok(Self {
            engine,
            provider,
            base,
            region,
            authorization,
            account,
            wait_max,
            mapping: Mapping::default(),
            own_properties: OnceCell::new(),
            page_host: OnceCell::new(),
            group_tags: Mutex::default(),
        })
    }

    /// Returns a client whose requests never wait for a pause to end, so that an import does not delay other imports.
    pub fn without_waits(self) -> Self {
        Self { wait_max: Duration::ZERO, ..self }
    }

    pub fn mapped(self, mapping: Mapping) -> Self {
        Self { mapping, ..self }
    }

    /// Shares pauses with the other clients of the account that has this ID on the platform, because platforms limit requests per account,
    /// not per key or token.
    pub fn of_account(self, external_id: &str) -> Self {
        let name = format!("{}/{external_id}", self.provider.word());
        let account = sha256(name.as_bytes())[..12].try_into().expect("a SHA-256 digest has at least 12 bytes");
        Self { account, ..self }
    }

    /// Forgets a pause of this account, because the account was just connected.
    pub fn forget_pause(&self) {
        self.engine.paces.forget(&self.account);
    }

    pub async fn get<T: DeserializeOwned>(&self, path: &str, query: &[(&str, &str)]) -> Result<T, PlatformError> {
        self.send((Method::GET, path, query), &self.json(None), true).await
    }

    /// Reads a resource with a POST request.
    pub async fn get_by_post<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &[(&str, &str)],
        body: &Value,
    ) -> Result<T, PlatformError> {
        self.send((Method::POST, path, query), &self.json(Some(body)), true).await
    }

    /// Changes a resource. The request must have the same result if it is repeated.
    pub async fn change<T: DeserializeOwned>(&self, method: Method, path: &str, body: &Payload) -> Result<T, PlatformError> {
        self.send((method, path, &[]), body, true).await
    }

    /// Creates a resource. If the outcome is uncertain ([`PlatformError::is_uncertain`]), the resource may exist.
    pub async fn create<T: DeserializeOwned>(&self, path: &str, body: &Payload) -> Result<T, PlatformError> {
        self.send((Method::POST, path, &[]), body, false).await
    }

    /// Returns a request body with the given JSON, or an empty body.
    pub fn json(&self, body: Option<&Value>) -> Payload {
        let content_type = HeaderValue::from_static(match self.provider {
            Provider::Klaviyo => "application/vnd.api+json",
            Provider::Mailchimp | Provider::HubSpot => "application/json",
        });
        Payload { content_type, bytes: body.map_or(Bytes::new(), |body| Bytes::from(body.to_string())) }
    }

    /// Returns a form with text fields and a file (RFC 7578). The names must not contain quotation marks or line breaks.
    pub fn form(&self, fields: &[(&str, &str)], file: &FormFile<'_>) -> Payload {
        let boundary = format!("mailmill-{}", HEXLOWER.encode(&self.engine.random.bytes::<16>()));
        let mut bytes = Vec::with_capacity(file.bytes.len() + 1_024);
        for (name, text) in fields {
            let part = format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n");
            bytes.extend_from_slice(part.as_bytes());
        }
        let FormFile { name, content_type, bytes: content } = file;
        let head = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\nContent-Type: {content_type}\r\n\r\n"
        );
        bytes.extend_from_slice(head.as_bytes());
        bytes.extend_from_slice(content);
        bytes.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
        let content_type = HeaderValue::from_str(&format!("multipart/form-data; boundary={boundary}"));
        Payload { content_type: content_type.expect("the boundary is plain text"), bytes: bytes.into() }
    }

    /// Sends a request. Retries it after a short pause that the platform requests and, if the request is repeatable, after temporary
    /// failures.
    async fn send<T: DeserializeOwned>(
        &self,
        (method, path, query): (Method, &str, &[(&str, &str)]),
        body: &Payload,
        is_repeatable: bool,
    ) -> Result<T, PlatformError> {
        let mut url = self.base.clone();
        url.set_path(path);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let mut attempt = 1;
        let response = loop {
            match self.attempt(&method, &url, body).await {
                Err(error) if self.is_passing(&error, is_repeatable) && attempt < limits::PROVIDER_ATTEMPTS_MAX => {
                    if let PlatformError::Unavailable(_) = &error {
                        self.back_off(attempt).await;
                    }
                    attempt += 1;
                }
                ended => break ended?,
            }
        };
        // Some changes have no response body.
        let read = if response.body.is_empty() { b"null" } else { response.body.as_slice() };
        if has_too_many_values(read) {
            return Err(PlatformError::Malformed(format!("the response from {path} contains too many JSON values")));
        }
        serde_json::from_slice(read).map_err(|error| PlatformError::Malformed(format!("{path}: {}", place(&error))))
    }

    /// Returns whether the same request might succeed after a short pause.
    fn is_passing(&self, error: &PlatformError, is_repeatable: bool) -> bool {
        match error {
            PlatformError::Unavailable(_) => is_repeatable,
            PlatformError::Busy { ms, .. } => Duration::from_millis(*ms) <= self.wait_max,
            _ => false,
        }
    }

    /// Waits before the next attempt. The pause varies by up to a fifth, so that imports do not all retry at the same time.
    pub async fn back_off(&self, attempt: u32) {
        let [chance] = self.engine.random.bytes::<1>();
        let ms = limits::PROVIDER_RETRY_MS << (attempt - 1);
        sleep(Duration::from_millis(ms * 4 / 5 + ms * 2 / 5 * u64::from(chance) / 255)).await;
    }

    async fn attempt(&self, method: &Method, url: &Url, body: &Payload) -> Result<Response, PlatformError> {
        let wait = self.engine.paces.wait(&self.account, Instant::now());
        if wait > self.wait_max {
            return Err(self.busy(wait));
        }
        sleep(wait).await;
        let (headers, body) = (self.headers(body), body.bytes.clone());
        let request = CallRequest { method: method.clone(), url, headers, body, limits: &LIMITS };
        let response = self.engine.fetch.call(request).await.map_err(|error| match error.is_passing() {
            true => PlatformError::Unavailable(error.to_string()),
            false => PlatformError::Unreachable(error.to_string()),
        })?;
        self.note_pause(&response);
        let said = || message(&response.body);
        match response.status {
            StatusCode::MULTI_STATUS if lacks_only_deleted(&response.body) => Ok(response),
            StatusCode::MULTI_STATUS => {
                Err(PlatformError::Unavailable("status 207: the response contains only part of the batch".to_owned()))
            }
            status if status.is_success() => Ok(response),
            StatusCode::UNAUTHORIZED => Err(PlatformError::Rejected(said())),
            StatusCode::FORBIDDEN => Err(PlatformError::Forbidden(said())),
            StatusCode::NOT_FOUND => Err(PlatformError::Missing),
            StatusCode::TOO_MANY_REQUESTS => Err(self.busy(self.engine.paces.wait(&self.account, Instant::now()))),
            status if status.is_server_error() || status == StatusCode::REQUEST_TIMEOUT => {
                Err(PlatformError::Unavailable(format!("status {}: {}", status.as_u16(), said())))
            }
            status => Err(PlatformError::Refused(format!("status {}: {}", status.as_u16(), said()))),
        }
    }

    fn busy(&self, wait: Duration) -> PlatformError {
        let ms = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX).clamp(1, limits::PROVIDER_PAUSE_MS_MAX);
        PlatformError::Busy { until: self.engine.clock.now().plus_ms(ms), ms: ms as u64 }
    }

    fn headers(&self, body: &Payload) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, self.authorization.clone());
        headers.insert(ACCEPT, self.json(None).content_type);
        headers.insert(CONTENT_TYPE, body.content_type.clone());
        if self.provider == Provider::Klaviyo {
            headers.insert(HeaderName::from_static("revision"), HeaderValue::from_static(KLAVIYO_REVISION));
        }
        headers
    }

    /// Pauses the account if the platform is rate limiting it, if the current rate-limit window allows no further request, or if the
    /// platform is down until a stated time.
    fn note_pause(&self, response: &Response) {
        let now = Instant::now();
        let is_rejected = response.status == StatusCode::TOO_MANY_REQUESTS;
        let is_down = response.status == StatusCode::SERVICE_UNAVAILABLE && response.header(RETRY_AFTER.as_str()).is_some();
        match requested_pause(is_rejected || is_down, self.engine.clock.now(), |name| response.header(name)) {
            Some(pause) if is_rejected => self.engine.paces.reject(self.account, pause, now),
            Some(pause) => self.engine.paces.pause(self.account, now + pause, now),
            None => {}
        }
        if !is_rejected {
            self.engine.paces.accept(&self.account);
        }
    }
}

/// Returns the pause that a response's headers request or, for a rejected request without these headers, the default pause.
fn requested_pause<'h>(is_rejected: bool, now: Timestamp, header: impl Fn(&str) -> Option<&'h str>) -> Option<Duration> {
    let number = |name: &str| header(name)?.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    let seconds = if is_rejected {
        if let Some(pause) = header(RETRY_AFTER.as_str()).and_then(|text| retry_after(text, now)) {
            return Some(pause);
        }
        number("ratelimit-reset").unwrap_or(limits::PROVIDER_PAUSE_MS as f64 / 1e3)
    } else if number("ratelimit-remaining") == Some(0.0) {
        number("ratelimit-reset")?
    } else if number("x-hubspot-ratelimit-remaining") == Some(0.0) {
        number("x-hubspot-ratelimit-interval-milliseconds")? / 1e3
    } else {
        return None;
    };
    Some(Duration::from_secs_f64(seconds.clamp(0.0, limits::PROVIDER_PAUSE_MS_MAX as f64 / 1e3)))
}

/// The errors in HubSpot's response to a batch request that succeeded only in part (status 207).
#[derive(Deserialize)]
struct Partial {
    errors: Vec<PartialError>,
}

#[derive(Deserialize)]
struct PartialError {
    category: String,
}

/// The category of HubSpot's error for objects that do not exist.
pub const NOT_FOUND: &str = "OBJECT_NOT_FOUND";

/// Returns whether a batch request failed only for objects that do not exist, so that a repeated request would have the same result.
fn lacks_only_deleted(body: &[u8]) -> bool {
    let errors = serde_json::from_slice::<Partial>(body).map(|partial| partial.errors).unwrap_or_default();
    !errors.is_empty() && errors.iter().all(|error| error.category == NOT_FOUND)
}

/// Describes an error in a response only by its kind and position, because the error's text could quote a contact's data.
fn place(error: &serde_json::Error) -> String {
    let kind = match error.classify() {
        Category::Data => "an unexpected value",
        Category::Eof => "an unexpected end",
        Category::Syntax | Category::Io => "invalid JSON",
    };
    format!("{kind} at line {} column {}", error.line(), error.column())
}

/// Returns the base URL of the platform's API for these credentials, or why the credentials or the configured URL are unusable.
fn base(settings: &Connections, provider: Provider, credentials: &Credentials) -> Result<Url, &'static str> {
    let is_wrong_key = |start: &str| matches!(credentials, Credentials::Key(key) if !key.expose().starts_with(start));
    let text = match provider {
        Provider::Klaviyo if is_wrong_key("pk_") => {
            return Err("must be a private API key, which starts with pk_; create one in Klaviyo under Settings → API keys");
        }
        Provider::Klaviyo => settings.klaviyo_url.clone(),
        Provider::Mailchimp => {
            let region = region(credentials);
            if !is_region(region) {
                return Err(match credentials {
                    Credentials::Key(_) => {
                        "must be an API key that ends with its data center, like -us21; create one in Mailchimp under Account & \
                         billing → Extras → API keys"
                    }
                    Credentials::Tokens(_) => "Mailchimp returned an invalid data center; connect the account again",
                });
            }
            settings.mailchimp_url.replace("{dc}", region)
        }
        Provider::HubSpot => settings.hubspot_url.clone(),
    };
    Url::parse(&text).map_err(
        |_| "the address of this platform in the settings is not a URL; the operator must correct it under [connections]",
    )
}

/// Returns the data center of a Mailchimp account: the suffix of its key, or what Mailchimp returned with the tokens.
fn region(credentials: &Credentials) -> &str {
    match credentials {
        Credentials::Key(key) => key.expose().rsplit_once('-').map_or("", |(_, region)| region),
        Credentials::Tokens(tokens) => &tokens.region,
    }
}

/// Returns whether the text is the name of a Mailchimp data center, like us21. The name becomes part of a host name.
fn is_region(text: &str) -> bool {
    let letters = text.bytes().take_while(u8::is_ascii_lowercase).count();
    let digits = &text[letters..];
    (2..=4).contains(&letters) && (1..=3).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The body of an error response. Each platform sets some of these fields.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ErrorBody {
    errors: Vec<ErrorBody>,
    detail: Option<String>,
    message: Option<String>,
    title: Option<String>,
    /// In errors, token endpoints set this field and `error` (RFC 6749 §5.2).
    error_description: Option<String>,
    error: Option<String>,
}

impl ErrorBody {
    fn text(self) -> Option<String> {
        let own = self.detail.or(self.message).or(self.title).or(self.error_description).or(self.error);
        own.or_else(|| self.errors.into_iter().find_map(Self::text))
    }
}

/// Returns the start of the platform's description of an error or, if the response has none, a note that the platform gave no reason.
pub fn message(body: &[u8]) -> String {
    const SHOWN: usize = 300;
    let short = Some(body).filter(|body| body.len() <= limits::PROVIDER_ERROR_BYTES_MAX);
    let text = short.and_then(|body| serde_json::from_slice::<ErrorBody>(body).ok()).and_then(ErrorBody::text);
    let plain = |text: String| text.chars().filter(|character| !character.is_control()).take(SHOWN).collect::<String>();
    text.map(plain).filter(|text| !text.trim().is_empty()).unwrap_or_else(|| "the platform gave no reason".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_data_center_becomes_part_of_a_host_name() {
        for (text, is_one) in [
            ("us21", true),
            ("us1", true),
            ("ussf100", true),
            ("us", false),
            ("evil.example/us1", false),
            ("us1.x", false),
            ("", false),
        ] {
            assert_eq!(is_region(text), is_one, "{text}");
        }
    }

    #[test]
    fn only_a_finite_pause_is_taken_from_the_headers() {
        let pause = |is_rejected: bool, headers: &[(&str, &'static str)]| {
            let found = |name: &str| headers.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
            requested_pause(is_rejected, Timestamp(0), found).map(|pause| pause.as_millis())
        };
        let default = Some(limits::PROVIDER_PAUSE_MS as u128);
        for (value, expected) in [
            ("2.5", Some(2_500)),
            ("0", Some(0)),
            ("-3", Some(0)),
            ("1e300", Some(limits::PROVIDER_PAUSE_MS_MAX as u128)),
            ("nan", default),
            ("inf", default),
            ("-inf", default),
            ("soon", default),
        ] {
            assert_eq!(pause(true, &[("retry-after", value)]), expected, "{value}");
        }
        assert_eq!(pause(true, &[("retry-after", "nan"), ("ratelimit-reset", "3")]), Some(3_000));
        assert_eq!(pause(false, &[("ratelimit-remaining", "0"), ("ratelimit-reset", "nan")]), None);
        assert_eq!(pause(false, &[("ratelimit-remaining", "0"), ("ratelimit-reset", "2")]), Some(2_000));
        let hubspot = [("x-hubspot-ratelimit-remaining", "0"), ("x-hubspot-ratelimit-interval-milliseconds", "10000")];
        assert_eq!((pause(false, &hubspot), pause(false, &[])), (Some(10_000), None));
    }

    #[test]
    fn the_place_of_an_error_quotes_no_value() {
        let error = serde_json::from_str::<u32>("\"ada@example.com\"").expect_err("a string is not a number");
        assert!(error.to_string().contains("ada@"), "{error}");
        assert_eq!(place(&error), "an unexpected value at line 1 column 17");
    }

    #[test]
    fn the_description_of_every_platform_is_found() {
        for (body, text) in [
            (r#"{"errors":[{"status":401,"title":"Incorrect key","detail":"The key is wrong."}]}"#, "The key is wrong."),
            (r#"{"title":"API Key Invalid","status":401,"detail":"Use a valid key."}"#, "Use a valid key."),
            (r#"{"status":"error","message":"Missing scopes","category":"MISSING_SCOPES"}"#, "Missing scopes"),
            ("<html>", "the platform gave no reason"),
            (
                format!("{{\"detail\":\"x\",\"more\":\"{}\"}}", "x".repeat(limits::PROVIDER_ERROR_BYTES_MAX)).as_str(),
                "the platform gave no reason",
            ),
        ] {
            assert_eq!(message(body.as_bytes()), text);
        }
    }
}
