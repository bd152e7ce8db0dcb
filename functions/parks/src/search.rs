//! `GET /parks/search` and `POST /parks/search`

mod area;
mod boundary;
mod circle;
mod clauses;
mod extent;
mod facets;
mod features;
mod highlight;
mod hits;
mod open;
mod order;
mod parsed_query;
mod point;
mod query;
mod request;
mod response;
pub mod suggest;
mod words;
mod zoomed;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use table::clock;
use table::search::SearchError;
use web::search::Marks;
use web::{Answer, Context, Json, Kind, Problem, Query, Route, Sample, problem};

use crate::access::{BY_GLOBAL_ID, READ_SHAPE, SEARCH, SHOWN_ITEMS};
use crate::geojson;
use crate::schema::ALIAS;
use crate::shapes::GEOMETRY_UNAVAILABLE;
use crate::view::{ADMINISTRATOR, EVERYONE, View};
use area::Compared;
use boundary::{Sending, load_boundary};
use features::{FoundFeatures, Link};
use hits::SearchResponse;
use open::MAX_ACTIVITIES;
use parsed_query::{ParsedQuery, Source, administrator_parameter};
use query::{Format, SearchQuery, ShapeAs, ShapeSearch};
use request::NAMED;
use response::Found;
use words::Closeness;

pub const NARROW_SEARCH: Kind = Kind::new(400, "narrow-search", "The search is too wide");

const TEMPLATE: &str = "/parks/search";

/// The limit of a body: a drawn shape of 64 KiB and the other parameters.
const MAX_BODY: usize = 96 * 1024;

/// The body of the sample.
const SHAPE: &str = "{\"shape\":{\"type\":\"Polygon\",\"coordinates\":\
     [[[-126,49],[-125,49],[-125,50],[-126,50],[-126,49]]]},\"relation\":\"within\"}";

/// Longer than the time limits of all searches of a request together, so that a slow search is reported as slow.
pub const TIMEOUT: Duration = Duration::from_secs(25);

pub fn route() -> Route {
    representations(Route::get("search", TEMPLATE, EVERYONE, search))
        .summary("Search items by words, place, kind and days")
        // The handler checks the same rules together with those between parameters, and names parameters.
        .rules::<SearchQuery>()
        .problems(&[problem::FORBIDDEN, NARROW_SEARCH, GEOMETRY_UNAVAILABLE, problem::SEARCH_UNAVAILABLE])
        .sample(Sample::new("/parks/search?q=bedwel%20lak&facets=type,entity"))
}

pub fn by_shape_route() -> Route {
    representations(Route::post("searchByShape", TEMPLATE, EVERYONE, search_by_shape))
        .summary("Search items by a drawn shape and the other parameters of a search")
        .rules::<ShapeSearch>()
        .body_limit(MAX_BODY)
        .problems(&[
            problem::FORBIDDEN,
            NARROW_SEARCH,
            problem::UNPROCESSABLE,
            GEOMETRY_UNAVAILABLE,
            problem::SEARCH_UNAVAILABLE,
        ])
        .sample(Sample::new(TEMPLATE).body(SHAPE))
}

fn representations(route: Route) -> Route {
    route
        .patterns(&[&SEARCH, &BY_GLOBAL_ID, &SHOWN_ITEMS, &READ_SHAPE])
        .timeout(TIMEOUT)
        .answers::<Found>(200)
        .answers_as::<FoundFeatures>(200, geojson::CONTENT_TYPE)
}

async fn search(cx: Context, Query(query): Query<SearchQuery>) -> Result<Answer, Problem> {
    find(&cx, query, None, Source::Query).await
}

async fn search_by_shape(cx: Context, Json(search): Json<ShapeSearch>) -> Result<Answer, Problem> {
    find(&cx, search.query, search.shape, Source::Body).await
}

async fn find(cx: &Context, query: SearchQuery, shape: Option<Value>, source: Source) -> Result<Answer, Problem> {
    let view = View::of(cx, query.view);
    authorize(cx, &query, view)?;
    let position: Option<Position> = cx.cursor(query.cursor.as_deref())?;
    let mut query = ParsedQuery::new(query, shape.as_ref(), view, source).map_err(Problem::faults)?;
    let (mut shape_status, mut tolerance) = (None, None);
    let activities = open_activities(cx, &query).await?;
    let marks = Marks::random();
    let mut sending = Sending::Reference;
    let (response, closeness) = loop {
        if let Some(id) = &query.shape_of {
            let boundary = load_boundary(cx, id, query.relation, view, source, sending).await?;
            query.area = Some(boundary.compared);
            (shape_status, tolerance) = (Some(boundary.status), boundary.tolerance);
        }
        match search_with_tolerance(cx, &query, position.as_ref(), &activities, &marks).await {
            // The document was deleted since it was found, or this search engine cannot compare with an indexed shape.
            Err(SearchError::Refused(_)) if matches!(query.area, Some(Compared::Document { .. })) => {
                sending = Sending::Positions;
            }
            result => break result?,
        }
    };
    let found = Found::new(&query, response, &marks);
    let (mut found, last) = found.ok_or_else(|| Problem::internal("a hit lacks its keys"))?;
    found.shape_status = shape_status;
    found.shape_tolerance = tolerance;
    found.relaxed = closeness == Closeness::MostWords && found.total.value > 0;
    found.next_cursor = last.map(|after| cx.next_cursor(&Position { closeness, after })).transpose()?;
    let is_geojson = match query.format {
        Some(format) => format == Format::Geojson,
        None => cx.content_type() == geojson::CONTENT_TYPE,
    };
    let answer = if is_geojson {
        if let ShapeAs::Zoom(zoom) = query.shape_as {
            zoomed::simplify(cx, &mut found, zoom, view, source).await?;
        }
        let next = found.next_cursor.as_deref().map(|cursor| Link::next(cx, cursor, source));
        let now = clock::rfc3339(cx.engines().clock.now());
        Answer::ok(&FoundFeatures::new(found, query.shape_as, now, next)).content_type(geojson::CONTENT_TYPE)
    } else {
        Answer::ok(&found)
    };
    Ok(view.cached(answer))
}

/// 403 for a parameter that only administrators may send. Ignoring it would return hits that do not match it.
fn authorize(cx: &Context, query: &SearchQuery, view: View) -> Result<(), Problem> {
    match administrator_parameter(query) {
        Some(name) if view == View::Visitor => {
            cx.principal().signed_in()?;
            let detail = format!("`{name}` is for administrators (the role `{ADMINISTRATOR}`), in their own view.");
            Err(Problem::forbidden(detail))
        }
        _ => Ok(()),
    }
}

/// The position after a page: the sort values of its last hit, and the closeness of its hits to the words.
#[derive(Debug, Serialize, Deserialize)]
struct Position {
    closeness: Closeness,
    after: Box<RawValue>,
}

/// Searches with growing tolerance until there are hits: first for the words as typed, then with typos, then for most of
/// the words. Later pages have the closeness of the first page.
async fn search_with_tolerance(
    cx: &Context,
    query: &ParsedQuery,
    position: Option<&Position>,
    activities: &[String],
    marks: &Marks,
) -> Result<(SearchResponse, Closeness), SearchError> {
    let after = position.map(|position| &*position.after);
    let mut closeness = position.map(|position| position.closeness).unwrap_or_default();
    loop {
        let request = query.request(after, activities, marks, closeness);
        let mut response: SearchResponse = cx.access().search(&SEARCH, ALIAS, &request).await?;
        let named = response.take_count(NAMED);
        let is_found = match closeness {
            Closeness::AsTyped => !named.is_empty(),
            Closeness::WithTypos | Closeness::MostWords => response.total().value > 0,
        };
        let words = query.words.as_ref().filter(|_| after.is_none() && !is_found);
        match words.and_then(|words| closeness.next(words)) {
            Some(next) => closeness = next,
            None => return Ok((response, closeness)),
        }
    }
}

/// The activities with a product that is open on the days of the query.
async fn open_activities(cx: &Context, query: &ParsedQuery) -> Result<Vec<String>, Problem> {
    let Some(request) = query.open_activities_request() else { return Ok(Vec::new()) };
    let mut response: SearchResponse = cx.access().search(&SEARCH, ALIAS, &request).await?;
    let counted = response.take_counts().remove("activities").unwrap_or_default();
    if counted.len() > MAX_ACTIVITIES {
        let detail =
            format!("More than {MAX_ACTIVITIES} activities are open on these days; add `collectionId` or `type`.");
        return Err(NARROW_SEARCH.because(detail));
    }
    Ok(counted.into_iter().map(|activity| activity.value).collect())
}
