//! The generations that can be audited.

use crate::generation::{Generation, Phase};
use crate::ports::{Fault, Ports, State};

/// Returns the generations that are filled, the one that serves first. An index that is being filled lacks documents.
pub(super) async fn filled<P: Ports>(ports: &P) -> Result<Vec<Generation>, Fault> {
    let written = ports.state().generations().await?.map(|generations| generations.written).unwrap_or_default();
    let mut filled: Vec<_> = written.into_iter().filter(Generation::is_filled).collect();
    filled.sort_by_key(|generation| generation.phase != Phase::Serving);
    Ok(filled)
}
