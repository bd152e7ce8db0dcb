//! `GET …/invitations`.

use table::Position;
use web::{Answer, Page, Problem, Request};

use super::InvitationView;
use crate::access;
use crate::agencies::AgencyPath;
use crate::item::Invitation;
use crate::keys::{INVITATIONS, partition};
use crate::members::list::ListQuery;
use crate::schema::AGENCIES;
use crate::standing::{Standing, now};

pub async fn list(request: Request) -> Result<Answer, Problem> {
    let agency = request.path::<AgencyPath>()?.id().ok_or_else(Problem::not_found)?;
    let query: ListQuery = request.query()?;
    Standing::of(&request, &agency).await?.administer()?;
    let after: Option<Position> = request.cursor(query.cursor.as_deref())?;
    let all = request.access().table(&access::INVITATIONS, &AGENCIES).query(partition(&agency));
    let page = all.begins_with(INVITATIONS).after(after).page(query.limit.0).await?;
    let now = now(&request);
    let views = page.items.iter().map(|stored| InvitationView::at(stored.read::<Invitation>()?, &now));
    let items = views.collect::<Result<_, Problem>>()?;
    let next_cursor = page.next.map(|position| request.next_cursor(&position)).transpose()?;
    Ok(Answer::ok(&Page::<InvitationView> { items, next_cursor }))
}
