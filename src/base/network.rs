//! Ranges of network addresses, like `10.0.0.0/8`, and grouping of addresses for limits.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

use serde::{Deserialize, Deserializer};

use super::serde_str;

/// All addresses that share their first bits with one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    /// Invariant: at most the number of bits of `address`.
    prefix_bits: u8,
}

impl Network {
    /// Whether `address` is in this range. An IPv4-mapped IPv6 address (`::ffff:a.b.c.d`) counts as IPv4.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                let differing = u32::from(own) ^ u32::from(other);
                differing.leading_zeros() >= u32::from(self.prefix_bits)
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                let differing = u128::from(own) ^ u128::from(other);
                differing.leading_zeros() >= u32::from(self.prefix_bits)
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

/// The unit that limits on connections and attempts count: an IPv4 address, or an IPv6 /64, the smallest range that a client gets. It has
/// more addresses than anyone makes attempts.
pub fn counted_as(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => first_bits(address, 64),
    }
}

/// The IPv6 /48 of an address: the largest range of one site, with 65,536 networks that each count as one address.
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

/// The text is not an address range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkError;

impl fmt::Display for NetworkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected an address or a range of addresses, like 10.0.0.0/8 or ::1")
    }
}

impl std::error::Error for NetworkError {}

impl FromStr for Network {
    type Err = NetworkError;

    /// Parses an address, followed by `/` and the number of significant bits; all bits if omitted.
    fn from_str(given: &str) -> Result<Self, NetworkError> {
        let (address, bits) = match given.trim().split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (given.trim(), None),
        };
        let address: IpAddr = address.parse().map_err(|_| NetworkError)?;
        let bits_max = if address.is_ipv4() { 32 } else { 128 };
        let prefix_bits = match bits {
            Some(bits) => bits.parse().map_err(|_| NetworkError)?,
            None => bits_max,
        };
        if prefix_bits > bits_max { Err(NetworkError) } else { Ok(Self { address, prefix_bits }) }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix_bits)
    }
}

impl<'de> Deserialize<'de> for Network {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde_str::deserialize(deserializer, "a range of addresses as text, like 10.0.0.0/8")
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
    fn an_ipv6_network_counts_as_one_address() {
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
