//! `GET /parks/items`: several items by their global ids

use std::collections::HashSet;

use futures::stream::{self, StreamExt, TryStreamExt};
use serde::{Deserialize, Serialize};
use table::Key;
use utoipa::ToSchema;
use web::{Context, Json, Problem, Query, Route, Sample, response_bytes};

use super::{LoadedItem, by_global_id};
use crate::access::{BY_GLOBAL_IDS, READ_SHAPE};
use crate::item::Item;
use crate::schema::PARKS;
use crate::shapes;
use crate::view::{
    CARD_DESCRIPTION_LENGTH, Cached, EVERYONE, FieldsParameter, GeometryParameter, ItemView, MAX_BYTES, View,
    ViewParameter,
};

/// The number of ids that are looked up concurrently.
const CONCURRENCY: usize = 16;

#[derive(Debug, Deserialize, ToSchema)]
pub struct ItemsQuery {
    /// The global ids of 1 to 100 items.
    #[schema(min_items = 1, max_items = 100)]
    ids: Vec<String>,
    /// `card` shortens the description to 300 characters and the images to the first, and leaves out shapes, search terms,
    /// open ranges and the administrators' notes.
    #[schema(nullable = false)]
    fields: Option<FieldsParameter>,
    /// `public` shows an administrator the visitors' view.
    #[schema(nullable = false)]
    view: Option<ViewParameter>,
}

/// The items in the order of the request.
#[derive(Debug, Serialize, ToSchema)]
pub struct Items {
    items: Vec<ItemView>,
    /// The ids of no item, and of items that the view does not show.
    missing: Vec<String>,
    /// The ids of further items, which did not fit into the response. Request them again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Option<Vec<String>>)]
    omitted: Vec<String>,
}

pub fn route() -> Route {
    Route::get("getItems", "/parks/items", EVERYONE, get_many)
        .summary("Get up to 100 items by their global ids")
        .patterns(&[&BY_GLOBAL_IDS, &READ_SHAPE])
        .sample(Sample::new("/parks/items?ids=01890a5d-ac96-774b-bcce-b302099a8057"))
}

async fn get_many(cx: Context, Query(query): Query<ItemsQuery>) -> Result<Cached<Json<Items>>, Problem> {
    let view = View::of(&cx, query.view);
    let mut seen = HashSet::new();
    let ids: Vec<String> = query.ids.into_iter().filter(|id| seen.insert(id.clone())).collect();
    let loaded = load(&cx, &ids, view).await?;
    let (mut items, mut missing, mut omitted, mut bytes) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for (id, item) in ids.into_iter().zip(loaded) {
        let Some(item) = item else {
            missing.push(id);
            continue;
        };
        let mut shown = ItemView::new(&item, view);
        match query.fields {
            Some(FieldsParameter::Card) => shown = card(shown),
            None => {
                shapes::embed(cx.access(), &item, &mut shown, GeometryParameter::Link).await?;
            }
        }
        bytes += response_bytes(&shown)?;
        if bytes > MAX_BYTES && !items.is_empty() {
            omitted.push(id);
        } else {
            items.push(shown);
        }
    }
    Ok(Cached(view, Json(Items { items, missing, omitted })))
}

/// The items with these ids that the view shows. As for one item, the index has only keys.
async fn load(cx: &Context, ids: &[String], view: View) -> Result<Vec<Option<Item>>, Problem> {
    let keys: Vec<_> = ids.iter().map(|id| by_global_id(cx.access(), &BY_GLOBAL_IDS, id)).collect();
    let keys: Vec<Option<Key>> = stream::iter(keys).buffered(CONCURRENCY).try_collect().await?;
    let known: Vec<Key> = keys.iter().flatten().cloned().collect();
    let parks = cx.access().table(&BY_GLOBAL_IDS, &PARKS);
    let stored = match view {
        View::Visitor => parks.batch_get(&known).await?,
        View::Administrator => parks.batch_get_consistent(&known).await?,
    };
    let mut stored = stored.into_iter();
    let item = |key: Option<Key>| {
        let stored = key.and_then(|_| stored.next().flatten());
        let loaded = stored.map(LoadedItem::new).transpose()?;
        Ok(loaded.map(|loaded| loaded.item).filter(|item| view.shows(item)))
    };
    keys.into_iter().map(item).collect()
}

/// The fields of a card: the start of the description and the first image, and nothing long.
fn card(item: ItemView) -> ItemView {
    let description = item.description.map(|text| text.chars().take(CARD_DESCRIPTION_LENGTH).collect());
    let image_urls = item.image_urls.map(|urls| urls.into_iter().take(1).collect());
    ItemView { description, image_urls, search_terms: None, open_ranges: None, admin_notes: None, ..item }
}
