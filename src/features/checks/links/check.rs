//! Checks the URLs in an email: groups their uses, requests the URLs whose status depends on the server, and derives each status from the
//! response.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::model::{self, LinkStatus, Surroundings, Verdict};
use crate::base::clock::Timestamp;
use crate::engine::fetch::{Fetch, FetchError, LinkCheck, LinkProbes, LinkReport};
use crate::engine::render::inspect::{LinkKind, LinkUse, Links};
use crate::vocab::limits;

/// Why a link that needs a request was not checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unchecked {
    /// The time limit was reached.
    Late,
    /// This server cannot resolve any host name.
    Offline,
    /// The email has too many different links.
    TooMany,
}

impl Unchecked {
    /// Returns the reason as the end of a sentence such as "The link was not checked: …".
    fn reason(self) -> String {
        match self {
            Self::Late => "the time limit was reached. Run the checks again.".to_owned(),
            Self::Offline => "this server cannot resolve host names. Ask the operator to check its DNS settings.".to_owned(),
            Self::TooMany => format!("the email has more than {} different links.", limits::LINKS_CHECKED_MAX),
        }
    }
}

/// A URL of an email, with all its uses.
#[derive(Debug)]
pub struct CheckedUrl {
    pub url: String,
    /// The indexes in [`Links::uses`] of the places that use the URL; the first use determines the URL's kind, such as link or image.
    pub uses: Vec<usize>,
    pub status: LinkStatus,
    /// Why the status is neither `ok` nor `redirected`.
    pub error: Option<String>,
    /// Why a necessary request was not completed.
    pub unchecked: Option<Unchecked>,
    /// The result of the requests, if any were sent.
    pub report: Option<Arc<LinkReport>>,
    /// Whether the URL leads to this service or to a network that the operator has allowed. The settings of the installation, not
    /// the email, determine whether such a URL has a host name and TLS.
    pub is_own: bool,
}

/// The URLs of an email after a link check.
#[derive(Debug)]
pub struct CheckedLinks {
    /// The URLs in the order of their first use in the email.
    pub urls: Vec<CheckedUrl>,
    /// Whether every URL within the limit was checked.
    pub is_complete: bool,
}

impl CheckedLinks {
    /// Returns a sentence with the number of links that were not checked, and the reason for the first of them.
    pub fn unchecked(&self) -> Option<String> {
        let reasons: Vec<Unchecked> = self.urls.iter().filter_map(|one| one.unchecked).collect();
        let reason = reasons.first()?.reason();
        Some(match reasons.len() {
            1 => format!("1 link was not checked: {reason}"),
            count => format!("{count} links were not checked: {reason}"),
        })
    }
}

/// Checks links with the HTTP client and the link probes of the engine.
pub struct LinkChecker<'a> {
    pub fetch: &'a Fetch,
    pub probes: &'a LinkProbes,
    /// The base URL of this service.
    pub base: &'a str,
    pub now: Timestamp,
}

#[derive(Clone, Copy, Debug)]
pub struct LinkOptions {
    pub follows: bool,
    /// The time limit for each link.
    pub each: Duration,
    /// The time limit for all links.
    pub all: Duration,
}

/// A request to send: the index of the URL, the parsed URL, and the rule that decides whether a GET request is allowed.
type LinkRequest = (usize, Url, fn(&Url) -> bool);

impl LinkChecker<'_> {
    /// Checks the URLs without sending requests.
    pub fn read(&self, links: &Links) -> CheckedLinks {
        let (mut urls, requests) = self.classified(links);
        for (index, ..) in &requests {
            if let Some(checked) = urls.get_mut(*index) {
                checked.error = Some("The link was not requested.".to_owned());
                checked.unchecked = None;
            }
        }
        CheckedLinks { urls, is_complete: requests.is_empty() }
    }

    /// Checks the URLs. URLs beyond the maximum number of requests, and URLs whose check does not finish within the time limit for all
    /// links, get the status `Skipped`.
    pub async fn check(&self, links: &Links, options: LinkOptions) -> CheckedLinks {
        let end = Instant::now() + options.all;
        let (mut urls, requests) = self.classified(links);
        let requested = requests.len();
        let mut running: FuturesUnordered<_> = requests.iter().map(|request| self.request(request, options)).collect();
        let mut done = 0;
        while let Ok(Some((index, report))) = timeout_at(end, running.next()).await {
            done += 1;
            if let Some(checked) = urls.get_mut(index) {
                (checked.status, checked.error) = status(&report);
                checked.unchecked = None;
                checked.report = Some(report);
            }
        }
        let is_offline = self.set_aside_unresolved(&mut urls).await;
        CheckedLinks { urls, is_complete: done == requested && !is_offline }
    }

    /// If this machine cannot resolve any name, skips the URLs whose hosts were not found. Returns whether it skipped any.
    async fn set_aside_unresolved(&self, urls: &mut [CheckedUrl]) -> bool {
        let is_unknown = |checked: &CheckedUrl| {
            let outcome = checked.report.as_ref().map(|report| &report.probe.outcome);
            outcome.is_some_and(|outcome| outcome.as_ref().is_err_and(FetchError::is_unknown_name))
        };
        if !urls.iter().any(is_unknown) || self.fetch.resolves_names().await {
            return false;
        }
        for checked in urls.iter_mut().filter(|checked| is_unknown(checked)) {
            checked.status = LinkStatus::Skipped;
            checked.error = Some(format!("The link was not checked: {}", Unchecked::Offline.reason()));
            checked.unchecked = Some(Unchecked::Offline);
        }
        true
    }

    /// Returns all URLs, and the requests to send for the URLs whose status depends on the server's response.
    fn classified(&self, links: &Links) -> (Vec<CheckedUrl>, Vec<LinkRequest>) {
        let around = Surroundings { fetch: self.fetch, base: self.base, targets: &links.targets };
        let mut urls = Vec::new();
        let mut requests = Vec::new();
        for (url, uses) in grouped(&links.uses) {
            let kind = uses.first().and_then(|first| links.uses.get(*first)).map_or(LinkKind::Link, |first| first.kind);
            let (status, error, unchecked) = match model::verdict(&url, kind, &around) {
                Verdict::Final(status, reason) => (status, reason, None),
                Verdict::Request(parsed) => {
                    let is_requested = requests.len() < limits::LINKS_CHECKED_MAX;
                    if is_requested {
                        requests.push((urls.len(), parsed, may_get(links, &uses)));
                    }
                    let unchecked = if is_requested { Unchecked::Late } else { Unchecked::TooMany };
                    (LinkStatus::Skipped, format!("The link was not checked: {}", unchecked.reason()), Some(unchecked))
                }
            };
            let is_own = is_own(self.fetch, self.base, &url);
            urls.push(CheckedUrl { url, uses, status, error: Some(error), unchecked, report: None, is_own });
        }
        (urls, requests)
    }

    async fn request(&self, (index, url, may_get): &LinkRequest, options: LinkOptions) -> (usize, Arc<LinkReport>) {
        let check = LinkCheck { follows: options.follows, may_get: *may_get, total: options.each };
        (*index, self.probes.check(self.fetch, url, check, self.now).await)
    }
}

/// Returns whether a URL leads to this service at `base`, or to an address in a network that the operator has allowed.
pub fn is_own(fetch: &Fetch, base: &str, url: &str) -> bool {
    let base = base.trim_end_matches('/');
    let is_here =
        !base.is_empty() && url.strip_prefix(base).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?', '#']));
    is_here || Url::parse(url).is_ok_and(|url| fetch.is_in_allowed_network(&url))
}

/// Returns the distinct URLs with the indexes of their uses, in the order of their first use.
fn grouped(uses: &[LinkUse]) -> Vec<(String, Vec<usize>)> {
    let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    for (index, one) in uses.iter().enumerate() {
        match known.get(one.url.as_str()).and_then(|place| groups.get_mut(*place)) {
            Some((_, places)) => places.push(index),
            None => {
                known.insert(&one.url, groups.len());
                groups.push((one.url.clone(), vec![index]));
            }
        }
    }
    groups
}

/// Returns the rule that decides whether a URL gets a GET request. If any use of the URL suggests that opening it changes something,
/// the URL never gets a GET request.
fn may_get(links: &Links, uses: &[usize]) -> fn(&Url) -> bool {
    let mut uses = uses.iter().filter_map(|index| links.uses.get(*index));
    let changes = |one: &LinkUse| {
        let mut texts = [&one.text, &one.rel, &one.around].into_iter();
        one.kind == LinkKind::Form || texts.any(|text| model::announces_change(text))
    };
    if uses.clone().any(changes) {
        return model::never;
    }
    if uses.any(|one| one.kind == LinkKind::Link) { model::may_get } else { model::may_get_file }
}

/// Returns the status of a link and, unless the link works, the reason.
pub fn status(report: &LinkReport) -> (LinkStatus, Option<String>) {
    let trail = &report.probe.trail;
    let because = |status, reason: &dyn std::fmt::Display| (status, Some(reason.to_string()));
    let response = match &report.probe.outcome {
        Ok(response) => response,
        Err(error) => return because(error_status(error, trail.sets_cookies), error),
    };
    let code = response.status.as_u16();
    let is_redirected = !trail.hops.is_empty() || response.redirects_to.is_some();
    let host = trail.url.host_str().unwrap_or_default();
    match code {
        200..=299 | 304 | 416 if is_redirected => (LinkStatus::Redirected, None),
        200..=299 | 304 | 416 => (LinkStatus::Ok, None),
        300..=399 if response.redirects_to.is_some() => (LinkStatus::Redirected, None),
        300..=399 => {
            because(LinkStatus::Broken, &format!("{host} redirects (status {code}), but the response contains no valid target."))
        }
        _ if response.is_bot_wall => because(
            LinkStatus::Unverifiable,
            &format!("{host} blocks automated requests (status {code}), so the link could not be checked. Open it in a browser."),
        ),
        401 | 402 | 403 | 405 | 406 | 407 | 418 | 451 | 501 | 999 => because(
            LinkStatus::Unverifiable,
            &format!(
                "{host} refuses automated requests (status {code}), so the link could not be checked. Open it in a browser."
            ),
        ),
        408 | 425 | 429 => because(
            LinkStatus::Unreachable,
            &format!("{host} asks to try again later (status {code}), so the link could not be checked."),
        ),
        404 | 410 => because(LinkStatus::Broken, &format!("The page does not exist (status {code}).")),
        500.. => because(LinkStatus::Broken, &format!("{host} reports a server error (status {code}).")),
        _ => because(LinkStatus::Broken, &format!("{host} rejected the request (status {code}).")),
    }
}

fn error_status(error: &FetchError, sets_cookies: bool) -> LinkStatus {
    match error {
        FetchError::Scheme(_) | FetchError::Credentials | FetchError::Port(_) | FetchError::NotPublic { .. } => {
            LinkStatus::Blocked
        }
        FetchError::Unresolved { .. } if error.is_unknown_name() => LinkStatus::Broken,
        FetchError::Tls { cause, .. } => {
            // An interrupted handshake means a broken connection. Other failures mean an invalid certificate or an unsupported protocol.
            let broke_off =
                ["eof", "reset", "broken pipe", "closed"].iter().any(|word| cause.to_ascii_lowercase().contains(word));
            if broke_off { LinkStatus::Unreachable } else { LinkStatus::Broken }
        }
        // Some sites redirect endlessly unless the client sends back their cookie.
        FetchError::TooManyRedirects { .. } if sets_cookies => LinkStatus::Unverifiable,
        FetchError::Unresolved { .. }
        | FetchError::Unreachable { .. }
        | FetchError::Closed { .. }
        | FetchError::TimedOut { .. }
        | FetchError::NoDescriptors => LinkStatus::Unreachable,
        FetchError::ConnectionRefused { .. }
        | FetchError::TooManyRedirects { .. }
        | FetchError::Redirect { .. }
        | FetchError::Protocol { .. }
        | FetchError::Encoding { .. }
        | FetchError::TooLarge { .. }
        | FetchError::Request(_) => LinkStatus::Broken,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lack_of_descriptors_is_not_a_broken_link() {
        assert_eq!(error_status(&FetchError::NoDescriptors, false), LinkStatus::Unreachable);
    }
}
