//! MTA-STS (RFC 8461): the policies of domains that require encrypted connections to verified servers.
//!
//! A domain announces its policy in DNS and publishes it on a website; [`PolicySource`] provides both. A policy is cached for as long as
//! the policy itself states, up to [`STS_AGE_MAX`], so that an attacker who blocks a lookup today cannot disable yesterday's policy. The
//! cache is lost when the process ends.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;
use url::Url;

use super::lookup::{Lookup, LookupError};
use crate::engine::fetch::{Fetch, Limits, OversizePolicy};
use crate::vocab::limits::{
    SMTP_DESTINATIONS_MAX, STS_AGE_MAX, STS_FETCH_TIME, STS_POLICY_BYTES_MAX, STS_POLICY_HOSTS_MAX, STS_RECHECK_AFTER,
};

pub trait PolicySource: Send + Sync + 'static {
    /// Returns the TXT records of a name, with the strings of each record joined. The list is empty if the name does not exist or has no
    /// TXT records.
    fn texts<'a>(&'a self, name: &'a str) -> Lookup<'a, Vec<String>>;
    /// Returns the file at this URL, fetched over a verified connection. A redirect is an error.
    fn file<'a>(&'a self, url: &'a Url) -> Lookup<'a, String>;
}

/// Fetches the policy file with the HTTP client.
pub async fn fetched(fetch: &Fetch, url: &Url) -> Result<String, LookupError> {
    let limits = Limits {
        head: STS_FETCH_TIME,
        total: STS_FETCH_TIME,
        body_bytes: STS_POLICY_BYTES_MAX,
        overlong: OversizePolicy::Refuse,
    };
    let fetched = fetch.get(url, "text/plain", &limits).await.map_err(|error| LookupError::Failed(error.to_string()))?;
    let is_plain = fetched.header("content-type").is_some_and(|kind| kind.trim_start().starts_with("text/plain"));
    if fetched.url != *url || fetched.status != http::StatusCode::OK || !is_plain {
        return Err(LookupError::Failed(format!(
            "{url} did not return an MTA-STS policy: the response must have the status 200 and the type text/plain, without a redirect"
        )));
    }
    String::from_utf8(fetched.body).map_err(|_| LookupError::Failed(format!("the MTA-STS policy at {url} is not UTF-8 text")))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Whether servers outside the policy must be skipped. False if the policy is in testing mode or withdrawn.
    is_enforced: bool,
    /// The names of the allowed servers; a name that starts with `*.` matches all names that have exactly one label in place of the
    /// asterisk.
    hosts: Vec<String>,
    max_age: Duration,
}

impl Policy {
    /// Parses a policy (RFC 8461 §3.2).
    fn parse(text: &str) -> Option<Self> {
        let (mut version, mut mode, mut max_age, mut hosts) = (None, None, None, Vec::new());
        for line in text.lines() {
            let Some((key, value)) = line.split_once(':') else { continue };
            let value = value.trim();
            match key.trim() {
                "version" if version.is_none() => version = Some(value),
                "mode" if mode.is_none() => mode = Some(value),
                "max_age" if max_age.is_none() => max_age = value.parse::<u64>().ok(),
                "mx" if hosts.len() < STS_POLICY_HOSTS_MAX => hosts.push(value.trim_end_matches('.').to_ascii_lowercase()),
                _ => {}
            }
        }
        let is_enforced = match (version?, mode?) {
            ("STSv1", "enforce") => !hosts.is_empty(),
            ("STSv1", "testing" | "none") => false,
            _ => return None,
        };
        Some(Self { is_enforced, hosts, max_age: Duration::from_secs(max_age?).min(STS_AGE_MAX) })
    }

    fn allows(&self, host: &str) -> bool {
        let fits = |pattern: &String| match pattern.strip_prefix("*.") {
            Some(parent) => host.split_once('.').is_some_and(|(_, rest)| rest == parent),
            None => pattern == host,
        };
        self.hosts.iter().any(fits)
    }
}

pub struct Policies {
    source: Box<dyn PolicySource>,
    known: Mutex<HashMap<String, CachedPolicy>>,
}

#[derive(Clone)]
struct CachedPolicy {
    /// The ID in the DNS record when the policy was read.
    id: Option<String>,
    policy: Option<Policy>,
    /// The end of the policy's validity.
    until: Instant,
    recheck_at: Instant,
}

impl Policies {
    pub fn new(source: Box<dyn PolicySource>) -> Self {
        Self { source, known: Mutex::default() }
    }

    /// Returns the servers in `hosts` that may receive mail for `domain`, and whether their names must be verified.
    pub async fn apply(&self, domain: &str, hosts: Vec<String>, now: Instant) -> Result<(Vec<String>, bool), String> {
        let Some(policy) = self.policy(domain, now).await.filter(|policy| policy.is_enforced) else { return Ok((hosts, false)) };
        let allowed: Vec<String> = hosts.into_iter().filter(|host| policy.allows(host)).collect();
        if allowed.is_empty() {
            return Err(format!("the MTA-STS policy of {domain} allows none of the domain's mail servers"));
        }
        Ok((allowed, true))
    }

    async fn policy(&self, domain: &str, now: Instant) -> Option<Policy> {
        let old = {
            let known = self.known.lock().expect("no holder of this lock panics");
            match known.get(domain) {
                Some(known) if known.recheck_at > now => return known.policy.clone().filter(|_| known.until > now),
                Some(known) if known.until > now => Some(known.clone()),
                _ => None,
            }
        };
        let id = self.id(domain).await;
        let is_news = id.is_some() && old.as_ref().is_none_or(|old| old.id != id);
        let found = if is_news { self.fetch(domain).await } else { None };
        let recheck_at = now + STS_RECHECK_AFTER;
        let known = match (found, old) {
            (Some(new), _) => CachedPolicy { id, until: now + new.max_age, policy: Some(new), recheck_at },
            // The cached policy stays valid if no newer policy is found.
            (None, Some(old)) => CachedPolicy { recheck_at, ..old },
            (None, None) => CachedPolicy { id: None, policy: None, until: now, recheck_at },
        };
        let policy = known.policy.clone();
        self.remember(domain, known, now);
        policy
    }

    fn remember(&self, domain: &str, news: CachedPolicy, now: Instant) {
        let mut known = self.known.lock().expect("no holder of this lock panics");
        if known.len() >= SMTP_DESTINATIONS_MAX {
            // If the cache is full, expired policies and domains without a policy are removed, and are looked up again when needed.
            known.retain(|_, known| known.until > now);
        }
        if known.len() < SMTP_DESTINATIONS_MAX {
            known.insert(domain.to_owned(), news);
        }
    }

    /// Returns the policy ID in the DNS record, if exactly one record announces a policy.
    async fn id(&self, domain: &str) -> Option<String> {
        let texts = self.source.texts(&format!("_mta-sts.{domain}")).await.ok()?;
        let mut records = texts.iter().filter(|text| text.trim_start().starts_with("v=STSv1"));
        let record = records.next().filter(|_| records.next().is_none())?;
        let id = record.split(';').find_map(|field| field.trim().strip_prefix("id="))?;
        Some(id.trim().to_owned())
    }

    async fn fetch(&self, domain: &str) -> Option<Policy> {
        let url = format!("https://mta-sts.{domain}/.well-known/mta-sts.txt").parse().ok()?;
        match self.source.file(&url).await {
            Ok(text) => Policy::parse(&text),
            Err(error) => {
                tracing::info!(domain, %error, "failed to read the MTA-STS policy");
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// A fake domain whose DNS record and policy file the test sets.
    #[derive(Default)]
    struct Site {
        record: Mutex<Vec<String>>,
        text: Mutex<Option<String>>,
        fetches: AtomicUsize,
    }

    struct Source(Arc<Site>);

    impl PolicySource for Source {
        fn texts<'a>(&'a self, name: &'a str) -> Lookup<'a, Vec<String>> {
            assert_eq!(name, "_mta-sts.example.com");
            let found = self.0.record.lock().expect("no holder of this lock panics").clone();
            Box::pin(std::future::ready(Ok(found)))
        }

        fn file<'a>(&'a self, url: &'a Url) -> Lookup<'a, String> {
            assert_eq!(url.as_str(), "https://mta-sts.example.com/.well-known/mta-sts.txt");
            self.0.fetches.fetch_add(1, Ordering::SeqCst);
            let found = self.0.text.lock().expect("no holder of this lock panics").clone();
            Box::pin(std::future::ready(found.ok_or_else(|| LookupError::Failed("404".to_owned()))))
        }
    }

    fn site(record: &[&str], text: Option<&str>) -> (Arc<Site>, Policies) {
        let site = Arc::new(Site::default());
        set(&site, record, text);
        (site.clone(), Policies::new(Box::new(Source(site))))
    }

    fn set(site: &Site, record: &[&str], text: Option<&str>) {
        *site.record.lock().expect("no holder of this lock panics") = record.iter().map(|text| (*text).to_owned()).collect();
        *site.text.lock().expect("no holder of this lock panics") = text.map(str::to_owned);
    }

    const ENFORCED: &str = "version: STSv1\r\nmode: enforce\r\nmx: mail.example.com\r\nmx: *.example.net.\r\nmax_age: 86400\r\n";

    fn hosts() -> Vec<String> {
        ["mail.example.com", "evil.example", "mx1.example.net", "a.mx1.example.net", "example.net"].map(str::to_owned).to_vec()
    }

    #[tokio::test]
    async fn an_enforced_policy_leaves_only_the_servers_that_it_names() {
        let (_, policies) = site(&["v=spf1 -all", "v=STSv1; id=1;"], Some(ENFORCED));
        let now = Instant::now();
        let allowed = vec!["mail.example.com".to_owned(), "mx1.example.net".to_owned()];
        assert_eq!(policies.apply("example.com", hosts(), now).await, Ok((allowed, true)));
        assert!(policies.apply("example.com", vec!["evil.example".to_owned()], now).await.is_err());
    }

    #[tokio::test]
    async fn without_a_valid_policy_nothing_changes() {
        let testing = ENFORCED.replace("enforce", "testing");
        for (record, text) in [
            (&[][..], Some(ENFORCED)),
            (&["v=STSv1; id=1", "v=STSv1; id=2"], Some(ENFORCED)),
            (&["v=STSv1"], Some(ENFORCED)),
            (&["v=STSv1; id=1"], None),
            (&["v=STSv1; id=1"], Some(testing.as_str())),
            (&["v=STSv1; id=1"], Some("version: STSv2\nmode: enforce\nmx: a\nmax_age: 1")),
            (&["v=STSv1; id=1"], Some("version: STSv1\nmode: enforce\nmx: a")),
            (&["v=STSv1; id=1"], Some("<html>")),
        ] {
            let (_, policies) = site(record, text);
            assert_eq!(policies.apply("example.com", hosts(), Instant::now()).await, Ok((hosts(), false)), "{record:?} {text:?}");
        }
    }

    #[tokio::test]
    async fn a_policy_is_cached_and_read_again_when_it_changes() {
        let (site, policies) = site(&["v=STSv1; id=1;"], Some(ENFORCED));
        let start = Instant::now();
        let is_enforced = async |seconds| {
            let applied = policies.apply("example.com", hosts(), start + Duration::from_secs(seconds)).await;
            applied.expect("the policy allows a mail server").1
        };
        assert!(is_enforced(0).await && is_enforced(1).await);
        // Removing the DNS record or closing the website does not disable the cached policy.
        set(&site, &[], None);
        assert!(is_enforced(7_200).await);
        set(&site, &["v=STSv1; id=2;"], None);
        assert!(is_enforced(14_400).await);
        assert_eq!(site.fetches.load(Ordering::SeqCst), 2);
        set(&site, &["v=STSv1; id=1;"], None);
        assert!(is_enforced(21_600).await);
        assert_eq!(site.fetches.load(Ordering::SeqCst), 2, "a policy with an unchanged ID is not read again");
        set(&site, &["v=STSv1; id=3;"], Some("version: STSv1\nmode: none\nmax_age: 86400"));
        assert!(!is_enforced(28_800).await);
        let (site, policies) = self::site(&["v=STSv1; id=1;"], Some(ENFORCED));
        let applied = async |seconds| policies.apply("example.com", hosts(), start + Duration::from_secs(seconds)).await;
        assert!(applied(0).await.expect("the policy allows a mail server").1);
        set(&site, &[], None);
        assert!(
            applied(86_000).await.expect("the policy allows a mail server").1
                && !applied(90_000).await.expect("the policy allows a mail server").1,
            "the cached policy is valid until it expires"
        );
    }
}
