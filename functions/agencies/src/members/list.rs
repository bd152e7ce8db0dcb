//! `GET /agencies/{agencyId}/members`

use web::{Context, Page, PageQuery, Path, Problem, Query, Route, Sample, problem};

use super::{LIST, MemberView, SAMPLE_LIST};
use crate::access::{AUTHORIZATION, MEMBERS};
use crate::agencies::AgencyPath;
use crate::authorization::{AgencyAccess, SIGNED_IN};
use crate::item::Member;
use crate::keys::{MEMBER_PREFIX, partition};
use crate::schema::AGENCIES;

pub fn route() -> Route {
    Route::get("listMembers", LIST, SIGNED_IN, list)
        .summary("List the members of an agency")
        .patterns(&[&AUTHORIZATION, &MEMBERS])
        .problems(&[problem::NOT_FOUND])
        .sample(Sample::new(SAMPLE_LIST))
}

async fn list(
    cx: Context,
    Path(path): Path<AgencyPath>,
    Query(query): Query<PageQuery>,
) -> Result<Page<MemberView>, Problem> {
    AgencyAccess::load(&cx, &path.agency_id).await?;
    let after = cx.cursor(query.cursor.as_deref())?;
    let members = cx.access().table(&MEMBERS, &AGENCIES).query(partition(&path.agency_id));
    let page = members.begins_with(MEMBER_PREFIX).after(after).page(query.limit.0).await?;
    cx.page(page, |stored| Ok(stored.read::<Member>()?.into()))
}
