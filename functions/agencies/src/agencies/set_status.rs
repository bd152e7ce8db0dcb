//! `POST /agencies/{agencyId}/activate` and `POST /agencies/{agencyId}/deactivate`

use table::{Action, Cause, Changes, item};
use web::{Context, Path, Problem, Route, Sample, Tagged, problem};

use super::{AgencyPath, AgencyView, ONE};
use crate::access::{AUTHORIZATION, SET_STATUS};
use crate::audit::Audit;
use crate::authorization::{AgencyAccess, SIGNED_IN};
use crate::item::Agency;
use crate::keys::gate_key;
use crate::names::Status;
use crate::schema::AGENCIES;

pub fn activate_route() -> Route {
    route("activateAgency", "activate", Status::Active)
        .summary("Activate an agency")
        .sample(Sample::new("/agencies/01890a5d-ac96-774b-bcce-b302099a8057/activate"))
}

pub fn deactivate_route() -> Route {
    route("deactivateAgency", "deactivate", Status::Inactive)
        .summary("Deactivate an agency")
        .sample(Sample::new("/agencies/01890a5d-ac96-774b-bcce-b302099a8057/deactivate"))
}

fn route(operation: &'static str, verb: &str, status: Status) -> Route {
    let handler = move |cx: Context, Path(path): Path<AgencyPath>| set_status(cx, path, status);
    Route::post(operation, format!("{ONE}/{verb}"), SIGNED_IN, handler)
        .patterns(&[&AUTHORIZATION, &SET_STATUS])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, problem::CONFLICT])
}

/// Sets the status on the agency and on its gate, which decides whether members may be added.
async fn set_status(cx: Context, path: AgencyPath, status: Status) -> Result<Tagged<AgencyView>, Problem> {
    cx.retry(|| async {
        let access = AgencyAccess::load(&cx, &path.agency_id).await?;
        access.require_platform_admin()?;
        let before = &access.agency;
        if before.status == status {
            return Ok(AgencyView::tagged(&access, before.clone(), access.tag()));
        }
        let after = Agency { status, ..before.clone() }.updated(&Audit::now(&cx)?);
        let agency = Action::update(&AGENCIES, access.stored.key.clone(), Changes::between(before, &after)?);
        let status = Changes::new().set("status", item::text(status.as_str()));
        // An agency that was marked for deletion since it was read is not unchanged, so its gate is still open.
        let actions =
            [agency.if_unchanged(&access.stored), Action::update(&AGENCIES, gate_key(&path.agency_id), status)];
        match cx.access().transact(&SET_STATUS, &actions).await {
            Ok(rev) => Ok(AgencyView::tagged(&access, after, rev)),
            Err(error) => Err(match error.failed(0).map(|failed| failed.cause) {
                Some(Cause::Stale) => Problem::stale(),
                Some(_) => Problem::not_found(),
                None => error.into(),
            }),
        }
    })
    .await
}
