//! `GET /parks/relationships/{pk}/{sk}`: what an item is related to, in pages.

use serde::{Deserialize, Serialize};
use table::{Key, Position, Query};
use utoipa::ToSchema;
use web::{Answer, Limit, Page, Problem, Request};

use super::{End, Relationship, RelationshipView};
use crate::access;
use crate::item::Item;
use crate::names::Kind;
use crate::schema::PARKS;
use crate::view::{AskedView, Summary, View};

/// The key of an item.
#[derive(Debug, Deserialize, ToSchema)]
pub struct RelationshipsPath {
    #[schema(example = "geozone::bcparks_1")]
    pub pk: String,
    #[schema(example = "1")]
    pub sk: String,
}

/// From an item: `forward` to the later ends of relationships, `reverse` to the earlier ones.
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
    #[serde(default)]
    #[schema(nullable = false)]
    pub cursor: Option<String>,
    #[serde(default)]
    pub direction: Direction,
    /// Only relationships to items of this entity.
    #[serde(default)]
    #[schema(nullable = false)]
    pub entity: Option<Kind>,
    /// Whether each comes with the item at its other end.
    #[serde(default)]
    pub expand: bool,
    /// `public` shows an administrator what visitors see.
    #[serde(default)]
    #[schema(nullable = false)]
    pub view: Option<AskedView>,
}

/// A relationship as one of its ends sees it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Related {
    /// `forward` if the item that was asked for is the earlier end, else `reverse`.
    pub direction: Direction,
    pub pk1: String,
    pub sk1: String,
    pub entity1: Kind,
    pub pk2: String,
    pub sk2: String,
    pub entity2: Kind,
    /// What is at the other end, where it was asked for with `expand`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<Summary>,
}

/// Where a page ended.
#[derive(Debug, Serialize, Deserialize)]
enum Place {
    Forward(Option<Position>),
    Reverse(Option<Position>),
}

pub async fn list(request: Request) -> Result<Answer, Problem> {
    let path: RelationshipsPath = request.path()?;
    let query: RelationshipsQuery = request.query()?;
    let view = View::of(&request, query.view);
    let place: Option<Place> = request.cursor(query.cursor.as_deref())?;
    let Some(end) = End::of(&path.pk, &path.sk) else {
        let items: Vec<Related> = Vec::new();
        return Ok(view.cached(Answer::ok(&Page { items, next_cursor: None })));
    };
    let (pairs, next) = page(&request, &end, &query, view, place).await?;
    let summaries = if query.expand { summaries(&request, &end, &pairs, view).await? } else { Vec::new() };
    let mut summaries = summaries.into_iter();
    let related = |relationship: &Relationship| Related::new(relationship, &end, summaries.next().flatten());
    let items: Vec<Related> = pairs.iter().map(related).collect();
    let next_cursor = next.map(|place| request.next_cursor(&place)).transpose()?;
    Ok(view.cached(Answer::ok(&Page { items, next_cursor })))
}

/// Forward first, then in reverse, under one limit.
async fn page(
    request: &Request,
    end: &End,
    query: &RelationshipsQuery,
    view: View,
    place: Option<Place>,
) -> Result<(Vec<Relationship>, Option<Place>), Problem> {
    let limit = query.limit.0;
    let place = place.unwrap_or(match query.direction {
        Direction::Reverse => Place::Reverse(None),
        Direction::Forward | Direction::Both => Place::Forward(None),
    });
    let mut found = Vec::new();
    let after = match place {
        Place::Reverse(after) => after,
        Place::Forward(after) => {
            let page = forward(request, end, query.entity, view).after(after).page(limit).await?;
            found.extend(page.items);
            if page.next.is_some() || query.direction == Direction::Forward {
                let next = page.next.map(|position| Place::Forward(Some(position)));
                return Ok((read(&found)?, next));
            }
            None
        }
    };
    let missing = limit.saturating_sub(u32::try_from(found.len()).unwrap_or(limit));
    let reverse = reverse(request, end, query.entity, view).after(after);
    let next = if missing == 0 {
        reverse.first().await?.map(|_| Place::Reverse(None))
    } else {
        let page = reverse.page(missing).await?;
        found.extend(page.items);
        page.next.map(|position| Place::Reverse(Some(position)))
    };
    Ok((read(&found)?, next))
}

fn read(found: &[table::Stored]) -> Result<Vec<Relationship>, Problem> {
    found.iter().map(|stored| Relationship::read(stored).map_err(Problem::from)).collect()
}

fn forward<'a>(request: &'a Request, end: &End, entity: Option<Kind>, view: View) -> Query<'a> {
    let parks = request.access().table(&access::RELATIONSHIPS, &PARKS);
    let all = parks.query(format!("rel::{end}"));
    of_entity(
        match view {
            View::Visitor => all.index("publicList"),
            View::Administrator => all.consistent(),
        },
        entity,
    )
}

fn reverse<'a>(request: &'a Request, end: &End, entity: Option<Kind>, view: View) -> Query<'a> {
    let parks = request.access().table(&access::REVERSE, &PARKS);
    let index = match view {
        View::Visitor => "publicReverse",
        View::Administrator => "reverse",
    };
    of_entity(parks.query(format!("rel::{end}")).index(index), entity)
}

/// With the delimiter, so that no kind stands for another that begins like it.
fn of_entity(query: Query<'_>, entity: Option<Kind>) -> Query<'_> {
    match entity {
        Some(entity) => query.begins_with(format!("{entity}::")),
        None => query,
    }
}

/// What is at the other end of each; nothing where the view does not show it.
async fn summaries(
    request: &Request,
    end: &End,
    found: &[Relationship],
    view: View,
) -> Result<Vec<Option<Summary>>, Problem> {
    let keys: Vec<Key> = found.iter().map(|relationship| relationship.other(end).end.key()).collect();
    let items = request.access().table(&access::OTHER_ENDS, &PARKS).batch_get(&keys).await?;
    items
        .into_iter()
        .map(|stored| {
            let item = stored.map(|stored| stored.read::<Item>()).transpose()?;
            Ok(item.filter(|item| view.shows(item)).map(|item| Summary::new(item, view)))
        })
        .collect()
}

impl Related {
    fn new(relationship: &Relationship, end: &End, item: Option<Summary>) -> Self {
        let forward = relationship.first.end == *end;
        let RelationshipView { pk1, sk1, entity1, pk2, sk2, entity2, .. } =
            RelationshipView::new(relationship, View::Visitor);
        let direction = if forward { Direction::Forward } else { Direction::Reverse };
        Self { direction, pk1, sk1, entity1, pk2, sk2, entity2, item }
    }
}
