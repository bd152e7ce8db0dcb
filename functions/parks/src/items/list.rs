//! `GET` of a partition, in pages.

use serde::Deserialize;
use table::Position;
use utoipa::ToSchema;
use web::{Answer, Limit, Order, Page, Problem, Request};

use crate::access;
use crate::entity::{Entity, ListPath};
use crate::geojson::{self, FeatureCollection};
use crate::item::Item;
use crate::names::{ActivityType, FacilityType};
use crate::schema::PARKS;
use crate::view::{ADMINISTRATOR, AskedView, Summary, View};

/// What is asked of a list, whatever its kind.
#[derive(Debug)]
pub struct Listing {
    limit: Limit,
    cursor: Option<String>,
    order: Order,
    view: Option<AskedView>,
    deleted: bool,
    /// Only items of this type, where their kind has types.
    of_type: Option<&'static str>,
}

/// The parameters of a list; in the end the names of the types that its kind may have.
macro_rules! list_query {
    ($(#[$doc:meta])* $name:ident $($types:ident)?) => {
        $(#[$doc])*
        #[derive(Debug, Deserialize, ToSchema)]
        pub struct $name {
            #[serde(default)]
            pub limit: Limit,
            #[serde(default)]
            #[schema(nullable = false)]
            pub cursor: Option<String>,
            #[serde(default)]
            pub order: Order,
            /// `public` shows an administrator what visitors see.
            #[serde(default)]
            #[schema(nullable = false)]
            pub view: Option<AskedView>,
            /// For administrators: what is deleted instead of what is live.
            #[serde(default)]
            pub deleted: bool,
            $(
                /// Only items of this type.
                #[serde(default, rename = "type")]
                #[schema(nullable = false)]
                pub of_type: Option<$types>,
            )?
        }

        impl From<$name> for Listing {
            fn from(query: $name) -> Self {
                let mut of_type = None;
                $(of_type = of_type.or(query.of_type.map($types::as_str));)?
                let $name { limit, cursor, order, view, deleted, .. } = query;
                Self { limit, cursor, order, view, deleted, of_type: of_type.take() }
            }
        }
    };
}

list_query! { ListQuery }
list_query! { FacilityListQuery FacilityType }
list_query! { ActivityListQuery ActivityType }

pub async fn list<E: Entity>(request: Request) -> Result<Answer, Problem> {
    let query: Listing = request.query::<E::ListQuery>()?.into();
    let view = View::of(&request, query.view);
    if query.deleted && view == View::Visitor {
        request.principal().signed_in()?;
        return Err(Problem::forbidden(format!("`deleted` is for administrators (the role `{ADMINISTRATOR}`).")));
    }
    let path: ListPath<E> = request.path()?;
    let after: Option<Position> = request.cursor(query.cursor.as_deref())?;
    let Some(parent) = E::parent(&path.parts) else { return Ok(answer(&request, view, Vec::new(), None)) };
    let partition = parent.partition(E::KIND).to_string();
    let parks = request.access();
    let listed = match view {
        View::Visitor => parks.table(&access::PUBLIC_LIST, &PARKS).query(partition).index("publicList"),
        View::Administrator if query.deleted => {
            parks.table(&access::LIST, &PARKS).query(format!("deleted::{partition}")).index("list")
        }
        View::Administrator => parks.table(&access::LIST, &PARKS).query(partition).index("list"),
    };
    let listed = match query.of_type {
        // With the delimiter, so that no type stands for another that begins like it.
        Some(of_type) => listed.begins_with(format!("{of_type}::")),
        None => listed,
    };
    let listed = if query.order == Order::Desc { listed.backward() } else { listed };
    let page = listed.after(after).page(query.limit.0).await?;
    let items: Result<Vec<Summary>, Problem> =
        page.items.iter().map(|stored| Ok(Summary::new(stored.read::<Item>()?, view))).collect();
    let next = page.next.map(|position| request.next_cursor(&position)).transpose()?;
    Ok(answer(&request, view, items?, next))
}

fn answer(request: &Request, view: View, items: Vec<Summary>, next_cursor: Option<String>) -> Answer {
    view.cached(if request.content_type() == geojson::CONTENT_TYPE {
        Answer::ok(&FeatureCollection::new(&items, next_cursor)).content_type(geojson::CONTENT_TYPE)
    } else {
        Answer::ok(&Page { items, next_cursor })
    })
}
