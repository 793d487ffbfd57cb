//! Makes one attempt: builds the headers and signatures, sends the request, and interprets the response.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::StatusCode;
use tokio::time::Instant;
use url::Url;

use super::super::headers::{self, DeliveryHeaders};
use super::super::model::{AttemptOutcome, End, Webhook, headers_context};
use super::super::signature::Signer;
use super::attempt_log::{StartedAttempt, attempt_id, excerpt};
use crate::base::clock::Timestamp;
use crate::engine::api::Engine;
use crate::engine::fetch::{FetchError, PostRequest, PostResponse};
use crate::vocab::limits;

/// The secret for the main signature during the grace period after a rotation, when two secrets are valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SigningSecret {
    /// The current secret.
    Newest,
    /// The secret before the current one.
    Previous,
}

/// Makes an attempt. Returns its result for the log, and its outcome.
pub async fn make(engine: &Engine, started: &StartedAttempt, secret: SigningSecret) -> (End, AttemptOutcome) {
    let start = Instant::now();
    let outcome = send(engine, started, secret).await;
    let now = engine.clock.now();
    let duration_ms = u32::try_from(start.elapsed().as_millis()).unwrap_or(u32::MAX);
    let end = End { at: now, duration_ms, status_code: None, response: String::new(), error: None };
    let (end, verdict) = match outcome {
        Ok(answer) => {
            let verdict = verdict(&answer, now);
            let error = error_of(&answer);
            (End { status_code: Some(answer.status.as_u16()), response: excerpt(&answer.body), error, ..end }, verdict)
        }
        Err(NoResponse { reason, outcome }) => (End { error: Some(reason), ..end }, outcome),
    };
    let (webhook, delivery, attempt) = (started.webhook.id, started.delivery.id, started.number);
    tracing::debug!(%webhook, %delivery, attempt, status = end.status_code, error = end.error, duration_ms, ?verdict, "webhook delivery");
    (end, verdict)
}

/// Why an attempt received no response, and what that means for the delivery.
struct NoResponse {
    reason: String,
    outcome: AttemptOutcome,
}

impl From<FetchError> for NoResponse {
    fn from(error: FetchError) -> Self {
        let is_own = error == FetchError::NoDescriptors;
        let outcome = if is_own { AttemptOutcome::NotSent } else { AttemptOutcome::Failure };
        Self { reason: error.to_string(), outcome }
    }
}

/// Returns the result of an attempt whose request cannot be sent for this reason.
fn unusable(reason: &str) -> NoResponse {
    NoResponse { reason: reason.to_owned(), outcome: AttemptOutcome::Failure }
}

async fn send(engine: &Engine, started: &StartedAttempt, secret: SigningSecret) -> Result<PostResponse, NoResponse> {
    let StartedAttempt { webhook, delivery, number, body } = started;
    let settings = &engine.settings.webhooks;
    let url: Url = webhook.url.parse().map_err(|_| unusable("The webhook's URL is invalid."))?;
    if url.scheme() != "https" && !settings.allow_http {
        return Err(unusable(
            "Deliveries require https; change the webhook's URL, or ask the operator to set webhooks.allow_http.",
        ));
    }
    let now = engine.clock.now();
    let signers = signers(engine, webhook, now)
        .ok_or_else(|| unusable("The webhook's secret could not be decrypted; check whether the master key has changed."))?;
    let mut ordered: Vec<&Signer> = signers.iter().collect();
    if secret == SigningSecret::Previous {
        ordered.reverse();
    }
    let custom = custom_headers(engine, webhook)
        .ok_or_else(|| unusable("The webhook's headers could not be decrypted; check whether the master key has changed."))?;
    let (event, attempt) = (delivery.event.to_string(), attempt_id(delivery.id, *number));
    let delivery_headers = DeliveryHeaders {
        word: settings.header_word.as_str(),
        event_type: &delivery.event_type,
        event: &event,
        attempt: &attempt,
        is_test: delivery.is_test(),
        at: now,
        body,
        signers: &ordered,
        standard: webhook.standard_signature,
    };
    let shipment = PostRequest {
        url: &url,
        headers: headers::write(&custom, &delivery_headers),
        body: Bytes::clone(body),
        total: limits::WEBHOOK_ATTEMPT_TIME,
        read_bytes_max: limits::WEBHOOK_RESPONSE_BYTES_READ,
        answer_bytes_max: limits::WEBHOOK_ANSWER_BYTES_MAX,
    };
    engine.fetch.deliver(shipment).await.map_err(NoResponse::from)
}

/// Returns the current secret and, during its grace period, the previous secret. Returns `None` if the current secret cannot be
/// decrypted.
fn signers(engine: &Engine, webhook: &Webhook, now: Timestamp) -> Option<Vec<Signer>> {
    let open = |sealed: &[u8]| Signer::open(&engine.seal, webhook.account, webhook.id, sealed);
    let mut signers = vec![open(&webhook.sealed_secret)?];
    signers.extend(webhook.previous_secret(now).and_then(|previous| open(&previous.sealed)));
    Some(signers)
}

/// Decrypts the webhook's custom headers. Returns `None` if they cannot be decrypted.
pub fn custom_headers(engine: &Engine, webhook: &Webhook) -> Option<BTreeMap<String, String>> {
    if webhook.sealed_headers.is_empty() {
        return Some(BTreeMap::new());
    }
    let bytes = engine.seal.open(&headers_context(webhook.account, webhook.id), &webhook.sealed_headers)?;
    serde_json::from_slice(&bytes).ok()
}

/// Determines the outcome of an attempt from the response.
fn verdict(answer: &PostResponse, now: Timestamp) -> AttemptOutcome {
    match answer.status {
        status if status.is_success() => AttemptOutcome::Success,
        StatusCode::GONE => AttemptOutcome::Gone,
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
            let asked = answer.retry_after.as_deref().and_then(|text| retry_after_ms(text, now));
            asked.map_or(AttemptOutcome::Failure, |ms| AttemptOutcome::Wait {
                ms: ms.clamp(0, limits::WEBHOOK_RETRY_AFTER_MAX_MS),
            })
        }
        _ => AttemptOutcome::Failure,
    }
}

fn error_of(answer: &PostResponse) -> Option<String> {
    let status = answer.status;
    if status.is_success() {
        return None;
    }
    Some(match status {
        StatusCode::GONE => "The endpoint returned 410 Gone.".to_owned(),
        status if matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) => {
            format!("The endpoint redirects ({}); redirects are not followed.", status.as_u16())
        }
        status => format!("The endpoint returned {}, which is not 2xx.", status.as_u16()),
    })
}

/// Parses a `Retry-After` header: a number of seconds or an HTTP date (RFC 9110 §10.2.3).
fn retry_after_ms(text: &str, now: Timestamp) -> Option<i64> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<u32>() {
        return Some(i64::from(seconds) * 1000);
    }
    let date = jiff::fmt::rfc2822::parse(text).ok()?;
    Some(Timestamp(date.timestamp().as_millisecond()).ms_since(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, retry_after: Option<&str>) -> PostResponse {
        let status = StatusCode::from_u16(status).expect("the response has a status");
        PostResponse { status, retry_after: retry_after.map(str::to_owned), body: Vec::new() }
    }

    #[test]
    fn only_2xx_is_success() {
        for (status, wanted) in [
            (200, AttemptOutcome::Success),
            (204, AttemptOutcome::Success),
            (299, AttemptOutcome::Success),
            (301, AttemptOutcome::Failure),
            (304, AttemptOutcome::Failure),
            (400, AttemptOutcome::Failure),
            (404, AttemptOutcome::Failure),
            (410, AttemptOutcome::Gone),
            (429, AttemptOutcome::Failure),
            (500, AttemptOutcome::Failure),
            (503, AttemptOutcome::Failure),
        ] {
            assert_eq!(verdict(&answer(status, None), Timestamp(0)), wanted, "{status}");
            assert_eq!(error_of(&answer(status, None)).is_none(), wanted == AttemptOutcome::Success);
        }
    }

    #[test]
    fn only_a_lack_of_own_resources_is_not_an_attempt() {
        assert_eq!(NoResponse::from(FetchError::NoDescriptors).outcome, AttemptOutcome::NotSent);
        let refused = FetchError::ConnectionRefused { host: "a.example".into() };
        assert_eq!(NoResponse::from(refused).outcome, AttemptOutcome::Failure);
    }

    #[test]
    fn retry_after_is_bounded_and_used_for_two_statuses_only() {
        let now = Timestamp(1_767_225_600_000);
        for (status, text, wanted) in [
            (429, "7", AttemptOutcome::Wait { ms: 7_000 }),
            (503, " 0 ", AttemptOutcome::Wait { ms: 0 }),
            (503, "Thu, 01 Jan 2026 00:00:30 GMT", AttemptOutcome::Wait { ms: 30_000 }),
            (429, "Wed, 31 Dec 2025 23:00:00 GMT", AttemptOutcome::Wait { ms: 0 }),
            (429, "99999999", AttemptOutcome::Wait { ms: limits::WEBHOOK_RETRY_AFTER_MAX_MS }),
            (429, "soon", AttemptOutcome::Failure),
            (429, "-1", AttemptOutcome::Failure),
            (500, "7", AttemptOutcome::Failure),
        ] {
            assert_eq!(verdict(&answer(status, Some(text)), now), wanted, "{status} {text}");
        }
    }

    #[test]
    fn a_stored_response_is_short_and_has_no_control_characters() {
        assert_eq!(excerpt(b"ok\n\x1b[31m\xff"), "ok\n [31m\u{fffd}");
        assert_eq!(excerpt(&vec![b'x'; 100_000]).len(), limits::WEBHOOK_RESPONSE_CHARACTERS_KEPT);
    }
}
