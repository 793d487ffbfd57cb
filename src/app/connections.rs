//! Computes how many connections the process can hold open within its limit on file descriptors.

use crate::vocab::limits;
use crate::vocab::settings::Settings;

/// The maximum numbers of connections that the available file descriptors allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connections {
    pub http: usize,
    /// The maximum number of connections for incoming mail: from other servers if `mail.inbound` or `mail.inbound_lmtp` is set, otherwise
    /// only from programs that run as the service's user.
    pub inbound: usize,
    /// Whether other servers can deliver mail to this service.
    pub listens: bool,
    /// The number of descriptors reserved for everything other than HTTP connections: stores, search indexes, incoming and outgoing mail,
    /// webhooks.
    pub reserve: usize,
    /// Whether fewer HTTP connections are allowed than the settings specify.
    pub is_reduced: bool,
}

impl Connections {
    /// Returns the limits for this number of descriptors. The reserve is subtracted first, because a service that cannot open its own files
    /// cannot serve requests.
    pub fn fit(settings: &Settings, descriptors: u64) -> Self {
        let descriptors = usize::try_from(descriptors).unwrap_or(usize::MAX);
        let listens = settings.mail.inbound.is_some() || settings.mail.inbound_lmtp.is_some();
        let share = (descriptors / limits::INBOUND_SHARE_OF_DESCRIPTORS).max(limits::INBOUND_CONNECTIONS_MIN);
        let inbound = if listens { share.min(limits::INBOUND_CONNECTIONS_MAX) } else { limits::INBOUND_CONNECTIONS_MIN };
        // Each outgoing mail connection may need another descriptor for its DNS query; each of the two environments has its own
        // webhook connections.
        let out = 2 * settings.mail.connections.count() + 2 * settings.webhooks.connections.count();
        let reserve = limits::DESCRIPTORS_RESERVED + inbound + out;
        let wanted = settings.server.connections_max.count();
        let http = wanted.min(descriptors.saturating_sub(reserve).max(limits::HTTP_CONNECTIONS_MIN));
        Self { http, inbound, listens, reserve, is_reduced: http < wanted }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::settings::{self, DEFAULT};

    fn fit(text: &str, descriptors: u64) -> Connections {
        let file = (std::path::Path::new("settings.toml"), text);
        let settings = settings::load(DEFAULT, Some(file), &[], &[]).expect("the settings are valid");
        Connections::fit(&settings, descriptors)
    }

    #[test]
    fn connections_and_the_reserve_fit_into_the_descriptors() {
        let inbound = "[mail]\ninbound = \"127.0.0.1:25\"\n";
        for (text, descriptors) in [("", 1_024), (inbound, 1_024), ("", 4_096), (inbound, 20_000), (inbound, 1_048_576)] {
            let fitted = fit(text, descriptors);
            assert!((fitted.http + fitted.reserve) as u64 <= descriptors, "{fitted:?} in {descriptors}");
            assert!(fitted.http >= 100 && fitted.inbound < fitted.reserve, "{fitted:?}");
        }
        let plenty = fit(inbound, 20_000);
        assert_eq!((plenty.http, plenty.inbound, plenty.is_reduced), (4_096, limits::INBOUND_CONNECTIONS_MAX, false));
        assert!(fit("", 1_024).is_reduced);
    }

    #[test]
    fn inbound_mail_has_a_share_of_the_descriptors_if_enabled() {
        let smtp = "[mail]\ninbound = \"127.0.0.1:25\"\n";
        let lmtp = "[mail]\ninbound_lmtp = \"127.0.0.1:24\"\n";
        for listens in [smtp, lmtp] {
            let shares = [256, 1_024, 2_048, 20_000].map(|descriptors| fit(listens, descriptors).inbound);
            assert_eq!(shares, [limits::INBOUND_CONNECTIONS_MIN, 64, 128, limits::INBOUND_CONNECTIONS_MAX]);
        }
        // Without a mail listener, mail comes only from programs that run as the service's user, and each program delivers one message
        // through a socket. The minimum number of connections is enough for them.
        assert_eq!(fit("", 20_000).inbound, limits::INBOUND_CONNECTIONS_MIN);
    }

    #[test]
    fn a_very_low_limit_still_leaves_some_connections() {
        assert_eq!(fit("", 256).http, limits::HTTP_CONNECTIONS_MIN);
        assert_eq!(fit("[server]\nconnections_max = 10\n", 256).http, 10);
    }
}
