//! `GET /agencies/{agencyId}/members/{idpid}`

use web::{Context, Path, Problem, Route, Sample, Tagged, problem};

use super::{MemberPath, MemberView, ONE, SAMPLE};
use crate::access::{AUTHORIZATION, MEMBER};
use crate::authorization::{AgencyAccess, SIGNED_IN};
use crate::item::Member;
use crate::keys::member_key;
use crate::schema::AGENCIES;

pub fn route() -> Route {
    Route::get("getMember", ONE, SIGNED_IN, get)
        .summary("Get a member")
        .patterns(&[&AUTHORIZATION, &MEMBER])
        .problems(&[problem::NOT_FOUND])
        .sample(Sample::new(SAMPLE))
}

async fn get(cx: Context, Path(path): Path<MemberPath>) -> Result<Tagged<MemberView>, Problem> {
    AgencyAccess::load(&cx, &path.agency_id).await?;
    let key = member_key(&path.agency_id, &path.idpid);
    let stored = cx.access().table(&MEMBER, &AGENCIES).get(key).await?.ok_or_else(Problem::not_found)?;
    Ok(Tagged::new(&stored.read::<Member>()?.into(), stored.rev))
}
