//! `GET /agencies/{agencyId}/members`

use serde::Deserialize;
use table::Stored;
use utoipa::ToSchema;
use web::{Context, Limit, Page, Path, Problem, Query, Route, Sample, problem};

use super::{LIST, MemberView, SAMPLE_LIST};
use crate::access::{AUTHORIZATION, MEMBERS};
use crate::agencies::AgencyPath;
use crate::authorization::{AgencyAccess, SIGNED_IN};
use crate::item::Member;
use crate::keys::{MEMBER_PREFIX, partition};
use crate::names::{MemberStatus, Role};
use crate::schema::AGENCIES;

#[derive(Debug, Deserialize, ToSchema)]
pub struct MembersQuery {
    #[serde(default)]
    limit: Limit,
    #[schema(min_length = 1)]
    cursor: Option<String>,
    /// Only members in this role.
    role: Option<Role>,
    /// Only members of this status.
    status: Option<MemberStatus>,
}

impl MembersQuery {
    fn selects(&self, member: &Member) -> bool {
        self.role.is_none_or(|role| role == member.role) && self.status.is_none_or(|status| status == member.status)
    }
}

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
    Query(query): Query<MembersQuery>,
) -> Result<Page<MemberView>, Problem> {
    AgencyAccess::load(&cx, &path.agency_id).await?;
    let after = cx.cursor(query.cursor.as_deref())?;
    let members = cx.access().table(&MEMBERS, &AGENCIES).query(partition(&path.agency_id));
    let view = |stored: Stored| {
        let member: Member = stored.read()?;
        Ok::<_, Problem>(query.selects(&member).then(|| member.into()))
    };
    let views = |page: Vec<Stored>| async move { page.into_iter().map(view).collect() };
    let (items, next) = members.begins_with(MEMBER_PREFIX).after(after).page_of(query.limit.0, views).await?;
    Ok(Page { items, next_cursor: cx.cursor_to(next)? })
}
