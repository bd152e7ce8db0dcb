//! `GET /agencies/search`

mod query;
mod request;
mod response;
mod scope;

use std::time::Duration;

use serde_json::value::RawValue;
use web::search::Marks;
use web::{Context, Json, Kind, Problem, Query, Route, Sample, problem};

use crate::access::{AUTHORIZATION, MEMBERSHIPS, SEARCH, SEARCH_HITS};
use crate::authorization::SIGNED_IN;
use query::SearchQuery;
use request::SearchRequest;
use response::{Found, SearchResponse};
use scope::Scope;

pub const NARROW_SEARCH: Kind = Kind::new(400, "narrow-search", "The search is too wide");

/// The alias of the system's documents.
const ALIAS: &str = "agencies";

/// Above the time limit of the search itself, so that a slow search is reported as one.
const TIMEOUT: Duration = Duration::from_secs(15);

pub fn route() -> Route {
    Route::get("search", "/agencies/search", SIGNED_IN, search)
        .summary("Search the caller's agencies by name, or the members of an agency")
        .patterns(&[&MEMBERSHIPS, &AUTHORIZATION, &SEARCH, &SEARCH_HITS])
        .timeout(TIMEOUT)
        .problems(&[NARROW_SEARCH, problem::NOT_FOUND, problem::SEARCH_UNAVAILABLE])
        .sample(Sample::new("/agencies/search?q=nort%20res"))
}

async fn search(cx: Context, Query(query): Query<SearchQuery>) -> Result<Json<Found>, Problem> {
    let after: Option<Box<RawValue>> = cx.cursor(query.cursor.as_deref())?;
    let query = query.parse().map_err(Problem::faults)?;
    let scope = Scope::load(&cx, &query).await?;
    let marks = Marks::random();
    let request = SearchRequest::new(&query, &scope, after.as_deref(), &marks);
    let response: SearchResponse = cx.access().search(&SEARCH, ALIAS, &request).await?;
    let (mut found, last) = Found::load(&cx, &query, &scope, response, &marks).await?;
    found.next_cursor = cx.cursor_to(last)?;
    Ok(Json(found))
}
