//! `GET …/members`.

use serde::Deserialize;
use table::Position;
use utoipa::ToSchema;
use web::{Answer, Limit, Page, Problem, Request};

use super::MemberView;
use crate::access;
use crate::agencies::AgencyPath;
use crate::item::Member;
use crate::keys::{MEMBERS, partition};
use crate::schema::AGENCIES;
use crate::standing::Standing;

/// The parameters of a list that has one order.
#[derive(Debug, Deserialize, ToSchema)]
pub struct ListQuery {
    #[serde(default)]
    pub limit: Limit,
    #[serde(default)]
    #[schema(nullable = false, min_length = 1)]
    pub cursor: Option<String>,
}

pub async fn list(request: Request) -> Result<Answer, Problem> {
    let agency = request.path::<AgencyPath>()?.id().ok_or_else(Problem::not_found)?;
    let query: ListQuery = request.query()?;
    Standing::of(&request, &agency).await?;
    let after: Option<Position> = request.cursor(query.cursor.as_deref())?;
    let members = request.access().table(&access::MEMBERS, &AGENCIES).query(partition(&agency)).begins_with(MEMBERS);
    let page = members.after(after).page(query.limit.0).await?;
    let items = page.items.iter().map(|stored| Ok(stored.read::<Member>()?.into())).collect::<Result<_, Problem>>()?;
    let next_cursor = page.next.map(|position| request.next_cursor(&position)).transpose()?;
    Ok(Answer::ok(&Page::<MemberView> { items, next_cursor }))
}
