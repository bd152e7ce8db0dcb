//! `/agencies` and `/agencies/{agencyId}`.

use std::time::Duration;

use web::{Page, Route, Sample, problem};

use super::{PLATFORM_ADMINS, SIGNED_IN};
use crate::access::{BY_CREATION, COUNTS, CREATE_AGENCY, DELETION, MARK_DELETION, RENAME, SET_STATUS, STANDING};
use crate::agencies::create::NewAgency;
use crate::agencies::delete::DeleteQuery;
use crate::agencies::list::AgenciesQuery;
use crate::agencies::{AgencyPath, AgencyView, Renamed, change, create, delete, list, read, status};
use crate::standing::AGENCY_INACTIVE;

const AGENCIES: &str = "/agencies";
const AGENCY: &str = "/agencies/{agencyId}";

/// A deletion works for 20 s before it leaves the rest to `runWork`.
const DELETION_TIMEOUT: Duration = Duration::from_secs(25);

pub fn routes() -> Vec<Route> {
    vec![
        Route::post("createAgency", AGENCIES, PLATFORM_ADMINS, create::create)
            .summary("Makes a pending agency, with its first administrator if one is named")
            .patterns(&[&CREATE_AGENCY])
            .takes::<NewAgency>()
            .rules::<NewAgency>()
            .creates()
            .answers::<AgencyView>(201)
            .problems(&[problem::UNPROCESSABLE, problem::CONFLICT])
            .sample(
                Sample::new(AGENCIES)
                    .body(r#"{"name":"North Rescue","admin":{"idpid":"local:ann","displayName":"Ann Field"}}"#),
            ),
        Route::get("listAgencies", AGENCIES, PLATFORM_ADMINS, list::list)
            .summary("All agencies by creation, the newest first")
            .patterns(&[&BY_CREATION])
            .query::<AgenciesQuery>()
            .answers::<Page<AgencyView>>(200)
            .sample(Sample::new("/agencies?from=2026-01-01T00:00:00Z")),
        Route::get("getAgency", AGENCY, SIGNED_IN, read::get)
            .summary("One agency, with the caller's own role; for administrators with its counts")
            .patterns(&[&STANDING, &COUNTS])
            .path::<AgencyPath>()
            .tagged()
            .answers::<AgencyView>(200)
            .problems(&[problem::NOT_FOUND])
            .sample(Sample::new("/agencies/01890a5d-ac96-774b-bcce-b302099a8057")),
        Route::patch("changeAgency", AGENCY, SIGNED_IN, change::change)
            .summary("Renames an agency")
            .patterns(&[&STANDING, &RENAME])
            .path::<AgencyPath>()
            .takes_patch::<Renamed>()
            .rules::<Renamed>()
            .if_match()
            .tagged()
            .answers::<AgencyView>(200)
            .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, AGENCY_INACTIVE, problem::CONFLICT])
            .sample(
                Sample::new("/agencies/01890a5d-ac96-774b-bcce-b302099a8057").body(r#"{"name":"Northern Rescue"}"#),
            ),
        Route::post("activateAgency", format!("{AGENCY}/activate"), SIGNED_IN, status::activate)
            .summary("Makes an agency active, whatever it was")
            .patterns(&[&STANDING, &SET_STATUS])
            .path::<AgencyPath>()
            .tagged()
            .answers::<AgencyView>(200)
            .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, problem::CONFLICT])
            .sample(Sample::new("/agencies/01890a5d-ac96-774b-bcce-b302099a8057/activate")),
        Route::post("deactivateAgency", format!("{AGENCY}/deactivate"), SIGNED_IN, status::deactivate)
            .summary("Makes an agency inactive, whatever it was")
            .patterns(&[&STANDING, &SET_STATUS])
            .path::<AgencyPath>()
            .tagged()
            .answers::<AgencyView>(200)
            .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, problem::CONFLICT])
            .sample(Sample::new("/agencies/01890a5d-ac96-774b-bcce-b302099a8057/deactivate")),
        Route::delete("deleteAgency", AGENCY, SIGNED_IN, delete::delete)
            .summary("Deletes an agency; `cascade=true` also deletes its members; repeated, it resumes")
            .patterns(&[&STANDING, &MARK_DELETION, &DELETION])
            .path::<AgencyPath>()
            .query::<DeleteQuery>()
            .if_match()
            .timeout(DELETION_TIMEOUT)
            .answers_empty(204)
            .answers_empty(202)
            .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, problem::HAS_DEPENDENTS, problem::CONFLICT])
            .sample(Sample::new("/agencies/01890a5d-ac96-774b-bcce-b302099a8057?cascade=true")),
    ]
}
