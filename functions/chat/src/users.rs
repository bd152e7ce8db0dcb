//! Users: their items, and the operations on them.

pub mod ban;
pub mod get;
pub mod get_by_username;
pub mod operator;
pub mod path;
pub mod register;
pub mod set_role;
pub mod unban;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use table::{Action, Clock, Condition};
use utoipa::ToSchema;
use web::Kind;

use crate::keys::UserKey;
use crate::locations::{Location, LocationView};
use crate::names::{Millisecond, SessionId, UserId};
use crate::schema::USERS;

const LIST: &str = "/chat/users";
const ONE: &str = "/chat/users/{userId}";

pub const OWN_ROLE: Kind = Kind::new(409, "own-role", "The user is the caller");

/// A user as the table stores it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct User {
    pub id: UserId,
    /// In lower case.
    pub username: String,
    /// Absent once the user is deleted, like all personal data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Absent if a foreign issuer signs the user in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bio: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    #[serde(rename = "AvatarURL", skip_serializing_if = "Option::is_none")]
    pub avatar_url: Option<String>,
    #[serde(rename = "CoverPhotoURL", skip_serializing_if = "Option::is_none")]
    pub cover_photo_url: Option<String>,
    pub role: Role,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ban: Option<Ban>,
    /// Absent until all sessions but one were ended for the first time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sessions_from: Option<SessionsFrom>,
    pub created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<String>,
}

/// The token role of administrators. [`Role::Admin`] of the user item means the same.
pub const ADMIN: &str = "chat-admin";

/// The role of a user on the platform.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UserRole)]
pub enum Role {
    #[default]
    User,
    Admin,
}

/// A ban from the platform.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Ban {
    pub reason: String,
    pub by: UserId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
}

impl Ban {
    /// Whether the ban has not ended.
    pub fn lasts(&self, clock: &Clock) -> bool {
        let until = self.until.as_deref().and_then(|until| until.parse::<Timestamp>().ok());
        until.is_none_or(|until| clock.now() < until)
    }
}

/// The time before which the sessions of a user began that are refused. It is written together with what ends them, such
/// as a new password, so that none is left if their rows are not deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct SessionsFrom {
    pub at: String,
    /// The session that has changed the password, and goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<SessionId>,
}

impl SessionsFrom {
    /// Refuses all present sessions but one.
    pub fn now(clock: &Clock, kept: Option<SessionId>) -> Self {
        Self { at: Millisecond::now(clock).to_string(), kept }
    }

    /// Whether a session is refused.
    pub fn refuses(&self, session: SessionId) -> bool {
        // The form of the times has a fixed width.
        self.kept != Some(session) && session.time().to_string() < self.at
    }
}

impl User {
    /// Whether a session of the user has been ended with all others.
    pub fn refuses(&self, session: SessionId) -> bool {
        self.sessions_from.as_ref().is_some_and(|from| from.refuses(session))
    }
}

/// Returns the check that a user is not deleted, for transactions that write something of the user's own. They declare
/// `USERS.check()`.
pub fn not_deleted(user: UserId) -> Action {
    Action::check(&USERS, UserKey { user }).when(Condition::Absent("DeletedAt"))
}

/// The owner of a unique username or address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Guard {
    pub user_id: UserId,
}

/// The user of a person who is signed in by a foreign issuer.
pub type PersonGuard = Guard;

/// A user as others see it. Of a deleted one only the id is left.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = User)]
pub struct UserView {
    #[schema(value_type = UserId)]
    pub id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bio: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<LocationView>,
    #[serde(rename = "avatarURL", skip_serializing_if = "Option::is_none")]
    pub avatar_url: Option<String>,
    #[serde(rename = "coverPhotoURL", skip_serializing_if = "Option::is_none")]
    pub cover_photo_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
}

impl From<User> for UserView {
    fn from(user: User) -> Self {
        if user.deleted_at.is_some() {
            return Self { id: user.id.to_string(), deleted: Some(true), ..Self::default() };
        }
        Self {
            id: user.id.to_string(),
            deleted: None,
            username: Some(user.username),
            name: user.name,
            bio: user.bio,
            location: user.location.map(LocationView::from),
            avatar_url: user.avatar_url,
            cover_photo_url: user.cover_photo_url,
            role: Some(user.role),
            created_at: Some(user.created_at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_from_before_are_refused_but_for_the_one_that_is_kept() {
        let (before, after) = (SessionId::at(1_772_359_200_122), SessionId::at(1_772_359_200_124));
        let at = SessionId::at(1_772_359_200_123).time().to_string();
        let from = |kept| SessionsFrom { at: at.clone(), kept };
        assert!(from(None).refuses(before) && from(Some(after)).refuses(before));
        assert!(!from(Some(before)).refuses(before) && !from(None).refuses(after));
    }
}
