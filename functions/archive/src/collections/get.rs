//! `GET /archive/collections/{collectionId}`

use table::{Key, Stored};
use web::{Context, Path, Problem, Route, Sample, Tagged, problem};

use super::{CollectionPath, CollectionView, NamedCategory, ONE, SAMPLE};
use crate::access::{CALLER, COLLECTION_DETAIL, ONE as ONE_ITEM};
use crate::item::{Category, Collection, CollectionUse};
use crate::keys::{CategoryKey, CollectionKey, CollectionUseKey};
use crate::schema::ARCHIVE;
use crate::viewer::{READERS, Viewer};

pub fn route() -> Route {
    Route::get("getCollection", ONE, READERS, get)
        .summary("Get a collection with its categories, for staff also with its number of records")
        .patterns(&[&CALLER, &ONE_ITEM, &COLLECTION_DETAIL])
        .problems(&[problem::NOT_FOUND])
        .sample(Sample::new(SAMPLE))
}

async fn get(
    cx: Context,
    Path(CollectionPath { collection_id: id }): Path<CollectionPath>,
) -> Result<Tagged<CollectionView>, Problem> {
    let viewer = Viewer::load(&cx).await?;
    let stored = cx.access().table(&ONE_ITEM, &ARCHIVE).get_consistent(CollectionKey { collection: id }).await?;
    let stored = stored.ok_or_else(Problem::not_found)?;
    let collection: Collection = stored.read()?;
    let counts = Key::from(CollectionUseKey { collection: id });
    let categories = collection.category_ids.iter().map(|category| CategoryKey { category: *category }.into());
    let keys: Vec<Key> = [counts].into_iter().chain(categories).collect();
    let mut found = cx.access().table(&COLLECTION_DETAIL, &ARCHIVE).batch_get(&keys).await?.into_iter();
    let counts = found.next().flatten().map(|stored| stored.read::<CollectionUse>()).transpose()?.unwrap_or_default();
    let named = |stored: Stored| {
        let category: Category = stored.read()?;
        Ok(NamedCategory { id: category.id, name: category.name })
    };
    let categories = found.flatten().map(named).collect::<Result<_, Problem>>()?;
    let view = CollectionView {
        categories: Some(categories),
        record_count: Some(counts.records).filter(|_| viewer.is_staff),
        ..CollectionView::from(collection)
    };
    Ok(Tagged::new(&view, viewer.tag(stored.rev)))
}
