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
use crate::names::UserId;
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
    pub created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_seen_at: Option<String>,
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

/// Returns the check that a user is not deleted, for transactions that make the user the founder of a community or the
/// owner of a group chat. They declare `USERS.check()`.
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
