//! `POST .../retype`: whole numbers to decimals at once, since their keys are the same; anything to text as work.

use serde::Deserialize;
use table::{Action, Backoff, Changes, Error};
use utoipa::ToSchema;
use web::{Answer, Kind, Problem, Request};

use super::{AttributePath, gate_actions, project_action};
use crate::access::RETYPE_ATTRIBUTE;
use crate::callers::{at_least, me};
use crate::items::{AttributeItem, Role, Status};
use crate::keys::AttributeKey;
use crate::project::{Attribute, Gates, Read};
use crate::projects;
use crate::schema::TRACKER;
use crate::tenants::changed_now;
use crate::values::Type;
use crate::views::AttributeView;
use crate::work::{self, LAG, Start, begin, routes::accepted};

pub const UNSAFE_RETYPE: Kind = Kind::new(422, "unsafe-retype", "Values could be lost");

pub const ATTRIBUTE_BUSY: Kind = Kind::new(409, "attribute-busy", "Work on this attribute goes on");

/// Of an attribute whose values or rows are being written. In a small project that takes about as long as the index may lag.
pub fn busy() -> Problem {
    let busy =
        ATTRIBUTE_BUSY.because("Wait until the work on its values has ended; the tenant's work tells how far it is.");
    busy.retry_after(u32::try_from(LAG).unwrap_or(u32::MAX))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Retype {
    #[serde(rename = "type")]
    of: Type,
}

pub async fn retype(request: Request) -> Result<Answer, Problem> {
    let AttributePath { tenant_id, project_id, attribute_id } = request.path()?;
    at_least(&request, tenant_id, Role::Admin).await?;
    let Retype { of } = request.json()?;
    let mut backoff = Backoff::new();
    loop {
        let schema = projects::read(&request, tenant_id, project_id, Read::Strong).await?;
        let before = schema.column(attribute_id).ok_or_else(Problem::not_found)?;
        if before.item.of == of {
            return Ok(Answer::ok(&AttributeView::new(before)));
        }
        let at_once = match (before.item.of, of) {
            (Type::Int, Type::Decimal) => true,
            (_, Type::Text) => false,
            _ => {
                return Err(UNSAFE_RETYPE.because("An `int` can become `decimal`, and everything can become `text`."));
            }
        };
        if before.item.status != Status::Ready {
            return Err(busy());
        }
        let gates = Gates::read(request.access(), project_id).await?;
        let empty = gates.live() == 0;
        let status = if at_once || empty { Status::Ready } else { Status::Retyping };
        let stamps = changed_now(&request, &before.item.stamps)?;
        let after = AttributeItem { of, status, stamps, ..before.item.clone() };
        let key = AttributeKey { project: project_id, attribute: attribute_id };
        let changes = Changes::between(&before.item, &after)?;
        let mut actions = vec![project_action(&schema, true), Action::update(&TRACKER, key, changes)];
        actions.extend(gate_actions(&schema, &gates, empty && !at_once));
        let mut begun = None;
        if after.status == Status::Retyping {
            let of = (Some(project_id), Some(attribute_id));
            let who = Some(me(&request)?.to_string());
            let work = begin(request.access(), tenant_id, work::Kind::RetypeAttribute, of, who, Start::After(LAG))?;
            actions.extend(work.actions.clone());
            begun = Some(work);
        }
        match request.access().transact(&RETYPE_ATTRIBUTE, &actions).await {
            Ok(_) => {
                return Ok(match begun {
                    Some(begun) => accepted(tenant_id, begun.id, begun.work),
                    None => Answer::ok(&AttributeView::new(&Attribute { id: attribute_id, item: after })),
                });
            }
            Err(Error::ConditionFailed(_)) if backoff.wait().await => {}
            Err(error) => return Err(error.into()),
        }
    }
}
