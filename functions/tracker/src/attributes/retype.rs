//! `POST /tracker/tenants/{tenantId}/projects/{projectId}/attributes/{attributeId}/retype`: whole numbers become
//! decimals immediately, since their keys are the same. A job converts values to text, in a project of up to 500 issues
//! within the request.

use serde::Deserialize;
use table::{Action, Changes};
use utoipa::ToSchema;
use web::{Accepted, Context, Either, IfMatch, Json, Kind, Path, Problem, Route, Sample, Tagged, problem};

use super::{ATTRIBUTE_BUSY, AttributePath, ONE, busy, gate_actions, project_action, refusal, start};
use crate::access::{ATTRIBUTE_STEP, LEASE, MEMBERSHIP, PROJECT, RETYPE_ATTRIBUTE, TOTALS};
use crate::authorization::{SIGNED_IN, TenantAccess};
use crate::items::{AttributeItem, Status};
use crate::jobs::view::JobView;
use crate::jobs::{Details, Job, Kind as JobKind, NewJob, TrackerJobs};
use crate::keys::AttributeKey;
use crate::project::{Attribute, Gates};
use crate::schema::TRACKER;
use crate::values::Type;
use crate::views::AttributeView;

pub const UNSAFE_RETYPE: Kind = Kind::new(422, "unsafe-retype", "Values could be lost");

/// The new type of an attribute.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Retype {
    #[serde(rename = "type")]
    of: Type,
}

pub fn route() -> Route {
    Route::post("retypeAttribute", format!("{ONE}/retype"), SIGNED_IN, retype)
        .summary(
            "Set an attribute's type: `int` can become `decimal`, and every type can become `text`; the entity tag is \
             the project's",
        )
        .patterns(&[&MEMBERSHIP, &PROJECT, &TOTALS, &RETYPE_ATTRIBUTE, &LEASE, &ATTRIBUTE_STEP])
        .timeout(web::route::MAX_TIMEOUT)
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, UNSAFE_RETYPE, ATTRIBUTE_BUSY, problem::CONFLICT])
        .sample(
            Sample::new("/tracker/tenants/tenant-0807/projects/project-35e9/attributes/xattrib-3fe6/retype")
                .body(r#"{"type":"decimal"}"#),
        )
}

async fn retype(
    cx: Context,
    Path(path): Path<AttributePath>,
    tag: IfMatch,
    Json(Retype { of }): Json<Retype>,
) -> Result<Either<Tagged<AttributeView>, Accepted<JobView>>, Problem> {
    let access = TenantAccess::load(&cx, path.tenant_id).await?;
    access.require_admin()?;
    cx.retry_stale(&tag, || async {
        let schema = path.load_project(&cx).await?;
        tag.check(schema.stored.rev)?;
        let before = schema.column(path.attribute_id).ok_or_else(Problem::not_found)?;
        if before.item.of == of {
            return Ok(Either::First(Tagged::new(&AttributeView::new(before), schema.stored.rev)));
        }
        let keeps_keys = match (before.item.of, of) {
            (Type::Int, Type::Decimal) => true,
            (_, Type::Text) => false,
            _ => return Err(UNSAFE_RETYPE.because("An `int` can become `decimal`, and every type can become `text`.")),
        };
        if before.item.status != Status::Ready {
            return Err(busy());
        }
        let gates = Gates::load(cx.access(), path.project_id).await?;
        let empty = gates.live() == 0;
        let status = if keeps_keys || empty { Status::Ready } else { Status::Retyping };
        let after = AttributeItem { of, status, audit: before.item.audit.updated(&cx)?, ..before.item.clone() };
        let key = AttributeKey { project: path.project_id, attribute: before.id };
        let changes = Changes::between(&before.item, &after)?;
        let project = tag.guard(project_action(&schema, true), &schema.stored);
        let mut actions = vec![project, Action::update(&TRACKER, key, changes)];
        actions.extend(gate_actions(&schema, &gates, empty && !keeps_keys));
        if status == Status::Ready {
            let rev = cx.access().transact(&RETYPE_ATTRIBUTE, &actions).await.map_err(refusal)?;
            let view = AttributeView::new(&Attribute { id: before.id, item: after });
            return Ok(Either::First(Tagged::new(&view, rev)));
        }
        let details = Details::attribute(path.project_id, before.id);
        let job = Job::new(cx.access(), JobKind::RetypeAttribute, details, Some(access.me.to_string()));
        let job = NewJob::new(cx.access(), path.tenant_id, job, start(&gates))?;
        actions.extend(job.actions.clone());
        cx.access().transact(&RETYPE_ATTRIBUTE, &actions).await.map_err(refusal)?;
        let id = job.id;
        let job = if gates.is_small() { jobs::work(&cx, job.lease()).await } else { job.job };
        if job.status != jobs::Status::Succeeded {
            return Ok(Either::Second(jobs::accepted::<TrackerJobs>(&path.tenant_id, id, job)));
        }
        let schema = path.load_project(&cx).await?;
        let after = schema.column(path.attribute_id).ok_or_else(Problem::not_found)?;
        Ok(Either::First(Tagged::new(&AttributeView::new(after), schema.stored.rev)))
    })
    .await
}
