//! One message over one connection to one server: a resting connection if there is one, else a new one.

use std::net::{IpAddr, SocketAddr};

use rustls_pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};
use url::Host;

use super::pool::Place;
use super::relay::{Relay, Security};
use super::{Parcel, Transport};
use crate::engine::mail::delivery::{BeforeDot, Cause, Handoff, Outcome, Stage};
use crate::engine::mail::smtp::{Begin, Broken, Credentials, Demand, Reply, Secured, Session};
use crate::vocab::limits::SMTP_ADDRESSES_TRIED_MAX;

/// The way to a server.
pub struct Way {
    /// Connections with the same text can stand in for each other.
    leads_to: String,
    host: Host,
    port: u16,
    kind: Kind,
}

enum Kind {
    Relay { security: Security, credentials: Option<Credentials>, is_this_machine: bool },
    Exchanger { proven: bool },
}

/// What an attempt came to.
pub enum Attempt {
    Done(Outcome),
    /// The server lacks something that this message needs.
    Lacks(Reply),
    /// No connection that could be used.
    Broken(Broken),
}

/// How a connection to a recipient's server is encrypted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cover {
    /// As well as the server can.
    AsOffered,
    /// The encryption that it offers is broken.
    Clear,
}

impl Way {
    /// To a relay of the settings.
    pub fn to_relay(index: usize, relay: Relay) -> Self {
        let is_this_machine = relay.is_this_machine();
        let Relay { host, port, security, credentials, .. } = relay;
        let kind = Kind::Relay { security, credentials, is_this_machine };
        Self { leads_to: format!("relay {index}"), host, port, kind }
    }

    /// To a server of a recipient's domain, which may have to prove its name.
    pub fn to_exchanger(host: &str, port: u16, proven: bool) -> Self {
        let leads_to = format!("{} {host}", if proven { "proven" } else { "exchanger" });
        Self { leads_to, host: Host::Domain(host.to_owned()), port, kind: Kind::Exchanger { proven } }
    }

    /// The server's name.
    pub fn server(&self) -> String {
        self.host.to_string()
    }

    fn is_opportunistic(&self) -> bool {
        matches!(self.kind, Kind::Exchanger { proven: false })
    }

    fn name(&self) -> Result<ServerName<'static>, Broken> {
        match &self.host {
            Host::Ipv4(address) => Ok(ServerName::from(IpAddr::V4(*address))),
            Host::Ipv6(address) => Ok(ServerName::from(IpAddr::V6(*address))),
            Host::Domain(name) => ServerName::try_from(name.trim_end_matches('.').to_owned())
                .map_err(|error| Broken { stage: Stage::Tls, cause: Cause::Insecure(error.to_string()) }),
        }
    }
}

impl Transport {
    /// Hand a message over by this way.
    pub(super) async fn attempt(&self, way: &Way, place: Place<'_>, parcel: &mut Parcel<'_, impl BeforeDot>) -> Attempt {
        let mut session = match self.rested(way, &place).await {
            Some(session) => session,
            None => match self.open(way, &place).await {
                Ok(session) => session,
                Err(broken) => return Attempt::Broken(broken),
            },
        };
        loop {
            let done = session.transact(parcel.envelope, parcel.message, parcel.before_dot).await;
            if done.was_dead {
                // It had rested too long for the server. A fresh one is never told to be dead, so this happens once.
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
                Outcome::Refused { reply, .. } if done.lacks => Attempt::Lacks(reply),
                outcome => Attempt::Done(outcome),
            };
        }
    }

    /// Open a connection by this way and leave it again.
    pub(super) async fn greet(&self, way: &Way, place: &Place<'_>) -> Result<(), String> {
        match self.open(way, place).await {
            Ok(session) => {
                session.leave().await;
                Ok(())
            }
            Err(Broken { cause, .. }) => Err(cause.to_string()),
        }
    }

    /// A connection that rests and is alive.
    async fn rested(&self, way: &Way, place: &Place<'_>) -> Option<Session> {
        while let Some(mut session) = place.take(&way.leads_to) {
            if session.is_alive().await {
                return Some(session);
            }
        }
        None
    }

    async fn open(&self, way: &Way, place: &Place<'_>) -> Result<Session, Broken> {
        if let Some(other) = place.make_room() {
            other.leave().await;
        }
        let addresses = self.addresses(way).await?;
        match self.open_covered(way, &addresses, Cover::AsOffered).await {
            // Opportunistic encryption that does not work is worth less than clear text that arrives.
            Err(Broken { stage: Stage::Tls, cause }) if way.is_opportunistic() && cause != Cause::Stopping => {
                self.open_covered(way, &addresses, Cover::Clear).await
            }
            opened => opened,
        }
    }

    async fn open_covered(&self, way: &Way, addresses: &[IpAddr], cover: Cover) -> Result<Session, Broken> {
        let (stream, address) = self.connect(addresses, way.port).await?;
        let insecure = |why| Broken { stage: Stage::Tls, cause: Cause::Insecure(why) };
        let proven = || Ok(Secured { config: self.encryption.proven().map_err(insecure)?, name: way.name()? });
        let (demand, credentials, is_this_machine) = match &way.kind {
            Kind::Relay { security, credentials, is_this_machine } => {
                let demand = match security {
                    Security::FromTheStart => Demand::FromTheStart(proven()?),
                    Security::Required => Demand::Required(proven()?),
                    Security::Clear => Demand::Clear,
                };
                (demand, credentials.as_ref(), *is_this_machine)
            }
            Kind::Exchanger { proven: true } => (Demand::Required(proven()?), None, false),
            Kind::Exchanger { proven: false } if cover == Cover::Clear => (Demand::Clear, None, false),
            Kind::Exchanger { proven: false } => {
                let secured = Secured { config: self.encryption.unproven(), name: way.name()? };
                (Demand::IfOffered(secured), None, false)
            }
        };
        let begin = Begin {
            hello: &self.hello,
            how: Handoff { server: way.server(), address: Some(address), encrypted: false },
            demand,
            credentials,
            is_this_machine,
            timeouts: &self.timeouts,
        };
        Session::begin(Box::new(stream), begin, self.stop()).await
    }

    async fn addresses(&self, way: &Way) -> Result<Vec<IpAddr>, Broken> {
        let unresolved = |why: String| Broken { stage: Stage::Route, cause: Cause::Unresolved(why) };
        let name = match &way.host {
            Host::Ipv4(address) => return Ok(vec![IpAddr::V4(*address)]),
            Host::Ipv6(address) => return Ok(vec![IpAddr::V6(*address)]),
            Host::Domain(name) => name,
        };
        let looking = async {
            match (&way.kind, &self.direct) {
                (Kind::Exchanger { .. }, Some(direct)) => direct.addresses(name).await,
                (Kind::Exchanger { .. } | Kind::Relay { .. }, _) => {
                    let found = self.resolver.resolve(name).await.map_err(|error| error.to_string())?;
                    if found.is_empty() { Err("it has no address".to_owned()) } else { Ok(found) }
                }
            }
        };
        let stopping = Broken { stage: Stage::Route, cause: Cause::Stopping };
        match self.unless_stopped(timeout(self.timeouts.connect, looking)).await.ok_or(stopping)? {
            Ok(found) => found.map_err(unresolved),
            Err(_) => Err(unresolved("no answer".to_owned())),
        }
    }

    /// A connection to the first of these that takes one.
    async fn connect(&self, addresses: &[IpAddr], port: u16) -> Result<(TcpStream, SocketAddr), Broken> {
        let mut cause = Cause::Unreachable("it has no address".to_owned());
        for address in addresses.iter().take(SMTP_ADDRESSES_TRIED_MAX) {
            let address = SocketAddr::new(*address, port);
            let connecting = timeout(self.timeouts.connect, TcpStream::connect(address));
            let stopping = Broken { stage: Stage::Connect, cause: Cause::Stopping };
            let connected = self.unless_stopped(connecting).await.ok_or(stopping)?;
            match connected {
                Ok(Ok(stream)) => {
                    // Commands are one write each, and the dot must not wait for anything.
                    let _ = stream.set_nodelay(true);
                    return Ok((stream, address));
                }
                Ok(Err(error)) => cause = Cause::Unreachable(error.to_string()),
                Err(_) => cause = Cause::Unreachable("no answer".to_owned()),
            }
        }
        Err(Broken { stage: Stage::Connect, cause })
    }
}
