//! The `Idempotency-Key` header of a request that creates.

use http::HeaderMap;
use sha2::{Digest, Sha256};
use table::idempotency::Idempotency;

use crate::{Context, Fault};

const NAME: &str = "idempotency-key";

/// The header's value, 1 to 64 printable ASCII characters, where it was sent.
pub(crate) fn read(headers: &HeaderMap) -> Result<Option<String>, Fault> {
    let fault = || Fault::header(NAME, "must be 1 to 64 printable ASCII characters, sent once");
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
    /// What makes this request one that is carried out once, where it carries an `Idempotency-Key` and its route creates.
    pub fn idempotency(&self) -> Option<Idempotency> {
        let key = self.idempotency_key.clone()?;
        let mut fingerprint = Sha256::new();
        for part in [self.raw_path.as_bytes(), self.query.to_string().as_bytes(), &self.body] {
            fingerprint.update(part.len().to_be_bytes());
            fingerprint.update(part);
        }
        let fingerprint = fingerprint.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        let caller = self.principal.text().to_owned();
        Some(Idempotency { caller, operation: self.route.name, key, fingerprint })
    }
}
