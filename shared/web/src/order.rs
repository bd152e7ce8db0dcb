//! The order of a list.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The parameter `order`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    #[default]
    Asc,
    Desc,
}
