//! `/parks/relationships/{pk}/{sk}` and `/parks/relationships/{pk1}/{sk1}/{pk2}/{sk2}`.

use web::{Page, Route, Sample, problem};

use super::{ADMINISTRATORS, BOTH};
use crate::access::{ITEM, OTHER_ENDS, RELATE, RELATIONSHIPS, REVERSE, UNRELATE};
use crate::relationships::{
    self, Related, RelationshipPath, RelationshipQuery, RelationshipView, RelationshipsPath, RelationshipsQuery,
};
use crate::structure::BUSY;

const OF_ITEM: &str = "/parks/relationships/{pk}/{sk}";
const RELATIONSHIP: &str = "/parks/relationships/{pk1}/{sk1}/{pk2}/{sk2}";
const SAMPLE: &str = "/parks/relationships/geozone::bcparks_1/1/facility::bcparks_1/campground::1";

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("listRelationships", OF_ITEM, BOTH, relationships::list)
            .summary("What an item is related to, in both directions or one")
            .patterns(&[&RELATIONSHIPS, &REVERSE, &OTHER_ENDS])
            .path::<RelationshipsPath>()
            .query::<RelationshipsQuery>()
            .answers::<Page<Related>>(200)
            .sample(Sample::new("/parks/relationships/geozone::bcparks_1/1?expand=true")),
        Route::put("relate", RELATIONSHIP, ADMINISTRATORS, relationships::relate)
            .summary("Relates two items, whichever is named first; as often as one likes")
            .patterns(&[&RELATE])
            .path::<RelationshipPath>()
            .tagged()
            .answers::<RelationshipView>(200)
            .answers::<RelationshipView>(201)
            .problems(&[problem::NOT_FOUND, BUSY, problem::CONFLICT])
            .sample(Sample::new(SAMPLE).expects(201)),
        Route::get("getRelationship", RELATIONSHIP, BOTH, relationships::get)
            .summary("One relationship, whichever end is named first")
            .patterns(&[&ITEM])
            .path::<RelationshipPath>()
            .query::<RelationshipQuery>()
            .tagged()
            .answers::<RelationshipView>(200)
            .problems(&[problem::NOT_FOUND])
            .sample(Sample::new(SAMPLE)),
        Route::delete("unrelate", RELATIONSHIP, ADMINISTRATORS, relationships::unrelate)
            .summary("Ends a relationship, whichever end is named first")
            .patterns(&[&UNRELATE])
            .path::<RelationshipPath>()
            .if_match()
            .answers_empty(204)
            .problems(&[problem::NOT_FOUND, problem::CONFLICT])
            .sample(Sample::new(SAMPLE)),
    ]
}
