//! Chooses the mail route of an environment, and rejects live mail if there is none.

use std::net::IpAddr;
use std::sync::Arc;

use url::Url;

use crate::engine::api::{Engine, Failure};
use crate::engine::fetch::SystemResolver;
use crate::engine::mail::dns::{DnsLookupError, MaxAge};
use crate::engine::mail::smtp::Timeouts;
use crate::engine::mail::transport::{Exchanger, Lookup, LookupError, MailExchangers, Parts, PolicySource, Transport, fetched};
use crate::vocab::codes::Code;
use crate::vocab::environment::Environment;

/// The TCP port of mail servers.
const MAIL_PORT: u16 = 25;

pub enum MailRoute {
    /// Mail is stored in the built-in inbox.
    Inbox,
    /// Mail goes to relays or to the recipients' mail servers.
    Transport(Box<Transport>),
    None,
}

pub fn route(engine: &Arc<Engine>, environment: Environment) -> MailRoute {
    match environment {
        Environment::Test => MailRoute::Inbox,
        Environment::Live if engine.settings.mail.development => MailRoute::Inbox,
        Environment::Live if engine.settings.mail.has_transport() => MailRoute::Transport(Box::new(transport(engine))),
        Environment::Live => MailRoute::None,
    }
}

fn transport(engine: &Arc<Engine>) -> Transport {
    let parts = Parts {
        resolver: Box::new(SystemResolver),
        exchangers: Box::new(EngineDns(engine.clone())),
        policies: Box::new(EngineDns(engine.clone())),
        random: engine.random.clone(),
        roots: Vec::new(),
        exchanger_port: MAIL_PORT,
        timeouts: Timeouts::default(),
    };
    Transport::new(&engine.settings, parts)
}

/// Connects to each configured relay and, if direct delivery is configured, to a well-known mail server. Returns for each server whether it
/// is usable from this machine. Sends no mail.
pub async fn probe(engine: &Arc<Engine>) -> Vec<(String, Result<(), String>)> {
    if engine.settings.mail.has_transport() { transport(engine).probe().await } else { Vec::new() }
}

/// Rejects live mail if no mail route is configured.
pub fn require(engine: &Engine, environment: Environment) -> Result<(), Failure> {
    if environment == Environment::Test || engine.settings.mail.development || engine.settings.mail.has_transport() {
        return Ok(());
    }
    let detail = "No mail transport is configured. In the [mail] section of the settings, set relay = [\"smtp://user:password@host:587\"] \
                  to send through a mail server (or set MAILMILL_MAIL__RELAY), direct = true to deliver directly to the recipients' mail \
                  servers, or development = true to keep live mail in the built-in inbox.";
    Err(Failure::because(Code::TransportNotConfigured, detail))
}

/// Looks up mail servers and their MTA-STS policies for direct delivery, with the engine's resolver and HTTP client.
struct EngineDns(Arc<Engine>);

impl MailExchangers for EngineDns {
    fn exchangers<'a>(&'a self, domain: &'a str) -> Lookup<'a, Vec<Exchanger>> {
        Box::pin(async move {
            match self.0.dns.mx(domain, MaxAge::Cached).await {
                Ok(servers) => {
                    let server = |server: crate::engine::mail::dns::MailServer| Exchanger {
                        preference: server.preference,
                        host: server.host,
                    };
                    Ok(servers.into_iter().map(server).collect())
                }
                Err(none) => no_records(none),
            }
        })
    }

    fn addresses<'a>(&'a self, host: &'a str) -> Lookup<'a, Vec<IpAddr>> {
        Box::pin(async move {
            match self.0.dns.addresses(host, MaxAge::Cached).await {
                Ok(addresses) => Ok(addresses),
                Err(none) => no_records(none),
            }
        })
    }
}

impl PolicySource for EngineDns {
    fn texts<'a>(&'a self, name: &'a str) -> Lookup<'a, Vec<String>> {
        Box::pin(async move {
            match self.0.dns.txt(name, MaxAge::Cached).await {
                Ok(texts) => Ok(texts),
                Err(none) => no_records(none),
            }
        })
    }

    fn file<'a>(&'a self, url: &'a Url) -> Lookup<'a, String> {
        Box::pin(fetched(&self.0.fetch, url))
    }
}

fn no_records<T>(none: DnsLookupError) -> Result<Vec<T>, LookupError> {
    match none {
        DnsLookupError::NoSuchRecord => Ok(Vec::new()),
        DnsLookupError::NoSuchName | DnsLookupError::NotAName => Err(LookupError::NoSuchName),
        DnsLookupError::Unreachable(why) => Err(LookupError::Failed(why)),
    }
}
