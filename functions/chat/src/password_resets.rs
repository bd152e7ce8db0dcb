//! Codes that administrators give to users who have forgotten their password. The table has a hash of each, so that a code
//! cannot be read from it.

pub mod create;
pub mod reset;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use table::part::Escaped;
use web::Problem;

use crate::keys::PasswordResetKey;
use crate::names::UserId;

/// The seconds for which a code is valid.
const LIFETIME: i64 = 3600;

/// A code as the table stores it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct PasswordReset {
    user_id: UserId,
    #[serde(rename = "expires")]
    expires: i64,
}

fn key(code: &str) -> Result<PasswordResetKey, Problem> {
    let hash: String = Sha256::digest(code).iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(PasswordResetKey { hash: Escaped::new(hash).map_err(Problem::internal)? })
}
