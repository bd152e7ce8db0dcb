//! The memberships of a person in all tenants, for platform administrators.

pub mod list_tenants;
pub mod remove_from_tenants;

use serde::Deserialize;
use table::Idpid;
use utoipa::ToSchema;

const TENANTS: &str = "/tracker/people/{idpid}/tenants";

/// The tenants of the samples.
const SAMPLE: &str = "/tracker/people/local:ann/tenants";

/// The path of a person.
#[derive(Debug, Deserialize, ToSchema)]
pub struct PersonPath {
    /// `{issuer}:{escaped subject}`.
    #[schema(value_type = String, min_length = 3, max_length = 200)]
    idpid: Idpid,
}

/// The partition of a person's memberships in the index.
pub fn memberships(person: &Idpid) -> String {
    format!("user-{person}")
}
