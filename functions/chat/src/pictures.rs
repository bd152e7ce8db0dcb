//! Pictures of users and communities. A client uploads a file by a signed link. When the file has arrived, two sizes of
//! it are stored without metadata, and become the picture of their owner.

pub mod create;
pub mod get;
pub mod get_file;
mod remove;
mod scale;
mod store;

pub use remove::{
    REMOVE_OWN_PICTURES, REMOVE_PICTURES, REMOVE_UPLOADS, dropped, picture_of_user, remove, remove_dropped, remove_own,
    remove_upload,
};
pub use store::{STORE_PICTURE, store_picture};

use serde::{Deserialize, Serialize};
use table::access::OnObjects;
use utoipa::ToSchema;

use crate::names::{CommunityId, PictureId, UserId};
use crate::schema::BUCKET;

/// The limit of a file: 5 MiB.
pub const MAX_BYTES: u64 = 5 * 1024 * 1024;

/// Uploaded files, as `incoming/{user}/{picture}`.
const INCOMING: OnObjects = OnObjects { bucket: BUCKET, prefix: "incoming/" };

/// Stored sizes, as `pictures/{picture}/{size}`.
const PICTURES: OnObjects = OnObjects { bucket: BUCKET, prefix: "pictures/" };

/// How long a picture's upload is kept, in seconds. Its file expires in the bucket after the same time.
const RETENTION_SECONDS: i64 = 2 * 24 * 3600;

/// The use of a picture, by a user or a community.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum PictureKind {
    Avatar,
    Cover,
    CommunityAvatar,
    CommunityCover,
}

/// The size of a stored picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum PictureSize {
    Small,
    Large,
}

/// The status of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum PictureStatus {
    /// The file has not arrived.
    Awaiting,
    /// The file is being stored.
    Storing,
    Ready,
    Refused,
}

/// An uploaded picture as the table stores it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Picture {
    kind: PictureKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    community_id: Option<CommunityId>,
    /// The announced size.
    bytes: u64,
    status: PictureStatus,
    /// Why it was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The picture that its owner had before.
    #[serde(skip_serializing_if = "Option::is_none")]
    replaces: Option<PictureId>,
    created_at: String,
    /// Seconds since 1970. Absent while the picture is being stored, and while it is that of its user, so that its objects
    /// are found when the user is deleted.
    #[serde(rename = "expires", skip_serializing_if = "Option::is_none")]
    expires: Option<i64>,
}

impl PictureKind {
    /// Returns the attribute of the owner with the picture's URL.
    fn attribute(self) -> &'static str {
        match self {
            Self::Avatar | Self::CommunityAvatar => "AvatarURL",
            Self::Cover | Self::CommunityCover => "CoverPhotoURL",
        }
    }

    fn is_of_community(self) -> bool {
        matches!(self, Self::CommunityAvatar | Self::CommunityCover)
    }

    /// Returns the longest side of the small and of the large size, in pixels.
    fn sides(self) -> [u32; 2] {
        match self {
            Self::Avatar | Self::CommunityAvatar => [96, 512],
            Self::Cover | Self::CommunityCover => [480, 1920],
        }
    }
}

impl PictureSize {
    const ALL: [Self; 2] = [Self::Small, Self::Large];

    fn name(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Large => "large",
        }
    }
}

/// Returns the path at which a size of a picture is served. The attribute of the owner has the path of the large one.
pub fn path(picture: PictureId, size: PictureSize) -> String {
    format!("/chat/pictures/{picture}/{}", size.name())
}

/// Returns the picture at a path. None for the URL of a picture that is stored elsewhere.
pub fn picture_at(url: &str) -> Option<PictureId> {
    let picture = url.strip_prefix("/chat/pictures/")?.split('/').next()?.parse().ok()?;
    (path(picture, PictureSize::Large) == url).then_some(picture)
}

/// Returns the name of the object that a user uploads.
fn incoming(user: UserId, picture: PictureId) -> String {
    format!("{user}/{picture}")
}

/// Returns the name of an object with a size of a picture.
fn object(picture: PictureId, size: PictureSize) -> String {
    format!("{picture}/{}", size.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_path_of_a_large_picture_names_a_stored_picture() {
        let picture = PictureId::at(1);
        assert_eq!(picture_at(&path(picture, PictureSize::Large)), Some(picture));
        let small = path(picture, PictureSize::Small);
        for url in [small.as_str(), "https://example.org/chat/pictures/1/large", "/chat/pictures/1/large", ""] {
            assert_eq!(picture_at(url), None, "{url}");
        }
    }
}
