//! People in keys: the configured name of an issuer and the subject of its token.

use std::fmt;
use std::str::FromStr;

use serde_with::{DeserializeFromStr, SerializeDisplay};

use crate::part::{Escaped, KeyPart, NotAPart};

/// `{issuer's configured name}:{escaped subject}`, at most 200 bytes: `acme:auth0|a~23b`. One person has one spelling.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, SerializeDisplay, DeserializeFromStr)]
pub struct Idpid(String);

impl Idpid {
    /// The maximum length in bytes.
    pub const LONGEST: usize = 200;

    /// A pattern for API descriptions. [`FromStr`] is stricter.
    pub const PATTERN: &str = r"^[^:~%#/?\\]+:[^:%#/?\\]+(:[^:%#/?\\]+)*$";

    pub const EXPECTED: &str = "an issuer's name, a colon and an escaped subject, at most 200 bytes in all";

    /// Creates the id of a person. Returns none if the subject is empty or too long for a key.
    pub fn new(issuer: &str, subject: &str) -> Option<Self> {
        let text = format!("{issuer}:{}", Escaped::new(subject).ok()?);
        (text.len() <= Self::LONGEST).then_some(Self(text))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the configured name of the issuer.
    pub fn issuer(&self) -> &str {
        self.0.split(':').next().unwrap_or_default()
    }
}

impl fmt::Display for Idpid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for Idpid {
    type Err = NotAPart;

    fn from_str(text: &str) -> Result<Self, NotAPart> {
        let fault = NotAPart(Self::EXPECTED);
        let (issuer, subject) = text.split_once(':').ok_or(fault)?;
        // An issuer's name is configured, and keys contain it unescaped.
        let named = Escaped::new(issuer).is_ok_and(|escaped| escaped.to_string() == issuer);
        let subject: Escaped = subject.parse().map_err(|_| fault)?;
        if named && text.len() <= Self::LONGEST && Self::new(issuer, subject.text()).is_some() {
            Ok(Self(text.to_owned()))
        } else {
            Err(fault)
        }
    }
}

impl KeyPart for Idpid {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn subject_with_reserved_characters_is_escaped() {
        let idpid = Idpid::new("acme", "auth0|a#b::c%d/é").unwrap();
        assert_eq!((idpid.as_str(), idpid.issuer()), ("acme:auth0|a~23b~3A~3Ac~25d~2Fé", "acme"));
        assert_eq!(idpid.as_str().parse(), Ok(idpid));
    }

    #[test]
    fn malformed_id_is_refused() {
        let long = format!("acme:{}", "a".repeat(200));
        for text in ["", "acme", "acme:", ":a", "acme:a#b", "ac/me:a", "acme:a~2f", long.as_str()] {
            assert!(text.parse::<Idpid>().is_err(), "{text:?}");
        }
        assert_eq!(Idpid::new("acme", ""), None);
        assert_eq!(Idpid::new("acme", &"#".repeat(66)), None);
    }

    proptest! {
        #[test]
        fn any_subject_is_read_back(subject in ".{1,40}") {
            if let Some(idpid) = Idpid::new("acme", &subject) {
                prop_assert_eq!(idpid.to_string().parse(), Ok(idpid));
            }
        }
    }
}
