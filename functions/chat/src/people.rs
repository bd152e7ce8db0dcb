//! The names of people in lists: `include=people`.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use table::AccessPattern;
use utoipa::ToSchema;
use web::{Context, Problem, response_bytes};

use crate::access::USERS;
use crate::keys::UserKey;
use crate::names::UserId;
use crate::schema;
use crate::users::User;

/// The people of a list.
pub const PEOPLE: AccessPattern = AccessPattern::new("people", &[USERS.batch_get()]);

/// The bytes of the URLs of pictures in a response, which has at most 6 MB.
const MAX_AVATARS: usize = 500_000;

/// An addition to the items of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Include {
    /// The names of the people whom the items name.
    People,
}

/// A person whom a list names.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PersonName {
    pub id: UserId,
    /// Absent once the person is deleted, like the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Also absent from the rest of a long list, once its URLs have 500 KB.
    #[serde(rename = "avatarURL", skip_serializing_if = "Option::is_none")]
    pub avatar_url: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
}

impl From<User> for PersonName {
    fn from(user: User) -> Self {
        let deleted = user.deleted_at.is_some();
        let username = Some(user.username).filter(|_| !deleted);
        Self { id: user.id, username, name: user.name, avatar_url: user.avatar_url, deleted }
    }
}

/// Returns the names of people, each once, if the request includes them.
pub async fn names(
    cx: &Context,
    include: Option<Include>,
    people: impl Iterator<Item = UserId>,
) -> Result<Option<Vec<PersonName>>, Problem> {
    if include.is_none() {
        return Ok(None);
    }
    let people: BTreeSet<UserId> = people.collect();
    let keys: Vec<_> = people.into_iter().map(|user| UserKey { user }.into()).collect();
    if keys.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let found = cx.access().table(&PEOPLE, &schema::USERS).batch_get(&keys).await?;
    let mut bytes = 0;
    let names = found.into_iter().flatten().map(|user| {
        let mut name = PersonName::from(user.read::<User>()?);
        bytes += name.avatar_url.as_ref().map(response_bytes).transpose()?.unwrap_or(0);
        if bytes > MAX_AVATARS {
            name.avatar_url = None;
        }
        Ok(name)
    });
    names.collect::<Result<_, Problem>>().map(Some)
}
