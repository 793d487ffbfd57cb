//! Delivers messages to other servers: through relays, or directly to the recipients' servers.
//!
//! [`Transport::deliver`] delivers one finished message to one recipient, and returns the outcome. It chooses the route: the relays in the
//! order of the setting, with those for the recipient's domain first, or else the mail exchangers of the recipient. It reuses connections,
//! skips servers that are down, and does not try another server once the message might have been accepted.
//!
//! The transport stores nothing: the caller records each delivery, first when [`BeforeDot`] is called and then when the outcome is
//! returned.

mod direct;
mod exchange;
mod host_throttle;
mod lookup;
mod pool;
pub mod relay;
mod sts;
#[cfg(test)]
mod tests;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use rustls_pki_types::CertificateDer;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, timeout, timeout_at};
use url::{Host, Url};

pub use direct::{Exchanger, MailExchangers};
pub use lookup::{Lookup, LookupError};
pub use sts::{PolicySource, fetched};

use self::direct::Direct;
use self::exchange::{Attempt, ServerRoute};
use self::host_throttle::{BackedOff, HostThrottle, ThrottleSlot};
use self::pool::{Pool, PoolSlot};
use self::relay::Relay;
use self::sts::Policies;
use super::delivery::{BeforeDot, Cause, DeliveryOutcome, Envelope, Stage};
use super::smtp::{ConnectError, Reply, Stop, StopStage, Timeouts, TlsConnectors};
use crate::base::random::Random;
use crate::engine::fetch::{Guard, Resolve};
use crate::vocab::limits::{SMTP_PAUSE_MAX, SMTP_PAUSE_MIN};
use crate::vocab::settings::Settings;

pub struct Parts {
    /// Resolves the addresses of relays.
    pub resolver: Box<dyn Resolve>,
    /// Finds the mail servers of a domain.
    pub exchangers: Box<dyn MailExchangers>,
    /// Finds the MTA-STS policies of domains.
    pub policies: Box<dyn PolicySource>,
    pub random: Arc<dyn Random>,
    /// The certificate authorities that are used in addition to the machine's own.
    pub roots: Vec<CertificateDer<'static>>,
    /// The port of mail exchangers: 25 except in tests.
    pub exchanger_port: u16,
    pub timeouts: Timeouts,
}

pub struct Transport {
    relays: Vec<RelayHost>,
    direct: Option<Direct>,
    pool: Pool,
    hello: String,
    encryption: TlsConnectors,
    resolver: Box<dyn Resolve>,
    timeouts: Timeouts,
    ending: watch::Sender<StopStage>,
    /// Wakes the deliveries that are waiting for a relay. Notified when a relay's throttle has changed.
    news: Notify,
}

struct RelayHost {
    way: ServerRoute,
    domains: Vec<String>,
    throttle: HostThrottle,
}

/// The result of [`Transport::close`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloseReport {
    /// The number of deliveries that had not ended within the grace period and were cut off.
    pub cut: usize,
}

impl Transport {
    pub fn new(settings: &Settings, parts: Parts) -> Self {
        let mail = &settings.mail;
        let connections = mail.connections.count();
        let relays = relay::relays(&mail.relay).expect("the settings were checked at startup");
        let relay_host = |(index, relay): (usize, Relay)| RelayHost {
            domains: relay.domains.clone(),
            way: ServerRoute::to_relay(index, relay),
            throttle: HostThrottle::new(connections),
        };
        let guard = Guard::new(settings.outbound.allow_networks.clone());
        let direct = mail.direct.then(|| {
            Direct::new(parts.exchangers, Policies::new(parts.policies), guard, parts.random, parts.exchanger_port, connections)
        });
        Self {
            relays: relays.into_iter().enumerate().map(relay_host).collect(),
            direct,
            pool: Pool::new(connections),
            hello: hello_name(settings),
            encryption: TlsConnectors::new(&parts.roots),
            resolver: parts.resolver,
            timeouts: parts.timeouts,
            ending: watch::Sender::new(StopStage::Running),
            news: Notify::new(),
        }
    }

    /// Delivers one message to one recipient.
    ///
    /// Dropping the future aborts the delivery as a crash would: if the final dot was already sent, the outcome is unknown.
    pub async fn deliver(&self, envelope: &Envelope, message: &[u8], before_dot: &mut impl BeforeDot) -> DeliveryOutcome {
        let domain = envelope.recipient.domain_ascii().to_ascii_lowercase();
        let for_domain = self.relays.iter().filter(|relay| relay.domains.contains(&domain));
        let for_all = self.relays.iter().filter(|relay| relay.domains.is_empty());
        let relays: Vec<&RelayHost> = for_domain.chain(for_all).collect();
        let delivery = Delivery { envelope, message, before_dot };
        match (&self.direct, relays.is_empty()) {
            (_, false) => self.by_relays(relays, delivery).await,
            (Some(direct), true) => self.by_exchangers(direct, &domain, delivery).await,
            (None, true) => {
                let why = "no relay in the setting mail.relay accepts this domain, and mail.direct is off";
                DeliveryOutcome::Deferred { stage: Stage::Route, cause: Cause::NoRoute(why) }
            }
        }
    }

    /// Checks whether the servers are usable now: connects to each server, encrypts and logs in as for a delivery, and quits. Direct
    /// delivery is checked with a well-known server. No message is sent.
    pub async fn probe(&self) -> Vec<(String, Result<(), String>)> {
        let mut probed = Vec::new();
        for relay_host in &self.relays {
            let place = self.pool.place().await;
            probed.push((relay_host.way.server(), self.greet(&relay_host.way, &place).await));
        }
        if let Some(direct) = &self.direct {
            let way = direct.route_to_probe();
            let place = self.pool.place().await;
            probed.push((way.server(), self.greet(&way, &place).await));
        }
        probed
    }

    /// Returns why a message to this domain should not be rendered now, if the reason is known without contacting a server.
    pub fn left_alone(&self, domain: &str) -> Option<Cause> {
        let resting = self.direct.as_ref()?.known_to_rest(domain, Instant::now())?;
        Some(Cause::LeftAlone { rest: resting.rest(Instant::now()), why: resting.why })
    }

    /// Closes connections that have been idle for too long, and drops unused throttles. Runs until the service stops.
    pub async fn maintain(&self) {
        let mut stop = self.stop();
        while !stop.is(StopStage::Draining) {
            tokio::select! {
                () = sleep(self.timeouts.idle / 2) => {}
                () = stop.reached(StopStage::Draining) => return,
            }
            for session in self.pool.rested(Instant::now(), self.timeouts.idle) {
                session.quit().await;
            }
            if let Some(direct) = &self.direct {
                direct.forget_those_at_rest();
            }
        }
    }

    /// Starts no new deliveries, waits up to `grace` for running ones, then cuts off those that are still running. A delivery that is cut
    /// off after its final dot was sent ends as [`DeliveryOutcome::Unknown`].
    pub async fn close(&self, grace: Duration) -> CloseReport {
        self.ending.send_replace(StopStage::Draining);
        let mut cut = 0;
        if timeout(grace, self.pool.all_free()).await.is_err() {
            cut = self.pool.in_use();
            self.ending.send_replace(StopStage::Cut);
            // The deliveries that are still running are storing their handoff, which must not be interrupted.
            self.pool.all_free().await;
        }
        for session in self.pool.rested(Instant::now(), Duration::ZERO) {
            session.leave().await;
        }
        self.ending.send_replace(StopStage::Cut);
        CloseReport { cut }
    }

    fn stop(&self) -> Stop {
        Stop(self.ending.subscribe())
    }

    /// Returns the result of `waiting`, or `None` if the service stops first.
    async fn unless_stopped<T>(&self, waiting: impl Future<Output = T>) -> Option<T> {
        let mut stop = self.stop();
        tokio::select! {
            biased;
            () = stop.reached(StopStage::Draining) => None,
            done = waiting => Some(done),
        }
    }

    /// Waits for a slot at this server, then for one in the pool. Because of this order, a delivery that is waiting for a slow server does
    /// not occupy a slot in the pool.
    async fn turn<'a>(&'a self, throttle: &'a HostThrottle) -> Option<(ThrottleSlot<'a>, PoolSlot<'a>)> {
        self.unless_stopped(async { (throttle.enter().await, self.pool.place().await) }).await
    }

    /// Delivers through the first reachable relay. If none is reachable, waits for a limited time.
    async fn by_relays(&self, mut relays: Vec<&RelayHost>, mut delivery: Delivery<'_, impl BeforeDot>) -> DeliveryOutcome {
        let deadline = Instant::now() + self.timeouts.patience;
        let mut last: Option<ConnectError> = None;
        let mut lacking: Option<Reply> = None;
        loop {
            // Subscribe before reading the state, so that no change is missed.
            let news = self.news.notified();
            let now = Instant::now();
            let Some(at) = relays.iter().position(|relay| relay.throttle.resting(now).is_none()) else {
                if let (true, Some(reply)) = (relays.is_empty(), lacking.take()) {
                    return DeliveryOutcome::Refused { stage: Stage::Sender, reply };
                }
                let rests = relays.iter().filter_map(|relay| relay.throttle.resting(now)).min_by_key(|resting| resting.until);
                // If no relay is paused, a relay has just recovered, so try again without waiting.
                if let Some(resting) = rests {
                    if now >= deadline {
                        return given_up(last, &resting);
                    }
                    let waited = self.unless_stopped(timeout_at(resting.until.min(deadline), news)).await;
                    if waited.is_none() {
                        return stopping();
                    }
                }
                continue;
            };
            let relay_host = relays[at];
            let Some((mut turn, place)) = self.turn(&relay_host.throttle).await else { return stopping() };
            if turn.try_it(Instant::now(), self.timeouts.connect + self.timeouts.command).is_err() {
                continue;
            }
            match self.attempt(&relay_host.way, place, &mut delivery).await {
                Attempt::Done(outcome) => {
                    self.learn(&relay_host.way, &mut turn, &outcome);
                    return outcome;
                }
                Attempt::Lacks(reply) => {
                    self.reached(&relay_host.way, &mut turn);
                    lacking = Some(reply);
                    relays.remove(at);
                }
                Attempt::Broken(broken) if broken.cause == Cause::Stopping => return stopping(),
                Attempt::Broken(broken) => {
                    self.avoid(&relay_host.way, &mut turn, &broken);
                    last = Some(broken);
                }
            }
        }
    }

    /// Updates the server's throttle after a delivery that reached the server.
    fn learn(&self, way: &ServerRoute, turn: &mut ThrottleSlot<'_>, outcome: &DeliveryOutcome) {
        self.reached(way, turn);
        match outcome {
            DeliveryOutcome::Deferred { stage, cause: Cause::Reply(reply) } if reply.code == 421 || *stage <= Stage::Sender => {
                turn.complained();
            }
            DeliveryOutcome::Accepted { .. } => turn.went_well(),
            DeliveryOutcome::Deferred { .. }
            | DeliveryOutcome::Refused { .. }
            | DeliveryOutcome::Unknown { .. }
            | DeliveryOutcome::Abandoned => {}
        }
    }

    fn reached(&self, way: &ServerRoute, turn: &mut ThrottleSlot<'_>) {
        if turn.reached() {
            tracing::info!(server = way.server(), "the mail server can be reached again");
            self.news.notify_waiters();
        }
    }

    /// Updates the server's throttle after a failed connection: lowers the server's limit, or pauses deliveries to the server.
    fn avoid(&self, way: &ServerRoute, turn: &mut ThrottleSlot<'_>, broken: &ConnectError) {
        let is_crowded = matches!(&broken.cause, Cause::Reply(reply) if reply.is_transient());
        if is_crowded && turn.complained() {
            self.reached(way, turn);
            return;
        }
        let cause = broken.cause.to_string();
        if turn.failed(Instant::now(), cause.clone(), (SMTP_PAUSE_MIN, SMTP_PAUSE_MAX)) {
            tracing::warn!(server = way.server(), stage = ?broken.stage, cause, "the mail server is unusable for now");
        }
        self.news.notify_waiters();
    }
}

struct Delivery<'a, B> {
    envelope: &'a Envelope,
    message: &'a [u8],
    before_dot: &'a mut B,
}

fn stopping() -> DeliveryOutcome {
    DeliveryOutcome::Deferred { stage: Stage::Connect, cause: Cause::Stopping }
}

fn given_up(last: Option<ConnectError>, resting: &BackedOff) -> DeliveryOutcome {
    match last {
        Some(ConnectError { stage, cause }) => DeliveryOutcome::Deferred { stage, cause },
        None => left_alone(resting),
    }
}

fn left_alone(resting: &BackedOff) -> DeliveryOutcome {
    let cause = Cause::LeftAlone { why: resting.why.clone(), rest: resting.rest(Instant::now()) };
    DeliveryOutcome::Deferred { stage: Stage::Connect, cause }
}

/// Returns the host name for EHLO: from the settings, or else from the public URL, or else the machine's own, or `localhost` if that is not
/// a valid host name.
pub fn hello_name(settings: &Settings) -> String {
    if let Some(name) = &settings.mail.hello_name {
        return name.clone();
    }
    let public = settings.server.public_url.as_deref().and_then(|url| Url::parse(url).ok());
    let public = public.and_then(|url| match url.host() {
        Some(Host::Domain(name)) => Some(name.to_owned()),
        Some(Host::Ipv4(address)) => Some(format!("[{address}]")),
        Some(Host::Ipv6(address)) => Some(format!("[IPv6:{address}]")),
        None => None,
    });
    public.unwrap_or_else(|| {
        let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let is_name = |name: &&str| !name.is_empty() && matches!(Host::parse(name), Ok(Host::Domain(_)));
        Some(name.trim()).filter(is_name).unwrap_or("localhost").to_owned()
    })
}

/// Returns whether this is a valid host name or address literal for EHLO.
pub fn is_hello_name(name: &str) -> bool {
    match name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(inner) => inner.strip_prefix("IPv6:").unwrap_or(inner).parse::<IpAddr>().is_ok(),
        None => matches!(Host::parse(name), Ok(Host::Domain(parsed)) if parsed == name.to_ascii_lowercase()),
    }
}
