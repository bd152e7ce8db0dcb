//! The network that a request comes from.

use std::net::{IpAddr, Ipv6Addr};

use crate::Context;

/// The header to which API Gateway appends the address of the client. Whatever the client itself has sent comes before.
const FORWARDED_FOR: &str = "x-forwarded-for";

impl Context {
    /// Returns the network of the request: an address of IPv4, or the first 64 bits of one of IPv6, which one household
    /// has. Empty if the request came without a gateway.
    pub fn network(&self) -> String {
        network(self.headers.get_all(FORWARDED_FOR).iter().filter_map(|value| value.to_str().ok()))
    }
}

fn network<'a>(forwarded_for: impl Iterator<Item = &'a str>) -> String {
    let last = forwarded_for.last().and_then(|value| value.rsplit(',').next()).map_or("", str::trim);
    match last.parse::<IpAddr>().map(|address| address.to_canonical()) {
        Ok(IpAddr::V4(address)) => address.to_string(),
        Ok(IpAddr::V6(address)) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).to_string(),
        Err(_) => last.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(forwarded_for: &[&str], expected: &str) {
        assert_eq!(network(forwarded_for.iter().copied()), expected, "{forwarded_for:?}");
    }

    #[test]
    fn network_is_that_of_the_address_which_the_gateway_has_added() {
        check(&["203.0.113.1"], "203.0.113.1");
        check(&["198.51.100.7, 203.0.113.1"], "203.0.113.1");
        check(&["198.51.100.7", "203.0.113.1"], "203.0.113.1");
        check(&["2001:db8:1:2:3:4:5:6"], "2001:db8:1:2::");
        check(&["::ffff:203.0.113.1"], "203.0.113.1");
        check(&["unknown"], "unknown");
        check(&[], "");
    }
}
