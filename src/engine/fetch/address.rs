//! Decides which IP addresses may be contacted on behalf of users: public addresses, and addresses in networks that the operator has
//! allowed. All functions are pure.
//!
//! Host names are not handled here: code that opens a socket for a user's URL checks the addresses that the host name resolves to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::base::network::Network;

/// IPv4 ranges that are not public: those for private networks, for this machine, and for documentation and tests, and those that cannot be
/// used. All but one are from IANA's registries.
const SPECIAL_V4: [([u8; 4], u8); 16] = [
    ([0, 0, 0, 0], 8),
    ([10, 0, 0, 0], 8),
    // Carrier-grade NAT: addresses inside the provider's own network.
    ([100, 64, 0, 0], 10),
    ([127, 0, 0, 0], 8),
    // Link-local addresses, where cloud providers keep their metadata service.
    ([169, 254, 0, 0], 16),
    // The internal service of a large cloud provider, at an address that looks public.
    ([168, 63, 129, 16], 32),
    ([172, 16, 0, 0], 12),
    ([192, 0, 0, 0], 24),
    ([192, 0, 2, 0], 24),
    ([192, 88, 99, 0], 24),
    ([192, 168, 0, 0], 16),
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    // Multicast addresses.
    ([224, 0, 0, 0], 4),
    // Reserved addresses, including the broadcast address.
    ([240, 0, 0, 0], 4),
];

/// Special ranges inside 2000::/3, the only range of public IPv6 addresses.
const SPECIAL_V6: [([u16; 2], u8); 4] = [
    // Protocol ranges: Teredo (which tunnels to IPv4 in a way that cannot be checked), ORCHID and benchmarks.
    ([0x2001, 0x0000], 23),
    // The ranges for documentation.
    ([0x2001, 0x0db8], 32),
    ([0x3fff, 0x0000], 20),
    // 6to4, which also tunnels to IPv4.
    ([0x2002, 0x0000], 16),
];

pub struct Guard {
    allowed: Vec<Network>,
}

impl Guard {
    /// Creates a guard that allows public addresses and the networks in `allowed`, which come from the operator's settings.
    pub fn new(allowed: Vec<Network>) -> Self {
        Self { allowed }
    }

    /// Returns whether the operator has allowed the network that contains this address.
    pub fn is_allowed(&self, address: IpAddr) -> bool {
        self.allowed.iter().any(|network| network.contains(address))
    }

    /// Returns whether the operator has allowed any network.
    pub fn opens_anything(&self) -> bool {
        !self.allowed.is_empty()
    }

    pub fn admits(&self, address: IpAddr) -> bool {
        self.is_allowed(address) || is_public(address)
    }
}

/// Returns whether an address is public: not private, not local to a machine or network, and not otherwise special.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let number = u32::from(address);
    !SPECIAL_V4.iter().any(|(start, bits)| (number ^ u32::from_be_bytes(*start)) >> (32 - bits) == 0)
}

/// IPv6 has one range of public addresses. Outside that range are loopback, link-local, unique local and multicast addresses, embedded IPv4
/// addresses (mapped or compatible), and both NAT64 ranges, which lead to IPv4 in a way that cannot be checked.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    if parts[0] & 0xe000 != 0x2000 {
        return false;
    }
    let number = u128::from(address);
    let is_special = SPECIAL_V6.iter().any(|([first, second], bits)| {
        let start = u128::from(*first) << 112 | u128::from(*second) << 96;
        (number ^ start) >> (128 - bits) == 0
    });
    !is_special
}

#[cfg(test)]
mod tests {
    use super::*;

    fn public(address: &str) -> bool {
        is_public(address.parse().expect(address))
    }

    #[test]
    fn public_addresses_are_admitted() {
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "100.63.255.255",
            "100.128.0.0",
            "168.63.129.15",
            "168.63.129.17",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.1",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00:1450:4001::1",
            "2001:4860:4860::8888",
        ] {
            assert!(public(address), "{address}");
        }
    }

    #[test]
    fn every_special_range_is_rejected_at_both_ends() {
        for address in [
            "0.0.0.0",
            "0.255.255.255",
            "10.0.0.0",
            "10.255.255.255",
            "100.64.0.0",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.255",
            "169.254.0.0",
            "169.254.169.254",
            "168.63.129.16",
            "172.16.0.0",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.2.255",
            "192.88.99.1",
            "192.168.0.0",
            "192.168.255.255",
            "198.18.0.0",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.7",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.0",
            "255.255.255.255",
            "::",
            "::1",
            "::8.8.8.8",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1::1",
            "100::1",
            "2001:2::1",
            "2001:10::1",
            "2001:2f::1",
            "2001:db8::1",
            "3fff:fff::1",
            "5f00::1",
            "fc00::1",
            "fdff::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!public(address), "{address}");
        }
    }

    #[test]
    fn tunnels_are_rejected_wherever_they_lead() {
        for address in
            ["2002:7f00:1::1", "2002:808:808::1", "2001:0:808:808::80ff:fffe", "2001:0:808:808::f7f7:f7f7", "2001:1::1"]
        {
            assert!(!public(address), "{address}");
        }
        assert!(public("2001:200::1"), "the first address after the range for IETF protocols");
    }

    #[test]
    fn only_networks_that_the_operator_allows_are_admitted() {
        let guard = Guard::new(vec!["127.0.0.0/8".parse().expect("the value is a network")]);
        for (address, admitted) in [("127.0.0.1", true), ("::ffff:127.0.0.1", true), ("10.0.0.1", false), ("1.1.1.1", true)] {
            assert_eq!(guard.admits(address.parse().expect(address)), admitted, "{address}");
        }
    }
}
