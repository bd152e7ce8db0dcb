//! `/agencies/people`.

use web::{Page, Route, Sample, problem};

use super::PLATFORM_ADMINS;
use crate::access::PERSON_AGENCIES;
use crate::members::list::ListQuery;
use crate::people::{Membership, PersonPath, agencies};

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("listPersonAgencies", "/agencies/people/{idpid}/agencies", PLATFORM_ADMINS, agencies::of_person)
            .summary("The agencies of a person, with names and roles")
            .patterns(&[&PERSON_AGENCIES])
            .path::<PersonPath>()
            .query::<ListQuery>()
            .answers::<Page<Membership>>(200)
            .problems(&[problem::NOT_FOUND])
            .sample(Sample::new("/agencies/people/local:ann/agencies")),
    ]
}
