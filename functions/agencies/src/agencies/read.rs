//! `GET` of an agency.

use web::{Answer, Problem, Request};

use super::{AgencyPath, AgencyView};
use crate::access::COUNTS;
use crate::item::Gate;
use crate::keys::gate_key;
use crate::schema::AGENCIES;
use crate::standing::Standing;

pub async fn get(request: Request) -> Result<Answer, Problem> {
    let agency = request.path::<AgencyPath>()?.id().ok_or_else(Problem::not_found)?;
    let standing = Standing::of(&request, &agency).await?;
    let mut view = AgencyView::seen_by(&standing, standing.agency.clone());
    if standing.administers()
        && let Some(gate) = request.access().table(&COUNTS, &AGENCIES).get(gate_key(&agency)).await?
    {
        let gate: Gate = gate.read()?;
        (view.members, view.admins) = (Some(gate.members), Some(gate.admins));
    }
    Ok(Answer::ok(&view).etag(standing.tag()))
}
