//! The network of a request: what people behind one address share, and what one person can change within.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use web::Context;

/// The header to which API Gateway appends the address of the client. Whatever the client itself has sent comes before.
const FORWARDED_FOR: &str = "x-forwarded-for";

/// Returns the first 24 bits of an address of IPv4, or the first 64 of one of IPv6. Empty if the request came without a
/// gateway.
pub fn of(cx: &Context) -> String {
    let values = cx.headers().get_all(FORWARDED_FOR).iter().filter_map(|value| value.to_str().ok());
    network(values)
}

fn network<'a>(forwarded_for: impl Iterator<Item = &'a str>) -> String {
    let last = forwarded_for.last().and_then(|value| value.rsplit(',').next()).map_or("", str::trim);
    match last.parse::<IpAddr>().map(|address| address.to_canonical()) {
        Ok(IpAddr::V4(address)) => Ipv4Addr::from_bits(address.to_bits() >> 8 << 8).to_string(),
        Ok(IpAddr::V6(address)) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).to_string(),
        Err(_) => last.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_is_that_of_the_address_which_the_gateway_has_added() {
        for (forwarded_for, expected) in [
            ("203.0.113.7", "203.0.113.0"),
            ("198.51.100.7, 203.0.113.7", "203.0.113.0"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
            ("::ffff:203.0.113.7", "203.0.113.0"),
            ("unknown", "unknown"),
        ] {
            assert_eq!(network([forwarded_for].into_iter()), expected, "{forwarded_for}");
        }
        assert_eq!(network([].into_iter()), "");
    }
}
