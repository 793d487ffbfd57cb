//! Direct delivery to the recipients' own servers (RFC 5321 §5.1): finds a domain's servers and the order in which they are tried.
//!
//! Invariant: connections go only to public IP addresses, and to networks that the operator has allowed.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use tokio::time::{Duration, Instant, timeout};

use super::exchange::{Attempt, ServerRoute};
use super::host_throttle::{BackedOff, HostThrottle};
use super::lookup::{Lookup, LookupError};
use super::sts::Policies;
use super::{Delivery, Transport, left_alone, stopping};
use crate::base::random::Random;
use crate::engine::fetch::Guard;
use crate::engine::mail::delivery::{BeforeDot, Cause, DeliveryOutcome, Stage};
use crate::engine::mail::smtp::{ConnectError, EnhancedCode, Reply};
use crate::vocab::limits::{
    SMTP_DESTINATION_SHARE, SMTP_DESTINATIONS_MAX, SMTP_EXCHANGER_PAUSE_MAX, SMTP_EXCHANGER_PAUSE_MIN, SMTP_EXCHANGERS_TRIED_MAX,
    SMTP_PAUSE_MAX, SMTP_PAUSE_MIN,
};

/// The first and the longest pause for an unreachable server, which usually recovers within minutes or hours.
const AWAY: (Duration, Duration) = (SMTP_EXCHANGER_PAUSE_MIN, SMTP_EXCHANGER_PAUSE_MAX);
/// The first and the longest pause for a server that reports overload.
const BUSY: (Duration, Duration) = (SMTP_PAUSE_MIN, SMTP_PAUSE_MAX);

/// A highly available mail server, used to check whether this machine's network allows outgoing mail at all.
const WELL_KNOWN_SERVER: &str = "gmail-smtp-in.l.google.com";

/// A mail server of a domain, from an MX record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchanger {
    /// The order in which servers are tried: lower numbers first.
    pub preference: u16,
    /// The server's name. An empty name or a single dot means that the domain does not accept mail (RFC 7505).
    pub host: String,
}

/// The DNS data for routing mail. Names are in ASCII.
pub trait MailExchangers: Send + Sync + 'static {
    /// Returns the MX records of a domain, in any order. The list is empty if the domain exists but has no MX records.
    fn exchangers<'a>(&'a self, domain: &'a str) -> Lookup<'a, Vec<Exchanger>>;
    /// Returns the IPv4 and IPv6 addresses of a host. The list is empty if the host exists but has no addresses.
    fn addresses<'a>(&'a self, host: &'a str) -> Lookup<'a, Vec<IpAddr>>;
}

/// The state of direct delivery: DNS, MTA-STS policies, and the throttles of the recipients' servers.
pub struct Direct {
    exchangers: Box<dyn MailExchangers>,
    policies: Policies,
    guard: Guard,
    random: Arc<dyn Random>,
    port: u16,
    turns_max: usize,
    /// The throttles, keyed by the alphabetically first of a domain's servers, so that domains with the same servers share a throttle.
    paces: Mutex<HashMap<String, Arc<HostThrottle>>>,
    /// The domains whose servers a delivery found paused or unreachable, with the throttle of these servers. Messages to these domains are
    /// not rendered until the pause ends.
    resting: Mutex<HashMap<String, Arc<HostThrottle>>>,
}

impl Direct {
    /// Creates the state. `connections` is the maximum number of connections to all servers together.
    pub fn new(
        exchangers: Box<dyn MailExchangers>,
        policies: Policies,
        guard: Guard,
        random: Arc<dyn Random>,
        port: u16,
        connections: usize,
    ) -> Self {
        let turns_max = (connections / SMTP_DESTINATION_SHARE).max(1);
        Self { exchangers, policies, guard, random, port, turns_max, paces: Mutex::default(), resting: Mutex::default() }
    }

    /// Returns the route to [`WELL_KNOWN_SERVER`].
    pub fn route_to_probe(&self) -> ServerRoute {
        ServerRoute::to_exchanger(WELL_KNOWN_SERVER, self.port, false)
    }

    /// Returns a server's IP addresses that the guard allows.
    pub async fn addresses(&self, host: &str) -> Result<Vec<IpAddr>, String> {
        let found = self.exchangers.addresses(host).await.map_err(|error| error.to_string())?;
        if found.is_empty() {
            return Err("DNS has no IP address for the mail server".to_owned());
        }
        let admitted: Vec<IpAddr> = found.into_iter().filter(|address| self.guard.admits(*address)).collect();
        match admitted.is_empty() {
            true => {
                let message = "the mail server has no public IP address; if it is in your own network, add that network to \
                               outbound.allow_networks";
                Err(message.to_owned())
            }
            false => Ok(admitted),
        }
    }

    /// Drops throttles that no delivery uses and that have no state worth keeping.
    pub fn forget_those_at_rest(&self) {
        let mut paces = self.paces.lock().expect("no holder of this lock panics");
        paces.retain(|_, throttle| Arc::strong_count(throttle) > 1 || !throttle.is_at_rest());
    }

    fn throttle(&self, host: &str) -> Arc<HostThrottle> {
        let mut paces = self.paces.lock().expect("no holder of this lock panics");
        if paces.len() >= SMTP_DESTINATIONS_MAX && !paces.contains_key(host) {
            paces.retain(|_, throttle| Arc::strong_count(throttle) > 1);
        }
        paces.entry(host.to_owned()).or_insert_with(|| Arc::new(HostThrottle::new(self.turns_max))).clone()
    }

    /// Returns the pause of a domain's servers, if an earlier delivery recorded that the servers are paused, and the pause has not ended.
    pub fn known_to_rest(&self, domain: &str, now: Instant) -> Option<BackedOff> {
        let mut known = self.resting.lock().expect("no holder of this lock panics");
        let resting = known.get(domain)?.resting(now);
        if resting.is_none() {
            known.remove(domain);
        }
        resting
    }

    fn note_resting(&self, domain: &str, throttle: &Arc<HostThrottle>) {
        let mut known = self.resting.lock().expect("no holder of this lock panics");
        if known.len() >= SMTP_DESTINATIONS_MAX {
            known.clear();
        }
        known.insert(domain.to_owned(), throttle.clone());
    }

    /// Returns the servers of a domain in the order in which to try them, or the outcome of the delivery if there are none.
    async fn route(&self, domain: &str) -> Result<Vec<String>, DeliveryOutcome> {
        let refused = |code, enhanced, text: String| {
            Err(DeliveryOutcome::Refused { stage: Stage::Route, reply: Reply::ours(code, enhanced, text) })
        };
        let unresolved = |why| Err(DeliveryOutcome::Deferred { stage: Stage::Route, cause: Cause::Unresolved(why) });
        let mut found = match self.exchangers.exchangers(domain).await {
            Ok(found) => found,
            Err(LookupError::NoSuchName) => {
                return refused(
                    550,
                    EnhancedCode::new(5, 1, 2),
                    format!("The domain {domain} does not exist; check the spelling of the address."),
                );
            }
            Err(LookupError::Failed(why)) => return unresolved(why),
        };
        if found.is_empty() {
            // If a domain has no MX records, the domain itself is the server.
            return match self.exchangers.addresses(domain).await {
                Ok(addresses) if !addresses.is_empty() => Ok(vec![domain.to_owned()]),
                Ok(_) | Err(LookupError::NoSuchName) => refused(
                    550,
                    EnhancedCode::new(5, 4, 4),
                    format!("The domain {domain} has no mail server; check the spelling of the address."),
                ),
                Err(LookupError::Failed(why)) => unresolved(why),
            };
        }
        if found.iter().all(|exchanger| matches!(exchanger.host.as_str(), "" | ".")) {
            return refused(
                556,
                EnhancedCode::new(5, 1, 10),
                format!("The domain {domain} does not accept mail; use a different address."),
            );
        }
        for exchanger in &mut found {
            exchanger.host = exchanger.host.trim_end_matches('.').to_ascii_lowercase();
        }
        // A null MX next to other MX records is a misconfiguration and is ignored.
        found.retain(|exchanger| !exchanger.host.is_empty());
        let mut drawn: Vec<([u8; 4], Exchanger)> = found.into_iter().map(|exchanger| (self.random.bytes(), exchanger)).collect();
        // Servers of equal preference are tried in random order, which spreads the load (RFC 5321 §5.1).
        drawn.sort_by_key(|(random, exchanger)| (exchanger.preference, *random));
        Ok(drawn.into_iter().map(|(_, exchanger)| exchanger.host).collect())
    }
}

impl Transport {
    /// Delivers to the first usable server of the recipient's domain.
    pub(super) async fn by_exchangers(
        &self,
        direct: &Direct,
        domain: &str,
        mut delivery: Delivery<'_, impl BeforeDot>,
    ) -> DeliveryOutcome {
        let Some(routed) = self.unless_stopped(timeout(self.timeouts.connect, direct.route(domain))).await else {
            return stopping();
        };
        let hosts = match routed {
            Ok(Ok(hosts)) => hosts,
            Ok(Err(outcome)) => return outcome,
            Err(_) => {
                return DeliveryOutcome::Deferred {
                    stage: Stage::Route,
                    cause: Cause::Unresolved("the name servers did not respond in time".to_owned()),
                };
            }
        };
        let Some(applied) = self.unless_stopped(direct.policies.apply(domain, hosts, Instant::now())).await else {
            return stopping();
        };
        let (hosts, proven) = match applied {
            Ok(applied) => applied,
            Err(why) => return DeliveryOutcome::Deferred { stage: Stage::Tls, cause: Cause::Insecure(why) },
        };
        // Use the alphabetically first name, so that domains share the throttle even if they list the same servers in a different
        // order.
        let first = hosts.iter().min().expect("a route has servers");
        let throttle = direct.throttle(first);
        if let Some(resting) = throttle.resting(Instant::now()) {
            direct.note_resting(domain, &throttle);
            return left_alone(&resting);
        }
        let Some(mut turn) = self.unless_stopped(throttle.enter()).await else { return stopping() };
        if let Err(resting) = turn.try_it(Instant::now(), self.timeouts.connect + self.timeouts.command) {
            direct.note_resting(domain, &throttle);
            return left_alone(&resting);
        }
        let mut last: Option<ConnectError> = None;
        let mut lacking: Option<Reply> = None;
        for host in hosts.iter().take(SMTP_EXCHANGERS_TRIED_MAX) {
            let Some(place) = self.unless_stopped(self.pool.place()).await else { return stopping() };
            let way = ServerRoute::to_exchanger(host, direct.port, proven);
            match self.attempt(&way, place, &mut delivery).await {
                Attempt::Done(outcome) => {
                    self.learn(&way, &mut turn, &outcome);
                    return outcome;
                }
                Attempt::Lacks(reply) => lacking = Some(reply),
                Attempt::Broken(broken) if broken.cause == Cause::Stopping => return stopping(),
                Attempt::Broken(broken) => {
                    if matches!(&broken.cause, Cause::Reply(reply) if reply.is_transient()) {
                        turn.complained();
                    }
                    last = Some(broken);
                }
            }
        }
        match (lacking, last) {
            (Some(reply), _) => {
                turn.reached();
                DeliveryOutcome::Refused { stage: Stage::Sender, reply }
            }
            (None, last) => {
                let ConnectError { stage, cause } = last.expect("a route has servers, and every attempt has a result");
                let is_busy = matches!(&cause, Cause::Reply(reply) if reply.is_transient());
                turn.failed(Instant::now(), cause.to_string(), if is_busy { BUSY } else { AWAY });
                direct.note_resting(domain, &throttle);
                DeliveryOutcome::Deferred { stage, cause }
            }
        }
    }
}
