//! Decides whether an IP address is public, or belongs to this machine, to a private network, or to no network. A URL
//! that a model names may lead only to public addresses. This module does no I/O.

#[cfg(feature = "reqwest")]
mod guard;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

#[cfg(feature = "reqwest")]
pub use guard::{AddressGuard, HostResolver, RefusedAddress};

/// Describes the kind of an address that is not public. Returns `None` for a public address.
///
/// An IPv6 address that contains an IPv4 address (mapped, NAT64) is checked as that IPv4 address. 6to4 and Teredo
/// addresses never count as public, because they are no longer in use.
///
/// To connect to a host name safely, resolve it once, check the resulting addresses, and connect to one of them. Do not
/// resolve the name again: the second result may differ.
///
/// ```
/// use toolwright::address::not_public;
///
/// let what = |text: &str| not_public(text.parse().expect("an address"));
/// assert_eq!(what("1.1.1.1"), None);
/// assert_eq!(what("169.254.169.254"), Some("a link-local address, such as that of a cloud's metadata"));
/// assert_eq!(what("::ffff:10.0.0.1"), Some("a private address"));
/// assert_eq!(what("2606:4700:4700::1111"), None);
/// ```
#[must_use]
pub fn not_public(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => not_public_v4(address),
        IpAddr::V6(address) => not_public_v6(address),
    }
}

/// The IPv4 networks that are not public, from the IANA registry of special-purpose addresses.
const V4: [([u8; 4], u32, &str); 17] = [
    ([0, 0, 0, 0], 8, "an address of this host"),
    ([10, 0, 0, 0], 8, PRIVATE),
    ([100, 64, 0, 0], 10, "an address of a provider's inner network"),
    ([127, 0, 0, 0], 8, LOOPBACK),
    // At this address, virtual machines in Azure reach the metadata service of the cloud.
    ([168, 63, 129, 16], 32, "the address of a cloud's metadata"),
    ([169, 254, 0, 0], 16, LINK_LOCAL),
    ([172, 16, 0, 0], 12, PRIVATE),
    ([192, 0, 0, 0], 24, RESERVED),
    ([192, 0, 2, 0], 24, DOCUMENTATION),
    ([192, 88, 99, 0], 24, "an address of 6to4"),
    ([192, 168, 0, 0], 16, PRIVATE),
    ([198, 18, 0, 0], 15, "an address for benchmarks"),
    ([198, 51, 100, 0], 24, DOCUMENTATION),
    ([203, 0, 113, 0], 24, DOCUMENTATION),
    ([224, 0, 0, 0], 4, MULTICAST),
    ([255, 255, 255, 255], 32, "a broadcast address"),
    ([240, 0, 0, 0], 4, RESERVED),
];

/// The IPv6 networks that are not public, from the IANA registry of special-purpose addresses. An address outside of
/// `2000::/3` is public only if it contains a public IPv4 address.
const V6: [([u16; 8], u32, &str); 11] = [
    ([0, 0, 0, 0, 0, 0, 0, 0], 128, "an address of this host"),
    ([0, 0, 0, 0, 0, 0, 0, 1], 128, LOOPBACK),
    ([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, PRIVATE),
    ([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, LINK_LOCAL),
    ([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10, PRIVATE),
    ([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, MULTICAST),
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 32, "an address of Teredo"),
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, RESERVED),
    ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, DOCUMENTATION),
    ([0x2002, 0, 0, 0, 0, 0, 0, 0], 16, "an address of 6to4"),
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, DOCUMENTATION),
];

const PRIVATE: &str = "a private address";
const LOOPBACK: &str = "an address of this machine";
const LINK_LOCAL: &str = "a link-local address, such as that of a cloud's metadata";
const MULTICAST: &str = "a multicast address";
const RESERVED: &str = "a reserved address";
const DOCUMENTATION: &str = "an address for examples";

fn not_public_v4(address: Ipv4Addr) -> Option<&'static str> {
    let bits = address.to_bits();
    let is_in = |network: [u8; 4], prefix: u32| {
        (bits ^ u32::from_be_bytes(network)) >> (u32::BITS - prefix) == 0
    };
    V4.into_iter().find(|(network, prefix, _)| is_in(*network, *prefix)).map(|it| it.2)
}

fn not_public_v6(address: Ipv6Addr) -> Option<&'static str> {
    if let Some(inner) = inner_v4(address) {
        return not_public_v4(inner);
    }
    let bits = address.to_bits();
    let is_in = |network: [u16; 8], prefix: u32| {
        (bits ^ Ipv6Addr::from(network).to_bits()) >> (u128::BITS - prefix) == 0
    };
    let known = V6.into_iter().find(|(network, prefix, _)| is_in(*network, *prefix)).map(|it| it.2);
    known.or_else(|| (!is_in([0x2000, 0, 0, 0, 0, 0, 0, 0], 3)).then_some(RESERVED))
}

/// Returns the IPv4 address in a mapped or NAT64 address.
fn inner_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [.., a, b] = address.segments();
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => {
            Some(Ipv4Addr::from_bits(u32::from(a) << 16 | u32::from(b)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn what(text: &str) -> Option<&'static str> {
        not_public(text.parse().expect("an address"))
    }

    #[test]
    fn the_first_and_last_address_of_each_network_is_refused_and_those_beside_it_are_not() {
        for (first, last) in [
            ("0.0.0.0", "0.255.255.255"),
            ("10.0.0.0", "10.255.255.255"),
            ("100.64.0.0", "100.127.255.255"),
            ("127.0.0.0", "127.255.255.255"),
            ("168.63.129.16", "168.63.129.16"),
            ("169.254.0.0", "169.254.255.255"),
            ("172.16.0.0", "172.31.255.255"),
            ("192.0.0.0", "192.0.0.255"),
            ("192.0.2.0", "192.0.2.255"),
            ("192.88.99.0", "192.88.99.255"),
            ("192.168.0.0", "192.168.255.255"),
            ("198.18.0.0", "198.19.255.255"),
            ("198.51.100.0", "198.51.100.255"),
            ("203.0.113.0", "203.0.113.255"),
            ("224.0.0.0", "255.255.255.255"),
        ] {
            let [first, last]: [u32; 2] =
                [first, last].map(|it| it.parse::<Ipv4Addr>().expect("an address").to_bits());
            for inside in [first, last, first.midpoint(last)] {
                assert!(not_public_v4(Ipv4Addr::from_bits(inside)).is_some(), "{inside:x}");
            }
            for outside in [first.checked_sub(1), last.checked_add(1)].into_iter().flatten() {
                let outside = Ipv4Addr::from_bits(outside);
                assert_eq!(not_public_v4(outside), None, "{outside}");
            }
        }
    }

    #[test]
    fn an_address_that_stands_for_another_is_what_that_one_is() {
        assert_eq!(what("::ffff:127.0.0.1"), Some(LOOPBACK));
        assert_eq!(what("::ffff:8.8.8.8"), None);
        assert_eq!(what("64:ff9b::169.254.169.254"), Some(LINK_LOCAL));
        assert_eq!(what("64:ff9b::808:808"), None);
    }

    #[test]
    fn ipv6_is_public_in_one_eighth_of_its_space_and_not_all_of_that() {
        for (text, expected) in [
            ("::", "an address of this host"),
            ("::1", LOOPBACK),
            ("::7f00:1", RESERVED),
            ("64:ff9b:1::a00:1", RESERVED),
            ("100::1", RESERVED),
            ("2001::1", "an address of Teredo"),
            ("2001:20::1", RESERVED),
            ("2001:db8::1", DOCUMENTATION),
            ("2002:a00:1::", "an address of 6to4"),
            ("3fff::1", DOCUMENTATION),
            ("5f00::1", RESERVED),
            ("fd00:ec2::254", PRIVATE),
            ("fe80::1", LINK_LOCAL),
            ("fec0::1", PRIVATE),
            ("ff02::1", MULTICAST),
        ] {
            assert_eq!(what(text), Some(expected), "{text}");
        }
        for text in ["2001:200::1", "2606:4700:4700::1111", "2a00:1450::8b", "3ffe::1"] {
            assert_eq!(what(text), None, "{text}");
        }
    }
}
