//! `GET /archive/categories/{categoryId}/collections`

use table::{EntityKey, Key, Position, Stored};
use web::{Context, Page, PageQuery, Path, Problem, Query, Route, Sample, Who, problem};

use super::{CategoryPath, ONE};
use crate::access::{COLLECTIONS_OF_CATEGORY, ONE as ONE_ITEM};
use crate::collections::CollectionView;
use crate::fitting::fitting;
use crate::item::Collection;
use crate::keys::{CategoryKey, CollectionCategoryKey, CollectionKey, collections_of};
use crate::schema::{ARCHIVE, INDEX};

pub fn route() -> Route {
    Route::get("listCategoryCollections", format!("{ONE}/collections"), Who::Public, list)
        .summary("List the collections of a category by id")
        .patterns(&[&ONE_ITEM, &COLLECTIONS_OF_CATEGORY])
        .problems(&[problem::NOT_FOUND])
        .sample(Sample::new("/archive/categories/7000000001/collections"))
}

async fn list(
    cx: Context,
    Path(CategoryPath { category_id: id }): Path<CategoryPath>,
    Query(query): Query<PageQuery>,
) -> Result<Page<CollectionView>, Problem> {
    let after = cx.cursor(query.cursor.as_deref())?;
    let category = cx.access().table(&ONE_ITEM, &ARCHIVE).get(CategoryKey { category: id }).await?;
    category.ok_or_else(Problem::not_found)?;
    let table = cx.access().table(&COLLECTIONS_OF_CATEGORY, &ARCHIVE);
    let rows = table.query(collections_of(id)).index(INDEX).after(after);
    // A collection may have left the category or have been deleted since the index was written.
    let load = async |page: Vec<Stored>| -> Result<Vec<Option<Listed>>, Problem> {
        let keys: Vec<Key> = page.iter().map(collection_of).collect::<Result<_, _>>()?;
        let found = table.batch_get(&keys).await?;
        let view = |(stored, row): (Option<Stored>, &Stored)| -> Result<Option<Listed>, Problem> {
            let collection = stored.map(|stored| stored.read::<Collection>()).transpose()?;
            let collection = collection.filter(|collection| collection.category_ids.contains(&id));
            Ok(collection.and_then(|collection| Some((Some(collection.into()), rows.position_of(row)?))))
        };
        found.into_iter().zip(&page).map(view).collect()
    };
    let (found, next) = rows.page_of(query.limit.0, load).await?;
    // The rows are small, and the collections may be large.
    let (items, next) = fitting(found, next)?;
    Ok(Page { items, next_cursor: cx.cursor_to(next)? })
}

/// A collection, which is there, and the position after its row.
type Listed = (Option<CollectionView>, Position);

fn collection_of(row: &Stored) -> Result<Key, Problem> {
    let key = CollectionCategoryKey::parse(&row.key).ok_or_else(|| Problem::internal("a row of no collection"))?;
    Ok(CollectionKey { collection: key.collection }.into())
}
