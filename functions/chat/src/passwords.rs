//! Passwords: their rules, and their hashes by argon2id.

use std::fmt;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use icu_normalizer::ComposingNormalizerBorrowed;
use serde::Deserialize;
use utoipa::ToSchema;
use web::{Context, Fault, Kind, Problem};

use crate::users::User;

pub const BAD_CREDENTIALS: Kind = Kind::new(401, "bad-credentials", "Wrong login or password");

/// [`BAD_CREDENTIALS`] for a user who is signed in already.
pub const WRONG_PASSWORD: Kind = Kind::new(403, "bad-credentials", "Wrong password");

/// The passwords of at least [`MIN`] characters among the 30 000 most common ones, in lower case and sorted. They come
/// from `frequency_lists.rs` of the crate zxcvbn 3.1.1 (MIT), which has the list of Dropbox's zxcvbn.
const COMMON: &str = include_str!("passwords/common.txt");

/// The least and the most characters.
const MIN: usize = 10;
const MAX: usize = 128;

/// The hash of a password that no user has, for logins that do not exist.
const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5IGxvZ3MgaW4$9y1cZ0JYgmWFq3hF2n0uHqVhK0tqj1yHqk3uJ6w0xXo";

/// A password as a client sends it. It never appears in debug output.
#[derive(Clone, Default, Deserialize, ToSchema)]
#[serde(from = "String")]
#[schema(value_type = String, min_length = 1, max_length = 1024, format = "password")]
pub struct Password(String);

impl From<String> for Password {
    /// Normalizes to NFC, so that a keyboard that composes letters in another way makes no difference.
    fn from(text: String) -> Self {
        Self(ComposingNormalizerBorrowed::new_nfc().normalize(&text).into_owned())
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Password")
    }
}

impl Password {
    /// Whether the body had none, or one that its schema refuses.
    pub fn is_absent(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns what is wrong with a new password of a user with this name and address.
    pub fn faults(&self, pointer: &str, username: &str, email: Option<&str>) -> Vec<Fault> {
        if self.is_absent() {
            return Vec::new();
        }
        let mut faults = Vec::new();
        if !(MIN..=MAX).contains(&self.0.chars().count()) {
            faults.push(Fault::pointer(pointer, format!("must have {MIN} to {MAX} characters")));
        }
        let lower = self.0.to_lowercase();
        if is_common(&lower) {
            faults.push(Fault::pointer(pointer, "must not be one of the most common passwords"));
        }
        if lower == username.to_lowercase() || email.is_some_and(|email| lower == email.to_lowercase()) {
            faults.push(Fault::pointer(pointer, "must not be the username or the email address"));
        }
        faults
    }

    /// Returns 400 unless a user may have this password.
    pub fn check(&self, pointer: &str, user: &User) -> Result<(), Problem> {
        let faults = self.faults(pointer, &user.username, user.email.as_deref());
        if faults.is_empty() { Ok(()) } else { Err(Problem::faults(faults)) }
    }

    /// Returns the hash of a new password.
    pub async fn hash(&self, cx: &Context) -> Result<String, Problem> {
        let password = self.0.clone();
        run(cx, move || {
            let hash: Result<PasswordHash, _> = Argon2::default().hash_password(password.as_bytes());
            hash.map(|hash| hash.to_string()).map_err(|error| error.to_string())
        })
        .await?
        .map_err(Problem::internal)
    }

    /// Whether the password has this hash. Without one it takes as long, and the answer is no.
    pub async fn verify(&self, cx: &Context, hash: Option<&str>) -> Result<bool, Problem> {
        let (password, stored) = (self.0.clone(), hash.unwrap_or(NOBODY).to_owned());
        let is_right = run(cx, move || {
            let hash = PasswordHash::new(&stored).map_err(|error| error.to_string())?;
            Ok::<_, String>(Argon2::default().verify_password(password.as_bytes(), &hash).is_ok())
        });
        Ok(is_right.await?.map_err(Problem::internal)? && hash.is_some())
    }
}

/// Whether a hash has other parameters than new ones.
pub fn is_outdated(hash: &str) -> bool {
    let parameters = |hash: &str| hash.rsplitn(3, '$').nth(2).map(str::to_owned);
    parameters(hash) != parameters(NOBODY)
}

/// Runs argon2 once, beside the tasks of other requests.
async fn run<T: Send + 'static>(cx: &Context, argon2: impl FnOnce() -> T + Send + 'static) -> Result<T, Problem> {
    tracing::debug!(request.id = cx.id(), "argon2 run");
    tokio::task::spawn_blocking(argon2).await.map_err(Problem::internal)
}

fn is_common(lower: &str) -> bool {
    // The file is small, and a search of it takes a tiny part of the time of the hash.
    COMMON.lines().any(|common| common == lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(password: &str) -> usize {
        Password::from(password.to_owned()).faults("/password", "ann.fields.1", Some("ann@fields.example")).len()
    }

    #[test]
    fn password_has_10_to_128_characters_and_is_neither_common_nor_a_name() {
        for right in ["moss on stones", "0123456789a!", &"é".repeat(128), "ann.fields.12"] {
            assert_eq!(faults(right), 0, "{right}");
        }
        for wrong in ["moss", &"é".repeat(129), "Password123", "QWERTYUIOP", "Ann.Fields.1", "ANN@fields.example"] {
            assert_eq!(faults(wrong), 1, "{wrong}");
        }
    }

    #[test]
    fn characters_count_after_composition() {
        // Ten code points, which compose to five letters.
        assert_eq!(faults(&"e\u{301}".repeat(5)), 1);
        assert_eq!(faults(&"e\u{301}".repeat(10)), 0);
    }

    #[test]
    fn common_passwords_are_sorted_in_lower_case_and_long_enough() {
        let all: Vec<&str> = COMMON.lines().collect();
        assert!(all.is_sorted() && all.len() > 1000);
        assert!(all.iter().all(|common| common.chars().count() >= MIN && common.to_lowercase() == **common));
    }

    #[test]
    fn hash_of_nobody_has_the_parameters_of_new_hashes() {
        let new: PasswordHash = Argon2::default().hash_password(b"moss").unwrap();
        assert!(!is_outdated(&new.to_string()), "{new}");
        assert!(is_outdated(&new.to_string().replace("m=19456", "m=4096")));
        assert!(new.to_string().starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
        assert!(PasswordHash::new(NOBODY).is_ok());
    }

    #[test]
    fn debug_output_has_no_password() {
        assert_eq!(format!("{:?}", Password::from("moss".to_owned())), "Password");
    }
}
