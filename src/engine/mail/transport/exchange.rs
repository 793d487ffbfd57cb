//! Sends one message over one connection to one server: over an idle connection if there is one, otherwise over a new one.

use std::net::{IpAddr, SocketAddr};

use rustls_pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};
use url::Host;

use super::pool::PoolSlot;
use super::relay::{Relay, Security};
use super::{Delivery, Transport};
use crate::engine::mail::delivery::{BeforeDot, Cause, DeliveryOutcome, Handoff, Stage};
use crate::engine::mail::smtp::{ConnectError, Credentials, Reply, Session, SessionOptions, TlsDemand, TlsInfo};
use crate::vocab::limits::SMTP_ADDRESSES_TRIED_MAX;

pub struct ServerRoute {
    /// The key of the route in the pool: connections with the same key are interchangeable.
    leads_to: String,
    host: Host,
    port: u16,
    kind: RouteKind,
}

enum RouteKind {
    Relay { security: Security, credentials: Option<Credentials>, is_this_machine: bool },
    Exchanger { proven: bool },
}

pub enum Attempt {
    Done(DeliveryOutcome),
    /// The server lacks a capability that this message needs.
    Lacks(Reply),
    /// No connection could be opened.
    Broken(ConnectError),
}

/// How a connection to a recipient's server is encrypted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ExchangerTls {
    /// The connection uses the encryption that the server offers.
    AsOffered,
    /// The connection is not encrypted, because the encryption that the server offers did not work.
    Clear,
}

impl ServerRoute {
    pub fn to_relay(index: usize, relay: Relay) -> Self {
        let is_this_machine = relay.is_this_machine();
        let Relay { host, port, security, credentials, .. } = relay;
        let kind = RouteKind::Relay { security, credentials, is_this_machine };
        Self { leads_to: format!("relay {index}"), host, port, kind }
    }

    /// Returns the route to a server of a recipient's domain. If `proven` is true, the server must prove its name with a valid
    /// certificate.
    pub fn to_exchanger(host: &str, port: u16, proven: bool) -> Self {
        let leads_to = format!("{} {host}", if proven { "proven" } else { "exchanger" });
        Self { leads_to, host: Host::Domain(host.to_owned()), port, kind: RouteKind::Exchanger { proven } }
    }

    pub fn server(&self) -> String {
        self.host.to_string()
    }

    fn is_opportunistic(&self) -> bool {
        matches!(self.kind, RouteKind::Exchanger { proven: false })
    }

    fn name(&self) -> Result<ServerName<'static>, ConnectError> {
        match &self.host {
            Host::Ipv4(address) => Ok(ServerName::from(IpAddr::V4(*address))),
            Host::Ipv6(address) => Ok(ServerName::from(IpAddr::V6(*address))),
            Host::Domain(name) => ServerName::try_from(name.trim_end_matches('.').to_owned())
                .map_err(|error| ConnectError { stage: Stage::Tls, cause: Cause::Insecure(error.to_string()) }),
        }
    }
}

impl Transport {
    /// Sends a message over the route `way`.
    pub(super) async fn attempt(
        &self,
        way: &ServerRoute,
        place: PoolSlot<'_>,
        delivery: &mut Delivery<'_, impl BeforeDot>,
    ) -> Attempt {
        let mut session = match self.rested(way, &place).await {
            Some(session) => session,
            None => match self.open(way, &place).await {
                Ok(session) => session,
                Err(broken) => return Attempt::Broken(broken),
            },
        };
        loop {
            let done = session.transact(delivery.envelope, delivery.message, delivery.before_dot).await;
            if done.was_dead {
                // The server closed the idle connection. A new connection is not reported as dead, so this happens only once.
                session = match self.open(way, &place).await {
                    Ok(session) => session,
                    Err(broken) => return Attempt::Broken(broken),
                };
                continue;
            }
            if done.keep && !session.is_used_up() {
                place.put(&way.leads_to, session, Instant::now());
            } else if done.keep {
                session.leave().await;
            }
            return match done.outcome {
                DeliveryOutcome::Refused { reply, .. } if done.lacks => Attempt::Lacks(reply),
                outcome => Attempt::Done(outcome),
            };
        }
    }

    /// Opens a connection over the route `way` to check that it works, and closes it.
    pub(super) async fn greet(&self, way: &ServerRoute, place: &PoolSlot<'_>) -> Result<(), String> {
        match self.open(way, place).await {
            Ok(session) => {
                session.leave().await;
                Ok(())
            }
            Err(ConnectError { cause, .. }) => Err(cause.to_string()),
        }
    }

    /// Returns an idle connection for the route `way` that is still alive, if there is one.
    async fn rested(&self, way: &ServerRoute, place: &PoolSlot<'_>) -> Option<Session> {
        while let Some(mut session) = place.take(&way.leads_to) {
            if session.is_alive().await {
                return Some(session);
            }
        }
        None
    }

    async fn open(&self, way: &ServerRoute, place: &PoolSlot<'_>) -> Result<Session, ConnectError> {
        if let Some(other) = place.make_room() {
            other.leave().await;
        }
        let addresses = self.addresses(way).await?;
        match self.open_covered(way, &addresses, ExchangerTls::AsOffered).await {
            // If opportunistic encryption does not work, a delivery in clear text is better than none.
            Err(ConnectError { stage: Stage::Tls, cause }) if way.is_opportunistic() && cause != Cause::Stopping => {
                self.open_covered(way, &addresses, ExchangerTls::Clear).await
            }
            opened => opened,
        }
    }

    async fn open_covered(&self, way: &ServerRoute, addresses: &[IpAddr], cover: ExchangerTls) -> Result<Session, ConnectError> {
        let (stream, address) = self.connect(addresses, way.port).await?;
        let insecure = |why| ConnectError { stage: Stage::Tls, cause: Cause::Insecure(why) };
        let proven = || Ok(TlsInfo { config: self.encryption.proven().map_err(insecure)?, name: way.name()? });
        let (demand, credentials, is_this_machine) = match &way.kind {
            RouteKind::Relay { security, credentials, is_this_machine } => {
                let demand = match security {
                    Security::FromTheStart => TlsDemand::FromTheStart(proven()?),
                    Security::Required => TlsDemand::Required(proven()?),
                    Security::Clear => TlsDemand::Clear,
                };
                (demand, credentials.as_ref(), *is_this_machine)
            }
            RouteKind::Exchanger { proven: true } => (TlsDemand::Required(proven()?), None, false),
            RouteKind::Exchanger { proven: false } if cover == ExchangerTls::Clear => (TlsDemand::Clear, None, false),
            RouteKind::Exchanger { proven: false } => {
                let secured = TlsInfo { config: self.encryption.unproven(), name: way.name()? };
                (TlsDemand::IfOffered(secured), None, false)
            }
        };
        let begin = SessionOptions {
            hello: &self.hello,
            how: Handoff { server: way.server(), address: Some(address), encrypted: false },
            demand,
            credentials,
            is_this_machine,
            timeouts: &self.timeouts,
        };
        Session::begin(Box::new(stream), begin, self.stop()).await
    }

    async fn addresses(&self, way: &ServerRoute) -> Result<Vec<IpAddr>, ConnectError> {
        let unresolved = |why: String| ConnectError { stage: Stage::Route, cause: Cause::Unresolved(why) };
        let name = match &way.host {
            Host::Ipv4(address) => return Ok(vec![IpAddr::V4(*address)]),
            Host::Ipv6(address) => return Ok(vec![IpAddr::V6(*address)]),
            Host::Domain(name) => name,
        };
        let looking = async {
            match (&way.kind, &self.direct) {
                (RouteKind::Exchanger { .. }, Some(direct)) => direct.addresses(name).await,
                (RouteKind::Exchanger { .. } | RouteKind::Relay { .. }, _) => {
                    let found = self.resolver.resolve(name).await.map_err(|error| error.to_string())?;
                    if found.is_empty() { Err("DNS has no IP address for the mail server".to_owned()) } else { Ok(found) }
                }
            }
        };
        let stopping = ConnectError { stage: Stage::Route, cause: Cause::Stopping };
        match self.unless_stopped(timeout(self.timeouts.connect, looking)).await.ok_or(stopping)? {
            Ok(found) => found.map_err(unresolved),
            Err(_) => Err(unresolved("the name servers did not respond in time".to_owned())),
        }
    }

    /// Connects to the first address that accepts a connection.
    async fn connect(&self, addresses: &[IpAddr], port: u16) -> Result<(TcpStream, SocketAddr), ConnectError> {
        let mut cause = Cause::Unreachable("DNS has no IP address for the mail server".to_owned());
        for address in addresses.iter().take(SMTP_ADDRESSES_TRIED_MAX) {
            let address = SocketAddr::new(*address, port);
            let connecting = timeout(self.timeouts.connect, TcpStream::connect(address));
            let stopping = ConnectError { stage: Stage::Connect, cause: Cause::Stopping };
            let connected = self.unless_stopped(connecting).await.ok_or(stopping)?;
            match connected {
                Ok(Ok(stream)) => {
                    // Nagle's algorithm is turned off: each command is one write, and the final dot must not be delayed.
                    let _ = stream.set_nodelay(true);
                    return Ok((stream, address));
                }
                Ok(Err(error)) => cause = Cause::Unreachable(error.to_string()),
                Err(_) => cause = Cause::Unreachable("no response".to_owned()),
            }
        }
        Err(ConnectError { stage: Stage::Connect, cause })
    }
}
