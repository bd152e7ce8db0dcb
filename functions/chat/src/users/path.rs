//! Users in paths: an id, or `me` for the caller.

use serde::Deserialize;
use table::part::NotAPart;
use utoipa::ToSchema;
use web::{Context, Problem};

use crate::caller;
use crate::names::UserId;

/// The path of a user.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserPath {
    /// An id, or `me`.
    #[schema(value_type = String, example = "me")]
    pub user_id: UserRef,
}

/// A user in a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum UserRef {
    Me,
    Id(UserId),
}

impl TryFrom<String> for UserRef {
    type Error = NotAPart;

    fn try_from(text: String) -> Result<Self, NotAPart> {
        if text == "me" { Ok(Self::Me) } else { text.parse().map(Self::Id) }
    }
}

impl UserRef {
    /// Returns the id. The route has the pattern [`CALLER`](crate::access::CALLER).
    pub async fn id(self, cx: &Context) -> Result<UserId, Problem> {
        match self {
            Self::Id(id) => Ok(id),
            Self::Me => caller::find(cx, cx.principal().signed_in()?).await?.ok_or_else(Problem::not_found),
        }
    }

    /// Returns the id, given that of the caller.
    pub fn id_for(self, caller: UserId) -> UserId {
        match self {
            Self::Me => caller,
            Self::Id(id) => id,
        }
    }
}
