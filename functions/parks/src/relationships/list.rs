//! `GET /parks/relationships/{pk}/{sk}`: the relationships of an item.

use serde::{Deserialize, Serialize};
use table::{Key, Position, Query};
use utoipa::ToSchema;
use web::{Context, Limit, Page, Path, Problem, Route, Sample};

use super::{Relationship, RelationshipView};
use crate::access::{RELATED_ITEMS, RELATIONSHIPS, REVERSE};
use crate::item::Item;
use crate::keys::ItemRef;
use crate::names::Kind;
use crate::schema::PARKS;
use crate::view::{Cached, EVERYONE, Summary, View, ViewParameter};

/// The key of an item.
#[derive(Debug, Deserialize, ToSchema)]
pub struct RelationshipsPath {
    #[schema(example = "geozone::bcparks_1")]
    pub pk: String,
    #[schema(example = "1")]
    pub sk: String,
}

/// The direction of relationships from an item: `forward` if the item is the first of the pair, `reverse` if it is the
/// second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    Forward,
    Reverse,
    /// Forward first.
    #[default]
    Both,
}

#[derive(Debug, Deserialize, ToSchema)]
pub struct RelationshipsQuery {
    #[serde(default)]
    pub limit: Limit,
    pub cursor: Option<String>,
    #[serde(default)]
    pub direction: Direction,
    /// Only relationships to items of this entity.
    pub entity: Option<Kind>,
    /// Adds the other item to each relationship.
    #[serde(default)]
    pub expand: bool,
    /// `public` shows an administrator the visitors' view.
    pub view: Option<ViewParameter>,
}

/// A relationship from the point of view of one of its items.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Related {
    /// `forward` if the item of the path is the first of the pair, else `reverse`.
    pub direction: Direction,
    pub pk1: String,
    pub sk1: String,
    pub entity1: Kind,
    pub pk2: String,
    pub sk2: String,
    pub entity2: Kind,
    /// With `expand`, the other item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<Summary>,
}

/// The end of a page.
#[derive(Debug, Serialize, Deserialize)]
enum PageEnd {
    Forward(Option<Position>),
    Reverse(Option<Position>),
}

pub fn route() -> Route {
    Route::get("listRelationships", "/parks/relationships/{pk}/{sk}", EVERYONE, list)
        .summary("List the relationships of an item, in both directions or one")
        .patterns(&[&RELATIONSHIPS, &REVERSE, &RELATED_ITEMS])
        .sample(Sample::new("/parks/relationships/geozone::bcparks_1/1?expand=true"))
}

async fn list(
    cx: Context,
    Path(path): Path<RelationshipsPath>,
    web::Query(query): web::Query<RelationshipsQuery>,
) -> Result<Cached<Page<Related>>, Problem> {
    let view = View::of(&cx, query.view);
    let after: Option<PageEnd> = cx.cursor(query.cursor.as_deref())?;
    let Some(item) = ItemRef::of(&path.pk, &path.sk) else {
        return Ok(Cached(view, Page { items: Vec::new(), next_cursor: None }));
    };
    let (relationships, next) = page(&cx, &item, &query, view, after).await?;
    let summaries = if query.expand { summaries(&cx, &item, &relationships, view).await? } else { Vec::new() };
    let mut summaries = summaries.into_iter();
    let related = |relationship: &Relationship| Related::new(relationship, &item, summaries.next().flatten());
    let items = relationships.iter().map(related).collect();
    let next_cursor = cx.cursor_to(next)?;
    Ok(Cached(view, Page { items, next_cursor }))
}

/// A page with relationships forward first, then in reverse.
async fn page(
    cx: &Context,
    item: &ItemRef,
    query: &RelationshipsQuery,
    view: View,
    after: Option<PageEnd>,
) -> Result<(Vec<Relationship>, Option<PageEnd>), Problem> {
    let limit = query.limit.0;
    let after = after.unwrap_or(match query.direction {
        Direction::Reverse => PageEnd::Reverse(None),
        Direction::Forward | Direction::Both => PageEnd::Forward(None),
    });
    let mut found = Vec::new();
    let after = match after {
        PageEnd::Reverse(after) => after,
        PageEnd::Forward(after) => {
            let page = forward(cx, item, query.entity, view).after(after).page(limit).await?;
            found.extend(page.items);
            if page.next.is_some() || query.direction == Direction::Forward {
                let next = page.next.map(|position| PageEnd::Forward(Some(position)));
                return Ok((read(&found)?, next));
            }
            None
        }
    };
    let missing = limit.saturating_sub(found.len() as u32);
    let reverse = reverse(cx, item, query.entity, view).after(after);
    let next = if missing == 0 {
        reverse.first().await?.map(|_| PageEnd::Reverse(None))
    } else {
        let page = reverse.page(missing).await?;
        found.extend(page.items);
        page.next.map(|position| PageEnd::Reverse(Some(position)))
    };
    Ok((read(&found)?, next))
}

fn read(found: &[table::Stored]) -> Result<Vec<Relationship>, Problem> {
    found.iter().map(|stored| Relationship::read(stored).map_err(Problem::from)).collect()
}

fn forward<'a>(cx: &'a Context, item: &ItemRef, entity: Option<Kind>, view: View) -> Query<'a> {
    let parks = cx.access().table(&RELATIONSHIPS, &PARKS);
    let all = parks.query(format!("rel::{item}"));
    of_entity(
        match view {
            View::Visitor => all.index("publicList"),
            View::Administrator => all.consistent(),
        },
        entity,
    )
}

fn reverse<'a>(cx: &'a Context, item: &ItemRef, entity: Option<Kind>, view: View) -> Query<'a> {
    let parks = cx.access().table(&REVERSE, &PARKS);
    let index = match view {
        View::Visitor => "publicReverse",
        View::Administrator => "reverse",
    };
    of_entity(parks.query(format!("rel::{item}")).index(index), entity)
}

/// Filters by kind, with the delimiter, so that a kind does not match another one that starts with it.
fn of_entity(query: Query<'_>, entity: Option<Kind>) -> Query<'_> {
    match entity {
        Some(entity) => query.begins_with(format!("{entity}::")),
        None => query,
    }
}

/// The other item of each relationship. None if the view does not show it.
async fn summaries(
    cx: &Context,
    item: &ItemRef,
    found: &[Relationship],
    view: View,
) -> Result<Vec<Option<Summary>>, Problem> {
    let keys: Vec<Key> = found.iter().map(|relationship| relationship.other(item).item.key()).collect();
    let items = cx.access().table(&RELATED_ITEMS, &PARKS).batch_get(&keys).await?;
    items
        .into_iter()
        .map(|stored| {
            let item = stored.map(|stored| stored.read::<Item>()).transpose()?;
            Ok(item.filter(|item| view.shows(item)).map(|item| Summary::new(item, view)))
        })
        .collect()
}

impl Related {
    fn new(relationship: &Relationship, of: &ItemRef, other: Option<Summary>) -> Self {
        let forward = relationship.first.item == *of;
        let RelationshipView { pk1, sk1, entity1, pk2, sk2, entity2, .. } =
            RelationshipView::new(relationship, View::Visitor);
        let direction = if forward { Direction::Forward } else { Direction::Reverse };
        Self { direction, pk1, sk1, entity1, pk2, sk2, entity2, item: other }
    }
}
