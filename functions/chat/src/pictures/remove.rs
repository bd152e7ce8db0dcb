//! The removal of stored pictures.

use table::{Access, AccessPattern, Error};

use super::{INCOMING, PICTURES, PictureSize, incoming, object, picture_at};
use crate::names::{PictureId, UserId};
use crate::schema::BUCKET;

/// The removal of the files of pictures.
pub const REMOVE_PICTURES: AccessPattern = AccessPattern::new("removePictures", &[PICTURES.delete()]);

/// The removal of a picture and of the file from which it is stored.
pub const REMOVE_UPLOADS: AccessPattern = AccessPattern::new("removeUploads", &[PICTURES.delete(), INCOMING.delete()]);

/// Deletes all sizes of a picture, if they exist.
pub async fn remove(access: &Access, pattern: &'static AccessPattern, picture: PictureId) -> Result<(), Error> {
    let pictures = access.objects(pattern, BUCKET, PICTURES.prefix);
    for size in PictureSize::ALL {
        pictures.delete(&object(picture, size)).await?;
    }
    Ok(())
}

/// Deletes a picture with its uploaded file, if they exist.
pub async fn remove_upload(access: &Access, user: UserId, picture: PictureId) -> Result<(), Error> {
    access.objects(&REMOVE_UPLOADS, BUCKET, INCOMING.prefix).delete(&incoming(user, picture)).await?;
    remove(access, &REMOVE_UPLOADS, picture).await
}

/// Deletes the pictures at URLs that an owner had before a change and has no more. URLs of pictures that are stored
/// elsewhere are left out.
pub async fn remove_dropped(
    access: &Access,
    before: [&Option<String>; 2],
    after: &[&Option<String>],
) -> Result<(), Error> {
    for url in before {
        let Some(url) = url.as_ref().filter(|_| !after.contains(&url)) else { continue };
        if let Some(picture) = picture_at(url) {
            remove(access, &REMOVE_PICTURES, picture).await?;
        }
    }
    Ok(())
}
