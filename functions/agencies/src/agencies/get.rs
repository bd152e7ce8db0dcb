//! `GET /agencies/{agencyId}`

use web::{Context, Path, Problem, Route, Sample, Tagged, problem};

use super::{AgencyPath, AgencyView, ONE, SAMPLE};
use crate::access::{AUTHORIZATION, COUNTS};
use crate::authorization::{AgencyAccess, SIGNED_IN};
use crate::item::Gate;
use crate::keys::gate_key;
use crate::schema::AGENCIES;

pub fn route() -> Route {
    Route::get("getAgency", ONE, SIGNED_IN, get)
        .summary("Get an agency with the caller's own role and, for administrators, its counts")
        .patterns(&[&AUTHORIZATION, &COUNTS])
        .problems(&[problem::NOT_FOUND])
        .sample(Sample::new(SAMPLE))
}

async fn get(cx: Context, Path(path): Path<AgencyPath>) -> Result<Tagged<AgencyView>, Problem> {
    let access = AgencyAccess::load(&cx, &path.agency_id).await?;
    let mut view = AgencyView::seen_by(&access, access.agency.clone());
    if access.is_admin()
        && let Some(gate) = cx.access().table(&COUNTS, &AGENCIES).get(gate_key(&path.agency_id)).await?
    {
        let gate: Gate = gate.read()?;
        (view.members, view.admins) = (Some(gate.members), Some(gate.admins));
    }
    Ok(Tagged::new(&view, access.tag()))
}
