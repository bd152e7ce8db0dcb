//! Tickets: each opens one connection, within a minute. The table has only their hashes.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use table::Escaped;
use table::part::NotAPart;

use crate::keys::TicketKey;
use crate::names::{SessionId, UserId};

/// How long a ticket is valid.
pub const TICKET_SECONDS: i64 = 60;

/// The number of random bytes of a ticket.
const BYTES: usize = 32;

/// A ticket as the table stores it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Ticket {
    pub user_id: UserId,
    /// The session whose end closes the connection. Absent if a foreign issuer signs the user in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    #[serde(rename = "expires")]
    pub expires: i64,
}

/// Returns a random ticket.
pub fn random() -> Result<String, getrandom::Error> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// Returns the key of a ticket.
pub fn key(ticket: &str) -> Result<TicketKey, NotAPart> {
    let hash: String = Sha256::digest(ticket).iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(TicketKey { hash: Escaped::new(hash)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickets_differ_and_are_valid_in_a_url() {
        let (one, other) = (random().unwrap(), random().unwrap());
        assert_ne!(one, other);
        assert_eq!(one.len(), 43);
        assert!(one.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'), "{one}");
        assert_ne!(key(&one), key(&other));
        assert!(!key(&one).unwrap().hash.text().contains(&one));
    }
}
