//! Sends requests to a store with the store's keys, and pauses when the platform requests it.
//!
//! This module retries a request only if the platform rejected an access token that the app can replace. After other failures, the import
//! retries the whole step.

use std::time::Duration;

use bytes::Bytes;
use data_encoding::BASE64;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use http::{Method, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::Instant;
use url::Url;

use super::keys::{AppTokens, Keys};
use super::model::Store;
use crate::base::secret::{Secret, sha256};
use crate::engine::api::Engine;
use crate::engine::fetch::{CallRequest, Download, DownloadLimits, Limits, OversizePolicy, Response};
use crate::features::connections::{PlatformError, has_too_many_values, retry_after};
use crate::vocab::limits;
use crate::vocab::storefronts::Storefront;

const LIMITS: Limits = Limits {
    head: limits::PROVIDER_REQUEST_TIME,
    total: limits::PROVIDER_REQUEST_TIME,
    body_bytes: limits::STORE_RESPONSE_BYTES_MAX,
    overlong: OversizePolicy::Refuse,
};

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded");
const SHOPIFY_TOKEN: HeaderName = HeaderName::from_static("x-shopify-access-token");

/// The version of Shopify's Admin API. Shopify supports each version for at least a year.
pub const SHOPIFY_VERSION: &str = "2026-10";

pub struct Client<'e> {
    engine: &'e Engine,
    platform: Storefront,
    address: String,
    base: Url,
    access: Access,
    /// A hash of the store's address and keys. The store's pauses and tokens are stored under this hash, which does not reveal the keys.
    pace: [u8; 12],
}

enum Access {
    /// The client sends the same header with each request.
    Header(HeaderName, HeaderValue),
    /// Shopify's client credentials grant: the app requests tokens that are valid for a day.
    ClientCredentials { id: String, secret: Secret },
}

#[derive(Deserialize)]
struct TokenResponse {
    access_token: Secret,
    expires_in: Option<i64>,
    refresh_token: Option<Secret>,
}

/// A token is replaced this many milliseconds before it expires, so that no request arrives with an expired token.
pub const TOKEN_RESERVE_MS: i64 = 5 * 60_000;

/// The path at which Shopify issues tokens.
const TOKENS: &str = "/admin/oauth/access_token";

/// A page of a list, and the total numbers of pages and items.
pub struct RestPage<T> {
    pub items: T,
    pub pages: u32,
    pub total: u64,
}

impl<'e> Client<'e> {
    /// Creates a client for the store at `address`. Returns the reason if the keys or the address are invalid.
    pub fn new(engine: &'e Engine, platform: Storefront, address: &str, keys: &Keys) -> Result<Self, String> {
        let text = match platform {
            Storefront::Shopify => engine.settings.connections.shopify_url.replace("{shop}", address),
            Storefront::WooCommerce => address.to_owned(),
        };
        let base = Url::parse(&text).map_err(|error| format!("the address of the store is not a URL: {error}"))?;
        let access = match platform {
            Storefront::Shopify if !keys.client_id.is_empty() => {
                Access::ClientCredentials { id: keys.client_id.clone(), secret: Secret::new(keys.signing_secret.clone()) }
            }
            Storefront::Shopify => Access::Header(SHOPIFY_TOKEN, secret_header(&keys.key)?),
            Storefront::WooCommerce => {
                let pair = BASE64.encode(format!("{}:{}", keys.key, keys.secret).as_bytes());
                Access::Header(AUTHORIZATION, secret_header(&format!("Basic {pair}"))?)
            }
        };
        // An installed app's access token changes every hour, so the hash that identifies the store's pauses does not include it.
        let key = if keys.is_installed() { "" } else { keys.key.as_str() };
        let digest = sha256(format!("{address}\n{key}\n{}\n{}", keys.client_id, keys.signing_secret).as_bytes());
        let pace = digest[..12].try_into().expect("a SHA-256 digest has at least 12 bytes");
        Ok(Self { engine, platform, address: address.to_owned(), base, access, pace })
    }

    pub fn of(engine: &'e Engine, store: &Store) -> Result<Self, PlatformError> {
        let keys = super::keys::open(&engine.seal, store).ok_or(PlatformError::KeyLost)?;
        Self::new(engine, store.platform, &store.address, &keys).map_err(PlatformError::Unreachable)
    }

    /// Discards the store's pause and access token, so that its keys can be tested.
    pub fn forget(&self) {
        self.engine.paces.forget(&self.pace);
        self.engine.platform_tokens.forget(&self.pace);
    }

    /// Runs one of Shopify's GraphQL operations. Pauses requests to the store if another operation of the same cost would exceed the
    /// store's rate limit.
    pub async fn graphql<T: DeserializeOwned>(&self, query: &str, variables: Value) -> Result<T, PlatformError> {
        let body = Bytes::from(json!({ "query": query, "variables": variables }).to_string());
        let path = format!("/admin/api/{SHOPIFY_VERSION}/graphql.json");
        let response = self.send(Method::POST, &path, &[], body).await?;
        let answer: GraphqlAnswer<T> = parse(&response.body, "graphql.json")?;
        let cost = answer.extensions.and_then(|extensions| extensions.cost);
        if let Some(pause) = cost.as_ref().and_then(Cost::pause) {
            self.pause(pause);
        }
        if let Some(error) = answer.errors.into_iter().next() {
            return Err(self.graphql_error(error, cost.as_ref()));
        }
        answer.data.ok_or_else(|| PlatformError::Malformed("the response to graphql.json has no data".to_owned()))
    }

    fn graphql_error(&self, error: GraphqlError, cost: Option<&Cost>) -> PlatformError {
        let code = error.extensions.map(|extensions| extensions.code).unwrap_or_default();
        let said = plain(&error.message);
        match code.as_str() {
            "THROTTLED" => {
                let pause = cost.and_then(Cost::pause).unwrap_or(Duration::from_millis(limits::PROVIDER_RETRY_MS));
                self.engine.paces.reject(self.pace, pause, Instant::now());
                self.busy()
            }
            "ACCESS_DENIED" => PlatformError::Forbidden(said),
            "INTERNAL_SERVER_ERROR" | "TIMEOUT" => PlatformError::Unavailable(said),
            _ => PlatformError::Refused(said),
        }
    }

    /// Calls the REST API of WooCommerce.
    pub async fn rest<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        query: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Result<RestPage<T>, PlatformError> {
        let body = body.map_or(Bytes::new(), |body| Bytes::from(body.to_string()));
        let response = self.send(method, &format!("/wp-json/wc/v3{path}"), query, body).await?;
        let pages = response.header("x-wp-totalpages").and_then(|text| text.parse().ok()).unwrap_or(1);
        let total = response.header("x-wp-total").and_then(|text| text.parse().ok()).unwrap_or(0);
        Ok(RestPage { items: parse(&response.body, path)?, pages, total })
    }

    /// Starts downloading an export from a URL that the platform returned, beginning at byte `from`.
    pub async fn download(&self, url: &str, from: u64) -> Result<Download, PlatformError> {
        let url =
            Url::parse(url).map_err(|error| PlatformError::Malformed(format!("the URL of the export is invalid: {error}")))?;
        if url.scheme() != "https" && !self.engine.fetch.is_in_allowed_network(&url) {
            return Err(PlatformError::Malformed("the URL of the export does not use https".to_owned()));
        }
        let total = limits::STORE_DOWNLOAD_TIME;
        let limits = DownloadLimits { head: total, total, bytes: limits::STORE_DOWNLOAD_BYTES_MAX };
        let download = self.engine.fetch.download(&url, from, limits).await.map_err(|error| match error.is_passing() {
            true => PlatformError::Unavailable(error.to_string()),
            false => PlatformError::Unreachable(error.to_string()),
        })?;
        match download.status {
            status if status.is_success() => Ok(download),
            // The export's URL expires after a week.
            StatusCode::FORBIDDEN | StatusCode::NOT_FOUND | StatusCode::GONE => Err(PlatformError::Missing),
            status => Err(PlatformError::Unavailable(format!("the download of the export failed: status {}", status.as_u16()))),
        }
    }

    async fn send(&self, method: Method, path: &str, query: &[(&str, &str)], body: Bytes) -> Result<Response, PlatformError> {
        let wait = self.engine.paces.wait(&self.pace, Instant::now());
        if wait > Duration::from_millis(limits::PROVIDER_WAIT_MS_MAX) {
            return Err(self.busy());
        }
        tokio::time::sleep(wait).await;
        let mut url = self.url(path);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let response = match &self.access {
            Access::Header(name, value) => self.call(method, &url, JSON, Some((name.clone(), value.clone())), body).await?,
            Access::ClientCredentials { id, secret } => {
                let token = self.token(id, secret).await?;
                let first = self.call(method.clone(), &url, JSON, Some((SHOPIFY_TOKEN, token)), body.clone()).await?;
                if first.status != StatusCode::UNAUTHORIZED {
                    return self.checked(first);
                }
                // The token was revoked early because the app was reinstalled or its secret was replaced. The rejected request had no
                // effect, so it is sent again with a new token.
                self.engine.platform_tokens.forget(&self.pace);
                let token = self.token(id, secret).await?;
                self.call(method, &url, JSON, Some((SHOPIFY_TOKEN, token)), body).await?
            }
        };
        self.checked(response)
    }

    /// Returns the app's current access token as a header. Requests a token if there is none.
    async fn token(&self, id: &str, secret: &Secret) -> Result<HeaderValue, PlatformError> {
        let now = self.engine.clock.now();
        let known = self.engine.platform_tokens.get(&self.pace, now);
        let token = match known {
            Some(token) => token,
            None => {
                let fields = [("grant_type", "client_credentials"), ("client_id", id), ("client_secret", secret.expose())];
                let AppTokens { access, expires_at, .. } = self.request_tokens(&fields).await?;
                let until = expires_at.unwrap_or(now).plus_ms(-TOKEN_RESERVE_MS);
                self.engine.platform_tokens.put(self.pace, access.clone(), until, now);
                access
            }
        };
        secret_header(token.expose()).map_err(PlatformError::Malformed)
    }

    /// Sends these form fields to the path at which the shop issues tokens, and returns the tokens.
    pub async fn request_tokens(&self, fields: &[(&str, &str)]) -> Result<AppTokens, PlatformError> {
        let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let response = self.call(Method::POST, &self.url(TOKENS), FORM, None, Bytes::from(body)).await?;
        if response.status == StatusCode::BAD_REQUEST {
            return Err(PlatformError::Rejected(message(&response.body)));
        }
        let TokenResponse { access_token, expires_in, refresh_token } = parse(&self.checked(response)?.body, "access_token")?;
        let now = self.engine.clock.now();
        let expires_at = expires_in.filter(|seconds| *seconds > 0).map(|seconds| now.plus_ms(seconds.saturating_mul(1_000)));
        Ok(AppTokens { access: access_token, refresh: refresh_token, expires_at })
    }

    pub fn url(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        url.set_path(&format!("{}{path}", self.base.path().trim_end_matches('/')));
        url
    }

    async fn call(
        &self,
        method: Method,
        url: &Url,
        content_type: HeaderValue,
        access: Option<(HeaderName, HeaderValue)>,
        body: Bytes,
    ) -> Result<Response, PlatformError> {
        let mut headers: HeaderMap = access.into_iter().collect();
        headers.insert(ACCEPT, JSON);
        headers.insert(CONTENT_TYPE, content_type);
        let request = CallRequest { method, url, headers, body, limits: &LIMITS };
        self.engine.fetch.call(request).await.map_err(|error| match error.is_passing() {
            true => PlatformError::Unavailable(error.to_string()),
            false => PlatformError::Unreachable(error.to_string()),
        })
    }

    fn checked(&self, response: Response) -> Result<Response, PlatformError> {
        let said = || message(&response.body);
        let requested = || response.header(RETRY_AFTER.as_str()).and_then(|text| retry_after(text, self.engine.clock.now()));
        match response.status {
            status if status.is_success() => {
                self.engine.paces.accept(&self.pace);
                Ok(response)
            }
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(PlatformError::Rejected(said())),
            // Shopify responds with these two statuses to every request to a frozen or locked shop. The keys work again when the shop
            // reopens.
            StatusCode::PAYMENT_REQUIRED => {
                let said = said();
                Err(PlatformError::Suspended(format!(
                    "The store is frozen until its owner pays the outstanding balance ({said})."
                )))
            }
            StatusCode::LOCKED => {
                let said = said();
                Err(PlatformError::Suspended(format!(
                    "The store is locked; its owner must contact the platform's support ({said})."
                )))
            }
            StatusCode::NOT_FOUND => Err(PlatformError::Missing),
            StatusCode::TOO_MANY_REQUESTS => {
                let pause = requested().unwrap_or(Duration::from_millis(limits::PROVIDER_PAUSE_MS as u64));
                self.engine.paces.reject(self.pace, pause, Instant::now());
                Err(self.busy())
            }
            status if status.is_server_error() || status == StatusCode::REQUEST_TIMEOUT => {
                // A store in maintenance can state how long the maintenance will last.
                if let Some(pause) = requested().filter(|_| status == StatusCode::SERVICE_UNAVAILABLE) {
                    self.pause(pause);
                }
                Err(PlatformError::Unavailable(format!("status {}: {}", status.as_u16(), said())))
            }
            status if status.is_redirection() => {
                let status = status.as_u16();
                Err(PlatformError::Refused(format!("status {status}: the store redirects the request; check the store's URL")))
            }
            status => Err(PlatformError::Refused(format!("status {}: {}", status.as_u16(), said()))),
        }
    }

    fn pause(&self, pause: Duration) {
        let now = Instant::now();
        self.engine.paces.pause(self.pace, now + pause, now);
    }

    fn busy(&self) -> PlatformError {
        let wait = self.engine.paces.wait(&self.pace, Instant::now());
        let ms = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX).clamp(1, limits::PROVIDER_PAUSE_MS_MAX);
        PlatformError::Busy { until: self.engine.clock.now().plus_ms(ms), ms: ms as u64 }
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    pub fn platform(&self) -> Storefront {
        self.platform
    }
}

#[derive(Deserialize)]
struct GraphqlAnswer<T> {
    data: Option<T>,
    #[serde(default)]
    errors: Vec<GraphqlError>,
    extensions: Option<Extensions>,
}

#[derive(Deserialize)]
struct GraphqlError {
    #[serde(default)]
    message: String,
    extensions: Option<ErrorExtensions>,
}

#[derive(Deserialize)]
struct ErrorExtensions {
    #[serde(default)]
    code: String,
}

#[derive(Deserialize)]
struct Extensions {
    cost: Option<Cost>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cost {
    requested_query_cost: f64,
    throttle_status: ThrottleStatus,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ThrottleStatus {
    currently_available: f64,
    restore_rate: f64,
}

impl Cost {
    /// Returns how long Shopify needs to restore enough points for another request of this cost; `None` if enough points are left.
    fn pause(&self) -> Option<Duration> {
        let ThrottleStatus { currently_available, restore_rate } = self.throttle_status;
        let missing = self.requested_query_cost - currently_available;
        let seconds = missing / restore_rate.max(1.0);
        (seconds > 0.0).then(|| Duration::from_secs_f64(seconds.min(limits::PROVIDER_PAUSE_MS as f64 / 1e3)))
    }
}

/// Returns a header whose value is not shown in logs.
fn secret_header(text: &str) -> Result<HeaderValue, String> {
    let mut value = HeaderValue::from_str(text)
        .map_err(|_| "the key or token contains invalid characters; connect the store again".to_owned())?;
    value.set_sensitive(true);
    Ok(value)
}

/// Parses a response. The error states the position but quotes no value, because the value could be a customer's personal data.
fn parse<T: DeserializeOwned>(body: &[u8], what: &str) -> Result<T, PlatformError> {
    if has_too_many_values(body) {
        return Err(PlatformError::Malformed(format!("the response from {what} contains too many JSON values")));
    }
    serde_json::from_slice(body).map_err(|error| {
        PlatformError::Malformed(format!(
            "the response to {what} contains unexpected data at line {}, column {}",
            error.line(),
            error.column()
        ))
    })
}

/// The body of an error response, with the fields that either platform uses.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ErrorBody {
    errors: Value,
    message: Option<String>,
    error_description: Option<String>,
    error: Option<String>,
}

/// Returns the start of the platform's description of an error, or a fixed text if the response has no description.
fn message(body: &[u8]) -> String {
    let short = Some(body).filter(|body| body.len() <= limits::PROVIDER_ERROR_BYTES_MAX);
    let body: ErrorBody = short.and_then(|body| serde_json::from_slice(body).ok()).unwrap_or_default();
    let text = match body.errors {
        Value::String(text) => Some(text),
        Value::Array(errors) => errors.first().and_then(|error| error["message"].as_str()).map(str::to_owned),
        _ => body.message.or(body.error_description).or(body.error),
    };
    text.map(|text| plain(&text))
        .filter(|text| !text.trim().is_empty())
        .unwrap_or_else(|| "the platform gave no reason".to_owned())
}

/// Parses a response, and returns the description of an error. This is a fuzz target.
#[cfg(any(test, fuzzing))]
pub fn read_response(body: &[u8]) -> String {
    let answer = parse::<GraphqlAnswer<Value>>(body, "graphql").ok();
    let pause = answer.and_then(|answer| answer.extensions?.cost?.pause());
    assert!(pause.is_none_or(|pause| pause.as_secs_f64() <= limits::PROVIDER_PAUSE_MS as f64 / 1e3), "{pause:?}");
    message(body)
}

/// Returns the start of a platform's text, without control characters.
pub fn plain(text: &str) -> String {
    const SHOWN: usize = 300;
    text.chars().filter(|character| !character.is_control()).take(SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_paused_until_it_has_the_points_for_the_next_request() {
        let pause = |requested: f64, available: f64, rate: f64| {
            let throttle_status = ThrottleStatus { currently_available: available, restore_rate: rate };
            Cost { requested_query_cost: requested, throttle_status }.pause().map(|pause| pause.as_millis())
        };
        assert_eq!(pause(10.0, 990.0, 50.0), None);
        assert_eq!(pause(110.0, 10.0, 50.0), Some(2_000));
        assert_eq!(pause(110.0, 10.0, 0.0), Some(60_000), "a rate of zero waits no longer than a minute");
    }

    #[test]
    fn the_description_of_each_platform_is_found() {
        for (body, text) in [
            (r#"{"errors":"[API] Invalid API key or access token"}"#, "[API] Invalid API key or access token"),
            (r#"{"errors":[{"message":"Throttled"}]}"#, "Throttled"),
            (
                r#"{"code":"woocommerce_rest_cannot_view","message":"Sorry, you cannot list resources.","data":{"status":401}}"#,
                "Sorry, you cannot list resources.",
            ),
            (
                r#"{"error":"shop_not_permitted","error_description":"Client credentials cannot be performed on this shop."}"#,
                "Client credentials cannot be performed on this shop.",
            ),
            ("<html>", "the platform gave no reason"),
            (
                format!("{{\"errors\":[{}0]}}", "[],".repeat(limits::PROVIDER_ERROR_BYTES_MAX)).as_str(),
                "the platform gave no reason",
            ),
        ] {
            assert_eq!(message(body.as_bytes()), text);
        }
    }

    #[test]
    fn a_response_with_too_many_values_is_not_parsed() {
        let body = format!("[{}0]", "[],".repeat(limits::PROVIDER_RESPONSE_VALUES_MAX));
        let error = parse::<Value>(body.as_bytes(), "/products").expect_err("the response has too many values");
        assert_eq!(error, PlatformError::Malformed("the response from /products contains too many JSON values".to_owned()));
    }
}
