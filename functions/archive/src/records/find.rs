//! Finding a record by its permanent id.

use table::{EntityKey, Key, Stored};
use web::{Context, Problem};

use super::WITHDRAWN;
use super::address::{Address, Place, Withdrawal, place};
use crate::access::{ONE, RECORD};
use crate::authorization::Caller;
use crate::item::Post;
use crate::keys::{PostKey, RECORD_PREFIX, RecordAddressKey, RecordKey};
use crate::names::{PostId, RecordId, RunNumber};
use crate::posts::unpublish::NOT_PUBLISHED;
use crate::record::{OPEN, Record};
use crate::schema::ARCHIVE;
use crate::viewer::Viewer;

/// The most items under the id of a record: the record itself and its address. Under the id of a post, the households of
/// the post have the same prefix, and there may be thousands of them.
const ITEMS_OF_RECORD: u32 = 2;

/// A record of the published run of its post.
#[derive(Clone, Debug)]
pub struct Found {
    pub record: Record,
    /// The item of the record.
    pub stored: Stored,
    pub post: Post,
    /// The item of the post.
    pub stored_post: Stored,
}

/// A post with the record of a permanent id, if readers see it.
enum Lookup {
    Found(Box<Found>),
    /// The record is not there any more.
    Withdrawn {
        why: Withdrawal,
        /// The first day on which the public could have seen it, or [`OPEN`], if it is known.
        visible_from: Option<u32>,
    },
    /// Readers see no run of the post.
    Unpublished(Box<Post>),
}

/// Finds a record by its permanent id. 404 if there is none.
async fn find(cx: &Context, id: RecordId) -> Result<Lookup, Problem> {
    let table = cx.access().table(&RECORD, &ARCHIVE);
    let under_id = table.query(id.to_string()).begins_with(RECORD_PREFIX).consistent().page(ITEMS_OF_RECORD).await?;
    let (mut first, mut address) = (None, None);
    for stored in under_id.items {
        if RecordAddressKey::parse(&stored.key).is_some() {
            address = Some(Address::read(stored)?);
        } else if let Some(key) = RecordKey::parse(&stored.key) {
            let record: Record = stored.read()?;
            // The ids of later runs are not for readers.
            if record.permanent_id == id {
                first = Some((key.post, record, stored));
            }
        }
    }
    let of_record = first.as_ref().map(|(post, _, _)| *post);
    let post = of_record.or(address.as_ref().map(|address| address.post)).ok_or_else(Problem::not_found)?;
    let (stored_post, post) = load_post(cx, post).await?;
    let Some(published) = post.published_run else { return Ok(Lookup::Unpublished(Box::new(post))) };
    let run_of_first = first.as_ref().map(|(_, record, _)| record.run);
    let open_in_first = first.as_ref().map(|(_, record, _)| record.visible_from.unwrap_or(OPEN));
    let visible_from = address.as_ref().and_then(|address| address.visible_from).max(open_in_first);
    let (record, stored) = match (place(published, run_of_first, address.as_ref()), first) {
        (Place::Own, Some((_, record, stored))) => (record, stored),
        (Place::At(record), _) => load_record(cx, RecordKey { record, post: post.id }, published).await?,
        (Place::Withdrawn(why), _) => return Ok(Lookup::Withdrawn { why, visible_from }),
        (Place::Own | Place::Unknown, _) => return Err(Problem::not_found()),
    };
    Ok(Lookup::Found(Box::new(Found { record, stored, post, stored_post })))
}

/// Finds a record that the viewer may see. 404 also while it is unpublished or closed, and after it was withdrawn for as
/// long as it would be closed or if that is not known: the public does not learn that it existed. Otherwise a withdrawn one
/// is 410.
pub async fn find_public(cx: &Context, viewer: &Viewer, id: RecordId) -> Result<Found, Problem> {
    match find(cx, id).await? {
        Lookup::Found(found) if viewer.sees_record(&found.record) => Ok(*found),
        Lookup::Withdrawn { why, visible_from } if viewer.sees_gone(visible_from) => {
            Err(WITHDRAWN.because(why.reason()))
        }
        Lookup::Found(_) | Lookup::Withdrawn { .. } | Lookup::Unpublished(_) => Err(Problem::not_found()),
    }
}

/// Finds a record in a post of the caller, or in any for an editor. 410 if it was withdrawn, 409 while the post is not
/// published.
pub async fn find_own(cx: &Context, caller: &Caller, id: RecordId) -> Result<Found, Problem> {
    match find(cx, id).await? {
        Lookup::Found(found) => {
            caller.require_own(&found.post)?;
            Ok(*found)
        }
        Lookup::Withdrawn { why, .. } => Err(WITHDRAWN.because(why.reason())),
        Lookup::Unpublished(post) => {
            caller.require_own(&post)?;
            Err(NOT_PUBLISHED.because("Readers see no record of the post. Publish it first."))
        }
    }
}

async fn load_post(cx: &Context, post: PostId) -> Result<(Stored, Post), Problem> {
    let stored = cx.access().table(&ONE, &ARCHIVE).get_consistent(PostKey { post }).await?;
    let stored = stored.ok_or_else(Problem::not_found)?;
    let post = stored.read()?;
    Ok((stored, post))
}

/// Reads the record of a run. A later run may have taken the place of this one in the meantime.
async fn load_record(cx: &Context, key: RecordKey, run: RunNumber) -> Result<(Record, Stored), Problem> {
    let stored = cx.access().table(&RECORD, &ARCHIVE).get_consistent(Key::from(key)).await?;
    let stored = stored.ok_or_else(Problem::lost_race)?;
    let record: Record = stored.read()?;
    if record.run == run { Ok((record, stored)) } else { Err(Problem::lost_race()) }
}
