//! `/parks/activities/{collection}` and what lies below it.

use web::{Route, Sample};

use super::each_kind::{
    DELETE_WITH_BELOW, RESTORE_WITH_BELOW, create, delete, delete_geometry, get, get_geometry, list, put_geometry,
    restore, retype, update,
};
use crate::entity::Activity;

/// A sample of a new activity.
const NEW: &str =
    r#"{"activityType":"dayuse","displayName":"Day use at Buttle Lake","location":[-125.5,49.6],"isVisible":true}"#;

/// A sample of a shape.
const BOUNDARY: &str =
    r#"{"type":"Polygon","coordinates":[[[-125.7,49.4],[-125.5,49.4],[-125.5,49.6],[-125.7,49.6],[-125.7,49.4]]]}"#;

pub fn routes() -> Vec<Route> {
    vec![
        list::<Activity>("listActivities")
            .summary("The activities of a collection by type and number")
            .sample(Sample::new("/parks/activities/bcparks_1?type=dayuse")),
        create::<Activity>("createActivity")
            .summary("Makes an activity with the next number of its collection")
            .sample(Sample::new("/parks/activities/bcparks_1").body(NEW)),
        get::<Activity>("getActivity")
            .summary("One activity")
            .sample(Sample::new("/parks/activities/bcparks_1/dayuse/1")),
        update::<Activity>("updateActivity").summary("Changes what the merge patch names").sample(
            Sample::new("/parks/activities/bcparks_1/dayuse/1").body(r#"{"description":"Docks and a beach."}"#),
        ),
        delete::<Activity>("deleteActivity")
            .patterns(DELETE_WITH_BELOW)
            .summary("Deletes an activity; `cascade=true` also deletes what depends on it; it can be restored")
            .sample(Sample::new("/parks/activities/bcparks_1/dayuse/1")),
        restore::<Activity>("restoreActivity")
            .patterns(RESTORE_WITH_BELOW)
            .summary("Brings a deleted activity back as it was, with what went along")
            .sample(Sample::new("/parks/activities/bcparks_1/dayuse/1/restore")),
        retype::<Activity>("retypeActivity")
            .summary("Gives it another type; its number and its global id stay")
            .sample(Sample::new("/parks/activities/bcparks_1/dayuse/1/retype").body(r#"{"activityType":"hiking"}"#)),
        get_geometry::<Activity>("getActivityGeometry")
            .sample(Sample::new("/parks/activities/bcparks_1/dayuse/1/geometry/boundary?zoom=8")),
        put_geometry::<Activity>("putActivityGeometry")
            .sample(Sample::new("/parks/activities/bcparks_1/dayuse/1/geometry/boundary").body(BOUNDARY)),
        delete_geometry::<Activity>("deleteActivityGeometry")
            .sample(Sample::new("/parks/activities/bcparks_1/dayuse/1/geometry/boundary")),
    ]
}
