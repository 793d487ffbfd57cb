//! The reasons for failed fetches, in messages that a user can act on.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FetchError {
    /// The scheme of the URL is neither `http` nor `https`.
    Scheme(String),
    /// The URL contains a user name or a password.
    Credentials,
    /// The port may belong to a service other than a web server.
    Port(u16),
    /// The host has no address that may be contacted or, if the request carries private data, has an address that must not be contacted.
    NotPublic {
        host: String,
        address: IpAddr,
    },
    /// The host name resolves to no address.
    Unresolved {
        host: String,
        cause: String,
    },
    /// No connection to any address of the host succeeded.
    Unreachable {
        host: String,
        cause: String,
    },
    /// The host refuses connections to this port: no server listens there.
    ConnectionRefused {
        host: String,
    },
    /// The connection ended before the head of the response was complete.
    Closed {
        host: String,
        cause: String,
    },
    /// The TLS handshake failed, for example because the host's certificate is not trusted.
    Tls {
        host: String,
        cause: String,
    },
    /// The host's response is not HTTP, or ends too early.
    Protocol {
        host: String,
        cause: String,
    },
    /// The compressed body cannot be decompressed.
    Encoding {
        host: String,
        cause: String,
    },
    TimedOut {
        host: String,
        after: Duration,
    },
    TooLarge {
        host: String,
        bytes_max: usize,
    },
    TooManyRedirects {
        host: String,
        redirects_max: usize,
    },
    /// The server redirects to an invalid URL.
    Redirect {
        host: String,
    },
    /// The caller's request is invalid.
    Request(String),
    /// This service had no free file descriptors, so it sent nothing. The error says nothing about the host.
    NoDescriptors,
}

impl FetchError {
    /// Returns whether the host name could not be resolved, and the resolver did not report a temporary failure. In this case, the name
    /// probably does not exist.
    pub fn is_unknown_name(&self) -> bool {
        // The system's resolver reports the kind of a failure only as text.
        matches!(self, Self::Unresolved { cause, .. } if !cause.to_ascii_lowercase().contains("temporary failure"))
    }

    /// Returns whether the same request might succeed later.
    pub fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::Unresolved { .. }
                | Self::Unreachable { .. }
                | Self::ConnectionRefused { .. }
                | Self::Closed { .. }
                | Self::Protocol { .. }
                | Self::TimedOut { .. }
                | Self::Encoding { .. }
                | Self::NoDescriptors
        )
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scheme(scheme) => write!(f, "The URL scheme {scheme} is not supported; use http or https."),
            Self::Credentials => {
                f.write_str("The URL contains a user name or password; remove both. URLs that require sign-in are not supported.")
            }
            Self::Port(port) => {
                write!(f, "Port {port} is not allowed; use 80, 443 or a port above 1023.")
            }
            // The message does not contain the address, which could reveal the operator's network.
            Self::NotPublic { host, .. } => {
                let relation = if host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok() { "is" } else { "has" };
                write!(
                    f,
                    "{host} {relation} an address that is not public, so no request was sent to it. If the host is in your own network, \
                     the operator can allow that network with the setting outbound.allow_networks."
                )
            }
            Self::Unresolved { host, cause } => {
                write!(
                    f,
                    "The host name {host} cannot be resolved ({cause}); check its spelling and its DNS records, or try again later."
                )
            }
            Self::Unreachable { host, cause } => {
                write!(
                    f,
                    "{host} cannot be reached ({cause}); check the URL, and make sure that the server is running and reachable."
                )
            }
            Self::ConnectionRefused { host } => {
                write!(
                    f,
                    "{host} does not accept connections (connection refused); check the URL, and make sure that the server is running."
                )
            }
            Self::Closed { host, cause } => {
                write!(f, "The connection to {host} ended before a complete response arrived ({cause}); try again later.")
            }
            // The TLS library's error for a server that answers without TLS.
            Self::Tls { host, cause } if cause.contains("InvalidContentType") => {
                write!(f, "{host} does not use HTTPS on this port; check the URL, or enter it with http:// instead of https://.")
            }
            Self::Tls { host, cause } => {
                write!(
                    f,
                    "A secure connection to {host} failed ({cause}); check that the server supports HTTPS and has a valid certificate."
                )
            }
            Self::Protocol { host, cause } => {
                write!(f, "{host} did not return a complete, valid HTTP response ({cause}); check the URL, or try again later.")
            }
            Self::Encoding { host, cause } => {
                write!(
                    f,
                    "{host} returned a compressed response that cannot be decompressed ({cause}); check the server's compression settings."
                )
            }
            Self::TimedOut { host, after } => {
                write!(f, "{host} did not send a complete response within {} seconds; try again later.", after.as_secs_f32())
            }
            Self::TooLarge { host, bytes_max } => {
                write!(f, "The response from {host} is larger than {bytes_max} bytes; use a smaller page or file.")
            }
            Self::TooManyRedirects { host, redirects_max } => {
                write!(f, "{host} redirects in a loop or more than {redirects_max} times; check the site's redirects.")
            }
            Self::Redirect { host } => write!(f, "{host} redirects to an invalid URL; check the site's redirects."),
            Self::Request(cause) => write!(f, "The request cannot be sent ({cause}); check the URL."),
            Self::NoDescriptors => {
                f.write_str("This service has no free file descriptors, so the request was not sent; try again later.")
            }
        }
    }
}

impl std::error::Error for FetchError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_a_server_without_tls_names_the_other_scheme() {
        let of = |cause: &str| FetchError::Tls { host: "shop.example".into(), cause: cause.into() }.to_string();
        let plain = of("received corrupt message of type InvalidContentType");
        assert!(plain.contains("http:// instead of https://") && !plain.contains("InvalidContentType"), "{plain}");
        assert!(of("invalid peer certificate: UnknownIssuer").contains("UnknownIssuer"));
    }
}
