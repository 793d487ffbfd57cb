//! Why something could not be fetched, in words that a person can act on.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FetchError {
    /// Not http or https.
    Scheme(String),
    /// The address carries a user name or a password.
    Credentials,
    /// A port that belongs to another service than the web.
    Port(u16),
    /// Every address of the host is inside some network, or of this machine.
    NotPublic {
        host: String,
        address: IpAddr,
    },
    /// The name leads to no address.
    Unresolved {
        host: String,
        cause: String,
    },
    /// No address of the host takes a connection.
    Unreachable {
        host: String,
        cause: String,
    },
    /// The host does not prove who it is.
    Tls {
        host: String,
        cause: String,
    },
    /// What the host says is no HTTP, or ends too early.
    Protocol {
        host: String,
        cause: String,
    },
    /// The compressed body cannot be read.
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
    /// A redirect to something that is no address.
    Redirect {
        host: String,
    },
    /// What the caller wants to send is no request.
    Request(String),
}

impl FetchError {
    /// Whether the same request might succeed a little later.
    pub fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::Unresolved { .. }
                | Self::Unreachable { .. }
                | Self::Protocol { .. }
                | Self::TimedOut { .. }
                | Self::Encoding { .. }
        )
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scheme(scheme) => write!(f, "An address that begins with {scheme}: cannot be read; only http and https can."),
            Self::Credentials => {
                f.write_str("The address contains a user name or a password; pages behind a sign-in cannot be read.")
            }
            Self::Port(port) => write!(f, "Port {port} belongs to another service than the web; use 80, 443 or one above 1023."),
            // The address itself is not told: names of the operator's network are nobody's business.
            Self::NotPublic { host, .. } => write!(
                f,
                "{host} has no public address, so nothing is asked of it. If it is in a network of your own, the operator can open that \
                 network with the setting outbound.allow_networks."
            ),
            Self::Unresolved { host, cause } => {
                write!(f, "The name {host} leads nowhere ({cause}); check its spelling and that its DNS is set up.")
            }
            Self::Unreachable { host, cause } => {
                write!(f, "{host} takes no connection ({cause}); check that the site is up.")
            }
            Self::Tls { host, cause } => {
                write!(f, "No secure connection to {host} can be made ({cause}); check the site's certificate.")
            }
            Self::Protocol { host, cause } => write!(f, "{host} does not answer as a web server does ({cause})."),
            Self::Encoding { host, cause } => write!(f, "{host} sends a compressed answer that cannot be read ({cause})."),
            Self::TimedOut { host, after } => {
                write!(f, "{host} does not answer within {} seconds; try again when it is faster.", after.as_secs_f32())
            }
            Self::TooLarge { host, bytes_max } => write!(f, "The answer of {host} is larger than {bytes_max} bytes."),
            Self::TooManyRedirects { host, redirects_max } => {
                write!(f, "{host} redirects more than {redirects_max} times; check the site's redirects for a circle.")
            }
            Self::Redirect { host } => write!(f, "{host} redirects to something that is no web address."),
            Self::Request(cause) => write!(f, "The request cannot be sent ({cause})."),
        }
    }
}

impl std::error::Error for FetchError {}
