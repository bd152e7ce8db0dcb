//! Codes that administrators give to users who have forgotten their password. The table has a hash of each, so that a code
//! cannot be read from it. A new password makes all codes of its user void.

pub mod create;
pub mod reset;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use table::part::Escaped;
use web::Problem;

use crate::keys::PasswordResetKey;
use crate::names::UserId;
use crate::users::User;

/// The seconds for which a code is valid.
const LIFETIME: i64 = 3600;

/// A code as the table stores it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct PasswordReset {
    user_id: UserId,
    /// What tells whether the password was changed since. Absent for a user without a password.
    #[serde(skip_serializing_if = "Option::is_none")]
    password: Option<String>,
    #[serde(rename = "expires")]
    expires: i64,
}

/// Returns what tells the passwords of a user apart. It is not the hash itself, which has one place only.
fn password_of(user: &User) -> Option<String> {
    user.password_hash.as_deref().map(digest)
}

fn key(code: &str) -> Result<PasswordResetKey, Problem> {
    Ok(PasswordResetKey { hash: Escaped::new(digest(code)).map_err(Problem::internal)? })
}

fn digest(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}
