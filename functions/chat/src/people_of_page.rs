//! Lists whose items each name a user: `include=people` adds the names to the items.

use std::collections::HashMap;

use serde::Deserialize;
use utoipa::ToSchema;
use web::{Context, Limit, Problem};

use crate::names::UserId;
use crate::people::{Include, PersonName, names};

/// The query of such a list.
#[derive(Debug, Deserialize, ToSchema)]
pub struct PeopleQuery {
    #[serde(default)]
    pub limit: Limit,
    #[schema(min_length = 1)]
    pub cursor: Option<String>,
    /// `people` adds the names of the users.
    #[schema(inline)]
    pub include: Option<Include>,
}

/// Reads the names of the users of a page, if the query includes them.
pub async fn people(
    cx: &Context,
    include: Option<Include>,
    users: impl Iterator<Item = UserId>,
) -> Result<HashMap<UserId, PersonName>, Problem> {
    let names = names(cx, include, users).await?.unwrap_or_default();
    Ok(names.into_iter().map(|name| (name.id, name)).collect())
}
