//! `GET /archive/categories/{categoryId}/collections`

use table::{EntityKey, Key, Stored};
use web::{Context, Page, PageQuery, Path, Problem, Query, Route, Sample, Who, problem};

use super::{CategoryPath, ONE};
use crate::access::{COLLECTIONS_OF_CATEGORY, ONE as ONE_ITEM};
use crate::collections::CollectionView;
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
    let load = async |rows: Vec<Stored>| -> Result<Vec<Option<CollectionView>>, Problem> {
        let keys: Vec<Key> = rows.iter().map(collection_of).collect::<Result<_, _>>()?;
        let found = table.batch_get(&keys).await?;
        let view = |stored: Option<Stored>| -> Result<Option<CollectionView>, Problem> {
            let collection = stored.map(|stored| stored.read::<Collection>()).transpose()?;
            Ok(collection.filter(|collection| collection.category_ids.contains(&id)).map(CollectionView::from))
        };
        found.into_iter().map(view).collect()
    };
    let (items, next) = rows.page_of(query.limit.0, load).await?;
    Ok(Page { items, next_cursor: cx.cursor_to(next)? })
}

fn collection_of(row: &Stored) -> Result<Key, Problem> {
    let key = CollectionCategoryKey::parse(&row.key).ok_or_else(|| Problem::internal("a row of no collection"))?;
    Ok(CollectionKey { collection: key.collection }.into())
}
