//! Parses the URL of a relay in the setting `mail.relay`. This module does no I/O.

use std::net::IpAddr;

use url::{Host, Url};

use crate::base::secret::Secret;
use crate::engine::mail::smtp::{Credentials, Mechanism};
use crate::vocab::limits::SMTP_RELAYS_MAX;

/// A relay: an SMTP server that forwards mail.
#[derive(Clone, Debug)]
pub struct Relay {
    pub host: Host,
    pub port: u16,
    pub security: Security,
    pub credentials: Option<Credentials>,
    /// The domains whose recipients the relay accepts, in ASCII and lowercase. If empty, the relay accepts recipients at all domains.
    pub domains: Vec<String>,
}

/// How the connection to a relay is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    FromTheStart,
    /// The connection uses STARTTLS, and the delivery fails if the relay does not offer it.
    Required,
    /// The connection is never encrypted: the relay is on this machine, or the operator disabled TLS.
    Clear,
}

/// Parses all configured relays, or returns the problem with the first invalid one. Errors do not quote the URL.
pub fn relays(setting: &[Secret]) -> Result<Vec<Relay>, String> {
    if setting.len() > SMTP_RELAYS_MAX {
        return Err(format!("{} relays are configured; use at most {SMTP_RELAYS_MAX}", setting.len()));
    }
    let read = |(index, text): (usize, &Secret)| Relay::parse(text.expose()).map_err(|why| format!("relay {}: {why}", index + 1));
    setting.iter().enumerate().map(read).collect()
}

impl Relay {
    pub fn parse(text: &str) -> Result<Self, String> {
        let url = Url::parse(text).map_err(|error| {
            format!(
                "{error}; use smtp://user:password@host:port, with @ / : # ? % in the user and password written as %40 \
                     %2F %3A %23 %3F %25"
            )
        })?;
        let is_encrypted = match url.scheme() {
            "smtp" => false,
            "smtps" => true,
            _ => return Err("must be a URL that starts with smtp:// or smtps://".to_owned()),
        };
        if !matches!(url.path(), "" | "/") || url.fragment().is_some() {
            return Err("unexpected text after the host and port; write / and # in a password as %2F and %23".to_owned());
        }
        let host = url
            .host_str()
            .filter(|host| !host.is_empty())
            .ok_or("the host is missing; write a URL like smtp://mail.example.com:587")?;
        let host = Host::parse(host).map_err(|error| format!("the host is invalid ({error})"))?;
        let is_this_machine = is_this_machine(&host);
        let query = Query::parse(url.query().unwrap_or_default())?;
        let credentials = query.credentials(decoded(url.username())?, url.password().map(decoded).transpose()?)?;
        let security = match (is_encrypted, query.tls_off) {
            (true, true) => return Err("tls=off contradicts smtps://; write smtp:// or remove tls=off".to_owned()),
            (true, false) => Security::FromTheStart,
            (false, true) if credentials.is_some() && !is_this_machine => {
                let why = "a password or token cannot be sent unencrypted to another machine; remove tls=off, or remove the user, the \
                           password, `auth` and `token`";
                return Err(why.to_owned());
            }
            (false, off) if off || is_this_machine => Security::Clear,
            (false, _) => Security::Required,
        };
        let port = url.port().unwrap_or(match (is_encrypted, &credentials) {
            (true, _) => 465,
            (false, Some(_)) => 587,
            (false, None) => 25,
        });
        Ok(Self { host, port, security, credentials, domains: query.domains })
    }

    pub fn is_this_machine(&self) -> bool {
        is_this_machine(&self.host)
    }

    /// Returns whether the relay's URL names this domain in a `for` parameter.
    pub fn is_for(&self, domain: &str) -> bool {
        self.domains.iter().any(|own| own == domain)
    }
}

fn is_this_machine(host: &Host) -> bool {
    match host {
        Host::Domain(name) => name == "localhost",
        Host::Ipv4(address) => IpAddr::V4(*address).is_loopback(),
        Host::Ipv6(address) => IpAddr::V6(*address).is_loopback(),
    }
}

#[derive(Default)]
struct Query {
    mechanism: Option<Mechanism>,
    token: Option<String>,
    tls_off: bool,
    domains: Vec<String>,
}

impl Query {
    fn parse(text: &str) -> Result<Self, String> {
        let mut query = Self::default();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = decoded(value)?;
            match name {
                "auth" => {
                    query.mechanism = Some(match value.as_str() {
                        "plain" => Mechanism::Plain,
                        "login" => Mechanism::Login,
                        "xoauth2" => Mechanism::Xoauth2,
                        _ => return Err("the parameter `auth` must be `plain`, `login` or `xoauth2`".to_owned()),
                    });
                }
                "token" => query.token = Some(value),
                "tls" => {
                    query.tls_off = match value.as_str() {
                        "required" => false,
                        "off" => true,
                        _ => return Err("the parameter `tls` must be `required` or `off`".to_owned()),
                    };
                }
                "for" => {
                    for domain in value.split(',') {
                        let Ok(Host::Domain(domain)) = Host::parse(domain.trim()) else {
                            return Err(
                                "the parameter `for` must be a domain; to use more domains, repeat the parameter, as in \
                                        for=example.com&for=example.org"
                                    .to_owned(),
                            );
                        };
                        query.domains.push(domain);
                    }
                }
                // The error does not quote the parameter's name, which can be a part of a password with an unescaped ?, or of a token with
                // an unescaped &.
                _ => {
                    let why = "a parameter is unknown; use `auth`, `for`, `tls` or `token`, and write ? in a password as %3F and & \
                               in a token as %26";
                    return Err(why.to_owned());
                }
            }
        }
        Ok(query)
    }

    fn credentials(&self, user: String, password: Option<String>) -> Result<Option<Credentials>, String> {
        let is_token = self.mechanism == Some(Mechanism::Xoauth2);
        let secret = match (&self.token, password, is_token) {
            (Some(token), None, true) => Some(token.clone()),
            (None, password, false) => password,
            (_, _, true) => return Err("`auth=xoauth2` requires a user and `token`, and allows no password".to_owned()),
            (Some(_), _, false) => {
                return Err(
                    "the parameter `token` is allowed only with `auth=xoauth2`; remove `token`, or set `auth=xoauth2`".to_owned()
                );
            }
        };
        match (user.is_empty(), secret) {
            (true, None) if self.mechanism.is_none() => Ok(None),
            (false, Some(secret)) if !secret.is_empty() && !user.contains('\0') && !secret.contains('\0') => {
                Ok(Some(Credentials { user, secret: Secret::new(secret), mechanism: self.mechanism }))
            }
            _ if is_token => Err("`auth=xoauth2` requires a user and `token`, and allows no password".to_owned()),
            _ if self.mechanism.is_some() => {
                Err("the parameter `auth` requires a user and a password: smtp://user:password@host".to_owned())
            }
            _ => Err("set both a user and a password, or neither: smtp://user:password@host".to_owned()),
        }
    }
}

/// Returns the text with its %XX sequences decoded.
fn decoded(text: &str) -> Result<String, String> {
    let wrong = || "a % is not followed by two hexadecimal digits; write a literal % as %25".to_owned();
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|digit| char::from(digit).to_digit(16));
        let (high, low) = (digit().ok_or_else(wrong)?, digit().ok_or_else(wrong)?);
        bytes.push(u8::try_from(high << 4 | low).expect("two hexadecimal digits are a byte"));
    }
    String::from_utf8(bytes).map_err(|_| "the %XX sequences are not valid UTF-8".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relay(text: &str) -> Relay {
        Relay::parse(text).unwrap_or_else(|why| panic!("{text}: {why}"))
    }

    #[test]
    fn security_and_ports_follow_from_the_address() {
        for (text, security, port) in [
            ("smtp://mail.example.com", Security::Required, 25),
            ("smtp://mail.example.com:2525/", Security::Required, 2525),
            ("smtp://u:p@mail.example.com", Security::Required, 587),
            ("smtps://u:p@mail.example.com", Security::FromTheStart, 465),
            ("smtp://localhost:25", Security::Clear, 25),
            ("smtp://u:p@127.0.0.1:25", Security::Clear, 25),
            ("smtp://[::1]:1025", Security::Clear, 1025),
            ("smtp://10.0.0.5", Security::Required, 25),
            ("smtp://10.0.0.5?tls=off", Security::Clear, 25),
        ] {
            let relay = relay(text);
            assert_eq!((relay.security, relay.port), (security, port), "{text}");
        }
    }

    #[test]
    fn user_password_and_token_are_decoded() {
        let found = relay("smtp://ana%40example.com:p%40s%2Fs%3A%25+@mail.example.com:587?auth=login");
        let credentials = found.credentials.expect("the relay has credentials");
        assert_eq!((credentials.user.as_str(), credentials.secret.expose().as_str()), ("ana@example.com", "p@s/s:%+"));
        assert_eq!(credentials.mechanism, Some(Mechanism::Login));
        let found = relay("smtp://ana%40example.com@mail.example.com:587?auth=xoauth2&token=ya29.a%2Bb+c");
        let credentials = found.credentials.expect("the relay has credentials");
        assert_eq!((credentials.secret.expose().as_str(), credentials.mechanism), ("ya29.a+b+c", Some(Mechanism::Xoauth2)));
    }

    #[test]
    fn domains_are_compared_in_their_dns_form() {
        let found = relay("smtp://localhost?for=Example.com,m%C3%BCller.example&for=example.org");
        assert_eq!(found.domains, ["example.com", "xn--mller-kva.example", "example.org"]);
        assert!(found.is_for("example.org") && !found.is_for("www.example.org"));
    }

    #[test]
    fn errors_name_the_remedy_and_never_the_password() {
        for (text, expected) in [
            ("mail.example.com:587", "smtp:// or smtps://"),
            ("http://mail.example.com", "smtp:// or smtps://"),
            ("smtp://", "host is missing"),
            ("smtp://user:hunter2/x@mail.example.com", "%2F"),
            ("smtp://user:hunter2@mail.example.com/x", "unexpected text"),
            ("smtp://user:hunter2@mail.example.com#x", "unexpected text"),
            ("smtp://user:hunter2%zz@mail.example.com", "%25"),
            ("smtp://user@mail.example.com", "or neither"),
            ("smtp://:hunter2@mail.example.com", "or neither"),
            ("smtp://mail.example.com?auth=plain", "the parameter `auth` requires a user and a password"),
            ("smtp://mail.example.com?auth=xoauth2&token=x", "requires a user and `token`"),
            ("smtp://user:hunter2@mail.example.com?tls=off", "unencrypted"),
            ("smtps://user:hunter2@mail.example.com?tls=off", "contradicts"),
            ("smtp://mail.example.com?tls=maybe", "the parameter `tls` must be `required` or `off`"),
            ("smtp://user:hunter2@mail.example.com?auth=cram-md5", "the parameter `auth` must be `plain`, `login` or `xoauth2`"),
            ("smtp://user:hunter2@mail.example.com?auth=xoauth2", "requires a user and `token`"),
            ("smtp://user:hunter2@mail.example.com?token=x", "only with `auth=xoauth2`"),
            ("smtp://mail.example.com?for=a b", "for=example.com"),
            ("smtp://mail.example.com?via=x", "a parameter is unknown"),
            ("smtp://user:1?hunter2@mail.example.com", "write ? in a password as %3F"),
            ("smtp://user@mail.example.com?auth=xoauth2&token=x&hunter2", "& in a token as %26"),
            ("smtp://exa mple.com", "host"),
        ] {
            let why = Relay::parse(text).expect_err(text);
            assert!(why.contains(expected) && !why.contains("hunter2"), "{text}: {why}");
        }
        let two = [Secret::new("smtp://localhost".to_owned()), Secret::new("x".to_owned())];
        assert!(relays(&two).expect_err("the second relay is invalid").starts_with("relay 2: "));
        let many = vec![Secret::new("smtp://localhost".to_owned()); SMTP_RELAYS_MAX + 1];
        assert!(relays(&many).is_err());
    }
}
