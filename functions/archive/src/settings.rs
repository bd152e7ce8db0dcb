//! The settings of the archive, and those of its places.

pub mod general;
pub mod metadata;
pub mod places;

use serde::Serialize;
use serde::de::DeserializeOwned;
use table::{Action, Error, Key, Rev, Stored, TableAccess};
use web::{Context, IfMatch, Problem};

use crate::access::PUT_SETTINGS;
use crate::audit::now;
use crate::names::UserId;
use crate::schema::ARCHIVE;

/// An item at a constant key, which is replaced as a whole.
pub trait Setting: Serialize + DeserializeOwned + Clone {
    /// Returns the setting with the times and the creator of the item that it replaces, or with new ones.
    fn audited(self, replaced: Option<&Self>, at: &str, by: UserId) -> Self;
}

/// Reads a setting with its revision. One that was never put has its default.
pub async fn read<T: Setting + Default>(table: TableAccess<'_>, key: Key) -> Result<(T, Option<Rev>), Problem> {
    match table.get(key).await? {
        Some(stored) => Ok((stored.read()?, stored.rev)),
        None => Ok((T::default(), None)),
    }
}

/// Replaces a setting as a whole. Returns it with its revision.
pub async fn put<T: Setting>(
    cx: &Context,
    tag: &IfMatch,
    (table, key): (TableAccess<'_>, Key),
    (new, by): (T, UserId),
) -> Result<(T, Rev), Problem> {
    cx.retry_stale(tag, || async {
        let stored: Option<Stored> = table.get_consistent(key.clone()).await?;
        tag.check(stored.as_ref().and_then(|stored| stored.rev))?;
        let before: Option<T> = stored.as_ref().map(Stored::read).transpose()?;
        let after = new.clone().audited(before.as_ref(), &now(cx), by);
        let action = match (&stored, &before) {
            (Some(stored), Some(before)) => {
                let changes = table::Changes::between(before, &after)?;
                Action::update(&ARCHIVE, key.clone(), changes).if_unchanged(stored)
            }
            _ => Action::create(&ARCHIVE, key.clone(), &after)?,
        };
        match cx.access().write(&PUT_SETTINGS, action).await {
            Ok(rev) => Ok((after, rev)),
            Err(Error::Exists | Error::NotFound) => Err(Problem::lost_race()),
            Err(error) => Err(error.into()),
        }
    })
    .await
}
