//! Ranges of network addresses, like `10.0.0.0/8`.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use serde::{Deserialize, Deserializer};

use super::parsed;

/// All addresses that share their first bits with one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    /// Invariant: at most the number of bits of `address`.
    prefix_bits: u8,
}

impl Network {
    /// Whether `address` lies in this range. An IPv4 address that arrives in IPv6 clothes (`::ffff:a.b.c.d`) counts as IPv4.
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

/// The text is not a range of addresses.
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

    /// An address followed by `/` and the number of bits that count; all of them if that is left out.
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
        parsed::deserialize(deserializer, "a range of addresses as text, like 10.0.0.0/8")
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
    fn refuses_what_is_no_range() {
        for wrong in ["", "10.0.0.0/33", "::/129", "10.0.0/8", "localhost", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8/8"] {
            assert_eq!(wrong.parse::<Network>(), Err(NetworkError), "{wrong}");
        }
    }
}
