//! Ranges of network addresses, like `10.0.0.0/8`, and grouping of addresses for limits.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

use ipnet::IpNet;
use serde::{Deserialize, Deserializer};

use super::serde_str;

/// A range of IP addresses: all addresses that share their first bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network(IpNet);

impl Network {
    /// Returns whether `address` is in this range. An IPv4 address in IPv6 notation (`::ffff:a.b.c.d`) is treated as IPv4.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }
}

/// Returns the address under which connections and attempts are counted: an IPv4 address, or the /64 of an IPv6 address. A client usually
/// has at least a /64, and could otherwise use a new address for each attempt.
pub fn counted_as(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => first_bits(address, 64),
    }
}

/// Returns the /48 of an IPv6 address, or `None` for IPv4. A /48 is the largest range that a site usually gets. It contains 65,536 /64
/// networks, each of which [`counted_as`] counts as a separate address.
pub fn site_of(address: IpAddr) -> Option<IpAddr> {
    match address.to_canonical() {
        IpAddr::V4(_) => None,
        IpAddr::V6(address) => Some(first_bits(address, 48)),
    }
}

fn first_bits(address: Ipv6Addr, bits: u32) -> IpAddr {
    let rest = 128 - bits;
    IpAddr::V6(Ipv6Addr::from(u128::from(address) >> rest << rest))
}

/// The error for text that is not an address range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkError;

impl fmt::Display for NetworkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("must be an IP address or a range of IP addresses, like ::1 or 10.0.0.0/8")
    }
}

impl std::error::Error for NetworkError {}

impl FromStr for Network {
    type Err = NetworkError;

    /// Parses a CIDR range like 10.0.0.0/8. A bare IP address is a range of one address.
    fn from_str(given: &str) -> Result<Self, NetworkError> {
        let given = given.trim();
        let network = given.parse().or_else(|_| given.parse::<IpAddr>().map(IpNet::from));
        network.map(Self).map_err(|_| NetworkError)
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> Deserialize<'de> for Network {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde_str::deserialize(deserializer, "a range of IP addresses, like 10.0.0.0/8")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contains(network: &str, address: &str) -> bool {
        network.parse::<Network>().expect(network).contains(address.parse().expect(address))
    }

    #[test]
    fn contains_what_shares_its_first_bits() {
        assert!(contains("10.0.0.0/8", "10.255.1.2") && !contains("10.0.0.0/8", "11.0.0.0"));
        assert!(contains("192.168.1.7", "192.168.1.7") && !contains("192.168.1.7", "192.168.1.6"));
        assert!(contains("0.0.0.0/0", "8.8.8.8") && !contains("0.0.0.0/0", "2001::1"));
        assert!(contains("::1/128", "::1") && !contains("::1/128", "::2"));
        assert!(contains("127.0.0.0/8", "::ffff:127.0.0.1"));
    }

    #[test]
    fn an_ipv6_network_is_treated_as_one_address() {
        let counted = |address: &str| counted_as(address.parse().expect(address)).to_string();
        assert_eq!((counted("2001:db8:0:1:ffff::1"), counted("2001:db8::2")), ("2001:db8:0:1::".into(), "2001:db8::".into()));
        assert_eq!((counted("192.0.2.7"), counted("::ffff:192.0.2.7")), ("192.0.2.7".into(), "192.0.2.7".into()));
        let site = |address: &str| site_of(address.parse().expect(address)).map(|site| site.to_string());
        assert_eq!((site("2001:db8:7:1:ffff::1"), site("::ffff:192.0.2.7")), (Some("2001:db8:7::".into()), None));
    }

    #[test]
    fn rejects_text_that_is_not_a_range() {
        for wrong in ["", "10.0.0.0/33", "::/129", "10.0.0/8", "localhost", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8/8"] {
            assert_eq!(wrong.parse::<Network>(), Err(NetworkError), "{wrong}");
        }
    }
}
