//! `GET` of the items of a partition

use table::Position;
use web::{Answer, Context, Order, Page, Path, Problem, Query, Route, problem};

use crate::access::{LIST, PUBLIC_LIST};
use crate::entity::{Entity, ListParameters, ListPath};
use crate::geojson::{self, FeatureCollection};
use crate::item::Item;
use crate::schema::PARKS;
use crate::view::{ADMINISTRATOR, EVERYONE, Summary, View};

pub fn route<E: Entity>(name: &'static str, summary: &'static str) -> Route {
    Route::get(name, E::LIST, EVERYONE, list::<E>)
        .summary(summary)
        .patterns(&[&LIST, &PUBLIC_LIST])
        .answers::<Page<Summary>>(200)
        .answers_as::<FeatureCollection>(200, geojson::CONTENT_TYPE)
        .problems(&[problem::FORBIDDEN])
        .sample(E::SAMPLES.list)
}

async fn list<E: Entity>(
    cx: Context,
    Path(path): Path<ListPath<E>>,
    Query(query): Query<E::ListQuery>,
) -> Result<Answer, Problem> {
    let query: ListParameters = query.into();
    let view = View::of(&cx, query.view);
    if query.deleted && view == View::Visitor {
        cx.principal().signed_in()?;
        return Err(Problem::forbidden(format!("`deleted` is for administrators (the role `{ADMINISTRATOR}`).")));
    }
    let after: Option<Position> = cx.cursor(query.cursor.as_deref())?;
    let Some(parent) = path.parent else {
        return Ok(respond(&cx, view, Page { items: Vec::new(), next_cursor: None }));
    };
    let partition = parent.partition(E::KIND).to_string();
    let listed = match view {
        View::Visitor => cx.access().table(&PUBLIC_LIST, &PARKS).query(partition).index("publicList"),
        View::Administrator if query.deleted => {
            cx.access().table(&LIST, &PARKS).query(format!("deleted::{partition}")).index("list")
        }
        View::Administrator => cx.access().table(&LIST, &PARKS).query(partition).index("list"),
    };
    let listed = match query.item_type {
        // With the delimiter, so that a type does not match another one that starts with it.
        Some(item_type) => listed.begins_with(format!("{item_type}::")),
        None => listed,
    };
    let listed = if query.order == Order::Desc { listed.backward() } else { listed };
    let found = listed.after(after).page(query.limit.0).await?;
    let page = cx.page(found, |stored| Ok(Summary::new(stored.read::<Item>()?, view)))?;
    Ok(respond(&cx, view, page))
}

fn respond(cx: &Context, view: View, page: Page<Summary>) -> Answer {
    view.cached(if cx.content_type() == geojson::CONTENT_TYPE {
        Answer::ok(&FeatureCollection::new(&page.items, page.next_cursor)).content_type(geojson::CONTENT_TYPE)
    } else {
        Answer::ok(&page)
    })
}
