//! Usernames and email addresses, as people write them and as keys have them.

use web::Fault;

/// Returns a username as it is stored: in lower case.
pub fn stored(username: &str) -> String {
    username.to_ascii_lowercase()
}

/// Returns the fault of a username: 3 to 30 of `a-z0-9_.` in any case, beginning with a letter and not ending with a dot.
pub fn username_fault(pointer: &str, username: &str) -> Option<Fault> {
    let lower = stored(username);
    let is_valid = (3..=30).contains(&lower.len())
        && lower.starts_with(|first: char| first.is_ascii_lowercase())
        && !lower.ends_with('.')
        && lower.chars().all(|letter| matches!(letter, 'a'..='z' | '0'..='9' | '_' | '.'));
    let expected = "must have 3 to 30 letters a to z, digits, `_` or `.`, begin with a letter and not end with a dot";
    (!is_valid).then(|| Fault::pointer(pointer, expected))
}

/// Returns an address as its key has it. Two addresses that differ in case only are the same.
pub fn address_key(email: &str) -> String {
    email.to_lowercase()
}

/// Returns the fault of an email address: the characters of an atom (RFC 5322) before the `@`, a domain after it, and at
/// most 254 characters.
pub fn address_fault(pointer: &str, email: &str) -> Option<Fault> {
    let atom = |text: &str| {
        !text.is_empty()
            && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(letter))
    };
    let label = |text: &str| {
        (1..=63).contains(&text.len())
            && !text.starts_with('-')
            && !text.ends_with('-')
            && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-')
    };
    let is_valid = email.len() <= 254
        && email.split_once('@').is_some_and(|(local, domain)| {
            local.len() <= 64 && local.split('.').all(atom) && domain.contains('.') && domain.split('.').all(label)
        });
    (!is_valid).then(|| Fault::pointer(pointer, "must be an email address, such as `ann@mail.example`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn username_begins_with_a_letter_and_does_not_end_with_a_dot() {
        for right in ["ann", "ANN", "a.b_c9", "a__", &"a".repeat(30)] {
            assert_eq!(username_fault("", right), None, "{right}");
        }
        for wrong in ["an", "1nn", "_nn", ".nn", "ann.", "änn", "a nn", "a#nn", "K\u{212a}nn", &"a".repeat(31), ""] {
            assert!(username_fault("", wrong).is_some(), "{wrong}");
        }
    }

    #[test]
    fn address_has_a_local_part_and_a_domain_of_two_labels() {
        for right in ["ann@example.org", "A.n+n#1@mail.example.org", "a@b-c.de"] {
            assert_eq!(address_fault("", right), None, "{right}");
        }
        let long = format!("ann@{}.org", "a".repeat(64));
        let longer = format!("ann@{}org", "aaaaaaaaa.".repeat(25));
        for wrong in ["ann", "@example.org", "ann@", "ann@org", "a..n@b.org", "ann@-b.org", "a n@b.org", "a@b@c.org"] {
            assert!(address_fault("", wrong).is_some(), "{wrong}");
        }
        assert!(address_fault("", &long).is_some() && address_fault("", &longer).is_some());
    }
}
