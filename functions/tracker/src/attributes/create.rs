//! `POST` of an attribute.

use serde::Deserialize;
use table::{Action, Backoff, Error};
use utoipa::ToSchema;
use web::{Answer, Fault, Problem, Request};

use super::{MOST, TOO_MANY_ATTRIBUTES, gate_actions, name_faults, name_taken, project_action};
use crate::access::CREATE_ATTRIBUTE;
use crate::callers::{at_least, me};
use crate::items::{AttributeItem, Role, Status};
use crate::keys::AttributeKey;
use crate::names::AttributeId;
use crate::options::{Options, WantedOption};
use crate::project::{Attribute, Gates, Read, Schema};
use crate::projects::{self, ProjectPath, href};
use crate::schema::TRACKER;
use crate::tenants::made_now;
use crate::values::Type;
use crate::views::AttributeView;
use crate::work::{Kind, LAG, Start, begin};

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewAttribute {
    /// Unlike every other's, however written; not `Number`, `Name` or `State`.
    #[schema(min_length = 1, max_length = 100, pattern = "\\S")]
    name: String,
    #[serde(rename = "type")]
    of: Type,
    /// Of a choice: its options in their order.
    #[serde(default)]
    #[schema(max_items = 50)]
    options: Vec<WantedOption>,
}

pub async fn create(request: Request) -> Result<Answer, Problem> {
    let ProjectPath { tenant_id, project_id } = request.path()?;
    at_least(&request, tenant_id, Role::Admin).await?;
    let new: NewAttribute = request.json()?;
    let options = checked(&new)?;
    if let Some(answer) = request.earlier(&CREATE_ATTRIBUTE, &TRACKER).await? {
        return Ok(answer);
    }
    let mut backoff = Backoff::new();
    loop {
        let schema = projects::read(&request, tenant_id, project_id, Read::Strong).await?;
        if schema.attributes.len() >= MOST {
            return Err(TOO_MANY_ATTRIBUTES.because("Delete one that is not needed; that takes a while."));
        }
        if let Some(fault) = name_taken(&schema, &new.name, None) {
            return Err(Problem::taken(vec![fault]));
        }
        let gates = Gates::read(request.access(), project_id).await?;
        // Where there is no issue yet, there is nothing to build.
        let empty = gates.live() == 0;
        let status = if empty { Status::Ready } else { Status::Building };
        let attribute = Attribute { id: AttributeId::new(), item: item(&request, &schema, &new, &options, status)? };
        let key = AttributeKey { project: project_id, attribute: attribute.id };
        let mut actions = vec![project_action(&schema, true), Action::create(&TRACKER, key, &attribute.item)?];
        actions.extend(gate_actions(&schema, &gates, empty));
        if !empty {
            let of = (Some(project_id), Some(attribute.id));
            let who = Some(me(&request)?.to_string());
            actions
                .extend(begin(request.access(), tenant_id, Kind::BuildAttribute, of, who, Start::After(LAG))?.actions);
        }
        let location = format!("{}/attributes/{}", href(tenant_id, project_id), attribute.id.id());
        let view = AttributeView::new(&attribute);
        match request.create_once(&CREATE_ATTRIBUTE, &TRACKER, actions, location, &view).await {
            Ok(answer) => return Ok(answer),
            // Its attributes or its gates are not as they were read.
            Err(Error::ConditionFailed(_)) if backoff.wait().await => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn item(
    request: &Request,
    schema: &Schema,
    new: &NewAttribute,
    options: &Options,
    status: Status,
) -> Result<AttributeItem, Problem> {
    let last = schema.attributes.last().map_or(0.0, |last| last.item.num);
    let free = (0..=u8::MAX).find(|slot| !schema.attributes.iter().any(|other| other.item.slot == *slot));
    Ok(AttributeItem {
        name: new.name.clone(),
        num: last.floor() + 1.0,
        of: new.of,
        slot: free.unwrap_or_default(),
        status,
        options: options.clone(),
        stamps: made_now(request)?,
    })
}

/// The options, or every fault of the request.
fn checked(new: &NewAttribute) -> Result<Options, Problem> {
    let mut faults: Vec<Fault> = name_faults(&new.name).into_iter().collect();
    let options = if new.of == Type::Choice {
        Options::default().replaced(&new.options)
    } else if new.options.is_empty() {
        Ok(Options::default())
    } else {
        Err(vec![(None, "are for an attribute of the type `choice` only".to_owned())])
    };
    match options {
        Ok(options) if faults.is_empty() => Ok(options),
        Ok(_) => Err(Problem::faults(faults)),
        Err(wrong) => {
            faults.extend(wrong.into_iter().map(option_fault));
            Err(Problem::faults(faults))
        }
    }
}

/// A fault of the options at its place in the body.
pub fn option_fault((place, detail): (Option<usize>, String)) -> Fault {
    Fault::pointer(place.map_or("/options".to_owned(), |place| format!("/options/{place}")), detail)
}
