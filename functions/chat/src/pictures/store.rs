//! The handler `storePicture` of the event that a file has arrived: checks the file, stores it in two sizes, and makes it
//! the picture of its owner. A refused file leaves the earlier picture in place. An event may be delivered twice.

use bytes::Bytes;
use table::schema::EXPIRES;
use table::{Access, AccessPattern, Action, Backoff, Changes, Condition, EntityKey, Error, Stored, item};
use web::notification::arrived;
use web::{Event, EventFailure, Problem};

use super::scale::{Scaled, scale};
use super::{INCOMING, MAX_BYTES, PICTURES, Picture, PictureSize, PictureStatus, RETENTION_SECONDS};
use super::{object, path, picture_at, remove};
use crate::access::{COMMUNITIES, LIVE, USERS};
use crate::keys::{CommunityKey, PictureKey, UserKey};
use crate::names::{PictureId, UserId};
use crate::schema::{self, BUCKET};

/// The check of an uploaded file, and the change of its owner's picture.
pub const STORE_PICTURE: AccessPattern = AccessPattern::new(
    "storePicture",
    &[
        LIVE.get(),
        LIVE.update(),
        LIVE.delete(),
        USERS.get(),
        USERS.update(),
        COMMUNITIES.get(),
        COMMUNITIES.update(),
        INCOMING.head(),
        INCOMING.get(),
        INCOMING.list(),
        INCOMING.delete(),
        PICTURES.put(),
        PICTURES.delete(),
    ],
);

pub async fn store_picture(event: Event) -> Result<Bytes, EventFailure> {
    for object in arrived(&event.payload).map_err(EventFailure::new)? {
        store(event.access(), &object).await.map_err(EventFailure::new)?;
    }
    Ok(Bytes::from_static(b"{}"))
}

/// A picture whose file has arrived.
struct Arrived<'a> {
    access: &'a Access,
    /// The name of its file.
    name: &'a str,
    user: UserId,
    id: PictureId,
}

/// The end of an attempt to make a picture that of its owner.
enum Outcome {
    Done,
    /// The owner has changed since it was read.
    Again,
    Refused(&'static str),
}

/// Stores one file.
async fn store(access: &Access, object: &str) -> Result<(), Problem> {
    let Some(name) = object.strip_prefix(INCOMING.prefix) else { return Ok(()) };
    let Some((user, id)) = name.split_once('/') else { return Ok(()) };
    let (Ok(user), Ok(id)) = (user.parse(), id.parse()) else { return Ok(()) };
    let arrived = Arrived { access, name, user, id };
    // Without its item it has expired or was removed, or its user was deleted, which removes the files. A community may
    // have it.
    if let Some((stored, picture)) = arrived.load().await? {
        match picture.status {
            PictureStatus::Awaiting | PictureStatus::Storing => arrived.settle(&stored, &picture).await?,
            // An earlier delivery may have ended before this.
            PictureStatus::Ready => arrived.remove_replaced(&picture).await?,
            PictureStatus::Refused => {}
        }
    }
    Ok(access.objects(&STORE_PICTURE, BUCKET, INCOMING.prefix).delete(name).await?)
}

impl Arrived<'_> {
    async fn load(&self) -> Result<Option<(Stored, Picture)>, Problem> {
        let key = PictureKey { user: self.user, picture: self.id }.key();
        let stored = self.access.table(&STORE_PICTURE, &schema::LIVE).get_consistent(key).await?;
        Ok(match stored {
            Some(stored) => {
                let picture = stored.read()?;
                Some((stored, picture))
            }
            None => None,
        })
    }

    /// Stores the sizes of the file and makes them the picture of the owner, or refuses the file.
    async fn settle(&self, stored: &Stored, picture: &Picture) -> Result<(), Problem> {
        let scaled = match self.take(picture).await? {
            Some(Ok(scaled)) => scaled,
            Some(Err(reason)) => return self.refuse(reason).await,
            None => return Ok(()),
        };
        if picture.status == PictureStatus::Awaiting {
            let storing = Changes::new().set("Status", item::text("storing")).remove(EXPIRES);
            let update = Action::update(&schema::LIVE, stored.key.clone(), storing).if_unchanged(stored);
            match self.access.write(&STORE_PICTURE, update).await {
                // Of two deliveries at once both store it, since either may end before it is done.
                Ok(_) | Err(Error::Stale { .. }) => {}
                // Its user was deleted.
                Err(Error::NotFound) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        let pictures = self.access.objects(&STORE_PICTURE, BUCKET, PICTURES.prefix);
        for (size, Scaled { body, content_type }) in PictureSize::ALL.into_iter().zip(scaled) {
            pictures.put(&object(self.id, size), body, content_type).await?;
        }
        let mut backoff = Backoff::new();
        loop {
            match self.replace(picture).await? {
                Outcome::Done => break,
                Outcome::Again if backoff.wait().await => {}
                // The event is delivered again.
                Outcome::Again => return Err(Problem::lost_race()),
                Outcome::Refused(reason) => {
                    remove(self.access, &STORE_PICTURE, self.id).await?;
                    return self.refuse(reason.to_owned()).await;
                }
            }
        }
        match self.load().await? {
            Some((_, picture)) => self.remove_replaced(&picture).await,
            None => Ok(()),
        }
    }

    /// Reads and scales the file. None if it is gone. The inner error is why it is refused.
    async fn take(&self, picture: &Picture) -> Result<Option<Result<[Scaled; 2], String>>, Problem> {
        let incoming = self.access.objects(&STORE_PICTURE, BUCKET, INCOMING.prefix);
        let bytes = match incoming.head(self.name).await {
            Ok(head) => head.bytes,
            Err(Error::NotFound) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        if bytes > MAX_BYTES {
            return Ok(Some(Err(format!("The file has {bytes} bytes. At most {MAX_BYTES} are allowed."))));
        }
        if bytes != picture.bytes {
            return Ok(Some(Err(format!("{} bytes were announced, and {bytes} arrived.", picture.bytes))));
        }
        let file = match incoming.get(self.name).await {
            Ok(file) => file,
            Err(Error::NotFound) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let sides = picture.kind.sides();
        let scaled = tokio::task::spawn_blocking(move || scale(&file, sides)).await;
        // A decoder that panics must not make S3 deliver the event again.
        Ok(Some(scaled.unwrap_or_else(|_| Err("The file cannot be decoded.".to_owned()))))
    }

    /// Sets the attribute of the owner in one transaction with the status of the picture.
    async fn replace(&self, picture: &Picture) -> Result<Outcome, Problem> {
        const DELETED: Outcome = Outcome::Refused("The user or community was deleted.");
        const NOT_FOUNDER: Outcome = Outcome::Refused("The user is no longer the founder of the community.");
        let (table, key, mark) = match picture.community_id {
            Some(community) => (&schema::COMMUNITIES, CommunityKey { community }.key(), "DeletingAt"),
            None => (&schema::USERS, UserKey { user: self.user }.key(), "DeletedAt"),
        };
        let Some(owner) = self.access.table(&STORE_PICTURE, table).get_consistent(key).await? else {
            return Ok(DELETED);
        };
        if owner.item.contains_key(mark) {
            return Ok(DELETED);
        }
        let user = item::text(self.user.to_string());
        if picture.community_id.is_some() && owner.item.get("Founder") != Some(&user) {
            return Ok(NOT_FOUNDER);
        }
        let attribute = picture.kind.attribute();
        let before = owner.item.get(attribute).and_then(|url| url.as_s().ok());
        let replaces = before.and_then(|url| picture_at(url.as_str())).filter(|before| *before != self.id);
        let url = item::text(path(self.id, PictureSize::Large));
        let own = PictureKey { user: self.user, picture: self.id };
        let expires = self.access.engines().clock.seconds() + RETENTION_SECONDS;
        let mut ready = Changes::new().set("Status", item::text("ready"));
        if picture.community_id.is_some() {
            ready = ready.set(EXPIRES, item::number(expires));
        }
        if let Some(replaces) = replaces {
            ready = ready.set("Replaces", item::text(replaces.to_string()));
        }
        // Members who join change a community, too.
        let mut replace = Action::update(table, owner.key.clone(), Changes::new().set(attribute, url));
        replace = replace.when(Condition::Absent(mark)).when(match before {
            Some(before) => Condition::Equals(attribute, item::text(before)),
            None => Condition::Absent(attribute),
        });
        if picture.community_id.is_some() {
            replace = replace.when(Condition::Equals("Founder", user));
        }
        let actions = [
            replace,
            Action::update(&schema::LIVE, own.key(), ready).when(Condition::Equals("Status", item::text("storing"))),
        ];
        match self.access.transact(&STORE_PICTURE, &actions).await {
            Ok(_) => Ok(Outcome::Done),
            // Another delivery has done it, or the user was deleted.
            Err(error) if error.failed(1).is_some() => {
                Ok(if self.load().await?.is_some() { Outcome::Done } else { DELETED })
            }
            Err(Error::ConditionFailed(_)) => Ok(Outcome::Again),
            Err(error) => Err(error.into()),
        }
    }

    async fn refuse(&self, reason: String) -> Result<(), Problem> {
        let expires = self.access.engines().clock.seconds() + RETENTION_SECONDS;
        let refused = Changes::new().set("Status", item::text("refused")).set("Reason", item::text(reason));
        let refused = refused.set(EXPIRES, item::number(expires));
        let key = PictureKey { user: self.user, picture: self.id }.key();
        let is_open = Condition::Differs("Status", item::text("ready"));
        match self.access.write(&STORE_PICTURE, Action::update(&schema::LIVE, key, refused).when(is_open)).await {
            Ok(_) | Err(Error::NotFound | Error::ConditionFailed(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes the files of the picture that the owner had before, and then its item.
    async fn remove_replaced(&self, picture: &Picture) -> Result<(), Problem> {
        let Some(replaced) = picture.replaces else { return Ok(()) };
        remove(self.access, &STORE_PICTURE, replaced).await?;
        let key = PictureKey { user: self.user, picture: replaced }.key();
        match self.access.write(&STORE_PICTURE, Action::delete(&schema::LIVE, key)).await {
            // The earlier picture of a community may be that of another founder.
            Ok(_) | Err(Error::NotFound) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
