//! `PATCH /agencies/{agencyId}`

use serde::Deserialize;
use table::{Action, Changes};
use utoipa::ToSchema;
use web::visible::name_fault;
use web::{Context, Fault, IfMatch, MergePatch, Path, Problem, Route, Rules, Sample, Tagged, Valid, problem};

use super::{AgencyPath, AgencyView, ONE, SAMPLE};
use crate::access::{AUTHORIZATION, UPDATE_AGENCY};
use crate::audit::Audit;
use crate::authorization::{AGENCY_INACTIVE, AgencyAccess, SIGNED_IN};
use crate::item::Agency;
use crate::schema::AGENCIES;

/// The fields of an agency that can be updated.
#[derive(Debug, Deserialize, ToSchema)]
pub struct AgencyPatch {
    /// Not blank.
    #[schema(min_length = 1, max_length = 200, nullable = false, pattern = "\\S")]
    name: Option<String>,
}

impl Rules for AgencyPatch {
    fn faults(&self) -> Vec<Fault> {
        self.name.as_deref().and_then(|name| name_fault("/name", name)).into_iter().collect()
    }
}

pub fn route() -> Route {
    Route::patch("updateAgency", ONE, SIGNED_IN, update)
        .summary("Update an agency's name")
        .patterns(&[&AUTHORIZATION, &UPDATE_AGENCY])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, AGENCY_INACTIVE, problem::CONFLICT])
        .sample(Sample::new(SAMPLE).body(r#"{"name":"Northern Rescue"}"#))
}

async fn update(
    cx: Context,
    Path(path): Path<AgencyPath>,
    tag: IfMatch,
    Valid(MergePatch(patch)): Valid<MergePatch<AgencyPatch>>,
) -> Result<Tagged<AgencyView>, Problem> {
    cx.retry_stale(&tag, || async {
        let access = AgencyAccess::load(&cx, &path.agency_id).await?;
        access.require_active_admin()?;
        tag.check(access.tag())?;
        let before = &access.agency;
        let Some(name) = patch.name.as_ref().filter(|name| **name != before.name) else {
            return Ok(AgencyView::tagged(&access, before.clone(), access.tag()));
        };
        let after = Agency { name: name.clone(), ..before.clone() }.updated(&Audit::now(&cx)?);
        let update = Action::update(&AGENCIES, access.stored.key.clone(), Changes::between(before, &after)?);
        // An agency that was deactivated or marked for deletion since it was read is not unchanged either.
        let rev = cx.access().write(&UPDATE_AGENCY, update.if_unchanged(&access.stored)).await?;
        Ok(AgencyView::tagged(&access, after, rev))
    })
    .await
}
