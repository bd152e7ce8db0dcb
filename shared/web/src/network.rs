//! The network that a request comes from.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::Context;

/// The header to which API Gateway appends the address of the client. Whatever the client itself has sent comes before.
const FORWARDED_FOR: &str = "x-forwarded-for";

impl Context {
    /// Returns the network of the request: the bits of an IPv4 address in the mask, or the first 64 bits of an IPv6 address,
    /// which one household has. Empty if the request came without a gateway.
    pub fn network(&self, mask: Ipv4Addr) -> String {
        network(self.headers.get_all(FORWARDED_FOR).iter().filter_map(|value| value.to_str().ok()), mask)
    }
}

fn network<'a>(forwarded_for: impl Iterator<Item = &'a str>, mask: Ipv4Addr) -> String {
    let last = forwarded_for.last().and_then(|value| value.rsplit(',').next()).map_or("", str::trim);
    match last.parse::<IpAddr>().map(|address| address.to_canonical()) {
        Ok(IpAddr::V4(address)) => (address & mask).to_string(),
        Ok(IpAddr::V6(address)) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).to_string(),
        Err(_) => last.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_is_that_of_the_address_which_the_gateway_has_added() {
        let wide = Ipv4Addr::new(255, 255, 255, 0);
        for (forwarded_for, mask, expected) in [
            (&["203.0.113.1"][..], Ipv4Addr::BROADCAST, "203.0.113.1"),
            (&["203.0.113.7"], wide, "203.0.113.0"),
            (&["198.51.100.7, 203.0.113.1"], Ipv4Addr::BROADCAST, "203.0.113.1"),
            (&["198.51.100.7", "203.0.113.1"], Ipv4Addr::BROADCAST, "203.0.113.1"),
            (&["2001:db8:1:2:3:4:5:6"], wide, "2001:db8:1:2::"),
            (&["::ffff:203.0.113.7"], wide, "203.0.113.0"),
            (&["unknown"], wide, "unknown"),
            (&[], wide, ""),
        ] {
            assert_eq!(network(forwarded_for.iter().copied(), mask), expected, "{forwarded_for:?}");
        }
    }
}
