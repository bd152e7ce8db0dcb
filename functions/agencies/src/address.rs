//! Email addresses in one canonical form. Keys, URLs and logs hold only their hashes.

use std::fmt;
use std::str::FromStr;

use icu_normalizer::ComposingNormalizerBorrowed;
use serde_with::{DeserializeFromStr, SerializeDisplay};
use sha2::{Digest, Sha256};
use table::part::NotAPart;
use web::visible::is_invisible;

/// An address in canonical form: NFC, trimmed, in lower case, its domain in ASCII, at most 254 bytes. Its local part has
/// no invisible character and no character that the canonical form turns into an ASCII one, since that names another
/// mailbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address(String);

/// The first 32 hexadecimal digits of the SHA-256 of an [`Address`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, SerializeDisplay, DeserializeFromStr)]
pub struct AddressHash(String);

/// In bytes (RFC 5321, section 4.5.3.1).
const MAX_LENGTH: usize = 254;

impl Address {
    pub const EXPECTED: &str = "must be an email address of at most 254 bytes, such as ann@example.org";

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn hash(&self) -> AddressHash {
        let hash = Sha256::digest(self.0.as_bytes());
        let hex: String = hash.iter().take(AddressHash::DIGITS / 2).map(|byte| format!("{byte:02x}")).collect();
        AddressHash(hex)
    }
}

impl FromStr for Address {
    type Err = NotAPart;

    fn from_str(text: &str) -> Result<Self, NotAPart> {
        let fault = NotAPart(Self::EXPECTED);
        let (local, domain) = text.trim().rsplit_once('@').ok_or(fault)?;
        if local.chars().any(|letter| is_invisible(letter) || becomes_ascii(letter)) {
            return Err(fault);
        }
        let local = local.to_lowercase();
        let local = ComposingNormalizerBorrowed::new_nfc().normalize(&local);
        let plain = |letter: char| !letter.is_whitespace() && !letter.is_control() && letter != '@';
        let domain = idna::domain_to_ascii_strict(domain).map_err(|_| fault)?;
        let address = format!("{local}@{domain}");
        let right = !local.is_empty() && !domain.is_empty() && local.chars().all(plain) && address.len() <= MAX_LENGTH;
        if right { Ok(Self(address)) } else { Err(fault) }
    }
}

/// Whether lower case or NFC turns the character into an ASCII one, as it turns the sign for kelvin into `k`.
fn becomes_ascii(letter: char) -> bool {
    let normal = ComposingNormalizerBorrowed::new_nfc();
    !letter.is_ascii()
        && (letter.to_lowercase().any(|lower| lower.is_ascii())
            || normal.normalize_iter(std::iter::once(letter)).any(|normal| normal.is_ascii()))
}

impl AddressHash {
    const DIGITS: usize = 32;

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for AddressHash {
    type Err = NotAPart;

    fn from_str(text: &str) -> Result<Self, NotAPart> {
        let hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() == Self::DIGITS && text.bytes().all(hex) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotAPart("32 hexadecimal digits"))
        }
    }
}

impl fmt::Display for AddressHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl table::KeyPart for AddressHash {}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> String {
        text.parse::<Address>().unwrap().0
    }

    #[test]
    fn address_has_one_canonical_form() {
        assert_eq!(canonical("Ann@Example.ORG "), "ann@example.org");
        assert_eq!(canonical("ann+x@example.org"), "ann+x@example.org");
        assert_eq!(canonical("ann@bücher.example"), "ann@xn--bcher-kva.example");
        assert_eq!(canonical("Zoe\u{308}@example.org"), canonical("zo\u{eb}@example.org"));
    }

    #[test]
    fn text_that_is_no_address_is_refused() {
        let long = format!("{}@example.org", "a".repeat(243));
        for text in ["", "ann", "@example.org", "ann@", "a nn@example.org", "a@b@c", "ann@exa mple.org", long.as_str()]
        {
            assert!(text.parse::<Address>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn local_part_that_would_become_ascii_or_has_invisible_characters_is_refused() {
        for local in ["ban\u{212a}", "\u{130}da", "a\u{1fef}", "a\u{37e}b", "zw\u{200b}j", "a\u{ad}b", "a\u{feff}"] {
            assert!(format!("{local}@example.org").parse::<Address>().is_err(), "{local:?}");
        }
        assert_eq!(canonical("ann@\u{212a}.example"), "ann@k.example");
        assert_ne!(canonical("stra\u{df}e@example.org"), canonical("strasse@example.org"));
    }

    #[test]
    fn hash_has_32_digits() {
        let hash = "ann@example.org".parse::<Address>().unwrap().hash();
        assert_eq!(hash.as_str().parse(), Ok(hash.clone()));
        for text in ["", "A", &hash.as_str().to_uppercase(), &format!("{hash}0")] {
            assert!(text.parse::<AddressHash>().is_err(), "{text}");
        }
    }
}
