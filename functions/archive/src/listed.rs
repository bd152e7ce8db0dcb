//! Lists of all items of an entity, in the order of the index.

use serde::de::DeserializeOwned;
use table::EntityKey;
use web::{Context, Page, PageQuery, Problem};

use crate::access::LISTED;
use crate::schema::{ARCHIVE, INDEX};

/// Returns a page of the items of the entity whose key this is. Their sort key, which is the same for all, is their
/// partition of the index.
pub async fn listed<K: EntityKey, I: DeserializeOwned, V: From<I>>(
    cx: &Context,
    query: PageQuery,
) -> Result<Page<V>, Problem> {
    let partition = K::SK.unwrap_or_default();
    let after = cx.cursor(query.cursor.as_deref())?;
    let items = cx.access().table(&LISTED, &ARCHIVE).query(partition).index(INDEX).after(after);
    cx.page(items.page(query.limit.0).await?, |stored| Ok(stored.read::<I>()?.into()))
}
