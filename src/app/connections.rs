//! How many connections there is room for among the descriptors that this process may open.

use crate::vocab::limits;
use crate::vocab::settings::Settings;

/// Connections that may be open, by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connections {
    /// HTTP, in all.
    pub http: usize,
    /// Mail that comes in: from other servers where `mail.inbound` or `mail.inbound_lmtp` is set, else from programs of the same user
    /// only.
    pub inbound: usize,
    /// Whether other servers can bring mail.
    pub listens: bool,
    /// Descriptors kept for everything else: stores, search index, mail that goes out, webhooks.
    pub reserve: usize,
    /// Whether HTTP has fewer than the settings allow.
    pub is_reduced: bool,
}

impl Connections {
    /// What fits into `descriptors`. The reserve comes first: a service that cannot open its own files cannot serve anyone.
    pub fn fit(settings: &Settings, descriptors: u64) -> Self {
        let descriptors = usize::try_from(descriptors).unwrap_or(usize::MAX);
        let listens = settings.mail.inbound.is_some() || settings.mail.inbound_lmtp.is_some();
        let share = (descriptors / limits::INBOUND_SHARE_OF_DESCRIPTORS).max(limits::INBOUND_CONNECTIONS_MIN);
        let inbound = if listens { share.min(limits::INBOUND_CONNECTIONS_MAX) } else { limits::INBOUND_CONNECTIONS_MIN };
        // A connection that goes out may ask the DNS first; webhooks have their number in each of the two environments.
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
        let settings = settings::load(DEFAULT, Some(file), &[], &[]).expect("the settings are right");
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
    fn mail_that_comes_in_has_a_share_of_the_descriptors_where_it_is_listened_for() {
        let smtp = "[mail]\ninbound = \"127.0.0.1:25\"\n";
        let lmtp = "[mail]\ninbound_lmtp = \"127.0.0.1:24\"\n";
        for listens in [smtp, lmtp] {
            let shares = [256, 1_024, 2_048, 20_000].map(|descriptors| fit(listens, descriptors).inbound);
            assert_eq!(shares, [limits::INBOUND_CONNECTIONS_MIN, 64, 128, limits::INBOUND_CONNECTIONS_MAX]);
        }
        // Only the socket for programs of the same user is left, and they bring one message each.
        assert_eq!(fit("", 20_000).inbound, limits::INBOUND_CONNECTIONS_MIN);
    }

    #[test]
    fn a_limit_below_all_use_still_leaves_some_connections() {
        assert_eq!(fit("", 256).http, limits::HTTP_CONNECTIONS_MIN);
        assert_eq!(fit("[server]\nconnections_max = 10\n", 256).http, 10);
    }
}
