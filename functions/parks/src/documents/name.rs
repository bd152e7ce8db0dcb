//! The forms of names by which search compares and sorts, in addition to the text.

use crate::names::Kind;

/// The words before and after a name, with which a phrase can match the start and the end of the name.
pub const BEGIN: &str = "0begin0";
pub const END: &str = "0end0";

/// The name between [`BEGIN`] and [`END`].
pub fn whole(name: &str) -> String {
    format!("{BEGIN} {name} {END}")
}

/// The name with each number preceded by its count of digits, so that `Trail 2` sorts before `Trail 10`. Counts are
/// digits, too: names that begin with a number stay before those that begin with a letter.
pub fn in_order(name: &str) -> String {
    let mut ordered = String::with_capacity(name.len() + 8);
    let mut rest = name;
    while let Some(at) = rest.find(|letter: char| letter.is_ascii_digit()) {
        let (text, from) = rest.split_at(at);
        let end = from.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(from.len());
        let (digits, after) = from.split_at(end);
        let significant = digits.trim_start_matches('0');
        ordered.push_str(text);
        match significant.len() {
            count @ 0..=8 => ordered.push_str(&count.to_string()),
            count => ordered.push_str(&format!("9{count:03}")),
        }
        ordered.push_str(significant);
        rest = after;
    }
    ordered.push_str(rest);
    ordered
}

/// The rank of a kind among equally good hits: larger areas first.
pub const fn rank(kind: Kind) -> i64 {
    match kind {
        Kind::Collection => 0,
        Kind::Geozone => 1,
        Kind::Facility => 2,
        Kind::Activity => 3,
        Kind::Product => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_sort_by_their_value() {
        let long = format!("Trail {}", "9".repeat(20));
        let names = [
            "2 Lakes",
            "10 Lakes",
            "Lake",
            "Trail",
            "Trail 0",
            "Trail 2",
            "Trail 2b",
            "Trail 10",
            "Trail 123456789",
            &long,
            "Trail B",
        ];
        let ordered: Vec<String> = names.iter().map(|name| in_order(name)).collect();
        assert!(ordered.is_sorted(), "{ordered:?}");
        assert_eq!(in_order("Trail 02"), in_order("Trail 2"));
        assert_eq!(in_order("Île 7"), "Île 17");
    }
}
