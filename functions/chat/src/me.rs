//! Operations of the caller on the own user.

pub mod change_email;
pub mod change_password;
pub mod change_username;
pub mod get;
mod guards;
mod proof;
pub mod update;

use serde::Serialize;
use utoipa::ToSchema;

use crate::locations::LocationView;
use crate::names::UserId;
use crate::users::{Role, User};

pub const ME: &str = "/chat/me";

/// The caller's own user.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Me {
    pub id: UserId,
    pub username: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bio: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<LocationView>,
    #[serde(rename = "avatarURL", skip_serializing_if = "Option::is_none")]
    pub avatar_url: Option<String>,
    #[serde(rename = "coverPhotoURL", skip_serializing_if = "Option::is_none")]
    pub cover_photo_url: Option<String>,
    /// The effective role: `admin` also for a person whose token has the role `chat-admin`.
    pub role: Role,
    pub created_at: String,
}

impl Me {
    /// The view of a user with this effective role.
    pub fn with_role(user: User, role: Role) -> Self {
        Self {
            id: user.id,
            username: user.username,
            name: user.name,
            email: user.email,
            bio: user.bio,
            location: user.location.map(LocationView::from),
            avatar_url: user.avatar_url,
            cover_photo_url: user.cover_photo_url,
            role,
            created_at: user.created_at,
        }
    }
}
