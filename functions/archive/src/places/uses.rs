//! The records and collections that name a place, as search finds them. It also finds records that readers do not see.

use serde_json::{Value, json};
use table::Access;
use web::search::{MAX_COUNT, SearchResponse};
use web::{Kind, Problem};

use crate::access::{ALIAS, SEARCH};
use crate::names::PlaceId;

pub const IN_USE: Kind = Kind::new(409, "in-use", "The place is in use");

/// 409 while search finds a record or a collection of this place.
pub async fn require_unused(access: &Access, place: PlaceId) -> Result<(), Problem> {
    let detail = "Records or collections name the place, as many as `uses` says. Name the place that replaces it as \
                  `replacedBy`.";
    require_none(access, vec![of_record(place), json!({ "term": { "placeId": place } })], detail).await
}

/// 409 while search finds a record of this place. Records keep the ids of the places around it, by which they are found.
pub async fn require_no_record(access: &Access, place: PlaceId) -> Result<(), Problem> {
    let detail = "Records name the place, as many as `uses` says, and are found by the places around it. Create a place \
                  where it belongs, delete this one with `replacedBy`, and publish the posts with `resolve`.";
    require_none(access, vec![of_record(place)], detail).await
}

fn of_record(place: PlaceId) -> Value {
    json!({ "nested": { "path": "events", "query": { "term": { "events.placeIds": place } } } })
}

async fn require_none(access: &Access, uses: Vec<Value>, detail: &'static str) -> Result<(), Problem> {
    let request = json!({
        // Tombstones have `deleted`.
        "query": { "bool": {
            "should": uses,
            "minimum_should_match": 1,
            "must_not": { "term": { "deleted": true } },
        } },
        "size": 0,
        "track_total_hits": MAX_COUNT,
    });
    let found: SearchResponse<()> = access.search(&SEARCH, ALIAS, &request).await?;
    match found.total().value {
        0 => Ok(()),
        uses => Err(IN_USE.because(detail).with("uses", uses)),
    }
}
