//! `GET` of a member.

use web::{Answer, Problem, Request};

use super::{MemberPath, MemberView};
use crate::access::MEMBER;
use crate::item::Member;
use crate::keys::member_key;
use crate::schema::AGENCIES;
use crate::standing::{Standing, tag};

pub async fn get(request: Request) -> Result<Answer, Problem> {
    let (agency, person) = request.path::<MemberPath>()?.ids();
    let agency = agency.ok_or_else(Problem::not_found)?;
    Standing::of(&request, &agency).await?;
    let key = member_key(&agency, &person.ok_or_else(Problem::not_found)?);
    let stored = request.access().table(&MEMBER, &AGENCIES).get(key).await?.ok_or_else(Problem::not_found)?;
    Ok(Answer::ok(&MemberView::from(stored.read::<Member>()?)).etag(tag(&stored)))
}
