//! `POST /tracker/tenants/{tenantId}/projects/{projectId}/attributes`

use serde::Deserialize;
use table::Action;
use utoipa::ToSchema;
use web::{Context, Created, Fault, IdempotencyKey, Json, Path, Problem, Route, Rules, Sample, Valid, problem};

use super::{
    LIST, MAX_ATTRIBUTES, TOO_MANY_ATTRIBUTES, check_length, gate_actions, name_fault, option_fault, project_action,
    refusal, start, taken_name_fault,
};
use crate::access::{ATTRIBUTE_STEP, CREATE_ATTRIBUTE, LEASE, MEMBERSHIP, PROJECT, TOTALS};
use crate::audit::Audit;
use crate::authorization::{SIGNED_IN, TenantAccess};
use crate::items::{AttributeItem, Status};
use crate::jobs::{Details, Job, Kind, NewJob};
use crate::keys::AttributeKey;
use crate::names::AttributeId;
use crate::options::{Options, WantedOption};
use crate::project::{Attribute, Consistency, Gates, Schema};
use crate::projects::ProjectPath;
use crate::schema::TRACKER;
use crate::values::Type;
use crate::views::AttributeView;

/// A new attribute.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewAttribute {
    /// Unique in the project without regard to case; not `Number`, `Name` or `State`.
    #[schema(min_length = 1, max_length = 100, pattern = "\\S")]
    name: String,
    #[serde(rename = "type")]
    of: Type,
    /// The options of a choice in their order.
    #[serde(default)]
    #[schema(max_items = 50)]
    options: Vec<WantedOption>,
}

impl NewAttribute {
    fn options(&self) -> Result<Options, Vec<Fault>> {
        if self.of == Type::Choice {
            let options = Options::default().replaced(&self.options);
            options.map_err(|faults| faults.into_iter().map(option_fault).collect())
        } else if self.options.is_empty() {
            Ok(Options::default())
        } else {
            Err(vec![Fault::pointer("/options", "are only for an attribute of the type `choice`")])
        }
    }
}

impl Rules for NewAttribute {
    fn faults(&self) -> Vec<Fault> {
        name_fault(&self.name).into_iter().chain(self.options().err().unwrap_or_default()).collect()
    }
}

pub fn route() -> Route {
    Route::post("createAttribute", LIST, SIGNED_IN, create)
        .summary("Create an attribute, which is a column of the project")
        .patterns(&[&MEMBERSHIP, &PROJECT, &TOTALS, &CREATE_ATTRIBUTE, &LEASE, &ATTRIBUTE_STEP])
        .timeout(web::route::MAX_TIMEOUT)
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, problem::TAKEN, TOO_MANY_ATTRIBUTES, problem::CONFLICT])
        .sample(
            Sample::new("/tracker/tenants/tenant-0807/projects/project-35e9/attributes")
                .body(r#"{"name":"Num Items","type":"int"}"#),
        )
}

async fn create(
    cx: Context,
    Path(path): Path<ProjectPath>,
    once: IdempotencyKey,
    Valid(Json(new)): Valid<Json<NewAttribute>>,
) -> Result<Created<AttributeView>, Problem> {
    let access = TenantAccess::load(&cx, path.tenant_id).await?;
    access.require_admin()?;
    let options = new.options().map_err(Problem::faults)?;
    if let Some(earlier) = once.earlier(&cx, &CREATE_ATTRIBUTE, &TRACKER).await? {
        return as_it_is(&cx, path, earlier).await;
    }
    let (created, lease) = cx
        .retry(|| async {
            let schema = path.load(&cx, Consistency::Strong).await?;
            if schema.attributes.len() >= usize::from(MAX_ATTRIBUTES) {
                return Err(TOO_MANY_ATTRIBUTES.because("Delete one that is not needed, which takes a while."));
            }
            if let Some(fault) = taken_name_fault(&schema, &new.name, None) {
                return Err(Problem::taken(vec![fault]));
            }
            check_length(&schema, None, &options)?;
            let gates = Gates::load(cx.access(), path.project_id).await?;
            // A project without issues has no rows to create.
            let empty = gates.live() == 0;
            let item = AttributeItem {
                name: new.name.clone(),
                num: schema.attributes.last().map_or(0.0, |last| last.item.num).floor() + 1.0,
                of: new.of,
                slot: free_slot(&schema)?,
                status: if empty { Status::Ready } else { Status::Building },
                options: options.clone(),
                audit: Audit::now(&cx)?,
            };
            let attribute = Attribute { id: AttributeId::new(), item };
            let key = AttributeKey { project: path.project_id, attribute: attribute.id };
            let mut actions = vec![project_action(&schema, true), Action::create(&TRACKER, key, &attribute.item)?];
            actions.extend(gate_actions(&schema, &gates, empty));
            let mut lease = None;
            if !empty {
                let details = Details::attribute(path.project_id, attribute.id);
                let job = Job::new(cx.access(), Kind::BuildAttribute, details, Some(access.me.to_string()));
                let job = NewJob::new(cx.access(), path.tenant_id, job, start(&gates))?;
                actions.extend(job.actions.clone());
                lease = gates.is_small().then(|| job.lease());
            }
            let (location, view) = (href(path, attribute.id), AttributeView::new(&attribute));
            let created = once.create(&cx, &CREATE_ATTRIBUTE, &TRACKER, actions, location.clone(), &view).await;
            let created = created.map_err(refusal)?;
            // The response of a request with the same key has another location, and that request works on its job.
            let lease = lease.filter(|_| created.is_at(&location));
            Ok((created, lease))
        })
        .await?;
    match lease {
        Some(lease) => {
            jobs::work(&cx, lease).await;
            as_it_is(&cx, path, created).await
        }
        None => Ok(created),
    }
}

fn href(path: ProjectPath, id: AttributeId) -> String {
    format!("{}/attributes/{}", path.href(), id.id())
}

/// The response with the attribute as it is now, unless it was deleted.
async fn as_it_is(
    cx: &Context,
    path: ProjectPath,
    created: Created<AttributeView>,
) -> Result<Created<AttributeView>, Problem> {
    let schema = path.load(cx, Consistency::Strong).await?;
    let attribute = schema.attributes.iter().find(|attribute| created.is_at(&href(path, attribute.id)));
    let Some(attribute) = attribute.filter(|attribute| attribute.item.status != Status::Deleting) else {
        return Ok(created);
    };
    Ok(Created::new(href(path, attribute.id), schema.stored.rev, &AttributeView::new(attribute)))
}

/// The lowest slot that no attribute has.
fn free_slot(schema: &Schema) -> Result<u8, Problem> {
    let is_free = |slot: &u8| schema.attributes.iter().all(|other| other.item.slot != *slot);
    (0..MAX_ATTRIBUTES).find(is_free).ok_or_else(|| {
        let count = schema.attributes.len();
        table::never!("no free slot with {count} attributes");
        Problem::internal(format!("no free slot with {count} attributes"))
    })
}
