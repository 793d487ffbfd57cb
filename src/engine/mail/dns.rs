//! DNS lookups for mail: with time limits, a bounded cache, and results that distinguish "does not exist" from "could not look up".

use std::net::IpAddr;
use std::sync::Arc;

use mail_auth::hickory_resolver::config::{NameServerConfig, ResolverConfig, ResolverOpts};
use mail_auth::hickory_resolver::lookup::Lookup;
use mail_auth::hickory_resolver::net::runtime::TokioRuntimeProvider;
use mail_auth::hickory_resolver::net::{DnsError, NetError};
use mail_auth::hickory_resolver::proto::op::ResponseCode;
use mail_auth::hickory_resolver::proto::rr::{Name, RData, RecordType};
use mail_auth::hickory_resolver::system_conf::read_system_conf;
use mail_auth::hickory_resolver::{Resolver, TokioResolver};
use rustls::{ClientConfig, RootCertStore};

use crate::vocab::limits;
use crate::vocab::settings::Mail;

pub struct Dns {
    /// The resolver, or the error that prevented its creation. Despite such an error, the service runs, but all lookups fail with this
    /// error.
    resolver: Result<TokioResolver, String>,
}

/// How old a cached DNS response may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaxAge {
    /// The response may be as old as its TTL allows, up to an hour. Used for sending.
    Cached,
    /// The name is looked up again. Used when a user has just changed a record.
    Fresh,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailServer {
    /// The preference of the server: servers with lower numbers are tried first.
    pub preference: u16,
    /// The host name without the final dot. An empty name means that the domain does not accept mail (RFC 7505).
    pub host: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DnsLookupError {
    NoSuchName,
    /// The domain name exists, but has no record of the requested type.
    NoSuchRecord,
    NotAName,
    /// No name server could be reached, or none could resolve the name, so a retry may succeed. Contains the reason, for display.
    Unreachable(String),
}

pub type DnsResult<T> = Result<T, DnsLookupError>;

impl Dns {
    /// Creates a resolver that uses the name server in the settings or, if none is set, the name servers of the system.
    pub fn new(settings: &Mail) -> Self {
        Self { resolver: build(settings) }
    }

    /// Returns the TXT records of a name, with the strings of each record joined.
    pub async fn txt(&self, name: &str, age: MaxAge) -> DnsResult<Vec<String>> {
        let text = |data: &RData| match data {
            RData::TXT(txt) => Some(String::from_utf8_lossy(&txt.txt_data.concat()).into_owned()),
            _ => None,
        };
        self.ask(parse(name)?, RecordType::TXT, age, text).await
    }

    /// Returns the mail servers of a domain, in order of preference.
    pub async fn mx(&self, name: &str, age: MaxAge) -> DnsResult<Vec<MailServer>> {
        let server = |data: &RData| match data {
            RData::MX(mx) => Some(MailServer { preference: mx.preference, host: plain(&mx.exchange) }),
            _ => None,
        };
        let mut servers = self.ask(parse(name)?, RecordType::MX, age, server).await?;
        servers.sort_by_key(|server| server.preference);
        Ok(servers)
    }

    /// Returns the name that this alias (CNAME record) points to.
    pub async fn cname(&self, name: &str, age: MaxAge) -> DnsResult<String> {
        let target = |data: &RData| match data {
            RData::CNAME(target) => Some(plain(&target.0)),
            _ => None,
        };
        let found = self.ask(parse(name)?, RecordType::CNAME, age, target).await?;
        found.into_iter().next().ok_or(DnsLookupError::NoSuchRecord)
    }

    /// Returns the IP addresses of a host, IPv4 first.
    pub async fn addresses(&self, name: &str, age: MaxAge) -> DnsResult<Vec<IpAddr>> {
        let name = parse(name)?;
        let address = |data: &RData| match data {
            RData::A(address) => Some(IpAddr::V4(address.0)),
            RData::AAAA(address) => Some(IpAddr::V6(address.0)),
            _ => None,
        };
        let (old, new) = futures_util::future::join(
            self.ask(name.clone(), RecordType::A, age, address),
            self.ask(name, RecordType::AAAA, age, address),
        )
        .await;
        match (old, new) {
            (Ok(old), Ok(new)) => Ok([old, new].concat()),
            // One address family is enough to connect to the host.
            (Ok(found), Err(_)) | (Err(_), Ok(found)) => Ok(found),
            // If a lookup could not be completed, it is unknown whether the host has an address, so a retry may succeed.
            (Err(open @ DnsLookupError::Unreachable(_)), Err(_)) | (Err(_), Err(open @ DnsLookupError::Unreachable(_))) => {
                Err(open)
            }
            (Err(none), Err(_)) => Err(none),
        }
    }

    pub async fn names(&self, address: IpAddr, age: MaxAge) -> DnsResult<Vec<String>> {
        let name = |data: &RData| match data {
            RData::PTR(name) => Some(plain(&name.0)),
            _ => None,
        };
        self.ask(Name::from(address), RecordType::PTR, age, name).await
    }

    async fn ask<T>(&self, name: Name, kind: RecordType, age: MaxAge, read: impl Fn(&RData) -> Option<T>) -> DnsResult<Vec<T>> {
        let resolver = self.resolver.as_ref().map_err(|cause| DnsLookupError::Unreachable(cause.clone()))?;
        if age == MaxAge::Fresh {
            resolver.clear_lookup_cache(name.clone(), kind);
        }
        let response: Result<Lookup, NetError> = match tokio::time::timeout(limits::DNS_TIME, resolver.lookup(name, kind)).await {
            Ok(response) => response,
            Err(_) => return Err(DnsLookupError::Unreachable("the name servers did not respond in time".into())),
        };
        let found: Vec<T> = response.map_err(no_answer)?.answers().iter().filter_map(|record| read(&record.data)).collect();
        if found.is_empty() { Err(DnsLookupError::NoSuchRecord) } else { Ok(found) }
    }
}

impl DnsLookupError {
    /// Returns whether the domain name or record certainly does not exist, or the name is not valid.
    pub fn is_none(&self) -> bool {
        matches!(self, Self::NoSuchName | Self::NoSuchRecord | Self::NotAName)
    }
}

impl std::fmt::Display for DnsLookupError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoSuchName => f.write_str("the domain name does not exist"),
            Self::NoSuchRecord => f.write_str("the domain name has no record of the requested type"),
            Self::NotAName => f.write_str("the name is not a valid domain name"),
            Self::Unreachable(cause) => f.write_str(cause),
        }
    }
}

fn build(settings: &Mail) -> Result<TokioResolver, String> {
    let (config, mut options) = match settings.dns {
        Some(address) => {
            let mut server = NameServerConfig::udp_and_tcp(address.ip());
            for connection in &mut server.connections {
                connection.port = address.port();
            }
            (ResolverConfig::from_name_servers(vec![server]), ResolverOpts::default())
        }
        None => read_system_conf().map_err(|error| format!("cannot read the system's DNS configuration: {error}"))?,
    };
    options.timeout = limits::DNS_ATTEMPT_TIME;
    options.attempts = limits::DNS_ATTEMPTS;
    options.cache_size = limits::DNS_CACHE_ANSWERS;
    options.positive_max_ttl = Some(limits::DNS_CACHED_TIME_MAX);
    options.negative_max_ttl = Some(limits::DNS_NOTHING_CACHED_TIME_MAX);
    options.edns0 = true;
    let builder = Resolver::builder_with_config(config, TokioRuntimeProvider::default());
    let built = builder.with_options(options).with_tls_config(no_tls()).build();
    built.map_err(|error| format!("cannot create the DNS resolver: {error}"))
}

/// Returns a resolver without name servers, so that lookups fail immediately.
pub fn silent() -> TokioResolver {
    let builder = Resolver::builder_with_config(ResolverConfig::from_name_servers(Vec::new()), TokioRuntimeProvider::default());
    builder.with_tls_config(no_tls()).build().expect("a resolver without name servers is valid")
}

/// Returns a TLS configuration without certificates. DNS lookups use no TLS here, and loading the system's certificates would slow down
/// every start.
fn no_tls() -> ClientConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.expect("the provider knows the default versions");
    config.with_root_certificates(RootCertStore::empty()).with_no_client_auth()
}

fn parse(name: &str) -> DnsResult<Name> {
    let mut name = Name::from_ascii(name).map_err(|_| DnsLookupError::NotAName)?;
    // The name is absolute, so the resolver does not append the machine's search domains.
    name.set_fqdn(true);
    Ok(name)
}

fn plain(name: &Name) -> String {
    let text = name.to_lowercase().to_ascii();
    text.strip_suffix('.').unwrap_or(&text).to_owned()
}

fn no_answer(error: NetError) -> DnsLookupError {
    match &error {
        NetError::Dns(DnsError::NoRecordsFound(none)) => match none.response_code {
            ResponseCode::NXDomain => DnsLookupError::NoSuchName,
            ResponseCode::NoError => DnsLookupError::NoSuchRecord,
            code => DnsLookupError::Unreachable(format!("the name servers responded with {code}")),
        },
        NetError::Dns(DnsError::ResponseCode(code)) => {
            DnsLookupError::Unreachable(format!("the name servers responded with {code}"))
        }
        NetError::Timeout => DnsLookupError::Unreachable("the name servers did not respond in time".into()),
        _ => DnsLookupError::Unreachable(format!("the name servers cannot be queried: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::settings;
    use crate::testing::name_server::NameServer;

    fn dns(server: &NameServer) -> Dns {
        let mut settings = settings::load(settings::DEFAULT, None, &[], &[]).expect("the default settings are valid");
        settings.mail.dns = Some(server.address);
        Dns::new(&settings.mail)
    }

    #[tokio::test]
    async fn every_kind_of_record_is_read() {
        let server = NameServer::start();
        let long = "k".repeat(700);
        server.txt("acme.example", "v=spf1 -all").txt("acme.example", &long);
        server.mx("acme.example", 20, "mx2.acme.example").mx("acme.example", 10, "MX1.acme.example");
        server
            .cname("www.acme.example", "web.acme.example")
            .address("web.acme.example", "192.0.2.7".parse().expect("the address is valid"));
        server.address("web.acme.example", "2001:db8::7".parse().expect("the address is valid"));
        server.pointer("192.0.2.7".parse().expect("the address is valid"), "web.acme.example");
        let dns = dns(&server);
        let mut texts = dns.txt("acme.example", MaxAge::Cached).await.expect("the name has TXT records");
        texts.sort();
        assert_eq!(texts, [long, "v=spf1 -all".into()]);
        let hosts: Vec<_> = dns
            .mx("acme.example", MaxAge::Cached)
            .await
            .expect("the name has MX records")
            .into_iter()
            .map(|mx| mx.host)
            .collect();
        assert_eq!(hosts, ["mx1.acme.example", "mx2.acme.example"]);
        assert_eq!(dns.cname("www.acme.example", MaxAge::Cached).await, Ok("web.acme.example".into()));
        let addresses = dns.addresses("www.acme.example", MaxAge::Cached).await.expect("the name has addresses");
        assert_eq!(addresses.iter().map(ToString::to_string).collect::<Vec<_>>(), ["192.0.2.7", "2001:db8::7"]);
        let names = dns.names("192.0.2.7".parse().expect("the address is valid"), MaxAge::Cached).await;
        assert_eq!(names, Ok(vec!["web.acme.example".into()]));
    }

    #[tokio::test]
    async fn no_name_no_record_and_no_response_are_distinguished() {
        let server = NameServer::start();
        server.txt("acme.example", "hello");
        let dns = dns(&server);
        assert_eq!(dns.txt("unknown.example", MaxAge::Cached).await, Err(DnsLookupError::NoSuchName));
        assert_eq!(dns.mx("acme.example", MaxAge::Cached).await, Err(DnsLookupError::NoSuchRecord));
        assert_eq!(dns.txt(&"a".repeat(64), MaxAge::Cached).await, Err(DnsLookupError::NotAName));
        server.fail(true);
        let failed = dns.txt("other.example", MaxAge::Cached).await.expect_err("the server fails");
        assert!(matches!(failed, DnsLookupError::Unreachable(_)) && !failed.is_none(), "{failed}");
    }

    #[tokio::test]
    async fn responses_are_cached_unless_fresh_ones_are_requested() {
        let server = NameServer::start();
        server.txt("acme.example", "old");
        let dns = dns(&server);
        assert_eq!(dns.txt("acme.example", MaxAge::Cached).await, Ok(vec!["old".into()]));
        server.remove("acme.example");
        server.txt("acme.example", "new");
        let asked = server.asked();
        assert_eq!(dns.txt("acme.example", MaxAge::Cached).await, Ok(vec!["old".into()]));
        assert_eq!(server.asked(), asked, "no second query was sent");
        assert_eq!(dns.txt("acme.example", MaxAge::Fresh).await, Ok(vec!["new".into()]));
    }
}
