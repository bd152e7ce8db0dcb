//! A record with its collection, its household and what else a reader needs with it.

use table::{EntityKey, Key, Stored};
use web::{Context, Problem};

use super::find::Found;
use super::view::{CollectionOfRecord, PostOfRecord, RecordView, Surroundings};
use crate::access::RECORD_DETAIL;
use crate::households::{Members, members_of, view};
use crate::item::Collection;
use crate::keys::{CollectionKey, PostRunKey, RecordHouseholdKey};
use crate::names::Household;
use crate::runs::Run;
use crate::schema::ARCHIVE;
use crate::viewer::{Viewer, require_published};

/// Returns the response for a record. `is_consistent` reads all as the last write left it.
pub async fn detail(cx: &Context, viewer: &Viewer, found: Found, is_consistent: bool) -> Result<RecordView, Problem> {
    let Found { record, post, .. } = found;
    let table = cx.access().table(&RECORD_DETAIL, &ARCHIVE);
    let household = record.household.as_deref().and_then(|household| Household::new(household).ok());
    let mut keys: Vec<Key> = vec![
        CollectionKey { collection: post.collection_id }.key(),
        PostRunKey { post: post.id, run: record.run }.key(),
    ];
    keys.extend(household.clone().map(|household| RecordHouseholdKey { post: post.id, household }.key()));
    let items = if is_consistent { table.batch_get_consistent(&keys).await? } else { table.batch_get(&keys).await? };
    let mut items = items.into_iter();
    // A post that is being deleted loses them.
    let mut next = || -> Result<Stored, Problem> { items.next().flatten().ok_or_else(Problem::lost_race) };
    let collection: Collection = next()?.read()?;
    let run: Run = next()?.read()?;
    let members = match items.next().flatten() {
        Some(stored) => members_of(&stored, record.run)?,
        None => Vec::new(),
    };
    let household = match household {
        Some(household) if !members.is_empty() => {
            let members = Members { post: post.id, household, members };
            view(table, viewer, members, is_consistent).await?
        }
        // A household that is too large has no members. Those of a run that is being replaced are deleted first.
        Some(_) => {
            require_published(cx, post.id, record.run).await?;
            None
        }
        None => None,
    };
    let surroundings = Surroundings {
        run,
        post: PostOfRecord { id: post.id, name: post.name },
        collection: CollectionOfRecord { id: collection.id, name: collection.name },
        citation_template: collection.citation_template,
        image_url_template: collection.image_url_template,
        household,
    };
    Ok(RecordView::new(record, surroundings, viewer))
}
