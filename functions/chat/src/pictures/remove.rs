//! The removal of stored pictures.

use table::{Access, AccessPattern, Action, EntityKey, Error, Stored};

use super::{INCOMING, PICTURES, Picture, PictureSize, PictureStatus, incoming, object, picture_at};
use crate::access::LIVE;
use crate::keys::PictureKey;
use crate::names::{PictureId, UserId};
use crate::schema::{self, BUCKET};

/// The removal of the files of pictures.
pub const REMOVE_PICTURES: AccessPattern = AccessPattern::new("removePictures", &[PICTURES.delete()]);

/// The removal of a user's pictures: their files and items.
pub const REMOVE_OWN_PICTURES: AccessPattern =
    AccessPattern::new("removeOwnPictures", &[PICTURES.delete(), LIVE.delete()]);

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

/// Deletes a picture that a user has no more: its files, and then its item, which has no end by itself.
pub async fn remove_own(access: &Access, user: UserId, picture: PictureId) -> Result<(), Error> {
    remove(access, &REMOVE_OWN_PICTURES, picture).await?;
    let delete = Action::delete(&schema::LIVE, PictureKey { user, picture });
    match access.write(&REMOVE_OWN_PICTURES, delete).await {
        Ok(_) | Err(Error::NotFound) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Returns the picture of an item whose files are deleted with its user. The picture that a community has stays, since it
/// may have another founder by now.
pub fn picture_of_user(stored: &Stored) -> Result<Option<PictureId>, Error> {
    let Some(PictureKey { picture: id, .. }) = PictureKey::parse(&stored.key) else { return Ok(None) };
    let picture: Picture = stored.read()?;
    let is_of_community = picture.community_id.is_some() && picture.status == PictureStatus::Ready;
    Ok(Some(id).filter(|_| !is_of_community))
}

/// Deletes the files of a user's picture, if they exist.
pub async fn remove_upload(access: &Access, stored: &Stored) -> Result<(), Error> {
    let Some(PictureKey { user, picture: id }) = PictureKey::parse(&stored.key) else { return Ok(()) };
    access.objects(&REMOVE_UPLOADS, BUCKET, INCOMING.prefix).delete(&incoming(user, id)).await?;
    match picture_of_user(stored)? {
        Some(id) => remove(access, &REMOVE_UPLOADS, id).await,
        None => Ok(()),
    }
}

/// Deletes the files of the pictures that a community had before a change and has no more. Their items expire.
pub async fn remove_dropped(
    access: &Access,
    before: [&Option<String>; 2],
    after: &[&Option<String>],
) -> Result<(), Error> {
    for picture in dropped(before, after) {
        remove(access, &REMOVE_PICTURES, picture).await?;
    }
    Ok(())
}

/// Returns the pictures at URLs that an owner had before a change and has no more, except those that are stored elsewhere.
pub fn dropped(before: [&Option<String>; 2], after: &[&Option<String>]) -> Vec<PictureId> {
    before.into_iter().filter(|url| !after.contains(url)).flatten().filter_map(|url| picture_at(url)).collect()
}
