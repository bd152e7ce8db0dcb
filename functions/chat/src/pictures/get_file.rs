//! `GET /chat/pictures/{pictureId}/{size}`

use serde::Deserialize;
use table::{AccessPattern, Error};
use utoipa::ToSchema;
use web::{Answer, Context, Path, Problem, Route, Sample, Who, problem};

use super::{PICTURES, PictureSize, object};
use crate::names::PictureId;
use crate::schema::BUCKET;

/// A stored size of a picture.
const PICTURE_FILE: AccessPattern =
    AccessPattern::new("pictureFile", &[PICTURES.head(), PICTURES.get(), PICTURES.list()]);

/// The seconds for which caches may keep a link, less than the five minutes for which it is valid.
const LINK_SECONDS: u32 = 120;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct FilePath {
    picture_id: PictureId,
    size: PictureSize,
}

/// Returns a public route: knowledge of the id is enough, since an image element of a page sends no token.
pub fn route() -> Route {
    Route::get("getPictureFile", "/chat/pictures/{pictureId}/{size}", Who::Public, get)
        .summary("Get a size of a picture as an image, by a redirection to its file")
        .patterns(&[&PICTURE_FILE])
        .answers_empty(303)
        .problems(&[problem::NOT_FOUND])
        .sample(Sample::new("/chat/pictures/019b76da-a800-7000-8000-000000000081/small").expects(404))
}

async fn get(cx: Context, Path(FilePath { picture_id, size }): Path<FilePath>) -> Result<Answer, Problem> {
    let pictures = cx.access().objects(&PICTURE_FILE, BUCKET, PICTURES.prefix);
    let name = object(picture_id, size);
    match pictures.head(&name).await {
        Ok(_) => {}
        Err(Error::NotFound) => return Err(Problem::not_found()),
        Err(error) => return Err(error.into()),
    }
    Ok(Answer::see_other(pictures.get_link(&name).await?.url).public_for(LINK_SECONDS))
}
