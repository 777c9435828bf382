//! Which addresses are public: those that a stranger's page may be read from. This is the one place that
//! says so.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What an address is, if it is not a public one.
pub fn why_not_public(ip: IpAddr) -> Option<&'static str> {
    match ip {
        IpAddr::V4(ip) => v4(ip),
        IpAddr::V6(ip) => v6(ip),
    }
}

fn v4(ip: Ipv4Addr) -> Option<&'static str> {
    Some(match ip.octets() {
        [0, ..] => "an unspecified address",
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => "a private address",
        [100, 64..=127, ..] => "a carrier-grade NAT address",
        [127, ..] => "a loopback address",
        [169, 254, 169, 254] | [168, 63, 129, 16] => "a cloud's metadata address",
        [169, 254, ..] => "a link-local address",
        [192, 0, 0, _] => "an address reserved for protocols",
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => "an address for documentation",
        [192, 88, 99, _] => "a 6to4 address",
        [198, 18..=19, ..] => "an address for benchmarks",
        [224..=239, ..] => "a multicast address",
        [240..=255, ..] => "a reserved address",
        _ => return None,
    })
}

/// Global unicast is 2000::/3. What carries an IPv4 address within it is refused whatever that one is:
/// the packet may end up there.
fn v6(ip: Ipv6Addr) -> Option<&'static str> {
    Some(match ip.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => "an unspecified address",
        [0, 0, 0, 0, 0, 0, 0, 1] => "a loopback address",
        [0, 0, 0, 0, 0, 0xffff, ..] => "an IPv4-mapped address",
        [0, 0, 0, 0, 0, 0, ..] => "an IPv4-compatible address",
        [0, 0, 0, 0, 0xffff, 0, ..] => "an IPv4-translated address",
        [0x64, 0xff9b, ..] => "a NAT64 address",
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => "an address for documentation",
        [0x2001, 0, ..] => "a Teredo address",
        [0x2001, 1..=0x1ff, ..] | [0x3ffe, ..] => "an address reserved for protocols",
        [0x2002, ..] => "a 6to4 address",
        // Cisco's and others' tunnels put an IPv4 address behind this word.
        [_, _, _, _, 0 | 0x200, 0x5efe, ..] => "an ISATAP address",
        [0x2000..=0x3fff, ..] => return None,
        [0xfc00..=0xfdff, ..] => "a unique-local address",
        [0xfe80..=0xfebf, ..] => "a link-local address",
        [0xfec0..=0xfeff, ..] => "a site-local address",
        [0xff00..=0xffff, ..] => "a multicast address",
        _ => "a reserved address",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(address: &str, expect: Option<&str>) {
        let found = why_not_public(address.parse().expect("an address"));
        match expect {
            Some(word) => assert!(found.is_some_and(|why| why.contains(word)), "{address}: {found:?}"),
            None => assert_eq!(found, None, "{address}"),
        }
    }

    #[test]
    fn the_first_and_last_of_each_range_are_refused_and_their_neighbours_are_not() {
        for (first, last, word) in [
            ("0.0.0.0", "0.255.255.255", "unspecified"),
            ("10.0.0.0", "10.255.255.255", "private"),
            ("100.64.0.0", "100.127.255.255", "carrier"),
            ("127.0.0.0", "127.255.255.255", "loopback"),
            ("169.254.0.0", "169.254.255.255", "link-local"),
            ("169.254.169.254", "168.63.129.16", "metadata"),
            ("172.16.0.0", "172.31.255.255", "private"),
            ("192.0.0.0", "192.0.0.255", "protocols"),
            ("192.0.2.0", "203.0.113.255", "documentation"),
            ("192.88.99.0", "192.88.99.255", "6to4"),
            ("192.168.0.0", "192.168.255.255", "private"),
            ("198.18.0.0", "198.19.255.255", "benchmarks"),
            ("224.0.0.0", "239.255.255.255", "multicast"),
            ("240.0.0.0", "255.255.255.255", "reserved"),
            ("::", "::", "unspecified"),
            ("::1", "::1", "loopback"),
            ("::127.0.0.1", "::808:808", "compatible"),
            ("::ffff:127.0.0.1", "::ffff:8.8.8.8", "mapped"),
            ("::ffff:0:7f00:1", "::ffff:0:8.8.8.8", "translated"),
            ("64:ff9b::7f00:1", "64:ff9b:1::1", "NAT64"),
            ("2001::1", "2001:0:ffff::", "Teredo"),
            ("2001:db8::", "3fff:fff::1", "documentation"),
            ("2002:7f00:1::", "2002:ffff::", "6to4"),
            ("2600:1::5efe:a00:1", "2600:1::200:5efe:a00:1", "ISATAP"),
            ("fc00::", "fdff:ffff::", "unique-local"),
            ("fe80::", "febf::1", "link-local"),
            ("fec0::1", "feff::1", "site-local"),
            ("ff00::", "ff02::1", "multicast"),
            ("100::1", "4000::1", "reserved"),
        ] {
            check(first, Some(word));
            check(last, Some(word));
        }
        for public in [
            "1.0.0.0",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2001:200::1",
            "2001:4860:4860::8888",
            "2003::1",
            "2606:4700::1111",
            "3ffd::1",
        ] {
            check(public, None);
        }
    }
}
