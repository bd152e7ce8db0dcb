//! The `Idempotency-Key` header of a request that creates an item.

use std::net::Ipv4Addr;

use http::HeaderMap;
use sha2::{Digest, Sha256};
use table::idempotency::Idempotency;

use crate::{Context, Fault};

const NAME: &str = "idempotency-key";

/// Reads the header's value, 1 to 64 printable ASCII characters, if it was sent.
pub(crate) fn parse(headers: &HeaderMap) -> Result<Option<String>, Fault> {
    let fault = || Fault::header(NAME, "must be sent once, with 1 to 64 printable ASCII characters");
    let mut values = headers.get_all(NAME).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let text = value.to_str().map_err(|_| fault())?;
    let printable = text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    if values.next().is_some() || text.is_empty() || text.len() > 64 || !printable {
        return Err(fault());
    }
    Ok(Some(text.to_owned()))
}

impl Context {
    /// Returns the key and the fingerprint of a request with an `Idempotency-Key`, if its route honours the header.
    pub(crate) fn idempotency(&self) -> Option<Idempotency> {
        let key = self.idempotency_key.clone()?;
        let mut fingerprint = Sha256::new();
        for part in [self.raw_path.as_bytes(), self.query.to_string().as_bytes(), &self.body] {
            fingerprint.update(part.len().to_be_bytes());
            fingerprint.update(part);
        }
        let fingerprint = fingerprint.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        // Callers without a token have nothing else that tells them apart. `network ` begins no issuer.
        let caller = match self.principal.known() {
            Some(_) => self.principal.text().to_owned(),
            None => format!("network {}", self.network(Ipv4Addr::BROADCAST)),
        };
        Some(Idempotency { caller, operation: self.declared.operation, key, fingerprint })
    }
}
