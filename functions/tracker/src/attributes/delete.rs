//! `DELETE` of an attribute: hidden at once, its values follow.

use table::{Action, Backoff, Changes, Error, item};
use web::{Answer, Problem, Request};

use super::{AttributePath, gate_actions, project_action};
use crate::access::DELETE_ATTRIBUTE;
use crate::callers::{at_least, me};
use crate::items::Role;
use crate::keys::AttributeKey;
use crate::project::{Gates, Read};
use crate::projects;
use crate::schema::TRACKER;
use crate::work::{Kind, LAG, Start, begin, routes::accepted};

pub async fn delete(request: Request) -> Result<Answer, Problem> {
    let AttributePath { tenant_id, project_id, attribute_id } = request.path()?;
    at_least(&request, tenant_id, Role::Admin).await?;
    let mut backoff = Backoff::new();
    loop {
        let schema = projects::read(&request, tenant_id, project_id, Read::Strong).await?;
        schema.column(attribute_id).ok_or_else(Problem::not_found)?;
        let gates = Gates::read(request.access(), project_id).await?;
        // Where there is no issue, there is no value.
        let empty = gates.live() == 0;
        let key = AttributeKey { project: project_id, attribute: attribute_id };
        let attribute = if empty {
            Action::delete(&TRACKER, key)
        } else {
            Action::update(&TRACKER, key, Changes::new().set("Status", item::text("deleting")))
        };
        let mut actions = vec![project_action(&schema, true), attribute];
        actions.extend(gate_actions(&schema, &gates, empty));
        let mut begun = None;
        if !empty {
            let of = (Some(project_id), Some(attribute_id));
            let who = Some(me(&request)?.to_string());
            let work = begin(request.access(), tenant_id, Kind::DeleteAttribute, of, who, Start::After(LAG))?;
            actions.extend(work.actions.clone());
            begun = Some(work);
        }
        match request.access().transact(&DELETE_ATTRIBUTE, &actions).await {
            Ok(_) => {
                return Ok(match begun {
                    Some(begun) => accepted(tenant_id, begun.id, begun.work),
                    None => Answer::no_content(),
                });
            }
            Err(Error::ConditionFailed(_)) if backoff.wait().await => {}
            Err(error) => return Err(error.into()),
        }
    }
}
