//! `GET /agencies/me/agencies` and `GET /agencies/people/{idpid}/agencies`

use table::Idpid;
use web::{Context, Page, PageQuery, Path, Problem, Query, Route, Sample, problem};

use super::{Membership, PersonPath, names};
use crate::access::PERSON_AGENCIES;
use crate::authorization::{PLATFORM_ADMINS, SIGNED_IN};
use crate::item::Member;
use crate::schema::{AGENCIES, BY_PERSON};

pub fn mine_route() -> Route {
    Route::get("listMyAgencies", "/agencies/me/agencies", SIGNED_IN, list_mine)
        .summary("List the caller's agencies with the caller's roles")
        .patterns(&[&PERSON_AGENCIES])
        .sample(Sample::new("/agencies/me/agencies"))
}

pub fn of_person_route() -> Route {
    Route::get("listPersonAgencies", "/agencies/people/{idpid}/agencies", PLATFORM_ADMINS, list_of_person)
        .summary("List the agencies of a person with the person's roles")
        .patterns(&[&PERSON_AGENCIES])
        .problems(&[problem::NOT_FOUND])
        .sample(Sample::new("/agencies/people/local:ann/agencies"))
}

async fn list_mine(cx: Context, Query(query): Query<PageQuery>) -> Result<Page<Membership>, Problem> {
    list(&cx, cx.principal().signed_in()?.idpid(), query, |member| !member.is_suspended()).await
}

async fn list_of_person(
    cx: Context,
    Path(path): Path<PersonPath>,
    Query(query): Query<PageQuery>,
) -> Result<Page<Membership>, Problem> {
    list(&cx, &path.idpid, query, |_| true).await
}

async fn list(
    cx: &Context,
    person: &Idpid,
    query: PageQuery,
    shown: fn(&Member) -> bool,
) -> Result<Page<Membership>, Problem> {
    let after = cx.cursor(query.cursor.as_deref())?;
    let access = cx.access();
    let memberships = access.table(&PERSON_AGENCIES, &AGENCIES).query(person.as_str()).index(BY_PERSON).after(after);
    let named = |page: Vec<table::Stored>| async move {
        let members = page.iter().map(table::Stored::read::<Member>).collect::<Result<Vec<_>, _>>()?;
        let mut names = names(access, &PERSON_AGENCIES, members.iter().map(|member| &member.agency_id)).await?;
        let named = |member: Member| {
            let named = names.remove(&member.agency_id)?;
            shown(&member).then(|| Membership::new(member, named))
        };
        Ok::<_, Problem>(members.into_iter().map(named).collect())
    };
    let (items, next) = memberships.page_of(query.limit.0, named).await?;
    Ok(Page { items, next_cursor: cx.cursor_to(next)? })
}
