//! `GET /chat/me/pictures/{pictureId}`

use serde::{Deserialize, Serialize};
use table::{AccessPattern, EntityKey};
use utoipa::ToSchema;
use web::{Answer, Context, Path, Problem, Route, Sample, problem};

use super::{Picture, PictureKind, PictureSize, PictureStatus, path};
use crate::access::{CALLER, LIVE};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::keys::PictureKey;
use crate::names::{CommunityId, PictureId};
use crate::schema;

/// An uploaded picture.
const PICTURE: AccessPattern = AccessPattern::new("picture", &[LIVE.get()]);

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PicturePath {
    picture_id: PictureId,
}

/// A picture that the caller has uploaded: the caller's own until it is removed or replaced, any other for two days.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Picture)]
struct PictureView {
    id: PictureId,
    kind: PictureKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    community_id: Option<CommunityId>,
    status: PictureStatus,
    /// Why the file was refused. The owner then keeps the earlier picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The path of the small size, once the picture is ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    small: Option<String>,
    /// The path of the large size, once the picture is ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    large: Option<String>,
    created_at: String,
}

pub fn route() -> Route {
    Route::get("getPicture", "/chat/me/pictures/{pictureId}", SIGNED_IN, get)
        .summary("Get a picture that the caller has uploaded: whether it is ready, or why it was refused")
        .patterns(&[&CALLER, &PICTURE])
        .answers::<PictureView>(200)
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND])
        .sample(Sample::new("/chat/me/pictures/019b76da-a800-7000-8000-000000000081").expects(404))
}

async fn get(cx: Context, Path(PicturePath { picture_id: id }): Path<PicturePath>) -> Result<Answer, Problem> {
    let caller = Caller::load(&cx).await?;
    let key = PictureKey { user: caller.id, picture: id }.key();
    let stored = cx.access().table(&PICTURE, &schema::LIVE).get_consistent(key).await?;
    let picture: Picture = stored.ok_or_else(Problem::not_found)?.read()?;
    let at = |size| (picture.status == PictureStatus::Ready).then(|| path(id, size));
    let view = PictureView {
        id,
        kind: picture.kind,
        community_id: picture.community_id,
        status: picture.status,
        reason: picture.reason.clone(),
        small: at(PictureSize::Small),
        large: at(PictureSize::Large),
        created_at: picture.created_at.clone(),
    };
    let answer = Answer::ok(&view);
    let is_settled = matches!(picture.status, PictureStatus::Ready | PictureStatus::Refused);
    Ok(if is_settled { answer } else { answer.retry_after(1) })
}
