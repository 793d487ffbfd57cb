//! The facts about this installation that DNS records depend on: its host names, and how it sends mail.

use std::fmt;
use std::net::IpAddr;

use url::Url;

use crate::vocab::settings::Settings;

/// The hosts of this installation that DNS records refer to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Installation {
    /// The host that receives bounces; `None` if neither `mail.hello_name` nor `server.public_url` names a public host.
    pub mail_host: Option<String>,
    /// The host in the links of messages; `None` if `server.public_url` does not name a public host.
    pub link_host: Option<String>,
    /// The shared domain of all envelope senders, if the settings define one.
    pub bounce_domain: Option<String>,
    /// The hosts of the relays.
    pub relays: Vec<Relay>,
}

/// The host of a relay, from the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Relay {
    Name(String),
    Address(IpAddr),
}

impl Relay {
    /// Parses the host of a URL. `smtp` is not a special scheme in the URL Standard, so [`Url`] returns the hosts of such URLs unparsed.
    pub(super) fn of(host: &str) -> Self {
        match host.trim_matches(['[', ']']).parse() {
            Ok(address) => Self::Address(address),
            Err(_) => Self::Name(host.to_ascii_lowercase()),
        }
    }
}

impl fmt::Display for Relay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(address) => address.fmt(f),
        }
    }
}

impl Installation {
    pub fn of(settings: &Settings) -> Self {
        let link_host = settings.server.public_url.as_deref().and_then(host).filter(|host| is_public(host));
        let greeting = settings.mail.hello_name.as_deref().map(str::to_ascii_lowercase);
        Self {
            mail_host: greeting.filter(|host| is_public(host)).or_else(|| link_host.clone()),
            link_host,
            bounce_domain: settings.mail.bounce_domain.as_deref().map(str::to_ascii_lowercase),
            relays: settings.mail.relay.iter().filter_map(|relay| host(relay.expose())).map(|host| Relay::of(&host)).collect(),
        }
    }
}

fn host(address: &str) -> Option<String> {
    let url: Url = address.parse().ok()?;
    url.host_str().map(str::to_ascii_lowercase)
}

/// Returns whether `host` can be a public host: a name with a dot that is neither an IP address nor under `localhost`.
fn is_public(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or_default();
    host.contains('.') && !host.contains(['[', ':']) && last.bytes().any(|byte| byte.is_ascii_alphabetic()) && last != "localhost"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::settings;

    fn installation(text: &str) -> Installation {
        Installation::of(
            &settings::load(settings::DEFAULT, Some((std::path::Path::new("settings.toml"), text)), &[], &[])
                .expect("the settings are valid"),
        )
    }

    #[test]
    fn hosts_come_from_the_settings_and_only_public_names_count() {
        assert_eq!(installation(""), Installation::default());
        let named = installation("[server]\npublic_url = 'https://mail.acme.example:8443'\n");
        assert_eq!(named.link_host.as_deref(), Some("mail.acme.example"));
        assert_eq!(named.mail_host.as_deref(), Some("mail.acme.example"));
        for local in ["https://localhost:8443", "https://192.0.2.7", "http://[2001:db8::1]:80", "https://mill"] {
            assert_eq!(installation(&format!("[server]\npublic_url = '{local}'\n")).link_host, None, "{local}");
        }
        let full = installation(
            "[mail]\nhello_name = 'MX.acme.example'\nrelay = ['smtp://user:word@Relay.example:587', \
                         'smtps://192.0.2.7', 'smtp://[2001:db8::7]:25']\n",
        );
        let address = |text: &str| Relay::Address(text.parse().expect("the value is an address"));
        assert_eq!(full.mail_host.as_deref(), Some("mx.acme.example"));
        assert_eq!(full.relays, [Relay::Name("relay.example".to_owned()), address("192.0.2.7"), address("2001:db8::7")]);
    }
}
