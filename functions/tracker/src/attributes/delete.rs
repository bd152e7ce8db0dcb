//! `DELETE /tracker/tenants/{tenantId}/projects/{projectId}/attributes/{attributeId}`: the attribute is hidden
//! immediately. A job deletes its values, in a project of up to 500 issues within the request.

use jobs::DoneOrAccepted;
use table::{Action, Changes, item};
use web::{Context, Either, IfMatch, NoContent, Path, Problem, Route, Sample, problem};

use super::{AttributePath, ONE, SAMPLE, gate_actions, project_action, refusal, start};
use crate::access::{DELETE_ATTRIBUTE, DELETE_ATTRIBUTE_STEP, LEASE, MEMBERSHIP, PROJECT, TOTALS};
use crate::authorization::{SIGNED_IN, TenantAccess};
use crate::jobs::{Details, Job, Kind, NewJob, TrackerJobs};
use crate::keys::AttributeKey;
use crate::project::Gates;
use crate::schema::TRACKER;

pub fn route() -> Route {
    Route::delete("deleteAttribute", ONE, SIGNED_IN, delete)
        .summary(
            "Delete an attribute; in a project of over 500 issues a job deletes its values; the entity tag is the \
             project's",
        )
        .patterns(&[&MEMBERSHIP, &PROJECT, &TOTALS, &DELETE_ATTRIBUTE, &LEASE, &DELETE_ATTRIBUTE_STEP])
        .timeout(web::route::MAX_TIMEOUT)
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, problem::CONFLICT])
        .sample(Sample::new(SAMPLE))
}

async fn delete(
    cx: Context,
    Path(path): Path<AttributePath>,
    tag: IfMatch,
) -> Result<DoneOrAccepted<TrackerJobs>, Problem> {
    let access = TenantAccess::load(&cx, path.tenant_id).await?;
    access.require_admin()?;
    cx.retry_stale(&tag, || async {
        let schema = path.load_project(&cx).await?;
        tag.check(schema.stored.rev)?;
        schema.column(path.attribute_id).ok_or_else(Problem::not_found)?;
        let gates = Gates::load(cx.access(), path.project_id).await?;
        // A project without issues has no values to delete.
        let empty = gates.live() == 0;
        let key = AttributeKey { project: path.project_id, attribute: path.attribute_id };
        let attribute = if empty {
            Action::delete(&TRACKER, key)
        } else {
            Action::update(&TRACKER, key, Changes::new().set("Status", item::text("deleting")))
        };
        let mut actions = vec![tag.guard(project_action(&schema, true), &schema.stored), attribute];
        actions.extend(gate_actions(&schema, &gates, empty));
        if empty {
            cx.access().transact(&DELETE_ATTRIBUTE, &actions).await.map_err(refusal)?;
            return Ok(Either::First(NoContent));
        }
        let details = Details::attribute(path.project_id, path.attribute_id);
        let job = Job::new(cx.access(), Kind::DeleteAttribute, details, Some(access.me.to_string()));
        let job = NewJob::new(cx.access(), path.tenant_id, job, start(&gates))?;
        actions.extend(job.actions.clone());
        cx.access().transact(&DELETE_ATTRIBUTE, &actions).await.map_err(refusal)?;
        if gates.is_small() {
            return Ok(jobs::finish(&cx, job.lease()).await);
        }
        Ok(Either::Second(jobs::accepted::<TrackerJobs>(&path.tenant_id, job.id, job.job)))
    })
    .await
}
