//! `GET /agencies/me/agencies` and `GET /agencies/people/{idpid}/agencies`.

use table::{Idpid, Position};
use web::{Answer, Page, Problem, Request};

use super::{Membership, PersonPath, names};
use crate::access::PERSON_AGENCIES;
use crate::item::Member;
use crate::members::list::ListQuery;
use crate::schema::{AGENCIES, BY_PERSON};

pub async fn mine(request: Request) -> Result<Answer, Problem> {
    let me = request.principal().signed_in()?.idpid().clone();
    list(&request, &me).await
}

pub async fn of_person(request: Request) -> Result<Answer, Problem> {
    let person = request.path::<PersonPath>()?.person().ok_or_else(Problem::not_found)?;
    list(&request, &person).await
}

async fn list(request: &Request, person: &Idpid) -> Result<Answer, Problem> {
    let query: ListQuery = request.query()?;
    let after: Option<Position> = request.cursor(query.cursor.as_deref())?;
    let access = request.access();
    let memberships = access.table(&PERSON_AGENCIES, &AGENCIES).query(person.as_str()).index(BY_PERSON).after(after);
    let named = |page: Vec<table::Stored>| async move {
        let members = page.iter().map(table::Stored::read::<Member>).collect::<Result<Vec<_>, _>>()?;
        let mut names = names(access, &PERSON_AGENCIES, members.iter().map(|member| &member.agency_id)).await?;
        let named = |member: Member| Some(Membership::new(member.clone(), names.remove(&member.agency_id)?));
        Ok::<_, Problem>(members.into_iter().map(named).collect())
    };
    let (items, next) = memberships.page_of(query.limit.0, named).await?;
    let next_cursor = next.map(|position| request.next_cursor(&position)).transpose()?;
    Ok(Answer::ok(&Page::<Membership> { items, next_cursor }))
}
