//! Operations on users, one file each.

pub mod delete;
pub mod get;
pub mod get_me;
pub mod list;
pub mod search;
pub mod update;
pub mod update_me;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use web::{Kind, Problem};

use crate::item::User;
use crate::names::{Role, UserId};

const LIST: &str = "/archive/users";
const ONE: &str = "/archive/users/{userId}";
const ME: &str = "/archive/me";

/// The user of the samples.
const SAMPLE: &str = "/archive/users/7000000004";

pub const OWN_ACCOUNT: Kind = Kind::new(409, "own-account", "The user is the caller");

/// The path of a user.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserPath {
    #[schema(value_type = String, example = "7000000004")]
    pub user_id: UserId,
}

/// A user in responses to administrators.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = User)]
pub struct UserView {
    pub id: UserId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// The role that an administrator has given. A token may have a higher one.
    pub role: Role,
    /// Whether the user may sign in.
    pub enabled: bool,
    pub created_at: String,
    pub updated_at: String,
}

/// The caller's own user.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Me {
    pub id: UserId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// The higher of the token's role and the one that an administrator has given.
    pub role: Role,
    pub created_at: String,
    pub updated_at: String,
}

impl From<User> for UserView {
    fn from(user: User) -> Self {
        Self {
            id: user.id,
            name: user.name,
            email: user.email,
            role: user.role,
            enabled: user.enabled,
            created_at: user.created_at,
            updated_at: user.updated_at,
        }
    }
}

impl Me {
    /// The view of a caller with this effective role.
    fn with_role(user: User, role: Role) -> Self {
        Self {
            id: user.id,
            name: user.name,
            email: user.email,
            role,
            created_at: user.created_at,
            updated_at: user.updated_at,
        }
    }
}

fn own_account() -> Problem {
    OWN_ACCOUNT.because("Another administrator can change your role, disable your user or delete it.")
}
