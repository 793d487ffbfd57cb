//! Checks links: first with HEAD and, if that fails, with GET, within limits for the whole process and for each domain.
//!
//! Results are cached for a short time, so that a repeated check does not load the linked sites again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};
use url::Url;

use super::probe::{Probe, ProbeMethod, ProbeOptions};
use super::{Fetch, FetchError};
use crate::base::clock::Timestamp;
use crate::base::domain::registrable;
use crate::vocab::limits::{LINK_CHECKS_AT_ONCE, LINK_CHECKS_PER_DOMAIN, LINK_RESULTS_MAX, LINK_RESULTS_MS};

/// The pause before a request is repeated after a server error.
const PAUSE: Duration = Duration::from_millis(300);
/// The minimum time that must remain after a pause. If less would remain, no further attempt is made.
const ATTEMPT_TIME_MIN: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub struct LinkReport {
    pub probe: Probe,
    /// The time until the result, excluding the time spent waiting for other links.
    pub time: Duration,
    /// The time limit of the check.
    limit: Duration,
}

impl LinkReport {
    /// Returns whether a check with this time limit could have a different result.
    fn may_change(&self, limit: Duration) -> bool {
        limit > self.limit && matches!(self.probe.outcome, Err(FetchError::TimedOut { .. }))
    }
}

#[derive(Clone, Copy)]
pub struct LinkCheck {
    pub follows: bool,
    /// Returns whether a URL may be requested with GET.
    pub may_get: fn(&Url) -> bool,
    /// The time limit for all attempts together.
    pub total: Duration,
}

/// The limits and the cached results of link checks.
pub struct LinkProbes {
    results: Mutex<HashMap<String, (Timestamp, Arc<LinkReport>)>>,
    turns: Semaphore,
    domains: Mutex<HashMap<String, Arc<Semaphore>>>,
}

impl Default for LinkProbes {
    fn default() -> Self {
        Self { results: Mutex::default(), turns: Semaphore::new(LINK_CHECKS_AT_ONCE), domains: Mutex::default() }
    }
}

impl LinkProbes {
    /// Checks a link, or returns a recent cached result.
    pub async fn check(&self, fetch: &Fetch, url: &Url, check: LinkCheck, now: Timestamp) -> Arc<LinkReport> {
        let mut plain = url.clone();
        plain.set_fragment(None);
        let key = format!("{} {plain}", check.follows);
        let known =
            self.results().get(&key).filter(|(at, _)| now.ms_since(*at) < LINK_RESULTS_MS).map(|(_, report)| report.clone());
        if let Some(report) = known.filter(|report| !report.may_change(check.total)) {
            return report;
        }
        let domain = self.domain(url);
        let _domain = domain.acquire().await.expect("the semaphore is never closed");
        let _turn = self.turns.acquire().await.expect("the semaphore is never closed");
        let start = Instant::now();
        let probe = attempts(fetch, &plain, check, start + check.total).await;
        let report = Arc::new(LinkReport { probe, time: start.elapsed(), limit: check.total });
        if report.probe.outcome.as_ref().err() != Some(&FetchError::NoDescriptors) {
            self.keep(key, report.clone(), now);
        }
        report
    }

    fn keep(&self, key: String, report: Arc<LinkReport>, now: Timestamp) {
        let mut results = self.results();
        if results.len() >= LINK_RESULTS_MAX {
            results.retain(|_, (at, _)| now.ms_since(*at) < LINK_RESULTS_MS);
        }
        while results.len() >= LINK_RESULTS_MAX {
            let oldest = results.iter().min_by_key(|(_, (at, _))| *at).map(|(key, _)| key.clone());
            let Some(oldest) = oldest else { break };
            results.remove(&oldest);
        }
        results.insert(key, (now, report));
    }

    /// Returns the semaphore of the URL's registrable domain. Semaphores that no check uses are dropped.
    fn domain(&self, url: &Url) -> Arc<Semaphore> {
        let host = url.host_str().unwrap_or_default();
        let name = url.domain().and_then(registrable).unwrap_or(host).to_owned();
        let mut domains = self.domains.lock().expect("no holder of this lock panics");
        domains.retain(|known, semaphore| *known == name || Arc::strong_count(semaphore) > 1);
        domains.entry(name).or_insert_with(|| Arc::new(Semaphore::new(LINK_CHECKS_PER_DOMAIN))).clone()
    }

    fn results(&self) -> MutexGuard<'_, HashMap<String, (Timestamp, Arc<LinkReport>)>> {
        self.results.lock().expect("no holder of this lock panics")
    }
}

/// Requests a URL until a response is final: with HEAD, then with GET, and again with GET after a server error or after the pause
/// that the server requests.
async fn attempts(fetch: &Fetch, url: &Url, check: LinkCheck, end: Instant) -> Probe {
    let LinkCheck { follows, may_get, total } = check;
    let left = || end.saturating_duration_since(Instant::now());
    let ask = async |method, limit: Duration| {
        fetch.probe(url, ProbeOptions { method, follows, may_get, total: limit.min(left()) }).await
    };
    // Some servers never answer HEAD requests, so half of the time is left for GET.
    let mut probe = ask(ProbeMethod::Head, total / 2).await;
    let mut state = AttemptState { gets: may_get(url), ..AttemptState::default() };
    // At most three requests follow: GET, GET after a server error, and GET after the pause that the server requests.
    for _ in 0..3 {
        let Some(pause) = state.pause(&probe, left()).filter(|pause| *pause + ATTEMPT_TIME_MIN < left()) else { break };
        sleep(pause).await;
        probe = ask(ProbeMethod::FirstByte, total).await;
    }
    probe
}

#[derive(Default)]
struct AttemptState {
    gets: bool,
    attempts: u32,
    has_waited: bool,
    server_errors: u32,
}

impl AttemptState {
    /// Returns the pause before the next attempt, or `None` if the result is final.
    fn pause(&mut self, probe: &Probe, left: Duration) -> Option<Duration> {
        let is_first = self.attempts == 0;
        self.attempts += 1;
        let response = match &probe.outcome {
            Ok(response) => response,
            Err(FetchError::Closed { .. } | FetchError::Protocol { .. } | FetchError::TimedOut { .. }) => {
                return (is_first && self.gets).then_some(Duration::ZERO);
            }
            Err(_) => return None,
        };
        let status = response.status.as_u16();
        if status < 400 {
            return None;
        }
        let asked = response.retry_after.as_deref().and_then(|seconds| seconds.trim().parse().ok()).map(Duration::from_secs);
        if let (429 | 503, Some(asked)) = (status, asked) {
            let waits = !self.has_waited && asked < left;
            self.has_waited = true;
            return waits.then_some(asked);
        }
        if status >= 500 && status != 501 {
            self.server_errors += 1;
            return (self.server_errors == 1).then_some(PAUSE);
        }
        (is_first && self.gets).then_some(Duration::ZERO)
    }
}
