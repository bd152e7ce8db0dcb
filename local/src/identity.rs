//! The platform's own issuers of bearer tokens, and its secret for cursors.

use std::io::ErrorKind;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use table::Clock;
use table::config::{Issuer, Keys};
use web::token::{Claims, SigningKey};

use crate::error::StartError;
use crate::private_file::read_or_create;

/// The name of the default issuer.
pub const ISSUER: &str = "local";

const AUDIENCE: &str = "cairn";

/// The file of the state folder with the names of its issuers.
const ISSUERS: &str = "issuers.json";

/// The lifetime of a token in seconds.
pub const LIFETIME: i64 = 30 * 24 * 3600;

/// The keys of a platform.
#[derive(Debug)]
pub struct Identity {
    key: SigningKey,
    /// The secret that encrypts cursors.
    pub cursor_secret: String,
}

impl Identity {
    /// Reads the keys from the state folder, or creates them. This needs no lock, so that tokens can be created while
    /// the platform runs.
    pub fn open(folder: &Path) -> Result<Self, StartError> {
        let new_key = || {
            let key = SigningKey::generate().map_err(|error| StartError::new(error.to_string(), "Retry"))?;
            Ok(key.to_pkcs8().to_vec())
        };
        let new_secret = || {
            let mut secret = [0; 32];
            let filled = getrandom::fill(&mut secret);
            filled.map_err(|error| StartError::new(format!("Reading random bytes failed: {error}"), "Retry"))?;
            Ok(URL_SAFE_NO_PAD.encode(secret).into_bytes())
        };
        let path = folder.join("identity.pk8");
        let damaged = |path: &Path| {
            StartError::new(
                format!("`{}` is damaged", path.display()),
                "Remove it; the next start creates a new one, and existing tokens become invalid",
            )
        };
        let key = SigningKey::from_pkcs8(read_or_create(&path, new_key)?).map_err(|_| damaged(&path))?;
        let path = folder.join("cursor-secret");
        let secret = read_or_create(&path, new_secret)?;
        let cursor_secret = String::from_utf8(secret).ok().filter(|secret| !secret.is_empty());
        Ok(Self { key, cursor_secret: cursor_secret.ok_or_else(|| damaged(&path))? })
    }

    /// Returns the issuer of this name, for the configuration of systems.
    pub fn issuer(&self, name: &str) -> Issuer {
        Issuer::new(name, &iss(name), AUDIENCE, Keys::Set(self.key.jwks()))
    }

    /// Creates a bearer token with this subject and these roles.
    pub fn token(&self, subject: &str, roles: &[&str], clock: &Clock) -> Result<String, StartError> {
        self.token_of(&Person { roles, ..Person::new(subject) }, clock)
    }

    /// Creates a bearer token of a person.
    pub fn token_of(&self, person: &Person<'_>, clock: &Clock) -> Result<String, StartError> {
        let now = clock.seconds();
        let claims = Claims {
            iss: iss(person.issuer),
            aud: AUDIENCE.to_owned(),
            sub: person.subject.to_owned(),
            iat: now,
            nbf: now,
            exp: now + LIFETIME,
            roles: person.roles.iter().map(|role| (*role).to_owned()).collect(),
            name: Some(person.name.unwrap_or(person.subject).to_owned()),
            email: person.address.map(str::to_owned),
            email_verified: person.address.is_some(),
            ..Claims::default()
        };
        self.key.sign(&claims).map_err(|error| StartError::new(error.to_string(), "Retry"))
    }
}

/// The person of a token.
#[derive(Clone, Copy, Debug)]
pub struct Person<'a> {
    /// The name of one of the platform's issuers.
    pub issuer: &'a str,
    pub subject: &'a str,
    pub roles: &'a [&'a str],
    /// The subject if absent.
    pub name: Option<&'a str>,
    /// The email address, which counts as verified.
    pub address: Option<&'a str>,
}

impl<'a> Person<'a> {
    /// Returns a person of the default issuer, without roles.
    pub const fn new(subject: &'a str) -> Self {
        Self { issuer: ISSUER, subject, roles: &[], name: None, address: None }
    }
}

/// Saves the names of the platform's issuers. Systems trust no others.
pub fn issue_as(folder: &Path, names: &[String]) -> Result<(), StartError> {
    let (path, partial) = (folder.join(ISSUERS), folder.join("issuers.partial"));
    let write = || {
        std::fs::write(&partial, serde_json::to_vec(names)?)?;
        std::fs::rename(&partial, &path)
    };
    write().map_err(|error: std::io::Error| StartError::folder(&path, error))
}

/// Returns the names of the issuers since the platform's last start, or none if it was never started.
pub fn issuers(folder: &Path) -> Result<Option<Vec<String>>, StartError> {
    let path = folder.join(ISSUERS);
    match std::fs::read(&path) {
        Ok(text) => serde_json::from_slice(&text).map(Some).map_err(|error| StartError::folder(&path, error)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StartError::folder(&path, error)),
    }
}

/// Returns the `iss` claim of an issuer.
fn iss(name: &str) -> String {
    format!("urn:cairn:{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_created_once() {
        let folder = tempfile::tempdir().unwrap();
        let first = Identity::open(folder.path()).unwrap();
        let again = Identity::open(folder.path()).unwrap();
        assert_eq!(first.issuer(ISSUER).keys, again.issuer(ISSUER).keys);
        assert_eq!(first.cursor_secret, again.cursor_secret);
        assert_eq!(first.cursor_secret.len(), 43);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn issuers_are_those_of_the_last_start() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(issuers(folder.path()).unwrap(), None);
        for names in [vec![ISSUER.to_owned(), "acme".to_owned()], vec![ISSUER.to_owned()]] {
            issue_as(folder.path(), &names).unwrap();
            assert_eq!(issuers(folder.path()).unwrap(), Some(names));
        }
    }

    #[test]
    fn damaged_key_is_an_error_with_its_file() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("identity.pk8"), "x").unwrap();
        assert!(Identity::open(folder.path()).unwrap_err().happened.contains("identity.pk8"));
    }
}
