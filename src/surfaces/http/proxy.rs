//! The client's address, and the reverse proxies that are trusted to report it.
//!
//! `X-Forwarded-For` is a list to which each proxy appends the address of its client. Only entries that trusted proxies wrote can be
//! trusted: the client is the right-most address that is not a trusted proxy, and everything to its left may be forged. This module is
//! independent of how the address is used.

use std::net::IpAddr;

use http::HeaderMap;

use crate::base::network::Network;
use crate::engine::api::http_types::Peer;

const FORWARDED_FOR: &str = "x-forwarded-for";
const FORWARDED_PROTO: &str = "x-forwarded-proto";

/// The maximum number of hops read from the right end of the list. Real chains of proxies are shorter.
const HOPS_MAX: usize = 16;

#[derive(Clone, Debug)]
pub struct ProxyTrust {
    /// Whether a reverse proxy in front of the plain HTTP address terminates TLS.
    pub behind_proxy: bool,
    pub networks: Vec<Network>,
}

impl Default for ProxyTrust {
    /// By default, no proxy is trusted. If `behind_proxy` is enabled, proxies on this machine are trusted.
    fn default() -> Self {
        let networks = ["127.0.0.0/8", "::1/128"].map(|range| range.parse().expect("the address range is valid")).into();
        Self { behind_proxy: false, networks }
    }
}

impl ProxyTrust {
    /// Returns whether `address` belongs to a trusted proxy.
    pub fn trusts(&self, address: IpAddr) -> bool {
        self.behind_proxy && self.networks.iter().any(|network| network.contains(address))
    }

    /// Returns the client that sent this request. `peer` is the other end of the connection.
    pub fn client(&self, peer: Peer, headers: &HeaderMap) -> Peer {
        match peer {
            Peer::Network { address, .. } if self.trusts(address) => self.forwarded(peer, address, headers),
            Peer::Network { .. } | Peer::Operator => peer,
        }
    }

    fn forwarded(&self, peer: Peer, proxy: IpAddr, headers: &HeaderMap) -> Peer {
        let mut client = proxy;
        let mut hop = 0;
        for (index, element) in from_the_right(headers, FORWARDED_FOR).take(HOPS_MAX).enumerate() {
            // Trusted proxies write only addresses, so anything else is forged or unknown, and the last valid hop is the client.
            let Some(address) = parse_hop(element) else { break };
            client = address;
            hop = index;
            if !self.trusts(address) {
                break;
            }
        }
        // The element at the same position in `X-Forwarded-Proto` describes the same hop. A proxy that replaces the header
        // leaves a single element, which applies to the whole chain.
        let protocol = from_the_right(headers, FORWARDED_PROTO).take(hop + 1).last();
        let tls = match protocol {
            Some(protocol) => protocol.eq_ignore_ascii_case("https"),
            None => matches!(peer, Peer::Network { tls: true, .. }),
        };
        Peer::Network { address: client, tls }
    }
}

/// Returns the elements of a list header from the right: the last line first, and each line from its end.
fn from_the_right<'a>(headers: &'a HeaderMap, name: &'static str) -> impl Iterator<Item = &'a str> {
    let lines: Vec<&str> = headers.get_all(name).iter().map(|value| value.to_str().unwrap_or("")).collect();
    lines.into_iter().rev().flat_map(|line| line.rsplit(',')).map(str::trim)
}

/// Parses an IP address, with optional brackets and port.
fn parse_hop(element: &str) -> Option<IpAddr> {
    let bare = match element.strip_prefix('[') {
        Some(rest) => rest.split(']').next()?,
        None => element,
    };
    let address: IpAddr = match bare.parse() {
        Ok(address) => address,
        Err(_) => bare.parse::<std::net::SocketAddr>().ok()?.ip(),
    };
    Some(address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trust(networks: &[&str]) -> ProxyTrust {
        let networks = networks.iter().map(|text| text.parse().expect("the text is a valid address range")).collect();
        ProxyTrust { behind_proxy: true, networks }
    }

    fn from(address: &str) -> Peer {
        Peer::Network { address: address.parse().expect("the text is a valid address"), tls: false }
    }

    fn headers(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, http::HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn no_proxy_is_trusted_without_the_setting() {
        let given = headers(&[(FORWARDED_FOR, "203.0.113.9"), (FORWARDED_PROTO, "https")]);
        assert_eq!(ProxyTrust::default().client(from("127.0.0.1"), &given), from("127.0.0.1"));
    }

    #[test]
    fn an_unknown_proxy_is_not_trusted() {
        let given = headers(&[(FORWARDED_FOR, "203.0.113.9"), (FORWARDED_PROTO, "https")]);
        assert_eq!(trust(&["127.0.0.0/8"]).client(from("198.51.100.7"), &given), from("198.51.100.7"));
    }

    #[test]
    fn the_right_most_address_that_is_not_a_proxy_is_the_client() {
        let trust = trust(&["127.0.0.0/8", "10.0.0.0/8"]);
        // The client forged `1.1.1.1`. The outer proxy appended the client's address, `203.0.113.9`; the inner proxy appended
        // the outer proxy's address, `10.0.0.2`.
        let given = headers(&[(FORWARDED_FOR, "1.1.1.1, 203.0.113.9"), (FORWARDED_FOR, "10.0.0.2"), (FORWARDED_PROTO, "https")]);
        let client = Peer::Network { address: "203.0.113.9".parse().expect("the text is a valid address"), tls: true };
        assert_eq!(trust.client(from("127.0.0.1"), &given), client);
    }

    #[test]
    fn a_forged_protocol_is_not_trusted() {
        let given = headers(&[(FORWARDED_FOR, "203.0.113.9"), (FORWARDED_PROTO, "https, http")]);
        assert_eq!(trust(&["127.0.0.0/8"]).client(from("127.0.0.1"), &given), from("203.0.113.9"));
    }

    #[test]
    fn garbage_stops_at_the_last_valid_hop() {
        let trust = trust(&["127.0.0.0/8", "10.0.0.0/8"]);
        let given = headers(&[(FORWARDED_FOR, "203.0.113.9, unknown, 10.0.0.2")]);
        assert_eq!(trust.client(from("127.0.0.1"), &given), from("10.0.0.2"));
        assert_eq!(trust.client(from("127.0.0.1"), &headers(&[(FORWARDED_FOR, "")])), from("127.0.0.1"));
    }

    #[test]
    fn ports_brackets_and_mapped_addresses_are_parsed() {
        for (text, expected) in [
            ("203.0.113.9:4711", "203.0.113.9"),
            ("[2001:db8::1]:4711", "2001:db8::1"),
            ("[2001:db8::1]", "2001:db8::1"),
            ("2001:db8::1", "2001:db8::1"),
            ("::ffff:203.0.113.9", "203.0.113.9"),
        ] {
            assert_eq!(parse_hop(text), Some(expected.parse().expect("the text is a valid address")), "{text}");
        }
    }
}
